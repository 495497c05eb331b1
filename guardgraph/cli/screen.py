"""Stdout for a person: colours on a terminal, plain text elsewhere; every text is made safe, none is markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.containers import Lines
from rich.table import Table
from rich.text import Text

from guardgraph.cli.shell import escape_for_terminal

Part = str | tuple[str, str]
"""A piece of text, or one with a style."""

WIDTHS = (20, 120)
"""Columns: narrower ones are left to the terminal to break, wider ones are hard to read."""
LEAST_COLUMN = 24
"""Columns that a second column has at least."""
LABEL = 10
"""Columns of a label."""


class Screen:
    """Where a command prints."""

    def __init__(self) -> None:
        self._console = _Console(markup=False, emoji=False, highlight=False)
        least, most = WIDTHS
        self._console.width = min(max(self._console.width, least), most)

    def print_heading(self, title: str) -> None:
        """Begin a part of the output."""
        self._console.print()
        self.print_text((title, "bold"), indent=0)

    def print_text(self, *parts: Part, indent: int = 2, hang: int = 0) -> None:
        """Print parts as one text."""
        for number, line in enumerate(self._wrap_parts(parts, self._console.width - indent - hang)):
            self._print_line(line, indent + (hang if number else 0))

    def print_columns(self, first: Part, *rest: Part, at: int, indent: int = 2) -> None:
        """Print parts in a second column; on a narrow screen it stands under the first."""
        head = Text.assemble(_escape_part(first))
        at = max(at, head.cell_len + 1)
        if self._console.width - indent - at < LEAST_COLUMN:
            self.print_text(first, indent=indent)
            self.print_text(*rest, indent=indent + 4)
            return
        head.pad_right(at - head.cell_len)
        for line in self._wrap_parts(rest, self._console.width - indent - at):
            self._print_line(head + line, indent)
            head = Text(" " * at)

    def print_with_label(self, label: str, *parts: Part) -> None:
        """Print parts behind a label."""
        self.print_columns((label, "dim"), *parts, at=LABEL + 1)

    def print_table(self, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
        """Print a table whose cells break where they must."""
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 1, 0))
        for name in columns:
            table.add_column(name, overflow="fold", ratio=1)
        for row in rows:
            table.add_row(*(Text(escape_for_terminal(cell)) for cell in row))
        self._console.print(table)

    def _wrap_parts(self, parts: Iterable[Part], width: int) -> Lines:
        return Text.assemble(*map(_escape_part, parts)).wrap(self._console, max(width, 1))

    def _print_line(self, line: Text, indent: int) -> None:
        line.rstrip()
        self._console.print(Text(" " * indent) + line, soft_wrap=True)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the error to the shell; rich would end the process without a word."""
        raise BrokenPipeError


def _escape_part(part: Part) -> Part:
    return escape_for_terminal(part) if isinstance(part, str) else (escape_for_terminal(part[0]), part[1])
