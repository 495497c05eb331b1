"""Files that are written as a whole: whoever reads one finds all of what was there before, or all of what is now."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def replace_file(path: Path, text: str, rights: int | None = None) -> None:
    """Put a file in the place of another one; a link stays, and leads to what is written.

    Args:
        path: of the file; its folder is there.
        text: what stands in it, UTF-8.
        rights: who may do what with it; those of the file before when None.

    Raises:
        OSError: it cannot be written; the file before stays.
    """
    path = Path(os.path.realpath(path))
    if rights is None and path.exists():
        rights = path.stat().st_mode & 0o777
    made = path.with_name(f".{path.name[:80]}.{uuid4().hex}")
    try:
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if rights is None else rights)
        with open(handle, "w", encoding="utf-8", errors="replace", newline="") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(handle)
        if rights is not None:  # a umask may have taken some
            os.chmod(made, rights)
        os.replace(made, path)
    finally:
        with suppress(FileNotFoundError):
            made.unlink()  # it is still there where it did not become the file
