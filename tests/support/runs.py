"""What tests of whole runs share: how a run is started, what holds for every result, and what is masked.

Each pattern has a table of runs that stop, by the catalogue's entries::

    STOPS = {
        "invalid_intent:kind": StopCase("plan", lambda: run(agent, QUESTION), {"raw_intent": {}}),
        "source_denied:<name>": StopCase("retrieve", ..., {"intent": ...}, reason="source_denied:wiki"),
    }
    assert reasons_without_a_run(RAG_REASONS, STOPS) == []
    check_stop(RAG_REASONS, entry, STOPS[entry])
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import aclosing, closing, contextmanager
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel import Pregel
from langgraph.types import StateUpdate

from guardgraph import RagBudget, ResearchBudget, SelfCritiqueBudget

RECORD = {"run_id", "pattern", "status", "stop_reason", "phase", "trace", "history", "path", "timeline", "attempts"}
RECORD |= {"asked_question", "usage"}
"""Keys of a result that say how the run went; what is left is what came of it, or the evidence."""

THREAD = {"configurable": {"thread_id": "1"}}
"""The configuration of a run on a thread."""

EDITED = set()
"""Ids of runs whose state somebody edited: nobody recorded what was written there, so they cannot be replayed."""

MODES = ("invoke", "ainvoke", "stream", "astream", "batch")
BOTH = ("invoke", "astream")
"""For a promise that hangs on whether a run is awaited: one way that is, and streams, and one that is not."""


def run(graph, input, mode="invoke", **kwargs):
    """Run a graph once in one of LangGraph's ways and return the result; `kwargs` are context, config, ..."""
    if mode == "invoke":
        return graph.invoke(input, **kwargs)
    if mode == "ainvoke":
        return asyncio.run(graph.ainvoke(input, **kwargs))
    if mode == "batch":
        return graph.batch([input], **kwargs)[0]
    if mode == "stream":
        return _written(list(graph.stream(input, stream_mode="updates", **kwargs)))
    return _written(asyncio.run(_chunks(graph, input, kwargs)))


async def _chunks(graph, input, kwargs):
    return [chunk async for chunk in graph.astream(input, stream_mode="updates", **kwargs)]


def _written(chunks):
    """Return what the last node of a stream of updates wrote: terminals write the whole result."""
    [update] = chunks[-1].values()
    return update


def masked(result):
    """Return a result with `*` for what varies from run to run: run_id, every elapsed_ms, the seconds of calls."""
    masks = {"run_id": "*", "elapsed_ms": "*", "seconds": "*"}
    if isinstance(result, dict):
        return {key: masks.get(key, masked(value)) for key, value in result.items()}
    return [masked(item) for item in result] if isinstance(result, list) else result


def content(result):
    """Return what came of a run: the business result of an ok run, the evidence of a stopped one."""
    return {key: value for key, value in result.items() if key not in RECORD}


def check_result(catalogue, result):
    """Assert what holds for every result of every pattern, and return the result."""
    json.dumps(result, allow_nan=False)
    assert str(UUID(result["run_id"], version=4)) == result["run_id"]
    if result["status"] == "ok":
        assert result["stop_reason"] == "success"
        assert "phase" not in result
        assert isinstance(result["outcome"], str)
        assert None not in result.values()
        assert not result["path"][-1].startswith("stop_")
    else:
        reason = catalogue.find(result["stop_reason"])
        assert result["status"] == "stopped"
        assert reason is not None, result["stop_reason"]
        assert result["phase"] in reason.phases
        assert "outcome" not in result
        assert result["path"][-1] == f"stop_{reason.family}"
    assert [entry["node"] for entry in result["timeline"]] == result["path"]
    done = [number for entry in result["timeline"] for number in entry.get("steps", ())]
    assert done == [step["step"] for step in result["trace"]]
    assert len(result["trace"]) == len(result["history"])
    for step, (traced, told) in enumerate(zip(result["trace"], result["history"], strict=True), start=1):
        assert traced["step"] == told["step"] == step
        assert traced["elapsed_ms"] == told["elapsed_ms"] >= 0
        assert traced["ok"] is True
        assert isinstance(traced["phase"], str)
    return result


def write_state(graph, config, values, as_node):
    """Write into a thread what no node wrote, as someone could who may write to the checkpointer."""
    EDITED.add(graph.get_state(config).values["run"])
    Pregel.bulk_update_state(graph, config, [[StateUpdate(values, as_node)]])


def on_thread(**configurable):
    return {"configurable": {"thread_id": "1", **configurable}}


ASKED_ONCE = {"budget": {"max_attempts": 1}}
"""The context of a run whose proposers are asked once: what they propose first decides."""


class StopCase(NamedTuple):
    """A whole run that ends in a stop."""

    phase: str
    run: Callable[[], dict[str, Any]]
    evidence: Mapping[str, Any] = {}
    """The evidence, all of it. `...` stands for any value, a dictionary for one that holds it all."""
    reason: str | None = None
    """The stop reason, where the catalogue's entry has a placeholder."""


def check_stop(catalogue, entry, case):
    """Assert that a run stops with an entry's reason, phase and evidence, and return the result."""
    result = check_result(catalogue, case.run())
    assert result["stop_reason"] == (case.reason or entry)
    assert (catalogue.find(result["stop_reason"]).reason, result["phase"]) == (entry, case.phase)
    shown = content(result)
    assert all(shown.pop("so_far", {"": True}).values())  # test_results.py says what is in it
    assert shown.keys() == case.evidence.keys(), shown
    for key, expected in case.evidence.items():
        if isinstance(expected, dict):
            assert shown[key] == {**shown[key], **expected}
        else:
            assert expected in (..., shown[key])
    return result


def reasons_without_a_run(catalogue, cases):
    """Name the entries, other than defensive ones, that no case produces, and cases outside the catalogue."""
    return sorted({item.reason for item in catalogue if not item.defensive} ^ set(cases))


def halt_before(agent, given, config, *nodes, mode="invoke", **kwargs):
    """Follow a run until one of these nodes is the next after a step; return whether it was left there."""
    stood = agent.get_state(config).config["configurable"].get("checkpoint_id")
    if mode == "ainvoke":
        return asyncio.run(_afollow(agent, given, config, nodes, stood, kwargs))
    with closing(agent.stream(given, config, stream_mode="values", **kwargs)) as chunks:
        return any(_stands(agent, config, nodes, stood) for _ in chunks)


async def _afollow(agent, given, config, nodes, stood, kwargs):
    async with aclosing(agent.astream(given, config, stream_mode="values", **kwargs)) as chunks:
        async for _ in chunks:
            if _stands(agent, config, nodes, stood):
                return True
    return False


def _stands(agent, config, nodes, stood):
    state = agent.get_state(config)
    return state.config["configurable"]["checkpoint_id"] != stood and state.next in {(node,) for node in nodes}


@contextmanager
def memory(path):
    """Yield a saver that keeps checkpoints in memory."""
    yield InMemorySaver()


@contextmanager
def sqlite(path):
    """Yield a saver that keeps checkpoints in a file."""
    from langgraph.checkpoint.sqlite import SqliteSaver  # the lowest versions are tried without it

    with SqliteSaver.from_conn_string(str(path / "runs.sqlite")) as saver:
        yield saver


SAVERS = pytest.mark.parametrize("saver", [memory, sqlite])
"""A test with a parameter `saver`, of which it makes one in a folder."""


LIMITS = {**dict(RagBudget()), **dict(ResearchBudget()), **dict(SelfCritiqueBudget())}
