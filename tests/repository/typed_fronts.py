"""What type checkers see through the fronts. `make types` checks it; nobody runs it."""

from collections.abc import Mapping, Sequence
from typing import assert_type

import guardgraph
import guardgraph.grammar as gg
from guardgraph import Picture, draw


class Policy(gg.Settings):
    """A setting's kind keeps its type; a list of names may be given as any sequence."""

    queues: gg.Allowlist = ()


def check(state: dict[str, str], run: gg.Run[Policy, gg.Budget]) -> gg.Pass:
    """See the types of what a body works with."""
    assert_type(run.policy.queues, Sequence[str])
    assert_type(run.budget.max_seconds, float)
    assert_type(gg.proposed_object(state["proposed"]), gg.Proposal)
    return gg.Pass({"accepted": run.policy.queues})


agent = guardgraph.create_rag_agent(policy=guardgraph.RagPolicy())
assert_type(agent, guardgraph.GuardedGraph[guardgraph.RagInput, guardgraph.RagContext, guardgraph.RagResult])
assert_type(draw(agent), Picture)
assert_type(guardgraph.verify(agent), list[guardgraph.Finding])
assert_type(guardgraph.CATALOGUES, Mapping[str, gg.Catalogue])
assert_type(guardgraph.__version__, str)
