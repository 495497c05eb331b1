"""Entries of a result as a table, such as its timeline or its sources: what a notebook shows beside a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from guardgraph.plain.errors import InputError
from guardgraph.reporting.document import Html, make_tag

LEFT_OUT = "elapsed_ms"
"""The times: they differ from run to run."""


class Table:
    """Entries as rows. A notebook shows it."""

    def __init__(self, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
        self.columns = columns
        self.rows = rows

    @cached_property
    def html(self) -> str:
        """The table as HTML; whatever stands in an entry is only ever text."""
        lines = [_render_table_row("th", self.columns), *(_render_table_row("td", row) for row in self.rows)]
        return make_tag("table", lines)

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<Table: {len(self.rows)} rows of {', '.join(self.columns)}>"


def table(entries: Iterable[Mapping[str, Any]], *keys: str) -> Table:
    """Show entries of a result as a table, one row for each.

    Args:
        entries: what a result has lists of: its timeline, trace, history, sources or passages.
        keys: the first columns; all that an entry has beside them stands in the last one, but for the times, which
            differ from run to run.

    Raises:
        InputError: an entry is no dictionary.
    """
    return Table((*keys, "…"), tuple(_list_table_cells(entry, keys) for entry in entries))


def _list_table_cells(entry: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(entry, Mapping):
        raise InputError(f"entries: dictionaries are required; given: {type(entry).__name__}")
    rest = [f"{key}: {item}" for key, item in entry.items() if key not in (*keys, LEFT_OUT)]
    return (*(str(entry.get(key, "")) for key in keys), ", ".join(rest))


def _render_table_row(name: str, cells: Iterable[str]) -> Html:
    return make_tag("tr", (make_tag(name, cell, style="text-align: left") for cell in cells))
