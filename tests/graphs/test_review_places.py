"""Where a person may stand: in streams, other processes and graphs, replays, between guards, on LangGraph's server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from langgraph_sdk import get_sync_client
from langgraph_server import needs_server, serving
from refund_pattern import ORDER, PAID, REASONS, SHOWN, THREAD, TIGHT, approve, pattern, refund, waiting
from runs import check_result, content, run
from typing_extensions import TypedDict

from guardgraph import verify


def test_a_stream_that_waits_ends_with_what_langgraph_says():
    """The last update is LangGraph's interrupt, with the node, what is shown and the hash."""
    graph = refund(checkpointer=InMemorySaver())
    *_, last = graph.stream(ORDER, THREAD, stream_mode="updates")
    [interrupted] = last["__interrupt__"]
    assert (interrupted.value["node"], interrupted.value["shown"]) == ("approve", SHOWN)
    assert content(graph.invoke(Command(resume={"hash": interrupted.value["hash"], "decision": "approve"}), THREAD))


def test_another_process_goes_on(tmp_path):
    """What waits in a file is approved by a process that never saw the first one."""
    file = tmp_path / "runs.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        shown = waiting(refund(checkpointer=saver))
    script = (
        "import json, sys\n"
        "from langgraph.checkpoint.sqlite import SqliteSaver\n"
        "from refund_pattern import answering, refund\n"
        "with SqliteSaver.from_conn_string(sys.argv[1]) as saver:\n"
        "    given = answering(json.loads(sys.argv[2]))\n"
        f"    print(json.dumps(refund(checkpointer=saver).invoke(given, {THREAD})))\n"
    )
    del shown["__interrupt__"]
    command = [sys.executable, "-W", "error", "-c", script, str(file), json.dumps(shown)]
    folder = Path(__file__).parents[1] / "support"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    result = check_result(REASONS, json.loads(done.stdout))
    assert (content(result), result["run_id"]) == (PAID, shown["run_id"])


class Desk(TypedDict, total=False):
    order: str
    result: dict


@pytest.mark.parametrize("inside", ["called by a node", "a node itself"])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_person_is_asked_inside_a_graph_of_ones_own(inside, mode):
    """A guarded graph in a plain one waits with the checkpointer of that one, and goes on with the answer."""

    class Around(TypedDict, total=False):
        order: str
        payment: str
        stop_reason: str

    agent = refund()
    builder = StateGraph(Desk if inside == "called by a node" else Around)
    if inside == "called by a node":
        builder.add_node("agent", lambda desk: {"result": agent.invoke({"order": desk["order"]})})
    else:
        builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    desk = builder.compile(checkpointer=InMemorySaver())
    for decision, reason in (("approve", "success"), ("reject", "review_rejected")):
        config = {"configurable": {"thread_id": decision}}
        [asked] = run(desk, ORDER, mode, config=config)["__interrupt__"]
        assert (asked.value["node"], asked.value["shown"]) == ("approve", SHOWN)
        answer = Command(resume={"hash": asked.value["hash"], "decision": decision})
        ended = run(desk, answer, mode, config=config)
        result = ended.get("result", ended)
        assert result["stop_reason"] == reason
        assert result.get("payment") == ("paid 30 for A7" if decision == "approve" else None)


def _reading_raw(p):
    p.review("peek", lambda state, run: {}, phase="approve", reads=["proposed_refund"], writes=[], to="approval_guard")


def _unguarded(p):
    p.review("ask", approve, phase="approve", reads=["accepted_refund"], writes=[], to="pay")


def _straight_to_a_person(p):
    p.propose("guess", lambda state, run: {}, phase="refund", reads=["task"], writes=[], to="approve")


@pytest.mark.parametrize(
    ("declare", "rules", "message"),
    [
        (_reading_raw, {"raw", "reachable"}, "peek can read what nobody has judged: proposed_refund"),
        (_unguarded, {"guarded", "reachable"}, "ask is followed by pay, which is no guard"),
        (_straight_to_a_person, {"guarded", "bypass", "reachable"}, "what guess proposes reaches approve past every"),
    ],
)
def test_a_review_stands_between_guards(declare, rules, message):
    """A person is shown what a guard let through, and a guard reads what the person answered."""
    p = pattern()
    assert verify(p.builder().compile()) == []
    declare(p)
    found = verify(p.builder().compile())
    assert {finding.rule for finding in found} == rules
    assert any(message in str(finding) for finding in found)


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
    """The address of a server with a pattern in which a person approves."""
    needs_server()
    folder = tmp_path_factory.mktemp("server")
    (folder / "signed_in.py").write_text(SIGNED_IN, encoding="utf-8")
    graphs = {"refund": "waiting_agent:refund", "reviewed": "waiting_agent:reviewed"}
    with serving(folder, graphs, auth="./signed_in.py:auth") as running:
        yield running.url


@pytest.fixture
def client(url):
    """A client of the server, as a guest."""
    with get_sync_client(url=url) as connected:
        yield connected


def asked(client):
    """Begin a run on a thread of its own; return the thread and what it waits for."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "refund", input=ORDER)
    state = client.threads.get_state(thread)
    [interrupted] = state["interrupts"]
    assert (state["next"], interrupted["value"]["shown"]) == (["approve"], SHOWN)
    return thread, interrupted["value"]


@pytest.mark.parametrize(("decision", "reason"), [("approve", "success"), ("reject", "review_rejected")])
def test_a_run_on_the_server_waits_and_goes_on(decision, reason, client):
    """The thread shows what a person has to decide, and a command with the decision ends the run."""
    thread, shown = asked(client)
    answer = {"hash": shown["hash"], "decision": decision}
    result = check_result(REASONS, client.runs.wait(thread, "refund", command={"resume": answer}))
    assert result["stop_reason"] == reason
    assert decision == "reject" or content(result) == PAID


def test_an_answer_under_another_context_is_asked_for_again_on_the_server_too(client):
    """What a client tightens between the question and the answer makes another question of it, which waits."""
    thread, shown = asked(client)
    answer = {"hash": shown["hash"], "decision": "approve"}
    client.runs.wait(thread, "refund", command={"resume": answer}, context=TIGHT)
    [asked_again] = client.threads.get_state(thread)["interrupts"]
    assert (asked_again["value"]["instead_of"], asked_again["value"]["changed"]) == (shown["hash"], ["settings"])
    answer["hash"] = asked_again["value"]["hash"]
    result = client.runs.wait(thread, "refund", command={"resume": answer}, context=TIGHT)
    assert content(check_result(REASONS, result)) == PAID


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
