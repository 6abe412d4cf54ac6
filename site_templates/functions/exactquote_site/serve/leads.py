"""Finds in a visitor's message that the visitor wants to be contacted, and by what.

Only patterns are used, in time linear in the message, and no model. The site's own
suggestions never count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from exactquote_site.serve.phones import phone_number

LeadKind = Literal["email", "profile", "calendar", "phone", "hiring"]

# Bounded everywhere, and begun only where a word begins, so that no message makes a pattern
# walk far or often.
_EMAIL = re.compile(
    r"(?<![\w.+'-])[\w%+'-]{1,64}(?:\.[\w%+'-]{1,64}){0,4}"
    r"(?:@| ?[(\[{] ?(?:at|@|ät) ?[)\]}] ?| at (?=[\w-]{1,63} (?:dot|punkt) ))"
    r"((?:[\w-]{1,63}(?:\.| ?[(\[{] ?(?:dot|punkt) ?[)\]}] ?| (?:dot|punkt) )){1,5}"
    r"[^\W\d_]{2,24})(?![\w-]|:[\w/])",
    re.IGNORECASE,
)
# Nobody is reached there: they are for examples, by RFC 2606.
_EXAMPLE = re.compile(r"(?:.*\.)?(?:example\.(?:com|net|org)|example|invalid|test|localhost)")
_SITE = r"(?<![\w.@-])(?:www\.|m\.|[a-z]{2}\.)?"
_PROFILE = re.compile(
    rf"{_SITE}(?:linkedin\.com/(?:in|company|pub)|xing\.com/(?:profile|people)|bsky\.app/profile"
    r"|malt\.(?:com|de|fr)/profile|upwork\.com/freelancers|t\.me|wa\.me)/[\w.%~+-]{2,80}"
    # Of these the first step is a person; what follows would be that person's work.
    rf"|{_SITE}(?:github\.com|gitlab\.com|x\.com|twitter\.com)/"
    r"(?!(?:features|about|docs|topics|explore|marketplace|login|search|home|settings)\b)"
    r"[\w-]{2,39}/?(?![\w/.-])",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    rf"{_SITE}(?:calendly\.com|cal\.com|savvycal\.com|tidycal\.com|zcal\.co|koalendar\.com"
    r"|calendar\.app\.google|calendar\.google\.com/calendar|doodle\.com|meetings\.hubspot\.com"
    r"|outlook\.office(?:365)?\.com/(?:book|owa)|meet\.google\.com|zoom\.us/j"
    r"|teams\.microsoft\.com/l)/(?!docs\b)[\w./%~@-]{2,120}",
    re.IGNORECASE,
)
_ROLE = (
    r"(?:developer|engineer|designer|freelancer|consultant|contractor|programmer|architect|cto"
    r"|technical writer|entwickler|ingenieur|berater|programmierer|mitarbeiter"
    r"|freiberufler|softwareentwickler|texter)"
)
_HIRING = re.compile(
    r"\b(?:we(?:'re|’re| are) (?:hiring|recruiting)|i(?:'m|’m| am) (?:hiring|recruiting)"
    r"|i(?:'m|’m| am) a recruiter"
    rf"|(?:looking for|looking to hire|need|seeking) (?:[\w/’'-]{{1,24}} ){{0,5}}{_ROLE}s?\b"
    r"(?! (?:docs|documentation|tools?|console|portal|guide|mode|preview|account|api|handbook|key"
    r"|token|licen[cs]e))"
    r"|(?:would|do|could) you (?:like|want|be (?:able|willing)) to (?:work (?:for|with) (?:us|me)\b"
    r"|join (?:us|our|my)\b|interview\b)|job (?:offer|opening|opportunity)\b"
    r"|(?:like|love|want|able|possible|can (?:i|we)|could (?:i|we)) (?:to )?hire you\b"
    r"|(?:are|is) (?:you|he|she|they|the author) (?:still |currently )?(?:available|open)"
    r" (?:for|to) (?:hire|work|freelance|consulting|contract|offers|opportunities|new"
    r"|an? (?:role|interview|project|contract))"
    r"|contract (?:role|position|work) for you|(?:schedule|set up|arrange) an interview"
    r"|invite you (?:to|for) an interview"
    rf"|wir (?:suchen|brauchen|stellen) (?:[\w/*-]{{1,24}} ){{0,5}}{_ROLE}"
    r"(?:in|innen)?\b"
    r"|(?:stellenangebot|jobangebot|vorstellungsgespräch|bewerbungsgespräch)\b"
    r"|(?:würden|möchten|könnten|wollen) sie (?:[\w-]{1,30} ){0,3}(?:für|bei|mit) uns"
    r" (?:[\w-]{1,30} ){0,2}arbeiten"
    r"|(?:(?:wir|ich) (?:möchten?|würden?|wollen|will)|(?:kann|könnte|können|könnten|darf)"
    r" (?:ich|wir|man)) sie (?:[\w-]{1,30} ){0,3}(?:einstellen|anstellen|engagieren|anheuern"
    r"|beauftragen|buchen))",
    re.IGNORECASE,
)
# "Can I set them up?" is written like "can I employ you?", but for one letter.
_THEM = re.compile(r"\bsie (?:[\w-]{1,30} ){0,3}(?:einstellen|anstellen|buchen)")


@dataclass(frozen=True, slots=True)
class Lead:
    """What was found in a message: the kind, and the words that showed it, on one line."""

    kind: LeadKind
    words: str


def leads(message: str, suggestions: Sequence[str] = ()) -> tuple[Lead, ...]:
    """All that a message has, each kind once; none for one of the site's suggestions."""
    asked = _plain(message)
    if any(asked == _plain(suggestion) for suggestion in suggestions):
        return ()
    found: tuple[tuple[LeadKind, str], ...] = (
        ("email", _email(message)),
        ("profile", _first(_PROFILE, message)),
        ("calendar", _first(_CALENDAR, message)),
        ("hiring", _hiring(message)),
        ("phone", phone_number(message)),
    )
    return tuple(Lead(kind, " ".join(words.split())) for kind, words in found if words)


def _email(message: str) -> str:
    for match in _EMAIL.finditer(message):
        # What stands before the host of a URL is a login, and `git@` is everyone's.
        before = message[max(0, match.start() - 80) : match.start()].rpartition(" ")[2]
        if "://" in before or match[0].lower().startswith("git@"):
            continue
        if not _EXAMPLE.fullmatch(match[1].lower()):
            return match[0]
    return ""


def _hiring(message: str) -> str:
    for match in _HIRING.finditer(message):
        if not _THEM.search(match[0]):
            return match[0]
    return ""


def _first(pattern: re.Pattern[str], message: str) -> str:
    match = pattern.search(message)
    return "" if match is None else match[0]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
