"""The folder of ``--kb``, read with a bar on a terminal; what it left out is said on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import guardgraph
from guardgraph.cli import inputs
from guardgraph.cli.shell import note

if TYPE_CHECKING:
    from guardgraph.tools.lexical import LexicalRetriever

__all__ = ["folder_retriever"]


def folder_retriever(kb: str) -> LexicalRetriever:
    """Read a folder, say what of it was left out, and return what searches it.

    Raises:
        ConfigurationError: it cannot be a knowledge base; see `load_folder`.
    """
    with _bar() as progress:
        documents = guardgraph.load_folder(inputs.folder_named(kb), progress=progress)
        retriever = guardgraph.LexicalRetriever(documents)
    if left_out := documents.describe_left_out():
        note(f"left out of {kb}: {left_out}")
    return retriever


@contextmanager
def _bar() -> Iterator[Callable[[int, int], object] | None]:
    """Show a bar while a folder is read and indexed, if somebody looks at stderr; it is gone afterwards."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        reading = bar.add_task("Reading", total=None)
        indexing = bar.add_task("Indexing", total=None, visible=False)

        def show(read: int, total: int) -> None:
            bar.update(reading, completed=read, total=total)
            bar.update(indexing, visible=read == total)

        yield show
