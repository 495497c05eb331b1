"""A person in a run on LangGraph's own server, which keeps what waits."""

from __future__ import annotations

import pytest
from langgraph_sdk import get_sync_client
from langgraph_server import needs_server, serving
from refund_pattern import ORDER, PAID, REASONS, SHOWN, TIGHT
from runs import check_result, content


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client of a server with a pattern in which a person approves."""
    needs_server()
    folder, graphs = tmp_path_factory.mktemp("server"), {"refund": "waiting_agent:refund"}
    with serving(folder, graphs) as running, get_sync_client(url=running.url) as connected:
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
