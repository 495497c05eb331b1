"""What tests of the examples share: an example as a process, and RAG agents that end in every way there is.

An example that holds an agent is tried with each of them: what comes out is what the agent itself returns.
"""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rag_agents import POLICY
from runs import masked

from guardgraph import LiveWorld, RagBudget, RagPolicy, create_rag_agent
from guardgraph.testing import ScriptedChatModel, ScriptedClock

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = {file.stem: file for file in sorted(EXAMPLES.glob("*.py"))}

QUESTION = "What SLA applies to the enterprise plan?"


def ran(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with warnings as errors, strict checkpoints and no key."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    environ = {**kept, "PYTHONPATH": str(ROOT), "LANGGRAPH_STRICT_MSGPACK": "true"}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False)


def printed(*arguments: str, folder: Path = ROOT) -> list[str]:
    """Return the lines that a process prints, which ends well and complains of nothing."""
    done = ran(*arguments, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def ran_here(name: str, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run an example in this process as Python runs it, without a key, and return what a process would leave."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(out), redirect_stderr(err):
        for key in [key for key in os.environ if key.startswith("OPENAI_")]:
            patch.delenv(key)
        patch.setattr(sys, "argv", [str(SCRIPTS[name]), *arguments])
        patch.syspath_prepend(str(EXAMPLES))
        try:
            runpy.run_path(str(SCRIPTS[name]), run_name="__main__")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
            err.write(f"{ended.code}\n" if isinstance(ended.code, str) else "")
    return subprocess.CompletedProcess([name, *arguments], code, out.getvalue(), err.getvalue())


class Ending(NamedTuple):
    """How a run of an RAG agent ends."""

    agent: Callable[..., Any]
    """Makes the agent; takes a checkpointer."""
    question: str = QUESTION

    def direct(self) -> Any:
        """Return what the agent itself returns, without what varies."""
        return masked(self.agent().invoke({"question": self.question}))


def _rag(*args: Any, **settings: Any) -> Callable[..., Any]:
    return lambda **more: create_rag_agent(*args, **settings, **more)


def _defect(view: object) -> None:
    raise AssertionError("a defect")


def _intent(**fields: Any) -> Callable[[object], dict[str, Any]]:
    return lambda view: {"kind": "retrieve", "query": "enterprise SLA", **fields}


ENDINGS = {
    "answered": Ending(_rag()),
    "clarified": Ending(_rag(retriever=lambda request: [], policy=POLICY)),
    "stop_audit_unavailable": Ending(_rag(policy=RagPolicy(audit_required=True))),
    "stop_budget": Ending(_rag(budget=RagBudget(max_seconds=0.0), world=LiveWorld(clock=ScriptedClock()))),
    "stop_guard_error": Ending(_rag(planner=_defect)),
    "stop_invalid_answer": Ending(_rag(answerer=lambda view: {"answer": "99.95%", "citations": ["rumour"]})),
    "stop_invalid_intent": Ending(_rag(planner=_intent(sources=["wiki"]))),
    "stop_invalid_request": Ending(_rag(), " "),
    "stop_llm": Ending(_rag(ScriptedChatModel(ConnectionError("no route to host"), loop=True))),
    "stop_source_denied": Ending(
        _rag(
            planner=_intent(sources=["support_policy"]), policy=RagPolicy(allowed_sources_execution=["billing_policy"])
        )
    ),
    "stop_tool": Ending(_rag(retriever=lambda request: [{"score": "high"}], policy=POLICY)),
}
"""By the node in which the run ends."""
