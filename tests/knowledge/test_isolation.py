"""What a caller may not read changes nothing that he can observe, and a backend that does not care ends in a stop."""

import asyncio
import json
import logging
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from guarded_bases import FileBase, LexicalBase, is_readable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.embeddings import Embeddings
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from guardgraph import Caller, LiveWorld, RagPolicy, create_rag_agent, report, sql_store
from guardgraph.testing import GuardedDocument, InMemoryRecorder, ScriptedClock

BASES = {
    "of words": lambda folder: LexicalBase(),
    "in a file": lambda folder: FileBase(folder / "kb.sqlite"),
    "with vectors": lambda folder: FileBase(folder / "kb.sqlite", embedding=Letters(), min_similarity=0.5),
}
"""Bases of which `check_retriever` says that they are isolated."""

SOURCES = ["kb", "other"]
POLICY = RagPolicy(allowed_sources_policy=SOURCES, allowed_sources_execution=SOURCES)
THREAD = {"configurable": {"thread_id": "1"}}
WORDS = ["ledger", "tower", "anchor", "rye", "atlas", "pony", "7", "15 minutes", "Zanzibar"]
READERS = [(), ("public",), ("tenant",), ("user:ada",), ("group:support",), ("user:bob",)]
CALLERS = [
    None,
    {"tenant": "acme", "user": "ada", "groups": ["support"]},
    {"tenant": "acme", "user": "bob", "groups": []},
    {"tenant": "other", "user": "ada", "groups": ["support"]},
]


class Letters(Embeddings):
    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(text.lower().count(letter)) for letter in "aehilnorty"]


class SameWorld(LiveWorld):
    """A world in which no time goes by and every run has the same id."""

    def __init__(self):
        super().__init__(clock=ScriptedClock())

    def calendar(self):
        return datetime(2026, 1, 1, tzinfo=UTC)

    def new_run(self):
        return "00000000-0000-4000-8000-000000000000"


class Change(NamedTuple):
    """What becomes of a document: its new form, or None where it is taken out; and of its other form elsewhere."""

    document: GuardedDocument
    is_removed: bool
    elsewhere: str
    """Its text in the other base, where the caller may not read it; nothing where it is not there."""


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(lambda words: f"The {' and the '.join(words)}.")
DOCUMENTS = st.builds(
    GuardedDocument,
    st.sampled_from(["a", "b", "c", "d", "e"]),
    TEXTS,
    st.sampled_from([None, "acme", "other"]),
    st.sampled_from(READERS),
    st.sampled_from(SOURCES),
)
CHANGES = st.builds(Change, DOCUMENTS, st.sampled_from([False, False, False, True]), st.just("") | TEXTS)


def told(bases, change, caller):
    """Let one base take a change in, and another one what the caller may know of it, and something else."""
    one, other = bases
    document = change.document
    is_known = not change.is_removed and is_readable(document, caller and Caller(**caller))
    (one.remove if change.is_removed else one.put)([document])
    (other.put if is_known else other.remove)([document])
    if change.elsewhere and not is_known and not change.is_removed:
        other.put([document._replace(text=change.elsewhere, readers=("user:carol",), source="kb")])


def everything(view):
    return {"kind": "retrieve", "query": f"{view['question']} {' '.join(WORDS)}", "top_k": 6, "sources": SOURCES}


def echoed(view):
    chunks = view["context_chunks"]
    text = " ".join(chunk["text"] for chunk in chunks)
    return {"answer": text, "citations": [chunk["doc_id"] for chunk in chunks]}


class Observed:
    """An agent of which all is kept that can be seen of a run: who was shown what, updates, checkpoints, records."""

    def __init__(self):
        self.shown, self.recorder, self.saver = [], InMemoryRecorder(), InMemorySaver()
        kept = {"recorder": self.recorder, "checkpointer": self.saver, "world": SameWorld(), "policy": POLICY}
        proposers = {"planner": self.seen(everything), "answerer": self.seen(echoed)}
        self.agent = create_rag_agent(retriever=lambda request: [*self.search(request)], **proposers, **kept)

    def seen(self, proposer):
        return lambda view: self.shown.append(view) or proposer(view)

    def run(self, search, question, caller, mode):
        self.search = search
        self.saver.delete_thread("1")
        self.shown.clear()
        self.recorder.runs.clear()
        given, context = {"question": question}, {"caller": caller}
        streamed = {"config": THREAD, "context": context, "stream_mode": "updates"}

        async def collect():
            return [chunk async for chunk in self.agent.astream(given, **streamed)]

        updates = list(self.agent.stream(given, **streamed)) if mode == "sync" else asyncio.run(collect())
        result = self.agent.invoke(None, THREAD, context=context)
        states = [state.values for state in self.agent.get_state_history(THREAD)]
        return repr([result, updates, states, self.recorder.runs, self.shown, report(result).html])


@pytest.fixture(scope="module")
def watched():
    return Observed()


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=st.lists(CHANGES, min_size=1, max_size=12),
    caller=st.sampled_from(CALLERS),
    question=TEXTS,
    every=st.integers(2, 6),
    mode=st.sampled_from(["sync", "async"]),
)
def test_what_may_not_be_read_changes_nothing_to_be_observed(
    tmp_path_factory, watched, base, changes, caller, question, every, mode
):
    """Beside other documents that the caller may not read, at any moment, a run is the same to the last letter."""
    bases = [BASES[base](tmp_path_factory.mktemp("kb")) for _ in range(2)]
    for at, change in enumerate(changes, start=1):
        told(bases, change, caller)
        if at % every == 0 or at == len(changes):
            one, other = (watched.run(each.search, question, caller, mode) for each in bases)
            assert one == other


class Heard(BaseCallbackHandler):
    """Keeps what LangChain's callbacks are told."""

    def __init__(self):
        self.said = []

    def _keep(self, *told, **_):
        self.said.append(told)

    on_chain_start = on_chain_end = on_chain_error = on_retriever_end = _keep


MODES = ["values", "updates", "custom", "messages", "checkpoints", "tasks", "debug"]


def _canaries(at):
    return {name: f"canary-{name}-{at}-x" for name in ("doc_id", "title", "section", "updated_at", "text", "tenant")}


def careless(documents):
    """Return a retriever that returns these documents to everybody."""
    found = []
    for at, (tenant, readers) in enumerate(documents):
        canary = _canaries(at)
        owner = {"tenant": tenant} if tenant in (None, "acme") else {"tenant": canary["tenant"]}
        named = [*readers, f"user:canary-reader-{at}-x"] if readers else []
        text = f"The ledger lies in the tower, {canary['text']}."
        found.append({**canary, **owner, "text": text, "readers": named, "source": "kb", "score": 0.9})
    return lambda request: found


def run_in(folder, documents, caller):
    """Run an agent over a careless retriever with all that can be kept in files, and return its result."""
    heard, store = Heard(), sql_store(f"sqlite:///{folder}/runs.db")
    made = {"planner": everything, "answerer": echoed, "policy": POLICY, "recorder": store}
    given, context = {"question": "Where is the ledger?"}, {"caller": caller}
    config = {**THREAD, "callbacks": [heard]}
    with SqliteSaver.from_conn_string(f"{folder}/checkpoints.db") as saver:
        agent = create_rag_agent(retriever=careless(documents), checkpointer=saver, **made)
        chunks = list(agent.stream(given, config, context=context, stream_mode=MODES))
        result = agent.invoke(None, THREAD, context=context)
    pages = [report(result, agent).html, report(store.read(result["run_id"]), agent).html]
    (folder / "told.txt").write_text("\n".join([*pages, json.dumps(result), repr([heard.said, chunks])]))
    return result


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    documents=st.lists(st.tuples(st.sampled_from([None, "acme", "other"]), st.sampled_from(READERS)), min_size=1),
    caller=st.sampled_from(CALLERS),
)
def test_a_careless_backend_ends_in_a_stop_and_nothing_of_it_is_written(
    tmp_path_factory, caplog, capfd, documents, caller
):
    """Checkpoints, records, pages, streams, callbacks and logs have no byte of what the caller may not read."""
    folder = tmp_path_factory.mktemp("run")
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        result = run_in(folder, documents, caller)
    written = b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())
    written += (caplog.text + "".join(capfd.readouterr())).encode()
    allowed = [
        (tenant if tenant in (None, "acme") else _canaries(at)["tenant"], readers)
        for at, (tenant, readers) in enumerate(documents)
    ]
    is_allowed = [is_readable(GuardedDocument("", "", *access), caller and Caller(**caller)) for access in allowed]
    if all(is_allowed):
        assert result["outcome"] == "grounded_answer"
        assert b"canary-text-0-x" in written  # the search finds what is there
        return
    assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:retrieve", "retrieve")
    assert b"canary" not in written
