"""What ``--kb`` names: a folder, read with a bar on a terminal and what it left out on stderr, an index, or its URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import guardgraph
from guardgraph.cli import inputs
from guardgraph.cli.shell import is_stderr_watched, print_on_stderr
from guardgraph.plain.files import is_server_url


def open_kb_option(kb: str) -> dict[str, Any]:
    """Return what the agent's factory is given for ``--kb``: a folder that was read, or an index that is there."""
    if is_server_url(kb) or os.path.isfile(inputs.check_path_option("--kb", kb)):
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
