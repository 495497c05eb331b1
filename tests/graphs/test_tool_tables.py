"""A table of tools: what a pattern with one declares, what `verify` finds in it, and what can be no table."""

import functools

import pytest
from langchain_core.tools import StructuredTool
from tables import each_row
from tool_pattern import TOOLS as NAMES
from tool_pattern import Desk, desk_graph, pattern, planning

import guardgraph.grammar as gg
from guardgraph import ConfigurationError, GrammarError, verify


def found(p):
    return [finding for finding in verify(p.builder().compile()) if finding.rule in ("tools", "behind")]


def test_a_pattern_with_a_table_holds():
    """No rule is broken, and the metadata of its nodes says which tools they may call."""
    graph = desk_graph(planning(), Desk())
    assert verify(graph) == []
    shown = graph.builder.nodes["write_approved"].metadata
    assert (shown["tools"], shown["behind"]) == ([*NAMES], ["review_guard"])
    assert graph.builder.nodes["read"].metadata["tools"] == ["read_bill"]


def pay(args):
    """Pay, as a tool of a module does."""
    return "paid"


class Clerk:
    def __init__(self, tool=pay):
        self.tools = {"pay": [tool]}

    def pay(self, args):
        return self.tools["pay"][0](args)

    def body(self, state, run):
        return self.pay({})


BANK = Clerk()


def close_over(tool):
    held = [(tool,)]
    return lambda state, run: held[0][0]({})


PLACES = {
    "closed over": lambda tool: lambda state, run: tool({}),
    "in a list": close_over,
    "in a partial": lambda tool: functools.partial(lambda held, state, run: held({}), tool),
    "in a keyword of a partial": lambda tool: functools.partial(lambda state, run, held: held({}), held=tool),
    "in a bound method": lambda tool: Clerk(tool).body,
    "in a proposer": lambda tool: gg.Proposer(tool, {}).call,
}
TOOLS = {
    "a function": (pay, pay),
    "a method": (BANK.pay, BANK),
    "a partial": (functools.partial(pay), pay),
    "LangChain's": (StructuredTool.from_function(pay, description="Pay."), pay),
}
"""What the table has, and what of it a body holds."""


@pytest.mark.paired
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("place", PLACES)
def test_a_tool_that_a_body_holds_is_found(place, tool):
    target, part = TOOLS[tool]
    table = gg.ToolTable(dict.fromkeys(NAMES, gg.NamedTool(target)), task="order", history="before")
    findings = found(pattern(planning(), Desk(), table=table, bodies={"write": PLACES[place](part)}))
    assert {(finding.rule, finding.nodes) for finding in findings} == {("tools", ("write",))}
    assert "the body of write holds the function of send_money" in "\n".join(map(str, findings))


def test_what_is_pythons_own_is_no_tool_that_a_body_holds():
    table = gg.ToolTable(dict.fromkeys(NAMES, gg.NamedTool(str)), task="order", history="before")
    assert found(pattern(planning(), Desk(), table=table, bodies={"write": close_over(str)})) == []


def declared(**acting):
    return [str(finding) for finding in found(pattern(planning(), Desk(), **acting))]


def test_what_a_node_may_call_is_in_the_table_and_writes_are_its_effects():
    """And what was given to the run is written by the entry guard alone."""
    assert declared(calls=["send_money", "fly"], effects=["send_money"]) == [
        "tools: write may call fly, which is no tool of the table",
        "tools: write may call fly, which writes and is not among its effects",
    ]
    [finding] = declared(calls=["read_bill"], effects=["send_money"])
    assert finding == "tools: write changes something by send_money, which is not among its calls"
    [finding] = declared(calls=["read_bill", "send_money"], effects=())
    assert finding == "tools: write may call send_money, which writes and is not among its effects"

    p = pattern(planning(), Desk())
    p.guard("late", lambda state, run: gg.Pass({}), phase="act", reads=[], writes=["order"], to="plan")
    [finding] = [item for item in verify(p.builder().compile()) if item.rule == "tools"]
    assert str(finding) == "tools: late writes order, which holds what was given to the run"


@each_row(
    ("tools", "message"),
    ({3: gg.NamedTool(pay)}, "tools: names that are texts and not blank are required; given: 3"),
    ({"pay": pay}, "tools.pay: a NamedTool is required; given: function"),
    ({"pay": gg.NamedTool(pay, "", {"a": {1}})}, "tools.pay: plain JSON as description and schema is required"),
)
def test_a_table_has_tools_by_name(tools, message):
    """Anything else is an error that names the field, what was given and what is allowed."""
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        gg.ToolTable(tools)


@each_row(
    ("given", "message"),
    ({"policy": gg.Policy()}, "policy: a ToolPolicy is required with tools; given: Policy"),
    ({"budget": gg.Budget()}, "budget: a ToolBudget is required with tools; given: Budget"),
    ({"table": gg.ToolTable({})}, "tools: channels of the state are required; given: task"),
    ({"table": {"pay": pay}}, "tools: a ToolTable is required; given: dict"),
)
def test_a_pattern_with_a_table_has_its_policy_budget_and_channels(given, message):
    with pytest.raises(GrammarError, match=message):
        desk_graph(planning(), Desk(), **given)
