"""Where a store is: the URL that a deployment gives, checked before anything is opened."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

if TYPE_CHECKING:
    from sqlalchemy import URL


ALLOWED = "sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/DATABASE"
DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
"""What a URL may begin with, and the driver that is meant."""


NEVER = "none"
"""As ``prepare_threshold``: no statement is prepared on the server."""


@dataclass(frozen=True, slots=True)
class Address:
    """A checked URL."""

    url: URL = field(repr=False)
    shown: str
    """The URL for messages: without a password, and without options, which may hold one."""
    file: Path | None
    """The file of an SQLite database; None for a server."""


def parse_store_address(given: object) -> Address:
    """Return where a store is. A relative file is taken from the current folder of this moment."""
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise ConfigurationError(f"sql_store: {explain_extra('audit')} ({error})") from error
    if not isinstance(given, str):
        raise ConfigurationError(f"url: a text, {ALLOWED}, is required; given: {type(given).__name__}")
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):  # whose messages repeat the URL, and with it a password
        raise ConfigurationError(f"url: {ALLOWED} is required; what was given is no URL") from None
    if (driver := DRIVERS.get(url.drivername)) is None:
        raise ConfigurationError(f"url: {ALLOWED} is required; given: one that begins with {url.drivername!r:.80}")
    if driver.startswith("sqlite"):
        url = _resolve_sqlite_file(url)
    elif not re.fullmatch(f"{NEVER}|[0-9]{{1,9}}", str(url.query.get("prepare_threshold", NEVER))):
        raise ConfigurationError(f"url: prepare_threshold: a whole number or {NEVER} is required")
    shown = url.set(query={}).render_as_string(hide_password=True)
    file = Path(url.database) if driver.startswith("sqlite") and url.database else None
    return Address(url.set(drivername=driver), shown, file)


def _resolve_sqlite_file(url: URL) -> URL:
    database = url.database or ""
    if url.host or url.query or database in ("", ":memory:") or database.startswith("file:") or "\0" in database:
        raise ConfigurationError("url: of SQLite, sqlite:///FILE is required: a file, and no options")
    return url.set(database=str(Path(database).absolute()))
