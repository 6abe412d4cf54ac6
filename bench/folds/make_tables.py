"""Turns ICU's Unicode data into `rendered/fold_tables.py`, which decides what is taken for equal.

It runs at development time only, with PyICU; the compiler itself needs no ICU. The output
depends on ICU's version alone and is printed with that version.

The widest fold is solved for, not listed: every equality that a browser makes is an equation
between strings, and `Equations` finds the finest substitution that makes all of them hold.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import icu

OUTPUT = Path(__file__).parents[2] / "compiler/exactquote/rendered/fold_tables.py"

PROPERTY = icu.UProperty
CATEGORY = icu.UCharCategory
PRIVATE = 0xF0000

# Chromium replaces these before it searches (`FoldQuoteMarksAndSoftHyphens`).
CHROMIUM_QUOTES = {"“": '"', "”": '"', "״": '"', "‘": "'", "’": "'", "׳": "'"}
# WebKit's list is longer; versions differ in what they do with the last two lines of each.
WEBKIT_QUOTES = {
    **dict.fromkeys("“”„״«»‟⹂〝〞〟＂", '"'),
    **dict.fromkeys("‘’‚‛׳‹›「」『』﹁﹂﹃﹄｢｣＇", "'"),
}
# Firefox folds these two to i before anything else, for Turkish.
FIREFOX_I = {"İ": "i", "ı": "i"}
# Combining classes that Firefox takes for spelling, not for diacritics: none, kana voicing,
# virama, and the Telugu and Tibetan length marks and vowels.
FIREFOX_SPELLING = {0, 8, 9, 91, 129, 130, 132}

NFD = icu.Normalizer2.getInstance(None, "nfc", icu.UNormalizationMode2.DECOMPOSE).normalize
NFKC = icu.Normalizer2.getInstance(None, "nfkc", icu.UNormalizationMode2.COMPOSE).normalize
NFKD = icu.Normalizer2.getInstance(None, "nfkc", icu.UNormalizationMode2.DECOMPOSE).normalize
LATIN_ASCII = icu.Transliterator.createInstance("Latin-ASCII").transliterate


def main() -> None:
    characters = assigned()
    search = Collation("en@collation=search", characters)
    standard = Collation("en", characters)
    chromium = {c: chromium_fold(c, search) for c in characters}
    firefox = {c: firefox_fold(c, chromium[c]) for c in characters}
    wide = widest(characters, chromium, firefox, standard)
    simple = {c: simple_case(c) for c in characters}
    parts = [
        f'"""Unicode data behind folds and boundaries, from ICU {icu.ICU_VERSION}'
        f" (Unicode {icu.UNICODE_VERSION}).\n\n"
        "Written by `bench/folds/make_tables.py`; its README says how, and how to read it.\n"
        '"""\n',
        table("CASE", mapping(simple), "Simple case folding."),
        table(
            "DECOMPOSED",
            mapping({c: NFD(c) for c in characters if not is_syllable(c)}),
            "Full canonical decomposition, without Hangul syllables.",
        ),
        table(
            "SIGNS",
            combining(characters),
            "Combining classes; c marks what can be composed with what stands before it.",
            coded=False,
        ),
        table(
            "PRIMARY",
            mapping(chromium),
            "What Chromium's finder compares: one character for each primary weight.",
        ),
        table(
            "SECONDARY",
            search.secondary(),
            "Accents as WebKit compares them: 0 a plain base, p another base, m a mark.",
            coded=False,
        ),
        table("WEBKIT", mapping(WEBKIT_QUOTES), "Quotation marks that WebKit folds."),
        table(
            "FIREFOX",
            {c: codes(s) for c, s in firefox.items() if s != simple[c]},
            "What Firefox's finder compares, where that isn't simple case folding.",
        ),
        table("WIDE", mapping(wide), "The widest fold, of what PRIMARY leaves."),
        table(
            "GRAPHEME", graphemes(characters), "Grapheme_Cluster_Break, X for a pictograph.", False
        ),
        table(
            "CONJUNCT", conjuncts(characters), "Indic consonants and linkers (rule GB9c).", False
        ),
        table(
            "WORD",
            words(characters) | later(),
            "Word_Break, Dict and SA for what is cut by a dictionary, New for what is unassigned.",
        ),
    ]
    OUTPUT.write_text("\n".join(parts), encoding="ascii")


def assigned() -> list[str]:
    """Every assigned code point but surrogates and private use."""
    left_out = {CATEGORY.UNASSIGNED, CATEGORY.SURROGATE, CATEGORY.PRIVATE_USE_CHAR}
    return [
        chr(code)
        for code in range(0x110000)
        if icu.Char.charType(chr(code) if not 0xD800 <= code < 0xE000 else "\ue000") not in left_out
    ]


class Collation:
    """Collation elements of every character, and one character to stand for each weight."""

    def __init__(self, locale: str, characters: list[str]) -> None:
        self.collator = icu.Collator.createInstance(icu.Locale(locale))
        self.collator.setStrength(icu.Collator.SECONDARY)
        self.elements = {c: self.elements_of(c) for c in characters}
        self.names: dict[int, str] = {}
        alone: dict[int, list[str]] = defaultdict(list)
        for c, elements in self.elements.items():
            if len(elements) == 1 and elements[0][0]:
                alone[elements[0][0]].append(c)
        for weight, candidates in alone.items():
            self.names[weight] = min(candidates, key=lambda c: (simple_case(c) != c, c))
        for elements in self.elements.values():
            for weight, _ in elements:
                if weight and weight not in self.names:
                    self.names[weight] = chr(PRIVATE + len(self.names) % 0xFFF0)

    def elements_of(self, text: str) -> list[tuple[int, int]]:
        """(primary, secondary) of each collation element, without the ignorable ones."""
        found: list[tuple[int, int]] = []
        for order in self.collator.createCollationElementIterator(text):
            order &= 0xFFFFFFFF
            if order & 0xFF >= 0xC0 and found:
                primary, secondary = found[-1]
                found[-1] = (primary | order >> 16, secondary | (order >> 8 & 0xFF))
            else:
                found.append((order >> 16 << 16, (order >> 8 & 0xFF) << 8))
        return [e for e in found if e != (0, 0)]

    def primary(self, text: str) -> str:
        """One character for each primary weight of the text."""
        return "".join(self.names[p] for p, _ in self.elements_of(text) if p)

    def secondary(self) -> dict[str, str]:
        """The pattern of accents of each character that isn't just one plain base."""
        common = 0x0500
        return {
            c: ".".join(
                "0" if p and s == common else f"{'p' if p else 'm'}{s:X}" for p, s in elements
            )
            for c, elements in self.elements.items()
            if NFD(c) == c and not all(p and s == common for p, s in elements)
        }


def chromium_fold(c: str, search: Collation) -> str:
    """Primary weights, with Chromium's own quotes and its stricter view of kana.

    Hangul syllables stay whole, so that Korean text keeps its length.
    """
    if is_syllable(c):
        return c
    if c in CHROMIUM_QUOTES:
        return CHROMIUM_QUOTES[c]
    if any(map(is_syllable, NFKC(c))):
        return "".join(k if is_syllable(k) else search.primary(k) for k in NFKC(c))
    if any(is_kana(k) for k in NFKD(c)):
        return "".join(
            kana(k, search) if is_kana(k) else search.primary(k)
            for k in (c if is_kana(c) else NFKC(c))
        )
    return search.primary(c)


def is_kana(c: str) -> bool:
    """Whether a finder compares this kana letter's size and voicing too."""
    code = ord(c)
    return (
        0x3041 <= code <= 0x3096
        or 0x30A1 <= code <= 0x30FA
        or 0x31F0 <= code <= 0x31FF
        or (0xFF66 <= code <= 0xFF9D and code != 0xFF70)
    )


def kana(c: str, search: Collation) -> str:
    """The first kana letter with the same weight, size and voicing."""
    for code in (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), *range(0x31F0, 0x3200)):
        other = chr(code)
        if (
            search.primary(other) == search.primary(c)
            and is_small(other) == is_small(c)
            and NFD(other)[1:] == NFD(c)[1:]
        ):
            return other
    raise AssertionError(c)


def is_small(c: str) -> bool:
    return " SMALL " in unicodedata.name(c)


def firefox_fold(c: str, weight: str) -> str:
    """Case folded, ignorable and combining characters dropped, then the base letter.

    Marks that are letters to the other browsers (the small a that medievalists set above
    another letter) are kept, though Firefox drops them: no fold could be coarser than both.
    """
    if is_diacritic(c) and is_letter_above(c, weight):
        return c
    if is_diacritic(c) or icu.Char.hasBinaryProperty(c, PROPERTY.DEFAULT_IGNORABLE_CODE_POINT):
        return ""
    if c == "\u00a0":
        return " "
    folded = FIREFOX_I.get(c) or simple_case(c)
    if folded.isascii() or ord(folded) > 0xFFFF:
        return folded
    base = folded
    decomposed = NFD(folded)
    if (
        len(decomposed) > 1
        and icu.Char.charType(folded) != CATEGORY.MATH_SYMBOL
        and is_diacritic(decomposed[1])
        and ord(decomposed[0]) <= 0xFFFF
    ):
        base = decomposed[0]
    ascii_ = LATIN_ASCII(folded)
    compatible = NFKD(folded).lower()
    if ascii_ != folded and len(compatible) == 1 and compatible.isascii() and compatible.isalnum():
        # Some versions of that transliteration take a black-letter H for an x.
        ascii_ = compatible
    is_space = icu.Char.hasBinaryProperty(folded, PROPERTY.WHITE_SPACE)
    if len(ascii_) == 1 and ascii_.isascii() and not is_space:
        base = ascii_.lower()
    return base


def is_diacritic(c: str) -> bool:
    return icu.Char.getIntPropertyValue(c, PROPERTY.CANONICAL_COMBINING_CLASS) not in (
        FIREFOX_SPELLING
    )


def simple_case(c: str) -> str:
    return icu.Char.foldCase(c)


def is_syllable(c: str) -> bool:
    return "\uac00" <= c <= "\ud7a3"


class Equations:
    """The finest substitution of characters that makes every equation between strings hold."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}

    def solve(self, left: str, right: str, why: str) -> None:
        left, right = self.apply(left), self.apply(right)
        while left and right and left[0] == right[0]:
            left, right = left[1:], right[1:]
        while left and right and left[-1] == right[-1]:
            left, right = left[:-1], right[:-1]
        if len(left) == len(right) == 1:
            kept = min(left, right, key=lambda c: (not c.isascii(), c != " ", c))
            self.rule(left if kept == right else right, kept, why)
        elif len(left) == 1 and left not in right:
            self.rule(left, right, why)
        elif len(right) == 1 and right not in left:
            self.rule(right, left, why)
        elif len(left) == len(right):
            for a, b in zip(left, right, strict=True):
                self.solve(a, b, why)
        elif not left or not right:
            for c in left + right:
                self.rule(c, "", why)
        else:
            raise AssertionError((ascii(left), ascii(right), why))

    def rule(self, c: str, becomes: str, why: str) -> None:
        if c.isascii():
            print(f"  {c!r} becomes {becomes!r}: {why}", file=sys.stderr)
        elif not becomes and icu.Char.charType(c) < CATEGORY.NON_SPACING_MARK:
            print(f"  letter {c!a} {c} is dropped: {why}", file=sys.stderr)
        self.rules[c] = becomes

    def apply(self, text: str) -> str:
        while True:
            changed = "".join(self.rules.get(c, c) for c in text)
            if changed == text:
                return text
            text = changed


def widest(
    characters: list[str],
    chromium: dict[str, str],
    firefox: dict[str, str],
    standard: Collation,
) -> dict[str, str]:
    """A substitution under which whatever any browser takes for equal is equal."""
    equal = Equations()

    def same(c: str, other: str, why: str) -> None:
        equal.solve(chromium.get(c, c), "".join(chromium.get(o, o) for o in other), f"{c!a} {why}")

    for c in characters:
        if without_marks(c) != c and not is_letter_above(c, chromium[c]):
            same(c, "", "mark")
    for c in characters:
        if icu.Char.hasBinaryProperty(c, PROPERTY.DASH):
            same(c, "-", "dash")
        if c in "‹›":
            same(c, "'", "quote")
        if c in "«»":
            same(c, '"', "quote")
        if icu.Char.hasBinaryProperty(c, PROPERTY.WHITE_SPACE):
            same(c, " ", "space")
        if icu.Char.hasBinaryProperty(c, PROPERTY.DEFAULT_IGNORABLE_CODE_POINT):
            same(c, "", "ignorable")
    for c in characters:
        same(c, firefox[c], "Firefox")
        same(c, WEBKIT_QUOTES.get(c, c), "WebKit")
        if not any(map(is_syllable, NFKC(c))):
            same(c, without_marks(standard.primary(c)), "standard collation")
            same(c, NFD(c), "canonical")
        compatible = NFKC(c)
        if (compatible[0] != " " or len(compatible) == 1) and not is_letter_above(c, chromium[c]):
            same(c, without_marks(compatible), "compatible")
        same(c, str(icu.UnicodeString(c).foldCase()), "full case folding")
        if icu.Char.getIntPropertyValue(c, PROPERTY.SCRIPT) == icu.UScriptCode.LATIN:
            same(c, LATIN_ASCII(c), "Latin to ASCII")
    kept = sorted({k for s in chromium.values() for k in s})
    return {k: equal.apply(k) for k in kept}


def is_letter_above(c: str, weight: str) -> bool:
    """Whether a mark weighs as much as some letter that is no mark."""
    return without_marks(c) != c and without_marks(weight) != ""


def without_marks(text: str) -> str:
    marks = (CATEGORY.NON_SPACING_MARK, CATEGORY.ENCLOSING_MARK)
    return "".join(c for c in text if icu.Char.charType(c) not in marks)


def combining(characters: list[str]) -> dict[str, str]:
    seconds = {d for c in characters for d in NFD(c)[1:]}
    found = {}
    for c in characters:
        value = icu.Char.getIntPropertyValue(c, PROPERTY.CANONICAL_COMBINING_CLASS)
        if value or c in seconds:
            found[c] = f"{value}{'c' if c in seconds else ''}"
    return found


def value_name(which: int, c: str) -> str:
    name: str = icu.Char.getPropertyValueName(which, icu.Char.getIntPropertyValue(c, which))
    return name


def graphemes(characters: list[str]) -> dict[str, str]:
    found = {}
    for c in characters:
        name = value_name(PROPERTY.GRAPHEME_CLUSTER_BREAK, c)
        if name not in ("XX", "LV", "LVT"):
            found[c] = name
        elif icu.Char.hasBinaryProperty(c, PROPERTY.EXTENDED_PICTOGRAPHIC):
            found[c] = "X"
    return found


def conjuncts(characters: list[str]) -> dict[str, str]:
    """Consonants and linkers of the scripts in which a conjunct is one cluster."""
    scripts = {"Deva", "Beng", "Gujr", "Orya", "Telu", "Mlym"}
    kinds = {"Virama": "L", "Consonant": "C"}
    found = {}
    for c in characters:
        kind = icu.Char.getPropertyValueName(
            PROPERTY.INDIC_SYLLABIC_CATEGORY,
            icu.Char.getIntPropertyValue(c, PROPERTY.INDIC_SYLLABIC_CATEGORY),
            icu.UPropertyNameChoice.LONG_PROPERTY_NAME,
        )
        if kind in kinds and value_name(PROPERTY.SCRIPT, c) in scripts:
            found[c] = kinds[kind]
    return found


def words(characters: list[str]) -> dict[str, str]:
    found = {}
    kana_scripts = (icu.UScriptCode.HIRAGANA, icu.UScriptCode.KATAKANA)
    for c in characters:
        name = value_name(PROPERTY.WORD_BREAK, c)
        script = icu.Char.getIntPropertyValue(c, PROPERTY.SCRIPT)
        letter = icu.Char.hasBinaryProperty(c, PROPERTY.ALPHABETIC)
        by_dictionary = (
            icu.Char.hasBinaryProperty(c, PROPERTY.IDEOGRAPHIC)
            or script in kana_scripts
            or c == "ー"
        )
        if name in ("Extend", "EX", "FO", "ZWJ"):
            found[c] = name
        elif name == "KA" or (letter and by_dictionary):
            found[c] = "Dict"
        elif letter and value_name(PROPERTY.LINE_BREAK, c) == "SA":
            found[c] = "SA"
        elif name != "XX":
            found[c] = name
    return found


def later() -> dict[str, str]:
    """What a later Unicode may make a letter or a mark: browsers are newer than these tables."""
    planes = (chr(code) for code in range(0x40000) if not 0xD800 <= code < 0xE000)
    return {c: "New" for c in planes if icu.Char.charType(c) == CATEGORY.UNASSIGNED}


def mapping(becomes: dict[str, str]) -> dict[str, str]:
    return {c: codes(s) for c, s in becomes.items() if s != c}


def codes(text: str) -> str:
    return ".".join(f"{ord(c):X}" for c in text)


def table(title: str, values: dict[str, str], note: str, coded: bool = True) -> str:
    """A dictionary by blocks of 256 code points; a shift is `+` forwards and `~` backwards."""
    blocks: dict[int, list[str]] = defaultdict(list)
    for first, last, value in runs(values, coded):
        span = f"{first & 0xFF:X}" if first == last else f"{first & 0xFF:X}-{last & 0xFF:X}"
        blocks[first >> 8].append(span + value)
    lines = [f"# {note}", f"{title} = {{"]
    for block, pieces in sorted(blocks.items()):
        rows = []
        row = ""
        for piece in pieces:
            if row and len(row) + len(piece) > 86:
                rows.append(row)
                row = ""
            row += f" {piece}" if row or rows else piece
        rows.append(row)
        if len(rows) == 1 and len(rows[0]) < 84:
            lines.append(f'    0x{block:X}: "{rows[0]}",')
        else:
            lines.append(f"    0x{block:X}: (")
            lines += [f'        "{row}"' for row in rows]
            lines.append("    ),")
    lines.append("}")
    return "\n".join(lines) + "\n"


def runs(values: dict[str, str], coded: bool) -> Iterable[tuple[int, int, str]]:
    """Runs of one value, or of one shift, that stay in their block."""
    run: list[int] = []
    kept = ("", "")
    for c in sorted(values):
        code = ord(c)
        value = values[c]
        here = (f"={value}", shift_of(code, value) if coded else "")
        if run and run[-1] == code - 1 and code & 0xFF:
            same = [k if k == h and k else "" for k, h in zip(kept, here, strict=True)]
            if any(same):
                run.append(code)
                kept = (same[0], same[1])
                continue
        if run:
            yield run[0], run[-1], kept[0] or kept[1]
        run, kept = [code], here
    if run:
        yield run[0], run[-1], kept[0] or kept[1]


def shift_of(code: int, value: str) -> str:
    """The value as a distance from the code, if it is one code point."""
    if not re.fullmatch("[0-9A-F]{2,6}", value):
        return ""
    distance = int(value, 16) - code
    return f"+{distance:X}" if distance > 0 else f"~{-distance:X}"


if __name__ == "__main__":
    main()
