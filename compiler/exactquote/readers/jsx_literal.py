"""Turn the source of a JavaScript expression that is all literals into its plain value."""

from __future__ import annotations

import math
import re
from typing import Final

_DEPTH_MAX = 40
_DIGITS_MAX = 200

_BLANK = re.compile(r"(?:\s+|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'', re.DOTALL)
_TEMPLATE_TEXT = re.compile(r"(?:[^`\\$]+|\\.|\$(?!\{))*", re.DOTALL)
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F][0-9a-fA-F_]*|0[oO][0-7][0-7_]*|0[bB][01][01_]*"
    r"|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?"
)
_NAME = re.compile(r"(?:[^\W\d]|[$_])[\w$]*")
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\n)|(.))", re.DOTALL
)
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")
_SHORT_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "v": "\v", "f": "\f", "r": "\r", "0": "\ufffd"}
_WORDS: dict[str, object] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": None,
    "Infinity": math.inf,
}


class NotLiteral:
    """What an expression is that has no value before the program runs."""


NOT_LITERAL: Final = NotLiteral()


def literal(source: str) -> object:
    """The value of `source`, or `NOT_LITERAL`.

    A value is a string, number, boolean, `None` (also for `undefined`), or a list or dict
    of them; `+` joins strings and adds numbers. No source at all is `None`.
    """
    try:
        value, at = _sum(source, _blank_end(source, 0), 0)
    except _NoValue:
        return None if _blank_end(source, 0) == len(source) else NOT_LITERAL
    return value if at == len(source) else NOT_LITERAL


def text_of(value: object) -> str:
    """The text that JavaScript writes for a string, number or boolean."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number_text(value)
    return str(value)


class _NoValue(Exception):
    """Ends the reading of an expression that isn't a literal."""


def _sum(source: str, at: int, depth: int) -> tuple[object, int]:
    value, at = _value(source, at, depth)
    while source.startswith("+", at) and not source.startswith("++", at):
        other, at = _value(source, _blank_end(source, at + 1), depth)
        value = _added(value, other)
    return value, at


def _added(value: object, other: object) -> object:
    if isinstance(value, str) or isinstance(other, str):
        return _joined(value) + _joined(other)
    if isinstance(value, float) and isinstance(other, float):
        return value + other
    raise _NoValue


def _joined(value: object) -> str:
    # `null` and `undefined` share a value here but write different words.
    if value is None or isinstance(value, list | dict):
        raise _NoValue
    return text_of(value)


def _value(source: str, at: int, depth: int) -> tuple[object, int]:
    """One value, and where the next thing behind it begins."""
    if depth > _DEPTH_MAX:
        raise _NoValue
    character = source[at : at + 1]
    value: object
    if character and character in "\"'":
        found = _STRING.match(source, at)
        if not found:
            raise _NoValue
        value, at = _unescaped(found[1] if found[1] is not None else found[2]), found.end()
    elif character == "`":
        value, at = _template(source, at + 1, depth)
    elif character == "(":
        value, at = _sum(source, _blank_end(source, at + 1), depth + 1)
        at = _after(source, at, ")")
    elif character == "[":
        value, at = _list(source, _blank_end(source, at + 1), depth)
    elif character == "{":
        value, at = _object(source, _blank_end(source, at + 1), depth)
    elif character == "-":
        value, at = _value(source, _blank_end(source, at + 1), depth + 1)
        if not isinstance(value, float):
            raise _NoValue
        value = -value
    else:
        value, at = _number_or_word(source, at)
    return value, _blank_end(source, at)


def _number_or_word(source: str, at: int) -> tuple[object, int]:
    number = _NUMBER.match(source, at)
    if number:
        digits = number[0].replace("_", "")
        if len(digits) > _DIGITS_MAX:
            raise _NoValue
        if digits[:2].lower() in ("0x", "0o", "0b"):
            return float(int(digits, 0)), number.end()
        return float(digits), number.end()
    word = _NAME.match(source, at)
    if not word or word[0] not in _WORDS:
        raise _NoValue
    return _WORDS[word[0]], word.end()


def _template(source: str, at: int, depth: int) -> tuple[str, int]:
    parts: list[str] = []
    while True:
        found = _TEMPLATE_TEXT.match(source, at)
        if not found:
            raise _NoValue
        parts.append(_unescaped(found[0]))
        at = found.end()
        if source.startswith("`", at):
            return "".join(parts), at + 1
        if not source.startswith("${", at):
            raise _NoValue
        value, at = _sum(source, _blank_end(source, at + 2), depth + 1)
        parts.append(_joined(value))
        if not source.startswith("}", at):
            raise _NoValue
        at += 1


def _list(source: str, at: int, depth: int) -> tuple[list[object], int]:
    values: list[object] = []
    while not source.startswith("]", at):
        value, at = _sum(source, at, depth + 1)
        values.append(value)
        at = _comma(source, at, "]")
    return values, at + 1


def _object(source: str, at: int, depth: int) -> tuple[dict[str, object], int]:
    values: dict[str, object] = {}
    while not source.startswith("}", at):
        name = _NAME.match(source, at)
        if name:
            key, at = name[0], _blank_end(source, name.end())
        else:
            found, at = _value(source, at, depth + 1)
            if not isinstance(found, str | float):
                raise _NoValue
            key = text_of(found)
        value, at = _sum(source, _after(source, at, ":"), depth + 1)
        values[key] = value
        at = _comma(source, at, "}")
    return values, at + 1


def _comma(source: str, at: int, closer: str) -> int:
    return at if source.startswith(closer, at) else _after(source, at, ",")


def _after(source: str, at: int, wanted: str) -> int:
    if not source.startswith(wanted, at):
        raise _NoValue
    return _blank_end(source, at + 1)


def _blank_end(source: str, at: int) -> int:
    found = _BLANK.match(source, at)
    return found.end() if found else at


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    joined = _SURROGATES.sub(
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"),
        _ESCAPE.sub(_character, text),
    )
    # Half a surrogate pair is no character; a browser shows it as a replacement sign.
    return _HALF.sub("\ufffd", joined)


def _character(found: re.Match[str]) -> str:
    long, short, byte, line_end, plain = found.groups()
    code = long or short or byte
    if code:
        point = int(code, 16)
        return chr(point) if 0 < point <= 0x10FFFF else "\ufffd"
    if line_end:
        return ""
    return _SHORT_ESCAPES.get(plain, plain)


def _number_text(value: float) -> str:
    """A number as JavaScript writes it: no ".0", and exponents only beyond 21 digits."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, _, exponent = text.partition("e")
    power = int(exponent)
    if -7 < power < 0:
        digits = mantissa.lstrip("-").replace(".", "")
        return f"{'-' * (value < 0)}0.{'0' * (-power - 1)}{digits}"
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"
