"""The Self-critique agent: draft, criticise, revise within bounds and audit, or escalate to a person."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

from guardgraph.graphs.grammar import Deployment, Pattern
from guardgraph.graphs.own_guards import declare_answer_guard
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.guards.self_critique import restricted_claims
from guardgraph.nodes import self_critique as nodes
from guardgraph.nodes.offline import self_critique as offline
from guardgraph.nodes.own_guards import AnswerGuard, extend_catalogue
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.self_critique import (
    RISK_TYPES,
    SELF_CRITIQUE_REASONS,
    SelfCritiqueBudget,
    SelfCritiqueContext,
    SelfCritiqueInput,
    SelfCritiquePolicy,
    SelfCritiqueResult,
    SelfCritiqueState,
)
from guardgraph.state.settings import choose_settings
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.tools.langchain.judges import LangChainSimilarity
from guardgraph.world.call import Outside
from guardgraph.world.chat_models import ChatModel
from guardgraph.world.prompts import PromptFiles, read_own_prompts
from guardgraph.world.proposers import Proposer, choose_proposer
from guardgraph.world.tenants import Ledger, is_ledger, make_tenant_counter, validate_ledger

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


def create_self_critique_agent(
    model: ChatModel | str | None = None,
    *,
    drafter: Outside | Literal["rules"] | None = None,
    shortener: Outside | Literal["rules"] | None = None,
    critic: Outside | Literal["rules"] | None = None,
    reviser: Outside | Literal["rules"] | None = None,
    instructions: str | None = None,
    prompts: PromptFiles | None = None,
    guards: Sequence[AnswerGuard] = (),
    policy: SelfCritiquePolicy | None = None,
    budget: SelfCritiqueBudget | None = None,
    ledger: Ledger | None = None,
    embedding: Embeddings | None = None,
    checkpointer: Any = None,
    name: str | None = None,
    **deployment: Unpack[Deployment],
) -> GuardedGraph[SelfCritiqueInput, SelfCritiqueContext, SelfCritiqueResult]:
    """Return the Self-critique agent as a compiled LangGraph graph.

    It is given ``{"goal": str, "incident_context": {…}}`` and returns a `SelfCritiqueResult`.

    Args:
        model: who writes and criticises: a chat model, plain or wrapped, ``"openai"``, ``"PROVIDER:NAME"``, or None for
            the offline rules.
        drafter: replaces the drafter; given ``{goal, incident_context}``, it returns ``{draft}``.
        shortener: replaces the shortener; given ``{draft, max_chars}``, it returns ``{draft}``.
        critic: replaces the critic; given ``{goal, incident_context, draft, allowed_risk_types}``, it returns a
            critique ``{decision, severity, risks, required_changes, reason}``.
        reviser: replaces the reviser; given ``{goal, incident_context, draft, required_changes}``, it returns
            ``{revised_answer}``.
        instructions: tone, language and house rules, told to every model behind its prompt and within its rules: to the
            critic too, whose phrases go into the text; guards decide as they do without. The offline rules and
            proposers of your own are not told them.
        prompts: in place of ours; as for `create_rag_agent`.
        guards: of your own, in their order, behind the answer guard; each sees the text that is about to be
            returned, with goal and incident.
        policy: the decisions and risks on the lists, and the checks.
        budget: the limits of one run.
        ledger: who counts critiques of high severity for `severity_budget`, such as a store of `sql_store`; the
            recorder when None, if it keeps accounts.
        embedding: LangChain's, by which `MUST_MENTION` and `MUST_SOFTEN` are judged beside the stems of their phrases;
            see `min_mention_similarity` and `max_soften_similarity` of the budget.
        checkpointer: LangGraph's; needed where the policy says ``escalation="wait"``.
        name: the graph's name; ``"self_critique"`` when None, and on LangGraph's server the id in langgraph.json.
        **deployment: world, recorder, reviewers, shadow, forks and live, as for `Pattern.compile`.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """
    limits = choose_settings(SelfCritiqueBudget(), budget, "budget")
    recorder: Any = deployment.get("recorder")
    if ledger is None and limits.severity_budget is not None and is_ledger(recorder):
        ledger = recorder
    if ledger is not None:
        validate_ledger(ledger)
    elif limits.severity_budget is not None:
        raise ConfigurationError(
            "ledger: one that counts for severity_budget is required, or such a recorder, as a store is; given: None"
        )
    rules, own = choose_settings(SelfCritiquePolicy(), policy, "policy"), read_own_prompts(prompts, "critique")
    _check_own_words(rules)
    choose = partial(choose_proposer, model=model, budget=limits, instructions=instructions, prompts=own)
    draft = choose("drafter", drafter, prompt="critique_draft", offline=offline.write_offline_draft)
    shorten = choose("shortener", shortener, prompt="critique_shorten", offline=offline.shorten_offline_draft)
    criticise = choose("critic", critic, prompt="critique_review", offline=offline.critique_offline_draft)
    revising = partial(choose, "reviser", reviser, offline=offline.revise_offline_draft)
    revise, revise_strictly = revising(prompt="critique_revise"), revising(prompt="critique_revise_strict")
    p = Pattern(
        extend_catalogue(SELF_CRITIQUE_REASONS, guards, nodes.GUARDED_ANSWER.phase),
        state=SelfCritiqueState,
        input=SelfCritiqueInput,
        output=SelfCritiqueResult,
        policy=rules,
        budget=limits,
        so_far={"draft": "accepted_draft", "critique": "accepted_critique", "answer": "accepted_answer"},
        answers={"draft": "draft", "shorten": "draft", "revise": "revised_answer"},
    )
    p.entry("request_guard", nodes.run_request_guard_node, to="draft")
    p.propose("draft", nodes.make_draft_node(draft), to="draft_guard")
    p.guard("draft_guard", nodes.run_draft_guard_node, to=["critique", "shorten"], again=["draft", "shorten"])
    p.propose("shorten", nodes.make_shorten_node(shorten), to="draft_guard")
    p.propose("critique", nodes.make_critique_node(criticise), to="critique_guard")
    decided = ["revise", "final_guard", "escalation_guard"]
    if ledger is not None:
        count = nodes.make_count_severity_node(make_tenant_counter(ledger, "high"))
        p.act(nodes.COUNTING_NODE, count, to="severity_guard")
        p.guard("severity_guard", nodes.run_severity_guard_node, to="escalation_guard")
        decided.append(nodes.COUNTING_NODE)
    p.guard("critique_guard", nodes.run_critique_guard_node, to=decided, again="critique")
    is_waiting = rules.escalation == "wait"
    p.guard("escalation_guard", nodes.run_escalation_guard_node, to=["escalate"] if is_waiting else [])
    if is_waiting:
        p.review("escalate", nodes.run_escalate_node, to="decision_guard")
        p.guard("decision_guard", nodes.run_decision_guard_node, to="final_guard")
    p.propose("revise", nodes.make_revise_node(revise, revise_strictly), to="patch_guard")
    patched = ["final_guard", "revise", "repair"]
    judge, measuring = nodes.run_patch_guard_node, list[str]()
    if embedding is not None:
        scale = LangChainSimilarity(embedding)
        measurer = Proposer(scale, {"proposer": scale.name})
        judge, measuring = nodes.run_unmeasured_patch_guard_node, [nodes.MEASURING_NODE]
        p.propose(nodes.MEASURING_NODE, nodes.make_measure_changes_node(measurer), to="changes_guard")
        p.guard("changes_guard", nodes.run_changes_guard_node, to=patched)
    p.guard("patch_guard", judge, to=[*patched, *measuring], again="revise", attempts=nodes.PATCH_ATTEMPTS)
    p.propose("repair", nodes.run_repair_node, to="patch_guard")
    declare_answer_guard(
        p, "final_guard", nodes.run_final_guard_node, nodes.GUARDED_ANSWER, to=["approved", "revised"], guards=guards
    )
    held = {"answer": "accepted_answer", "audit": "accepted_audit"}
    p.terminal("approved", nodes.run_approved_node, held={**held, "outcome": ("approved_direct", "approved_by_person")})
    p.terminal("revised", nodes.run_revised_node, held={**held, "outcome": ("revised_once", "edited_by_person")})
    return p.compile(name=name, checkpointer=checkpointer, **deployment)


def _check_own_words(rules: SelfCritiquePolicy) -> None:
    """Refuse risks that no critic can name, and claims that no text can make."""
    known = [*dict.fromkeys((*rules.allowed_risk_types_policy, *RISK_TYPES))]
    for problem in filter(None, (explain_unknown_name(risk, known) for risk in rules.high_risk_types)):
        raise ConfigurationError(f"policy.high_risk_types: {problem}")
    restricted_claims("", [pack for pack in rules.claims if not isinstance(pack, str)])
