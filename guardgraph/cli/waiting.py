"""The agents of runs that wait: what keeps them between two commands, and how a later command makes them again."""

from __future__ import annotations

import atexit
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import guardgraph
from guardgraph.cli import audit
from guardgraph.cli.making import RunOptions
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingOptions:
    """What keeps a run that waits, so that another command can go on with it."""

    store: Store = None
    checkpoints: Checkpoints = None

    def open_kept(self) -> dict[str, Any]:
        """Return what a command gives its agent for it."""
        named = self.checkpoints or os.environ.get(VARIABLE, "").strip()
        url = self.store or (os.environ.get(audit.VARIABLE, "").strip() if named else "")
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


Graph = Annotated[
    str,
    typer.Option(
        "--graph",
        metavar="|".join([*COMMANDS, "MODULE:FACTORY"]),
        help="What goes on with the run: with its checkpointer, and the store as its recorder.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions(RunOptions):
    """Who goes on with runs that wait, and the store that has them."""

    graph: Graph
    store: audit.Store = None
    checkpoints: Checkpoints = None

    def load_agent(self, store: guardgraph.SqlStore) -> guardgraph.GuardedGraph:
        """Return the agent that goes on with runs that wait."""
        named = self.checkpoints or os.environ.get(VARIABLE, "").strip()
        saver = open_checkpoints_option(named) if named else None
        pattern = find_shipped_pattern(self.graph)
        if pattern is not None:
            if saver is None:
                raise ConfigurationError(
                    f"--checkpoints: the URL that the run was begun with is required, or {VARIABLE}"
                )
            settings = self.load_settings(pattern.name)
            return pattern.create_agent(self.model, checkpointer=saver, recorder=store, **settings)
        if ":" not in self.graph:
            allowed = f"{', '.join(COMMANDS)} or module:factory"
            raise ConfigurationError(f"--graph: {allowed} is required, whose runs wait; given: {self.graph!r:.80}")
        for name in ("policy", "live", "world", "prompts", "model"):
            if getattr(self, name) is not None:
                raise ConfigurationError(
                    f"--{name}: a factory of your own says it by itself; given beside {self.graph!r:.80}"
                )
        offered = {"checkpointer": saver, "recorder": store}
        taken = {
            name: item
            for name, item in offered.items()
            if item is not None and is_factory_setting(self.graph, "--graph", name)
        }
        agent: guardgraph.GuardedGraph = load_named_graph(self.graph, "--graph", **taken)
        return agent
