"""Turns a word into the words that it may be derived from.

`citation` and `citing` come of `cite`, `plainly` of `plain`, `failure` of `fail`. Stems take off
endings of inflection; a derived word often keeps one of these. Nouns of who or what does
something (`parser`) are another thing than what is done, and stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from exactquote_site.knowledge.stems import primary

_BASE_CHARS_MIN = 4


def _rules(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Endings with what may stand in their place, "-" for nothing; the longest first."""
    lines = (line.split() for line in text.split("|"))
    rules = [(ending, tuple(new.strip("-") for new in others)) for ending, *others in lines]
    return tuple(sorted(rules, key=lambda rule: -len(rule[0])))


_RULES = {
    "en": _rules(
        "ation - e ate|ization ize|isation ise ize|ification ify|ition - e ite|ion - e|ment -"
        "|ance - e|ence - e|ancy -|ency -|ant - e|ent - e|ure - e|age - e|al - e|ly -|ily y"
        "|ally al -|ness -|iness y|ity - e|ability able|able - e|ible - e|ing - e|ed - e|es - e"
        "|ies y|ied y|ise ize|ised ize|ising ize|or our|ription ribe|uction uce"
        "|cision cide|rsion rt rse|nsion nd|mission mit|lusion lude|vision vide se|lution lve"
        "|parison pare"
        "|mption me|ysis yze yse|growth grow|width wide|choice choose|proof prove|belief believe"
    ),
    "de": _rules(
        "ung en n|ierung ieren|ation ieren|iert ieren|ierte ieren|igkeit ig|keit -|heit -"
        "|lich -|bar en|nahme nehmen|gabe geben|ruf rufen|wahl wählen|schluss schließen"
        "|griff greifen|gang gehen|trag tragen|hilfe helfen|suche suchen|frage fragen"
    ),
}


def bases_of(word: str, language: str) -> Iterator[str]:
    """The words that a case-folded word may come of, itself first; many of them are none."""
    if not word.isalpha() or len(word) < _BASE_CHARS_MIN:
        return
    yield word
    plain = word.removesuffix("s") if primary(language) == "en" else word
    for ending, others in _RULES.get(primary(language), ()):
        if not plain.endswith(ending):
            continue
        root = plain.removesuffix(ending)
        for other in others:
            if len(root) + len(other) >= _BASE_CHARS_MIN and root:
                yield root + other
