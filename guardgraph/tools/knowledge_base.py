"""Knowledge bases: the packaged demo, and a folder of Markdown, reStructuredText, HTML and plain text files."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict

from guardgraph.formats.article import SECTION_SIGN, Section, Span
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.rag import PASSAGE_CHARS
from guardgraph.tools.demo import load_demo_file
from guardgraph.tools.folder import (
    MAX_BYTES,
    MAX_FILES,
    FoundFile,
    LeftOut,
    describe_left_out_files,
    find_file_name_problem,
    find_folder_files,
    format_file_path,
    name_root_folder,
    name_source_of_file,
)


class Document(TypedDict):
    """A chunk of a knowledge base: what is found, shown to the model and cited."""

    id: str  #: unique in its knowledge base; what a citation names
    source: str  #: what the two allowlists name
    title: str
    section: str
    updated_at: str  #: a date, as its author wrote it
    text: str
    span: NotRequired[list[int]]
    """Where its text begins and ends in the text of the document that it is a piece of, in characters."""


class Documents(list[Document]):
    """The documents of a folder, and what of the folder was left out."""

    left_out: tuple[LeftOut, ...]
    """What was not read, each with its `name` under the root and a `reason`, in the order of the names."""

    def __init__(self, documents: Iterable[Document], left_out: Iterable[LeftOut]) -> None:
        super().__init__(documents)
        self.left_out = tuple(sorted(left_out))

    def describe_left_out(self) -> str:
        """Return how many were left out for each reason, with their first names, on one line; "" if none was."""
        return describe_left_out_files(self.left_out)


def demo_documents() -> list[Document]:
    """Read the five documents of the RAG demo, which are shipped with the package."""
    documents: list[Document] = load_demo_file("rag_documents.json")
    return documents


def load_folder(
    folder: str | Path,
    *,
    max_chars: int = PASSAGE_CHARS,
    max_files: int = MAX_FILES,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[int, int], object] | None = None,
) -> Documents:
    """Read a folder of Markdown, reStructuredText, HTML and plain text files as a knowledge base.

    The formats are `.md` and `.markdown`, `.rst`, `.html` and `.htm`, and `.txt`. The title is the front matter's or
    field list's `title`, else the first level-1 heading, else a page's `<title>`, else the file's name without suffix;
    plain text has no headings. A heading begins a section, which is named by its path of headings
    (`Enterprise > Response targets`), below the front matter's or field list's `section` where there is one; text
    before the first heading, or right under the first of level 1, is in a section named as that one, else as the title.
    `updated_at` is the front matter's, field list's or `<meta>`'s `updated_at` or `date`, else blank: when a file was
    modified says nothing of it. Texts of Markdown and plain text are verbatim pieces of the file, those of the others
    are what a reader sees.

    Hidden files and folders are left out. A link to a file in the folder is read, if that file is not read under its
    own name; links to folders, and links that lead out of the folder, are not followed.

    Args:
        folder: the root. Its folders are the sources; files right in it have its name as source, as it was given.
        max_chars: the longest text of a document, in characters: at most the run's `max_context_chars`. A
            longer section is cut between paragraphs, else sentences, else words; a word only if it is longer.
        max_files: the most files and folders in it, those that are left out too.
        max_bytes: the most bytes of the files that are read.
        progress: called after each file with the bytes that are read, and the bytes of all.

    Returns:
        Documents in the order of their paths, with what was `left_out`. An id is `path#section.number`
        (`billing/refunds.md#rules.1`); it changes only with the path, the headings, or what stands above in a section
        of that name.

    Raises:
        ConfigurationError: the folder or a file in it cannot be read, a file is not UTF-8 text, a limit is passed,
            folders are more than 100 levels deep, or there is no text at all.
    """
    from guardgraph.formats.by_ending import FORMATS  # with its parsers: most agents read no folder

    for name, limit in (("max_chars", max_chars), ("max_files", max_files), ("max_bytes", max_bytes)):
        if limit < 1:
            raise ConfigurationError(f"{name}: at least 1 is required; given: {limit}")
    if not isinstance(folder, str | Path) or not str(folder).strip():
        raise ConfigurationError(f"knowledge base: the path of a folder is required; given: {folder!r}")
    root = Path(folder)
    files, left_out, unread = find_folder_files(root, FORMATS, max_files=max_files, max_bytes=max_bytes)
    if unread:
        raise ConfigurationError(f"knowledge base folder {str(root)!r}: {unread[0].name}: {unread[0].reason}")
    documents, read, total = list[Document](), 0, sum(file.size for file in files)
    name = name_root_folder(root)
    for file in files:
        before = len(documents)
        documents += _read_file(root, file, name_source_of_file(name, file.parts), max_chars)
        if len(documents) == before:
            left_out.append(LeftOut(format_file_path(file.parts), "empty"))
        read += file.size
        if progress is not None:
            progress(read, total)
    if not documents:
        without = f"; left out: {describe_left_out_files(left_out)}" if left_out else ""
        wanted = ", ".join(sorted(FORMATS))
        raise ConfigurationError(f"knowledge base folder {str(root)!r} has no text in any {wanted} file{without}")
    return Documents(documents, left_out)


def _read_file(root: Path, file: FoundFile, source: str, max_chars: int) -> Iterator[Document]:
    from guardgraph.formats.article import list_article_sections
    from guardgraph.formats.by_ending import FORMATS, decode_file_text
    from guardgraph.formats.extraction import ExtractionFailed

    number, name = "/".join(file.parts), Path(file.parts[-1])
    if (problem := find_file_name_problem(number, source)) is not None:
        raise ConfigurationError(f"knowledge base file {str(root.joinpath(*file.parts))!r}: {problem}")
    shown = str(root.joinpath(*file.parts))
    try:
        text = decode_file_text(Path(file.path).read_bytes(), name.suffix.lower())
    except UnicodeError as error:
        raise ConfigurationError(f"knowledge base file {shown!r} is not UTF-8: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"knowledge base file {shown!r} cannot be read: {error}") from error
    if "\0" in text:
        raise ConfigurationError(f"knowledge base file {shown!r} is not text: it holds a NUL character")
    try:
        parsed = FORMATS[name.suffix.lower()](text)
    except (ExtractionFailed, ValueError, RecursionError) as error:  # of what breaks a parser
        raise ConfigurationError(f"knowledge base file {shown!r} cannot be read: {error}") from error
    title, sections = list_article_sections(parsed, name.stem)
    for piece in split_document_into_chunks(number, parsed.text, sections, max_chars, below=parsed.section):
        yield Document(
            id=piece.id,
            source=source,
            title=title,
            section=piece.section,
            updated_at=parsed.updated_at,
            text=piece.text,
            span=list(piece.span),
        )


_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(
    r"[.!?…؟।۔։]['\")\]’”»*_]*\s+|[。！？｡]['\")\]’”」』）]*(?=[\s\S])|\n(?=[ \t]*(?:[-*+|>•]|\d+[.)])[ \t])|\n(?=\|)"
)
"""A mark that ends sentences, or an item's or a row's line.

No other line ends a sentence: where lines were broken to a width, a cut falls where it would if they were joined.
"""
_BLANK = re.compile(r"\s+")


def split_text_into_chunks(text: str, within: Span, max_chars: int) -> Iterator[Span]:
    """Cut a piece of a text into chunks of at most so many characters, without the blanks around them."""
    start, stop = within
    while window := text[start : min(start + max_chars + 1, stop)]:
        cut = _find_chunk_end(window, max_chars) if len(window) > max_chars else max_chars
        chunk = window[:cut]
        begun = start + len(chunk) - len(chunk.lstrip())
        if said := chunk.strip():
            yield Span(begun, begun + len(said))
        start += cut


def _find_chunk_end(window: str, max_chars: int) -> int:
    """Find where a chunk ends: after a paragraph or sentence, unless that leaves it half empty."""
    for boundary, least in ((_PARAGRAPH_END, max_chars // 2), (_SENTENCE_END, max_chars // 2), (_BLANK, 1)):
        cuts = [match.end() for match in boundary.finditer(window) if match.start() >= least]
        if cuts:
            return cuts[-1]
    return max_chars


class Piece(NamedTuple):
    """A part of a section, short enough to be shown to a model."""

    id: str  # `DOCUMENT#section.number`; it changes only with the document's id, the headings, or what stands above
    section: str
    text: str
    span: Span


def split_document_into_chunks(
    document: str, text: str, sections: Iterable[Section], max_chars: int, *, below: str = ""
) -> Iterator[Piece]:
    """Cut a document's sections into pieces."""
    used: Counter[str] = Counter()
    for section in sections:
        path = f"{below}{SECTION_SIGN}{section.name}" if below else section.name
        for span in split_text_into_chunks(text, section.span, max_chars):
            anchor = "-".join(re.findall(r"[^\W_]+", section.name.lower()))[:60] or "section"
            used[anchor] += 1
            yield Piece(f"{document}#{anchor}.{used[anchor]}", path, text[span.start : span.end], span)
