"""How a command ends: whatever it raises becomes one line on stderr and an exit code. Texts are made safe to show."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from guardgraph.plain.errors import GuardgraphError
from guardgraph.plain.json import name_json_numbers
from guardgraph.plain.letters import escape_letter, is_harmless_text, is_odd_letter


def escape_for_terminal(text: str) -> str:
    r"""Return a text in which whatever could steer a terminal, or hide, stands as its escape, such as ``\x1b``."""
    # Line ends stay; other white space becomes blanks.
    return text if is_harmless_text(text) else "".join(map(_escape_terminal_letter, text))


def escape_to_one_line(text: str) -> str:
    """Return a text like `escape_for_terminal`, on one line; what stood on several is parted by semicolons."""
    return escape_for_terminal("; ".join(line for line in text.splitlines() if line.strip()))


def _escape_terminal_letter(letter: str) -> str:
    if letter.isspace():
        return letter if letter == "\n" else " "
    return escape_letter(letter) if is_odd_letter(letter) else letter


HELP: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
"""How every command shows its help: as wide as the terminal, up to the width of what runs print."""

OK = 0
CONFIGURATION = 2
"""Wrong usage or configuration; typer's own usage errors have it too."""
STOPPED = 3
WAITING = 4
"""A run waits for a person."""
INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
UNREAD = 141
"""128 + SIGPIPE: the reader of the output went away."""


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


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
    except OSError as error:  # whatever reads a file turns it into an error of ours
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
