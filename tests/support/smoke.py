"""The installed package, checked without a test runner: ``python smoke.py``, or ``tests/support/smoke.py``."""

import json
import os
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import guardgraph
from guardgraph import grammar
from guardgraph.testing import ScriptedChatModel
from guardgraph.tools.demo import CRITIQUE_GOAL, DEMO_QUESTION, RESEARCH_GOAL
from guardgraph.world.prompts import load_prompt

PROMPTS = {"rag_answer", "research_answer", "critique_review", "tools_plan", "verify_claims", "instructions"}

BUDGETS = (guardgraph.RagBudget(), guardgraph.ResearchBudget(), guardgraph.SelfCritiqueBudget())
LIMITS = {name: value for budget in BUDGETS for name, value in budget}

DATA = {f"research_{name}.json" for name in ("notes", "pages", "request", "search_results")} | {
    *("rag_documents.json", "self_critique_incident_context.json", "tools_files.json")
}


def check_names() -> None:
    """Every public name is there, and the types are published."""
    for front in (guardgraph, grammar):
        missing = [name for name in front.__all__ if not hasattr(front, name)]
        assert front.__all__, f"{front.__name__} offers no names"
        assert not missing, f"public names that cannot be imported: {missing}"
    assert (resources.files("guardgraph") / "py.typed").is_file(), "py.typed is not in the package"


def check_files() -> None:
    """Prompts, their schemas and data are packaged."""
    prompts = {file.name for file in (resources.files("guardgraph.nodes") / "prompts").iterdir()}
    assert {f"{name}.md" for name in PROMPTS} <= prompts, f"packaged prompts: {sorted(prompts)}"
    for name in sorted(file.removesuffix(".schema.json") for file in prompts if file.endswith(".schema.json")):
        prompt = load_prompt(name, LIMITS)
        assert prompt.text.strip(), f"prompt {name} is empty"
        assert prompt.schema["type"] == "object", f"prompt {name} has no schema of an object"
    assert {file.name for file in _data().iterdir() if file.name.endswith(".json")} == DATA, "packaged data"


def check_demo_runs() -> None:
    """The three demo runs end well, without network or key."""
    research = {"goal": RESEARCH_GOAL, "request": _json("research_request.json")}
    critique = {"goal": CRITIQUE_GOAL, "incident_context": _json("self_critique_incident_context.json")}
    rag = guardgraph.create_rag_agent()
    for graph, given, outcome, citations in (
        (rag, {"question": DEMO_QUESTION}, "grounded_answer", ["doc_sla_enterprise_v3"]),
        (rag, {"question": "Who won the chess olympiad?"}, "clarify", []),
        (guardgraph.create_research_agent(), research, "grounded_research_answer", ["n1", "n2"]),
        (guardgraph.create_self_critique_agent(), critique, "revised_once", []),
    ):
        result, findings = graph.invoke(given), guardgraph.verify(graph)
        ending = (result["status"], result["stop_reason"], result.get("outcome"), result.get("citations", []))
        assert ending == ("ok", "success", outcome, citations), f"expected {outcome}, the run ended {ending}"
        assert findings == [], f"{graph.get_name()}: {findings}"


def check_model() -> None:
    """A model is asked, and a guard stops what it makes up."""
    model = ScriptedChatModel({"kind": "retrieve", "query": "P1"}, {"answer": "Soon.", "citations": ["made_up"]})
    reason = guardgraph.create_rag_agent(model).invoke({"question": "P1?"})["stop_reason"]
    assert reason == "invalid_answer:citations_out_of_context", f"the run ended with {reason}"


def check_picture() -> None:
    """A graph is drawn as Mermaid text without any extra."""
    text = guardgraph.draw(guardgraph.create_rag_agent()).mermaid
    assert text.startswith("flowchart TD\n"), f"the picture begins with {text[:40]!r}"


def check_page() -> None:
    """A run becomes a page without any extra, and its style sheet is packaged."""
    page = guardgraph.report(guardgraph.create_rag_agent().invoke({"question": DEMO_QUESTION}))
    assert repr(page) == "<Page: RAG run, ok: grounded_answer>", f"the page is {page!r}"
    assert ".timeline" in page.html, "the page has no style sheet"


def check_command() -> None:
    """The console script answers, in JSON alone when asked to."""
    version = _guardgraph("--version")
    assert version == f"guardgraph {guardgraph.__version__}\n", f"--version prints {version!r}"
    result = json.loads(_guardgraph("rag", DEMO_QUESTION, "--json"))
    assert result["outcome"] == "grounded_answer", f"rag --json ended with {result['stop_reason']}"


def _guardgraph(*arguments: str) -> str:
    environ = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([*_command(), *arguments], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, f"guardgraph {arguments} ended with {done.returncode}: {done.stderr}"
    assert done.stderr == "", f"guardgraph {arguments} prints on stderr: {done.stderr}"
    return done.stdout


def _command() -> list[str]:
    script = Path(sys.executable).with_name("guardgraph.exe" if os.name == "nt" else "guardgraph")
    try:
        metadata.distribution("guardgraph")
    except metadata.PackageNotFoundError:  # a checkout on the import path
        return [sys.executable, "-m", "guardgraph"]
    assert script.exists(), f"guardgraph is installed, but {script} is not"
    return [str(script)]


def _data():
    return resources.files("guardgraph.tools") / "data"


def _json(name):
    return json.loads((_data() / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    for check in (check_names, check_files, check_demo_runs, check_model, check_picture, check_page, check_command):
        check()
        print(f"ok: {check.__doc__}")
