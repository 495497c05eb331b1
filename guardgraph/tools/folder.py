"""The files of a folder, and what of it is left out and why."""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

from guardgraph.plain.errors import ConfigurationError

LeftOutLink = Literal["link out of the folder", "link to a folder", "link to a file already read", "broken link"]
LeftOutTarget = Literal["link to a hidden file", "link to another format"]
LeftOutReason = Literal["another format", "empty", "hidden", "no regular file"] | LeftOutLink | LeftOutTarget
"""An empty file has no text that a reader sees; what is no regular file is a pipe, a socket or a device."""


class LeftOut(NamedTuple):
    """A file, a link or a hidden folder that was not read."""

    name: str  # the path under the root
    reason: LeftOutReason


class Unread(NamedTuple):
    """A file or a folder that may not be read, or cannot."""

    name: str  # the path under the root
    reason: str  # what the system says


_NAMES: Final = 3  # so many names stand for all that were left out for one reason
_NAME_CHARS: Final = 60


def describe_left_out_files(left_out: Iterable[LeftOut]) -> str:
    """Return how many were left out for each reason, with their first names, on one line."""
    names = defaultdict[str, list[str]](list)
    for name, reason in left_out:
        names[reason].append(name)
    said = []
    for why, of in sorted(names.items()):
        shown = [name if len(name) <= _NAME_CHARS else f"{name[:_NAME_CHARS]}…" for name in of[:_NAMES]]
        said.append(f"{why}: {len(of)} ({', '.join(shown + ['…'] * (len(of) > _NAMES))})")
    return "; ".join(said)


def format_file_path(parts: Iterable[str]) -> str:
    """Return a path under the root as a text; bytes of it that are no UTF-8 are shown as U+FFFD."""
    return os.fsencode("/".join(parts)).decode("utf-8", "replace")


MAX_FILES: Final = 100_000
MAX_BYTES: Final = 100_000_000  # an index of so much takes about 2 GB of memory
MAX_LEVELS: Final = 100
"""Folders inside each other. Nobody writes so deep; a folder that a program nested may have no end."""

_NOWHERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""What the system says of a link that leads to nothing."""


class FoundFile(NamedTuple):
    """A file to read."""

    path: str  # where it is
    parts: tuple[str, ...]  # its path under the root, by which it is known
    size: int  # in bytes
    modified: int  # nanoseconds since 1970 at which it was last changed


class Walked(NamedTuple):
    """What is in a folder."""

    files: list[FoundFile]  # those to read, in the order of their paths
    left_out: list[LeftOut]
    unread: list[Unread]  # nobody knows what is in these folders, nor what these files are


def find_folder_files(
    root: Path, suffixes: Container[str], *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES
) -> Walked:
    """Walk a folder."""
    try:
        home = os.path.realpath(root, strict=True)
        walked = _walk_folder(root, home, suffixes, max_files)
    except ConfigurationError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"knowledge base folder {str(root)!r} cannot be read: {error}") from error
    total = sum(file.size for file in walked.files)
    if total > max_bytes:
        said = f"the files of knowledge base folder {str(root)!r} have {total} bytes"
        raise ConfigurationError(f"max_bytes: {said}; allowed: {max_bytes}")
    return walked._replace(files=sorted(walked.files, key=lambda file: file.parts))


def _walk_folder(root: Path, home: str, suffixes: Container[str], max_files: int) -> Walked:
    found, links = dict[str, FoundFile](), list[tuple[tuple[str, ...], str]]()
    walked = Walked([], [], [])
    for parts, entry in _list_folder_entries(root, home, max_files, walked.unread):
        try:
            place = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
            if reason := _find_left_out_reason(entry, home, place, suffixes):
                walked.left_out.append(LeftOut(format_file_path(parts), reason))
            elif entry.is_symlink():
                links.append((parts, place))
            else:
                status = entry.stat()
                found[place] = FoundFile(place, parts, status.st_size, status.st_mtime_ns)
        except OSError as error:
            walked.unread.append(_make_unread_file(parts, error))
    for parts, place in links:  # a file is known by its own name, under the rules of the folder that it stands in
        if place in found:
            walked.left_out.append(LeftOut(format_file_path(parts), "link to a file already read"))
        else:
            walked.unread.append(Unread(format_file_path(parts), "the file that it leads to cannot be read"))
    walked.files.extend(found.values())
    return walked


def _make_unread_file(parts: tuple[str, ...], error: OSError) -> Unread:
    return Unread(format_file_path(parts), f"cannot be read: {error.strerror or error}")


def _list_folder_entries(
    root: Path, home: str, max_files: int, unread: list[Unread]
) -> Iterator[tuple[tuple[str, ...], os.DirEntry[str]]]:
    """Yield what is in a folder and in the folders in it, except folders that are not hidden; links are not entered."""
    waiting: list[tuple[tuple[str, ...], str]] = [((), home)]
    seen = 0
    while waiting:
        parents, folder = waiting.pop()
        try:
            with os.scandir(folder) as scanned:
                found = [*islice(scanned, max_files + 1 - seen)]
                entries = [(each, not _is_hidden_file(each) and each.is_dir(follow_symlinks=False)) for each in found]
        except OSError as error:
            if not parents:
                raise
            unread.append(_make_unread_file(parents, error))
            continue
        seen += len(entries)
        if seen > max_files:
            said = f"knowledge base folder {str(root)!r} has more than {max_files} files and folders"
            raise ConfigurationError(f"max_files: {said}")
        for entry, is_folder in entries:
            parts = (*parents, entry.name)
            if not is_folder:
                yield parts, entry
            elif len(parts) > MAX_LEVELS:
                said = f"has more than {MAX_LEVELS} folders inside each other"
                raise ConfigurationError(f"knowledge base folder {str(root)!r} {said}")
            else:
                waiting.append((parts, entry.path))


def _is_hidden_file(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(".")


def _find_left_out_reason(
    entry: os.DirEntry[str], home: str, place: str, suffixes: Container[str]
) -> LeftOutReason | None:
    if _is_hidden_file(entry):
        return "hidden"
    if entry.is_symlink():
        if not Path(place).is_relative_to(home):
            return "link out of the folder" if os.path.exists(place) else "broken link"
        if _is_broken_link(place):
            return "broken link"
        if os.path.isdir(place):
            return "link to a folder"
        if any(part.startswith(".") for part in Path(place).relative_to(home).parts):
            return "link to a hidden file"
        if os.path.splitext(place)[1].lower() not in suffixes:
            return "link to another format"
    if not entry.is_file():
        return "no regular file"
    return None if os.path.splitext(entry.name)[1].lower() in suffixes else "another format"


def _is_broken_link(place: str) -> bool:
    try:
        os.stat(place)
    except OSError as error:
        if error.errno in _NOWHERE:
            return True
        raise
    return False


def name_root_folder(root: Path) -> str:
    """Return what a folder is called: the name that was given, a link's too; where that is none, as ``.``, its own."""
    return root.resolve().name if root.name in ("", "..") else root.name


def name_source_of_file(root: str, parts: tuple[str, ...]) -> str:
    """Return the source of a file: the first folder on its path under the root, else the root's own name."""
    return parts[0] if len(parts) > 1 else root


def find_file_name_problem(number: str, source: str) -> str | None:
    """Say why nothing could cite a file by its id, or list it by its source; None where both can be done."""
    for what, name in (("name", number), ("folder's name", source)):
        try:
            name.encode()
        except UnicodeError:
            return f"its {what} is not UTF-8"
        if name != name.strip():
            return f"its {what} begins or ends with a blank"
    return None
