"""Turns a media or feature query into the screens on which it holds.

A page is judged as a desktop browser shows it, and what is cited of it once more as a phone
does. What holds on paper or in dark mode only is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import tinycss2  # type: ignore[import-untyped]

from exactquote.rendered.style_values import is_display

Token = Any

DESKTOP, PHONE, ZOOMED_OUT = 1, 2, 4
"""A bit for each screen; the last is a phone with a page that wasn't made for phones."""
EVERYWHERE = DESKTOP | PHONE | ZOOMED_OUT

_PIXELS = {
    "px": 1.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 96 / 25.4,
    "pt": 96 / 72,
    "pc": 16.0,
}
_DOTS = {"dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 2.54 / 96}
_FALSE_WHEN_BARE = {"none", "no-preference", "0"}


class _Number(NamedTuple):
    """A value that can be compared: a plain number, a length in pixels, or dots to a pixel."""

    value: float
    unit: Literal["", "length", "dots"] = ""


@dataclass(frozen=True, slots=True)
class _Screen:
    width: float
    height: float
    dots: float
    touch: bool

    def number(self, feature: str) -> _Number | None:
        """The value of a feature that can be compared, or `None` for any other feature."""
        numbers = {
            "width": _Number(self.width, "length"),
            "height": _Number(self.height, "length"),
            "inline-size": _Number(self.width, "length"),
            "block-size": _Number(self.height, "length"),
            "device-width": _Number(self.width, "length"),
            "device-height": _Number(self.height, "length"),
            "aspect-ratio": _Number(self.width / self.height),
            "device-aspect-ratio": _Number(self.width / self.height),
            "resolution": _Number(self.dots, "dots"),
            "-webkit-device-pixel-ratio": _Number(self.dots),
            "-webkit-transform-3d": _Number(1.0),
            "horizontal-viewport-segments": _Number(1.0),
            "vertical-viewport-segments": _Number(1.0),
            "color": _Number(8.0),
            "color-index": _Number(0.0),
            "monochrome": _Number(0.0),
            "grid": _Number(0.0),
        }
        return numbers.get(feature)

    def word(self, feature: str) -> str | None:
        """The value of a feature that is a keyword, or `None` for an unknown feature."""
        if feature in ("hover", "any-hover"):
            return "none" if self.touch else "hover"
        if feature in ("pointer", "any-pointer"):
            return "coarse" if self.touch else "fine"
        if feature == "orientation":
            return "landscape" if self.width > self.height else "portrait"
        return _WORDS.get(feature)


_WORDS = MappingProxyType(
    {
        "prefers-color-scheme": "light",
        "prefers-reduced-motion": "no-preference",
        "prefers-reduced-transparency": "no-preference",
        "prefers-reduced-data": "no-preference",
        "prefers-contrast": "no-preference",
        "forced-colors": "none",
        "inverted-colors": "none",
        "scripting": "enabled",
        "display-mode": "browser",
        "overflow-block": "scroll",
        "overflow-inline": "scroll",
        "update": "fast",
        "scan": "progressive",
        "color-gamut": "srgb",
        "dynamic-range": "standard",
    }
)
DESKTOP_WIDTH = 1280
# Widths that a page may ask for: nearer to a phone's than to 980 pixels.
_FITTED_MAX = 680
PHONE_WIDTH, PHONE_HEIGHT = 390, 844
"""CSS pixels of the windows that a page is judged in."""
_SCREENS = (
    (DESKTOP, _Screen(DESKTOP_WIDTH, 800, 1, touch=False)),
    (PHONE, _Screen(PHONE_WIDTH, PHONE_HEIGHT, 3, touch=True)),
    # Phones lay out as on a wide window what has no <meta name=viewport>.
    (ZOOMED_OUT, _Screen(980, 2121, 3, touch=True)),
)


def media(query: str | Sequence[Token]) -> int:
    """The screens on which a media query list holds, as bits; an empty list on all."""
    tokens = tinycss2.parse_component_value_list(query) if isinstance(query, str) else query
    tokens = _significant(tokens)
    if not tokens:
        return EVERYWHERE
    bits = 0
    for one in split(tokens, ","):
        for bit, screen in _SCREENS:
            if _query(one, screen):
                bits |= bit
    return bits


def phone_for(viewports: Sequence[str]) -> int:
    """The screen of a phone as a page gets it: `PHONE`, or `ZOOMED_OUT`.

    `viewports` are the contents of its `<meta name=viewport>`, of which the last one counts;
    CSS Viewport, section 3.
    """
    asked: dict[str, str] = {}
    for one in viewports[-1:]:
        for pair in re.split(r"[,;]", one.lower()):
            name, _, value = pair.partition("=")
            asked[name.strip()] = value.strip()
    width = PHONE_WIDTH if asked.get("width") == "device-width" else _leading(asked.get("width"))
    scale = _leading(asked.get("initial-scale"))
    widths = [one for one in (width, scale and PHONE_WIDTH / scale) if one]
    return PHONE if widths and max(widths) <= _FITTED_MAX else ZOOMED_OUT


def _leading(text: str | None) -> float:
    found = re.match(r"[0-9]*\.?[0-9]+", text or "")
    return float(found[0]) if found else 0.0


def container(query: Sequence[Token]) -> int:
    """The screens on which a container query may hold: a container as wide as the window.

    Nothing is known of named containers, of their styles and of what scrolls in them.
    """
    tokens = _significant(query)
    if tokens and tokens[0].type == "ident" and not _is_word(tokens[0], "not"):
        tokens = tokens[1:]
    bits = 0
    for bit, screen in _SCREENS:
        if _holds(tokens, screen):
            bits |= bit
    return bits


def supported(tokens: Sequence[Token]) -> bool:
    """Whether today's browsers pass an `@supports` condition; features count as supported."""
    return _condition(_significant(tokens), _is_feature_supported) is not False


def supported_import(tokens: Sequence[Token]) -> bool:
    """The same of the `supports()` of an `@import`, where a declaration may stand alone."""
    tokens = _significant(tokens)
    bare = len(tokens) > 1 and tokens[0].type == "ident" and not _is_word(tokens[0], "not")
    return _is_feature_supported(tokens) if bare else supported(tokens)


def split(tokens: Sequence[Token], sign: str) -> list[list[Token]]:
    """The stretches between the literal signs, such as commas."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.type == "literal" and token.value == sign:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _significant(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.type not in ("whitespace", "comment")]


def _query(tokens: list[Token], screen: _Screen) -> bool:
    negated = False
    if tokens and _is_word(tokens[0], "only"):
        tokens = tokens[1:]
    elif len(tokens) > 1 and _is_word(tokens[0], "not") and tokens[1].type == "ident":
        negated, tokens = True, tokens[1:]
    if tokens and tokens[0].type == "ident" and not _is_word(tokens[0], "not"):
        holds = tokens[0].lower_value in ("all", "screen")
        if len(tokens) > 1:
            rest = tokens[2:]
            if not _is_word(tokens[1], "and") or any(_is_word(token, "or") for token in rest):
                return False
            condition = _condition(rest, lambda inner: _feature(inner, screen))
            if condition is None:
                return False
            holds = holds and condition
        return holds is not negated
    return _holds(tokens, screen)


def _holds(tokens: list[Token], screen: _Screen) -> bool:
    return _condition(tokens, lambda inner: _feature(inner, screen)) is True


def _condition(
    tokens: list[Token], feature: Callable[[list[Token]], bool | None], depth: int = 0
) -> bool | None:
    """A tree of `not`, `and`, `or` and brackets; `None` is unknown and stays unknown."""
    if not tokens or depth > 20:
        return None
    words = {word for word in ("and", "or") for token in tokens if _is_word(token, word)}
    if len(words) > 1:
        return None
    for word in words:
        parts: list[list[Token]] = [[]]
        for token in tokens:
            if _is_word(token, word):
                parts.append([])
            else:
                parts[-1].append(token)
        if any(part and _is_word(part[0], "not") for part in parts):
            return None
        decisive = word == "or"
        values = [_condition(part, feature, depth + 1) for part in parts]
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    if _is_word(tokens[0], "not"):
        value = _condition(tokens[1:], feature, depth + 1)
        return None if value is None else not value
    if len(tokens) != 1:
        return None
    if tokens[0].type != "() block":
        return feature(tokens) if tokens[0].type == "function" else None
    inner = _significant(tokens[0].content)
    if inner and (inner[0].type == "() block" or _is_word(inner[0], "not")):
        return _condition(inner, feature, depth + 1)
    return feature(inner)


def _is_word(token: Token, word: str) -> bool:
    return bool(token.type == "ident" and token.lower_value == word)


def _is_feature_supported(tokens: list[Token]) -> bool:
    """Prefixed features of engines that are gone, or that run on phones only, are not."""
    name = tokens[0].lower_value if tokens and tokens[0].type == "ident" else ""
    if name == "display" and len(tokens) > 1:
        return is_display(tokens[2:])
    return not name.startswith(("-ms-", "-moz-", "-o-", "-apple-", "-webkit-touch-callout"))


def _feature(tokens: list[Token], screen: _Screen) -> bool | None:
    if not tokens or tokens[0].type == "function":
        return None
    if len(tokens) == 1:
        return _bare(tokens[0], screen)
    sides = split(tokens, ":")
    if len(sides) == 2:
        return _colon(sides[0], sides[1], screen)
    return _range(tokens, screen)


def _bare(token: Token, screen: _Screen) -> bool | None:
    if token.type != "ident":
        return None
    number = screen.number(token.lower_value)
    if number is not None:
        return number.value != 0
    word = screen.word(token.lower_value)
    return None if word is None else word not in _FALSE_WHEN_BARE


def _colon(left: list[Token], right: list[Token], screen: _Screen) -> bool | None:
    if len(left) != 1 or left[0].type != "ident":
        return None
    name = left[0].lower_value
    for prefix, sign in (("min-", ">="), ("max-", "<=")):
        bare = name.replace("-webkit-" + prefix, "-webkit-").removeprefix(prefix)
        if bare != name and prefix in name:
            return _compared(screen.number(bare), sign, _number(right, screen))
    if screen.number(name) is not None:
        return _compared(screen.number(name), "=", _number(right, screen))
    word = screen.word(name)
    if word is None or len(right) != 1 or right[0].type != "ident":
        return None
    return bool(word == right[0].lower_value)


def _range(tokens: list[Token], screen: _Screen) -> bool | None:
    """`width >= 600px`, `600px < width`, `400px <= width <= 700px`."""
    sides: list[list[Token]] = [[]]
    signs: list[str] = []
    last: Token | None = None
    for token in tokens:
        if token.type == "literal" and token.value in ("<", ">", "="):
            if last is None:
                signs.append(token.value)
                sides.append([])
            elif (token.source_line, token.source_column - 1) == (
                last.source_line,
                last.source_column,
            ):
                signs[-1] += token.value
            else:
                return None
            last = token
        else:
            sides[-1].append(token)
            last = None
    if not signs or len(signs) > 2 or (len(signs) == 2 and signs[0][0] != signs[1][0]):
        return None
    values = [_side(side, screen) for side in sides]
    held = [
        _compared(left, sign, right)
        for left, sign, right in zip(values, signs, values[1:], strict=False)
    ]
    return None if None in held else all(held)


def _compared(left: _Number | None, sign: str, right: _Number | None) -> bool | None:
    """Whether a comparison holds; `None` where a browser takes it for none."""
    if left is None or right is None or sign not in ("<", "<=", ">", ">=", "="):
        return None
    if left.unit != right.unit and {left, right} & {_Number(0.0)} == set():
        return None
    return (
        ("=" in sign and left.value == right.value)
        or ("<" in sign and left.value < right.value)
        or (">" in sign and left.value > right.value)
    )


def _side(tokens: list[Token], screen: _Screen) -> _Number | None:
    if len(tokens) == 1 and tokens[0].type == "ident":
        return screen.number(tokens[0].lower_value)
    return _number(tokens, screen)


def _number(tokens: list[Token], screen: _Screen) -> _Number | None:
    if len(tokens) == 3 and tokens[1].type == "literal" and tokens[1].value == "/":
        above, below = _number(tokens[:1], screen), _number(tokens[2:], screen)
        if above is None or below is None or above.unit or below.unit or not below.value:
            return None
        return _Number(above.value / below.value)
    if len(tokens) != 1:
        return None
    token = tokens[0]
    if token.type == "number":
        return _Number(float(token.value))
    if token.type == "dimension":
        return _dimension(token, screen)
    if token.type == "function" and token.lower_name == "calc":
        return _sum(_significant(token.arguments), screen, 0)
    return None


def _dimension(token: Token, screen: _Screen) -> _Number | None:
    unit, value = token.lower_unit, float(token.value)
    if unit in _PIXELS:
        return _Number(value * _PIXELS[unit], "length")
    if unit in _DOTS:
        return _Number(value * _DOTS[unit], "dots")
    shares = {"vw": screen.width, "vh": screen.height}
    return _Number(value * shares[unit] / 100, "length") if unit in shares else None


def _sum(tokens: list[Token], screen: _Screen, depth: int) -> _Number | None:
    """What a `calc()` of lengths or numbers comes to."""
    total: _Number | None = None
    sign, term = "+", list[Token]()
    for token in (*tokens, None):
        ends = token is None or (token.type == "literal" and token.value in ("+", "-"))
        if not ends:
            term.append(token)
            continue
        value = _product(term, screen, depth)
        if value is None:
            return None
        if total is None:
            total = value
        elif total.unit != value.unit:
            return None
        else:
            more = value.value if sign == "+" else -value.value
            total = _Number(total.value + more, total.unit)
        if token is not None:
            sign, term = token.value, []
    return total


def _product(tokens: list[Token], screen: _Screen, depth: int) -> _Number | None:
    result: _Number | None = None
    sign = "*"
    for token in tokens:
        if token.type == "literal" and token.value in ("*", "/"):
            sign = token.value
            continue
        if token.type == "() block":
            value = _sum(_significant(token.content), screen, depth + 1) if depth < 20 else None
        else:
            value = _number([token], screen)
        if value is None:
            return None
        if result is None:
            result = value
        elif sign == "/":
            if value.unit or not value.value:
                return None
            result = _Number(result.value / value.value, result.unit)
        elif result.unit and value.unit:
            return None
        else:
            result = _Number(result.value * value.value, result.unit or value.unit)
    return result
