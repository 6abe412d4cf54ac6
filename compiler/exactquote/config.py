"""Turn `exactquote.toml`, or `[tool.exactquote]` of `pyproject.toml`, into `Settings`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec

from exactquote.addresses import address_faults
from exactquote.chat_rules import PRICE_MOST, RANGES, chat_faults, is_model
from exactquote.codes import CODES
from exactquote.disk.refusal import Refusal
from exactquote.languages import is_language_tag
from exactquote.readers.toml_nodes import malformed_toml
from exactquote.settings import KnowledgeSettings, Settings

OWN_FILE = "exactquote.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = ("tool", "exactquote")

_BYTES_MAX = 1_000_000
_SEVERITIES = ["error", "warning", "off"]
# What a message repeats of a text in the wrong place. No key looks like this.
_SAYABLE = re.compile(r"[A-Za-z _]{0,20}")

Key = tuple[str, ...]
Fault = tuple[Key, str]


class ConfigError(Refusal):
    """A configuration that can't be used; says where and why, one line a fault."""


def load_config(start: Path, explicit: Path | None = None) -> tuple[Settings, Path | None]:
    """The settings for the corpus in `start`, and the file that they come from.

    Looked for in `start`, then in its parents: up to the root of the repository (the folder
    with `.git`) that `start` lies in, or, outside of one, up to the working folder. The
    first folder that has a configuration ends the search. `explicit` is read in its stead.
    Raises `ConfigError` for a configuration that can't be used.
    """
    path = explicit if explicit is not None else _found(start)
    if path is None:
        return Settings(), None
    text = _text(path)
    table, prefix = _table(path, text, explicit is not None)
    if table is None:
        return Settings(), None
    faults = [*_shape_faults(table, Settings, ())]
    if not faults:
        settings = msgspec.convert(table, Settings)
        faults = [*_value_faults(settings)]
        if not faults:
            return settings, path
    raise ConfigError(
        "\n".join(f"{path}:{_place(text, prefix + key)}: {message}" for key, message in faults)
    )


def config_schema() -> dict[str, Any]:
    """The JSON schema of a configuration."""
    schema = msgspec.json.schema(Settings)
    definitions = schema["$defs"]
    # What the types can't say, and `_value_faults` checks.
    definitions["Settings"]["properties"]["severity"] = {
        "type": "object",
        "properties": {
            code.code: {"description": code.name, "enum": ["error"] if code.core else _SEVERITIES}
            for code in CODES.values()
        },
        "additionalProperties": False,
        "default": {},
    }
    for name, limit in definitions["LimitSettings"]["properties"].items():
        limit["minimum"] = _least(name)
    knowledge = definitions["KnowledgeSettings"]["properties"]
    for name, (least, most) in _KNOWLEDGE_RANGES.items():
        knowledge[name] |= {"minimum": least, "maximum": most}
    _bound_chat(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:exactquote:schema:config:1",
        "title": "exactquote configuration",
        **schema,
    }


def _bound_chat(definitions: Mapping[str, Any]) -> None:
    chat = definitions["ChatSettings"]["properties"]
    for table, keys in RANGES.items():
        name = chat[table]["$ref"].rpartition("/")[2] if table else "ChatSettings"
        for key, (least, most) in keys.items():
            definitions[name]["properties"][key] |= {"minimum": least, "maximum": most}
    for price in definitions["PriceSettings"]["properties"].values():
        price |= {"minimum": 0, "maximum": PRICE_MOST}


def _found(start: Path) -> Path | None:
    for folder in _folders(start.resolve()):
        own, project = folder / OWN_FILE, folder / PROJECT_FILE
        in_project = project.is_file() and _names_us(project)
        if own.is_file() and in_project:
            raise ConfigError(
                f"{own}: {project.name} beside it has [tool.exactquote] too; keep one of the two"
            )
        if own.is_file():
            return _as_seen(own)
        if in_project:
            return _as_seen(project)
    return None


def _folders(start: Path) -> list[Path]:
    chain = [start, *start.parents]
    for i, folder in enumerate(chain):
        if (folder / ".git").exists():
            return chain[: i + 1]
    here = Path.cwd().resolve()
    return chain[: chain.index(here) + 1] if here in chain else [start]


def _names_us(project: Path) -> bool:
    # Any other project's pyproject.toml may even be broken; it is none of our business.
    try:
        content = _text(project)
    except ConfigError:
        return False
    if "exactquote" not in content:
        return False
    return _table(project, content, False)[0] is not None


def _as_seen(path: Path) -> Path:
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise ConfigError(f"{path}: no such configuration file")
        if path.stat().st_size > _BYTES_MAX:
            raise ConfigError(f"{path}: larger than {_BYTES_MAX:,} bytes")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _table(path: Path, text: str, required: bool) -> tuple[dict[str, Any] | None, Key]:
    try:
        content: Any = tomllib.loads(text)
    except ValueError as error:
        wrong = malformed_toml(error, text)
        raise ConfigError(f"{path}:{wrong.line}:{wrong.column}: {wrong.message}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deep") from None
    if path.name != PROJECT_FILE:
        return content, ()
    for name in TABLE:
        content = content.get(name) if isinstance(content, dict) else None
    if content is None and required:
        raise ConfigError(f"{path}: has no table [tool.exactquote]")
    if content is not None and not isinstance(content, dict):
        raise ConfigError(f"{path}:{_place(text, TABLE)}: tool.exactquote is not a table")
    return content, TABLE


def _shape_faults(
    table: Mapping[str, Any], kind: type[msgspec.Struct], key: Key
) -> Iterator[Fault]:
    """Every unknown key and every value of a wrong type, not just the first."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    for name, value in table.items():
        here = (*key, name)
        wanted = fields.get(name)
        if wanted is None:
            moved = _top_suggestion(name) if key else ""
            yield here, f"unknown key {_shown(here)}{moved or _suggestion(name, fields)}"
        elif isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
            if isinstance(value, dict):
                yield from _shape_faults(value, wanted, here)
            else:
                yield here, f"{_shown(here)} is {_sort(value)}; it must be a table"
        elif (listed := _listed(wanted)) is not None and isinstance(value, list):
            for number, item in enumerate(value):
                entry = (*here, str(number))
                if isinstance(item, dict):
                    yield from _shape_faults(item, listed, entry)
                else:
                    yield here, f"{_shown(here)} has {_sort(item)}; each entry must be a table"
        elif get_origin(wanted) is dict and isinstance(value, dict):
            for inner, item in value.items():
                if moved := _top_suggestion(inner):
                    yield (*here, inner), f"unknown key {_shown((*here, inner))}{moved}"
                else:
                    yield from _type_faults(item, get_args(wanted)[1], (*here, inner))
        else:
            yield from _type_faults(value, wanted, here)


def _listed(wanted: object) -> type[msgspec.Struct] | None:
    """The kind of table that an array holds, or None for another type."""
    inner = get_args(wanted)[0] if get_origin(wanted) is list else None
    return inner if isinstance(inner, type) and issubclass(inner, msgspec.Struct) else None


def _type_faults(value: object, wanted: object, key: Key) -> Iterator[Fault]:
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        # A key of an endpoint lands in the wrong place as easily as any other text.
        told = isinstance(value, str) and _SAYABLE.fullmatch(value)
        shown = f'"{value}"' if told else _sort(value)
        yield key, f"{_shown(key)} is {shown}; it must be {_sort_wanted(wanted)}"


def _value_faults(settings: Settings) -> Iterator[Fault]:
    for code, severity in settings.severity.items():
        known = CODES.get(code)
        if known is None:
            yield ("severity", code), f"there is no code {code!r}{_code_suggestion(code)}"
        elif known.core and severity != "error":
            yield (
                ("severity", code),
                f"{code} ({known.name}) is part of the promise and can't be set to {severity!r}",
            )
    for name in settings.limits.__struct_fields__:
        value = getattr(settings.limits, name)
        least = _least(name)
        if value < least:
            yield ("limits", name), f"limits.{name} is {value}; it must be at least {least}"
    low, high = settings.limits.passage_chars_min, settings.limits.passage_chars_max
    if high and low > high:
        yield (
            ("limits", "passage_chars_min"),
            f"limits.passage_chars_min is {low}, more than passage_chars_max, {high}",
        )
    if not is_language_tag(settings.language):
        yield (
            ("language",),
            f"language is {settings.language!r}; it must be a language tag such as de or pt-BR",
        )
    for name in ("publish", "exclude", "required", "hidden_controls"):
        if "" in getattr(settings, name):
            yield (name,), f'{name} has an empty entry; a glob such as "guide/**" is wanted'
    yield from address_faults(settings)
    yield from _knowledge_faults(settings.knowledge)
    yield from chat_faults(settings)


# Below some sentences a chunk says too little, and a day is the least an answer can last. The
# most of each is more than anybody needs, and less than what its readers can't count.
_KNOWLEDGE_RANGES: Mapping[str, tuple[float, float]] = {
    "words_weight": (0, 1_000),
    "meaning_weight": (0, 1_000),
    "chunk_chars": (100, 1_000_000),
    "whole_notes_tokens_max": (0, 100_000_000),
    "faq_days_max": (1, 36_500),
}


def _knowledge_faults(knowledge: KnowledgeSettings) -> Iterator[Fault]:
    for name, (least, most) in _KNOWLEDGE_RANGES.items():
        value = getattr(knowledge, name)
        # TOML has a number that is none, and it is in no range.
        if not least <= value <= most:
            yield (
                ("knowledge", name),
                f"knowledge.{name} is {value}; it must be {least:,} to {most:,}",
            )
    if not (knowledge.words_weight or knowledge.meaning_weight):
        yield (
            ("knowledge", "words_weight"),
            "knowledge.words_weight and meaning_weight are both 0, which finds nothing",
        )
    if "" in knowledge.faq:
        yield (
            ("knowledge", "faq"),
            'knowledge.faq has an empty entry; a glob such as "faq/**" is wanted',
        )
    if knowledge.embedder == "none":
        if not knowledge.words_weight and knowledge.meaning_weight:
            yield (
                ("knowledge", "words_weight"),
                'knowledge.words_weight is 0, and embedder = "none" makes no vectors;'
                " together they find nothing",
            )
        if knowledge.postgres_env:
            yield (
                ("knowledge", "postgres_env"),
                'knowledge.postgres_env is for vectors, and embedder = "none" makes none',
            )
    asked = knowledge.embedder == "endpoint"
    if asked and not knowledge.base_url:
        yield (
            ("knowledge", "base_url"),
            "knowledge.base_url is empty; it must be like https://example.org/v1",
        )
    if asked and not is_model(knowledge.model):
        yield ("knowledge", "model"), "knowledge.model is empty; the endpoint wants its name"
    for name in ("base_url", "model", "key_env"):
        if not asked and getattr(knowledge, name):
            yield (
                ("knowledge", name),
                f'knowledge.{name} is for embedder = "endpoint", which is not set',
            )


def _least(limit: str) -> int:
    # A passage limit of 0 is off; a file or a nesting of at most 0 would be no corpus at all.
    return 0 if limit.startswith("passage_") else 1


def _shown(key: Key) -> str:
    """A key as TOML has it; an entry of an array counts from 1."""
    shown = ""
    for name in key:
        if name.isdecimal():
            shown += f"[{int(name) + 1}]"
        else:
            plain = name.replace("_", "a").replace("-", "a").isalnum()
            shown += "." * bool(shown) + (name if plain else f'"{name}"')
    return shown


def _sort(value: object) -> str:
    sorts: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "a string"),
        (list, "an array"),
        (dict, "a table"),
    )
    if isinstance(value, bool):
        return str(value).lower()
    return next((name for sort, name in sorts if isinstance(value, sort)), "a date or time")


def _sort_wanted(wanted: object) -> str:
    origin = get_origin(wanted)
    if origin is Literal:
        return " or ".join(
            f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in get_args(wanted)
        )
    if origin is list:
        return "an array of tables" if _listed(wanted) else "an array of strings"
    if origin is UnionType:
        return _sort_wanted(get_args(wanted)[0])
    if origin is dict:
        return "a table"
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
    return next((name for sort, name in names.items() if sort is wanted), str(wanted))


def _suggestion(name: str, known: Mapping[str, object]) -> str:
    # Imported here, since it costs more than the rest of this file and is rarely wanted.
    import difflib

    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known are {', '.join(sorted(known))}"


def _top_suggestion(name: str) -> str:
    """What to do with a key of the file's top that stands in a table, "" for any other."""
    top = {field.encode_name for field in msgspec.structs.fields(Settings)}
    return f"; {name} stands before the first [table]" if name in top else ""


def _code_suggestion(code: str) -> str:
    by_name = {known.name: known.code for known in CODES.values()}
    found = by_name.get(code) or next((c for c in CODES if c == code.upper()), None)
    if found is not None:
        return f"; did you mean {found}?"
    return f"; codes run from {next(iter(CODES))} to {list(CODES)[-1]}"


def _place(text: str, key: Key) -> str:
    """Line and column of a key in TOML text: its own, else those of the nearest table around it."""
    best, best_depth = "1:1", 0
    for place, path in _keys(text):
        common = _shared(path, key)
        # Either a table around the key, or the key itself, perhaps as the head of a longer one.
        if common > best_depth and common in (len(path), len(key)):
            best, best_depth = place, common
    return best


def _shared(one: Key, other: Key) -> int:
    differing = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _keys(text: str) -> Iterator[tuple[str, Key]]:
    table: Key = ()
    entries: dict[Key, int] = {}
    quotes = ""
    for number, line in enumerate(text.split("\n"), 1):
        if quotes:
            # Inside a string of several lines, where nothing is a key.
            if line.count(quotes) % 2:
                quotes = ""
            continue
        bare = line.strip()
        place = f"{number}:{len(line) - len(line.lstrip()) + 1}"
        if bare.startswith("["):
            table = _parts(bare.strip("[] \t").split("]")[0])
            if bare.startswith("[["):
                entries[table] = entries.get(table, -1) + 1
            table = _entry(table, entries)
            yield place, table
        elif "=" in bare and not bare.startswith("#"):
            before, _, value = bare.partition("=")
            yield place, table + _parts(before)
            quotes = next((q for q in ('"""', "'''") if value.count(q) % 2), "")


def _entry(table: Key, entries: Mapping[Key, int]) -> Key:
    """A table's key with the number of the entry of each array of tables on its way."""
    key: Key = ()
    for depth, name in enumerate(table, 1):
        key = (*key, name)
        if table[:depth] in entries:
            key = (*key, str(entries[table[:depth]]))
    return key


def _parts(dotted: str) -> Key:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
