"""The agents of runs that wait: what keeps them between two commands, and how a later command makes them again."""

from __future__ import annotations

import atexit
import os
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import guardgraph
from guardgraph.cli import runs
from guardgraph.cli.making import RunOptions
from guardgraph.cli.options import GRAPH, Store, option
from guardgraph.cli.options import VARIABLE as STORE_VARIABLE
from guardgraph.graphs.loading import is_factory_setting, load_named_graph
from guardgraph.graphs.patterns import COMMANDS, find_shipped_pattern
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject
from guardgraph.plain.urls import is_server_url

VARIABLE = "GUARDGRAPH_CHECKPOINTS"  # the variable of the environment that names the checkpoints where no option does
SQLITE = "sqlite:///"

Checkpoints = Annotated[
    str | None,
    option("--checkpoints URL", f"Keeps a run that waits: sqlite:///FILE or postgresql://...; {VARIABLE} if left out."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingOptions:
    """What keeps a run that waits, so that another command can go on with it."""

    store: Annotated[str | None, option("--store URL", f"Records the run; {STORE_VARIABLE} if left out.")] = None
    checkpoints: Checkpoints = None

    def open_kept(self) -> dict[str, Any]:
        """Return what a command gives its agent for it."""
        named = self.checkpoints or os.environ.get(VARIABLE, "").strip()
        url = self.store or (os.environ.get(STORE_VARIABLE, "").strip() if named else "")
        if not named and not url:
            return {}
        required = "a URL is required beside"
        if not url:
            example = f"such as sqlite:///runs.db, or {STORE_VARIABLE}"
            raise ConfigurationError(f"--store: {required} --checkpoints, {example}")
        if not named:
            example = f"such as sqlite:///threads.db, or {VARIABLE}"
            raise ConfigurationError(f"--checkpoints: {required} --store, {example}")
        recorder = guardgraph.sql_store(url)
        recorder.open()
        return {"checkpointer": open_checkpoints_option(named), "recorder": recorder}


def plan_waiting_run(
    name: str, request: JsonObject, options: RunOptions, kept: KeepingOptions, **settings: Any
) -> runs.PlannedRun:
    """Plan a run that may wait for a person: in this process, or kept for another command that decides."""
    from langgraph.checkpoint.memory import InMemorySaver  # loads LangGraph, for which help need not wait

    keeping = kept.open_kept()
    own = {"checkpointer": InMemorySaver(), **settings, **options.load_settings(name), **keeping}
    run = runs.plan_run(name, request, options.model, **own)
    given = f"--by WHO --graph {run.pattern.command} {options.format_options()}".rstrip()
    config = {"configurable": {"thread_id": str(uuid4())}}
    return replace(run, config=config, resume=given if keeping else None)


def open_checkpoints_option(url: str) -> Any:
    """Return LangGraph's checkpointer on a database."""
    try:
        if url.startswith(SQLITE):
            from langgraph.checkpoint.sqlite import SqliteSaver

            path = Path(url.removeprefix(SQLITE))
            if not path.exists():
                path.touch(mode=0o600)  # whoever may read it may read what the runs hold
            connection: Any = sqlite3.connect(path, check_same_thread=False)
            saver: Any = SqliteSaver(connection)
        elif is_server_url(url):
            from langgraph.checkpoint.postgres import PostgresSaver
            from psycopg import Connection
            from psycopg.rows import dict_row

            how: Any = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
            connection = Connection.connect("postgresql" + url[url.index("://") :], **how)
            saver = PostgresSaver(connection)
        else:
            allowed = f"{SQLITE}FILE or postgresql://..."
            raise ConfigurationError(f"--checkpoints: {allowed} is required; given: another URL")
        atexit.register(connection.close)  # the command's agent works with it until then
        saver.setup()
        return saver
    except ConfigurationError:
        raise
    except ImportError as error:
        also = " langgraph-checkpoint-postgres" if is_server_url(url) else ""
        raise ConfigurationError(f"--checkpoints: {explain_extra('review')}{also} ({error})") from error
    except Exception as error:  # a driver's own, whatever the database refuses
        said = str(error).splitlines() or [type(error).__name__]
        raise ConfigurationError(f"--checkpoints: cannot be opened: {said[0]}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions(RunOptions):
    """Who goes on with runs that wait, and the store that has them."""

    graph: Annotated[str, option(f"--graph {GRAPH}", "Goes on with the run; the store is its recorder.")]
    store: Store = None
    checkpoints: Checkpoints = None

    def load_agent(self, store: guardgraph.SqlStore) -> guardgraph.GuardedGraph:
        """Return the agent that goes on with runs that wait."""
        named = self.checkpoints or os.environ.get(VARIABLE, "").strip()
        saver = open_checkpoints_option(named) if named else None
        pattern = find_shipped_pattern(self.graph)
        if pattern is not None:
            if saver is None:
                raise ConfigurationError(f"--checkpoints: the URL of the run's beginning is required, or {VARIABLE}")
            settings = self.load_settings(pattern.name)
            return pattern.create_agent(self.model, checkpointer=saver, recorder=store, **settings)
        if ":" not in self.graph:
            allowed = f"{', '.join(COMMANDS)} or module:factory"
            raise ConfigurationError(f"--graph: {allowed} is required, whose runs wait; given: {self.graph!r:.80}")
        for name in ("policy", "live", "world", "prompts", "model"):
            if getattr(self, name) is not None:
                said = f"a factory of your own says it by itself; given beside {self.graph!r:.80}"
                raise ConfigurationError(f"--{name}: {said}")
        offered = {} if saver is None else {"checkpointer": saver}
        offered["recorder"] = store
        taken = {name: item for name, item in offered.items() if is_factory_setting(self.graph, "--graph", name)}
        agent: guardgraph.GuardedGraph = load_named_graph(self.graph, "--graph", **taken)
        return agent
