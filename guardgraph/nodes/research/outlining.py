"""The Research agent's nodes for the outline: titles are proposed from the notes, and guarded before any text."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.research.outline import check_outline, parse_outline
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares, read_body_declaration
from guardgraph.nodes.research.scope import ResearchRun, list_usable_notes, order_notes
from guardgraph.state.research import ResearchState
from guardgraph.world.proposers import Proposer

OUTLINE = "accepted_outline"
"""The channel of the titles that were accepted."""


def make_outline_node(proposer: Proposer) -> Body:
    """Ask for the titles of sections, from the notes that may be used now."""

    @declares(
        phase="outline",
        reads=["task", "accepted_sources", "accepted_notes"],
        writes=["proposed_outline"],
        calls=[proposer],
    )
    def run_outline_node(state: ResearchState, run: ResearchRun) -> Steps:
        task, (notes, _) = state["task"], list_usable_notes(state, run)
        outcome = yield proposer.call(
            {
                "goal": task["goal"],
                "question": task["question"],
                "notes": [
                    {key: note[key] for key in ("id", "claim", "title")} for note in order_notes(notes, task, run)
                ],
                "max_sections": run.budget.max_sections,
            }
        )
        return {"proposed_outline": outcome.packed()}

    return run_outline_node


@declares(
    phase="outline",
    reads=["task", "accepted_sources", "accepted_notes", "proposed_outline"],
    writes=["accepted_outline"],
    stops=["llm", "no_sources", "invalid_outline"],
)
def run_outline_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the titles against the budget, and what they say against the notes and the question."""
    given, (notes, _) = proposed_object(state["proposed_outline"]), list_usable_notes(state, run)
    titles = parse_outline(given.value, max_sections=run.budget.max_sections)
    check_outline(titles, question=state["task"]["question"], notes=notes, policy=run.policy)
    history = {"action": "propose_outline", "sections": titles, **given.about}
    return Pass({"accepted_outline": titles}, steps=(Step({"phase": "outline", "sections": len(titles)}, history),))


def show_outline(body: Body) -> Body:
    """Return the body of a node that is shown the outline, too; an agent without sections has none to show."""

    def run_outlined_node(state: ResearchState, run: ResearchRun) -> Any:
        return body(state, run)

    said = read_body_declaration(body)
    own = {item.name: getattr(said, item.name) for item in fields(said)}
    return declares(**{**own, "reads": (*(said.reads or ()), OUTLINE)})(run_outlined_node)
