"""The fixed texts that a visitor reads: complete in what ships, and a site's own come first."""

from __future__ import annotations

from string import Formatter

import pytest

from exactquote_site.serve.texts import SHIPPED, language_of, phrase, wait
from exactquote_site.wire.texts import FIXED_TEXTS, text_fault

OWN = {"fr": {"paused": "Demain.", "minutes": "{count} min"}}


@pytest.mark.parametrize("language", SHIPPED)
def test_every_text_ships_in_every_language(language: str) -> None:
    assert set(SHIPPED[language]) == set(FIXED_TEXTS)
    for name, text in SHIPPED[language].items():
        fields = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
        assert fields == set(FIXED_TEXTS[name]), name
        assert text_fault(name, text) == ""


def test_the_sites_own_wording_comes_first() -> None:
    assert phrase("paused", "fr", OWN) == "Demain."
    assert phrase("paused", "fr-CA", OWN) == "Demain."
    assert phrase("busy", "fr", OWN) == SHIPPED["en"]["busy"]
    assert phrase("paused", "de", OWN) == SHIPPED["de"]["paused"]
    assert wait(600, "fr", OWN) == "10 min"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("never", "x"),
        ("paused", " "),
        ("paused", "{"),
        ("paused", "{0}"),
        ("stored", "{days.__class__}"),
        ("stored", "{days!r}"),
        ("stored", "{days:>9999999}"),
    ],
)
def test_prevents_a_wording_that_would_fail_or_tell_too_much(name: str, text: str) -> None:
    assert text_fault(name, text)


# a question, the page's locale, the language of the fixed texts
ASKED = [
    ("How do I cite a sentence?", "de", "en"),
    ("Wie zitiere ich einen Satz?", "en", "de"),
    ("exactquote build", "de-AT", "de"),
    ("exactquote build", "ja", "en"),
    ("exactquote build", None, "en"),
    ("日本語", None, "en"),
]


@pytest.mark.parametrize(("text", "locale", "wanted"), ASKED)
def test_the_language_of_a_question(text: str, locale: str | None, wanted: str) -> None:
    assert language_of(text, locale, ["en", "de"]) == wanted
