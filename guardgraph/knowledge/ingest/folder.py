"""A folder as it is found: its documents, what says who may read them, and what is left out."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from os.path import splitext
from pathlib import Path
from typing import Any, Final, NamedTuple
from unicodedata import normalize

from guardgraph.formats.by_ending import FORMATS
from guardgraph.formats.markdown import read_front_matter, skip_front_matter
from guardgraph.formats.rst import read_rst_fields
from guardgraph.formats.yaml import MAX_BYTES, WrongText, parse_yaml
from guardgraph.knowledge.ingest.collection import Failed, Unusable
from guardgraph.knowledge.ingest.rules import (
    READERS,
    RULES,
    Rules,
    find_sidecar_stem,
    is_like_readers,
    is_like_rule_file,
    list_like_fields,
    list_like_keys,
    list_like_metas,
    list_meant_keys,
    list_nested_keys,
    list_readers_beyond,
    read_access_list,
    read_folder_rules,
)
from guardgraph.plain.json import find_json_problem
from guardgraph.tools.folder import FoundFile, LeftOut, Unread, find_folder_files, format_file_path, name_root_folder

SIDECAR: Final = ".meta.yaml"  # how the name of a file ends that says something of the document beside it
_TEXTS: Final = ("title", "section", "updated_at")
_FIELDS: Final = (*_TEXTS, "readers")
_NOT_FRONT_MATTER: Final = "its front matter: lines of `key: value` between two lines of three hyphens are required"


class SidecarRules(NamedTuple):
    """What a document says of itself; "" and None where it says nothing."""

    readers: tuple[str, ...] | None = None
    title: str = ""
    section: str = ""  # the path of headings that the document stands below
    updated_at: str = ""


class ReadersUnknown(Unusable):
    """Nobody can tell whom a document means to keep out."""


def read_sidecar_rules(content: bytes) -> SidecarRules:
    """Read a ``name.meta.yaml``."""
    if len(content) > MAX_BYTES:
        raise ReadersUnknown(f"its {SIDECAR}: at most {MAX_BYTES} bytes are allowed")
    try:
        value = _read_sidecar_mapping(content.decode("utf-8-sig"))
        for field in value:
            if field not in _FIELDS:
                raise ValueError(f"{field!r:.80}: no such field; {', '.join(_FIELDS)} are allowed")
        texts = {field: _read_sidecar_text(value, field) for field in _TEXTS}
        return SidecarRules(_read_sidecar_readers(value), **texts)
    except ValueError as error:
        raise ReadersUnknown(f"its {SIDECAR}: {error}") from None


def read_front_matter_rules(text: str) -> tuple[str, ...] | None:
    """Return the readers that front matter names, None where it names none."""
    front = read_front_matter(text)
    if front and (meant := list_meant_keys(skip_front_matter(text))):
        raise ReadersUnknown(f"behind its front matter: {meant[0]!r:.80}: readers are named in the first block alone")
    like = list_like_keys(front) if front else list_meant_keys(text)
    if not like and not ("\\" in front or "<<" in front):
        return None
    if not front or len(front) > MAX_BYTES:
        raise ReadersUnknown(_NOT_FRONT_MATTER)
    try:
        value = _read_sidecar_mapping(front)
        wrong = [name for name in list_nested_keys([*value.values()]) if is_like_readers(name)]
        named = [key for key in value if is_like_readers(key)]
        if len(named) > 1 and {key.lower() for key in named} == {READERS}:
            raise ValueError("readers: given twice")
        for key in (*wrong, *(key for key in named if key.lower() != READERS)):
            raise ValueError(f"{key!r:.80}: readers are named by the field readers, at the top")
        return _read_sidecar_readers({READERS: value[named[0]]} if named else {})
    except ValueError as error:
        if not like:
            return None
        raise ReadersUnknown(f"its front matter: {error}") from None


def read_page_readers(text: str) -> tuple[str, ...] | None:
    """Return the readers that a page names in front matter, None where it names none."""
    if list_like_metas(text):
        raise ReadersUnknown(f"its <meta>: readers stand in front matter or in a {SIDECAR}")
    return read_front_matter_rules(text)


def read_field_list_readers(text: str) -> tuple[str, ...] | None:
    """Return the readers that the field list of reStructuredText names, None where it names none."""
    if not (like := list_like_fields(text)):
        return None
    try:
        named = read_rst_fields(text).get(READERS)
        if len(like) > 1 or named is None:
            raise ValueError(f"{like[-1]!r:.80}: readers are named once, by the field readers below the title")
        return _read_sidecar_readers(_read_sidecar_mapping(f"readers: {named}"))
    except ValueError as error:
        raise ReadersUnknown(f"its field list: {error}") from None


def narrow_document_readers(readers: tuple[str, ...], *said: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return who may read a document of those whom the rules name."""
    for own in said:
        if own is None or not readers:
            continue
        if added := list_readers_beyond(own, readers):
            why = f"a document adds no readers to those of its folder, {', '.join(readers) or 'nobody':.200}"
            raise ReadersUnknown(f"readers: {', '.join(added):.200}: {why}")
        readers = own
    return readers


def _read_sidecar_mapping(text: str) -> dict[str, Any]:
    try:
        value, _ = parse_yaml(text)
    except WrongText as error:
        where = "" if error.line is None else f"line {error.line}: "
        raise ValueError(f"{where}{error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"a mapping is required; given: {type(value).__name__}")
    return value


def _read_sidecar_text(value: Mapping[str, Any], field: str) -> str:
    given = value.get(field, "")
    if not isinstance(given, str) or find_json_problem(given) is not None:
        raise ValueError(f"{field}: a text is required; given: {given!r:.80}")
    return " ".join(given.split())


def _read_sidecar_readers(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "readers" not in value:
        return None
    try:
        return read_access_list(value["readers"])
    except ValueError as error:
        raise ValueError(f"readers: {error}") from None


PDF: Final = ".pdf"
_MAX_FILES: Final = 1_000_000
_SUFFIXES: Final = frozenset({*FORMATS, PDF, ".yaml", ".yml"})


class FolderEntry(NamedTuple):
    """A document of a folder."""

    file: FoundFile
    beside: FoundFile | None = None  # its sidecar
    wrong: str = ""  # why nobody can tell what its sidecar says; "" where that is known

    @property
    def shown(self) -> str:
        """Its path under the root."""
        return format_file_path(self.file.parts)

    @property
    def suffix(self) -> str:
        """How its name ends, in lower case: its format."""
        return Path(self.file.parts[-1]).suffix.lower()


class Folder(NamedTuple):
    """What is in a folder."""

    name: str  # its own, of the folder itself
    entries: list[FolderEntry]  # in the order of their paths
    rules: Rules
    left_out: list[LeftOut]
    failed: list[Failed]  # sidecars of no document
    unread: list[Unread]


def find_folder_documents(root: Path, readers: tuple[str, ...] | None) -> Folder:
    """Find the documents of a folder, and read its rules."""
    files, left_out, unread = find_folder_files(root, _SUFFIXES, max_files=_MAX_FILES, max_bytes=sys.maxsize)
    rules = read_folder_rules(files, [*left_out, *unread, *_list_folders_like_rules(root, files)], readers)
    named = [file for file in files if not is_like_rule_file(file.parts[-1]) and not _is_sidecar_name(file.parts[-1])]
    others = [file for file in named if splitext(file.parts[-1])[1].lower() in (".yaml", ".yml")]
    documents = [file for file in named if splitext(file.parts[-1])[1].lower() not in (".yaml", ".yml")]
    sidecars = _Sidecars(documents, files, [*left_out, *unread])
    kept = [item for item in left_out if not _is_sidecar_name(item.name)]
    kept += [LeftOut(format_file_path(file.parts), "another format") for file in others]
    entries = [_make_folder_entry(file, sidecars.of(file)) for file in documents]
    return Folder(name_root_folder(root), entries, rules, kept, sidecars.unused(), unread)


def _list_folders_like_rules(root: Path, files: Iterable[FoundFile]) -> Iterator[LeftOut]:
    """Yield folders in place of a rule, empty ones too: containers make them where a file to mount is missing."""
    folders = {file.parts[:size] for file in files for size in range(len(file.parts))}
    for parts in sorted((*folder, RULES) for folder in folders):
        if root.joinpath(*parts).is_dir():
            yield LeftOut(format_file_path(parts), "no regular file")


def _is_sidecar_name(name: str) -> bool:
    """Say whether a file may be meant as a sidecar."""
    return find_sidecar_stem(name.rpartition("/")[2]) is not None


class _Sidecars:
    """What may be sidecars, each with the documents that it says something of."""

    # Those are called as it says; else as it says but for what some file systems do not tell apart: capitals, and
    # whether an accent stands in its letter or behind it.

    def __init__(
        self, documents: Iterable[FoundFile], files: Iterable[FoundFile], not_read: Iterable[LeftOut | Unread]
    ) -> None:
        found = [(format_file_path(file.parts), file) for file in files if _is_sidecar_name(file.parts[-1])]
        self._found: list[tuple[str, FoundFile | LeftOut | Unread]] = [
            *found, *((item.name, item) for item in not_read if _is_sidecar_name(item.name)),
        ]  # fmt: skip
        self._by_name = defaultdict[str, list[FoundFile | LeftOut | Unread]](list)
        self._used = set[str]()
        exact = {name for file in documents for name in _list_sidecar_names(file)} if self._found else set()
        for name, item in self._found:
            folder, slash, own = name.rpartition("/")
            about = f"{folder}{slash}{find_sidecar_stem(own)}"
            self._by_name[about if about in exact else _find_names_alike(about)].append(item)

    def of(self, file: FoundFile) -> list[FoundFile | LeftOut | Unread]:
        """Return what may be the sidecar of a document."""
        if not self._found:
            return []
        alike = ((name, _find_names_alike(name)) for name in sorted(_list_sidecar_names(file)))
        names = dict.fromkeys(name for pair in alike for name in pair)
        self._used |= names.keys()
        return [item for name in names for item in self._by_name.get(name, ())]

    def unused(self) -> list[Failed]:
        """Return those that say something of no document, once all documents were asked for."""
        why = "no document stands beside it that it says something of"
        left = [item for name, items in self._by_name.items() if name not in self._used for item in items]
        return sorted(Failed(format_file_path(item.parts), why) for item in left if isinstance(item, FoundFile))


def _list_sidecar_names(file: FoundFile) -> set[str]:
    """Return how a sidecar of a document may begin."""
    return {format_file_path(file.parts), format_file_path((*file.parts[:-1], splitext(file.parts[-1])[0]))}


def _find_names_alike(name: str) -> str:
    return normalize("NFC", name).casefold()


def _make_folder_entry(file: FoundFile, beside: list[FoundFile | LeftOut | Unread]) -> FolderEntry:
    if not beside:
        return FolderEntry(file)
    if len(beside) > 1:
        return FolderEntry(file, wrong=f"one {SIDECAR} beside it is required; given: {len(beside)}")
    [item] = beside
    name = format_file_path(item.parts) if isinstance(item, FoundFile) else item.name
    if not name.lower().endswith(SIDECAR):
        return FolderEntry(file, wrong=f"{name}: what stands beside a document is named {SIDECAR}")
    if isinstance(item, Unread):
        return FolderEntry(file, wrong=f"its {SIDECAR}: {item.reason}")
    if isinstance(item, LeftOut):
        return FolderEntry(file, wrong=f"its {SIDECAR}: a file of its own is required; given: {item.reason}")
    return FolderEntry(file, item)
