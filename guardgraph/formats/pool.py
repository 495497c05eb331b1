"""Child processes in which pages and files are read: each is started, asked, and ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import Pipe
from pathlib import Path
from threading import TIMEOUT_MAX, BoundedSemaphore, Timer
from time import monotonic
from typing import Final
from weakref import finalize

from guardgraph.formats.extraction import OUT_OF_MEMORY, Extracted, ExtractionFailed, Kind, read_child_answer
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

_LIBRARIES: Final = (
    "guardgraph", "trafilatura", "lxml", "selectolax", "tinycss2", "webencodings", "charset_normalizer", "pypdfium2",
    "pypdfium2_raw", "pypdf",
)  # fmt: skip
FIND_LIBRARIES: Final = (
    "import sys; at = next((at for at, path in enumerate(sys.path) if path.endswith('-packages')), len(sys.path)); "
    "sys.path[at:at] = sys.argv[2:]; "
)
"""Makes a child load what its parent loads: not another version that is installed, and no library for Python's own."""
_BOOT: Final = "from guardgraph.formats.worker import main; main(int(sys.argv[1]))"


class Child:
    """A process of this Python that reads one content after another. One thread at a time may ask it."""

    # It is started in isolated mode with no environment in the root directory, so that neither the working directory
    # nor the environment can put another module in a library's place.

    def __init__(self, memory: int) -> None:
        if os.name != "posix":
            raise ConfigurationError(f"os.name: {os.name!r}; pages are read within limits that posix systems have")
        if not sys.executable:
            raise ConfigurationError("sys.executable is empty; pages are read in a process of this Python")
        boot = FIND_LIBRARIES + _BOOT
        self._pipe, theirs = Pipe()  # of bytes alone: nothing that is read can run code
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "utf8", "-c", boot, str(memory), *list_library_paths(_LIBRARIES)],
                stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", env={},
                start_new_session=True,  # a terminal's Ctrl-C is the library's affair
            )  # fmt: skip
        self.asked = 0  # how often it was asked

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def ask(self, head: bytes, content: bytes, *, most: int, deadline: float) -> bytes:
        """Return the answer to a question. After any exception the child cannot be asked again."""
        self.asked += 1
        seconds = min(deadline - monotonic(), TIMEOUT_MAX)
        ending = Timer(seconds, self._process.kill)  # it reads and answers at once, or not at all
        ending.start()
        try:
            self._pipe.send_bytes(head)
            self._pipe.send_bytes(content)
            return self._pipe.recv_bytes(most)
        except (EOFError, OSError) as error:
            if monotonic() >= deadline:
                raise TimeoutError from None
            if isinstance(error, EOFError | ConnectionError):
                raise self._explain_child_death() from None
            raise ExtractionFailed("too_large", {"limit": "max_chars"}) from None
        finally:
            ending.cancel()

    def _explain_child_death(self) -> ExtractionFailed:
        try:
            code = self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:  # whoever closed the pipe and goes on is of no use
            self._process.kill()
            return ExtractionFailed("crashed", {"signal": -self._process.wait()})
        if code == OUT_OF_MEMORY:
            return ExtractionFailed("too_large", {"limit": "memory"})
        if code == -signal.SIGXCPU:
            return ExtractionFailed("timeout", {"limit": "seconds"})
        if code in _KILLED:
            return ExtractionFailed("killed", {"signal": -code})
        return ExtractionFailed("crashed", {"signal": -code} if code < 0 else {"exit_code": code})


_KILLED: Final = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
"""How a child ends that another process ended, or a kernel without memory: that says nothing of what it read."""
_LAST_SECONDS: Final = 5.0  # in which a child that closed its pipe has to be gone


def list_library_paths(names: Iterable[str]) -> list[str]:
    """Return the folders that libraries are in, for a child that would not find them by itself."""
    specs = [find_spec(name) for name in names]
    places = (place for spec in specs if spec for place in spec.submodule_search_locations or ())
    return list(dict.fromkeys(str(Path(place).resolve().parent) for place in places))


MEMORY: Final = 1 << 30  # bytes of address space that a child may have
MAX_CONTENT_BYTES: Final = 100_000_000
_MOST_CHILDREN: Final = 8
_ASKED: Final = 1_000
"""A child that was asked so often is replaced: what a parser does not give back is not kept for ever."""
_LIBRARIES_FOR: Final[dict[Kind, tuple[str, ...]]] = {
    "html": ("trafilatura", "selectolax"),
    "pdf": ("pypdfium2", "pypdf"),
    "text": ("charset_normalizer",),
}
_BYTES_PER_CHAR: Final = 12  # of an answer: two copies of a character, each as six letters of JSON at most
_BYTES_AROUND: Final = 100_000


class Pool:
    """Children that are started when they are needed. Threads may use it side by side."""

    def __init__(self, *, children: int | None = None, memory: int = MEMORY) -> None:
        self._memory = memory
        self._free = BoundedSemaphore(children or min(os.cpu_count() or 1, _MOST_CHILDREN))
        self._idle: list[Child] = []
        finalize(self, _end_children, self._idle, os.getpid())

    def close(self) -> None:
        """End the processes that wait. One that is at work ends with its work."""
        _end_children(self._idle, os.getpid())

    def extract(
        self, content: bytes, kind: Kind, *, charset: str | None = None, url: str = "", seconds: float, max_chars: int
    ) -> Extracted:
        """See the function `extract`."""
        if kind not in _LIBRARIES_FOR:
            raise ConfigurationError(f"kind: {kind!r}; allowed: {', '.join(_LIBRARIES_FOR)}")
        if not max_chars > 0:
            raise ConfigurationError(f"max_chars: {max_chars!r}; allowed: a whole number above 0")
        if (size := len(content)) > MAX_CONTENT_BYTES:
            raise ExtractionFailed("too_large", {"limit": "content", "bytes": size, "allowed": MAX_CONTENT_BYTES})
        for library in (name for name in _LIBRARIES_FOR[kind] if find_spec(name) is None):
            missing = f"{library}, which is not installed; {explain_extra('kb')}"
            raise ConfigurationError(f"{kind} content is read with {missing}")
        deadline = monotonic() + seconds
        question = {
            "kind": kind, "libraries": _LIBRARIES_FOR[kind], "charset": charset, "url": url, "seconds": seconds,
            "max_chars": max_chars,
        }  # fmt: skip
        most = max_chars * _BYTES_PER_CHAR + _BYTES_AROUND
        head = json.dumps(question).encode()
        try:
            answer = self._ask_child(head, content, most, deadline)
        except ExtractionFailed as failure:
            if failure.reason != "killed":
                raise
            answer = self._ask_child(head, content, most, deadline)
        if not isinstance(answer, Extracted):
            raise answer
        return answer

    def _ask_child(
        self, head: bytes, content: bytes, most: int, deadline: float
    ) -> Extracted | ExtractionFailed | ConfigurationError:
        try:
            with self._lend_child(deadline) as child:
                return read_child_answer(child.ask(head, content, most=most, deadline=deadline))
        except TimeoutError:
            raise ExtractionFailed("timeout", {"limit": "seconds"}) from None

    @contextmanager
    def _lend_child(self, deadline: float) -> Iterator[Child]:
        """Lend a child, which waits for more work afterwards unless something went wrong, or it was asked often."""
        if not self._free.acquire(timeout=max(0.0, deadline - monotonic())):
            raise TimeoutError
        lent = None
        try:
            lent = self._take_idle_child() or Child(self._memory)
            yield lent
            if lent.asked < _ASKED:
                self._idle.append(lent)
                lent = None
        finally:
            if lent is not None:
                lent.close()
            self._free.release()

    def _take_idle_child(self) -> Child | None:
        while True:
            try:
                waiting = self._idle.pop()
            except IndexError:
                return None
            if waiting.is_alive:
                return waiting
            waiting.close()


_POOLS: Final[dict[int, Pool]] = {}
"""By process: one that was forked from this one must not read from the pipes of this one's children."""


def extract(
    content: bytes, kind: Kind, *, charset: str | None = None, url: str = "", seconds: float, max_chars: int
) -> Extracted:
    """Return what a page or a file shows a reader. It is read in a child process, which is kept for the next one."""
    pool = _POOLS.get(os.getpid()) or _POOLS.setdefault(os.getpid(), Pool())
    return pool.extract(content, kind, charset=charset, url=url, seconds=seconds, max_chars=max_chars)


def _end_children(idle: list[Child], owner: int) -> None:
    """End the processes that a process started, if it is this one."""
    while idle and os.getpid() == owner:
        idle.pop().close()
