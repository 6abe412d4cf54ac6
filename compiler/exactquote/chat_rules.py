"""Find what is wrong with the values under `[chat]`, key by key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from exactquote.refusals import known_lines, languages_of
from exactquote.settings import ChatSettings, LeadSettings, ProviderSettings, Settings
from exactquote_site.wire.texts import text_fault

Key = tuple[str, ...]
Fault = tuple[Key, str]

SUGGESTIONS_MAX = 6
SUGGESTION_CHARS_MAX = 100
# Where a sentence isn't over yet, a visitor would wait for more.
REFUSAL_CHARS_MAX = 200

# The least and the most of each number, by its table and key. A budget of nothing answers
# nothing, and a limit that no request could meet is a function that is off.
RANGES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "": {"budget_usd_per_day": (0.01, 1_000_000), "trusted_hops": (0, 20)},
    "provider": {"output_tokens_max": (50, 100_000)},
    "rates": {"per_minute": (0, 100_000), "per_day": (0, 1_000_000)},
    "limits": {
        "body_bytes": (1_024, 10_000_000),
        "question_chars": (20, 10_000),
        "history_pairs": (0, 20),
        "history_chars": (100, 100_000),
        "passages": (1, 100),
    },
    "timeouts": dict.fromkeys(("connect", "first_byte", "idle", "total"), (0.1, 600)),
    "store": {"days": (1, 36_500)},
}
PRICE_MOST = 1_000_000.0

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,63}")
_LINK = re.compile(r"\w:/{2}|\bwww\.|\]\(|\[\[|<|@")
_WORD = re.compile(r"[^\W_]")
_COUNTERS = ("memory", "redis", "rediss", "redis+sentinel", "redis+cluster", "redis+unix")


def chat_faults(settings: Settings) -> Iterator[Fault]:
    """Every fault with its key; a digest that doesn't hold is no matter of one value."""
    chat = settings.chat
    yield from _out_of_range(chat)
    yield from _no_variables(chat)
    yield from _provider_faults(chat.provider)
    if chat.timeouts.first_byte > chat.timeouts.total:
        yield (
            ("chat", "timeouts", "first_byte"),
            f"chat.timeouts.first_byte is {chat.timeouts.first_byte:g},"
            f" more than the total, {chat.timeouts.total:g}",
        )
    for number, language in enumerate(chat.languages):
        if not _LANGUAGE.fullmatch(language) or language in chat.languages[:number]:
            yield (
                ("chat", "languages"),
                f'chat.languages has {language!r}; each is named once, by a code such as "de"',
            )
    yield from _refusal_faults(settings)
    yield from _topic_faults(chat)
    yield from _suggestion_faults(chat)
    yield from _text_faults(chat)
    yield from _place_faults(chat)
    yield from _lead_faults(chat.leads)


def _out_of_range(chat: ChatSettings) -> Iterator[Fault]:
    for table, keys in RANGES.items():
        part = getattr(chat, table) if table else chat
        for name, (least, most) in keys.items():
            value = getattr(part, name)
            # TOML has a number that is none, and it is in no range.
            if not least <= value <= most:
                key = ("chat", table, name) if table else ("chat", name)
                yield key, f"{'.'.join(key)} is {value}; it must be {least:,} to {most:,}"


def _no_variables(chat: ChatSettings) -> Iterator[Fault]:
    """A secret in the place of its variable's name would be published with the site."""
    parts: tuple[tuple[Key, msgspec.Struct], ...] = (
        (("chat",), chat),
        (("chat", "provider"), chat.provider),
        (("chat", "store"), chat.store),
        (("chat", "leads"), chat.leads),
    )
    for table, part in parts:
        for name in part.__struct_fields__:
            if name.endswith("_env") and not _VARIABLE.fullmatch(getattr(part, name)):
                key = (*table, name)
                yield (
                    key,
                    f"{'.'.join(key)} must be the name of an environment variable;"
                    " what it holds is written nowhere",
                )


def _provider_faults(provider: ProviderSettings) -> Iterator[Fault]:
    prices = provider.prices_usd_per_million
    table = ("chat", "provider", "prices_usd_per_million")
    told = {name: getattr(prices, name) for name in prices.__struct_fields__}
    for name, price in told.items():
        if price is not None and not 0 <= price <= PRICE_MOST:
            yield (
                (*table, name),
                f"{'.'.join(table)}.{name} is {price}; it must be 0 to {PRICE_MOST:,.0f}",
            )
    if provider.base_url and not is_base(provider.base_url):
        yield (
            ("chat", "provider", "base_url"),
            f"chat.provider.base_url is {provider.base_url!r};"
            " it must be like https://example.org/v1",
        )
    if provider.model:
        for name in ("input", "output"):
            if told[name] is None:
                yield (
                    (*table, name),
                    f"{'.'.join(table)} doesn't tell `{name}`, and without it no budget can be"
                    " kept; 0 is for a model that costs nothing",
                )
        return
    for name in ("base_url", "prices_usd_per_million"):
        if getattr(provider, name) != getattr(ProviderSettings(), name):
            yield (
                ("chat", "provider", name),
                f"chat.provider.{name} is for a model, and chat.provider.model names none",
            )


def _refusal_faults(settings: Settings) -> Iterator[Fault]:
    chat = settings.chat
    before = 0
    for number, line in enumerate(chat.refusals):
        key = ("chat", "refusals", str(number))
        if line.version <= before:
            yield (
                (*key, "version"),
                f"the version of a refusal is {line.version} behind {before};"
                " versions begin at 1 and go up, and the last is in force",
            )
        before = line.version
        if not line.texts:
            yield (
                (*key, "texts"),
                f'refusal {line.version} has no texts; write one as texts.en = "…"',
            )
        for language, text in line.texts.items():
            if fault := _sentence_fault(language, text):
                yield (*key, "texts", language), f"texts.{language} of a refusal {fault}"
    last = known_lines(chat)[-1].texts
    for language in languages_of(chat, settings.language):
        if last and language not in last and _LANGUAGE.fullmatch(language):
            yield (
                ("chat", "languages"),
                f"the refusal sentence in force has no text in {language!r};"
                f" add texts.{language} to a new line of [[chat.refusals]]",
            )


def _sentence_fault(language: str, text: str) -> str:
    if not _LANGUAGE.fullmatch(language):
        return 'is named by no language; a code such as "de" is wanted'
    if not _WORD.search(text):
        return "is empty"
    if text != " ".join(text.split()):
        # Answers are compared with it, character by character.
        return "must be one line without spaces at its ends"
    if len(text) > REFUSAL_CHARS_MAX:
        return f"is longer than {REFUSAL_CHARS_MAX} characters"
    if _LINK.search(text):
        return "holds a link, an address or a token; it must be plain words"
    return ""


def _topic_faults(chat: ChatSettings) -> Iterator[Fault]:
    for number, declined in enumerate(chat.declined):
        key = ("chat", "declined", str(number))
        if not _WORD.search(declined.topic):
            yield (*key, "topic"), "a declined topic has no name"
        if not declined.words or not all(_WORD.search(words) for words in declined.words):
            yield (
                (*key, "words"),
                f"the words of the declined topic {declined.topic!r} are empty, or one is;"
                " they are what finds it in a question",
            )


def _suggestion_faults(chat: ChatSettings) -> Iterator[Fault]:
    key = ("chat", "suggestions")
    if len(chat.suggestions) > SUGGESTIONS_MAX:
        yield key, f"chat.suggestions has {len(chat.suggestions)}; {SUGGESTIONS_MAX} is the most"
    most = min(SUGGESTION_CHARS_MAX, chat.limits.question_chars)
    for text in chat.suggestions:
        if not _WORD.search(text):
            yield key, "chat.suggestions has an empty entry; a question is wanted"
        elif len(text) > most:
            yield key, f"chat.suggestions has one of {len(text)} characters; {most} is the most"


def _text_faults(chat: ChatSettings) -> Iterator[Fault]:
    for language, texts in chat.texts.items():
        for name, text in texts.items():
            fault = text_fault(name, text)
            if fault:
                yield ("chat", "texts", language, name), f"chat.texts.{language}.{name}: {fault}"


def _place_faults(chat: ChatSettings) -> Iterator[Fault]:
    url = chat.store.url
    if url and not url.startswith(("sqlite:///", "postgresql://", "postgres://")):
        yield (
            ("chat", "store", "url"),
            f"chat.store.url is {url!r}; it must be sqlite:///PATH or postgresql://HOST/NAME",
        )
    counted = chat.rates.storage_url
    if counted.partition("://")[0] not in _COUNTERS or "://" not in counted:
        yield (
            ("chat", "rates", "storage_url"),
            f"chat.rates.storage_url is {counted!r}; it must be memory:// or redis://HOST",
        )
    for key, value, variable in (
        (("chat", "store", "url"), url, chat.store.url_env),
        (("chat", "rates", "storage_url"), counted, "EXACTQUOTE_RATES_URL"),
    ):
        if _has_password(value):
            yield (
                key,
                f"{'.'.join(key)} holds a password, which would be published;"
                f" leave it out and set {variable} where the function runs",
            )


def _has_password(url: str) -> bool:
    try:
        return urlsplit(url).password is not None
    except ValueError:
        return False


def _lead_faults(leads: LeadSettings) -> Iterator[Fault]:
    if not leads.to:
        for name in ("sender", "api_url"):
            if getattr(leads, name):
                yield (
                    ("chat", "leads", name),
                    f"chat.leads.{name} is for mail to chat.leads.to, which names nobody",
                )
        return
    for name in ("to", "sender"):
        if not _ADDRESS.fullmatch(getattr(leads, name)):
            yield (
                ("chat", "leads", name),
                f"chat.leads.{name} is {getattr(leads, name)!r};"
                " it must be an e-mail address, such as me@example.org",
            )
    if leads.api_url and not is_base(leads.api_url):
        yield (
            ("chat", "leads", "api_url"),
            f"chat.leads.api_url is {leads.api_url!r}; it must be like https://example.org/mail",
        )


def is_base(url: str) -> bool:
    """Whether an absolute http address can have a path put behind it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    bare = not (parts.query or parts.fragment) and url.isprintable() and " " not in url
    return parts.scheme in ("http", "https") and bool(parts.hostname) and bare
