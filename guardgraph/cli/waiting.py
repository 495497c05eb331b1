"""The agents of runs that wait: what keeps them between two commands, and how a later command makes them again."""

from __future__ import annotations

import atexit
import os
import shlex
import sqlite3
from pathlib import Path
from typing import Annotated, Any

import typer

import guardgraph
from guardgraph.cli import audit, policies
from guardgraph.graphs.loading import is_factory_setting, load_named_graph
from guardgraph.graphs.patterns import COMMANDS, find_shipped_pattern
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

VARIABLE = "GUARDGRAPH_CHECKPOINTS"
"""The variable of the environment that names the checkpoints where no option does."""
SQLITE, POSTGRES = "sqlite:///", ("postgresql://", "postgres://", "postgresql+psycopg://")

Checkpoints = Annotated[
    str | None,
    typer.Option(
        "--checkpoints",
        metavar="URL",
        help=f"What keeps a run that waits: sqlite:///FILE or postgresql://...; {VARIABLE} if left out.",
    ),
]

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help=f"The store that records the run; {audit.VARIABLE} if left out, beside --checkpoints.",
    ),
]


def make_keeping_settings(store: str | None, checkpoints: str | None) -> dict[str, Any]:
    """Return what a command gives its agent, so that a run that waits can be gone on with by another command."""
    named = checkpoints or os.environ.get(VARIABLE, "").strip()
    url = store or (os.environ.get(audit.VARIABLE, "").strip() if named else "")
    if not named and not url:
        return {}
    if not url:
        raise ConfigurationError(
            f"--store: a URL is required beside --checkpoints, such as sqlite:///runs.db, or {audit.VARIABLE}"
        )
    if not named:
        raise ConfigurationError(
            f"--checkpoints: a URL is required beside --store, such as sqlite:///threads.db, or {VARIABLE}"
        )
    recorder = guardgraph.sql_store(url)
    recorder.open()
    return {"checkpointer": open_checkpoints_option(named), "recorder": recorder}


def format_options(**given: str | None) -> str:
    """Return those of some options that were given, as a shell reads them."""
    said = [(f"--{name}", value) for name, value in given.items() if value is not None]
    return shlex.join([text for pair in said for text in pair])


def open_checkpoints_option(url: str) -> Any:
    """Return LangGraph's checkpointer on a database."""
    try:
        if url.startswith(SQLITE):
            return _open_sqlite_saver(url.removeprefix(SQLITE))
        if url.startswith(POSTGRES):
            return _open_postgres_saver("postgresql" + url[url.index("://") :])
    except ImportError as error:
        raise ConfigurationError(
            f"--checkpoints: {explain_extra('review')} langgraph-checkpoint-postgres ({error})"
            if url.startswith(POSTGRES)
            else f"--checkpoints: {explain_extra('review')} ({error})"
        ) from error
    except Exception as error:  # a driver's own, whatever the database refuses
        said = str(error).splitlines() or [type(error).__name__]
        raise ConfigurationError(f"--checkpoints: cannot be opened: {said[0]}") from error
    raise ConfigurationError("--checkpoints: sqlite:///FILE or postgresql://... is required; given: another URL")


def _open_sqlite_saver(file: str) -> Any:
    from langgraph.checkpoint.sqlite import SqliteSaver

    path = Path(file)
    if not path.exists():
        path.touch(mode=0o600)  # whoever may read it may read what the runs hold
    connection = sqlite3.connect(path, check_same_thread=False)
    atexit.register(connection.close)  # the command's agent works with it until then
    saver = SqliteSaver(connection)
    saver.setup()
    return saver


def _open_postgres_saver(url: str) -> Any:
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg import Connection
    from psycopg.rows import dict_row

    connection = Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row)
    atexit.register(connection.close)
    saver = PostgresSaver(connection)
    saver.setup()
    return saver


def load_waiting_agent(
    graph: str,
    *,
    store: guardgraph.SqlStore,
    checkpoints: str | None = None,
    policy: str | None = None,
    tenant: str | None = None,
    live: str | None = None,
    world: str | None = None,
    prompts: str | None = None,
    model: str | None = None,
) -> guardgraph.GuardedGraph:
    """Return the agent that goes on with runs that wait."""
    named = checkpoints or os.environ.get(VARIABLE, "").strip()
    saver = open_checkpoints_option(named) if named else None
    pattern = find_shipped_pattern(graph)
    if pattern is not None:
        if saver is None:
            raise ConfigurationError(f"--checkpoints: the URL that the run was begun with is required, or {VARIABLE}")
        settings = policies.load_run_options(
            pattern.name, policy=policy, live=live, tenant=tenant, world=world, prompts=prompts
        )
        return pattern.create_agent(model, checkpointer=saver, recorder=store, **settings)
    if ":" not in graph:
        allowed = f"{', '.join(COMMANDS)} or module:factory"
        raise ConfigurationError(f"--graph: {allowed} is required, whose runs wait; given: {graph!r:.80}")
    for option, given in {"--policy": policy, "--live": live, "--world": world, "--model": model}.items():
        if given is not None:
            raise ConfigurationError(f"{option}: a factory of your own says it by itself; given beside {graph!r:.80}")
    offered = {"checkpointer": saver, "recorder": store}
    taken = {
        name: item for name, item in offered.items() if item is not None and is_factory_setting(graph, "--graph", name)
    }
    agent: guardgraph.GuardedGraph = load_named_graph(graph, "--graph", **taken)
    return agent
