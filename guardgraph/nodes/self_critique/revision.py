"""The revision: asked for up to three times, then made by rule, and held against the draft each time."""

from __future__ import annotations

from collections.abc import Sequence

from guardgraph.guards import self_critique as guards
from guardgraph.guards.stop import Stop
from guardgraph.languages.wording import text_hash
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.offline.self_critique import repair as edited
from guardgraph.nodes.self_critique.attempts import proposed, rejected_before, told
from guardgraph.nodes.self_critique.request import SelfCritiqueRun, check_decision, regions, shown
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.self_critique import Patch, Rejected, SelfCritiqueState
from guardgraph.world.proposers import OFFLINE, Proposer

__all__ = ["check_patch", "repair", "revise"]

REVISION_ATTEMPTS = 3
"""Revisions asked for before the deterministic fallback edits the last one."""


def revise(reviser: Proposer, strict: Proposer) -> Body:
    """Ask for a revision of the draft, from the second attempt on with the strict prompt."""

    @declares(
        phase="revise",
        reads=["task", "accepted_draft", "accepted_critique", "rejected_revision"],
        writes=["proposed_revision"],
    )
    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        accepted = state["accepted_critique"]
        check_decision(accepted, run)
        asked = strict if rejected_before(state.get("rejected_revision")) else reviser
        required = accepted["required_changes"]
        outcome = yield asked.call({**shown(state), "draft": state["accepted_draft"], "required_changes": required})
        return {"proposed_revision": outcome.packed()}

    return body


@declares(phase="revise", reads=["accepted_critique", "rejected_revision"], writes=["proposed_revision"])
def repair(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
    """Edit the last attempt by rule, since three did not make the changes."""
    accepted = state["accepted_critique"]
    check_decision(accepted, run)
    text = edited(state["rejected_revision"]["text"], accepted["required_changes"])
    return {"proposed_revision": Outcome("value", {"revised_answer": text}, {"proposer": OFFLINE}).packed()}


@declares(
    phase="revise",
    reads=["task", "accepted_draft", "accepted_critique", "rejected_revision", "proposed_revision"],
    writes=["rejected_revision", "accepted_revision"],
    stops=["llm", "denied_execution", "invalid_revised", "patch_violation"],
)
def check_patch(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the revision against the draft; changes that were not made are asked for again, then made by rule."""
    text, about = proposed(state["proposed_revision"], "revised_answer")
    rejected = rejected_before(state.get("rejected_revision"))
    attempts = len(rejected) + 1
    try:
        patch = _patch(text, state, run)
    except Stop as stop:
        if stop.reason != "patch_violation:required_changes_not_applied" or attempts > REVISION_ATTEMPTS:
            raise
        again = {"rejected_revision": Rejected(text=text, by=[*rejected, about])}
        return Pass(again, "revise" if attempts < REVISION_ATTEMPTS else "repair")
    required = state["accepted_critique"]["required_changes"]
    history = {
        "action": "revise_once",
        "required_changes": required,
        "revised_answer": patch["revised_answer"],
        **told(about, rejected),
    }
    step = Step(_measured(patch, required, attempts), history)
    return Pass({"accepted_revision": patch}, "final_guard", (step,))


def _patch(text: JsonValue, state: SelfCritiqueState, run: SelfCritiqueRun) -> Patch:
    task, budget = state["task"], run.budget
    return guards.check_patch(
        text,
        draft=state["accepted_draft"],
        context=task["incident_context"],
        required_changes=state["accepted_critique"]["required_changes"],
        max_chars=budget.max_answer_chars,
        min_similarity=budget.min_patch_similarity,
        max_length_increase_pct=budget.max_length_increase_pct,
        hinted_length_increase_pct=task["max_length_increase_pct"],
        avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
        check_facts=run.policy.check_facts,
        regions=regions(run),
    )


def _measured(patch: Patch, required: Sequence[str], attempts: int) -> JsonObject:
    return {
        "phase": "revise",
        "patch_similarity": patch["patch_similarity"],
        "length_increase_pct": patch["length_increase_pct"],
        "required_changes_total": len(required),
        "required_changes_enforced": len(guards.enforceable(required)),
        "required_changes_unenforced": sum(guards.parse_change(item) is None for item in required),
        "attempts_used": attempts,
        "retried": attempts > 1,
        "revised_hash": text_hash(patch["revised_answer"]),
    }
