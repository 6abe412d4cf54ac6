"""Tells whether the function can answer, by the conditions that the answer path has."""

from __future__ import annotations

from typing import Literal

from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.serve.answer import Desk
from exactquote_site.serve.config import StoreConfig
from exactquote_site.serve.dials import shown
from exactquote_site.serve.prompt import prompt
from exactquote_site.serve.provider import worst_cost
from exactquote_site.serve.requests import Question
from exactquote_site.serve.store.database import StoreDown
from exactquote_site.serve.texts import phrase

State = Literal["ready", "passages", "words", "paused", "off"]

# Of all that people write, no character takes more bytes.
_DEAREST = "\U0001f600"


def state(desk: Desk) -> State:
    """What a question that is asked now would meet."""
    try:
        spending = desk.ledger.today(desk.clock())
    except StoreDown:
        return "off"
    if desk.model is None:
        return "passages"
    # What running calls hold may come back any moment: then an answer is busy, not paused.
    if spending.spent + opening_cost(desk) > desk.limit:
        return "paused"
    return "words" if desk.words_only else "ready"


def told(desk: Desk) -> dict[str, object]:
    """The answer to a request for the status."""
    config = desk.config
    return {
        "state": state(desk),
        "build_id": config.build_id,
        "languages": config.languages,
        "mode": config.mode,
        "body_bytes": config.limits.body_bytes,
        "question_chars": config.limits.question_chars,
        "history_pairs": config.limits.history_pairs,
        "suggestions": config.suggestions,
        "dials": shown(config.dials),
        "feedback_words": keeps_words(config.store),
        "stored": {language: _stored(desk, language) for language in config.languages},
    }


def keeps_words(store: StoreConfig) -> bool:
    """Whether anybody's words are kept; where none are, none of a visitor's feedback are."""
    return store.conversations or store.gaps


def opening_cost(desk: Desk) -> int:
    """The most that the first question of a conversation can cost, in nano-dollars; worked
    out once. Later ones carry what was said before, and may meet the end of a budget sooner.
    """
    if desk.opening_cost is None:
        asked = Question(_DEAREST * desk.config.limits.question_chars)
        longest = prompt(asked, _longest(desk), desk.entries, desk.config)
        desk.opening_cost = worst_cost(longest, desk.config.provider)
    return desk.opening_cost


def _longest(desk: Desk) -> tuple[Chunk, ...]:
    """The longest that a request may be given."""
    chunks = desk.base.all_chunks()
    if desk.base.header.mode == "whole":
        return chunks
    by_length = sorted(chunks, key=lambda chunk: len(chunk.text.encode()), reverse=True)
    return tuple(by_length[: desk.config.limits.passages])


def _stored(desk: Desk, language: str) -> str:
    """What the panel says, always visible, of what is kept and handed on."""
    store, texts = desk.config.store, desk.config.texts
    if store.conversations:
        kept = phrase("stored", language, texts, days=store.days)
    elif store.gaps:
        kept = phrase("stored_gaps", language, texts, days=store.days)
    else:
        kept = phrase("not_stored", language, texts)
    if desk.config.leads.to:
        return f"{kept} {phrase('mailed', language, texts)}"
    return kept
