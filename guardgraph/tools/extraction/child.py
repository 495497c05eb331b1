"""One child process: started, asked, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.extraction.extracted import OUT_OF_MEMORY, ExtractionFailed
from guardgraph.tools.extraction.frames import FrameTooLong, receive, send

__all__ = ["Child"]

_LIBRARIES: Final = ("guardgraph", "trafilatura", "lxml", "selectolax", "charset_normalizer", "pypdf")
_BOOT: Final = (
    "import sys; sys.path += [path for path in sys.argv[2:] if path not in sys.path]; "
    "from guardgraph.tools.extraction.worker import main; main(int(sys.argv[1]))"
)


class Child:
    """A process that reads one content after another. One thread at a time may ask it.

    It is started in isolated mode with an empty environment in the root directory, so that neither the working
    directory nor the environment can put another module in a library's place.

    Args:
        memory: the bytes of address space that it may have.
    """

    def __init__(self, memory: int) -> None:
        if os.name != "posix":
            raise ConfigurationError(f"os.name: {os.name!r}; pages are read within limits that posix systems have")
        if not sys.executable:
            raise ConfigurationError("sys.executable is empty; pages are read in a process of this Python")
        command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, str(memory), *_paths()]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={},
            start_new_session=True,  # a terminal's Ctrl-C is the library's affair
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asks = self._process.stdin.fileno()
        self._answers = self._process.stdout.fileno()
        os.set_blocking(self._asks, False)
        os.set_blocking(self._answers, False)
        self.asked = 0
        """How often it was asked."""

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, head: bytes, content: bytes, *, most: int, deadline: float) -> bytes:
        """Return the answer to a question. After any exception the child cannot be asked again.

        Args:
            head: what is asked of the content.
            content: what is to be read.
            most: bytes that the answer may have.
            deadline: until when, as `time.monotonic` has it.

        Raises:
            ExtractionFailed: `timeout`, `too_large`, or `crashed`.
        """
        self.asked += 1
        try:
            send(self._asks, head, deadline)
            send(self._asks, content, deadline)
            return receive(self._answers, most, deadline)
        except TimeoutError:
            raise ExtractionFailed("timeout", {"limit": "seconds"}) from None
        except FrameTooLong:
            raise ExtractionFailed("too_large", {"limit": "max_chars"}) from None
        except (EOFError, BrokenPipeError):
            raise self._death() from None

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _death(self) -> ExtractionFailed:
        self._process.kill()  # whoever closed the pipe and goes on is of no use
        code = self._process.wait()
        if code == OUT_OF_MEMORY:
            return ExtractionFailed("too_large", {"limit": "memory"})
        if code == -signal.SIGXCPU:
            return ExtractionFailed("timeout", {"limit": "seconds"})
        return ExtractionFailed("crashed", {"signal": -code} if code < 0 else {"exit_code": code})


def _paths() -> list[str]:
    """Return the folders that the libraries are in, for a child that would not find them by itself."""
    specs = [find_spec(name) for name in _LIBRARIES]
    places = (place for spec in specs if spec for place in spec.submodule_search_locations or ())
    return list(dict.fromkeys(str(Path(place).resolve().parent) for place in places))
