"""How a command ends: whatever it raises becomes one line on stderr and an exit code. Texts are made safe to show."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TextIO

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.containers import Lines
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from guardgraph.plain.errors import GuardgraphError
from guardgraph.plain.json import name_json_numbers
from guardgraph.plain.letters import escape_letter, is_harmless_text, is_odd_letter


def escape_for_terminal(text: str) -> str:
    r"""Return a text in which whatever could steer a terminal, or hide, stands as its escape, such as ``\x1b``."""
    # Line ends stay; other white space becomes blanks.
    if is_harmless_text(text):
        return text
    shown = ""
    for letter in text:
        if letter.isspace():
            shown += letter if letter == "\n" else " "
        else:
            shown += escape_letter(letter) if is_odd_letter(letter) else letter
    return shown


def escape_to_one_line(text: str) -> str:
    """Return a text like `escape_for_terminal`, on one line; what stood on several is parted by semicolons."""
    return escape_for_terminal("; ".join(line for line in text.splitlines() if line.strip()))


def count_things(count: int, name: str) -> str:
    """Return a number of things."""
    return f"{count} {name}{'' if count == 1 else 's'}"


HELP: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
"""How every command shows its help: as wide as the terminal, up to the width of what runs print."""

OK = 0
CONFIGURATION = 2  # wrong usage or configuration; typer's own usage errors have it too
STOPPED = 3
WAITING = 4  # a run waits for a person
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
UNREAD = 141  # 128 + SIGPIPE: the reader of the output went away


def make_command_group(about: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=about, context_settings=HELP)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(name_json_numbers(document), indent=2, allow_nan=False), flush=True)


def exit_with_status(ok: bool) -> NoReturn:
    """Exit as something turned out that is either well or not."""
    raise typer.Exit(OK if ok else STOPPED)


class Shell(TyperGroup):
    """The group of all commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the command; help and version are printed here."""
        with _print_error_and_exit():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _print_error_and_exit():
            return super().invoke(ctx)


@contextmanager
def _print_error_and_exit() -> Iterator[None]:
    try:
        yield
    except GuardgraphError as error:
        _exit_with_error(str(error), CONFIGURATION)
    except BrokenPipeError:
        _silence_output_stream(sys.stdout)
        raise typer.Exit(UNREAD) from None  # as any command does before `| head`, without a word
    except OSError as error:  # a name that no system call takes, where nobody thought of one; else the output
        if error.filename is not None:
            _exit_with_error(f"{error.filename!r:.200}: {error.strerror}", CONFIGURATION)
        _silence_output_stream(sys.stdout)
        _exit_with_error(f"the output cannot be written: {error}", CONFIGURATION)
    except KeyboardInterrupt:
        _exit_with_error("interrupted", INTERRUPTED)


def is_stderr_watched() -> bool:
    """Say whether somebody looks at stderr: it is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_on_stderr(message: str) -> None:
    """Print one line on stderr, if there is one."""
    if sys.stderr is None:
        return  # print would take stdout in its place
    try:
        print(f"guardgraph: {escape_to_one_line(message)}", file=sys.stderr, flush=True)
    except OSError:
        _silence_output_stream(sys.stderr)


def _exit_with_error(message: str, code: int) -> NoReturn:
    print_on_stderr(message)
    raise typer.Exit(code)


def _silence_output_stream(stream: TextIO) -> None:
    """Lead a stream nowhere, so that Python does not fail once more when it flushes it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


Part = str | tuple[str, str]  # a piece of text, or one with a style

WIDTHS = (20, 120)  # columns: narrower ones are left to the terminal to break, wider ones are hard to read
LEAST_COLUMN = 24  # columns that a second column has at least
LABEL = 10  # columns of a label


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
            self._print_screen_line(line, indent + (hang if number else 0))

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
            self._print_screen_line(head + line, indent)
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

    def _print_screen_line(self, line: Text, indent: int) -> None:
        line.rstrip()
        self._console.print(Text(" " * indent) + line, soft_wrap=True)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the error to the shell; rich would end the process without a word."""
        raise BrokenPipeError


def _escape_part(part: Part) -> Part:
    return escape_for_terminal(part) if isinstance(part, str) else (escape_for_terminal(part[0]), part[1])
