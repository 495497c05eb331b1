"""Children that wait for work: as many at once as there are cores, kept from one page to the next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import BoundedSemaphore
from time import monotonic
from typing import Final
from weakref import finalize

from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.extraction.answer import read_answer
from guardgraph.tools.extraction.child import Child
from guardgraph.tools.extraction.extracted import Extracted, ExtractionFailed, Kind

__all__ = ["MAX_CONTENT_BYTES", "MEMORY", "Pool", "extract"]

MEMORY: Final = 1 << 30
"""Bytes of address space that a child may have."""
MAX_CONTENT_BYTES: Final = 100_000_000
_MOST_CHILDREN: Final = 8
_ASKED: Final = 1_000
"""A child that was asked so often is replaced: what a parser does not give back is not kept for ever."""
_LIBRARIES: Final[dict[Kind, tuple[str, ...]]] = {
    "html": ("trafilatura", "selectolax"),
    "pdf": ("pypdf",),
    "text": ("charset_normalizer",),
}
_BYTES_PER_CHAR: Final = 12
"""Of an answer: two copies of a character, each as six letters of JSON at most."""
_BYTES_AROUND: Final = 100_000


class Pool:
    """Children that are started when they are needed. Threads may use it side by side.

    Args:
        children: how many there may be at once; None: one a core, and no more than eight.
        memory: bytes of address space that each may have.
    """

    def __init__(self, *, children: int | None = None, memory: int = MEMORY) -> None:
        self._free = BoundedSemaphore(children or min(os.cpu_count() or 1, _MOST_CHILDREN))
        self._memory = memory
        self._idle: list[Child] = []
        finalize(self, _end, self._idle, os.getpid())

    def extract(
        self, content: bytes, kind: Kind, *, charset: str | None = None, url: str = "", seconds: float, max_chars: int
    ) -> Extracted:
        """See the function `extract`."""
        _check(content, kind, max_chars)
        deadline = monotonic() + seconds
        question = {
            "kind": kind, "libraries": _LIBRARIES[kind], "charset": charset, "url": url, "seconds": seconds,
            "max_chars": max_chars,
        }  # fmt: skip
        most = max_chars * _BYTES_PER_CHAR + _BYTES_AROUND
        with self._child(deadline) as child:
            answer = read_answer(child.ask(json.dumps(question).encode(), content, most=most, deadline=deadline))
        if not isinstance(answer, Extracted):
            raise answer
        return answer

    def close(self) -> None:
        """End the children that wait. One that is at work ends with its work."""
        _end(self._idle, os.getpid())

    @contextmanager
    def _child(self, deadline: float) -> Iterator[Child]:
        """Lend a child, which waits for more work afterwards unless something went wrong."""
        if not self._free.acquire(timeout=max(0.0, deadline - monotonic())):
            raise ExtractionFailed("timeout", {"limit": "seconds"})
        child = None
        try:
            child = self._waiting() or Child(self._memory)
            yield child
            if child.asked < _ASKED:
                self._idle.append(child)
                child = None
        finally:
            if child is not None:
                child.close()
            self._free.release()

    def _waiting(self) -> Child | None:
        while True:
            try:
                child = self._idle.pop()
            except IndexError:
                return None
            if child.is_alive:
                return child
            child.close()


_POOLS: Final[dict[int, Pool]] = {}
"""By process: one that was forked from this one must not read from the pipes of this one's children."""


def extract(
    content: bytes, kind: Kind, *, charset: str | None = None, url: str = "", seconds: float, max_chars: int
) -> Extracted:
    """Return what a page or a file shows a reader. It is read in a child process, which is kept for the next one.

    Args:
        content: its bytes.
        kind: what they are; nothing is guessed.
        charset: the character encoding that the server named, if any.
        url: where a page is from; nothing is fetched from there.
        seconds: how long it may take, waiting for a child included; nothing is read where none are left.
        max_chars: how many characters its text may have.

    Raises:
        ConfigurationError: an argument is wrong, or a library is missing, which the extras `kb` and `web` install.
        ExtractionFailed: it could not be read, for one of `EXTRACTION_FAILURES`.
    """
    pool = _POOLS.get(os.getpid()) or _POOLS.setdefault(os.getpid(), Pool())
    return pool.extract(content, kind, charset=charset, url=url, seconds=seconds, max_chars=max_chars)


def _check(content: bytes, kind: Kind, max_chars: int) -> None:
    if kind not in _LIBRARIES:
        raise ConfigurationError(f"kind: {kind!r}; allowed: {', '.join(_LIBRARIES)}")
    if not max_chars > 0:
        raise ConfigurationError(f"max_chars: {max_chars!r}; allowed: a whole number above 0")
    if len(content) > MAX_CONTENT_BYTES:
        raise ExtractionFailed("too_large", {"limit": "content", "bytes": len(content), "allowed": MAX_CONTENT_BYTES})
    _require(kind)


def _require(kind: Kind) -> None:
    for library in _LIBRARIES[kind]:
        if find_spec(library) is None:
            raise ConfigurationError(
                f"{kind} content is read with {library}, which is not installed; "
                "pip install 'guardgraph[kb]' or 'guardgraph[web]'"
            )


def _end(idle: list[Child], owner: int) -> None:
    """End the children of a process, if it is this one."""
    while idle and os.getpid() == owner:
        idle.pop().close()
