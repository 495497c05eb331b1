"""The sources of a live knowledge base: which of them a run may read is asked in the run, for its caller.

Where a knowledge base is live, sources appear and go while agents run, and each caller may read others. So a run asks
the base before it plans, and keeps the answer with its calls. A list that the policy leaves out then holds those
sources; of a list that it gives, those remain. No planner, trace or evidence names a source of which the caller may
read nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from guardgraph.guards import rag as guards
from guardgraph.nodes.body import Body, Run, Steps, declares
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import RagBudget, RagPolicy, RagState
from guardgraph.world.call import Call, Outside

RagRun = Run[RagPolicy, RagBudget]

LISTED: Final = ("accepted_sources",)
"""The channels from which nodes of an agent with a live base read what its lists hold."""


class SourceLists(NamedTuple):
    """The lists, as they hold in a run."""

    policy: Sequence[str]
    """Sources that the model may ask for."""
    execution: Sequence[str]
    """Sources that the runtime will read now."""
    denied: Sequence[str]
    """Sources that are never read, whatever the others say."""


def read_source_lists(state: JsonObject | RagState, run: RagRun) -> SourceLists:
    """Return the lists of the policy; of a live base what of those that allow the caller may read."""
    readable: list[str] | None = state.get("accepted_sources")
    policy = run.policy
    given = SourceLists(policy.allowed_sources_policy, policy.allowed_sources_execution, policy.denied_sources)
    if readable is None:
        return given
    allowed, read = (
        readable if policy.is_open(name) else [source for source in readable if source in listed]
        for name, listed in zip(RagPolicy.filled, given[:2], strict=True)
    )
    return SourceLists(allowed, read, given.denied)


def check_sources_switched_on(sources: Iterable[str], run: RagRun) -> None:
    """Stop a run that holds something of a source which is denied, or not on both lists now."""
    held = {*sources}
    guards.check_denied_sources(held, denied=run.policy.denied_sources)
    lists = [set(getattr(run.policy, name)) for name in RagPolicy.filled if not run.policy.is_open(name)]
    if lists:
        guards.check_allowed_sources(held, allowed=set.intersection(*lists))


def describe_asking_caller(run: RagRun) -> JsonObject:
    """Return the part of a request that says who asks; none without a caller."""
    if run.caller is None:
        return {}
    return {"caller": {**run.caller.model_dump(mode="json"), "groups": sorted(run.caller.groups)}}


def make_list_sources_node(lister: Outside) -> Body:
    """Ask a knowledge base of which sources the caller may read something."""

    @declares(phase="retrieve", reads=["task"], writes=["found_sources"])
    def run_list_sources_node(state: RagState, run: RagRun) -> Steps:
        outcome = yield Call("tool", lister, describe_asking_caller(run))
        return {"found_sources": outcome.packed()}

    return run_list_sources_node
