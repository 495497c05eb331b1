"""A small table as HTML, as notebooks show what is no page: every cell is only ever text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def format_html_table(caption: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table with a caption; None is an empty cell, and yes and no stand for truth values."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(_format_cell(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _format_cell(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, list | tuple):
        return ", ".join(map(str, cell))
    return "" if cell is None else str(cell)
