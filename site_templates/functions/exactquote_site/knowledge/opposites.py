"""Tells where a claim has one word of a pair of opposites, and the passage the other.

Opposites stand in the same company, so that vectors take them for near words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from exactquote_site.knowledge.statement import Kind, Statement, Token
from exactquote_site.knowledge.stems import stem
from exactquote_site.knowledge.word_forms import keys

# Pairs of general vocabulary, of any inflection; words with a slash between them are one side.
_PAIRS = {
    "en": (
        "enable disable, allow/permit/accept forbid/refuse/reject/prohibit/deny, include exclude,"
        " true false, on off, input output, import export, first last, outer inner,"
        " outermost innermost, success/succeed error/failure/fail, mutable immutable,"
        " public private, increase/grow/rise decrease/shrink/fall/reduce, add remove/delete,"
        " open close, start/begin stop/end, minimum maximum, minimal maximal,"
        " client server, synchronous asynchronous, encode decode, serialize deserialize,"
        " encrypt decrypt, safe unsafe, stable unstable, necessary unnecessary, present absent,"
        " left right, same different, easy/easier hard/harder/difficult, simple complex,"
        " attach detach, internal external, inside outside, upper lower, early late,"
        " earlier later, fast/faster/quick slow/slower, cheap expensive, send receive, push pull,"
        " lock unlock, load unload, mount unmount, connect disconnect, subscribe unsubscribe,"
        " top bottom, old new, large/big/larger/bigger small/smaller, long short,"
        " longer shorter, high/higher low/lower, full empty, fixed variable, static dynamic,"
        " global local, positive negative, valid invalid, known unknown, manual/manually"
        " automatic/automatically, explicit/explicitly implicit/implicitly, ascending"
        " descending, horizontal vertical, visible hidden, mandatory/required optional, odd"
        " even, alive dead, better worse, best worst, next previous, startup shutdown, parent"
        " child, buy sell, lose gain, possible impossible, equal unequal, strong weak,"
        " controlled uncontrolled, must optional/optionally, most/usually/often rare/rarely/seldom,"
        " sender receiver, producer consumer, read write, direct"
        " indirect, finite infinite, temporary permanent, common/frequent rare, often seldom,"
        " always never, sequential/sequentially parallel/concurrently, singular plural,"
        " lowercase uppercase, absolute relative, trusted untrusted, handled unhandled"
    ),
    "de": (
        "aktivieren deaktivieren, erlauben/zulassen verbieten, erste letzte, öffnen"
        " schließen, synchron asynchron, minimum maximum, wahr falsch, optional"
        " erforderlich/notwendig/obligatorisch, hinzufügen entfernen/löschen, gültig ungültig,"
        " gleich verschieden/unterschiedlich, abhängig unabhängig, leicht/leichter/einfach"
        " schwer/schwerer/schwierig, besser schlechter, gut schlecht, groß klein, größer"
        " kleiner, lang kurz, länger kürzer, schnell/schneller langsam/langsamer, hoch niedrig,"
        " intern extern, innen außen, innere äußere, öffentlich privat, automatisch manuell,"
        " statisch dynamisch, global lokal, sicher unsicher, senden empfangen, starten stoppen,"
        " beginnen enden, verschlüsseln entschlüsseln, oben unten, voll leer, alt neu, bekannt"
        " unbekannt, sichtbar unsichtbar, direkt indirekt, vorherige nächste, positiv negativ,"
        " explizit implizit, relativ absolut, möglich unmöglich, vertrauenswürdig"
        " unvertrauenswürdig, komprimieren dekomprimieren, kodieren dekodieren, serialisieren"
        " deserialisieren, importieren exportieren, einschließen ausschließen, client server,"
        " eingabe ausgabe, links rechts, viel wenig, zunehmen abnehmen, gewinnen verlieren"
    ),
}
_DENYING = {"en": ("un", "non", "dis"), "de": ("un", "nicht")}
_CHARS_MIN = 4


def opposite_faults(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> Iterator[str]:
    """Each word of the claim whose opposite the passage has in its place, in words."""
    held = {place for places in pairs.values() for place in places}
    free = [token for token in passage.tokens if token.place not in held and _said(token)]
    for token in claim.tokens:
        if token.place in pairs or not _said(token):
            continue
        for other in free:
            if are_opposites(token, other, claim.language):
                yield f'the claim says "{token.text}", the passage "{other.text}"'
                break


def are_opposites(one: Token, other: Token, language: str) -> bool:
    """Whether two words are a listed pair, or one is the other behind "un" and its like."""
    listed = _listed(language)
    for here, there in ((one, other), (other, one)):
        if any(not listed[key].isdisjoint(there.keys) for key in here.keys if key in listed):
            return True
        word, rest = here.text.casefold(), there.text.casefold()
        for prefix in _DENYING.get(language, ()):
            bare = word.removeprefix(prefix)
            if bare == word or len(bare) < _CHARS_MIN or not rest.startswith(bare[:2]):
                continue
            if not there.keys.isdisjoint(keys(bare, language)):
                return True
    return False


def _said(token: Token) -> bool:
    return token.kind in (Kind.WORD, Kind.FAINT, Kind.NAME, Kind.FUNCTION, Kind.OPERATOR)


@lru_cache(maxsize=4)
def _listed(language: str) -> Mapping[str, frozenset[str]]:
    """The stems that each stem is opposite to."""
    table: dict[str, set[str]] = {}
    # German prose on technical things is full of English words.
    for pair in ", ".join((_PAIRS.get(language, ""), _PAIRS["en"])).split(","):
        sides = [
            {stem(word.casefold(), language) for word in side.split("/")} for side in pair.split()
        ]
        for here, there in (sides, sides[::-1]):
            for root in here:
                table.setdefault(root, set()).update(there)
    return {root: frozenset(others) for root, others in table.items()}
