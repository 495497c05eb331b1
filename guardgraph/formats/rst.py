"""reStructuredText, read by its lines."""

# docutils would be a heavy dependency, and it fails on every directive that only Sphinx knows. So titles are known by
# their underlines, what a reader sees of a directive is kept, whoever defines it, and tables stay as they are written.

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from guardgraph.formats.article import Heading, Parsed, Part, join_article_parts

_ADORNMENT = re.compile(r"([!-/:-@[-`{-~])\1*$")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+(.*)|$)")
_DIRECTIVE = re.compile(r"([\w:.+-]+?) ?::(?:[ \t]+(.*)|$)")
_FOOTNOTE = re.compile(r"\[[^\]]+\](?:\s|$)")
_OPTION = re.compile(r"[ \t]*:[\w -]+:")
_FIELD = re.compile(r":(title|section|updated_at|date|readers):[ \t]*(.*)", re.IGNORECASE)
_INLINE = re.compile(r"``(?P<literal>[^`]+)``|(?P<role>:[\w:.+-]{1,60}:)?`(?P<text>[^`]+)`_{0,2}|\\(?P<escaped>[\s\S])")

_UNSEEN: Final = frozenset(
    {
        "contents", "currentmodule", "default-role", "highlight", "image", "include", "index", "literalinclude", "meta",
        "module", "namespace", "py:currentmodule", "py:module", "raw", "role", "sectnum", "tabularcolumns",
        "target-notes", "title", "toctree"
    }
)  # fmt: skip
"""Directives of which a page shows no text that stands in the file."""
_LITERAL: Final = frozenset(
    {"code", "code-block", "doctest", "math", "parsed-literal", "prompt", "sourcecode", "testcode", "testoutput"}
)
"""Directives whose body is shown letter by letter, and whose argument is not shown."""
_BARE: Final = frozenset({"container", "cssclass", "figure", "only", "rst-class"})
"""Directives whose argument is not shown, but the text in them is."""
_TITLED: Final = frozenset({"admonition", "centered", "csv-table", "list-table", "rubric", "sidebar", "table", "topic"})
"""Directives whose argument is a title. What any other is called is shown before its argument (`Note: …`)."""

_BLANK_LINES = re.compile(r"\n{3,}")


def parse_rst(text: str) -> Parsed:
    """Read reStructuredText: sections by their underlines, without comments, targets, options and roles."""
    parts = _read_rst_parts(text)
    fields = _read_field_list(parts)
    updated_at = fields.get("updated_at") or fields.get("date", "")
    return join_article_parts(parts, fields.get("title", ""), fields.get("section", ""), updated_at)


def read_rst_fields(text: str) -> dict[str, str]:
    """Return what the field list at the top says of the file, by the names of the fields in lower case."""
    return _read_field_list(_read_rst_parts(text))


def _read_rst_parts(text: str) -> list[Part]:
    return list(_RstReader(text.expandtabs(8).split("\n")).parts())


def _read_field_list(parts: Iterable[Part]) -> dict[str, str]:
    first = next((part for part in parts if isinstance(part, str) and part.strip()), "")
    fields = dict[str, str]()
    for line in first.strip().split("\n"):
        if not line.startswith(":"):
            break
        if field := _FIELD.match(line):
            fields[field[1].lower()] = field[2].strip()
    return fields


class _RstReader:
    """Goes through the lines once."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._margin = 0  # how far the body of the directive is indented that lines stand in; it is not shown
        self._styles: list[str] = []  # of titles, in the order in which they occur first: that is their level
        self._text: list[str] = []  # what was read and not given back: texts of blocks
        self._block: list[str] = []  # lines whose inline markup is still to be read

    def parts(self) -> Iterator[Part]:
        while self._at < len(self._lines):
            if heading := self._read_rst_title():
                yield self._take_rst_text()
                yield heading
            else:
                self._read_rst_line()
        yield self._take_rst_text()

    def _read_rst_title(self) -> Heading | None:
        """Return the title that begins at this line, if one does, and go behind it."""
        if self._block and self._block[-1]:
            return None  # inside a paragraph
        line, *below = (line.rstrip() for line in self._lines[self._at : self._at + 3])
        over = _is_adornment(line) and len(below) == 2 and below[1] == line
        title, under = (below[0].strip(), line) if over else (line, below[0] if below else "")
        if not title or line[0] == " " or not _is_adornment(under) or _is_adornment(title):
            return None
        if len(under) < min(len(title), 4):
            return None
        style = under[0] * (2 if over else 1)
        if style not in self._styles:
            self._styles.append(style)
        self._at += 3 if over else 2
        return Heading(self._styles.index(style) + 1, " ".join(_strip_inline_markup(title).split()))

    def _read_rst_line(self) -> None:
        line = self._lines[self._at].rstrip()
        indent = _measure_indent(line)
        if line and indent < self._margin:
            self._margin = 0
        explicit = _EXPLICIT.match(line, indent)
        self._at += 1
        if explicit:
            self._end_rst_block()
            content = explicit[1] or ""
            directive = _DIRECTIVE.match(content)
            if directive and directive[1].lower() not in _UNSEEN:
                self._read_rst_directive(directive[1].lower(), (directive[2] or "").strip(), indent)
            elif _FOOTNOTE.match(content):
                self._block.append(content)
                self._margin = self._find_rst_body_indent(indent)
            else:  # what no reader sees
                list(self._read_body_lines(indent))
        elif _is_adornment(line) and len(line) >= 4 and not (self._block and self._block[-1]):
            pass  # a line across the page
        elif line.endswith("::"):
            kept = line[:-1] if line[-3:-2].strip(": ") else line[:-2]
            self._block.append(kept[self._margin :])
            self._end_rst_block()
            self._keep_literal(indent, "text")
        else:
            self._block.append(line[self._margin :])

    def _read_rst_directive(self, name: str, argument: str, indent: int) -> None:
        while self._at < len(self._lines) and _OPTION.match(self._lines[self._at]):
            if _measure_indent(self._lines[self._at]) <= indent:
                break
            self._at += 1
        if name in _LITERAL:
            self._keep_literal(indent, argument.partition(" ")[0] or "text")
            return
        if name in _TITLED:
            self._block += [argument, ""]
        elif name not in _BARE:
            label = name.rpartition(":")[2].replace("-", " ").capitalize()
            self._block.append(f"{label}: {argument}".rstrip())
        self._margin = self._find_rst_body_indent(indent)

    def _read_body_lines(self, indent: int) -> Iterator[str]:
        """Go through the lines that are indented further; blank ones are among them."""
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if line and _measure_indent(line) <= indent:
                return
            self._at += 1
            yield line

    def _keep_literal(self, indent: int, kind: str) -> None:
        """Keep lines letter by letter, between fences, so that a reader of the text knows them as code."""
        lines = list(self._read_body_lines(indent))
        while lines and not lines[-1]:
            lines.pop()
        margin = min((_measure_indent(line) for line in lines if line), default=0)
        if code := [line[margin:] for line in lines]:
            self._text += ["", f"```{kind}", *code[not code[0] :], "```", ""]

    def _find_rst_body_indent(self, indent: int) -> int:
        following = next((line for line in self._lines[self._at : self._at + 2] if line.strip()), "")
        return max(_measure_indent(following), 0) if _measure_indent(following) > indent else 0

    def _end_rst_block(self) -> None:
        self._text += _strip_inline_markup("\n".join(self._block)).split("\n") if self._block else []
        self._block = []

    def _take_rst_text(self) -> str:
        self._end_rst_block()
        text, self._text = "\n".join(self._text), []
        return _BLANK_LINES.sub("\n\n", text).strip("\n")


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_adornment(line: str) -> bool:
    return _ADORNMENT.match(line) is not None


def _strip_inline_markup(text: str) -> str:
    """Return a text without its inline markup, except emphasis."""
    return _INLINE.sub(_show_rst_markup, text)


def _show_rst_markup(match: re.Match[str]) -> str:
    if match["literal"]:
        return f"`{match['literal']}`"
    if match["escaped"]:
        return match["escaped"].strip()
    label, opened, target = match["text"].rpartition("<")
    text = (label.rstrip() or target.rstrip(">")) if opened and target.endswith(">") else match["text"]
    return text.rpartition(".")[2] if match["role"] and text.startswith("~") else text
