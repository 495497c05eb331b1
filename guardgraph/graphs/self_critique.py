"""The Self-critique agent: draft, criticise, revise within bounds and audit, or escalate to a person."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from guardgraph.graphs.door import GuardedGraph
from guardgraph.graphs.grammar import Pattern
from guardgraph.nodes import self_critique as nodes
from guardgraph.nodes.offline import self_critique as offline
from guardgraph.state.recording import Recorder
from guardgraph.state.self_critique import (
    SELF_CRITIQUE_REASONS,
    SelfCritiqueBudget,
    SelfCritiqueInput,
    SelfCritiquePolicy,
    SelfCritiqueResult,
    SelfCritiqueState,
)
from guardgraph.state.settings import settings_or
from guardgraph.world.call import Outside
from guardgraph.world.proposers import Proposer, choose_proposer
from guardgraph.world.world import World

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["create_self_critique_agent", "self_critique_pattern"]


def create_self_critique_agent(
    model: BaseChatModel | str | None = None,
    *,
    drafter: Outside | None = None,
    shortener: Outside | None = None,
    critic: Outside | None = None,
    reviser: Outside | None = None,
    policy: SelfCritiquePolicy | None = None,
    budget: SelfCritiqueBudget | None = None,
    checkpointer: Any = None,
    name: str = "self_critique_agent",
    world: World | None = None,
    recorder: Recorder | None = None,
) -> GuardedGraph:
    """Return the Self-critique agent as a compiled LangGraph graph.

    It is given ``{"goal": str, "incident_context": {…}}`` and returns a `SelfCritiqueResult`.

    Args:
        model: who writes and criticises: a chat model, ``"openai"``, ``"openai:NAME"``, or None for the offline rules.
        drafter: replaces the drafter; given ``{goal, incident_context}``, it returns ``{draft}``.
        shortener: replaces the shortener; given ``{draft, max_chars}``, it returns ``{draft}``.
        critic: replaces the critic; given ``{goal, incident_context, draft, allowed_risk_types}``, it returns a
            critique ``{decision, severity, risks, required_changes, reason}``.
        reviser: replaces the reviser; given ``{goal, incident_context, draft, required_changes}``, it returns
            ``{revised_answer}``.
        policy: the decisions and risks on the lists, and the checks.
        budget: the limits of one run.
        checkpointer: LangGraph's.
        name: the graph's name.
        world: what the graph reaches outside through; the live one when None.
        recorder: who is given the recording of every run that ends.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """
    limits = settings_or(SelfCritiqueBudget(), budget, "budget")
    choose = partial(choose_proposer, model=model, budget=limits)
    return self_critique_pattern(
        drafter=choose("drafter", drafter, prompt="critique_draft", offline=offline.draft),
        shortener=choose("shortener", shortener, prompt="critique_shorten", offline=offline.shorten),
        critic=choose("critic", critic, prompt="critique_review", offline=offline.critique),
        reviser=choose("reviser", reviser, prompt="critique_revise", offline=offline.revise),
        strict_reviser=choose("reviser", reviser, prompt="critique_revise_strict", offline=offline.revise),
        policy=settings_or(SelfCritiquePolicy(), policy, "policy"),
        budget=limits,
    ).compile(name=name, checkpointer=checkpointer, world=world, recorder=recorder)


def self_critique_pattern(
    *,
    drafter: Proposer,
    shortener: Proposer,
    critic: Proposer,
    reviser: Proposer,
    strict_reviser: Proposer,
    policy: SelfCritiquePolicy,
    budget: SelfCritiqueBudget,
) -> Pattern:
    """Return the Self-critique agent's diagram."""
    p = Pattern(
        SELF_CRITIQUE_REASONS,
        state=SelfCritiqueState,
        input=SelfCritiqueInput,
        output=SelfCritiqueResult,
        policy=policy,
        budget=budget,
    )
    p.entry("request_guard", nodes.check_request, writes=["task"], to="draft")
    _draft(p, drafter, shortener)
    _critique(p, critic)
    _revise(p, reviser, strict_reviser)
    _finalize(p)
    return p


def _draft(p: Pattern, drafter: Proposer, shortener: Proposer) -> None:
    p.propose("draft", nodes.draft(drafter), phase="draft", reads=["task"], writes=["proposed_draft"], to="draft_guard")
    p.guard(
        "draft_guard",
        nodes.check_draft,
        phase="draft",
        reads=["task", "proposed_draft", "rejected_draft"],
        writes=["rejected_draft", "accepted_draft"],
        to=["critique", "shorten"],
        stops=["llm", "invalid_draft"],
    )
    p.propose(
        "shorten",
        nodes.shorten(shortener),
        phase="draft",
        reads=["rejected_draft"],
        writes=["proposed_draft"],
        to="draft_guard",
    )


def _critique(p: Pattern, critic: Proposer) -> None:
    p.propose(
        "critique",
        nodes.ask_critic(critic),
        phase="critique",
        reads=["task", "accepted_draft"],
        writes=["proposed_critique"],
        to="critique_guard",
    )
    p.guard(
        "critique_guard",
        nodes.check_critique,
        phase="critique",
        reads=["proposed_critique"],
        writes=["accepted_critique"],
        to=["revise", "final_guard", "escalation_guard"],
        stops=["llm", "invalid_critique", "not_allowed_policy", "denied_execution"],
    )
    p.guard(
        "escalation_guard",
        nodes.escalate,
        phase="critique",
        reads=["accepted_critique"],
        to=[],
        stops=["denied_execution", "escalation"],
    )


def _revise(p: Pattern, reviser: Proposer, strict: Proposer) -> None:
    p.propose(
        "revise",
        nodes.revise(reviser, strict),
        phase="revise",
        reads=["task", "accepted_draft", "accepted_critique", "rejected_revision"],
        writes=["proposed_revision"],
        to="patch_guard",
    )
    p.guard(
        "patch_guard",
        nodes.check_patch,
        phase="revise",
        reads=["task", "accepted_draft", "accepted_critique", "rejected_revision", "proposed_revision"],
        writes=["rejected_revision", "accepted_revision"],
        to=["final_guard", "revise", "repair"],
        stops=["llm", "denied_execution", "invalid_revised", "patch_violation"],
    )
    p.propose(
        "repair",
        nodes.repair,
        phase="revise",
        reads=["accepted_critique", "rejected_revision"],
        writes=["proposed_revision"],
        to="patch_guard",
    )


def _finalize(p: Pattern) -> None:
    p.guard(
        "final_guard",
        nodes.check_final,
        phase="finalize",
        reads=["task", "accepted_draft", "accepted_critique", "accepted_revision"],
        writes=["accepted_answer", "accepted_audit"],
        to=["approved", "revised"],
        stops=["denied_execution", "invalid_answer"],
    )
    result = [
        "outcome",
        "answer",
        "critique_decision",
        "severity",
        "risks",
        "required_changes",
        "audit",
    ]
    reads = ["accepted_critique", "accepted_answer", "accepted_audit"]
    p.terminal("approved", nodes.approved, phase="finalize", reads=reads, writes=result)
    p.terminal("revised", nodes.revised, phase="finalize", reads=reads, writes=result)
