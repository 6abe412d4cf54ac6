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


class KnowledgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the knowledge base is built, and how it is searched.

    `embedder` makes the vectors: "multilingual" and "wordllama" run on this machine,
    "endpoint" asks the OpenAI-compatible `base_url` for `model`, with the key in the
    environment variable `key_env`; with "none" words alone are searched. The weights are
    those of the two searches that are fused. Up to `whole_notes_tokens_max` tokens, as
    estimated, a model is given the whole corpus. `postgres_env` names the environment
    variable with the URL of a PostgreSQL that the vectors are searched in, for a corpus that
    is too large for memory; "" is memory. `faq` lists globs of reviewed answers.
    """

    embedder: Literal["multilingual", "wordllama", "endpoint", "none"] = "multilingual"
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    words_weight: float = 1.0
    meaning_weight: float = 0.7
    chunk_chars: int = 1_400
    postgres_env: str = ""
    whole_notes_tokens_max: int = 12_000
    faq: list[str] = msgspec.field(default_factory=lambda: ["faq/**"])
    faq_days_max: int = 365


class PriceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """US dollars for a million tokens of the model; 0 for one that costs nothing.

    `cached` are input tokens that the provider had; unless told they cost what `input` does.
    """

    input: float | None = None
    cached: float | None = None
    output: float | None = None


class ProviderSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The model that words answers: any endpoint that speaks the OpenAI protocol.

    Without a `model`, or without a key in the environment variable `key_env`, the passages
    that were found are the answer. `base_url` "" is OpenAI's own.
    """

    base_url: str = ""
    model: str = ""
    key_env: str = "EXACTQUOTE_API_KEY"
    api: Literal["chat", "responses"] = "chat"
    output_tokens_max: int = 800
    prices_usd_per_million: PriceSettings = PriceSettings()


class RateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Questions of one visitor; 0 is no limit. Several processes count in one Redis."""

    per_minute: int = 6
    per_day: int = 100
    storage_url: str = "memory://"


class RequestSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one request may hold, and how many passages a model is given."""

    body_bytes: int = 16_384
    question_chars: int = 500
    history_pairs: int = 3
    history_chars: int = 4_000
    passages: int = 8


class TimeoutSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Seconds that the provider may take: to be reached, to begin, between words, in all."""

    connect: float = 5.0
    first_byte: float = 20.0
    idle: float = 15.0
    total: float = 60.0


class RefusalLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One version of the sentence that ends an unanswered question, by language.

    `digest` is that of the texts, so that they can't be edited without a new line.
    """

    version: int = 0
    digest: str = ""
    texts: dict[str, str] = {}


class DeclinedSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A topic that the owner won't discuss, and the words that name it in a question."""

    topic: str = ""
    words: list[str] = []


class DialSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Steps of the persona dials; a visitor may turn them when they are enabled."""

    enabled: bool = False
    humour: Literal[0, 25, 50, 75, 100] = 0
    brevity: Literal[0, 25, 50, 75, 100] = 50


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is kept, where, and for how many days; `url` "" is a file that the machine keeps."""

    url: str = ""
    url_env: str = "EXACTQUOTE_STORE_URL"
    conversations: bool = False
    gaps: bool = True
    days: int = 90


class LeadSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Mail to the owner when a visitor wants to be contacted; `to` "" is off."""

    to: str = ""
    sender: str = ""
    smtp_url_env: str = "EXACTQUOTE_SMTP_URL"
    api_url: str = ""
    api_key_env: str = "EXACTQUOTE_MAIL_KEY"


class ChatSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The chat function that ships with the site.

    No secret is among these: `…_env` names the environment variable that holds it. `texts` are
    wordings of the fixed texts, by language and name.
    """

    enabled: bool = True
    languages: list[str] = []
    mode: Literal["answer", "quotes"] = "answer"
    budget_usd_per_day: float = 1.0
    trusted_hops: int = 0
    suggestions: list[str] = []
    texts: dict[str, dict[str, str]] = {}
    admin_token_env: str = "EXACTQUOTE_ADMIN_TOKEN"
    metrics: bool = False
    provider: ProviderSettings = ProviderSettings()
    rates: RateSettings = RateSettings()
    limits: RequestSettings = RequestSettings()
    timeouts: TimeoutSettings = TimeoutSettings()
    refusals: list[RefusalLine] = []
    declined: list[DeclinedSettings] = []
    dials: DialSettings = DialSettings()
    store: StoreSettings = StoreSettings()
    leads: LeadSettings = LeadSettings()


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
    knowledge: KnowledgeSettings = KnowledgeSettings()
    chat: ChatSettings = ChatSettings()
