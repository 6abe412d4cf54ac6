"""Turn a component with its children into HTML by the template configured for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

# What a template can run into with the values that it is given.
_FAILURES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_MESSAGE_CHARS_MAX = 200


class TemplateFailed(Exception):
    """A template that can't be read or run: what is wrong, and how to mend it."""

    def __init__(self, message: str, help: str) -> None:
        """Keep both for the fault."""
        super().__init__(message)
        self.message = message
        self.help = help


def rendered(source: str, props: Mapping[str, object], children: str) -> str:
    """The template's HTML; `children` is HTML already, and all else is escaped.

    Raises `TemplateFailed`.
    """
    try:
        return _template(source).render(children=Markup(children), props=_Props(props))
    except TemplateSyntaxError as error:
        raise TemplateFailed(
            f"is malformed: {_brief(error)}",
            f"mend line {error.lineno} of the template in [mdx.components]",
        ) from error
    except _FAILURES as error:
        raise TemplateFailed(
            f"failed: {_brief(error)}",
            "mend the template in [mdx.components], or give the component what it needs",
        ) from error


class _Props(dict[str, object]):
    """The attributes of a component; one that was not given is empty."""

    def __missing__(self, name: str) -> None:
        return None


@lru_cache(maxsize=256)
def _template(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


def _shown(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_ENVIRONMENT = SandboxedEnvironment(autoescape=True, undefined=StrictUndefined, finalize=_shown)


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _MESSAGE_CHARS_MAX else text[: _MESSAGE_CHARS_MAX - 1] + "…"
