"""A graph by its name, ``module:factory``: what the command line and other processes are given instead of an object."""

from __future__ import annotations

import inspect
import sys
from contextlib import redirect_stdout
from importlib import import_module
from operator import attrgetter
from typing import Any

from guardgraph.state.errors import ConfigurationError, GuardgraphError

__all__ = ["graph_named"]


def graph_named(target: str, asking: str, **settings: Any) -> Any:
    """Return what a user's factory makes, or the graph itself where the name is one.

    Modules are looked for in the current folder first. What they print goes to stderr.

    Args:
        target: ``module:factory``.
        asking: who asks, for messages.
        settings: what the factory is given, such as `policy`; what is None is left out.

    Raises:
        ConfigurationError: there is no such module or factory, it raises, or settings are given for what is none.
    """
    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise ConfigurationError(
            f"{asking}: module:factory is required, such as my_agents.triage:create; given: {target!r:.200}"
        )
    given = {key: value for key, value in settings.items() if value is not None}
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with redirect_stdout(sys.stderr):
            named = attrgetter(name)(import_module(module))
            made = named(**given) if callable(named) else named
    except GuardgraphError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigurationError(f"{asking} {target!r:.200}: {type(error).__name__}: {error}") from error
    if inspect.iscoroutine(made):
        made.close()  # whoever asked refuses it; Python need not complain that nobody awaited it
    if given and not callable(named):
        raise ConfigurationError(f"{asking} {target!r:.200}: a factory is required that takes {', '.join(given)}")
    return made
