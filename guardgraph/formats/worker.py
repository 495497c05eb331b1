"""The child's side: reads one content after another within its limits, until nobody asks any more."""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, Final

from guardgraph.formats.extraction import OUT_OF_MEMORY, Extracted, ExtractionFailed, pack_answer

_OPEN_FILES: Final = 32
_DENIED: Final = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system")
"""Audit events of what no parser has to do (Python documentation, audit events table)."""


def main(memory: int) -> None:
    """Answer every question within limits, and end when the pipe is closed."""
    pipe = Connection(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    confine_process(memory)
    warnings.simplefilter("ignore")
    try:
        answer_all(pipe)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except ConnectionError:
        return  # nobody waits for the answer any more


def confine_process(memory: int) -> None:
    """Bound what this process may take, and deny it what no parser has to do."""
    with suppress(ValueError):  # macOS refuses a limit of memory
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for kind, most in ((resource.RLIMIT_NOFILE, _OPEN_FILES), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        resource.setrlimit(kind, (most, most))
    sys.addaudithook(_deny_audit_event)


def answer_all(pipe: Connection) -> None:
    """Answer every question, until nobody asks any more."""
    with suppress(EOFError):
        while True:
            question, content = json.loads(pipe.recv_bytes()), pipe.recv_bytes()
            _limit_work(question["seconds"])
            pipe.send_bytes(_pack_child_answer(content, question))


def _limit_work(seconds: float) -> None:
    """Let the kernel end this process when it has worked for so long, though nobody is left who would."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = math.ceil(used.ru_utime + used.ru_stime + min(seconds, 1e6)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def _deny_audit_event(event: str, _: Any) -> None:
    if event.startswith(_DENIED):
        raise PermissionError(f"{event}: a parser has nothing to do there")


def _pack_child_answer(content: bytes, question: dict[str, Any]) -> bytes:
    for library in question["libraries"]:
        try:
            import_module(library)
        except ImportError as error:
            return pack_answer((library, error))
    try:
        return pack_answer(_read_content(content, question))
    except ExtractionFailed as failure:
        return pack_answer(failure)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  the boundary: parsers raise whatever they like on damaged content
        return pack_answer(ExtractionFailed("broken", {"error": type(error).__name__}))


def _read_content(content: bytes, question: dict[str, Any]) -> Extracted:
    # Each is imported when it is first needed: a child that reads pages only does without the rest.
    max_chars = question["max_chars"]
    if question["kind"] == "pdf":
        from guardgraph.formats.pdf import read_pdf

        return read_pdf(content, max_chars)
    from guardgraph.formats.text import decode_text, read_plain

    text = decode_text(content, question["charset"], is_html=question["kind"] == "html")
    if question["kind"] == "html":
        from guardgraph.formats.page import read_page

        return read_page(text, question["url"], max_chars)
    return read_plain(text, max_chars)
