"""A small table as HTML, as notebooks show what is no page: every cell is only ever text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from guardgraph.plain.letters import escape_odd_letters


def format_html_table(caption: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table with a caption; None is an empty cell, and yes and no stand for truth values."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{_escape_text(_format_cell(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f"<table><caption>{_escape_text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _escape_text(text: str) -> str:
    return escape(escape_odd_letters(text))


def _format_cell(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, list | tuple):
        return ", ".join(map(str, cell))
    return "" if cell is None else str(cell)
