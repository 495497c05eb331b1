"""Files that are written as a whole: whoever reads one finds all of what was there before, or all of what is now."""

from __future__ import annotations

import os
from contextlib import suppress
from errno import EACCES, EBUSY, EPERM, EROFS
from pathlib import Path
from uuid import uuid4


def rewrite_file(path: str | Path, content: str | bytes) -> None:
    """Write a file as `replace_file` does, but through a link, which stays: many may have it.

    What is no file, such as a pipe, and a file beside which none may be put, are written into.
    """
    file = Path(path)
    if file.is_file() or not file.exists():
        try:
            replace_file(Path(os.path.realpath(file)), content)
            return
        except OSError as error:
            if error.errno not in (EACCES, EPERM, EBUSY, EROFS):
                raise
    file.write_bytes(_encode_content(content))


def replace_file(path: Path, content: str | bytes, rights: int | None = None) -> None:
    """Put a file in the place of another one, or of a link; what that leads to stays.

    Args:
        path: of the file; its folder is there.
        content: what stands in it; a text as UTF-8.
        rights: who may do what with it; those of the file before when None.

    Raises:
        OSError: it cannot be written; the file before stays.
    """
    if rights is None and path.exists():
        rights = path.stat().st_mode & 0o777
    made = path.with_name(f".{uuid4().hex}")
    try:
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if rights is None else rights)
        with open(handle, "wb") as opened:
            opened.write(_encode_content(content))
            opened.flush()
            os.fsync(handle)
        if rights is not None:  # a umask may have taken some
            os.chmod(made, rights)
        os.replace(made, path)
    except OSError as error:  # which names a file beside this one, of which nobody has heard
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(FileNotFoundError):
            made.unlink()  # it is still there where it did not become the file


def _encode_content(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode(errors="replace")
