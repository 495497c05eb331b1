"""A graph by its name, ``module:factory``: what the command line and other processes are given instead of an object."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from guardgraph.plain.errors import ConfigurationError, GuardgraphError

if TYPE_CHECKING:
    from guardgraph.world.call import World


def load_named_graph(target: str, asking: str, **settings: Any) -> Any:
    """Return what a user's factory makes, or the graph itself where the name is one."""
    given = {key: value for key, value in settings.items() if value is not None}
    with _name_factory_errors(target, asking):
        named = _import_factory(target, asking)
        made = named(**given) if callable(named) else named
    if inspect.iscoroutine(made):
        made.close()  # whoever asked refuses it; Python need not complain that nobody awaited it
    if given and not callable(named):
        raise ConfigurationError(f"{asking} {target!r:.200}: a factory is required that takes {', '.join(given)}")
    return made


def load_named_world(target: str, asking: str) -> World:
    """Return the world that a user's factory makes, or the one that the name is of."""
    from guardgraph.graphs.grammar import (
        validate_world,
    )  # loads LangGraph, which whoever names no world need not wait for

    made = load_named_graph(target, asking)
    try:
        return validate_world(made)
    except ConfigurationError as error:
        raise ConfigurationError(f"{asking} {target!r:.200}: {error}") from None


def is_factory_setting(target: str, asking: str, setting: str) -> bool:
    """Say whether a user's factory takes a setting, such as `policy`, by its name."""
    with _name_factory_errors(target, asking):
        named = _import_factory(target, asking)
        if not callable(named):
            return False
        parameters = inspect.signature(named).parameters
    by_name = setting in parameters and parameters[setting].kind is not inspect.Parameter.POSITIONAL_ONLY
    return by_name or any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values())


@contextmanager
def _name_factory_errors(target: str, asking: str) -> Iterator[None]:
    """Let what a user's code prints go to stderr, and say of what it raises which name led to it."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except GuardgraphError:
        raise
    except (Exception, SystemExit) as error:
        ours = str(Path(__file__).parents[1])
        where = [each for each in extract_tb(error.__traceback__) if "importlib" not in each.filename]
        theirs = [each for each in where if not each.filename.startswith(ours)]
        at = f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""
        raise ConfigurationError(f"{asking} {target!r:.200}: {type(error).__name__}: {error}{at}") from error


def _import_factory(target: str, asking: str) -> Any:
    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise ConfigurationError(
            f"{asking}: module:factory is required, such as my_agents.triage:create; given: {target!r:.200}"
        )
    folder = ""
    if module.endswith(".py"):  # a file, as langgraph.json names it
        folder, module = str(Path(module).parent), Path(module).stem
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return attrgetter(name)(import_module(module))
