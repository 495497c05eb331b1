"""Statements that are made and compiled once: to do so for every run would cost as much as the disk does."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, CursorResult
from sqlalchemy.sql.expression import ClauseElement

__all__ = ["Prepared"]


class Prepared:
    """A statement whose parameters are numbers and texts, given by name.

    Args:
        statement: an insert, or a query with `bindparam`.
        names: the columns that an insert gives values to.
    """

    def __init__(self, statement: ClauseElement, names: list[str] | None = None) -> None:
        self._statement = statement
        self._names = names
        self._compiled: dict[str, tuple[str, list[str] | None, dict[str, Any]]] = {}

    def run(self, connection: Connection, **values: Any) -> CursorResult[Any]:
        """Run it."""
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            made: Any = self._statement.compile(dialect=dialect, column_keys=self._names)
            self._compiled[dialect.name] = str(made), made.positiontup, made.params
        text, order, fixed = self._compiled[dialect.name]
        given = {**fixed, **values}
        return connection.exec_driver_sql(text, given if order is None else tuple(given[name] for name in order))
