"""Makes the receipt of an answer, from which anyone can check later what it stood on.

A receipt names the build, the passages that were cited and the hash of each text. It holds
neither the question nor the answer, only their hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from exactquote_site.wire.allowlist import Entry

RECEIPT_VERSION = 1
# Outcomes of an answer that stands on passages; without one it would stand on nothing.
_STANDS = ("answered", "passages")

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class CitedPassage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One passage of an answer, and the hash of its quote."""

    id: str
    sha256: Sha256


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an answer stood on; `at` is in seconds since 1970."""

    version: int
    answer: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
    at: float
    build_id: str
    kind: Literal["answer", "quotes", "passages", "declined"]
    outcome: Literal["answered", "unanswered", "declined", "passages"]
    question_sha256: Sha256
    text_sha256: Sha256
    passages: list[CitedPassage]


class BadReceipt(ValueError):
    """A file that is no receipt."""


def make_receipt(
    answer: str,
    at: float,
    build_id: str,
    kind: Literal["answer", "quotes", "passages", "declined"],
    outcome: Literal["answered", "unanswered", "declined", "passages"],
    question: str,
    text: str,
    cited: Sequence[Entry],
) -> Receipt:
    """The receipt of an answer by its id; `text` is all that was shown of it."""
    return Receipt(
        version=RECEIPT_VERSION,
        answer=answer,
        at=at,
        build_id=build_id,
        kind=kind,
        outcome=outcome,
        question_sha256=sha256(question),
        text_sha256=sha256(text),
        passages=[CitedPassage(entry.id, sha256(entry.quote)) for entry in cited],
    )


def read_receipt(data: bytes) -> Receipt:
    """The receipt in a file, alone or as the `receipt` of a whole answer.

    Raises `BadReceipt`.
    """
    try:
        value: Any = msgspec.json.decode(data)
        if isinstance(value, dict) and isinstance(value.get("receipt"), dict):
            value = value["receipt"]
        receipt = msgspec.convert(value, Receipt, strict=True)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadReceipt(str(error)) from error
    if receipt.version != RECEIPT_VERSION:
        raise BadReceipt(f"version {receipt.version} can't be read, only {RECEIPT_VERSION}")
    return receipt


def replayed(receipt: Receipt, build_id: str, entries: Mapping[str, Entry]) -> list[str]:
    """What of the receipt doesn't hold in a build, a sentence each; empty when all of it does.

    Another build is no fault by itself: what counts is that each passage reads as it did.
    """
    faults = []
    if receipt.outcome in _STANDS and not receipt.passages:
        faults.append(f"the outcome is {receipt.outcome!r}, and yet no passage is named")
    for passage in receipt.passages:
        entry = entries.get(passage.id)
        if entry is None:
            faults.append(f"{passage.id}: isn't in the allowlist of build {build_id}")
        elif sha256(entry.quote) != passage.sha256:
            faults.append(f"{passage.id}: reads otherwise in build {build_id}")
    return faults


def sha256(text: str) -> str:
    """The SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
