"""Turns the body of a request into a question, or into the status that refuses it.

Nothing here costs anything: every check is done before a visitor is counted or a model is
called. 400 is a body that can't be read, 413 one that is too long, 415 one of another type,
422 one of another shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from exactquote_site.serve.config import Limits
from exactquote_site.wire.plain import is_blank

STEPS = (0, 25, 50, 75, 100)
_DEPTH_MAX = 6
_LOCALE = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}\Z"
_SESSION = r"^[A-Za-z0-9_-]{16,64}\Z"
_JSON_TYPE = re.compile(r"application/json\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Refused(Exception):
    """A request that isn't answered; `code` is a name for programs, `detail` for people."""

    status: int
    code: str
    detail: str


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One side's words in the conversation so far."""

    role: Literal["user", "assistant"]
    content: str


class Style(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The steps that a visitor chose; None is the site's own. Honesty is no choice."""

    humour: Literal[0, 25, 50, 75, 100] | None = None
    brevity: Literal[0, 25, 50, 75, 100] | None = None


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a visitor asks, with the conversation before it."""

    question: str
    history: list[Turn] = []
    locale: Annotated[str, msgspec.Meta(pattern=_LOCALE)] | None = None
    style: Style = Style()
    session: Annotated[str, msgspec.Meta(pattern=_SESSION)] | None = None


class Rating(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A thumb up or down for an answer by its id, with what the visitor says of it."""

    answer: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
    good: bool
    words: str = ""


def require_json(content_type: str) -> None:
    """Raise `Refused` unless the body is declared as JSON in UTF-8."""
    if not _JSON_TYPE.fullmatch(content_type.strip()):
        raise Refused(415, "not_json", "Send the question as application/json.")


def read_question(body: bytes, limits: Limits) -> Question:
    """The question in a body. Raises `Refused` for whatever isn't one."""
    if len(body) > limits.body_bytes:
        raise too_long(limits)
    value = _parsed(body)
    if _mentions_honesty(value):
        raise Refused(400, "honesty_is_locked", "Honesty is always at 100 and can't be set.")
    try:
        question = msgspec.convert(value, Question, strict=True)
    except msgspec.ValidationError as error:
        raise Refused(422, "wrong_shape", str(error)) from error
    return _sound(question, limits)


def read_rating(body: bytes, limits: Limits) -> Rating:
    """The rating in a body. Raises `Refused` for whatever isn't one."""
    if len(body) > limits.body_bytes:
        raise too_long(limits)
    try:
        rating = msgspec.convert(_parsed(body), Rating, strict=True)
    except msgspec.ValidationError as error:
        raise Refused(422, "wrong_shape", str(error)) from error
    if len(rating.words) > limits.question_chars:
        raise Refused(422, "words_too_long", f"Up to {limits.question_chars} characters.")
    return rating


def too_long(limits: Limits) -> Refused:
    """The refusal of a body that is longer than the limit, known before it is read."""
    return Refused(413, "body_too_long", f"A request may have {limits.body_bytes:,} bytes.")


def _parsed(body: bytes) -> Any:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # `NaN` and `Infinity` are no JSON, nor are half surrogates.
        raise Refused(400, "not_json", f"The body can't be read as JSON: {error}") from error
    if _deeper_than(value, _DEPTH_MAX):
        raise Refused(400, "too_deep", "The body is nested too deeply.")
    return value


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        level = inner
    return bool(level)


def _mentions_honesty(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    style = value.get("style")
    keys = [*value, *(style if isinstance(style, dict) else ())]
    return any(isinstance(key, str) and key.strip().lower() == "honesty" for key in keys)


def _sound(question: Question, limits: Limits) -> Question:
    asked = question.question.strip()
    if is_blank(asked):
        raise Refused(422, "empty_question", "There is no question.")
    if len(asked) > limits.question_chars:
        raise Refused(
            422, "question_too_long", f"A question may have {limits.question_chars} characters."
        )
    turns = question.history
    if len(turns) > 2 * limits.history_pairs:
        raise Refused(
            422, "history_too_long", f"Send the last {limits.history_pairs} pairs at most."
        )
    for number, turn in enumerate(turns):
        if turn.role != ("user", "assistant")[number % 2]:
            raise Refused(422, "wrong_roles", "Turns alternate and begin with the user's.")
        if len(turn.content) > limits.history_chars:
            raise Refused(422, "history_too_long", "A turn of the history is too long.")
    if len(turns) % 2:
        raise Refused(422, "wrong_roles", "The history ends with the assistant's turn.")
    return msgspec.structs.replace(question, question=asked)
