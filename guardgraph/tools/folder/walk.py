"""Which files of a folder are read."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from guardgraph.state.errors import ConfigurationError
from guardgraph.tools.folder.left_out import LeftOut, LeftOutReason, shown_name

__all__ = ["MAX_BYTES", "MAX_FILES", "MAX_LEVELS", "FoundFile", "find_files", "name_problem", "source_of"]

MAX_FILES: Final = 100_000
MAX_BYTES: Final = 100_000_000
"""An index of so much takes about 2 GB of memory."""
MAX_LEVELS: Final = 100
"""Folders inside each other. Nobody writes so deep; a folder that a program nested may have no end."""


class FoundFile(NamedTuple):
    """A file to read."""

    path: str
    """Where it is, behind any link."""
    parts: tuple[str, ...]
    """Its path under the root, by which it is known."""
    size: int
    """In bytes."""
    modified: int
    """Nanoseconds since 1970 at which it was last changed."""


def find_files(
    root: Path, suffixes: Container[str], *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES
) -> tuple[list[FoundFile], list[LeftOut]]:
    """Return the files to read, in the order of their paths, and what is left out.

    Args:
        root: the folder.
        suffixes: how the names of files to read end, in lower case.
        max_files: the most files and folders, those that are left out too; what is in a hidden folder is not counted.
        max_bytes: the most bytes of all files to read.

    Raises:
        ConfigurationError: the folder cannot be read, or is above a limit.
    """
    try:
        home = os.path.realpath(root, strict=True)
        found, left_out = _find(root, home, suffixes, max_files)
    except ConfigurationError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"knowledge base folder {str(root)!r} cannot be read: {error}") from error
    total = sum(file.size for file in found)
    if total > max_bytes:
        raise ConfigurationError(
            f"max_bytes: the files of knowledge base folder {str(root)!r} have {total} bytes; allowed: {max_bytes}"
        )
    return sorted(found, key=lambda file: file.parts), left_out


def _find(root: Path, home: str, suffixes: Container[str], max_files: int) -> tuple[list[FoundFile], list[LeftOut]]:
    found, left_out, links = dict[str, FoundFile](), list[LeftOut](), list[tuple[tuple[str, ...], str]]()
    for parts, entry in _entries(root, home, max_files):
        place = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
        if reason := _reason_against(entry, home, place, suffixes):
            left_out.append(LeftOut(shown_name(parts), reason))
        elif entry.is_symlink():
            links.append((parts, place))
        else:
            found[place] = _file(place, parts, entry.stat())
    for parts, place in sorted(links):  # behind the files, since a file is known by its own name where it has one
        if place in found:
            left_out.append(LeftOut(shown_name(parts), "link to a file already read"))
        else:
            found[place] = _file(place, parts, os.stat(place))
    return list(found.values()), left_out


def _file(place: str, parts: tuple[str, ...], found: os.stat_result) -> FoundFile:
    return FoundFile(place, parts, found.st_size, found.st_mtime_ns)


def _entries(root: Path, home: str, max_files: int) -> Iterator[tuple[tuple[str, ...], os.DirEntry[str]]]:
    """Yield what is in a folder and in the folders in it, except folders that are not hidden; links are not entered."""
    waiting: list[tuple[tuple[str, ...], str]] = [((), home)]
    seen = 0
    while waiting:
        parents, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                seen += 1
                if seen > max_files:
                    raise ConfigurationError(
                        f"max_files: knowledge base folder {str(root)!r} has more than {max_files} files and folders"
                    )
                parts = (*parents, entry.name)
                if _is_hidden(entry) or not entry.is_dir(follow_symlinks=False):
                    yield parts, entry
                elif len(parts) > MAX_LEVELS:
                    raise ConfigurationError(
                        f"knowledge base folder {str(root)!r} has more than {MAX_LEVELS} folders inside each other"
                    )
                else:
                    waiting.append((parts, entry.path))


def _is_hidden(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(".")


def _reason_against(entry: os.DirEntry[str], home: str, place: str, suffixes: Container[str]) -> LeftOutReason | None:
    if _is_hidden(entry):
        return "hidden"
    if entry.is_symlink():
        if not os.path.exists(place):
            return "broken link"
        if not Path(place).is_relative_to(home):
            return "link out of the folder"
        if os.path.isdir(place):
            return "link to a folder"
    if not entry.is_file():
        return "no regular file"
    return None if os.path.splitext(entry.name)[1].lower() in suffixes else "another format"


def source_of(root: str, parts: tuple[str, ...]) -> str:
    """Return the source of a file: the first folder on its path under the root, else the root's own name."""
    return parts[0] if len(parts) > 1 else root


def name_problem(number: str, source: str) -> str | None:
    """Say why nothing could cite a file by its id, or list it by its source; None where both can be done."""
    for what, name in (("name", number), ("folder's name", source)):
        try:
            name.encode()
        except UnicodeError:
            return f"its {what} is not UTF-8"
        if name != name.strip():
            return f"its {what} begins or ends with a blank"
    return None
