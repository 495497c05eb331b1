"""The tool agent: plan a step, judge each call, make the licensed ones, ask a person about others, and answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

from guardgraph.graphs.grammar import Deployment, Pattern
from guardgraph.graphs.own_guards import Verifier, choose_verifier, declare_answer_guard
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.schemas import check_arguments, find_reference_problem
from guardgraph.nodes import tools as nodes
from guardgraph.nodes.offline.tools import plan_offline_step
from guardgraph.nodes.own_guards import AnswerGuard, extend_catalogue
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.settings import choose_settings
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.state.tools import (
    DECIDING,
    TOOL_REASONS,
    ToolBudget,
    ToolCard,
    ToolContext,
    ToolInput,
    ToolPolicy,
    ToolResult,
    ToolRule,
    ToolState,
)
from guardgraph.tools.langchain.calling import name_tools
from guardgraph.tools.office import OFFICE_POLICY, make_demo_office
from guardgraph.world.call import Outside, ToolTable
from guardgraph.world.chat_models import ChatModel
from guardgraph.world.prompts import PromptFiles, read_own_prompts
from guardgraph.world.proposers import Proposer, choose_proposer

if TYPE_CHECKING:
    from guardgraph.tools.langchain.calling import Tools


def create_tool_agent(
    model: ChatModel | str | None = None,
    tools: Tools | None = None,
    *,
    planner: Outside | Literal["rules"] | None = None,
    policy: ToolPolicy | None = None,
    budget: ToolBudget | None = None,
    instructions: str | None = None,
    prompts: PromptFiles | None = None,
    guards: Sequence[AnswerGuard] = (),
    verifier: Verifier | None = None,
    checkpointer: Any = None,
    name: str | None = None,
    **deployment: Unpack[Deployment],
) -> GuardedGraph[ToolInput, ToolContext, ToolResult]:
    """Return the tool agent as a compiled LangGraph graph.

    It is given ``{"task": str, "history"?: [{"role", "content"}]}`` and returns a `ToolResult`. A call of a tool
    is a proposal; only one with a licence is made.

    Args:
        model: who plans and answers: a chat model, plain or wrapped, ``"openai"``, ``"PROVIDER:NAME"``, or None for
            the offline rules, which know the tools of the demo alone.
        tools: tools of LangChain's (those of MCP servers by langchain-mcp-adapters) and typed functions, in a list, or
            `NamedTool`s by name; the demo's office when None. A function with a parameter ``idempotency_key`` is given
            the key of a write.
        planner: replaces the planner; given ``{task, tools, results}``, and ``history`` and ``plan`` where there
            are any, it returns ``{"calls": [{"tool", "args"}], "plan"?}`` or ``{"answer": str, "declined"?: bool}``.
        policy: the lists, and the rule of each tool: one without a rule writes, and nothing that it returns is trusted.
            A list that it leaves out holds all tools.
        budget: the limits of one run.
        instructions: tone, language and house rules; as for `create_rag_agent`. No call gets a licence by them.
        prompts: in place of ours; as for `create_rag_agent`.
        guards: of your own, in their order, behind the answer guard; each sees the answer, and what the planner saw.
        verifier: who judges, behind every other check, whether the task and the results bear out each sentence of the
            answer, and may only refuse; as for `create_rag_agent`. None by default.
        checkpointer: LangGraph's; needed by tools that write, unless the recorder keeps begun runs, and where a person
            may be asked.
        name: the graph's name; ``"tools"`` when None, and on LangGraph's server the id in langgraph.json.
        **deployment: world, recorder, reviewers, shadow, forks and live, as for `Pattern.compile`.

    Raises:
        ConfigurationError: an argument is wrong, or the policy names a tool or an argument that there is not; the
            message names it.
    """
    limits = choose_settings(ToolBudget(), budget, "budget")
    if tools is not None and model is None and planner is None:
        raise ConfigurationError("model, planner: one of them is required beside tools; the offline rules know none")
    table = ToolTable(
        make_demo_office() if tools is None else name_tools(tools), task="accepted_task", history="accepted_history"
    )
    rules = choose_settings(OFFICE_POLICY if tools is None else ToolPolicy(), policy, "policy")
    chosen = choose_proposer(
        "planner",
        planner,
        model=model,
        prompt="tools_plan",
        offline=plan_offline_step,
        budget=limits,
        instructions=instructions,
        prompts=read_own_prompts(prompts, "tools"),
    )
    return tool_pattern(
        planner=chosen,
        table=table,
        policy=fill_tool_policy(rules, table.cards),
        budget=limits,
        guards=guards,
        verifier=choose_verifier(verifier),
    ).compile(name=name, checkpointer=checkpointer, **deployment)


def tool_pattern(
    *,
    planner: Proposer,
    table: ToolTable,
    policy: ToolPolicy,
    budget: ToolBudget,
    guards: Sequence[AnswerGuard] = (),
    verifier: Proposer | None = None,
) -> Pattern[ToolInput, ToolContext, ToolResult]:
    """Return the tool agent's diagram."""
    answer = nodes.make_guarded_answer(table.cards)
    reasons = extend_catalogue(TOOL_REASONS, guards, answer.phase)
    p = Pattern(
        reasons,
        state=ToolState,
        input=ToolInput,
        output=ToolResult,
        policy=policy,
        budget=budget,
        tools=table,
        so_far={"tool_calls": "accepted_calls", "answer": "accepted_answer.answer"},
        answers={"plan": "answer", "answer_last": "answer"},
    )
    every = [*table.tools]
    reading = [tool for tool in every if policy.rule_of(tool).effect == "read"]
    p.entry("request_guard", nodes.run_task_guard_node, to="plan")
    p.propose("plan", nodes.make_plan_node(planner, table.cards), to="action_guard")
    ways = ["read", "write", "approve", "answer_guard"]
    p.guard("action_guard", nodes.make_action_guard_node(table.cards), to=ways, again="plan")
    p.act("read", nodes.make_call_node(reading), behind="action_guard", to="result_guard")
    p.act("write", nodes.make_call_node(every, every), behind="action_guard", to="result_guard")
    p.review("approve", nodes.make_approve_node(table.cards), to="review_guard")
    p.guard("review_guard", nodes.run_review_guard_node, to="write_approved")
    p.act("write_approved", nodes.make_call_node(every, every), behind="review_guard", to="result_guard")
    p.guard("result_guard", nodes.run_result_guard_node, to=["plan", "action_guard"])
    declare_answer_guard(
        p,
        "answer_guard",
        nodes.make_answer_guard_node(table.cards),
        answer,
        to=["answered"],
        again=["plan"],
        guards=guards,
        verifier=verifier,
    )
    if policy.on_limit == "partial":
        p.limit("limit_guard", nodes.run_limit_guard_node, to="answer_last")
        p.propose("answer_last", nodes.make_last_answer_node(planner, table.cards), to="last_answer_guard")
        p.guard("last_answer_guard", nodes.run_last_answer_guard_node, to="answer_guard")
    held = {"answer": "accepted_answer.answer", "outcome": "accepted_answer.outcome"}
    p.terminal("answered", nodes.run_answered_node, behind="answer_guard", held=held)
    return p


def fill_tool_policy(policy: ToolPolicy, cards: Mapping[str, ToolCard]) -> ToolPolicy:
    """Return a policy whose lists hold all tools where it leaves them out."""
    check_tool_policy(policy, cards)
    left_out = [name for name in ToolPolicy.filled if policy.is_open(name)]
    return policy.model_copy(update=dict.fromkeys(left_out, tuple(cards)))


def check_tool_policy(policy: ToolPolicy, cards: Mapping[str, ToolCard]) -> None:
    """Hold what a policy names against the tools that there are."""
    unknown = partial(explain_unknown_name, names=[*cards])
    policy.check_listed("policy", dict.fromkeys(("tools_policy", "tools_execution", "denied_tools"), unknown))
    for tool, rule in policy.rules.items():
        if (said := unknown(tool)) is not None:
            raise ConfigurationError(f"policy.rules: no such tool; {said}")
        properties = cards[tool]["schema"].get("properties", {})
        authority = [name for name in rule.authority if name != DECIDING]
        named = {"arguments": [*rule.arguments], "forced": [*rule.forced], "authority": authority}
        for field, names in named.items():
            for name in names:
                if (said := explain_unknown_name(name, [*properties])) is not None:
                    raise ConfigurationError(f"policy.rules.{tool}.{field}: {said}")
        _check_rule_values(tool, rule, cards[tool]["schema"])


def _check_rule_values(tool: str, rule: ToolRule, schema: JsonObject) -> None:
    at = f"policy.rules.{tool:.80}"
    if rule.pin is not None and re.fullmatch("[0-9a-f]{64}", rule.pin) is None:
        raise ConfigurationError(
            f"{at}.pin: 64 digits of a SHA-256, 0-9 and a-f, are required; given: {rule.pin!r:.80}"
        )
    for name, limits in rule.arguments.items():
        if limits.min is not None and limits.max is not None and limits.min > limits.max:
            given = f"min {limits.min}, max {limits.max}"
            raise ConfigurationError(f"{at}.arguments.{name:.80}: a min up to its max is required; given: {given}")
    kept = ("$schema", "$defs", "definitions", "properties")
    of_one: JsonObject = {key: schema[key] for key in kept if key in schema}
    if find_reference_problem(of_one) is not None:  # it leads to a part that holds for several arguments at once
        return
    for name, value in rule.forced.items():
        try:
            check_arguments(tool, {name: value}, of_one)
        except Stop as refused:
            allowed = refused.evidence["details"]["allowed"]
            raise ConfigurationError(f"{at}.forced.{name:.80}: {allowed}; given: {value!r:.80}") from None
