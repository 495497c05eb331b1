"""Failures of other people's code: where in it they happened, and what guardgraph's log says of them.

A place is told without the machine's folders, so that it may stand in a result. The log has the whole traceback; it
repeats no more of an error's message than a result does, and nothing else of what a run was given or brought.
"""

from __future__ import annotations

import logging
import sys
import traceback
from contextlib import suppress
from pathlib import PurePath
from types import CodeType
from typing import Any, Final

from guardgraph.plain.json import JsonObject
from guardgraph.plain.secrets import cut_and_mask_text, format_error_message, mask_secrets

LOGGER: Final = "guardgraph"  # the name of the logger

_FRAMEWORK: Final = frozenset(
    ("guardgraph", "langchain", "langchain_core", "langgraph", "langsmith", "pydantic", "pydantic_core")
)
"""Packages that stand between a run and the function that it calls."""
_SLOT: Final = "__guardgraph_place__"  # attribute of an exception whose place is known already
_LONGEST_NAME: Final = 120
_MOST_CAUSES: Final = 10  # causes of an exception that are logged; they can go round in a circle
_UNSHOWN: Final = logging.NullHandler()  # without one, Python itself would print what is logged where nobody listens


def locate_failure(error: BaseException) -> JsonObject | None:
    """Return where a function that a run called failed: its own file, line and name, whatever it called in turn."""
    if hasattr(error, _SLOT):
        place: JsonObject | None = getattr(error, _SLOT)
        return place
    own: tuple[str, CodeType, int] | None = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if own is None and (package in _FRAMEWORK or package in sys.stdlib_module_names):
            continue
        if own is None or package == own[0].partition(".")[0]:
            own = module, frame.f_code, number
    if own is None:
        return None
    module, code, line = own
    return {
        "file": cut_and_mask_text(_shorten_file_name(code, module), _LONGEST_NAME),
        "line": line,
        "function": cut_and_mask_text(code.co_qualname, _LONGEST_NAME),
    }


def keep_place(error: BaseException, place: JsonObject | None) -> None:
    """Let an exception have failed at a place, wherever it is raised from now on; None for nobody knows where."""
    with suppress(Exception):  # one that takes no attributes
        setattr(error, _SLOT, place)


def _shorten_file_name(code: CodeType, module: str) -> str:
    """Return the end of a file's path that its module's name says too, else the last part of it."""
    path = PurePath(code.co_filename)
    named = [*module.split("."), *(["__init__"] if path.stem == "__init__" else [])]
    end = path.parts[-len(named) :]
    return "/".join(end) if [*end[:-1], path.stem] == named else path.name


def log_notice(what: str) -> None:
    """Tell guardgraph's log what somebody who runs it may want to know, and what is no failure."""
    logging.getLogger(LOGGER).info(what)


def log_failure(what: str, error: BaseException, level: int = logging.ERROR, **about: Any) -> None:
    """Log a failure with its traceback."""
    logger = logging.getLogger(LOGGER)
    logger.addHandler(_UNSHOWN)
    if logger.isEnabledFor(level):
        extra = {f"guardgraph_{name}": value for name, value in about.items()}
        with suppress(Exception):  # a filter of somebody's that fails changes no run
            logger.log(level, "%s\n%s", what, _format_masked_traceback(error), extra=extra)


def _format_masked_traceback(error: BaseException) -> str:
    """Return a traceback in Python's form, with messages as results show them."""
    shown: list[str] = []
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            break
        lines = "".join(traceback.format_tb(cause.__traceback__))
        shown.insert(0, f"{mask_secrets(lines)}{type(cause).__name__}: {format_error_message(cause)}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "\n\n".join(shown)
