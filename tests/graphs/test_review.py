"""A run waits for a person: what is shown, which answers count, and wherever the graph runs."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from langgraph_sdk import get_sync_client
from langgraph_server import needs_server, serving
from refund_pattern import MINUTE, ORDER, PAID, REASONS, SHOWN, THREAD, TIGHT, answering, begun, refund, waiting
from runs import MODES, SAVERS, check_result, content, masked, memory, run, sqlite
from tables import each_row
from typing_extensions import TypedDict

from guardgraph.grammar import Call, Outcome, Pass, ask_person

NO_ANSWERS = [
    *("approve", ["approve"], {"decision": "approve"}, {"hash": 7, "decision": "approve"}),
    *({"hash": "x"}, {"hash": "x", "decision": ["approve"]}),
]


@SAVERS
def test_a_waiting_run_shows_what_a_person_has_to_decide(saver, tmp_path):
    """It says who asks, what is shown and the hash that the answer has to name, and how the run went so far."""
    with saver(tmp_path) as checkpointer:
        graph = refund(checkpointer=checkpointer)
        shown = waiting(graph)
        assert [*graph.stream(None, THREAD)] == [{"__interrupt__": (shown["__interrupt__"][0],)}]
    [interrupted] = shown.pop("__interrupt__")
    asked = shown.pop("waiting_for")
    assert asked == interrupted.value == {"node": "approve", "shown": SHOWN, "hash": asked["hash"]}
    assert len(asked["hash"]) == 64
    assert [line["node"] for line in shown.pop("timeline")] == shown["path"][:-1]
    about = {"run_id": "*", "pattern": "refund", "status": "waiting", "phase": "approve"}
    assert masked(shown) == {
        **about,
        "path": ["request_guard", "propose", "refund_guard", "approve"],
        "trace": [{"step": 1, "phase": "refund", "amount": 30, "elapsed_ms": "*", "ok": True}],
        "history": [{"step": 1, "action": "propose_refund", "proposer": "test", "elapsed_ms": "*"}],
    }


@pytest.mark.parametrize(("saver", "mode"), [*((memory, mode) for mode in MODES), (sqlite, "invoke")])
def test_what_a_person_approves_is_done(saver, mode, tmp_path):
    """In each of LangGraph's ways, a run goes on with an approval and ends as if nobody had waited."""
    with saver(tmp_path) as checkpointer:
        graph = refund(checkpointer=checkpointer)
        shown = waiting(graph)
        result = check_result(REASONS, run(graph, answering(shown, by="Ada"), mode, config=THREAD))
    assert (content(result), result["run_id"]) == (PAID, shown["run_id"])
    assert result["path"][: len(shown["path"])] == shown["path"]
    answer = {"hash": shown["waiting_for"]["hash"], "decision": "approve", "by": "Ada"}
    [told] = [entry for entry in result["timeline"] if entry["kind"] == "review"]
    assert told["answer"] == result["history"][1]["answer"] == answer


def test_a_guard_may_have_a_way_on_after_a_no():
    def check(state, run):
        assert Outcome.unpacked(state["raw_review"]).content["reason"] == "review_rejected"
        return Pass({"approved_refund": {**state["accepted_refund"], "amount": 1}})

    graph, shown = begun(bodies={"approval_guard": check})
    assert graph.invoke(answering(shown, "reject"), THREAD)["payment"] == "paid 1 for A7"


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_what_is_no_answer_keeps_the_run_waiting(mode):
    """The same is shown again with what was wrong, as often as need be, and then an answer counts."""
    graph, first = begun()
    for answer in NO_ANSWERS:
        again = run(graph, Command(resume=answer), mode, config=THREAD)
        assert "given" in again["waiting_for"].pop("problem")
        for key in ("run_id", "status", "phase", "waiting_for", "path"):
            assert again[key] == first[key]
    assert content(run(graph, answering(again), mode, config=THREAD)) == PAID


@pytest.mark.parametrize("between", [{"context": TIGHT}, {"context": MINUTE}], ids=["policy", "budget"])
def test_an_answer_holds_under_the_settings_that_it_was_given_for(between):
    """A policy or a budget that was tightened meanwhile asks again, though the refund is still allowed."""
    graph, shown = begun()
    again = graph.invoke(answering(shown), THREAD, **between)
    assert (again["status"], again["run_id"]) == ("waiting", shown["run_id"])
    asked = again["waiting_for"]
    assert asked["hash"] != asked["instead_of"] == shown["waiting_for"]["hash"]
    assert (asked["changed"], asked["shown"]) == (["settings"], SHOWN)
    assert asked["problem"].startswith("answer: it is to another question than is asked now (settings); given: ")
    result = check_result(REASONS, graph.invoke(answering(again), THREAD, **between))
    assert content(result) == PAID
    [told] = [entry for entry in result["timeline"] if entry["kind"] == "review"]
    assert told["answer"]["hash"] == asked["hash"]


def test_an_answer_to_another_run_is_stale():
    """An approval counts for one run, though the next one on the thread shows the very same."""
    graph, first = begun()
    assert content(graph.invoke(answering(first), THREAD)) == PAID
    second = waiting(graph)
    again = graph.invoke(answering(first), THREAD)
    assert (again["waiting_for"]["changed"], again["run_id"]) == (["place"], second["run_id"])
    assert again["waiting_for"]["hash"] == second["waiting_for"]["hash"]
    assert content(graph.invoke(answering(again), THREAD)) == PAID


@pytest.mark.unreplayable
def test_an_answer_is_to_what_would_be_shown_now():
    """What is shown is made again at the resume: a body that would show something else makes an answer stale."""
    amounts = iter([30, 31])

    def body(state, run):
        outcome = yield ask_person({**state["accepted_refund"], "amount": next(amounts)})
        return {"raw_review": outcome.packed()}

    graph, shown = begun(bodies={"approve": body})
    again = graph.invoke(answering(shown), THREAD)["waiting_for"]
    assert (again["changed"], again["shown"]["amount"]) == (["shown"], 31)


def asking(*yielded):
    """Return a body of a review that yields one after another."""

    def body(state, run):
        for given in yielded:
            outcome = yield given
        return {"raw_review": outcome.packed()}

    return body


@each_row(
    ("yielded", "message"),
    (ask_person({"amounts": {1, 2}}), "would show a person a set"),
    ([ask_person(SHOWN)] * 2, "yielded a list"),
    (Call("tool", lambda request: "yes", {}), "yielded a Call of a tool"),
)
def test_a_review_asks_one_person_once_and_nobody_else(yielded, message):
    """A body that asks otherwise, or would show what is no plain JSON, closes the run."""
    result = refund(bodies={"approve": asking(yielded)}, checkpointer=InMemorySaver()).invoke(ORDER, THREAD)
    assert result["stop_reason"] == "guard_error:approve"
    assert message in result["details"]["message"]
    graph, shown = begun(bodies={"approve": asking(ask_person(SHOWN), ask_person(SHOWN))})
    assert "asked twice" in graph.invoke(answering(shown), THREAD)["details"]["message"]


class Desk(TypedDict, total=False):
    order: str
    payment: str
    stop_reason: str


@pytest.mark.parametrize("inside", ["called by a node", "a node itself"])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_person_is_asked_inside_a_graph_of_ones_own(inside, mode):
    """A guarded graph in a plain one waits with the checkpointer of that one, and goes on with the answer."""
    agent = refund()
    node = agent if inside == "a node itself" else lambda desk: agent.invoke({"order": desk["order"]})
    builder = StateGraph(Desk).add_node("agent", node).add_edge(START, "agent").add_edge("agent", END)
    desk = builder.compile(checkpointer=InMemorySaver())
    for decision, reason in (("approve", "success"), ("reject", "review_rejected")):
        config = {"configurable": {"thread_id": decision}}
        [asked] = run(desk, ORDER, mode, config=config)["__interrupt__"]
        assert (asked.value["node"], asked.value["shown"]) == ("approve", SHOWN)
        answer = {"hash": asked.value["hash"], "decision": decision}
        resume = answer if decision == "approve" else {asked.id: answer}  # LangGraph's map of answers by interrupt
        result = run(desk, Command(resume=resume), mode, config=config)
        assert result["stop_reason"] == reason
        assert result.get("payment") == ("paid 30 for A7" if decision == "approve" else None)


SIGNED_IN = """
from langgraph_sdk import Auth

auth = Auth()

@auth.authenticate
async def sign_in(headers):
    name = headers.get(b"x-user", b"guest").decode()
    return {"identity": name, "is_authenticated": True}
"""
"""A server's own way to say who is signed in: a header, which stands for a token."""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    needs_server()
    folder = tmp_path_factory.mktemp("server")
    (folder / "signed_in.py").write_text(SIGNED_IN, encoding="utf-8")
    graphs = {"reviewed": "waiting_agent:reviewed"}
    with serving(folder, graphs, auth="./signed_in.py:auth") as running:
        yield running.url


@pytest.mark.process
def test_who_answers_is_whom_the_server_signed_in(url):
    """Neither whoever began the run nor a guest may approve it, whatever the answer says; another user may."""

    def resume(user, **said):
        with get_sync_client(url=url, headers={"x-user": user}) as connected:
            answer = {"hash": shown["hash"], "decision": "approve", **said}
            return connected.runs.wait(thread, "reviewed", command={"resume": answer})

    with get_sync_client(url=url, headers={"x-user": "ada"}) as ada:
        thread = ada.threads.create()["thread_id"]
        ada.runs.wait(thread, "reviewed", input=ORDER)
        [interrupted] = ada.threads.get_state(thread)["interrupts"]
        shown = interrupted["value"]
        problems = []
        for user in ("ada", "guest"):
            resume(user, by="bob")
            [interrupted] = ada.threads.get_state(thread)["interrupts"]
            problems.append(interrupted["value"]["problem"])
    assert ["four_eyes" in problems[0], "they know nobody" in problems[1]] == [True, True]
    result = check_result(REASONS, resume("bob"))
    [told] = [entry for entry in result["timeline"] if entry["kind"] == "review"]
    assert told["reviewer"] == {"status": "verified", "name": "bob", "roles": []}
