"""A folder as it is found: its documents, what says who may read them, and what is left out."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from os.path import splitext
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

from guardgraph.formats.by_ending import FORMATS
from guardgraph.knowledge.ingest.collection import Failed
from guardgraph.knowledge.ingest.lookalikes import find_sidecar_stem, is_like_rule_file
from guardgraph.knowledge.ingest.rules import RULES, Rules, read_folder_rules
from guardgraph.knowledge.ingest.sidecar import SIDECAR
from guardgraph.tools.folder import FoundFile, LeftOut, Unread, find_folder_files, format_file_path, name_root_folder

PDF: Final = ".pdf"
_MAX_FILES: Final = 1_000_000
_SUFFIXES: Final = frozenset({*FORMATS, PDF, ".yaml", ".yml"})


class FolderEntry(NamedTuple):
    """A document of a folder."""

    file: FoundFile
    beside: FoundFile | None = None
    """Its sidecar."""
    wrong: str = ""
    """Why nobody can tell what its sidecar says; "" where that is known."""

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

    name: str
    """Its own, of the folder itself."""
    entries: list[FolderEntry]
    """In the order of their paths."""
    rules: Rules
    left_out: list[LeftOut]
    failed: list[Failed]
    """Sidecars of no document."""
    unread: list[Unread]


def find_folder_documents(root: Path, readers: tuple[str, ...] | None) -> Folder:
    """Find the documents of a folder, and read its rules."""
    files, left_out, unread = find_folder_files(root, _SUFFIXES, max_files=_MAX_FILES, max_bytes=sys.maxsize)
    rules = read_folder_rules(files, [*left_out, *unread, *_list_folders_like_rules(root, files)], readers)
    documents, others = _list_folder_documents(files)
    sidecars = _Sidecars(documents, files, [*left_out, *unread])
    kept = [item for item in left_out if not _is_sidecar_name(item.name)]
    return Folder(
        name=name_root_folder(root),
        entries=[_make_folder_entry(file, sidecars.of(file)) for file in documents],
        rules=rules,
        left_out=[*kept, *(LeftOut(format_file_path(file.parts), "another format") for file in others)],
        failed=sidecars.unused(),
        unread=unread,
    )


def _list_folders_like_rules(root: Path, files: Iterable[FoundFile]) -> Iterator[LeftOut]:
    """Yield folders in place of a rule, empty ones too: containers make them where a file to mount is missing."""
    folders = {file.parts[:size] for file in files for size in range(len(file.parts))}
    for parts in sorted((*folder, RULES) for folder in folders):
        if root.joinpath(*parts).is_dir():
            yield LeftOut(format_file_path(parts), "no regular file")


def _list_folder_documents(files: Iterable[FoundFile]) -> tuple[list[FoundFile], list[FoundFile]]:
    """Return the documents, and what is neither one nor says anything of one."""
    documents, others = list[FoundFile](), list[FoundFile]()
    for file in files:
        name = file.parts[-1]
        if not is_like_rule_file(name) and not _is_sidecar_name(name):
            (others if splitext(name)[1].lower() in (".yaml", ".yml") else documents).append(file)
    return documents, others


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
        names = dict.fromkeys(
            each for name in sorted(_list_sidecar_names(file)) for each in (name, _find_names_alike(name))
        )
        self._used |= names.keys()
        return [item for name in names for item in self._by_name.get(name, ())]

    def unused(self) -> list[Failed]:
        """Return those that say something of no document, once all documents were asked for."""
        return sorted(
            Failed(format_file_path(item.parts), "no document stands beside it that it says something of")
            for name, items in self._by_name.items()
            if name not in self._used
            for item in items
            if isinstance(item, FoundFile)
        )


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
