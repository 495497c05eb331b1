"""What of a page a browser shows: Chromium in a process of its own, in which no script runs and which dials nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from guardgraph.formats.frames import FrameTooLong, receive, send
from guardgraph.formats.pool import Lender, PipedProcess
from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.extras import explain_extra

MOST_ASKED: Final = 100
"""What a page may ask for; the rest is refused."""
_MOST_BYTES: Final = 30_000_000
"""Of a message of the browser's: the page as it is seen."""
_MOST_BROWSERS: Final = 4
_SHOWN: Final = 200
"""A browser that showed so many pages is replaced."""
_BOOT: Final = "from guardgraph.web.browser import main; main(sys.argv[1])"
_LIBRARIES: Final = ("guardgraph", "playwright", "greenlet", "pyee", "typing_extensions")


class Asset(NamedTuple):
    """What a page asked for: a style sheet, a picture, a font."""

    body: bytes
    content_type: str


Fetch = Callable[[str], Asset]
"""Answers what a page asks for, or raises a `ReadFailure`."""


class Renderer(Lender["_Browser"]):
    """Browsers that are started when they are needed. Threads may use it side by side."""

    def __init__(self, executable: str = "") -> None:
        if find_spec("playwright") is None:
            raise ConfigurationError(f"render: {explain_extra('render')}")
        if os.name != "posix":
            raise ConfigurationError(f"os.name: {os.name!r}; a browser is ended in a way that posix systems have")
        if executable and not os.access(executable, os.X_OK):
            raise ConfigurationError(f"render: a browser that can be executed is required; given: {executable!r:.80}")
        super().__init__(partial(_Browser, executable), max(1, min(os.cpu_count() or 1, _MOST_BROWSERS)), _SHOWN)

    def show(self, url: str, body: bytes, content_type: str, fetch: Fetch, *, seconds: float) -> bytes:
        """Return the page that is seen, without what is not, in UTF-8."""
        deadline = time.monotonic() + seconds
        try:
            with self.lend(deadline) as browser:
                return browser.show(url, body, content_type, fetch, deadline)
        except TimeoutError:
            cause = {"cause": "it took too long", "seconds": round(seconds, 3)}
            raise ReadFailure("browser", cause) from None
        except (EOFError, BrokenPipeError):
            raise ReadFailure("browser", {"cause": "it was ended, or cannot be started"}) from None


class _Browser(PipedProcess):
    """One process with one Chromium; after any exception it cannot be asked again."""

    def __init__(self, executable: str) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="guardgraph-browser-", ignore_cleanup_errors=True)
        kept = {name: os.environ[name] for name in ("PATH", "PLAYWRIGHT_BROWSERS_PATH") if name in os.environ}
        if not executable:
            kept["PLAYWRIGHT_BROWSERS_PATH"] = kept.get("PLAYWRIGHT_BROWSERS_PATH") or _playwright_browsers()
        super().__init__(_BOOT, executable, _LIBRARIES, {**kept, "HOME": self._home.name, "TMPDIR": self._home.name})

    def show(self, url: str, body: bytes, content_type: str, fetch: Fetch, deadline: float) -> bytes:
        """Return the page that is seen."""
        self.asked += 1
        seconds = max(0.1, deadline - time.monotonic())
        self._send({"url": url, "content_type": content_type, "seconds": seconds}, body, deadline)
        asked = 0
        while True:
            said, found = self._receive(deadline)
            match said:
                case {"said": "asks", "url": str(wanted)}:
                    asked += 1
                    asset = _answer(fetch, wanted) if asked <= MOST_ASKED else None
                    known = {"content_type": None if asset is None else asset.content_type}
                    self._send(known, b"" if asset is None else asset.body, deadline)
                case {"said": "shown"}:
                    return found
                case {"said": "too_large"}:
                    raise ReadFailure("too_large", {"limit": "characters"})
                case {"said": "failed", "cause": str(cause)}:
                    raise ReadFailure("browser", {"cause": cause})
                case _:
                    raise ReadFailure("browser", {"cause": "its answer is not understood"})

    def close(self) -> None:
        """End it, and all that it started."""
        for started in _list_descendants(self._process.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(started, signal.SIGKILL)
        super().close()
        self._home.cleanup()

    def _send(self, said: dict[str, Any], body: bytes, deadline: float) -> None:
        send(self.asks, json.dumps(said).encode(), deadline)
        send(self.asks, body, deadline)

    def _receive(self, deadline: float) -> tuple[Any, bytes]:
        try:
            head = receive(self.answers, _MOST_BYTES, deadline)
            return json.loads(head), receive(self.answers, _MOST_BYTES, deadline)
        except FrameTooLong:
            raise ReadFailure("too_large", {"limit": "bytes", "bytes": _MOST_BYTES}) from None
        except ValueError:
            raise ReadFailure("browser", {"cause": "its answer is not understood"}) from None


def _answer(fetch: Fetch, url: str) -> Asset | None:
    try:
        return fetch(url)
    except ReadFailure:
        return None  # the page is shown without it


def _playwright_browsers() -> str:
    """Return where Playwright keeps its browsers, which it would look for in the home of the process."""
    places = {"darwin": "Library/Caches/ms-playwright"}
    return str(Path.home() / places.get(sys.platform, ".cache/ms-playwright"))


def _list_descendants(pid: int) -> list[int]:
    """Return the processes that a process started, and theirs: Chromium leaves the group of whoever starts it."""
    children = dict[int, list[int]]()
    for one, parent in _list_processes():
        children.setdefault(parent, []).append(one)
    found, waiting = list[int](), [pid]
    while waiting:
        started = children.pop(waiting.pop(), [])
        found += started
        waiting += started
    return found


def _list_processes() -> Iterator[tuple[int, int]]:
    """Yield the processes of this machine, each with the one that started it."""
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(["/bin/ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False)
        for line in listed.stdout.splitlines():
            one, parent = line.split()
            yield int(one), int(parent)
        return
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                yield int(place.name), int((place / "stat").read_text().rpartition(")")[2].split()[1])
