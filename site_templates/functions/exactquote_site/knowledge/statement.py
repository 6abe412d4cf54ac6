"""Turns a sentence into what of it can be compared: words, names, figures, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from exactquote_site.knowledge.figures import Figure, figures
from exactquote_site.knowledge.function_words import (
    CLAUSE_WORDS,
    FAINT_WORDS,
    FUNCTION_WORDS,
    NEGATORS,
    OPERATORS,
    PARTICLES,
    RATHER_THAN,
)
from exactquote_site.knowledge.shapes import as_typed
from exactquote_site.knowledge.stems import primary, stem
from exactquote_site.knowledge.word_forms import keys

LANGUAGES = ("en", "de")


# Two words that say something, or one and an operator, a negation or a faint word.
WEIGHT_MIN = 3


class Kind(Enum):
    """What a token is to a comparison."""

    WORD = "word"
    FAINT = "faint word"
    NAME = "name"
    FIGURE = "figure"
    NEGATOR = "negator"
    OPERATOR = "operator"
    FUNCTION = "function word"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, name or figure.

    `place` counts tokens from 0, and `clause` clauses. `operator` is the class of an operator.
    An `owner` is written with the "'s" of a genitive.
    """

    text: str
    kind: Kind
    keys: frozenset[str]
    place: int
    clause: int
    figure: Figure | None = None
    operator: str = ""
    owner: bool = False

    @property
    def says(self) -> bool:
        """Whether it is content, and not the frame that holds it."""
        return self.kind in (Kind.WORD, Kind.NAME, Kind.FIGURE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, taken apart. `language` is `en`, `de` or another primary subtag.

    `places` are those of the tokens that have a key.
    """

    text: str
    language: str
    tokens: tuple[Token, ...]
    places: Mapping[str, tuple[int, ...]]

    @property
    def content(self) -> tuple[Token, ...]:
        """The tokens that say something, faint words left out."""
        return tuple(token for token in self.tokens if token.says)

    @property
    def asks(self) -> bool:
        """Whether it is a question, which states nothing."""
        return self.text.rstrip("\"')”’» ").endswith(("?", "？"))

    @property
    def instructs(self) -> bool:
        """Whether it tells its reader to do something: "Use …", "Verwenden Sie …"."""
        if _INSTRUCTS[self.language].search(self.text):
            return True
        if self.language != "en":
            return False
        return any(verb.casefold() not in _NO_VERBS for verb in _IMPERATIVE.findall(self.text))


_NO_VERBS = FUNCTION_WORDS["en"] | NEGATORS["en"] | CLAUSE_WORDS["en"] | OPERATORS["all"]["en"]


def read_statement(text: str, language: str) -> Statement:
    """Take a sentence apart, in one pass over it."""
    tongue = primary(language)
    typed = as_typed(_spelled(text))
    tokens = _with_mentions(_with_particles(list(_tokens(typed, tongue)), tongue), tongue)
    places: dict[str, tuple[int, ...]] = {}
    for token in tokens:
        for key in token.keys:
            places[key] = (*places.get(key, ()), token.place)
    return Statement(text, tongue, tuple(tokens), places)


def weight(tokens: Iterable[Token]) -> int:
    """How much tokens say; below `WEIGHT_MIN` it is too little to be looked for."""
    framed = (Kind.FAINT, Kind.OPERATOR, Kind.NEGATOR)
    return sum(2 if token.says else token.kind in framed for token in tokens)


def guessed_language(text: str) -> str:
    """`de` or `en`, whichever has more of its function words in the text; "" for neither."""
    found = [word.lower() for word in re.findall(r"[^\W\d_]+", text)]
    counts = {
        tongue: sum(word in FUNCTION_WORDS[tongue] or word in NEGATORS[tongue] for word in found)
        for tongue in LANGUAGES
    }
    best = max(LANGUAGES, key=lambda tongue: counts[tongue])
    return best if counts[best] else ""


_WORD = re.compile(
    r"(?<![\w)\]>])--?[^\W\d_][\w-]*|(?<!\S)/[^\W\d_][\w/{}-]*|(?<![\w.])\.[^\W\d_]\w+|\w+(?:(?:::|[./\-':])\w+)*"
)
_BREAK = re.compile(r"[,;:()\[\]!?…]|\.(?=\s|$)|\s-+\s|\n")
_OPENS = re.compile(r"[:.!?…\"“„»«]\s*[\"“„»«]?$")
_NOT = re.compile(r"(?i)\b(?:can(?:'t|not)|(wo)n't|(sha)n't|(\w+)n't)\b")
# "It refuses to start" is "it doesn't start", and nothing is refused.
_DOES_NOT = re.compile(r"(?i)\b(?:refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)) to\b")
_HAVE_TO = re.compile(r"(?i)\b(?:ha[sd]|have|having) to\b")
_INSTRUCTS = {
    "en": re.compile(
        r"(?i)(?:\A|[:;,]\s)(?:please |always |never )?(?:use|make sure|don't|do not|avoid|prefer"
        r"|keep|call|pass|set|add|put|run|write|name|choose|specify|declare|return)\b"
    ),
    "de": re.compile(
        r"\b(?!(?:können|könnten|sollen|sollten|möchten|müssen|müssten|wollen|dürfen|haben|hatten"
        r"|werden|würden|erhalten|bekommen|sehen|finden|denen|wären)\b)(?i:\w+en) Sie\b"
    ),
}
# "Give each …", "If it fails, give the …": a first word that is no function word, before an
# article or its like.
_IMPERATIVE = re.compile(
    r"(?:\A|(?<=, ))(?!\w+(?:ing|ed|s)\b)([^\W\d_]+)"
    r" (?:the|an?|your|each|every|this|these|all|its|any)\b"
)
_SOMETIMES = re.compile(r"(?i)\b(?:(?:every )?now and then|at times|from time to time)\b")
_WHENEVER = re.compile(r"(?i)\b(wann|wo|wie|was|wer) immer\b")
_EACH_OTHER = re.compile(r"(?i)\beach other\b")
_AS_SOON_AS = re.compile(r"(?i)\bas soon as\b")
# "Whether or not", "either … or not" and "ob … oder nicht" leave it open, and deny nothing.
_OR_NOT = re.compile(
    r"(?i)\b(whether|either|ob|entweder)\b([^.;:?!]*?),? (?:or|oder) (?:not|nicht)\b"
)
_FOR_EXAMPLE = re.compile(r"(?i)\bfor (?:example|instance)\b")
_MOST_LIKELY = re.compile(r"(?i)\bmost (?:likely|probably)\b")
_AS_WELL_AS = re.compile(r"(?i)\bas well as\b")
_IN_ORDER_TO = re.compile(r"(?i)\bin order to\b")
_A_LOT_OF = re.compile(r"(?i)\b(?:a lot|lots) of\b")
_NO_MATTER = re.compile(r"(?i)\bno matter\b")
_AS_LONG_AS = re.compile(r"(?i)\bas long as\b")
_NO_LONGER = re.compile(r"(?i)\b(?:no longer|(nicht) mehr)\b(?! als)")
_OTHER_THAN = re.compile(r"(?i)\b(?:instead of|rather than)\b")
_SHORT_FORM = re.compile(r"\b(?:z\. ?B|d\. ?h|u\. ?a|o\. ?ä|e\.g|i\.e)\.")
_DASH = re.compile(r"[\u2013\u2014\u2212]|(?<=\w)--(?=\w)")
# What no plain word looks like: digits, underscores, dots, a capital inside, capitals alone,
# a flag, a path.
_MARKED = re.compile(r"[\d_.:]|[a-z][A-Z]|[A-Z]{2}|\A(?:--?|/)\w")
# A third part is another one than the second, as with numbers.
_ORDINAL = re.compile(
    r"second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|(?:zweite|dritte|vierte|fünfte|sechste|siebte|achte|neunte|zehnte)[nrsm]?"
)
# German writes its own compounds with a capital; what has none is a name: `python-multipart`.
_PACKAGE = re.compile(r"[a-z]{2,}(?:-[a-z]{2,})+")
_MENTIONED = {"en": ("if", "while", "for", "because"), "de": ("wenn", "während", "für", "weil")}
_IS = ("is", "was", "isn't", "ist", "war")
_PLAIN_JOINT = re.compile(r"[-/']")


def _spelled(text: str) -> str:
    """The text with each "not" as a word of its own and its dashes set apart."""

    def spelled(match: re.Match[str]) -> str:
        return f"{'will' if match[1] else 'shall' if match[2] else match[3] or 'can'} not"

    text = _SHORT_FORM.sub(" ", _DASH.sub(" - ", text)).replace("’", "'")
    text = _NO_MATTER.sub("regardless", _FOR_EXAMPLE.sub(" ", text))
    text = _MOST_LIKELY.sub("probably", text)
    text = _AS_WELL_AS.sub("and", _IN_ORDER_TO.sub("to", text))
    text = _A_LOT_OF.sub("many", _WHENEVER.sub(r"\1", text))
    text = _AS_SOON_AS.sub("when", _EACH_OTHER.sub("themselves", text))
    text = _OR_NOT.sub(r"\1\2", _SOMETIMES.sub("sometimes", text))
    text = _NO_LONGER.sub(lambda match: match[1] or "not", _AS_LONG_AS.sub("if", text))
    text = _OTHER_THAN.sub(RATHER_THAN, _DOES_NOT.sub("not", _NOT.sub(spelled, text)))
    return _HAVE_TO.sub("must", text)


def _tokens(text: str, language: str) -> Iterator[Token]:
    place = clause = done = 0
    for start, end, figure in _pieces(text, language):
        gap = text[done:start]
        if _BREAK.search(gap):
            clause += 1
        opens = not done or bool(_OPENS.search(gap.rstrip()))
        done = end
        if figure is not None:
            yield Token(figure.text, Kind.FIGURE, frozenset(), place, clause, figure)
            place += 1
            continue
        words = tuple(_words(text[start:end], language))
        for word in words:
            folded = word.casefold()
            clause += folded in CLAUSE_WORDS.get(language, ())
            kind, operator = _kind(word, folded, language, opens)
            if kind is Kind.NEGATOR and len(words) > 1:
                # "no-referrer" denies nothing.
                kind = Kind.WORD
            found = _name_keys(word, folded, language) if kind is Kind.NAME else None
            if found is None:
                found = keys(folded, language)
            owner = word is words[-1] and text[start:end].endswith("'s")
            yield Token(word, kind, found, place, clause, None, operator, owner)
            place += 1
            opens = False


def _pieces(text: str, language: str) -> Iterator[tuple[int, int, Figure | None]]:
    """Figures and the words between them, in order."""
    done = 0
    for figure in figures(text, language):
        for match in _WORD.finditer(text, done, figure.start):
            yield *match.span(), None
        yield figure.start, figure.end, figure
        done = figure.end
    for match in _WORD.finditer(text, done):
        yield *match.span(), None


def _words(written: str, language: str) -> Iterator[str]:
    """The word, or its parts where plain words are joined; without a genitive "'s"."""
    written = re.sub(r"'s?\Z", "", written)
    if written.startswith("/"):
        # A path is one name.
        yield written.rstrip("/")
        return
    if written.startswith("-"):
        yield from filter(None, re.split(r"-(?=[A-ZÄÖÜ][a-zäöüß]{2})", written))
        return
    # "response_class-Parameter": the name of a thing, and what the thing is.
    for part in re.split(r"-(?=[A-ZÄÖÜ][a-zäöüß]{2})", written):
        if re.search(r"[\d_:]", part) or (language == "de" and _PACKAGE.fullmatch(part)):
            yield part
        else:
            yield from filter(None, _PLAIN_JOINT.split(part))


def _kind(word: str, folded: str, language: str, opens: bool) -> tuple[Kind, str]:
    if language not in LANGUAGES:
        return (Kind.NAME if _MARKED.search(word) else Kind.WORD), ""
    if len(word) > 1 and (_MARKED.search(word) or "-" in word):
        return Kind.NAME, ""
    if _ORDINAL.fullmatch(folded):
        return Kind.NAME, ""
    if folded in NEGATORS[language] and not (word == "None" and not opens):
        return Kind.NEGATOR, ""
    for operator, listed in OPERATORS.items():
        if folded in listed[language]:
            return Kind.OPERATOR, operator
    if folded in FUNCTION_WORDS[language]:
        return Kind.FUNCTION, ""
    # German writes every noun with a capital, and any sentence begins with one.
    if word[0].isupper() and not opens and language != "de":
        return Kind.NAME, ""
    return (Kind.FAINT if folded in FAINT_WORDS[language] else Kind.WORD), ""


def _name_keys(word: str, folded: str, language: str) -> frozenset[str]:
    """A name stands as it is, but for the "s" of a plural: `URLs`, `StatefulSets`, `Boxes`."""
    if not _MARKED.search(word) and "-" not in word:
        return frozenset((folded, stem(folded, language)))
    plural = "s" if language == "en" else "[sn]"
    if re.search(rf"[A-Z]\w*[A-Za-z]{plural}\Z", word) and not word.isupper():
        return frozenset((folded, folded[:-1]))
    return frozenset((folded,))


def _with_mentions(tokens: list[Token], language: str) -> list[Token]:
    """ "If is an expression": a conjunction before a verb is no conjunction, but a name."""
    mentioned = {
        token.place
        for token, following in pairwise(tokens)
        if token.text.casefold() in _MENTIONED.get(language, ())
        and following.text.casefold() in _IS
    }
    return [replace(t, kind=Kind.NAME) if t.place in mentioned else t for t in tokens]


def _with_particles(tokens: list[Token], language: str) -> list[Token]:
    """German: the verb of a clause with the particle that stands at the clause's end."""
    if language != "de":
        return tokens
    last = {token.clause: token.place for token in tokens}
    particles = [
        token for token in tokens if token.text in PARTICLES and last[token.clause] == token.place
    ]
    joined = []
    for token in tokens:
        said = token.kind in (Kind.WORD, Kind.FAINT) and token.text[0].islower()
        if token in particles:
            token = replace(token, kind=Kind.FUNCTION)
        elif said:
            verbs = [
                keys(particle.text + token.text.casefold(), language)
                for particle in particles
                if particle.place > token.place
            ]
            token = replace(token, keys=token.keys.union(*verbs))
        joined.append(token)
    return joined
