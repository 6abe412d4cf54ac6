"""Tells where a claim has one word of a pair of opposites, and the passage the other."""

from __future__ import annotations

from collections.abc import Iterator

from exactquote_site.knowledge.statement import Statement

_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in line.split("/"))
    for line in (
        "enable enables enabled/disable disables disabled",
        "allow allows allowed allowing accept accepts accepted permitted/forbid forbids forbidden"
        " forbidding refuse refuses refused reject rejects rejected prohibited",
        "include includes included/exclude excludes excluded",
        "true/false", "on/off", "with/without", "input/output", "import/export", "first/last",
        "success/error failure", "mutable/immutable", "public/private", "increase/decrease",
        "add adds added/remove removes removed", "open opens opened/close closes closed",
        "start starts started/stop stops stopped", "minimum/maximum", "client/server",
        "synchronous/asynchronous", "encode/decode", "serialize/deserialize", "safe/unsafe",
        "stable/unstable", "necessary/unnecessary", "present/absent", "left/right",
        "same/different",
        "aktiviert aktivieren/deaktiviert deaktivieren", "erlaubt erlauben/verboten verbieten",
        "ein/aus", "mit/ohne", "erste ersten/letzte letzten", "öffnen/schließen",
        "synchron synchrone/asynchron asynchrone", "minimum/maximum", "wahr/falsch",
        "optional optionale optionaler/erforderlich erforderliche erforderlicher",
        "hinzufügen/entfernen", "gültig gültige gültigen/ungültig ungültige ungültigen",
        "gleich gleiche/verschieden verschiedene", "abhängig/unabhängig",
    )
)  # fmt: skip


def opposite_faults(claim: Statement, passage: Statement) -> Iterator[str]:
    """Each word of the claim whose opposite the passage has in its place, in words."""
    said = {token.text.casefold() for token in passage.tokens}
    claimed = {token.text.casefold() for token in claim.tokens}
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            mine, yours = (claimed - said) & here, (said - claimed) & there
            if mine and yours and not said & here and not claimed & there:
                yield f'the claim says "{min(mine)}", the passage "{min(yours)}"'
