"""Names that stay where they are, whatever moves: import paths that the docs show, and classes that results name.

Where something of `PATHS` moves, an alias at its old place keeps the promise: what is held is that the name is there
and does what it did, not which module it is written in. Of `CLASSES` it is the class's own name that stays, since a
result has it in ``details.type``, and so have the recordings that users keep.
"""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from docs_parts import ROOT
from langgraph.checkpoint.memory import InMemorySaver
from made_by_0_6 import FOLDER, QUESTION
from openai_server import OpenAIServer, redirect
from ticket_pattern import TICKET, triage

import guardgraph
from guardgraph import LangChainRetriever, create_rag_agent
from guardgraph.world import telemetry

PATHS = {
    "guardgraph.evidence.chain": ("entry_hash", "run_entry"),
    "guardgraph.evidence.contents": ("content_hash",),
    "guardgraph.state.hashing": ("canonical_json",),
    "guardgraph.state.recording": ("schema",),
    "guardgraph.guards.facts": ("facts_in_text", "unsupported"),
    "guardgraph.guards.self_critique": ("restricted_claims", "forbidden_claims"),
}
"""What users import from elsewhere than the fronts, since the docs show it."""

UNPROVOKED = ("TooLarge", "ExtractionFailed")
"""Classes of `CLASSES` whose errors are caught and put otherwise before a result could name them."""


def promised(name):
    """Return what stands at one of the paths."""
    [home] = [home for home, names in PATHS.items() if name in names]
    return getattr(import_module(home), name)


# Import paths


@pytest.mark.parametrize("name", [name for names in PATHS.values() for name in names])
def test_a_name_is_where_it_was(name):
    """It is imported by its path, as a function; an alias is enough."""
    assert callable(promised(name))


def test_the_hashes_of_a_chain_are_made_as_they_were():
    """The four functions of the chain make the entry and the hashes of a document that 0.6.0 wrote."""
    document = json.loads((FOLDER / "rag.json").read_bytes())
    chain, recording = document["chain"], document["recording"]
    assert promised("content_hash")(chain["salt"], promised("canonical_json")(recording)) == chain["content"]
    where = {"run_id": recording["run_id"], "content": chain["content"]}
    assert promised("run_entry")(chain["seq"], chain["previous"], chain["at"], **where) == chain["entry"]
    assert promised("entry_hash")(chain["entry"]) == chain["hash"]


def test_the_schema_is_that_of_the_docs():
    """The function returns what is written down, and that is of the form that 0.6.0 recorded in."""
    schema = promised("schema")()
    assert schema == json.loads((ROOT / "docs" / "recording.schema.json").read_text(encoding="utf-8"))
    assert schema["properties"]["format"]["const"] == 1


def test_facts_are_compared_as_they_were():
    """What one text claims and another does not say, and nothing where it is said otherwise."""
    facts_in_text, unsupported = promised("facts_in_text"), promised("unsupported")
    assert not unsupported(facts_in_text("within 60 minutes"), facts_in_text("within an hour"))
    assert unsupported(facts_in_text("20 minutes, P1"), facts_in_text("15 minutes")).all() == ["20 minutes", "P1"]


def test_claims_are_found_as_they_were():
    """Those of a text, and those that its context does not allow."""
    assert promised("restricted_claims")("After 45 minutes we resolved the incident.") == ["resolved"]
    text, forbidden = "The outage is over, and we guarantee it.", promised("forbidden_claims")
    over, told = {"incident": {"status": "Resolved"}}, {"updates": ["The fault has been fixed."]}
    assert forbidden(text, over, avoid_absolute_guarantees=True) == ["guarantee"]
    assert forbidden(text, told, avoid_absolute_guarantees=True) == ["over", "guarantee"]
    assert forbidden(text, told, avoid_absolute_guarantees=False) == ["guarantee"]


def mentioned():
    """Return every dotted path below the package that the docs, the examples and the notebooks name."""
    files = [ROOT / "README.md", ROOT / "langgraph.json", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.json")]
    files += [*ROOT.glob("examples/**/*.py"), *ROOT.glob("notebooks/*.ipynb")]
    found = {}
    for file in files:
        text = file.read_text(encoding="utf-8")
        for name, imported in re.findall(r"\b(guardgraph(?:\.\w+)+)(?: import ([\w, ]+))?", text):
            for path in [f"{name}.{item.strip()}" for item in imported.split(",")] if imported else [name]:
                found[path] = file.name
    return found


def is_there(path):
    """Say whether a dotted path leads to a module, or to what a module has; or whether telemetry calls something so."""
    told = {item.name for item in (*telemetry.ATTRIBUTES, *telemetry.METRICS)}
    if path in told.union(*(metric.attributes.split(", ") for metric in telemetry.METRICS)):
        return True
    home, _, name = path.rpartition(".")
    try:
        return hasattr(import_module(home), name) or import_module(path) is not None
    except ImportError:
        return False


def test_every_path_that_is_shown_is_there():
    """No page, schema, example or notebook names a module, or something of one, that is not there."""
    shown = mentioned()
    assert len(shown) > 10
    assert {path: file for path, file in shown.items() if not is_there(path)} == {}


# Classes that results name


def breaks_the_grammar():
    """Let a guard return what no guard returns."""
    return triage(bodies={"label_guard": lambda state, run: {"accepted_label": "bug"}}).invoke(TICKET)


def must_be_recorded():
    """Make a run that has to be recorded, and that nobody records."""
    return create_rag_agent().invoke(QUESTION, context={"policy": {"audit_required": True}})


def writes_a_state():
    """Let a tool write the state of another run."""
    other = triage(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    return triage(tool=lambda request: other.update_state(config, {"task": "x"})).invoke(TICKET)


def is_sent_elsewhere():
    """Ask a model's server that sends its client to another host."""
    with (
        OpenAIServer(redirect("http://localhost:1/v1/chat/completions")) as server,
        pytest.MonkeyPatch.context() as given,
    ):
        for name, value in server.environ().items():
            given.setenv(name, value)
        return create_rag_agent("openai:test-model").invoke(QUESTION)


def finds_no_documents():
    """Let a guard use an adapter that is given something else than documents."""
    adapter = LangChainRetriever(lambda request: "no documents", sources=["s"])

    def body(state, run):
        adapter.invoke({"query": "q", "sources": ["s"], "top_k": 1})

    return triage(bodies={"label_guard": body}).invoke(TICKET)


def writes_no_json():
    """Let a propose node write what is no JSON text."""
    return triage(bodies={"label": lambda state, run: {"proposed_label": "by hand"}}).invoke(TICKET)


CLASSES = {
    "GrammarBreach": breaks_the_grammar,
    "NoRecorder": must_be_recorded,
    "StateRefused": writes_a_state,
    "ReplyRefused": is_sent_elsewhere,
    "Unreturnable": finds_no_documents,
    "NotJson": writes_no_json,
}
"""Runs that stop with such an error, by the name of its class."""


@pytest.mark.parametrize("name", CLASSES)
def test_a_result_names_the_class_as_it_did(name):
    """A run that fails so says it in `details.type`."""
    result = CLASSES[name]()
    assert (result["status"], result["details"]["type"]) == ("stopped", name)


def defined(name):
    """Return the bases of the classes of this name that the package defines."""
    texts = [file.read_text(encoding="utf-8") for file in Path(guardgraph.__file__).parent.rglob("*.py")]
    trees = [ast.parse(text) for text in texts if f"class {name}" in text]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [[ast.unparse(base) for base in node.bases] for node in classes if node.name == name]


@pytest.mark.parametrize("name", UNPROVOKED)
def test_a_class_that_no_run_shows_keeps_its_name(name):
    """The package defines an error of this name; no run through the fronts was found whose result has it.

    `TooLarge` becomes the cause ``max_reply_bytes``, or an input that is refused; `ExtractionFailed` a `ReadFailure`
    of a page, or the reason why a document was left out. A copy of one in another process would show the name.
    """
    assert len(defined(name)) == 1
