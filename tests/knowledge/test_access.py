"""Who may read what: a run keeps nothing that its caller may not read, and nobody goes on with what he may not see."""

import json
from unicodedata import normalize

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import CANDIDATE, POLICY, QUESTION, agent, agent_with
from runs import BOTH, THREAD, check_result, halt_before, run
from tables import each_row

from guardgraph import Caller, RagBudget, replay, report
from guardgraph.state.context import Access, is_access_allowed, normalize_document_access
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import InMemoryRecorder, ScriptedChatModel, scripted_tool

ADA = {"tenant": "acme", "user": "ada", "groups": ["support", "ops"]}
EVE = {"tenant": "other", "user": "eve", "groups": ["support"]}
SECRET = "zanzibar-9173"
HERS = {**CANDIDATE, "tenant": "acme", "readers": ["group:support"]}
OTHERS = {**CANDIDATE, "doc_id": f"id-{SECRET}", "title": SECRET, "text": f"P1 is {SECRET}.", "tenant": "other"}
HIDDEN = {**HERS, "text": f"P1 is {SECRET} within 15 minutes."}
ANSWER = {"answer": "P1 within 15 minutes.", "citations": ["a"]}
STRICT = POLICY.model_copy(update={"require_access": True})
FAILED = {"allowed": "documents that the caller may read", "given": "another document"}
"""What a run says of a document that may not be read."""


def context(caller, **policy):
    return {"caller": caller, "policy": policy}


def written(graph, recorder, result, saver):
    history = [item.values for item in graph.get_state_history(THREAD)]
    return repr([history, saver.storage, saver.writes, saver.blobs, recorder.runs, report(result, graph).html, result])


@each_row(
    ("access", "readers"),
    (("acme", ["public"]), [None, "eve", "ada", "of nobody"]),
    (("acme", ["tenant"]), ["ada"]),
    (("acme", ["group:support"]), ["ada"]),
    (("acme", ["user:ada"]), ["ada"]),
    (("acme", ["user:eve", "group:sales"]), []),
    (("acme", []), []),
    ((None, ["tenant", "group:support", "user:ada"]), ["of nobody"]),
)
def test_who_may_read(access, readers):
    """A document is read by those whom its readers name, of its own tenant; what is public by everybody."""
    callers = {None: None, "eve": Caller(**EVE), "ada": Caller(**ADA), "of nobody": Caller(user="ada")}
    held = normalize_document_access(*access)
    assert [name for name, caller in callers.items() if is_access_allowed(held, caller)] == readers


@pytest.mark.parametrize("mode", BOTH)
def test_the_retriever_is_told_who_asks(mode):
    """The request has the caller, groups in one order; without one it is what it was."""
    retriever = scripted_tool([], loop=True)
    graph = agent(retriever=retriever, policy=POLICY)
    run(graph, QUESTION, mode, context=context(ADA))
    run(graph, QUESTION, mode)
    *asked, anonymous, _ = retriever.calls
    assert [call["caller"] for call in asked] == [{**ADA, "groups": ["ops", "support"]}] * 2
    assert anonymous.keys() == {"query", "sources", "top_k"}


def test_readers_are_for_guards_alone():
    """A permitted document answers, and neither the model nor the result is told who else may read it."""
    model = ScriptedChatModel({"kind": "retrieve", "query": "P1"}, ANSWER)
    graph = agent_with(HERS, plan=None, planner=None, answerer=None, model=model)
    result = check_result(RAG_REASONS, graph.invoke(QUESTION, context=context(ADA)))
    assert result["outcome"] == "grounded_answer"
    for text in (json.dumps(result), repr(model.calls[1])):
        assert ("readers" in text, "group:support" in text) == (False, False)


THEIRS = {**OTHERS, "tenant": "acme"}
FORBIDDEN = {
    "of another tenant": {**OTHERS, "readers": ["tenant"]},
    "of other readers": {**THEIRS, "readers": ["user:bob", "group:sales"]},
    "of a tenant, without readers": THEIRS,
    "that is no candidate": {"readers": ["tenant"], "tenant": SECRET, "page": SECRET},
}
MALFORMED = {
    "a reader that is none": {**THEIRS, "readers": [SECRET]},
    "readers that are a text": {**THEIRS, "readers": "public"},
    "a tenant that is a number": {**OTHERS, "tenant": 5, "readers": ["public"]},
    "a list in the list": [{**OTHERS, "readers": ["public"]}],
}


@pytest.mark.parametrize("case", [*FORBIDDEN, *MALFORMED])
def test_nothing_of_a_forbidden_document_is_kept(case):
    """One among permitted ones stops the run; state, record, page and result have nothing of it, nor which it was."""
    given, permitted = {**FORBIDDEN, **MALFORMED}[case], {**HERS, "readers": ["public"]}
    for caller in (ADA, None):
        recorder, saver = InMemoryRecorder(), InMemorySaver()
        graph = agent_with(permitted, given, permitted, recorder=recorder, checkpointer=saver)
        result = check_result(RAG_REASONS, graph.invoke(QUESTION, THREAD, context=context(caller)))
        assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:retrieve", "retrieve")
        details = result["details"]
        assert details == FAILED if case in FORBIDDEN else details["allowed"].startswith("tenant: a ")
        left = written(graph, recorder, result, saver)
        assert (SECRET in left, permitted["text"] in left) == (False, False)


def test_documents_without_readers_are_for_everybody_unless_access_is_required():
    """A retriever that knows no access works as ever; `require_access` refuses it, and a run may only require more."""
    graph = agent_with(CANDIDATE, answer=ANSWER)
    assert graph.invoke(QUESTION, context=context(ADA))["outcome"] == "grounded_answer"
    for result in (
        graph.invoke(QUESTION, context=context(ADA, require_access=True)),
        agent_with(CANDIDATE, policy=STRICT).invoke(QUESTION, context=context(ADA, require_access=False)),
    ):
        assert result["stop_reason"] == "tool_invalid_output:retrieve"
        assert result["details"]["given"] == "a document without readers"
    assert agent_with(HERS, policy=STRICT, answer=ANSWER).invoke(QUESTION, context=context(ADA))["status"] == "ok"


BEFORE = {"context_guard": "retrieve", "generate": "generate", "answer_guard": "generate"}


@pytest.mark.parametrize("other", [EVE, None, {**ADA, "groups": []}])
@pytest.mark.parametrize("before", BEFORE)
def test_nobody_goes_on_with_what_he_may_not_read(before, other):
    """Resumed by another caller, a run stops; its result says which way it went, and nothing that had been found."""
    model = ScriptedChatModel({"kind": "retrieve", "query": SECRET}, {"answer": f"P1 is {SECRET}.", "citations": ["a"]})
    own = {"plan": None, "planner": None, "answerer": None, "model": model}
    graph = agent_with(HIDDEN, **own, checkpointer=InMemorySaver(), recorder=InMemoryRecorder())
    assert halt_before(graph, QUESTION, THREAD, before, context=context(ADA))
    chunks = list(graph.stream(None, THREAD, context=context(other), stream_mode="updates"))
    result = check_result(RAG_REASONS, graph.invoke(None, THREAD, context=context(other)))
    assert (result["stop_reason"], result["phase"]) == ("access_revoked", BEFORE[before])
    assert result["details"] == FAILED
    guard = "context_guard" if before == "context_guard" else "answer_guard"
    assert result["path"][-2:] == [guard, "stop_access_revoked"]
    assert SECRET not in json.dumps([result, chunks]) + report(result, graph).html
    assert len(model.calls) == (2 if before == "answer_guard" else 1)


def stood_before(node, answer, **options):
    """Return an agent that answers so, and whose run for Ada stands before a node."""
    graph = agent_with(HIDDEN, answer=answer, checkpointer=InMemorySaver(), **options)
    assert halt_before(graph, QUESTION, THREAD, node, context=context(ADA))
    return graph


@pytest.mark.parametrize("other", [EVE, None])
def test_nobody_ends_with_what_he_may_not_read(other):
    """Resumed by another caller at its very ending, a run has none, and says nothing of what came of it."""
    graph = stood_before("answered", {"answer": HIDDEN["text"], "citations": ["a"]})
    result = check_result(RAG_REASONS, graph.invoke(None, THREAD, context=context(other)))
    assert (result["stop_reason"], result["details"]["type"]) == ("guard_error:answered", "Stop")
    assert "access_revoked" in result["details"]["message"]
    assert SECRET not in json.dumps(result)


@pytest.mark.parametrize("other", [EVE, None, {**ADA, "groups": []}])
def test_nobody_is_shown_a_stop_that_was_judged_for_another(other):
    """A process that dies between a guard and its stop leaves no guard to ask: the run says why it ended, no more."""
    wrong, recorder = {"answer": f"P1 is {SECRET} within 99 hours.", "citations": ["a"]}, InMemoryRecorder()
    graph = stood_before("stop_invalid_answer", wrong, recorder=recorder, budget=RagBudget(max_attempts=1))
    result = check_result(RAG_REASONS, graph.invoke(None, THREAD, context=context(other)))
    assert result["stop_reason"].startswith("invalid_answer:")
    assert result["path"][-2:] == ["answer_guard", "stop_invalid_answer"]
    assert SECRET not in json.dumps(result) + report(result, graph).html
    [recording] = recorder.runs
    assert replay(graph, recording) == result


def test_tenants_users_and_groups_are_letters_and_no_bytes():
    """A name with composed letters is the same as with decomposed ones, for tenants, users and groups."""
    for form, other in (("NFC", "NFD"), ("NFD", "NFC")):
        tenant, user, group = (normalize(other, name) for name in ("Caf\xe9", "Ren\xe9", "Qualit\xe9"))
        for reader in ("tenant", "group:Qualit\xe9", "user:Ren\xe9"):
            access = Access(normalize(form, "Caf\xe9"), (normalize(form, reader),))
            assert is_access_allowed(access, Caller(tenant=tenant, user=user, groups=[group]))
            assert not is_access_allowed(access, Caller(tenant="Cafe", user=user, groups=[group]))
