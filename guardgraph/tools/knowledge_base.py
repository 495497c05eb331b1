"""Knowledge bases: the packaged demo and a folder of Markdown and text files."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from typing_extensions import TypedDict

from guardgraph.state.errors import ConfigurationError
from guardgraph.state.rag import PASSAGE_CHARS

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["Document", "demo_documents", "load_folder"]


class Document(TypedDict):
    """A chunk of a knowledge base: what is found, shown to the model and cited."""

    id: str
    """Unique in its knowledge base; what a citation names."""
    source: str
    """What the two allowlists name."""
    title: str
    section: str
    updated_at: str
    """A date, as its author wrote it."""
    text: str


def demo_documents() -> list[Document]:
    """Read the five documents of the RAG demo, which are shipped with the package."""
    packaged = resources.files("guardgraph.tools") / "data" / "rag_documents.json"
    documents: list[Document] = json.loads(packaged.read_text(encoding="utf-8"))
    return documents


def load_folder(folder: str | Path, *, max_chars: int = PASSAGE_CHARS) -> list[Document]:
    """Read a folder of Markdown (`.md`, `.markdown`) and plain text (`.txt`) files as a knowledge base.

    A Markdown heading begins a section, which is named by its path of headings (`Enterprise > Response
    targets`); text before the first heading, or right under the one that is the title, is in a section named
    as the title. The title is the first level-1 heading, else the front matter's `title`, else the file's
    name without suffix; plain text has no headings. `updated_at` is the front matter's `updated_at` or
    `date`, else the day (UTC) on which the file was modified. Texts are verbatim pieces of the file. Hidden
    files and folders are skipped; links to folders are not followed.

    Args:
        folder: the root. Its folders are the sources; files right in it have the root's own name as source.
        max_chars: the longest text of a document, in characters: at most the run's `max_context_chars`. A
            longer section is cut between paragraphs, else sentences, else words; a word only if it is longer.

    Returns:
        Documents in the order of their paths. An id is `path#section.number` (`billing/refunds.md#rules.1`);
        it changes only with the path, the headings, or what stands above in a section of that name.

    Raises:
        ConfigurationError: the folder or a file in it cannot be read, a file is not UTF-8 text, or there is
            no text at all.
    """
    if max_chars < 1:
        raise ConfigurationError(f"max_chars: at least 1 is required; given: {max_chars}")
    if not isinstance(folder, str | Path) or not str(folder).strip():
        raise ConfigurationError(f"knowledge base: the path of a folder is required; given: {folder!r}")
    root = Path(folder)
    documents = [document for path in _files(root) for document in _read_file(root, path, max_chars)]
    if not documents:
        wanted = ", ".join(sorted(_MARKDOWN | _PLAIN))
        raise ConfigurationError(f"knowledge base folder {str(root)!r} has no text in any {wanted} file")
    return documents


_MARKDOWN = frozenset({".md", ".markdown"})
_PLAIN = frozenset({".txt"})

_KEY_VALUE = re.compile(r"([\w-]+):(.*)")
_FRONT_MATTER_STARTS = ("", " ", "\t", "#", "-")
"""How lines other than pairs may begin; anything else is prose between two thematic breaks."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"[.!?]['\")\]’”]*\s+|\n(?=[ \t]*(?:[-*+|>]|\d+[.)])[ \t])|\n(?=\|)")
_BLANK = re.compile(r"\s+")


class _Section(NamedTuple):
    name: str
    text: str


def _files(root: Path) -> list[Path]:
    found: list[Path] = []
    try:
        for parent, folders, names in os.walk(root, onerror=_refuse):
            folders[:] = [name for name in folders if not name.startswith(".")]
            paths = [Path(parent, name) for name in names if not name.startswith(".")]
            found += [path for path in paths if path.suffix.lower() in _MARKDOWN | _PLAIN and path.is_file()]
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"knowledge base folder {str(root)!r} cannot be read: {error}") from error
    return sorted(found, key=lambda path: path.relative_to(root).parts)


def _refuse(error: OSError) -> NoReturn:
    raise error


def _read_file(root: Path, path: Path, max_chars: int) -> Iterator[Document]:
    relative = path.relative_to(root)
    text, modified = _read_text(path, relative)
    front, body = _split_front_matter(text)
    fallback = front.get("title") or path.stem
    markdown = path.suffix.lower() in _MARKDOWN
    title, sections = _split_sections(body, fallback) if markdown else (fallback, [_Section(fallback, body)])
    used: Counter[str] = Counter()
    for section in sections:
        for chunk in _split_chunks(section.text, max_chars):
            anchor = _anchor(section.name)
            used[anchor] += 1
            yield Document(
                id=f"{relative.as_posix()}#{anchor}.{used[anchor]}",
                source=relative.parts[0] if len(relative.parts) > 1 else root.resolve().name,
                title=title,
                section=section.name,
                updated_at=front.get("updated_at") or front.get("date") or modified,
                text=chunk,
            )


def _read_text(path: Path, relative: Path) -> tuple[str, str]:
    """Return the text and the day of its last change; the name of the file must be text, too."""
    try:
        relative.as_posix().encode()
        text = path.read_text(encoding="utf-8-sig")
        modified = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
    except UnicodeError as error:
        raise ConfigurationError(f"knowledge base file {str(path)!r} is not UTF-8: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"knowledge base file {str(path)!r} cannot be read: {error}") from error
    if "\0" in text:
        raise ConfigurationError(f"knowledge base file {str(path)!r} is not text: it holds a NUL character")
    return text, modified.date().isoformat()


def _split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Take `key: value` lines between two lines of three hyphens off the top; keys are lower case."""
    lines = text.split("\n")
    front: dict[str, str] = {}
    if lines[0].rstrip() != "---":
        return front, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return front, "\n".join(lines[number + 1 :])
        if pair := _KEY_VALUE.match(line):
            front[pair[1].lower()] = pair[2].strip().strip("'\"")
        elif line[:1] not in _FRONT_MATTER_STARTS:
            break
    return {}, text


def _split_sections(body: str, fallback: str) -> tuple[str, list[_Section]]:
    """Return the title, and what stands between the headings."""
    lines = body.split("\n")
    headings = list(_headings(body))
    title = next((name for level, name, _, _ in headings if level == 1 and name), fallback)
    sections, open_headings, start = [], list[tuple[int, str]](), 0
    for level, name, first, after in headings:
        sections.append(_Section(_section_name(open_headings, title), "\n".join(lines[start:first])))
        open_headings = [*(opened for opened in open_headings if opened[0] < level), (level, name)]
        start = after
    sections.append(_Section(_section_name(open_headings, title), "\n".join(lines[start:])))
    return title, sections


def _headings(body: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, text, first line and the line after of each heading that is in no list or quotation."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(body)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            yield int(opening.tag[1:]), _plain_text(inline), opening.map[0], opening.map[1]


def _plain_text(inline: Token) -> str:
    pieces = (" " if child.type.endswith("break") else child.content for child in inline.children or [])
    return " ".join("".join(pieces).split())


def _section_name(open_headings: list[tuple[int, str]], title: str) -> str:
    names = [name for _, name in open_headings if name]
    if names[:1] == [title]:
        names = names[1:]
    return " > ".join(names) or title


def _anchor(section: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", section.lower()))[:60] or "section"


def _split_chunks(text: str, max_chars: int) -> Iterator[str]:
    start = 0
    while window := text[start : start + max_chars + 1]:
        cut = _cut(window, max_chars) if len(window) > max_chars else max_chars
        if chunk := window[:cut].strip():
            yield chunk
        start += cut


def _cut(window: str, max_chars: int) -> int:
    """Find where a chunk ends: after a paragraph or sentence, unless that leaves it half empty."""
    for boundary, least in ((_PARAGRAPH_END, max_chars // 2), (_SENTENCE_END, max_chars // 2), (_BLANK, 1)):
        cuts = [match.end() for match in boundary.finditer(window) if match.start() >= least]
        if cuts:
            return cuts[-1]
    return max_chars
