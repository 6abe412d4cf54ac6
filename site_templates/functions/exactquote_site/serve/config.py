"""Turns `chat.json`, which the build wrote, into what the chat function is to do.

Secrets are no part of it: it names the environment variables that hold them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from exactquote_site.wire.allowlist import WireError
from exactquote_site.wire.plain import plain_fault

# Unknown keys are errors in every part, since a misspelt limit is no limit.
CHAT_VERSION = 1
CHAT_PATH = "chat.json"


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """US dollars for a million tokens; `cached` are input tokens that the provider had."""

    input: float = 0.0
    cached: float = 0.0
    output: float = 0.0


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Any endpoint that speaks the OpenAI protocol; without its key there is no model."""

    base_url: str = ""
    model: str = ""
    key_env: str = "EXACTQUOTE_API_KEY"
    api: Literal["chat", "responses"] = "chat"
    output_tokens_max: int = 800
    prices_usd_per_million: Prices = Prices()


class Embedding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What makes the question's vector: that which made those of the index."""

    kind: Literal["multilingual", "wordllama", "endpoint", "none"] = "multilingual"
    base_url: str = ""
    model: str = ""
    key_env: str = "EXACTQUOTE_EMBEDDINGS_KEY"
    postgres_env: str = ""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one request may hold."""

    body_bytes: int = 16_384
    question_chars: int = 500
    history_pairs: int = 3
    history_chars: int = 4_000
    passages: int = 8


class Timeouts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Seconds that the provider may take: to be reached, to begin, between words, in all."""

    connect: float = 5.0
    first_byte: float = 20.0
    idle: float = 15.0
    total: float = 60.0


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Questions of one visitor; 0 is no limit."""

    per_minute: int = 6
    per_day: int = 100
    storage_url: str = "memory://"


class Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One version of the sentence that ends every answer which the corpus can't give."""

    version: int
    texts: dict[str, str]


class Declined(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A topic that the owner won't discuss, and the words that name it in a question."""

    topic: str
    words: list[str]


class Dials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Persona dials, each at a step of 0, 25, 50, 75 or 100."""

    enabled: bool = False
    humour: int = 0
    brevity: int = 50


class Leads(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Mail to the owner when a visitor wants to be contacted; `to` "" is off."""

    to: str = ""
    sender: str = ""
    smtp_url_env: str = "EXACTQUOTE_SMTP_URL"
    api_url: str = ""
    api_key_env: str = "EXACTQUOTE_MAIL_KEY"


class StoreConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is kept, where and for how many days; `url` is `sqlite:///FILE` or `postgresql://`.

    `url_env` names a variable that replaces `url`, since a URL may hold a password.
    """

    url: str = ""
    url_env: str = "EXACTQUOTE_STORE_URL"
    conversations: bool = False
    gaps: bool = True
    days: int = 90


class ChatConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of `chat.json`. The last refusal is the one in force.

    `texts` are the site's own wordings of the fixed texts, by language and name.
    """

    version: int
    build_id: str
    title: str
    languages: list[str]
    refusals: list[Refusal]
    mode: Literal["answer", "quotes"] = "answer"
    provider: Provider = Provider()
    embedding: Embedding = Embedding()
    budget_usd_per_day: float = 1.0
    rates: Rates = Rates()
    trusted_hops: int = 0
    limits: Limits = Limits()
    timeouts: Timeouts = Timeouts()
    declined: list[Declined] = []
    suggestions: list[str] = []
    texts: dict[str, dict[str, str]] = {}
    dials: Dials = Dials()
    store: StoreConfig = StoreConfig()
    leads: Leads = Leads()
    admin_token_env: str = "EXACTQUOTE_ADMIN_TOKEN"
    metrics: bool = False


def read_config(data: bytes) -> ChatConfig:
    """The configuration of one build. Raises `WireError` for anything but what was written."""
    try:
        config = msgspec.json.decode(data, type=ChatConfig)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(f"{CHAT_PATH}: {error}") from error
    if config.version != CHAT_VERSION:
        raise WireError(f"{CHAT_PATH}: version {config.version} can't be read, only {CHAT_VERSION}")
    if not config.languages:
        raise WireError(f"{CHAT_PATH}: languages can't be empty")
    current = config.refusals[-1].texts if config.refusals else {}
    for language in config.languages:
        if not current.get(language, "").strip():
            raise WireError(f"{CHAT_PATH}: the refusal has no text for {language!r}")
    for refusal in config.refusals:
        for language, text in refusal.texts.items():
            if found := plain_fault(text):
                # It would be taken for something else when a model writes it.
                raise WireError(f"{CHAT_PATH}: the refusal in {language!r} holds {found}")
    return config
