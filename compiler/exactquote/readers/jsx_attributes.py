"""Turn the attributes of a JSX tag into plain values, and into HTML as React writes it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from exactquote.readers.jsx import Attribute, Tag, words
from exactquote.readers.jsx_literal import NOT_LITERAL, literal, text_of

VOID = words("area base br col embed hr img input link meta param source track wbr")

_HANDLER = re.compile(r"on[A-Z]")
_HTML_NAME = re.compile(r"[A-Za-z_][\w:.-]*\Z", re.ASCII)
_UNWRITTEN = words(
    "children dangerouslySetInnerHTML innerHTML key ref suppressContentEditableWarning "
    "suppressHydrationWarning"
)
_RENAMED = {
    "acceptCharset": "accept-charset",
    "className": "class",
    "defaultChecked": "checked",
    "defaultValue": "value",
    "htmlFor": "for",
    "httpEquiv": "http-equiv",
}
_FLAGS = words(
    "allowfullscreen async autofocus autoplay checked controls default defer disabled "
    "disablepictureinpicture disableremoteplayback formnovalidate hidden inert itemscope loop "
    "multiple muted nomodule novalidate open playsinline readonly required reversed scoped "
    "seamless selected"
)
_FLAGS_OR_TEXT = frozenset({"capture", "download"})
_WORDS = frozenset({"contenteditable", "draggable", "spellcheck"})
_UNITLESS = words(
    "animationIterationCount aspectRatio borderImageOutset borderImageSlice borderImageWidth "
    "boxFlex boxFlexGroup boxOrdinalGroup columnCount columns fillOpacity flex flexGrow "
    "flexNegative flexOrder flexPositive flexShrink floodOpacity fontWeight gridArea gridColumn "
    "gridColumnEnd gridColumnSpan gridColumnStart gridRow gridRowEnd gridRowSpan gridRowStart "
    "lineClamp lineHeight opacity order orphans scale stopOpacity strokeDasharray "
    "strokeDashoffset strokeMiterlimit strokeOpacity strokeWidth tabSize widows zIndex "
    "zoom"
)


def props_of(tag: Tag) -> tuple[dict[str, object], list[Attribute]]:
    """The attributes with a value at build time by name, and those without one.

    Event handlers have no effect on what is read, so they are left out of both.
    """
    props: dict[str, object] = {}
    unknown: list[Attribute] = []
    for attribute in tag.attributes:
        if attribute.kind == "flag":
            props[attribute.name] = True
        elif attribute.kind == "text":
            props[attribute.name] = attribute.value
        elif not _HANDLER.match(attribute.name):
            value = literal(attribute.value)
            if value is NOT_LITERAL:
                unknown.append(attribute)
            elif attribute.kind == "code":
                props[attribute.name] = value
            elif isinstance(value, dict):
                props.update(value)
    return props, unknown


def html_attributes(props: Mapping[str, object]) -> str:
    """The attributes of an HTML element, each with a blank before it."""
    written: dict[str, str] = {}
    for name, value in props.items():
        if name in _UNWRITTEN or name[:2].lower() == "on" or not _HTML_NAME.match(name):
            continue
        html_name = _RENAMED.get(name, name.lower())
        text = style(value) if html_name == "style" else _text(html_name, value)
        if text is None:
            written.pop(html_name, None)
        else:
            written[html_name] = text
    return "".join(f' {name}="{html.escape(text)}"' for name, text in written.items())


def style(value: object) -> str | None:
    """The text of a `style` attribute: an object's camel-case names become CSS names."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else None
    parts = []
    for name, setting in value.items():
        if setting is None or isinstance(setting, bool | list | dict) or setting == "":
            continue
        text = text_of(setting).strip()
        if isinstance(setting, float) and setting and not _unitless(name):
            text += "px"
        parts.append(f"{_css_name(name)}:{text}")
    return ";".join(parts) or None


def _text(name: str, value: object) -> str | None:
    """The value of an attribute as text, or nothing when React leaves the attribute out."""
    if value is None or isinstance(value, list | dict):
        return None
    if name in _FLAGS:
        return "" if value else None
    if name in _FLAGS_OR_TEXT and isinstance(value, bool):
        return "" if value else None
    if isinstance(value, bool):
        spelt = name in _WORDS or name.startswith(("data-", "aria-"))
        return text_of(value) if spelt else None
    return text_of(value)


def _unitless(name: str) -> bool:
    plain = re.sub(r"^(?:Webkit|Moz|ms|O)(?=[A-Z])", "", name)
    return name.startswith("--") or plain[:1].lower() + plain[1:] in _UNITLESS


def _css_name(name: str) -> str:
    if name.startswith("--"):
        return name
    dashed = re.sub(r"[A-Z]", lambda found: "-" + found[0].lower(), name)
    return "-" + dashed if dashed.startswith("ms-") else dashed
