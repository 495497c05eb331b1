"""The examples run: in any folder, without a key or a network."""

import io
import os
import runpy
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = {file.stem: file for file in sorted(EXAMPLES.glob("*.py"))}
STEPS = [
    *("  request_guard decides", "  plan proposes", "  policy_guard decides", "  execution_guard decides"),
    *("  retrieve works", "  context_guard decides", "  generate proposes", "  answer_guard decides"),
]
ANSWERED = ["  answered ends the run", "The P1 first response target is 15 minutes."]
RESUMED = [
    *("next: retrieve", "success: For P1 incidents, first response target is 15 minutes, 24/7."),
    *("next: retrieve", "source_denied:support_policy: None"),
]
"""Each line is of a process: two begin a run, and two end it, one where the source is off now."""
OUTPUT = {
    "batch": ["all sources: {'grounded_answer': 2, 'clarify': 1}", "no source: {'clarify': 3}", "no time: {'max_sec"],
    "human_approval": ["To approve (revised_once): This is an update", "Its hash: ", "success: This is an update"],
    "langchain_tool": [
        "the agent says:  The target for P1 is 15 minutes.",
        "the guards say:  success grounded_answer ['doc_sla_enterprise_v3']",
        "the agent says:  The target for P1 is 15 minutes.",
        "the guards say:  success clarify []",
        'the agent says:  {"stop_reason": "success", "outcome": "clarify", "answer": "I found nothing',
        "the guards say:  success clarify []",
    ],
    "lcel_chain": ["success: Enterprise plan includes", "success: I found nothing", "max_seconds: This took too long."],
    "many_inputs": ["{'grounded_answer': 9, 'clarify': 3}", "{'same': 6, 'changed': 3, 'unknown': 3}"],
    "postgres_checkpoints": RESUMED,
    "sqlite_checkpoints": RESUMED,
    "streaming": [
        *(*STEPS, *ANSWERED),
        *(*STEPS, *STEPS[-2:], *ANSWERED),
        *(*STEPS, *STEPS[-2:], "  stop_invalid_answer ends the run", "stopped: invalid_answer:contradicts_source"),
    ],
    "subgraph": [
        "answered -> send: For P1 incidents",
        "clarified -> ask_back: I found nothing",
        "stop_invalid_answer -> hand_over: A colleague looks into it (invalid_answer:citations_out_of_context).",
        "stop_llm -> try_later: We are busy.",
    ],
}
"""How the lines begin that an example prints."""
AS_PROCESSES = ("many_inputs", "postgres_checkpoints", "sqlite_checkpoints")
"""Examples that start processes of their own: the test starts them as a reader does."""


def printed(*arguments: str, folder: Path = ROOT) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    environ = {**kept, "PYTHONPATH": str(ROOT), "LANGGRAPH_STRICT_MSGPACK": "true"}
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False)
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


@pytest.mark.parametrize("name", OUTPUT)
def test_an_example_runs(name, tmp_path):
    """In any folder, without a key or a network, it prints what it promises and warns of nothing."""
    if name in AS_PROCESSES:
        lines = printed(str(SCRIPTS[name]), folder=tmp_path)
    else:
        done = ran_here(name, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
    assert [line[: len(start)] for line, start in zip(lines, OUTPUT[name], strict=True)] == OUTPUT[name]
    assert list(tmp_path.iterdir()) == []


def test_every_example_is_run():
    assert SCRIPTS.keys() - {"postgres_server"} == OUTPUT.keys()


def test_an_import_does_nothing(tmp_path):
    """Importing the examples prints, builds and connects nothing; each says in its docstring what it shows."""
    refusal = "import guardgraph.graphs.running.door as door; door.GuardedGraph.__init__ = None"  # a call would raise
    code = "\n".join([refusal, *(f"import {name}; print({name}.__doc__.partition('.')[0])" for name in SCRIPTS)])
    lines = printed("-c", f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); {code}", folder=tmp_path)
    assert len(set(lines)) >= len(SCRIPTS)


def test_wrong_usage_is_told(tmp_path):
    approval = ["human_approval", "decide", "file", "hash", "perhaps", "Ada"]
    for name, *arguments in (approval, ["postgres_checkpoints", "start"], ["sqlite_checkpoints", "begin", "file"]):
        done = ran_here(name, *arguments, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"python {name}.py " in done.stderr
        assert "Traceback" not in done.stderr


APP = EXAMPLES / "app"


def test_an_app_with_modules_of_the_same_names_runs():
    lines = printed("main.py", folder=APP)
    assert "The refund is paid within 5 working days" in lines[0]
    assert [line.partition("? ")[2][:22] for line in lines[1:]] == ["I found nothing in the", ""]
    assert lines[-1] == "We will call you (max_seconds)."
