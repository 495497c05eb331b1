"""What was read, as a WARC file: every answer of a server as it came, without what says who asked."""

# Source of the format: ISO 28500 (https://iipc.github.io/warc-specifications/). It is written and read by warcio, of
# guardgraph's extra `warc`.

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from errno import ENOSPC
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.secrets import mask_secrets
from guardgraph.web.transport import ASKED_AT

ENDINGS: Final = (".warc", ".warc.gz")
"""How the names of such files end."""

KEPT_HEADERS: Final = (
    *("age", "cache-control", "content-disposition", "content-language", "content-type", "date", "etag", "expires"),
    *("last-modified", "link", "location", "server", "vary"),
)
"""Headers of an answer that are kept. Cookies, authorization and what else may name the one who asked are not."""


class KeptAnswer(NamedTuple):
    """An answer of a server, as a WARC file has it."""

    url: str
    status: int
    content_type: str
    body: bytes


def is_warc_name(name: str | os.PathLike[str]) -> bool:
    """Say whether a file is a WARC file by its name."""
    return os.fspath(name).lower().endswith(ENDINGS)


class WarcFile:
    """A WARC file to which answers are added, from any thread; each stands in it as a whole, or not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import_warcio()
        self._path = Path(path)
        self._lock = Lock()
        if not is_warc_name(path):
            raise ConfigurationError(
                f"evidence: a file that ends with .warc or .warc.gz is required; given: {path!r:.80}"
            )
        try:
            with self._path.open("ab") as file:
                if file.tell() == 0:
                    about = b"software: guardgraph\r\nformat: WARC File Format 1.1\r\n"
                    named = {"WARC-Filename": self._path.name}
                    self._write_record(file, "", "warcinfo", about, warc_headers_dict=named)
        except OSError as error:
            raise ConfigurationError(f"evidence: {path!r:.200} cannot be written: {error.strerror}") from error

    def add_answer(self, url: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Add an answer."""
        from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]

        kept = [(name.title(), mask_secrets(headers[name])) for name in KEPT_HEADERS if name in headers]
        kept.append(("Content-Length", str(len(body))))
        http = StatusAndHeaders(f"{status} {_find_status_phrase(status)}".strip(), kept, protocol="HTTP/1.1")
        dated = {"WARC-Date": headers[ASKED_AT].replace("+00:00", "Z")} if ASKED_AT in headers else {}
        packed = BytesIO()
        self._write_record(packed, mask_secrets(url), "response", body, http_headers=http, warc_headers_dict=dated)
        with self._lock, self._path.open("ab", buffering=0) as file:
            begins = file.seek(0, os.SEEK_END)
            if file.write(packed.getbuffer()) != packed.tell():
                file.truncate(begins)  # or nobody could read what comes behind it
                raise OSError(ENOSPC, "there is no room for the whole answer")

    def _write_record(self, file: Any, url: str, kind: str, payload: bytes, **given: Any) -> None:
        from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

        writer = WARCWriter(file, gzip=self._path.name.lower().endswith(".gz"), warc_version="1.1")
        # With its length, or warcio leaves a temporary file open.
        record = writer.create_warc_record(url, kind, payload=BytesIO(payload), length=len(payload), **given)
        writer.write_record(record)


def iterate_kept_answers(path: str | os.PathLike[str]) -> Iterator[KeptAnswer]:
    """Yield the answers of a WARC file."""
    import_warcio()
    from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]
    from warcio.exceptions import ArchiveLoadFailed  # type: ignore[import-untyped]

    try:
        with Path(path).open("rb") as file:
            for record in ArchiveIterator(file):
                http = record.http_headers
                if record.rec_type == "response" and http is not None:
                    url = record.rec_headers.get_header("WARC-Target-URI") or ""
                    status = int(code) if (code := http.get_statuscode()).isascii() and code.isdigit() else 0
                    kind = http.get_header("Content-Type") or ""
                    yield KeptAnswer(url, status, kind, record.content_stream().read())
    except (OSError, ArchiveLoadFailed) as error:
        raise ReadFailure("not_kept", {"cause": str(error)[:200]}) from error


def import_warcio() -> None:
    """Raise a `ConfigurationError` where warcio is not installed."""
    try:
        import warcio  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(f"evidence: {explain_extra('warc')} ({error})") from error


def _find_status_phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
