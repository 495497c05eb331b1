"""The request for clarification: how a run ends that found nothing relevant, or no answer in what it found."""

from __future__ import annotations

from typing import Any

from guardgraph.nodes.body import Pass, Step, declares
from guardgraph.nodes.rag.request import RagRun
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import Clarification, ClarifyReason, RagState

__all__ = ["asked_to_clarify", "clarified"]

TRACED: dict[ClarifyReason, str] = {
    "nothing_relevant": "no_grounded_context",
    "answerer_abstained": "answerer_abstained",
}
"""What the trace calls each reason."""

RESULT = ("outcome", "answer", "citations", "citation_details", "passages", "clarify_reason", "best_score")
"""What the ending returns."""


def asked_to_clarify(
    text: str,
    reason: ClarifyReason,
    best_score: float,
    *,
    before: tuple[Step, ...] = (),
    about: JsonObject | None = None,
) -> Pass:
    """Return a guard's way to the request for clarification.

    Args:
        text: the deployment's.
        reason: why there is no answer.
        best_score: the highest score among the candidates.
        before: the steps that the guard completes before.
        about: who abstained, as history names a proposer.
    """
    step = Step(
        {"phase": "fallback", "reason": TRACED[reason]}, {"action": "fallback", "answer": text, **(about or {})}
    )
    accepted = Clarification(answer=text, clarify_reason=reason, best_score=best_score)
    return Pass({"accepted_clarification": accepted}, "clarified", (*before, step))


@declares(phase="generate", reads=["accepted_clarification"], writes=RESULT)
def clarified(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with an honest request for clarification."""
    empty: JsonObject = {"citations": [], "citation_details": [], "passages": []}
    return {"outcome": "clarify", **state["accepted_clarification"], **empty}
