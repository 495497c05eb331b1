"""The draft: written, held against the context, and shortened once where it is only too long."""

from __future__ import annotations

from guardgraph.guards import self_critique as guards
from guardgraph.guards.stop import Stop
from guardgraph.languages.wording import text_hash
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.self_critique.attempts import proposed, rejected_before, told
from guardgraph.nodes.self_critique.request import SelfCritiqueRun, regions, shown
from guardgraph.state.self_critique import Rejected, SelfCritiqueState
from guardgraph.world.proposers import Proposer

__all__ = ["check_draft", "draft", "shorten"]


def draft(drafter: Proposer) -> Body:
    """Ask for a draft."""

    @declares(phase="draft", reads=["task"], writes=["proposed_draft"])
    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        outcome = yield drafter.call(shown(state))
        return {"proposed_draft": outcome.packed()}

    return body


@declares(
    phase="draft",
    reads=["task", "proposed_draft", "rejected_draft"],
    writes=["rejected_draft", "accepted_draft"],
    stops=["llm", "invalid_draft"],
)
def check_draft(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the draft against the context; one that is only too long is shortened once."""
    text, about = proposed(state["proposed_draft"], "draft")
    rejected = rejected_before(state.get("rejected_draft"))
    try:
        accepted = guards.parse_draft(
            text,
            context=state["task"]["incident_context"],
            max_chars=run.budget.max_draft_chars,
            check_facts=run.policy.check_facts,
            regions=regions(run),
        )
    except Stop as stop:
        if stop.reason == "invalid_draft:too_long" and not rejected:
            return Pass({"rejected_draft": Rejected(text=text, by=[about])}, "shorten")
        raise
    trace = {
        "phase": "draft",
        "draft_hash": text_hash(accepted),
        "chars": len(accepted),
        "attempts_used": len(rejected) + 1,
        "retried": bool(rejected),
    }
    history = {"action": "draft_once", "draft": accepted, **told(about, rejected)}
    return Pass({"accepted_draft": accepted}, "critique", (Step(trace, history),))


def shorten(shortener: Proposer) -> Body:
    """Ask for the same draft in fewer characters."""

    @declares(phase="draft", reads=["rejected_draft"], writes=["proposed_draft"])
    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        view = {"draft": state["rejected_draft"]["text"], "max_chars": run.budget.max_draft_chars}
        outcome = yield shortener.call(view)
        return {"proposed_draft": outcome.packed()}

    return body
