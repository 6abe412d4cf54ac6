"""Turns a media or feature query into the screens on which it holds.

A page is judged as a desktop browser shows it, and what is cited of it once more as a phone
does. What holds on paper or in dark mode only is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tinycss2  # type: ignore[import-untyped]

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


@dataclass(frozen=True, slots=True)
class _Screen:
    width: float
    height: float
    dots: float
    touch: bool

    def number(self, feature: str) -> float | None:
        """The value of a feature that can be compared, or `None` for any other feature."""
        numbers = {
            "width": self.width,
            "height": self.height,
            "device-width": self.width,
            "device-height": self.height,
            "aspect-ratio": self.width / self.height,
            "device-aspect-ratio": self.width / self.height,
            "resolution": self.dots,
            "-webkit-device-pixel-ratio": self.dots,
            "color": 8.0,
            "color-index": 0.0,
            "monochrome": 0.0,
            "grid": 0.0,
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
PHONE_WIDTH, PHONE_HEIGHT = 390, 844
"""CSS pixels of the windows that a page is judged in."""
_SCREENS = (
    (DESKTOP, _Screen(DESKTOP_WIDTH, 800, 1, touch=False)),
    (PHONE, _Screen(PHONE_WIDTH, PHONE_HEIGHT, 3, touch=True)),
    # Phones lay out as on a wide window what has no <meta name=viewport>.
    (ZOOMED_OUT, _Screen(980, 2121, 3, touch=True)),
)
_FITTED = re.compile(
    r"""<meta\b(?=[^>]*\bname\s*=\s*["']?viewport\b)[^>]*\b(?:device-width|initial-scale)""",
    re.IGNORECASE,
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


def phone_for(html: str) -> int:
    """The screen of a phone as a page gets it: `PHONE`, or `ZOOMED_OUT`."""
    return PHONE if _FITTED.search(html) else ZOOMED_OUT


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
        rest = tokens[2:] if len(tokens) > 1 and _is_word(tokens[1], "and") else tokens[1:]
        if rest:
            condition = _condition(rest, lambda inner: _feature(inner, screen))
            if condition is None:
                return False
            holds = holds and condition
        return holds is not negated
    return _condition(tokens, lambda inner: _feature(inner, screen)) is True


def _condition(
    tokens: list[Token], feature: Callable[[list[Token]], bool | None], depth: int = 0
) -> bool | None:
    """A tree of `not`, `and`, `or` and brackets; `None` is unknown and stays unknown."""
    if not tokens or depth > 20:
        return None
    for word, decisive in (("or", True), ("and", False)):
        if any(_is_word(token, word) for token in tokens):
            parts: list[list[Token]] = [[]]
            for token in tokens:
                if _is_word(token, word):
                    parts.append([])
                else:
                    parts[-1].append(token)
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
        return number != 0
    word = screen.word(token.lower_value)
    return None if word is None else word not in _FALSE_WHEN_BARE


def _colon(left: list[Token], right: list[Token], screen: _Screen) -> bool | None:
    if len(left) != 1 or left[0].type != "ident":
        return None
    name = left[0].lower_value
    for prefix, compare in (("min-", float.__ge__), ("max-", float.__le__)):
        bare = name.replace("-webkit-" + prefix, "-webkit-").removeprefix(prefix)
        if bare != name and prefix in name:
            have, want = screen.number(bare), _number(right)
            return None if have is None or want is None else compare(float(have), want)
    have = screen.number(name)
    if have is not None:
        want = _number(right)
        return None if want is None else have == want
    word = screen.word(name)
    if word is None or len(right) != 1 or right[0].type != "ident":
        return None
    return bool(word == right[0].lower_value)


def _range(tokens: list[Token], screen: _Screen) -> bool | None:
    """`width >= 600px`, `600px < width`, `400px <= width <= 700px`."""
    sides: list[list[Token]] = [[]]
    signs: list[str] = []
    for token in tokens:
        if token.type == "literal" and token.value in ("<", ">", "="):
            if sides[-1] or not signs:
                signs.append(token.value)
                sides.append([])
            else:
                signs[-1] += token.value
        else:
            sides[-1].append(token)
    values = [_side(side, screen) for side in sides]
    if not signs or len(signs) > 2:
        return None
    holds = True
    for left, sign, right in zip(values, signs, values[1:], strict=False):
        if left is None or right is None or sign not in ("<", "<=", ">", ">=", "="):
            return None
        holds = holds and (
            ("=" in sign and left == right)
            or ("<" in sign and left < right)
            or (">" in sign and left > right)
        )
    return holds


def _side(tokens: list[Token], screen: _Screen) -> float | None:
    if len(tokens) == 1 and tokens[0].type == "ident":
        return screen.number(tokens[0].lower_value)
    return _number(tokens)


def _number(tokens: list[Token]) -> float | None:
    if len(tokens) == 3 and tokens[1].type == "literal" and tokens[1].value == "/":
        above, below = _number(tokens[:1]), _number(tokens[2:])
        return above / below if above is not None and below else None
    if len(tokens) != 1:
        return None
    if tokens[0].type == "number":
        return float(tokens[0].value)
    if tokens[0].type == "dimension":
        unit = tokens[0].lower_unit
        factor = _PIXELS.get(unit) or _DOTS.get(unit)
        return None if factor is None else float(tokens[0].value) * factor
    return None
