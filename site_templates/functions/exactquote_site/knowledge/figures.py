"""Turns a sentence into its figures: numbers with unit and bound, versions and dates.

`1,000`, `1.000` in German, `1 000`, `one thousand` and `tausend` are one number; `at least 3`,
`3 or more`, `3+` and `mindestens 3` are one bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from exactquote_site.knowledge.stems import primary


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure; `text[start:end]` is all of it, with its unit and the words of its bound.

    `text` is the number as written, and `readings` are the numbers that it may stand for.

    `1.000` is a thousand to one writer and one to another, so it may have two readings.
    `unit` is in one form for each unit, "" where none is known; `bound` is one of "", ">=",
    "<=", ">", "<" and "~". `soft` is the word "one", which an article can stand for.
    """

    start: int
    end: int
    text: str
    readings: frozenset[str]
    unit: str = ""
    bound: str = ""
    soft: bool = False


def figures(text: str, language: str = "") -> tuple[Figure, ...]:
    """Every figure of a sentence, in order, none inside of another."""
    found: list[Figure] = []
    done = 0
    for match in _ANY.finditer(text):
        if match.start() < done:
            continue
        figure = _read(text, match, language)
        if figure is not None:
            found.append(_bounded(text, figure, done))
            done = found[-1].end
    return tuple(found)


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar jan", "february februar feb", "march märz mar", "april apr",
            "may mai", "june juni jun", "july juli jul", "august aug",
            "september sep sept", "october oktober oct okt", "november nov",
            "december dezember dec dez",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
# "one" is no number in "this one" and "one of"; "ein" is an article nearly always.
_NUMBER_WORDS = {
    word: value
    for value, words in {
        0: "zero", 1: "one", 2: "two zwei", 3: "three drei", 4: "four vier",
        5: "five fünf", 6: "six sechs", 7: "seven sieben", 8: "eight acht", 9: "nine neun",
        10: "ten zehn", 11: "eleven elf", 12: "twelve zwölf", 13: "thirteen dreizehn",
        14: "fourteen vierzehn", 15: "fifteen fünfzehn", 16: "sixteen sechzehn",
        17: "seventeen siebzehn", 18: "eighteen achtzehn", 19: "nineteen neunzehn",
        20: "twenty zwanzig", 30: "thirty dreißig", 40: "forty vierzig", 50: "fifty fünfzig",
        60: "sixty sechzig", 70: "seventy siebzig", 80: "eighty achtzig",
        90: "ninety neunzig", 100: "hundred hundert", 1000: "thousand tausend",
    }.items()
    for word in words.split()
}  # fmt: skip
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_DIGIT_WORDS = "one|two|three|four|five|six|seven|eight|nine"
_SCALES = {
    name: power
    for power, names in {
        3: "thousand tausend k",
        6: "million millions millionen mio",
        9: "billion billions milliarde milliarden mrd",
    }.items()
    for name in names.split()
}
_UNITS = {
    name: unit
    for unit, names in {
        "%": "% percent per-cent prozent",
        "ms": "ms millisecond milliseconds millisekunde millisekunden",
        "s": "s sec secs second seconds sekunde sekunden",
        "min": "min mins minute minutes minuten",
        "h": "h hour hours stunde stunden",
        "d": "day days tag tage tagen",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years jahr jahre jahren",
        "B": "b byte bytes",
        "KB": "kb kib kilobyte kilobytes",
        "MB": "mb mib megabyte megabytes",
        "GB": "gb gib gigabyte gigabytes",
        "TB": "tb tib terabyte terabytes",
        "px": "px pixel pixels",
    }.items()
    for name in names.split()
}
# Other single letters are units only when they touch the number.
_SPACED_UNITS = "|".join(
    sorted((u for u in _UNITS if len(u) > 1 or u in "sh"), key=len, reverse=True)
)
_GLUED_UNITS = "|".join(sorted((*_UNITS, "k"), key=len, reverse=True))
_SCALE_WORDS = "|".join(sorted((s for s in _SCALES if len(s) > 1), key=len, reverse=True))
_ANY = re.compile(
    rf"""
    (?P<iso>(?<![\w.])\d{{4}}-\d{{2}}-\d{{2}}(?!\w))
    |(?P<dmy>(?<![\w.])(\d{{1,2}})(?:st|nd|rd|th|\.)?\ (?:of\ )?({_MONTH})\.?,?\ (\d{{4}})(?!\w))
    |(?P<mdy>(?<!\w)({_MONTH})\.?\ (\d{{1,2}})(?:st|nd|rd|th)?,?\ (\d{{4}})(?!\w))
    |(?P<dots>(?<![\w.])(\d{{1,2}})\.(\d{{1,2}})\.((?:19|20)\d\d)(?!\w))
    |(?P<number>
        (?<![\w.,])(?<!\w-)(?:(?<![/\-])v(?=\d+\.\d))?
        (?P<digits>\d{{1,3}}(?:[ ]\d{{3}})+(?!\d)|\d+(?:[.,']\d+)*)
        (?:(?P<glued>{_GLUED_UNITS}|%)(?!\w))?
        (?P<plus>\+(?!\w))?
        (?![^\W\d]|\d|[-.]\d)
        (?:[ -]?(?P<spaced>{_SPACED_UNITS}|%|{_SCALE_WORDS})(?![\w]))?
    )
    |(?P<tens>(?<![\w-])(?:{_TENS})-(?:{_DIGIT_WORDS})(?!\w))
    |(?P<word>(?<![\w-])(?:{"|".join(_NUMBER_WORDS)})(?!\w)
        (?:[ -](?P<unit>{_SPACED_UNITS}|{_SCALE_WORDS})(?!\w))?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BOUNDS_BEFORE = {
    ">=": "at least|minimum of|not less than|no less than|no fewer than|mindestens|minimal|ab",
    "<=": "at most|up to|maximum of|no more than|not more than|never more than|höchstens"
    "|nicht mehr als|nie mehr als|maximal|bis zu",
    ">": "more than|over|above|greater than|mehr als|größer als|über",
    "<": "less than|fewer than|under|below|weniger als|kleiner als|unter",
    "~": "about|around|roughly|approximately|nearly|almost|some|etwa|rund|ungefähr|circa|ca.|fast",
}
_BEFORE = re.compile(
    "|".join(
        f"(?P<b{number}>{words.replace('.', chr(92) + '.')})"
        for number, words in enumerate(_BOUNDS_BEFORE.values())
    ).join((r"(?<!\w)(?:", r")(?:\ the|\ a|\ an|\ one|\ von|(?<=\bab)\ (?-i:[A-Z])\w+)?[ ]$")),
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[ ,]*(?:(?P<more>(?:or|and|oder|und)\ (?:more|newer|later|higher|above|up|greater|mehr"
    r"|neuer|höher|später)|(?:upwards))|(?P<less>(?:or|and|oder|und)\ (?:less|fewer|lower|older"
    r"|below|weniger|niedriger|älter)))(?!\w)",
    re.IGNORECASE,
)
# "16 characters or more": the noun is a word of the sentence.
_AFTER_NOUN = re.compile(
    r" [^\W\d_]+,? (?:or|oder) (?:(?P<more>more|mehr)|less|fewer|weniger)(?!\w)", re.IGNORECASE
)
_NOT_A_ONE = re.compile(
    r"(?:this|that|the|which|each|every|any|no|another|other|new|same|last|first|this|only)\ $",
    re.IGNORECASE,
)
_NOT_ONE_MORE = re.compile(
    r"\ (?:of|another|or|and|can|could|may|might|must|should|would|has|is|was|that|who|which|by"
    r"|thing|day)(?!\w)|[.,;:!?)]|$",
    re.IGNORECASE,
)
_BEFORE_CHARS = 24


def _read(text: str, match: re.Match[str], language: str) -> Figure | None:
    start, end = match.span()
    if match["iso"]:
        return Figure(start, end, match[0], frozenset((f"date:{match[0]}",)))
    for kind, order in (("dmy", (1, 2, 3)), ("mdy", (2, 1, 3)), ("dots", (1, 2, 3))):
        if match[kind]:
            return _date(text, match, kind, order)
    if match["number"]:
        return _number(text, match, language)
    return _word(text, match)


def _date(text: str, match: re.Match[str], kind: str, order: tuple[int, int, int]) -> Figure:
    first = _ANY.groupindex[kind]
    day, month, year = (match[first + place] for place in order)
    number = _MONTHS.get(month.lower()) or int(month)
    reading = f"date:{int(year):04}-{number:02}-{int(day):02}"
    return Figure(match.start(), match.end(), match[0], frozenset((reading,)))


def _number(text: str, match: re.Match[str], language: str) -> Figure:
    start, end = match.span("number")
    written = match["digits"]
    readings = _readings(written, language)
    unit = ""
    for name in (match["glued"], match["spaced"]):
        if name and name.lower() in _SCALES:
            readings = _scaled(readings, _SCALES[name.lower()])
        elif name:
            unit = _UNITS[name.lower()]
    return Figure(start, end, match[0].strip(), readings, unit, ">=" if match["plus"] else "")


def _readings(written: str, language: str) -> frozenset[str]:
    """The numbers that digits with marks may stand for, without the marks of thousands."""
    grouped = re.fullmatch(r"[1-9]\d{0,2}(?:([.,' ])\d{3})(?:\1\d{3})*", written)
    plain = written.replace(",", ".")
    if not grouped:
        if re.fullmatch(r"\d{1,3}(?:[.,' ]\d{3})+[.,]\d+", written):
            whole, fraction = re.split(r"[.,](?=\d+$)", written)
            return frozenset((re.sub(r"\D", "", whole) + "." + fraction,))
        return frozenset((plain,))
    joined = re.sub(r"\D", "", written)
    if grouped[1] in "' " or len(re.findall(r"\D", written)) > 1:
        return frozenset((joined,))
    tongue = primary(language)
    # The mark of thousands in one language is the mark of fractions in the other.
    if (grouped[1] == "," and tongue == "en") or (grouped[1] == "." and tongue == "de"):
        return frozenset((joined,))
    if (grouped[1] == "." and tongue == "en") or (grouped[1] == "," and tongue == "de"):
        return frozenset((plain,))
    return frozenset((joined, plain))


def _scaled(readings: frozenset[str], power: int) -> frozenset[str]:
    scaled = set()
    for reading in readings:
        whole, _, fraction = reading.partition(".")
        digits = whole + fraction.ljust(power, "0")[:power] if "." not in fraction else reading
        scaled.add(digits.lstrip("0") or "0")
    return frozenset(scaled)


def _word(text: str, match: re.Match[str]) -> Figure | None:
    start, end = match.span()
    word = (match["tens"] or re.split("[ -]", match[0])[0]).lower()
    before, after = text[max(0, start - _BEFORE_CHARS) : start], text[end:]
    if match["tens"]:
        tens, digit = word.split("-")
        value = _NUMBER_WORDS[tens] + _NUMBER_WORDS[digit]
    else:
        value = _NUMBER_WORDS[word]
    if word == "one" and (_NOT_A_ONE.search(before) or _NOT_ONE_MORE.match(after)):
        return None
    readings, unit = frozenset((str(value),)), ""
    name = (match["unit"] or "").lower()
    if name in _SCALES:
        readings = _scaled(readings, _SCALES[name])
    elif name:
        unit = _UNITS[name]
    return Figure(start, end, match[0], readings, unit, soft=word == "one")


def _bounded(text: str, figure: Figure, done: int) -> Figure:
    """The figure with the words before or behind it that make a bound of it."""
    after = _AFTER.match(text, figure.end)
    if after:
        return replace(figure, end=after.end(), bound=">=" if after["more"] else "<=")
    beyond = _AFTER_NOUN.match(text, figure.end)
    if beyond and not figure.bound:
        return replace(figure, bound=">=" if beyond["more"] else "<=")
    begin = max(done, figure.start - _BEFORE_CHARS)
    before = _BEFORE.search(text[begin : figure.start])
    if not before or figure.bound:
        return figure
    bound = next(
        bound for number, bound in enumerate(_BOUNDS_BEFORE) if before[f"b{number}"] is not None
    )
    return replace(figure, start=begin + before.start(), bound=bound)
