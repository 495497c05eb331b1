"""Stdout for a person: colours on a terminal, plain text elsewhere; every text is made safe, none is markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from guardgraph.cli.safe_text import plain

__all__ = ["Part", "Screen"]

Part = str | tuple[str, str]
"""A piece of text, or one with a style."""

WIDTHS = (20, 120)
"""Columns: narrower ones are left to the terminal to break, wider ones are hard to read."""
LABEL = 10
"""Columns of a label."""


class Screen:
    """Where a command prints."""

    def __init__(self) -> None:
        self._console = _Console(markup=False, emoji=False, highlight=False)
        least, most = WIDTHS
        self._console.width = min(max(self._console.width, least), most)

    def heading(self, title: str) -> None:
        """Begin a part of the output."""
        self._console.print()
        self.show((title, "bold"), indent=0)

    def show(self, *parts: Part, indent: int = 2, hang: int = 0) -> None:
        """Print parts as one text.

        Args:
            parts: pieces of text.
            indent: columns before every line.
            hang: further columns before every line but the first.
        """
        whole = Text.assemble(*map(_safe, parts))
        for number, line in enumerate(whole.wrap(self._console, self._console.width - indent - hang)):
            line.rstrip()
            margin = indent + (hang if number else 0)
            self._console.print(Text(" " * margin) + line, soft_wrap=True)

    def labelled(self, label: str, *parts: Part) -> None:
        """Print parts behind a label."""
        self.show((f"{label:<{LABEL}} ", "dim"), *parts, hang=LABEL + 1 if self._console.width > 3 * LABEL else 2)

    def table(self, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
        """Print a table whose cells break where they must."""
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 1, 0))
        for name in columns:
            table.add_column(name, overflow="fold", ratio=1)
        for row in rows:
            table.add_row(*(Text(plain(cell)) for cell in row))
        self._console.print(table)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the error to the shell; rich would end the process without a word."""
        raise BrokenPipeError


def _safe(part: Part) -> Part:
    return plain(part) if isinstance(part, str) else (plain(part[0]), part[1])
