"""Turns a text into the terms that it is found by, and a question into those it looks for.

A word makes two terms: itself, case-folded, and a loose one, marked by `~`, that its other
forms and spellings make too. What a word is composed of makes loose terms only, so that a
part counts less than the word: the pieces of `snake_case`, `camelCase` and `a::b`, the
prefixes of version 1.2.3, and the parts of a compound. Scripts without spaces between words
are cut into pairs of characters.

Chosen by `bench/retrieval/questions.jsonl`, the half for tuning: loose terms beside the words
rank better than either alone, and best when they count twice in a question. Splitting German
compounds by the corpus's own words finds as much as indexing runs of four letters, in half
the bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise

from exactquote_site.knowledge.compounds import parts, writes_compounds
from exactquote_site.knowledge.function_words import FUNCTION_WORDS
from exactquote_site.knowledge.shapes import shape, stretches
from exactquote_site.knowledge.stems import stem
from exactquote_site.knowledge.stop_words import STOP_WORDS

LOOSE = "~"
# Longer words are cut here, in pages and questions alike.
TERM_CHARS_MAX = 64
# Which stems a question is tried with when nothing is known of the corpus.
LANGUAGES = ("en", "de")

# What no question is about. A page in another language than the question seldom has its
# articles, so that their idf wouldn't show how little they say.
_SAYS_NOTHING = STOP_WORDS.union(*FUNCTION_WORDS.values())
_PIECE = re.compile(r"0+(?:\.0+)*|A{2,}a(?!a)|A+(?=Aa)|A?a+|A+")
_CLUSTER = re.compile("sm*")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PROBE = "Die Datenbankverbindungen der APIs: useState, std::vec, v1.2.3 running users' 组件 ภาษา"
_NONE: frozenset[str] = frozenset()


def words(text: str, language: str = "", *, known: Container[str] = _NONE) -> list[str]:
    """The terms of a text in its order, with repeats.

    `language` is the tag of the text's. Where that language writes compounds in one word,
    they are found by their parts, too, if those are in `known`, the words of the corpus.
    No text takes more than linear time, and none is refused.
    """
    return list(_terms(text, language, partial(parts, known=known)))


def corpus_words(texts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The terms of all texts of a corpus, given with their languages; it knows its own words."""
    pairs = list(texts)
    documents = [words(text, language) for text, language in pairs]
    known = {term for document in documents for term in document}
    split = cache(partial(parts, known=known))
    return [
        list(_terms(text, language, split)) if writes_compounds(language) else document
        for (text, language), document in zip(pairs, documents, strict=True)
    ]


def query_words(
    text: str,
    language: str = "",
    *,
    known: Container[str] = _NONE,
    languages: Sequence[str] = LANGUAGES,
) -> list[str]:
    """The terms that a question looks for; one that is there twice is to count twice.

    `known` are the terms of the index, a `Postings`, and `languages` those of its pages: each
    one's stems are tried, and that of the question's own `language`, where it is given.
    Words that only make it a question are left out, unless there are no others.
    """
    tried = tuple(dict.fromkeys((*([language] if language else []), *(languages or LANGUAGES))))
    found = list(stretches(text))
    found = [each for each in found if each[1].casefold() not in STOP_WORDS] or found
    split = any(map(writes_compounds, tried))
    terms: list[str] = []
    for flag, word, sign in found:
        terms += _twice(_word_terms(flag, word, sign, tried, asked=True))
        if split:
            for part in parts(word.casefold(), known):
                terms += _twice(_loose(part, tried))
    for (_, first, _), (_, second, _) in pairwise(found):
        # What is asked as "file name" may be written "filename".
        joined = (first + second).casefold()
        if joined in known and joined.isalpha():
            terms += _twice(_loose(joined, tried))
    return terms


def topics(
    text: str, *, known: Container[str] = _NONE, languages: Sequence[str] = LANGUAGES
) -> dict[str, tuple[str, ...]]:
    """The words that a question is about, as they are written, each with the loose terms of it.

    A word that is put together is given by its pieces, and as a whole where the index knows
    it so. `known` and `languages` are as for `query_words`. Function words are left out,
    unless there are no others.
    """
    tried = tuple(languages or LANGUAGES)
    found = list(stretches(text))
    found = [each for each in found if says_something(each[1])] or found
    asked: dict[str, tuple[str, ...]] = {}
    for _, word, sign in found:
        line = shape(word)
        if line[0] == "s":
            asked |= {term: (term,) for term in _grams(word, line, asked=True)}
            continue
        pieces = _pieces(word.replace(",", ""))
        whole = tuple(_spellings(_joined(pieces) + sign, tried))
        if len(pieces) == 1 or any(term in known for term in whole):
            asked[word] = whole
        if len(pieces) > 1:
            asked |= {
                piece: tuple(
                    _versions(piece) if piece[0].isdigit() else _spellings(piece.casefold(), tried)
                )
                for piece in (piece[:TERM_CHARS_MAX] for piece in pieces)
                if len(piece) > 1 and says_something(piece)
            }
    return asked


def says_something(word: str) -> bool:
    """Whether a word may be what a question is about."""
    return word.casefold() not in _SAYS_NOTHING


@lru_cache(maxsize=1 << 16)
def spellings(word: str, languages: tuple[str, ...] = LANGUAGES) -> tuple[str, ...]:
    """The loose terms of a case-folded word, by the stems of each language."""
    return tuple(_spellings(word[:TERM_CHARS_MAX], languages or LANGUAGES))


@cache
def fingerprint() -> str:
    """Eight digits that are others when texts are cut otherwise, as by another Snowball.

    An index that was built under one can't be asked under another.
    """
    terms = [*words(_PROBE, "de", known={"daten", "verbindung"}), *words(_PROBE, "en")]
    return hashlib.blake2b("\n".join(terms).encode(), digest_size=4).hexdigest()


def forget_words() -> None:
    """Drop what is remembered of words that were met, which saves finding their stems again."""
    fingerprint.cache_clear()
    _short_word_terms.cache_clear()
    spellings.cache_clear()
    stem.cache_clear()


def _terms(text: str, language: str, split: Callable[[str], tuple[str, ...]]) -> Iterator[str]:
    compounds = writes_compounds(language)
    for flag, word, sign in stretches(text):
        yield from _word_terms(flag, word, sign, (language,), asked=False)
        if compounds and len(word) <= TERM_CHARS_MAX:
            for part in split(word.casefold()):
                yield from _loose(part, (language,))


def _twice(terms: Iterable[str]) -> Iterator[str]:
    for term in terms:
        yield from (term, term) if term[0] == LOOSE else (term,)


def _word_terms(
    flag: str, word: str, sign: str, languages: tuple[str, ...], *, asked: bool
) -> Iterable[str]:
    """The terms of one word, each once, so that no form of it counts more than the word."""
    if len(word) <= TERM_CHARS_MAX:
        return _short_word_terms(flag, word, sign, languages, asked)
    return dict.fromkeys(_cut(flag, word, sign, languages, asked))


@lru_cache(maxsize=1 << 16)
def _short_word_terms(
    flag: str, word: str, sign: str, languages: tuple[str, ...], asked: bool
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_cut(flag, word, sign, languages, asked)))


def _cut(flag: str, word: str, sign: str, languages: tuple[str, ...], asked: bool) -> Iterator[str]:
    line = shape(word)
    if line[0] == "s":
        yield from _grams(word, line, asked)
        return
    if "," in word:
        word = word.replace(",", "")
        line = shape(word)
    exact = word.casefold()[:TERM_CHARS_MAX]
    if flag:
        yield flag + exact
    yield exact + sign
    pieces = [piece.casefold()[:TERM_CHARS_MAX] for piece in _pieces(word)]
    # So `use_state`, `use-state` and `useState` are found by each other.
    yield from _spellings(_joined(pieces) + sign, languages)
    if len(pieces) == 1 and pieces[0][0].isalpha():
        return
    for piece in pieces:
        if piece[0].isdigit():
            yield from _versions(piece)
        elif len(piece) > 1:
            yield from _spellings(piece, languages)


def _pieces(word: str) -> list[str]:
    """The pieces of a word, cut by its shape, in which a mark goes with its letter."""
    found = _PIECE.finditer(shape(word).replace("m", "a"))
    return [word[slice(*each.span())] for each in found]


def _joined(pieces: Sequence[str]) -> str:
    return "".join(piece.casefold()[:TERM_CHARS_MAX] for piece in pieces)[:TERM_CHARS_MAX]


def _grams(word: str, line: str, asked: bool) -> Iterator[str]:
    """Pairs of characters; single ones are looked for only where they stand alone."""
    clusters = [word[slice(*each.span())][:TERM_CHARS_MAX] for each in _CLUSTER.finditer(line)]
    if len(clusters) == 1 or not asked:
        yield from clusters
    yield from (first + second for first, second in pairwise(clusters))


def _spellings(word: str, languages: tuple[str, ...]) -> Iterator[str]:
    """The loose terms of a word, and of `Müller` as it is typed without umlauts."""
    yield from _loose(word, languages)
    typed = word.translate(_UMLAUTS)
    if typed != word:
        yield from _loose(typed, languages)


def _loose(word: str, languages: tuple[str, ...]) -> Iterator[str]:
    yield from dict.fromkeys(LOOSE + stem(word, language) for language in languages)


def _versions(number: str) -> Iterator[str]:
    """`1.2.3`, `1.2` and `1`."""
    # No version has more places; an endless number would have endless prefixes.
    places = number.split(".")[:8]
    for count in range(len(places), 0, -1):
        yield LOOSE + ".".join(places[:count])
