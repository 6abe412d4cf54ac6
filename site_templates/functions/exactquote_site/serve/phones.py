"""Finds a telephone number among the figures of a text.

A number is told from a date, an amount or an id by its shape: that of one with a country's
code, of one with the 0 before an area's, or of a country that writes its own way. Any other
row of digits is one only where words before it say so.
"""

from __future__ import annotations

import re

# A digit, a sign or a letter on either side means that it is a part of something longer.
_BEFORE = r"(?<![\w$€£+#=@.,:/(-])(?<!\d[ \u00a0])"
_BEHIND = r"(?![\d()]|[-.,:/=@_]{0,2}\w)"
_GAP = r"[ \u00a0./–-]"
_RUN = re.compile(rf"[+(]{{0,2}}\d(?:{_GAP}|[\d()]){{5,}}")
_RUN_CHARS_MAX = 48
_SHAPES = tuple(
    re.compile(f"{_BEFORE}{shape}{_BEHIND}")
    for shape in (
        # +49 (0)30 123 45-67, 0044 20 7946 0958
        rf"(?:\+|00)[1-9]\d{{0,2}}(?:{_GAP}{{0,2}}(?:\(\d{{1,5}}\)|\d{{1,12}})){{1,7}}",
        r"\+[1-9]\d{7,14}",
        # 030 1234567, (030) 123 45 67, 0170/1234567, 07700 900123
        r"(?:\(0[1-9]\d{1,4}\)|0[1-9]\d{1,4}) ?[ \u00a0/–-] ?\d{2,8}(?:[ \u00a0–-]\d{1,6}){0,4}",
        # 01 23 45 67 89, 06.12.34.56.78
        r"0[1-9]([ \u00a0.-])\d\d(?:\1\d\d){3}",
        # 01701234567
        r"0[1-9]\d{8,10}",
        # (555) 123-4567, 1-800-555-0199
        r"(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}",
        # 98765 43210
        r"[6-9]\d{4} \d{5}",
    )
)
_SAID = re.compile(
    r"\b(?:(?:call|text|ring|phone|reach) me|my (?:phone|mobile|cell)(?: number)?|whatsapp"
    r"|tel(?:efon)?[.:]|(?:phone|mobile|cell|mobil|handy):|ruf(?:en sie)? mich"
    r"|meine (?:handy|telefon|mobil)?nummer|telefonisch)[^\d+\n]{0,20}"
    rf"(\+?\(?\d(?:{_GAP}{{0,2}}[\d()]){{4,24}}\d){_BEHIND}",
    re.IGNORECASE,
)
_DIGITS = (9, 15)
_DIGITS_SAID = (6, 15)
_DATE = re.compile(
    r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4}|(?:19|20)\d\d"
    r" ?[-–] ?(?:19|20)\d\d)(?!\d)"
)
_UNIT = re.compile(
    r"\s?(?:tokens?|bytes?|[kmgt]i?b|[mnµ]?s|sec|seconds?|sekunden?|users?|lines?|zeilen?|rows?"
    r"|requests?|px|eur|usd|gbp|euros?|dollars?)\b|\s?[€$£%]",
    re.IGNORECASE,
)


def phone_number(text: str) -> str:
    """The first telephone number of a text as it is written there, or "". Linear in the text."""
    for run in _RUN.finditer(text):
        # Figures without an end are a table.
        if run.end() - run.start() > _RUN_CHARS_MAX:
            continue
        for shape in _SHAPES:
            # A few characters more, for what may not stand behind.
            match = shape.search(text, run.start(), run.end() + 4)
            if match is not None and _may_be(match[0], text, match.end(), _DIGITS):
                return match[0]
    for match in _SAID.finditer(text):
        if _may_be(match[1], text, match.end(1), _DIGITS_SAID):
            return match[1]
    return ""


def _may_be(words: str, text: str, end: int, allowed: tuple[int, int]) -> bool:
    digits = "".join(character for character in words if character.isdigit())
    fewest, most = allowed
    if not fewest <= len(digits.removeprefix("00")) <= most:
        return False
    # All digits in their order are an example, and of one digit alone a filler.
    if "23456789" in digits or len(set(digits)) == 1:
        return False
    return not _DATE.search(words) and not _UNIT.match(text, end)
