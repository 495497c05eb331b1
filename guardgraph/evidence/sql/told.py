"""What a database's errors say, in one line without a statement, a value or a password."""

from __future__ import annotations

from guardgraph.evidence.sql.address import Address
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, StoreError

CHARS = 300
"""Characters of what a database says."""
NO_DATABASE = ("file is not a database", "file is encrypted")
BUSY = ("database is locked", "lock timeout", "LockNotAvailable")


def convert_database_error(error: BaseException, address: Address) -> BaseException:
    """Return the error that a caller gets; one that is none of a database stays what it is."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    if isinstance(error, GuardgraphError):
        return error
    driver = address.url.get_dialect().import_dbapi()
    if not isinstance(error, SQLAlchemyError | OSError | OverflowError | driver.Error):  # a number that SQLite has not
        return error
    line = _format_database_error(
        _get_database_message(error.orig if isinstance(error, DBAPIError) else error), address
    )
    if any(words in line for words in NO_DATABASE):
        made: GuardgraphError = ConfigurationError(f"{address.shown}: an SQLite database is required; {line}")
    elif any(words in line for words in BUSY):
        made = StoreError(f"{address.shown}: others kept it busy for as long as the timeout allows ({line})")
    else:
        made = StoreError(f"{address.shown}: {line}")
    made.__suppress_context__ = True
    return made


def _get_database_message(error: object) -> str:
    """Return what a database says first: behind that, PostgreSQL shows rows and statements."""
    return getattr(getattr(error, "diag", None), "message_primary", None) or str(error)


def _format_database_error(said: str, address: Address) -> str:
    line = " ".join(said.split())
    if address.url.password:  # no database repeats it, as far as anybody knows
        line = line.replace(str(address.url.password), "***")
    return line[:CHARS]
