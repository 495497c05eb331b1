"""Forks: what goes on from an earlier checkpoint is a run of its own, where the deployment allows it."""

from contextlib import closing

import pytest
import refund_pattern
from langgraph.checkpoint.memory import InMemorySaver
from payment_pattern import BATCHES, open_bank, pattern
from refund_pattern import ORDER, answering
from runs import SAVERS, THREAD, halt_before, on_thread, run
from ticket_pattern import TICKET, Audited
from ticket_pattern import pattern as tickets
from tool_pattern import Killed

from guardgraph import InputError, check_document, create_rag_agent, export_run, replay, sql_store
from guardgraph.testing import InMemoryRecorder

ASKED = {"batches": BATCHES}
QUESTION = {"question": "What is the P1 first response target?"}
bank = pytest.fixture(open_bank)


def at(checkpoint, **configurable):
    return on_thread(checkpoint_id=checkpoint, **configurable)


def before(graph, node, number=1):
    found = [state for state in graph.get_state_history(THREAD) if state.next == (node,)]
    return found[::-1][number - 1].config["configurable"]["checkpoint_id"]


def paying(bank, **given):
    return pattern(bank.pay).compile(checkpointer=InMemorySaver(), forks=True, **given)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_fork_is_a_run_of_its_own(mode, bank):
    kept = InMemoryRecorder()
    graph = paying(bank, recorder=kept)
    first = graph.invoke(ASKED, THREAD)
    checkpoint = before(graph, "pay", 2)
    second = run(graph, None, mode, config=at(checkpoint))
    assert (second["stop_reason"], second["payments"]) == ("success", first["payments"])
    assert second["run_id"] != first["run_id"]
    assert second["forked_from"] == {"run_id": first["run_id"], "checkpoint": checkpoint}
    assert "forked_from" not in first
    assert [line["amount"] for line in bank.lines] == [30, 40, 50, 50]
    assert len({line["key"] for line in bank.lines}) == 4
    own, fork = kept.runs
    assert [call["key"] for call in fork["calls"][:2]] == [call["key"] for call in own["calls"][:2]]
    assert fork["calls"][2]["key"] == bank.lines[3]["key"]
    begun = kept.begun[1]
    assert (begun["run_id"], begun["request"], begun["forked_from"]) == (second["run_id"],) * 2 + (fork["forked_from"],)
    assert (begun["input"], begun["thread"], kept.open) == (ASKED, "1", [])


def test_nothing_is_paid_twice_under_one_run_id(bank):
    """However often and from wherever a thread is forked: a run pays each batch once, with keys of its own."""
    kept = InMemoryRecorder()
    graph = paying(bank, recorder=kept)
    graph.invoke(ASKED, THREAD)
    for checkpoint in [state.config["configurable"]["checkpoint_id"] for state in graph.get_state_history(THREAD)]:
        try:
            graph.invoke(None, at(checkpoint))
        except InputError:
            continue
    assert len(kept.runs) > 4
    for ended in kept.runs:
        keys = [call["key"] for call in ended["calls"]]
        assert len(keys) == len({*keys}) == 3
        assert replay(graph, ended) == ended["result"]
    made_keys = [line["key"] for line in bank.lines]
    assert len(made_keys) == len({*made_keys})


def test_what_a_run_kept_behind_the_checkpoint_is_not_the_forks(bank):
    """A run that was killed in a write does not know what came of it; a fork from before makes the write as its own."""

    def dying(request, idempotency_key):
        bank.pay(request, idempotency_key)
        raise Killed

    saver, kept = InMemorySaver(), InMemoryRecorder()
    with pytest.raises(Killed):
        pattern(dying).compile(checkpointer=saver, recorder=kept).invoke({"batches": [[30]]}, THREAD)
    graph = pattern(bank.pay).compile(checkpointer=saver, recorder=kept, forks=True)
    stood = before(graph, "pay")
    lost = graph.invoke(None, THREAD)
    assert lost["stop_reason"] == "effect_unknown:pay"
    forked = graph.invoke(None, at(stood))
    assert (forked["stop_reason"], bank.amounts) == ("success", [30, 30])
    assert forked["forked_from"]["run_id"] == lost["run_id"]


@SAVERS
def test_every_checkpointer_keeps_a_fork(saver, bank, tmp_path):
    """A fork that is left goes on as itself, in another process too; the channels of the first run stay."""
    with saver(tmp_path) as keeper:
        graph = pattern(bank.pay).compile(checkpointer=keeper, forks=True)
        first = graph.invoke(ASKED, THREAD)
        checkpoint = before(graph, "pay", 2)
        was = graph.get_state(at(checkpoint)).values
        with closing(graph.stream(None, at(checkpoint))) as chunks:
            next(chunks)
        second = graph.invoke(None, THREAD)
        assert second["forked_from"] == {"run_id": first["run_id"], "checkpoint": checkpoint}
        assert (second["payments"], graph.get_state(at(checkpoint)).values) == (first["payments"], was)
        assert graph.invoke(None, THREAD)["run_id"] == second["run_id"]


def test_no_run_goes_on_from_behind_an_answer():
    """One approval paid four times: it counts for the run that asked, and from before it a fork asks for its own."""
    paid = []
    paying = refund_pattern.pattern(tool=lambda request: paid.append(request) or "paid")
    graph = paying.compile(checkpointer=InMemorySaver(), forks=True)
    asked = graph.invoke(ORDER, THREAD)
    graph.invoke(answering(asked), THREAD)
    for node in ("approval_guard", "pay", "payment_guard", "refunded"):
        with pytest.raises(InputError, match=rf"behind an answer to 'approve', which counts for run {asked['run_id']}"):
            graph.invoke(None, at(before(graph, node)))
    assert len(paid) == 1


def test_a_fork_goes_on_from_a_checkpoint_of_a_run():
    """One at which a run stood that had begun and not ended; what else is named is refused in one clear line."""
    graph = tickets().compile(checkpointer=InMemorySaver(), forks=True)
    graph.invoke(TICKET, THREAD)
    first = before(graph, "__start__")
    entry = before(graph, "request_guard")
    ended = graph.get_state(THREAD).config["configurable"]["checkpoint_id"]
    graph.invoke(TICKET, THREAD)
    nobody = (first, entry, before(graph, "__start__", 2), "1f0c0000-0000-6000-8000-000000000000")
    refused = {
        **dict.fromkeys(nobody, "at which no run of this graph stands"),
        before(graph, "request_guard", 2): "at which its run had not begun",
        ended: "at which its run had ended",
    }
    for checkpoint, why in refused.items():
        with pytest.raises(InputError, match=rf"^config\.configurable\.checkpoint_id: .*{checkpoint}.*{why}"):
            graph.invoke(None, at(checkpoint))
    places = {"checkpoint_ns": "", "checkpoint_map": {"": before(graph, "lookup"), "inner": first}}
    with pytest.raises(InputError, match="the latest checkpoint of its thread"):
        graph.invoke(None, on_thread(**places))
    places["checkpoint_map"] = {"": before(graph, "lookup")}
    assert graph.invoke(None, on_thread(**places))["forked_from"]["checkpoint"] == places["checkpoint_map"][""]


@pytest.mark.parametrize("required", [True, False])
def test_a_fork_whose_beginning_is_not_kept_ends_where_it_must_be(required):
    """It says why, in the phase in which it would have gone on; another one goes on, and says so at its end."""
    graph = tickets(policy=Audited(audit_required=required))
    graph = graph.compile(checkpointer=InMemorySaver(), forks=True, recorder=(kept := InMemoryRecorder()))
    path, kept.begin = graph.invoke(TICKET, THREAD)["path"], lambda run: 1 / 0
    result = graph.invoke(None, at(before(graph, "duty_guard")))
    error = {"type": "ZeroDivisionError", "message": "division by zero"}
    if required:
        assert (result["stop_reason"], result["phase"], result["details"]) == ("audit_unavailable", "lookup", error)
        assert result["path"] == [*path[:4], "stop_audit_unavailable"]
    else:
        assert (result["path"], result["audit"]["unbegun"]) == (path, error)


def test_a_client_that_asks_again_for_a_fork_goes_on_with_it(bank):
    """By the same request_key: the run that it began, and no second one; another key makes another fork."""
    kept = InMemoryRecorder()
    graph = paying(bank, recorder=kept)
    graph.invoke(ASKED, on_thread(request_key="r1"))
    checkpoint = before(graph, "pay", 2)
    first = graph.invoke(None, at(checkpoint, request_key="r1"))
    again = graph.invoke(None, at(checkpoint, request_key="r1"))
    other = graph.invoke(None, at(checkpoint, request_key="r2"))
    assert first["run_id"] == again["run_id"] != other["run_id"]
    assert bank.amounts == [30, 40, 50, 50, 50]
    assert [begun["request"] for begun in kept.begun] == ["r1", f"r1|{checkpoint}", f"r2|{checkpoint}"]
    assert len({line["key"] for line in bank.lines}) == 5


def test_a_store_tells_a_fork_from_its_run(bank, tmp_path):
    """Each has its own entries; the run that stood open is closed by the fork; the document of a fork is sound."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    agent = create_rag_agent(checkpointer=InMemorySaver(), recorder=store, forks=True)
    assert halt_before(agent, QUESTION, THREAD, "generate")
    [left] = store.open_runs()
    result = agent.invoke(None, at(before(agent, "retrieve")))
    assert store.open_runs() == []
    assert len(store.entries(left.run_id)) == 2  # its beginning, and that it was superseded
    assert store.read(result["run_id"]).recording["forked_from"]["run_id"] == left.run_id
    assert store.verify().ok
    assert check_document(export_run(store, result["run_id"]), "guardgraph:create_rag_agent").findings == ()


@pytest.mark.parametrize("forked_before", [True, False])
def test_a_fork_of_before_its_run_was_erased_is_a_finding_too(forked_before, tmp_path):
    """It has the same words; only where the run was erased for its age does the fork, which is younger, stay."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db", timeout=60)
    agent = create_rag_agent(checkpointer=InMemorySaver(), recorder=store, forks=True)
    first = agent.invoke(QUESTION, THREAD)
    place = at(before(agent, "generate"))
    fork = agent.invoke(None, place) if forked_before else None
    assert store.verify().ok
    erasure = store.erase(first["run_id"], by="the data officer")
    fork = fork or agent.invoke(None, place)
    findings = store.verify().findings
    forked = (3, 4) if forked_before else (4, 5)
    assert {(finding.kind, finding.seq) for finding in findings} == {("returned", seq) for seq in forked}
    assert all(f"run {first['run_id']}, which entry {erasure.seq} erased" in finding.text for finding in findings)
    store.erase(fork["run_id"], by="the data officer")
    assert store.verify().ok
