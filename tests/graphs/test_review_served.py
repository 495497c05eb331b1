"""A person in a run on LangGraph's own server, which keeps what waits."""

from __future__ import annotations

import pytest
from langgraph_sdk import get_sync_client
from langgraph_server import needs_server, serving
from refund_pattern import ORDER, PAID, REASONS, SHOWN, TIGHT
from runs import check_result, content

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
