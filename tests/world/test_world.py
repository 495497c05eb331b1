"""The world: one object through which a run reaches outside, reads the clock and gets its id; wrappers add to it."""

import dataclasses
from datetime import UTC, datetime

import pytest
from recorded_runs import Kept
from runs import BOTH, run
from tables import each_row
from ticket_pattern import TICKET, triage

from guardgraph import LiveWorld, NotRecorded, replay
from guardgraph.grammar import Budget, Call
from guardgraph.testing import ScriptedClock
from guardgraph.world import reviews
from guardgraph.world.call import Outcome, ToolTable

MODES_OF_CALLS = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


class Wrapper:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Counting(Wrapper):
    def __init__(self, inner):
        super().__init__(inner)
        self.made = []

    def _count(self, asked, seconds):
        self.made.append(([(item.node, item.visit, item.number, item.call.kind) for item in asked], seconds))

    def perform(self, asked, seconds):
        self._count(asked, seconds)
        return self.inner.perform(asked, seconds)

    async def aperform(self, asked, seconds):
        self._count(asked, seconds)
        return await self.inner.aperform(asked, seconds)


def several(*targets):
    def body(state, run):
        came = yield [Call("tool", target, {"desk": "bug"}) for target in targets]
        return {"found_duty": came[0].packed()}

    return body


@MODES_OF_CALLS
def test_every_call_of_a_run_goes_through_the_world(mode):
    """Each with its node, its visit, its number and its kind, and the seconds that the run has left."""
    world, target = Counting(LiveWorld()), lambda request: "Ada"
    graph = triage(bodies={"lookup": several(target, target)}, world=world, budget=Budget(max_seconds=40.0))
    assert run(graph, TICKET, mode)["on_duty"] == "Ada"
    calls, seconds = zip(*world.made, strict=True)
    assert calls == ([("label", 1, 1, "proposer")], [("lookup", 1, 1, "tool"), ("lookup", 1, 2, "tool")])
    assert 30 < seconds[1] < seconds[0] <= 40


def test_run_ids_the_calendar_and_the_clock_are_the_worlds():
    """A world that says them itself decides what a run is called, when it began and how long it took."""

    class Fixed(Wrapper):
        def new_run(self):
            return "00000000-0000-4000-8000-000000000001"

        def calendar(self):
            return datetime(2026, 3, 6, 12, tzinfo=UTC)

    clock, kept = ScriptedClock(), Kept()

    def slow(view):
        clock.advance(3)
        return {"label": "spam"}

    result = triage(slow, world=Fixed(LiveWorld(clock=clock)), recorder=kept).invoke(TICKET)
    assert result["run_id"] == "00000000-0000-4000-8000-000000000001"
    assert kept.only["visits"][0]["opening"]["started_at"] == "2026-03-06T12:00:00+00:00"
    assert result["trace"][0]["elapsed_ms"] == 3000


class Changing(Wrapper):
    def __init__(self, inner, change):
        super().__init__(inner)
        self.change = change

    def perform(self, asked, seconds):
        return [self.change(item) for item in self.inner.perform(asked, seconds)]

    async def aperform(self, asked, seconds):
        return [self.change(item) for item in await self.inner.aperform(asked, seconds)]


def correct(done):
    if done.outcome.about.get("proposer") != "test":
        return done
    return done._replace(outcome=dataclasses.replace(done.outcome, content={"label": "spam"}))


@each_row("mode", *BOTH)
def test_what_a_wrapper_changes_is_what_came_back(mode):
    """An outcome that a wrapper puts in the place of another one is judged, recorded and replayed."""
    kept = Kept()
    assert run(triage(world=Changing(LiveWorld(), correct), recorder=kept), TICKET, mode)["outcome"] == "spam"
    assert '"spam"' in kept.only["calls"][0]["outcome"]
    assert replay(triage(), kept.only) == kept.only["result"]


@MODES_OF_CALLS
def test_what_a_world_raises_closes_the_run_at_the_node_that_asked(mode):
    """A wrapper with a defect is a guard_error that names the node; no run is decided on what was not recorded."""

    def fail(done):
        raise error

    graph = triage(world=Changing(LiveWorld(), fail))
    error = KeyError("breaker")
    result = run(graph, TICKET, mode)
    assert (result["stop_reason"], result["details"]["type"]) == ("guard_error:label", "KeyError")
    error = NotRecorded("label", "nobody recorded it")
    with pytest.raises(NotRecorded, match=r"^not recorded: label: nobody recorded it"):
        run(graph, TICKET, mode)


def test_calls_that_were_made_at_once_are_none_that_are_made_alone():
    """The clock tells how long all of them took, so nobody knows how long one would take."""
    kept, target = Kept(), lambda request: "Ada"
    triage(bodies={"lookup": several(target, target)}, recorder=kept).invoke(TICKET)
    with pytest.raises(NotRecorded, match="it was made at once with 1 more, and is made alone"):
        replay(triage(bodies={"lookup": several(target)}), kept.only)


def test_a_question_is_known_by_its_node_and_an_answer_by_its_value():
    """A question is whole: what it shows and its hash are there. Only a rejection is an answer that is a failure."""
    question = {"node": "approve", "shown": {"amount": 30}, "hash": "ab"}
    assert reviews.read_question({**question, "more": 1}, "approve") == {**question, "more": 1}
    for other in (None, "approve", {**question, "node": "pay"}, {"node": "approve", "hash": "ab"}):
        assert reviews.read_question(other, "approve") is None
    are_answers = [reviews.is_answer_of_session(answer, [1, "yes"]) for answer in (1, "yes", True, "no")]
    assert are_answers == [True, True, False, False]
    assert reviews.is_review_unanswered(reviews.build_unavailable_review())
    assert not reviews.is_review_unanswered(Outcome("failure", {"reason": "review_rejected", "details": {}}))
    assert not reviews.is_review_unanswered(Outcome("value", {"decision": "approve"}))
    assert reviews.build_edited_request({"a": {"b": 1}, "c": 2}, ["a", "b"], 7) == {"a": {"b": 7}, "c": 2}
    assert reviews.build_edited_request({"a": 1, "c": 2}, ["c"], 7) == {"a": 1, "c": 7}


def test_a_table_of_tools_names_the_channels_of_what_was_given():
    assert ToolTable({}).given == ("task",)
    assert ToolTable({}, task="order", history="turns").given == ("order", "turns")
