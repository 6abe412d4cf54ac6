"""Turn the JSX and JavaScript in MDX source into tags and expressions with their offsets.

This is a scanner, not a JavaScript parser: it finds where a construct ends, whatever
strings, templates, comments, regular expressions and nested JSX stand in it.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Literal


def words(text: str) -> frozenset[str]:
    """The words of a text, for a table of names."""
    return frozenset(text.split())


TagKind = Literal["open", "close", "alone"]
AttributeKind = Literal["flag", "text", "code", "spread"]

# JSX inside an attribute inside JSX is the one thing read by recursion.
_RECURSION_MAX = 30
# No word that matters before an operand is longer.
_WORD_CHARS_MAX = 40

_NAME_START = r"(?:[^\W\d]|[$_])"
_NAME = rf"{_NAME_START}[\w$\u200c\u200d-]*"
_TAG_NAME = re.compile(rf"{_NAME}(?:\s*:\s*{_NAME}|(?:\s*\.\s*{_NAME})+)?")
_ATTRIBUTE_NAME = re.compile(rf"{_NAME}(?:\s*:\s*{_NAME})?")
_PLAIN_ATTRIBUTE = r"""\s+([A-Za-z_][\w-]*)(?:=(?:"([^"]*)"|'([^']*)'))?(?=[\s/>])"""
_PLAIN_ATTRIBUTES = re.compile(_PLAIN_ATTRIBUTE)
_PLAIN_TAG = re.compile(
    rf"<(/?)([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*)((?:{_PLAIN_ATTRIBUTE})*)\s*(/?)>"
)
_SPACE_OR_COMMENT = re.compile(r"(?:\s+|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_WORD = re.compile(rf"{_NAME_START}[\w$]*\Z")
_STRINGS = {
    '"': re.compile(r'"(?:[^"\\\n]|\\.)*"', re.DOTALL),
    "'": re.compile(r"'(?:[^'\\\n]|\\.)*'", re.DOTALL),
}
_REGULAR_EXPRESSION = re.compile(
    r"/(?![*/])(?:[^\\/\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/[A-Za-z]*"
)
_TEMPLATE_TEXT = re.compile(r"(?:[^`\\$]+|\\.|\$(?!\{))*", re.DOTALL)
_PLAIN_CODE = re.compile(r"""[^'"`/<(){}\[\]]+""")
_PLAIN_STATEMENT = re.compile(r"""[^'"`/<(){}\[\]\n]+""")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n|\Z)")
_OPENERS = {"(": ")", "[": "]", "{": "}"}
_BEFORE_OPERAND = words(
    "await case delete do else extends in instanceof new of return throw typeof void yield default"
)
_UNFINISHED = frozenset("=+-*/%&|?:,.(<>!~^")
_UNFINISHED_WORDS = _BEFORE_OPERAND | words(
    "as async class const export from function import let var"
)

_SIGN_CURE = r"write \< or &lt; for the sign itself"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute; `value` is decoded text, or the source between the braces."""

    name: str
    kind: AttributeKind
    value: str
    start: int


@dataclass(frozen=True, slots=True)
class Tag:
    """A JSX tag, `text[start:end]`; the name of a fragment is ""."""

    start: int
    end: int
    name: str
    kind: TagKind
    attributes: tuple[Attribute, ...] = ()

    @property
    def component(self) -> bool:
        """Whether it names a component and not an HTML element or a fragment."""
        return bool(self.name) and ("." in self.name or not "a" <= self.name[0] <= "z")


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression with its braces, `text[start:end]`, and how deep its brackets nest."""

    start: int
    end: int
    source: str
    depth: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Why nothing could be read. More text might mend it when it is `cut`."""

    at: int
    message: str
    help: str
    cut: bool = False
    code: str = "EQ025"


def read_tag(text: str, start: int, end: int, depth: int = 0) -> Tag | Fault | None:
    """The tag at the `<` at `start`; nothing when white space follows: then it is a sign."""
    plain = _PLAIN_TAG.match(text, start, end)
    if plain and not (plain[1] and (plain[3] or plain[plain.re.groups])):
        return _plain_tag(text, plain)
    if start + 1 >= end or text[start + 1].isspace():
        return None
    if depth > _RECURSION_MAX:
        return Fault(start, "JSX is nested too deep in attributes", "unnest it", code="EQ028")
    return _read_tag(text, start, end, depth)


def read_expression(text: str, start: int, end: int, depth: int = 0) -> Expression | Fault:
    """The expression at the `{` at `start`, up to the brace that closes it."""
    found = _skip_code(text, start + 1, end, [("}", start)], depth)
    if isinstance(found, Fault):
        return found
    stop, deepest = found
    return Expression(start, stop, text[start + 1 : stop - 1], deepest)


def read_statements(text: str, start: int, end: int) -> tuple[int, list[int]] | Fault:
    """Where the statements at `start` end, which is a blank line outside all brackets.

    With it come the offsets of the lines in them that begin outside all brackets and
    don't continue the line before.
    """
    lines: list[int] = []
    found = _skip_code(text, start, end, [], 0, lines)
    return found if isinstance(found, Fault) else (found[0], lines)


def html_comment(at: int) -> Fault:
    """What is wrong with an HTML comment."""
    return Fault(at, "MDX has no HTML comments", "write {/* … */}")


def without_comments(source: str) -> str:
    """The source of an expression stripped of the comments and space around it."""
    while True:
        source = source.strip()
        if source.startswith("/*") and "*/" in source[2:]:
            source = source[source.index("*/", 2) + 2 :]
        elif source.startswith("//"):
            source = source.partition("\n")[2]
        else:
            return source


def _plain_tag(text: str, found: re.Match[str]) -> Tag:
    slash, name, attributes = found.group(1, 2, 3)
    kind: TagKind = "close" if slash else "alone" if found[found.re.groups] else "open"
    if not attributes:
        return Tag(found.start(), found.end(), name, kind)
    return Tag(
        found.start(),
        found.end(),
        name,
        kind,
        tuple(
            Attribute(
                each[1],
                "flag" if each.end() == each.end(1) else "text",
                html.unescape(each[2] or each[3] or ""),
                each.start(1),
            )
            for each in _PLAIN_ATTRIBUTES.finditer(text, found.start(3), found.end(3) + 1)
        ),
    )


def _read_tag(text: str, start: int, end: int, depth: int) -> Tag | Fault:
    at = start + 1
    closing = text.startswith("/", at)
    if closing:
        at = _space_end(text, at + 1, end)
    name = ""
    found = _TAG_NAME.match(text, at, end)
    if found:
        name = re.sub(r"\s+", "", found[0])
        at = found.end()
    elif at >= end:
        return _unclosed_tag(start, text[start:at])
    elif text[at] != ">":
        return _not_a_name(text, start, at)
    if at < end and not (text[at].isspace() or text[at] in "/>{"):
        return _not_in_a_name(text, start, at, name)
    attributes: list[Attribute] = []
    alone = False
    while True:
        at = _space_end(text, at, end)
        if at >= end or text[at] == "<":
            return _unclosed_tag(start, f"<{'/' * closing}{name}", cut=at >= end)
        character = text[at]
        if character == ">":
            break
        if character == "/":
            after = _space_end(text, at + 1, end)
            if after >= end:
                return _unclosed_tag(start, f"<{name}")
            if text[after] != ">":
                return Fault(at, f"`/` in the tag `<{name}` is not followed by `>`", "write />")
            alone, at = True, after
            break
        attribute = _read_attribute(text, start, at, end, name, depth)
        if isinstance(attribute, Fault):
            return attribute
        if attribute[0] is not None:
            attributes.append(attribute[0])
        at = attribute[1]
    if closing and (attributes or alone):
        return Fault(
            start, f"the closing tag `</{name}>` holds more than its name", f"write </{name}>"
        )
    kind: TagKind = "close" if closing else "alone" if alone else "open"
    return Tag(start, at + 1, name, kind, tuple(attributes))


def _read_attribute(
    text: str, tag: int, start: int, end: int, tag_name: str, depth: int
) -> tuple[Attribute | None, int] | Fault:
    """An attribute, or nothing for a comment in braces, and where it ends."""
    if text[start] == "{":
        spread = read_expression(text, start, end, depth + 1)
        if isinstance(spread, Fault):
            return spread
        source = without_comments(spread.source)
        if not source:
            return None, spread.end
        if not source.startswith("..."):
            return Fault(
                start,
                f"an expression among the attributes of `<{tag_name}>` must be a spread",
                "write {...it}, or name={it}",
            )
        return Attribute("", "spread", source[3:], start), spread.end
    found = _ATTRIBUTE_NAME.match(text, start, end)
    if not found:
        return Fault(
            start,
            f"`{text[start]}` can't stand in the tag `<{tag_name}`",
            f"close the tag with > before it, or, if no tag was meant, {_SIGN_CURE}",
        )
    name = re.sub(r"\s+", "", found[0])
    at = _space_end(text, found.end(), end)
    if not text.startswith("=", at, end):
        if found.end() < end and not (text[found.end()].isspace() or text[found.end()] in "/>{<"):
            return Fault(
                found.end(),
                f"`{text[found.end()]}` can't stand in the name of an attribute",
                f"if no tag was meant, {_SIGN_CURE}",
            )
        return Attribute(name, "flag", "", start), found.end()
    at = _space_end(text, at + 1, end)
    if at >= end:
        return _unclosed_tag(tag, f"<{tag_name}")
    quote = text[at]
    if quote in "\"'":
        close = text.find(quote, at + 1, end)
        if close < 0:
            return Fault(
                at,
                f"the value of `{name}` in `<{tag_name}` is never closed",
                f"close it with {quote}",
                cut=True,
            )
        return Attribute(name, "text", html.unescape(text[at + 1 : close]), start), close + 1
    if quote == "{":
        value = read_expression(text, at, end, depth + 1)
        if isinstance(value, Fault):
            return value
        if not without_comments(value.source):
            return Fault(at, f"the value of `{name}` is empty", f'write {name}="" or leave it out')
        return Attribute(name, "code", value.source, start), value.end
    cure = "write {<…/>}" if quote == "<" else "put it into quotes or braces"
    return Fault(at, f"the value of `{name}` begins with `{quote}`", cure)


def _unclosed_tag(start: int, shown: str, cut: bool = True) -> Fault:
    return Fault(
        start,
        f"the tag `{shown}` is never closed",
        f"close it with >, or, if no tag was meant, {_SIGN_CURE}",
        cut,
    )


def _not_a_name(text: str, start: int, at: int) -> Fault:
    if text.startswith("!--", at):
        return html_comment(start)
    if text[start + 1] in "!?":
        return Fault(
            start, f"`<{text[at]}` is HTML, which MDX does not have", f"remove it, or {_SIGN_CURE}"
        )
    return Fault(start, f"`<` begins a tag, but `{text[at]}` can't begin a name", _SIGN_CURE)


def _not_in_a_name(text: str, start: int, at: int, name: str) -> Fault:
    if text[at] == "@" or (text[at] == ":" and text.startswith("//", at + 1)):
        return Fault(
            start, "MDX has no links in angle brackets", "write [text](address) with the address"
        )
    return Fault(
        at, f"`{text[at]}` can't stand in the tag name `{name}`", f"rename it, or {_SIGN_CURE}"
    )


def _space_end(text: str, start: int, end: int) -> int:
    found = _SPACE_OR_COMMENT.match(text, start, end)
    return found.end() if found else start


def _skip_code(
    text: str,
    start: int,
    end: int,
    stack: list[tuple[str, int]],
    depth: int,
    lines: list[int] | None = None,
) -> tuple[int, int] | Fault:
    """Where the innermost code of `stack` ends, and the deepest nesting on the way.

    `stack` holds what closes each open construct, with the offset of its opening: a
    bracket, "`" for the text of a template, or "<" for the children of a JSX element.
    An empty stack reads statements up to a blank line and gathers their `lines`.
    """
    expression = lines is None
    at, deepest = start, len(stack)
    while at < end:
        mode = stack[-1][0] if stack else ""
        if mode == "`":
            found = _TEMPLATE_TEXT.match(text, at, end)
            at = found.end() if found else at
            if at >= end:
                break
            if text[at] == "`":
                stack.pop()
                at += 1
            elif text[at] == "$":
                stack.append(("}", at + 1))
                at += 2
            else:
                break
        elif mode == "<":
            at = _next_markup(text, at, end)
            if at >= end:
                break
            if text[at] == "{":
                stack.append(("}", at))
                at += 1
            else:
                stop = _skip_tag(text, at, end, stack, depth)
                if isinstance(stop, Fault):
                    return stop
                at = stop
        else:
            found = (_PLAIN_CODE if stack else _PLAIN_STATEMENT).match(text, at, end)
            if found:
                at = found.end()
                if at >= end:
                    break
            character = text[at]
            if character == "\n":
                if not _unfinished(text, start, at):
                    if _BLANK_LINE.match(text, at, end):
                        return at, deepest
                    if lines is not None:
                        lines.append(at + 1)
                at += 1
            elif character in "\"'":
                found = _STRINGS[character].match(text, at, end)
                if not found:
                    return Fault(
                        at,
                        "a string is never closed",
                        f"close it with {character}",
                        cut=text.find("\n", at, end) < 0,
                    )
                at = found.end()
            elif character == "`":
                stack.append(("`", at))
                at += 1
            elif character == "/":
                stop = _skip_slash(text, start, at, end)
                if isinstance(stop, Fault):
                    return stop
                at = stop
            elif character == "<":
                if _operand_before(text, start, at) or not _begins_tag(text, at, end):
                    at += 1
                else:
                    stop = _skip_tag(text, at, end, stack, depth)
                    if isinstance(stop, Fault):
                        return stop
                    at = stop
            elif character in _OPENERS:
                stack.append((_OPENERS[character], at))
                at += 1
            elif mode == character:
                stack.pop()
                at += 1
                if expression and not stack:
                    return at, deepest
            else:
                return Fault(
                    at,
                    f"`{character}` closes nothing"
                    + (f" here: `{mode}` is expected" if mode else ""),
                    r"remove it, or write \{ where a brace was meant as text",
                )
        if len(stack) > deepest:
            deepest = len(stack)
    if not stack:
        return end, deepest
    closer, opened = stack[0] if expression else stack[-1]
    if closer == "`":
        return Fault(opened, "a template is never closed", "close it with `", cut=True)
    if closer == "<":
        return Fault(opened, "a JSX element in code is never closed", "close it", cut=True)
    return Fault(
        opened,
        f"`{text[opened]}` is never closed",
        rf"close it with {closer}, or write \{text[opened]} for the sign itself",
        cut=True,
    )


def _next_markup(text: str, start: int, end: int) -> int:
    brace, angle = text.find("{", start, end), text.find("<", start, end)
    if brace < 0 or angle < 0:
        return end if brace == angle else max(brace, angle)
    return min(brace, angle)


def _skip_tag(
    text: str, start: int, end: int, stack: list[tuple[str, int]], depth: int
) -> int | Fault:
    tag = read_tag(text, start, end, depth + 1)
    if tag is None:
        return start + 1
    if isinstance(tag, Fault):
        return tag
    if tag.kind == "open":
        stack.append(("<", start))
    elif tag.kind == "close" and stack and stack[-1][0] == "<":
        stack.pop()
    return tag.end


def _skip_slash(text: str, origin: int, start: int, end: int) -> int | Fault:
    if text.startswith("//", start):
        stop = text.find("\n", start, end)
        return end if stop < 0 else stop
    if text.startswith("/*", start):
        stop = text.find("*/", start + 2, end)
        if stop < 0:
            return Fault(start, "a comment is never closed", "close it with */", cut=True)
        return stop + 2
    if not _operand_before(text, origin, start):
        found = _REGULAR_EXPRESSION.match(text, start, end)
        if found:
            return found.end()
    return start + 1


def _operand_before(text: str, origin: int, at: int) -> bool:
    """Whether a value stands before `at`, so that `/` divides and `<` compares."""
    at -= 1
    while at >= origin and text[at].isspace():
        at -= 1
    if at < origin:
        return False
    if text[at] in ")]}\"'`":
        return True
    found = _WORD.search(text, max(origin, at - _WORD_CHARS_MAX), at + 1)
    if found:
        return found[0] not in _BEFORE_OPERAND
    return text[at].isalnum()


def _begins_tag(text: str, at: int, end: int) -> bool:
    return at + 1 < end and (text[at + 1].isalpha() or text[at + 1] in ">_$")


def _unfinished(text: str, origin: int, at: int) -> bool:
    """Whether the statement that ends at `at` wants more, so that a blank line is inside it."""
    while at > origin and text[at - 1].isspace():
        at -= 1
    line = text[max(text.rfind("\n", origin, at) + 1, origin) : at]
    if line.endswith(("++", "--", "*/")) or line.lstrip().startswith("//"):
        return False
    # A tag's `>` ends a statement; an arrow's does not.
    if line.endswith(">"):
        return line.endswith("=>")
    word = _WORD.search(line, max(len(line) - _WORD_CHARS_MAX, 0))
    return word[0] in _UNFINISHED_WORDS if word else line[-1:] in _UNFINISHED
