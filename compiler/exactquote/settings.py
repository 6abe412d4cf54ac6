"""What a project may configure, with its defaults; the same types make the JSON schema."""

from __future__ import annotations

from typing import Literal

import msgspec


class MdxSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How MDX is read.

    `components` maps a component's name to "transparent" (its children stand in its place),
    "drop" (it and its children are no text) or the source of a Jinja template, which sees
    `children` (safe HTML) and `props`.
    """

    in_markdown: bool = False
    unknown: Literal["error", "transparent", "drop"] = "error"
    expressions: Literal["error", "drop"] = "error"
    components: dict[str, str] = {}


class LimitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Limits; a passage limit of 0 is off, which is the default.

    No length of passage is known to fail in a browser, so a length limit is a house rule
    that only its house can set.
    """

    passage_chars_min: int = 0
    passage_chars_max: int = 0
    file_bytes_max: int = 10_000_000
    front_matter_bytes_max: int = 262_144
    front_matter_depth_max: int = 20
    nesting_max: int = 100


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of `exactquote.toml`, or of `[tool.exactquote]` in `pyproject.toml`.

    `publish` and `exclude` are globs over document paths: what is not published is a page
    that can't be cited. `hidden_controls` lists globs of files in which characters that
    reorder or hide text are meant. `severity` raises or silences a code by its number.
    """

    title: str = ""
    description: str = ""
    base_url: str = ""
    language: str = "en"
    publish: list[str] = msgspec.field(default_factory=lambda: ["**"])
    exclude: list[str] = []
    required: list[str] = []
    hidden_controls: list[str] = []
    allow_empty: bool = False
    severity: dict[str, Literal["error", "warning", "off"]] = {}
    mdx: MdxSettings = MdxSettings()
    limits: LimitSettings = LimitSettings()
