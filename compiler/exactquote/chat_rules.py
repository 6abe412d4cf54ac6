"""Find what is wrong with the values under `[chat]`, key by key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from exactquote.addresses import RATES_VARIABLE
from exactquote.refusals import known_lines, languages_of
from exactquote.settings import ChatSettings, LeadSettings, ProviderSettings, Settings
from exactquote_site.wire.plain import hidden_fault, is_blank, plain_fault
from exactquote_site.wire.texts import text_fault

Key = tuple[str, ...]
Fault = tuple[Key, str]

SUGGESTIONS_MAX = 6
SUGGESTION_CHARS_MAX = 100
# Where a sentence isn't over yet, a visitor would wait for more.
REFUSAL_CHARS_MAX = 200
# Each is looked for in each question.
DECLINED_CHARS_MAX = 100
# The bytes of a request beside the question, which has up to four for a character.
_ENVELOPE_BYTES = 500

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
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,63}")
_WORD = re.compile(r"[^\W_]")


def chat_faults(settings: Settings) -> Iterator[Fault]:
    """Every fault with its key; a digest that doesn't hold is no matter of one value."""
    chat = settings.chat
    yield from _out_of_range(chat)
    yield from _shared_variables(settings)
    yield from _provider_faults(chat)
    if chat.timeouts.first_byte > chat.timeouts.total:
        yield (
            ("chat", "timeouts", "first_byte"),
            f"chat.timeouts.first_byte is {chat.timeouts.first_byte:g},"
            f" more than the total, {chat.timeouts.total:g}",
        )
    if chat.limits.body_bytes < (least := 4 * chat.limits.question_chars + _ENVELOPE_BYTES):
        yield (
            ("chat", "limits", "body_bytes"),
            f"chat.limits.body_bytes is {chat.limits.body_bytes:,}; a question of question_chars"
            f" may take {least:,}",
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
    yield from _text_faults(settings)
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


def _shared_variables(settings: Settings) -> Iterator[Fault]:
    """Two secrets in one variable: whoever was given one of them would have the other."""
    chat, knowledge = settings.chat, settings.knowledge
    # Models may well be asked with one key, and all be kept in one database.
    uses: tuple[tuple[str, Key, str], ...] = (
        ("the key of a model", ("knowledge", "key_env"), knowledge.key_env),
        ("the key of a model", ("chat", "provider", "key_env"), chat.provider.key_env),
        ("a database", ("knowledge", "postgres_env"), knowledge.postgres_env),
        ("a database", ("chat", "store", "url_env"), chat.store.url_env),
        ("counting", (), RATES_VARIABLE),
        ("the mail server", ("chat", "leads", "smtp_url_env"), chat.leads.smtp_url_env),
        ("the mail service", ("chat", "leads", "api_key_env"), chat.leads.api_key_env),
        ("the owner's page", ("chat", "admin_token_env"), chat.admin_token_env),
    )
    known: dict[str, str] = {}
    for use, key, name in uses:
        if name and known.setdefault(name, use) != use:
            yield (
                key,
                f"{'.'.join(key)} names the variable that is for {known[name]} already;"
                " each secret has one of its own",
            )


def _provider_faults(chat: ChatSettings) -> Iterator[Fault]:
    provider = chat.provider
    prices = provider.prices_usd_per_million
    table = ("chat", "provider", "prices_usd_per_million")
    told = {name: getattr(prices, name) for name in prices.__struct_fields__}
    for name, price in told.items():
        if price is not None and not 0 <= price <= PRICE_MOST:
            yield (
                (*table, name),
                f"{'.'.join(table)}.{name} is {price}; it must be 0 to {PRICE_MOST:,.0f}",
            )
    if provider.model and not is_model(provider.model):
        yield ("chat", "provider", "model"), "chat.provider.model must be the name of a model"
    answer = provider.output_tokens_max * (prices.output or 0) / 1_000_000
    if answer > chat.budget_usd_per_day:
        yield (
            ("chat", "budget_usd_per_day"),
            f"chat.budget_usd_per_day is {chat.budget_usd_per_day}; one answer of"
            f" output_tokens_max may cost {answer:.2f}, so none would ever be given",
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
    if found := plain_fault(text):
        # What shows answers would take it out or change it, and never know the sentence again.
        return f"holds {found}; it must be plain words"
    return ""


def is_model(name: str) -> bool:
    """Whether a text can be what an endpoint calls a model."""
    return name.isprintable() and name == name.strip() and name != ""


def _topic_faults(chat: ChatSettings) -> Iterator[Fault]:
    for number, declined in enumerate(chat.declined):
        key = ("chat", "declined", str(number))
        if not _WORD.search(declined.topic) or hidden_fault(declined.topic):
            yield (*key, "topic"), "a declined topic has no name, or one that isn't seen"
        if not declined.words or not all(_WORD.search(words) for words in declined.words):
            yield (
                (*key, "words"),
                f"the words of the declined topic {declined.topic!r} are empty, or one is;"
                " they are what finds it in a question",
            )
        elif any(
            len(words) > DECLINED_CHARS_MAX or hidden_fault(words) for words in declined.words
        ):
            yield (
                (*key, "words"),
                f"words of the declined topic {declined.topic!r} are longer than"
                f" {DECLINED_CHARS_MAX} characters, or hold what nobody sees",
            )


def _suggestion_faults(chat: ChatSettings) -> Iterator[Fault]:
    key = ("chat", "suggestions")
    if len(chat.suggestions) > SUGGESTIONS_MAX:
        yield key, f"chat.suggestions has {len(chat.suggestions)}; {SUGGESTIONS_MAX} is the most"
    most = min(SUGGESTION_CHARS_MAX, chat.limits.question_chars)
    for text in chat.suggestions:
        if is_blank(text) or not _WORD.search(text):
            yield key, "chat.suggestions has an empty entry; a question is wanted"
        elif hidden := hidden_fault(text):
            yield key, f"chat.suggestions has one with {hidden}, which nobody sees"
        elif len(text) > most:
            yield key, f"chat.suggestions has one of {len(text)} characters; {most} is the most"


def _text_faults(settings: Settings) -> Iterator[Fault]:
    spoken = languages_of(settings.chat, settings.language)
    for language, texts in settings.chat.texts.items():
        if language not in spoken:
            yield (
                ("chat", "texts", language),
                f"chat.texts has {language!r}, and the chat speaks {', '.join(spoken)};"
                " nobody would read it",
            )
            continue
        for name, text in texts.items():
            fault = text_fault(name, text)
            if fault:
                yield ("chat", "texts", language, name), f"chat.texts.{language}.{name}: {fault}"


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
                f"chat.leads.{name} must be an e-mail address, such as me@example.org",
            )
