"""The server: connections that are opened when they are needed, and transactions that say for whom they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from guardgraph.knowledge.database import Connection, KnowledgeDatabase, find_words_problem
from guardgraph.knowledge.row_security import WRITER, check_database
from guardgraph.knowledge.scopes import make_caller_key, make_scope_key
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, StoreError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.urls import SERVER_URLS
from guardgraph.state.context import Caller

if TYPE_CHECKING:
    import psycopg

_TIMEOUT: Final = 60  # seconds for which a writer waits for others of its tenant
_CONNECT: Final = 10  # seconds in which a server answers, where the URL does not say it
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_WORDS: Final = "(SELECT value FROM guardgraph.state WHERE name = 'words')"
_WAIT: Final = f"SET LOCAL lock_timeout = '{_TIMEOUT}s'"
_FOUND_FIRST: Final = {"search_path": "guardgraph, pg_temp"}  # statements that both databases take name no schema
_ALL_WRITERS: Final = "7305437213966885"  # by this lock a rebuild waits for all writers, and they for it


class ServerConnection:
    """A connection of psycopg's that takes the statements of both databases."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """As `Connection.execute`."""
        return self._connection.execute(statement.replace("?", "%s"), values, binary=True)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """As `Connection.executemany`."""
        with self._connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s"), rows)

    def take_numbers(self, count: int) -> list[int]:
        """As `Connection.take_numbers`."""
        rows = self.execute("SELECT nextval('guardgraph.changes') FROM generate_series(1, ?)", [count])
        return [number for (number,) in rows]


class Server(KnowledgeDatabase):
    """A database of PostgreSQL. The server shows a connection what its transaction says for whom it is."""

    # All that is set is set for a transaction, so a pooler that hands connections out by transaction is no danger.

    def __init__(self, url: str) -> None:
        self._idle: list[tuple[int, psycopg.Connection[Any]]] = []
        try:
            from psycopg import Error
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            raise ConfigurationError(f"url: {explain_extra('postgres')} ({error})") from error
        if not isinstance(url, str) or not url.startswith(SERVER_URLS):
            raise ConfigurationError("url: postgresql://USER:PASSWORD@HOST/DATABASE is required")
        self._conninfo = "postgresql://" + url.partition("://")[2]
        try:
            told = conninfo_to_dict(self._conninfo)
        except Error:  # whose message repeats the URL, and with it a password
            required = "postgresql://USER:PASSWORD@HOST/DATABASE is required"
            raise ConfigurationError(f"url: {required}; what was given is no URL") from None
        self.shown = f"postgresql://{told.get('host', '')}/{told.get('dbname', '')}"
        """The URL for messages: without a password."""
        self._options: dict[str, Any] = {} if "connect_timeout" in told else {"connect_timeout": _CONNECT}
        self._was_there = False

    def __del__(self) -> None:
        self.close()

    def reading(self, caller: Caller | None) -> AbstractContextManager[ServerConnection]:
        """As `KnowledgeDatabase.reading`: nothing else is shown."""
        readers = "{}" if caller is None else _format_array(caller.readers)
        return self._run_server_transaction(_READ, {"tenant": f"={make_caller_key(caller)}", "readers": readers})

    def reading_tenant(self, tenant: str | None) -> AbstractContextManager[ServerConnection]:
        """As `KnowledgeDatabase.reading_tenant`."""
        return self._run_server_transaction(_READ, {"writes": f"={make_scope_key(tenant)}"})

    def reading_all(self) -> AbstractContextManager[ServerConnection]:
        """As `KnowledgeDatabase.reading_all`."""
        return self._run_server_transaction(_READ, {"checks": "all"})

    @contextmanager
    def writing(self, tenant: str | None) -> Iterator[ServerConnection]:
        """As `KnowledgeDatabase.writing`."""
        key = make_scope_key(tenant)
        with self._run_server_transaction(_WRITE, {"writes": f"={key}"}) as connection:
            connection.execute(_WAIT)
            own = "pg_advisory_xact_lock(hashtextextended(?, 7305437213966884))"
            connection.execute(f"SELECT pg_advisory_xact_lock_shared({_ALL_WRITERS}), {own}", [key])
            # Another version may have rebuilt all while this one waited.
            self._check_server_words(*connection.execute(f"SELECT {_WORDS}").fetchone() or [""])
            yield connection

    @contextmanager
    def rebuilding(self) -> Iterator[ServerConnection]:
        """As `KnowledgeDatabase.rebuilding`."""
        with self._run_server_transaction(_WRITE, {"checks": "all"}, any_words=True) as connection:
            self.require_writer(connection)
            connection.execute(_WAIT)
            connection.execute(f"SELECT pg_advisory_xact_lock({_ALL_WRITERS})")
            yield connection

    def write_for(self, connection: Connection, key: str) -> None:
        """As `KnowledgeDatabase.write_for`."""
        connection.execute("SELECT set_config('guardgraph.writes', ?, true)", [f"={key}"])

    def is_writer(self, connection: Connection) -> bool:
        """As `KnowledgeDatabase.is_writer`: whether the role is a member of the writers."""
        return bool(connection.execute("SELECT pg_has_role(current_user, ?, 'USAGE')", [WRITER]).fetchone() == (True,))

    @contextmanager
    def making(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield a connection of the owner, in a transaction; nothing is checked."""
        from psycopg.errors import InsufficientPrivilege

        with self._map_server_errors():
            connection = self._connect_server()
            try:
                with connection.transaction():
                    yield connection
            except InsufficientPrivilege as error:
                why = f"{_first_line(error)}; a role that may make schemas and roles is required"
                raise ConfigurationError(f"{self.shown}: {why}") from error
            finally:
                connection.close()

    def close(self) -> None:
        """As `KnowledgeDatabase.close`."""
        for connection in self._take_pooled_connection():
            connection.close()

    @contextmanager
    def _run_server_transaction(
        self, begin: str, settings: Mapping[str, str], *, any_words: bool = False
    ) -> Iterator[ServerConnection]:
        settings = {f"guardgraph.{name}": given for name, given in settings.items()} | _FOUND_FIRST
        with self._map_server_errors():
            connection = self._begin_server_transaction(begin)
            try:
                sets = ", ".join(["set_config(%s, %s, true)"] * len(settings))
                connection.execute(f"SELECT {sets}", [text for item in settings.items() for text in item])
                holds = ", ".join(["current_setting(%s, true)"] * len(settings))
                words, *seen = connection.execute(f"SELECT {_WORDS}, {holds}", [*settings]).fetchone() or ("",)
                if seen != [*settings.values()]:
                    raise ConfigurationError(
                        f"{self.shown}: what is set for a transaction does not hold in it: a pooler hands "
                        "connections out by statement; by transaction or by session is required"
                    )
                if not any_words:
                    self._check_server_words(words)
                yield ServerConnection(connection)
                connection.execute("COMMIT")
            finally:
                self._return_connection(connection)

    def _check_server_words(self, words: object) -> None:
        if (problem := find_words_problem(words)) is not None:
            advice = "`guardgraph kb rebuild URL` reads them again, as a writer"
            raise ConfigurationError(f"{self.shown}: {problem}; {advice}")

    def _begin_server_transaction(self, begin: str) -> psycopg.Connection[Any]:
        """Return a connection in a transaction: one that the server has closed meanwhile is none."""
        from psycopg import OperationalError

        for connection in self._take_pooled_connection():
            try:
                connection.execute(begin)
                return connection
            except OperationalError:
                connection.close()
        connection = self._connect_server()
        try:
            check_database(connection, self.shown)
            connection.execute(begin)
        except BaseException:
            connection.close()
            raise
        self._was_there = True
        return connection

    def _take_pooled_connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield connections of this process that are not in use; no other thread gets them."""
        with suppress(IndexError):
            while True:
                process, connection = self._idle.pop()
                if process == os.getpid():
                    yield connection

    def _connect_server(self) -> psycopg.Connection[Any]:
        import psycopg

        # Without prepared statements, a pooler may hand out another connection for each transaction.
        return psycopg.connect(
            self._conninfo, autocommit=True, prepare_threshold=None, client_encoding="utf8", **self._options
        )

    def _return_connection(self, connection: psycopg.Connection[Any]) -> None:
        from psycopg import Error
        from psycopg.pq import TransactionStatus

        try:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
            self._idle.append((os.getpid(), connection))
        except Error:
            connection.close()

    @contextmanager
    def _map_server_errors(self) -> Iterator[None]:
        import psycopg
        from psycopg import errors

        try:
            yield
        except GuardgraphError:
            raise
        except errors.ReadOnlySqlTransaction as error:
            raise ConfigurationError(f"{self.shown}: the server is read-only; nothing was written") from error
        except errors.InsufficientPrivilege as error:
            why = f"{_first_line(error)}; documents are changed by a member of {WRITER}"
            raise ConfigurationError(f"{self.shown}: {why}") from error
        except errors.LockNotAvailable as error:
            why = f"others have been writing for this tenant for {_TIMEOUT} seconds; this was not written"
            raise StoreError(f"{self.shown}: {why}: try again when they are done") from error
        except errors.ProtocolViolation as error:  # of a pooler, which speaks for the server
            why = f"{_first_line(error)}; a pooler by transaction or by session is required"
            raise ConfigurationError(f"{self.shown}: {why}") from error
        except psycopg.OperationalError as error:
            kind = StoreError if self._was_there else ConfigurationError
            raise kind(f"{self.shown}: the server cannot be reached, or ended: {_first_line(error)}") from None
        except psycopg.Error as error:
            raise StoreError(f"{self.shown}: {type(error).__name__}: {_first_line(error)}") from error
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # rows that nobody wrote so
            why = f"damaged ({type(error).__name__}); `guardgraph kb check` tells more"
            raise StoreError(f"{self.shown}: {why}") from error


def _format_array(texts: tuple[str, ...]) -> str:
    """Return texts as PostgreSQL writes an array of them."""
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in escaped) + "}"


def _first_line(error: Exception) -> str:
    return f"{(str(error).strip().splitlines() or [type(error).__name__])[0]:.200}"
