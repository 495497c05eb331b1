"""What commands read: files, the ``.env`` of the current folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import guardgraph
from guardgraph.cli.shell import is_stderr_watched, print_on_stderr
from guardgraph.evidence.strict_json import MOST_BYTES, read_json_lines
from guardgraph.plain.errors import ConfigurationError, explain_unread_file
from guardgraph.plain.files import rewrite_file
from guardgraph.plain.json import MAX_DEPTH, RESULT_DEPTH, JsonObject, NotJson, find_json_problem, parse_json
from guardgraph.plain.urls import is_server_url

if TYPE_CHECKING:
    from guardgraph.state.context import Caller


def open_kb_option(kb: str) -> dict[str, Any]:
    """Return what the agent's factory is given for ``--kb``: a folder that was read, or an index that is there."""
    if is_server_url(kb) or os.path.isfile(check_path_option("--kb", kb)):
        return {"knowledge_base": kb}
    with show_progress_bar() as progress:
        documents = guardgraph.load_folder(kb, progress=progress)
        retriever = guardgraph.LexicalRetriever(documents)
    if left_out := documents.describe_left_out():
        print_on_stderr(f"left out of {kb}: {left_out}")
    return {"retriever": retriever}


@contextmanager
def show_progress_bar() -> Iterator[Callable[[int, int], object] | None]:
    """Show a bar while a folder is read and indexed, if somebody looks at stderr; it is gone afterwards."""
    if not is_stderr_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        reading = bar.add_task("Reading", total=None)
        indexing = bar.add_task("Indexing", total=None, visible=False)

        def update_progress_bar(read: int, total: int) -> None:
            bar.update(reading, completed=read, total=total)
            bar.update(indexing, visible=read == total)

        yield update_progress_bar


@contextmanager
def show_run_counter() -> Iterator[Callable[[int], object] | None]:
    """Show how many runs are judged, if somebody looks at stderr; it is gone afterwards."""
    if not is_stderr_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Judging"), BarColumn(), TextColumn("{task.completed:.0f} runs"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        judging = bar.add_task("", total=None)  # how many there are, nobody counts before they are read
        yield lambda judged: bar.update(judging, completed=judged)


DOCUMENT_DEPTH = RESULT_DEPTH + 8
"""Levels of nesting of a file with a run's result, or with a document of the run, in which the result stands."""


def load_dotenv_file() -> None:
    """Read the ``.env`` of the current folder, if there is one; what the environment already has, wins."""
    from dotenv import load_dotenv

    try:
        load_dotenv(".env")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f".env in the current folder cannot be read: {error}") from error


def check_path_option(option: str, path: str) -> str:
    """Return the path that an option or an argument names."""
    if not path.strip() or "\0" in path:
        raise ConfigurationError(f"{option}: a path is required; given: {path!r:.200}")
    return path


def require_file_option(option: str, path: str, kind: str = "file") -> str:
    """Return the path of a file, or of a folder, that is there: what is only read is not made."""
    try:
        place = Path(check_path_option(option, path))
        found = place.is_dir() if kind == "folder" else place.is_file()
    except OSError as error:
        raise ConfigurationError(f"{option} {path!r:.200}: cannot be read: {error.strerror}") from None
    if not found:
        there = "something else stands there" if Path(path).exists() else "there is none"
        raise ConfigurationError(f"{option} {path!r:.200}: a {kind} is required; {there}")
    return path


def parse_caller_options(tenant: str | None, user: str | None, groups: list[str] | None) -> Caller | None:
    """Return who asks, None where nothing is said of them."""
    if tenant is None and user is None and not groups:
        return None
    for option, name in (("--tenant", tenant), ("--user", user), *(("--group", group) for group in groups or ())):
        if name is not None and (not name.strip() or find_json_problem(name) is not None):
            raise ConfigurationError(f"{option}: a name that is not blank is required; given: {name!r:.80}")
    from guardgraph.state.context import Caller  # loads Pydantic, for which help need not wait

    return Caller(tenant=tenant, user=user, groups=tuple(groups or ()))


def load_history_option(file: str) -> list[JsonObject]:
    """Return the turns of a conversation, a JSON object ``{role, content}`` in each line of a file."""
    from guardgraph.guards.stop import Stop, parse_history_turn  # for which help need not wait

    turns = list[JsonObject]()
    for place, turn in read_json_lines("--history", file):
        try:
            turns.append({**parse_history_turn(place, turn)})
        except Stop as stop:
            wrong = stop.evidence["details"]
            said = f"{wrong['allowed']} is required; given: {wrong['given']}"
            raise ConfigurationError(f"{wrong['field']}: {said}") from None
    return turns


def read_json_option(option: str, file: str, levels: int = MAX_DEPTH) -> JsonObject:
    """Return the JSON object in the file that an option names; ``-`` is the standard input."""
    try:
        value = parse_json(read_option_bytes(option, file, MOST_BYTES).decode("utf-8-sig"), levels, keys_once=True)
    except NotJson as error:
        raise ConfigurationError(f"{option} {file!r:.200}: not JSON: {error}") from error
    except UnicodeError as error:
        raise ConfigurationError(f"{option} {file!r:.200}: {explain_unread_file(error)}") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f"{option} {file!r:.200}: a JSON object is required; given: {type(value).__name__}")
    return value


def read_option_bytes(option: str, file: str, most: int) -> bytes:
    """Return what is in the file that an option names; ``-`` is the standard input."""
    try:
        # sys.stdin is None where nothing is connected
        with Path(file).open("rb") if file != "-" else open(0, "rb", closefd=False) as opened:
            found = opened.read(most + 1)
    except (OSError, ValueError) as error:  # a name may hold what no file system knows
        raise ConfigurationError(f"{option} {file!r:.200}: {explain_unread_file(error)}") from error
    if len(found) > most:
        raise ConfigurationError(f"{option} {file!r:.200}: at most {most} bytes are allowed; given: more")
    return found


@contextmanager
def name_unwritten_file(option: str, file: str) -> Iterator[None]:
    """Say which option names the file that cannot be written."""
    try:
        yield
    except ConfigurationError:
        raise
    except OSError as error:
        raise ConfigurationError(f"{option} {file!r:.200}: cannot be written: {error.strerror}") from error
    except ValueError as error:  # a name may hold what no file system knows
        raise ConfigurationError(f"{option} {file!r:.200}: cannot be written: {error}") from error


def write_option_file(option: str, file: str, content: str | bytes) -> None:
    """Write the file that an option names, as a whole."""
    with name_unwritten_file(option, file):
        rewrite_file(file, content)
