"""Documents for tests: runs of every kind in one store, and what somebody forges who can hash as well as anybody."""

import json
from contextlib import closing
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import QUESTION
from refund_pattern import THREAD, TIGHT, answering, begun
from runs import halt_before
from ticket_pattern import TICKET, triage

from guardgraph import RagBudget, create_rag_agent, export_run, sql_store
from guardgraph.evidence.chain import content_hash, entry_hash, run_entry
from guardgraph.evidence.strict_json import format_document_text
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.plain.hashing import canonical_json

RAG = "guardgraph:create_rag_agent"
STRICT = RagBudget(min_chunk_score=0.9)


def shadowed(policy=None, budget=None, recorder=None):
    shadow = {"strict": create_rag_agent(budget=STRICT)}
    return create_rag_agent(policy=policy, budget=budget, recorder=recorder, shadow=shadow)


def asking(policy=None, budget=None):
    return create_rag_agent("openai:test-model", policy=policy, budget=budget)


def _answered(recorder):
    ann = {"caller": {"tenant": "acme", "user": "ann"}}
    create_rag_agent(recorder=recorder, budget=RagBudget(max_top_k=3)).invoke(QUESTION, context=ann)


def _reviewed(recorder):
    graph, shown = begun(recorder=recorder)
    again = graph.invoke(answering(shown), THREAD, context=TIGHT)
    graph.invoke(answering(again), THREAD, context=TIGHT)


def _rejected(recorder):
    graph, shown = begun(recorder=recorder)
    graph.invoke(answering(shown, "reject", reason="Too much."), THREAD)


def _resumed(recorder):
    agent = create_rag_agent(recorder=recorder, checkpointer=InMemorySaver())
    assert halt_before(agent, QUESTION, THREAD, "retrieve")
    agent.invoke(None, THREAD, context={"policy": {"allowed_sources_execution": ["billing_policy"]}})


def _demo(name):
    """Return how the demo run of a pattern is made, and its agent by its name."""
    return (
        f"guardgraph:create_{name}_agent",
        lambda recorder: PATTERNS[name].create_agent(recorder=recorder).invoke(PATTERNS[name].demo()),
    )


KINDS = {
    "rag": (RAG, _answered),
    "rag stopped": (RAG, lambda recorder: create_rag_agent(recorder=recorder).invoke({"question": 7})),
    "rag shadowed": ("exported_runs:shadowed", lambda recorder: shadowed(recorder=recorder).invoke(QUESTION)),
    "rag resumed": (RAG, _resumed),
    "research": _demo("research"),
    "self_critique": _demo("self_critique"),
    "refund reviewed": ("refund_pattern:refund", _reviewed),
    "refund rejected": ("refund_pattern:refund", _rejected),
    "triage": ("ticket_pattern:triage", lambda recorder: triage(recorder=recorder).invoke(TICKET)),
}
"""What makes a run, and the agent that decides it again by its name."""


@cache
def _documents():
    with TemporaryDirectory() as folder, closing(sql_store(f"sqlite:///{Path(folder)}/runs.db")) as store:
        for _, make in KINDS.values():
            make(store)
        made = [json.dumps(export_run(store, stored.run_id)) for stored in store.runs()]
    return dict(zip(KINDS, made, strict=True))


def document(kind="rag"):
    return json.loads(_documents()[kind])


def text(made):
    return format_document_text(made).encode()


def forged(made, change):
    """Return a document in which the recording was changed and everything hashed anew, as whoever has it can."""
    made = deepcopy(made)
    change(made["recording"])
    chain = made["chain"]
    chain["content"] = content_hash(chain["salt"], canonical_json(made["recording"]))
    where = {"run_id": made["recording"]["run_id"], "content": chain["content"]}
    chain["entry"] = run_entry(chain["seq"], chain["previous"], chain["at"], **where)
    chain["hash"] = entry_hash(chain["entry"])
    return made


@cache
def keys(number=0):
    key = Ed25519PrivateKey.from_private_bytes(bytes([number + 1]) * 32)
    return private_pem(key), public_pem(key.public_key())


def private_pem(key, encryption=None):
    how = encryption or serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)


def public_pem(key):
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
