"""The fixed texts that a visitor reads, in the languages that ship with the function.

The refusal sentence isn't one of them: it is a constant of the build, in `chat.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

_EN = {
    "declined": "That is something I leave to a personal conversation. Ask me anything else.",
    "question_too_long": "That question is too long. Up to {chars} characters, please.",
    "bad_request": "That request couldn't be read.",
    "too_many": "That was a lot of questions at once. Please try again in {wait}.",
    "paused": "The chat has used up its budget for today and is back after midnight UTC.",
    "busy": "The answer service is busy. Please try again in a moment.",
    "timeout": "The answer took too long. Please try again.",
    "broken": "The answer broke off. Please try again.",
    "unavailable": "The answer service can't be reached right now.",
    "refused_by_provider": "The answer service declined this question.",
    "passages": "These passages of the site fit your question best:",
    "more": "More on this in the passages cited.",
    "stored": "Conversations and feedback are stored for {days} days.",
    "stored_gaps": "Unanswered questions and feedback are kept for {days} days, without your name.",
    "not_stored": "Nothing that you ask is stored.",
    "mailed": "A message with contact details is mailed to the owner.",
    "seconds": "{count} seconds",
    "minutes": "{count} minutes",
    "hours": "{count} hours",
}
_DE = {
    "declined": "Das bespreche ich lieber persönlich. Fragen Sie gern etwas anderes.",
    "question_too_long": "Diese Frage ist zu lang. Bitte höchstens {chars} Zeichen.",
    "bad_request": "Diese Anfrage war nicht lesbar.",
    "too_many": "Das waren viele Fragen auf einmal. Bitte in {wait} noch einmal versuchen.",
    "paused": "Das Budget des Chats ist für heute aufgebraucht; ab Mitternacht UTC geht es weiter.",
    "busy": "Der Antwortdienst ist ausgelastet. Bitte gleich noch einmal versuchen.",
    "timeout": "Die Antwort hat zu lange gedauert. Bitte noch einmal versuchen.",
    "broken": "Die Antwort ist abgebrochen. Bitte noch einmal versuchen.",
    "unavailable": "Der Antwortdienst ist gerade nicht erreichbar.",
    "refused_by_provider": "Der Antwortdienst hat diese Frage abgelehnt.",
    "passages": "Diese Stellen der Website passen am besten zu Ihrer Frage:",
    "more": "Mehr dazu an den zitierten Stellen.",
    "stored": "Gespräche und Rückmeldungen werden {days} Tage lang gespeichert.",
    "stored_gaps": "Unbeantwortete Fragen und Rückmeldungen werden {days} Tage lang aufbewahrt,"
    " ohne Ihren Namen.",
    "not_stored": "Nichts von dem, was Sie fragen, wird gespeichert.",
    "mailed": "Nachrichten mit Kontaktdaten gehen per Mail an den Betreiber.",
    "seconds": "{count} Sekunden",
    "minutes": "{count} Minuten",
    "hours": "{count} Stunden",
}
SHIPPED = {"en": _EN, "de": _DE}


Texts = Mapping[str, Mapping[str, str]]
_NONE: Texts = MappingProxyType({})


def phrase(name: str, language: str, own: Texts = _NONE, **values: object) -> str:
    """One of the texts in a language, or in English where it isn't translated.

    `own` are the site's wordings, by language and name; they come before those that ship.
    Raises `KeyError` for a text that doesn't exist or a value that it needs.
    """
    tongue = language.partition("-")[0].lower()
    english = _EN[name]
    shipped = SHIPPED.get(tongue, _EN).get(name, english)
    text = own.get(language, own.get(tongue, {})).get(name, shipped)
    return text.format(**values)


def wait(seconds: float, language: str, own: Texts = _NONE) -> str:
    """A time to wait, in the unit that people would use."""
    if seconds < 100:
        return phrase("seconds", language, own, count=max(1, round(seconds)))
    if seconds < 6_000:
        return phrase("minutes", language, own, count=round(seconds / 60))
    return phrase("hours", language, own, count=round(seconds / 3_600))


def language_of(text: str, locale: str | None, languages: Sequence[str]) -> str:
    """In which of the site's languages a visitor is answered with fixed texts.

    The words of the question decide, then the page's locale, then the site's first language.
    """
    words = set(text.lower().replace("?", " ").replace(",", " ").split())
    counts = {
        language: len(words & _COMMON[language]) for language in languages if language in _COMMON
    }
    best = max(counts.values(), default=0)
    winners = [language for language in languages if counts.get(language, 0) == best]
    if best and len(winners) == 1:
        return winners[0]
    told = (locale or "").partition("-")[0].lower()
    return told if told in languages else languages[0]


# Words that few sentences lack and that the other languages don't have.
_COMMON = {
    "en": frozenset(
        "the is are was does do did how what why when where which who can could should i of to"
        " and it that this with for from my you your there have has not".split()
    ),
    "de": frozenset(
        "der die das den dem ein eine einen ist sind war wird werden wie was warum wann wo"
        " welche welcher wer kann können soll ich mit von zu und nicht für auf aus es gibt man"
        " mein sie ihr wieso weshalb muss".split()
    ),
    "fr": frozenset(
        "le la les des du un une est sont comment pourquoi quand où quel quelle qui que peut je"
        " avec pour dans et ne pas ce cette il y a-t-il".split()
    ),
    "es": frozenset(
        "el la los las un una es son cómo qué por cuándo dónde cuál quién puede yo con para en y"
        " no este esta hay del".split()
    ),
    "it": frozenset(
        "il lo gli un una è sono come cosa perché quando dove quale chi può io con per nel e non"
        " questo questa del della".split()
    ),
    "pt": frozenset(
        "o os as um uma é são como quê por quando onde qual quem pode eu com para em e não este"
        " esta do da".split()
    ),
    "nl": frozenset(
        "de het een is zijn hoe wat waarom wanneer waar welke wie kan ik met van voor en niet dit"
        " deze er".split()
    ),
}
