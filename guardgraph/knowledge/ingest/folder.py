"""A folder as it is found: its documents, what says who may read them, and what is left out."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from os.path import splitext
from pathlib import Path
from typing import Final, NamedTuple

from guardgraph.knowledge.ingest.report import Failed
from guardgraph.knowledge.ingest.rules import Rules, is_rule, rules_of
from guardgraph.knowledge.ingest.sidecar import SIDECAR
from guardgraph.tools.folder.formats import FORMATS
from guardgraph.tools.folder.left_out import LeftOut, shown_name
from guardgraph.tools.folder.walk import FoundFile, find_files

__all__ = ["PDF", "Entry", "Folder", "find_documents"]

PDF: Final = ".pdf"
_MAX_FILES: Final = 1_000_000
_BESIDE: Final = (SIDECAR, ".meta.yml")
"""The second is no sidecar, but whoever made one meant it as one."""
_SUFFIXES: Final = frozenset({*FORMATS, PDF, ".yaml", ".yml"})


class Entry(NamedTuple):
    """A document of a folder."""

    file: FoundFile
    beside: FoundFile | None = None
    """Its sidecar."""
    wrong: str = ""
    """Why nobody can tell what its sidecar says; "" where that is known."""

    @property
    def shown(self) -> str:
        """Its path under the root."""
        return shown_name(self.file.parts)

    @property
    def suffix(self) -> str:
        """How its name ends, in lower case: its format."""
        return Path(self.file.parts[-1]).suffix.lower()


class Folder(NamedTuple):
    """What is in a folder."""

    name: str
    """Its own, of the folder itself."""
    entries: list[Entry]
    """In the order of their paths."""
    rules: Rules
    left_out: list[LeftOut]
    failed: list[Failed]
    """Sidecars of no document."""


def find_documents(root: Path, readers: tuple[str, ...] | None) -> Folder:
    """Find the documents of a folder, and read its rules.

    Args:
        root: the folder.
        readers: who may read all of it at most; None where its rules alone say it.

    Raises:
        ConfigurationError: the folder cannot be read, or a rule is wrong.
    """
    files, left_out = find_files(root, _SUFFIXES, max_files=_MAX_FILES, max_bytes=sys.maxsize)
    rules = rules_of((file for file in files if is_rule(file.parts[-1])), left_out, readers)
    beside = _beside(files, left_out)
    entries, used = list[Entry](), set[str]()
    for file in files:
        name = file.parts[-1]
        if is_rule(name) or _is_beside(name):
            continue
        stem, suffix = splitext(name)
        if suffix.lower() in (".yaml", ".yml"):
            left_out.append(LeftOut(shown_name(file.parts), "another format"))
            continue
        names = {shown_name(file.parts), shown_name((*file.parts[:-1], stem))} if beside else set[str]()
        used |= names
        entries.append(_entry(file, [item for name in sorted(names) for item in beside.get(name, ())]))
    failed = [
        Failed(shown_name(item.parts), "no document stands beside it that it says something of")
        for name, items in beside.items()
        for item in items
        if name not in used and isinstance(item, FoundFile)
    ]
    kept = [item for item in left_out if not _is_beside(item.name)]
    return Folder(root.resolve().name, entries, rules, kept, sorted(failed))


def _is_beside(name: str) -> bool:
    return name.lower().endswith(_BESIDE)


def _beside(files: Iterable[FoundFile], left_out: Iterable[LeftOut]) -> dict[str, list[FoundFile | LeftOut]]:
    """Return what may be a sidecar, by the path of what it says something of."""
    found = defaultdict[str, list[FoundFile | LeftOut]](list)
    for file in files:
        if _is_beside(file.parts[-1]):
            found[_about(shown_name(file.parts))].append(file)
    for item in left_out:
        if _is_beside(item.name):
            found[_about(item.name)].append(item)
    return found


def _about(name: str) -> str:
    return name[: name.lower().rindex(".meta.")]


def _entry(file: FoundFile, beside: list[FoundFile | LeftOut]) -> Entry:
    if not beside:
        return Entry(file)
    if len(beside) > 1:
        return Entry(file, wrong=f"one {SIDECAR} beside it is required; given: {len(beside)}")
    [item] = beside
    if isinstance(item, LeftOut):
        return Entry(file, wrong=f"its {SIDECAR}: a file of its own is required; given: {item.reason}")
    if not item.parts[-1].lower().endswith(SIDECAR):
        return Entry(file, wrong=f"{shown_name(item.parts)}: what stands beside a document is named {SIDECAR}")
    return Entry(file, item)
