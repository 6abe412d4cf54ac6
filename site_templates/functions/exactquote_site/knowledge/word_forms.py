"""Turns a word into the keys that two words must share to count as one.

Keys are its stem, that of its base form where it is irregular, and the words that it may
come of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from exactquote_site.knowledge.derivations import bases_of
from exactquote_site.knowledge.stems import primary, stem, without_accents


@lru_cache(maxsize=1 << 16)
def keys(word: str, language: str) -> frozenset[str]:
    """The keys of a case-folded word; `language` is a tag such as `de`."""
    return frozenset(_keys(word, primary(language)))


def _keys(word: str, language: str) -> Iterator[str]:
    root = stem(word, language)
    yield root
    yield without_accents(word)
    forms = {root, *(stem(base, language) for base in _bases(word, language))}
    if language == "de":
        forms |= {form for one in tuple(forms) for form in _german_forms(one)}
        latin = _LATIN_VERB.fullmatch(word)
        if latin:
            forms.add(f"{latin[1]}i")
        # German prose inflects English words as English does.
        forms.add(stem(word, "en"))
    yield from forms
    yield from (f"~{base}" for base in bases_of(word, language))


def _bases(word: str, language: str) -> tuple[str, ...]:
    """The base forms of an irregular form: `gebrochen` and, with its prefix, `abgebrochen`."""
    bases = _BASES.get(language, {})
    found = bases.get(word, ())
    if language == "de" and not found:
        prefix = _VERB_PREFIX.match(word)
        if prefix:
            rest = word[prefix.end() :]
            found = tuple(prefix[0] + base for base in bases.get(rest, ()))
    return found


# The longest first, so that "zurück" isn't read as "zu".
_PREFIXES = (
    "zurück|zuruck|zusammen|weiter|wieder|bereit|hinzu|durch|ab|an|auf|aus|bei|ein|fest|frei"
    "|her|hin|los|mit|nach|um|vor|weg|zu|dar"
)
_VERB_PREFIX = re.compile(rf"(?:{_PREFIXES}|be|ver|er|ent|zer|miss|über|unter|wider)(?=\w{{3}})")
_PARTICIPLE = re.compile(rf"({_PREFIXES})?ge(?=\w{{3}})")
_INFINITIVE = re.compile(rf"({_PREFIXES})zu(?=\w{{3}})")
_FORM_CHARS_MIN = 4
# "konfigurieren", "konfiguriert", "Konfigurierung" and "Konfiguration".
_LATIN_VERB = re.compile(r"(\w{3,})(?:ier(?:en?|t(?:e[nmrs]?)?|st|ung(?:en)?)|ation(?:en)?)")


def _german_forms(root: str) -> Iterator[str]:
    """A participle, an infinitive with "zu" and a finite form lead to one verb."""
    bare = {root, _PARTICIPLE.sub(r"\1", root, count=1) if _PARTICIPLE.match(root) else root}
    if _INFINITIVE.match(root):
        bare.add(_INFINITIVE.sub(r"\1", root, count=1))
    for one in bare:
        yield one
        for ending in ("et", "t", "st", "end"):
            if one.endswith(ending) and len(one) - len(ending) >= _FORM_CHARS_MIN:
                yield one[: -len(ending)]


def _by_form(text: str) -> dict[str, tuple[str, ...]]:
    """Forms with their base, from lines of a base and its forms."""
    bases: dict[str, tuple[str, ...]] = {}
    for line in text.casefold().strip().split("|"):
        base, *forms = line.split()
        for form in forms:
            bases[form] = (*bases.get(form, ()), base)
    return bases


_BASES = {
    "en": _by_form(
        "write wrote written|run ran|find found|make made|take took taken|give gave given|get got"
        " gotten|hold held|keep kept|lead led|leave left|lose lost|mean meant|read read|send sent"
        "|show shown|stand stood|tell told|think thought|build built|begin began begun|break broke"
        " broken|choose chose chosen|come came|do did done|draw drew drawn|drive drove driven|fall"
        " fell fallen|grow grew grown|know knew known|see saw seen|speak spoke spoken|spend spent"
        "|throw threw thrown|understand understood|go went gone|say said|bind bound|bring brought"
        "|catch caught|hide hid hidden|override overrode overridden|pay paid|rise rose risen"
        "|sell sold|shake shook|shut shut|split split|teach taught|wake woke woken|win won|fly"
        " flew flown|forget forgot forgotten|freeze froze frozen|become became|feel felt|meet met"
        "|seek sought|eat ate eaten|forbid forbade forbidden|good better best|have has had"
    ),
    "de": _by_form(
        "schreiben schreibt schrieb geschrieben|lesen liest las gelesen|laufen läuft lief gelaufen"
        "|finden fand gefunden|stehen steht stand gestanden|halten hält hielt gehalten|fallen fällt"
        " fiel gefallen|werfen wirft warf geworfen|sprechen spricht sprach gesprochen|brechen"
        " bricht brach gebrochen|abbrechen abbricht abbrach abgebrochen|sehen sieht sah gesehen"
        "|gelten gilt galt gegolten|lassen lässt ließ gelassen|schließen schließt schloss"
        " geschlossen|beginnen beginnt begann begonnen|tragen trägt trug getragen|enthalten"
        " enthält enthielt|erhalten erhält erhielt|verweisen verwies verwiesen|binden band gebunden"
        "|senden sendet sandte gesandt gesendet|treffen trifft traf getroffen|wissen weiß wusste"
        " gewusst|geben gibt gab gegeben|nehmen nimmt nahm genommen|übergeben übergibt übergab"
        "|zurückgeben zurückgibt zurückgab zurückgegeben|angeben angibt angegeben|ausgeben ausgibt"
        " ausgegeben|vergleichen verglich verglichen|verbinden verband verbunden|entstehen entsteht"
        " entstand entstanden|bestehen besteht bestand|verlassen verlässt verließ|anbieten anbietet"
        " angeboten|bieten bot geboten|ziehen zog gezogen|beziehen bezog bezogen|erscheinen"
        " erschien erschienen|verschieben verschob verschoben|steigen stieg gestiegen|heißen hieß"
        "|bringen brachte gebracht"
        "|denken dachte gedacht|kennen kannte gekannt kannt|nennen nannte genannt"
        "|empfehlen empfiehlt empfahl empfohlen|helfen hilft half geholfen|vergessen vergisst"
        " vergaß"
        "|annehmen annimmt annahm angenommen|aufrufen aufruft aufrief aufgerufen|rufen rief"
        " gerufen|abrufen abruft abrief abgerufen|dürfen darf durfte|mögen mag"
    ),
}
