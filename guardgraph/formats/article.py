"""What a format's parser makes of a file, and the sections that its headings open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

_BETWEEN: Final = "\n\n"
SECTION_SIGN: Final = " > "  # what stands between the headings of a path


class Heading(NamedTuple):
    """A line that names what follows."""

    level: int  # 1 is the highest
    text: str  # as it is shown, in several lines where these are parted

    @property
    def name(self) -> str:
        """Its text in one line."""
        return " ".join(self.text.split())


Part: TypeAlias = Heading | str  # what a reader sees: a heading, or a text between two of them


class Span(NamedTuple):
    """Where a text stands in the document's text, in characters."""

    start: int
    end: int


class Parsed(NamedTuple):
    """What a file says."""

    text: str  # of Markdown and plain text the file's, letter by letter; of other formats what a reader sees
    parts: list[Heading | Span]  # headings and the texts between them, in the order of the file
    title: str = ""
    """What its author says it is called, which goes before any heading; "" where a heading or its name has to say."""
    section: str = ""  # the path of headings that it stands below, likewise
    updated_at: str = ""  # likewise


class Section(NamedTuple):
    """What stands under one heading."""

    name: str  # the path of headings (`Enterprise > Response targets`), or the title
    span: Span


def join_article_parts(
    pieces: Iterable[Part],
    title: str = "",
    section: str = "",
    updated_at: str = "",
    *,
    page_title: str = "",
    without_headings: bool = False,
) -> Parsed:
    """Return what a reader sees of a file: its headings and the texts between them, parted by blank lines."""
    parts, texts, at = list[Heading | Span](), list[str](), 0
    for piece in pieces:
        text = piece.text if isinstance(piece, Heading) else piece
        parts.append(piece if isinstance(piece, Heading) else Span(at, at + len(text)))
        if not (isinstance(piece, Heading) and without_headings):
            texts.append(text)
            at += len(text) + len(_BETWEEN)
    title = title or ("" if _find_top_heading(parts) else page_title)
    return Parsed(_BETWEEN.join(texts), parts, title, section, updated_at)


def list_article_sections(parsed: Parsed, name: str) -> tuple[str, list[Section]]:
    """Return the title of a file, and its sections."""
    top = _find_top_heading(parsed.parts) or parsed.title or name
    sections, open_headings = [], list[Heading]()
    for part in parsed.parts:
        if isinstance(part, Heading):
            open_headings = [*(opened for opened in open_headings if opened.level < part.level), part]
        else:
            names = [heading.name for heading in open_headings if heading.text]
            names = names[1:] if names[:1] == [top] else names
            sections.append(Section(SECTION_SIGN.join(names) or top, part))
    return parsed.title or top, sections


def _find_top_heading(parts: Iterable[Heading | Span]) -> str:
    """Return the first heading of level 1, "" where there is none."""
    return next((part.name for part in parts if isinstance(part, Heading) and part.level == 1 and part.text), "")
