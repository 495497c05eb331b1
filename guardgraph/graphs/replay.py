"""Replay: a recorded run is decided again, without a model, a tool, a network or a key."""

from __future__ import annotations

from typing import Any

from guardgraph.graphs.door import GuardedGraph
from guardgraph.graphs.interpreter import interpret
from guardgraph.graphs.signatures import ResultT
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.state.recording import checked_recording

__all__ = ["replay"]


def replay(agent: GuardedGraph[Any, Any, ResultT], recording: Any) -> ResultT:
    """Decide a recorded run again: the recorded outcomes go to the same nodes, and the recorded clock ticks for them.

    Nothing is called. What comes out says what this agent, with its policy, budget, guards and version, makes of what
    came back then; it is the recorded result if nothing of it has changed.

    Args:
        agent: a graph of the recorded pattern.
        recording: what a recorder was given, as it was or read again from JSON.

    Returns:
        The result; its `run_id` and its times are those of the recorded run.

    Raises:
        InputError: it is no recording, one of another pattern or form, or of a run that the agent would not have begun,
            since its context names another value than what the agent's settings fix.
        NotRecorded: the agent asks for something that was not recorded; the error says where, and what differs.
    """
    if not isinstance(agent, GuardedGraph):
        raise InputError(f"agent: a guarded graph is required; given: {type(agent).__name__}")
    checked = checked_recording(recording)
    if checked["pattern"] != (ours := agent.frame.catalogue.pattern):
        raise InputError(f"recording: a run of {ours} is required; given: one of {checked['pattern']!r:.80}")
    try:
        result: Any = interpret(agent.frame, checked).result
    except ConfigurationError as error:
        raise InputError(f"recording: a run whose context this agent would refuse: {error}") from None
    return result  # type: ignore[no-any-return]
