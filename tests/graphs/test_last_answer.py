"""A run that a budget ends gives one last guarded answer, made of what was accepted; see `on_limit`."""

import asyncio
from typing import Any

import pytest
from recorded_runs import Kept
from runs import check_result
from searched_worlds import HOSTS, OPEN, TEXTS, Searched, asked, searching_agent
from tables import each_row

from guardgraph import ConfigurationError, LiveWorld, ToolBudget, ToolPolicy, create_tool_agent, replay, verify
from guardgraph.graphs.tools import tool_pattern
from guardgraph.nodes import tools as nodes
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.state.tools import TOOL_REASONS
from guardgraph.testing import ScriptedChatModel, ScriptedClock, scripted_verifier
from guardgraph.world.proposers import Proposer

TASK = {"task": "In which rooms are Ann, Bob and Cid?"}
ROOMS = {"Ann": 4, "Bob": 5, "Cid": 6}
READS = {"look": {"effect": "read"}}
PARTIAL = ToolPolicy(rules=READS, on_limit="partial")
ANSWER = "Ann is in room 4. The others were not looked up."


class Rooms:
    """A planner that looks people up one by one, with something to say at last, and a tool; each takes a second."""

    def __init__(self, last: Any = None) -> None:
        self.clock, self.views = ScriptedClock(), list[Any]()
        self.last = {"answer": ANSWER} if last is None else last

    def plan(self, view: Any) -> Any:
        self.views.append(view)
        self.clock.advance(1)
        if "last" in view:
            return self.last
        name = [*ROOMS][len(view["results"]) % 3]
        return {"calls": [{"tool": "look", "args": {"name": name}}], "plan": "one by one"}

    def look(self, name: str) -> str:
        """Look a person up."""
        self.clock.advance(1)
        return f"{name} is in room {ROOMS[name]}"

    def make(self, *, policy: ToolPolicy = PARTIAL, recorder: Any = None, **budget: Any) -> Any:
        given = {"policy": policy, "budget": ToolBudget(**budget), "recorder": recorder}
        return create_tool_agent(planner=self.plan, tools=[self.look], world=LiveWorld(clock=self.clock), **given)


def run(rooms: Rooms, context: Any = None, **given: Any) -> Any:
    kept = Kept()
    agent = rooms.make(recorder=kept, **given)
    result = agent.invoke(TASK, context=context)
    assert replay(agent, kept.recordings[-1]) == result
    return check_result(TOOL_REASONS, result)


@pytest.mark.parametrize(("ended_by", "most"), [("max_tool_calls", 1), ("max_seconds", 7)])
def test_tools_answer_with_what_they_brought(ended_by: str, most: int) -> None:
    """Nothing can be called any more, and the result says which limit it was; sync, async and replayed alike."""
    rooms, budget = Rooms(), {ended_by: most}
    result = run(rooms, **budget)
    assert (result["status"], result["outcome"], result["ended_by"]) == ("ok", "grounded_partial", ended_by)
    assert (result["answer"], len(result["tool_calls"])) == (ANSWER, 1)
    assert (rooms.views[-1]["tools"], rooms.views[-1]["last"]) == ([], ended_by)
    assert result["path"][-5:] == ["limit_guard", "answer_last", "last_answer_guard", "answer_guard", "answered"]
    [ended] = [entry for entry in result["timeline"] if entry.get("verdict") == "limit"]
    assert (ended["to"], ended["reason"]) == ("limit_guard", ended_by)
    again = asyncio.run(Rooms().make(**budget).ainvoke(TASK))
    assert (again["path"], again["answer"]) == (result["path"], result["answer"])


def test_calls_of_models_are_kept_for_the_last_answer() -> None:
    look = '{"calls": [{"tool": "look", "args": {"name": "%s"}}]}'
    model = ScriptedChatModel(look % "Ann", look % "Bob", {"answer": "Ann is in room 4, Bob in room 5."})
    agent = create_tool_agent(model, [Rooms().look], policy=PARTIAL, budget=ToolBudget(max_llm_calls=4))
    result = agent.invoke(TASK)
    assert (result["outcome"], result["ended_by"]) == ("grounded_partial", "max_llm_calls")
    assert result["usage"]["calls"] == 3
    assert "(max_llm_calls) has ended" in str(model.calls[-1])
    assert "has ended" not in str(model.calls[0])


@each_row(
    ("last", "why"),
    ({"answer": "Ann is in room 77."}, "invalid_answer:unsupported_number"),
    ({"answer": "See https://rooms.evil.dev/ann."}, "invalid_answer:unsupported_link"),
    ({"answer": " "}, "invalid_answer:empty"),
    ({"calls": [{"tool": "look", "args": {"name": "Bob"}}]}, "max_tool_calls"),
    ({"say": 1}, "invalid_action:not_object"),
)
def test_a_last_answer_that_is_refused_ends_the_run_with_the_limit(last: Any, why: str) -> None:
    """Nobody is asked again, nothing is called, and what was found is returned as data."""
    rooms = Rooms(last)
    result = run(rooms, max_tool_calls=1)
    assert (result["status"], result["stop_reason"]) == ("stopped", "max_tool_calls")
    assert sum("last" in view for view in rooms.views) == 1
    assert why == "max_tool_calls" or result["details"]["last_answer"]["reason"] == why
    assert [call["value"] for call in result["so_far"]["tool_calls"]] == ["Ann is in room 4"]
    assert not {"answer", "ended_by"} & result.keys()


def test_where_nothing_was_brought_the_run_stops_as_without() -> None:
    rooms = Rooms()
    result = run(rooms, max_tool_calls=0)
    assert (result["stop_reason"], "so_far" in result) == ("max_tool_calls", False)
    assert not any("last" in view for view in rooms.views)


def test_every_way_to_the_ending_passes_the_answer_guard_and_no_act() -> None:
    assert verify(Rooms().make()) == []
    drawn = Rooms().make().get_graph()
    assert {edge.target for edge in drawn.edges if edge.source == "answer_last"} == {"last_answer_guard"}
    agent = Rooms().make(policy=ToolPolicy(rules=READS))
    assert "limit_guard" not in agent.get_graph().nodes
    settings: Any = {"table": agent.frame.table, "policy": agent.frame.policy, "budget": agent.frame.budget}
    pattern = tool_pattern(planner=Proposer(lambda view: {}, {}), **settings)
    pattern.limit("limit_guard", nodes.run_limit_guard_node, to="plan")
    with pytest.raises(ConfigurationError, match=r"limit: read acts behind limit_guard \[limit_guard -> plan"):
        pattern.compile()


@pytest.mark.parametrize("less", [{"max_seconds": 5}, {"max_llm_calls": 2}, {"max_tokens": 8}, {"reserve_seconds": 60}])
def test_a_reserve_is_smaller_than_the_budget(less: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"budget\.reserve_(seconds|calls|tokens): less than max_\w+ \("):
        Rooms().make(**less)
    assert Rooms().make(policy=ToolPolicy(rules=READS), **less)


def research(takes: float, *, texts: Any = TEXTS, policy: Any = None, budget: Any = None, **given: Any) -> Any:
    """Run an agent whose second query comes after so many seconds, beyond its time; return it and the result."""
    clock, kept = ScriptedClock(), Kept()

    def propose(view: Any) -> Any:
        clock.advance(takes)
        return {"open": [], "queries": ["beta"]}

    rules = OPEN.model_copy(update={"on_limit": "partial", **(policy or {})})
    world, limits = LiveWorld(clock=clock), {"max_seconds": 250.0, **(budget or {})}
    agent = searching_agent(Searched(texts), propose, policy=rules, world=world, recorder=kept, budget=limits, **given)
    result = check_result(RESEARCH_REASONS, agent.invoke(asked()))
    assert (replay(agent, kept.recordings[-1]), verify(agent)) == (result, [])
    return result


def test_research_ends_with_the_notes_that_were_verified() -> None:
    """Time ends within the second search: the brief says what the first one found."""
    result = research(196, budget={"max_seconds": 206.0, "reserve_seconds": 10.0})
    assert (result["outcome"], result["ended_by"]) == ("grounded_partial", "max_seconds")
    assert ("40 litres" in result["answer"], "limit_guard" in result["path"]) == (True, True)
    assert (result["queries"][0], "stopped_because" in result) == ("alpha", False)


def test_notes_that_a_verifier_has_not_judged_are_no_notes() -> None:
    result = research(0, verifier=scripted_verifier(), model=ScriptedChatModel({}), budget={"max_llm_calls": 3})
    assert (result["status"], "notes" in result.get("so_far", {})) == ("stopped", False)


def test_conflicting_notes_are_no_last_answer() -> None:
    said = zip(HOSTS, (40, 50), strict=False)
    texts = {f"https://{host}/a": f"Alpha pumps move {number} litres a minute." for host, number in said}
    result = research(245, texts=texts, policy={"corroboration": "require"})
    assert result["stop_reason"] == "max_seconds"
    assert result["details"]["last_answer"]["reason"] == "conflicting_sources"
    assert [note["id"] for note in result["so_far"]["notes"]] == ["n1", "n2"]
