"""`guardgraph what-if`: the table, rows and page of runs that are judged by another agent, and limits for CI."""

import json
import sys
from functools import cache

import pytest
from cli_runs import empty_folder, refused, run
from rag_agents import QUESTION, agent
from recorded_runs import recorded
from stored_runs import opened
from tables import each_row

from guardgraph import RagPolicy, create_rag_agent, sql_store

WRONG = {"answer": "Within 20 minutes.", "citations": ["doc_sla_enterprise_v3"]}


def unchecked(recorder):
    return agent(answer=WRONG, policy=RagPolicy(check_values=False), recorder=recorder)


@cache
def runs():
    """Return recordings of an answer and of a wrong one."""
    return [recorded(create_rag_agent, QUESTION), recorded(unchecked, QUESTION)]


FACTORY = """
from guardgraph import RagBudget, create_rag_agent

def strict():
    return create_rag_agent(budget=RagBudget(min_chunk_score=0.9))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in a folder with a factory, a store of two runs and a file of the same."""
    empty_folder(tmp_path, monkeypatch)
    monkeypatch.delitem(sys.modules, "candidates", raising=False)
    (tmp_path / "candidates.py").write_text(FACTORY)
    store = sql_store("sqlite:///runs.db")
    for item in runs():
        store.record(item)
    (tmp_path / "runs.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in runs()))
    return tmp_path


def command(*arguments):
    return run("what-if", "candidates:strict", *arguments)


def test_the_command_prints_the_table_and_ends_with_3_above_a_limit(folder):
    """A store and a file of lines give the same table; code 0 without a limit, and below it."""
    done = command("--store", "sqlite:///runs.db")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1].split() == ["ok:grounded_answer", "->", "ok:clarify", "1"]
    assert command("--store", "runs.jsonl", "--fail-on", "ok>ok:1").stdout == done.stdout
    done = command("--store", "runs.jsonl", "--fail-on", "ok>ok:0", "--fail-on", "unknown:0")
    assert done.exit_code == 3
    assert done.stdout.splitlines()[-2:] == ["--fail-on ok>ok:0: 1 runs", "--fail-on unknown:0: 1 runs"]


def test_the_command_prints_run_by_run_and_makes_a_page(folder):
    done = command("--store", "sqlite:///runs.db", "--json", "--fail-on", "changed:0", "-o", "page.html")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["exceeded"]) == (3, [{"limit": "changed:0", "found": 1}])
    assert [(row["seq"], row["kind"]) for row in said["rows"]] == [(1, "changed"), (2, "unknown")]
    assert (folder / "page.html").read_text().startswith("<!doctype html>")


def test_the_command_names_a_run_that_was_changed_and_judges_the_others(folder):
    with opened(folder / "runs.db") as connection:
        connection.execute("UPDATE guardgraph_contents SET content = replace(content, '15', '16') WHERE seq = 2")
    given, changed = ("--store", "sqlite:///runs.db"), "its content is not what was recorded"
    done = command(*given, "--fail-on", "unreplayable:changed:0", "-o", "page.html")
    assert (done.exit_code, "unreplayable        1  changed 1" in done.stdout) == (3, True)
    assert "1 cannot be judged: 1 changed" in (folder / "page.html").read_text()
    assert f"changed: {changed}" in " ".join(run("audit", "list", *given).stdout.split())
    listed = json.loads(run("audit", "list", *given, "--json").stdout)
    assert [row.get("changed") for row in listed] == [None, changed]


@each_row(
    ("arguments", "message"),
    (["--store", "none.jsonl"], "--store 'none.jsonl': cannot be read: No such file or directory"),
    (["--store", "text.jsonl"], "--store 'text.jsonl', line 1: not JSON: "),
    (["--store", "twice.jsonl"], "--store 'twice.jsonl', line 1: not JSON: the key 'a' stands twice in one object"),
    (["--store", "runs.db"], "--store: the URL of a store, or a .jsonl file, is required; given: 'runs.db'"),
    (["--store", "runs.jsonl", "--tenant", "a"], "--tenant: for a store; a .jsonl file is judged whole"),
    (["--store", "runs.jsonl", "--fail-on", "x"], "--fail-on 'x': required: "),
    (["--store", "sqlite:///runs.db", "--pattern", "rga"], "--pattern: rag, which the candidate judges, "),
    (["--store", "runs.jsonl", "-o", "page.pdf"], "--out: a name that ends in .html; given: "),
    ([], "--store: a URL, such as sqlite:///runs.db, is required"),
)
def test_wrong_options_are_one_line_and_code_2(folder, arguments, message):
    (folder / "text.jsonl").write_text("text\n")
    (folder / "twice.jsonl").write_text('{"a": {"a": 1}, "b": [{"a": 1, "a": 1}]}\n')
    assert refused(command(*arguments)).startswith(message)


def test_a_store_of_another_pattern_judges_nothing_and_says_so(folder):
    """The command ends as one that is used wrongly, and names what there is."""
    told = refused(run("what-if", "guardgraph:create_tool_agent", "--store", "runs.jsonl"))
    assert "runs of tools, which the candidate judges, are required; given: rag" in told
    (folder / "damaged.jsonl").write_text("{}\n")
    assert command("--store", "damaged.jsonl").exit_code == 0
    assert "are required; given: damaged" in refused(command("--store", "damaged.jsonl", "--fail-on", "stopped>ok:0"))


def test_evaluate_prints_the_rates_of_a_file_and_what_is_missing(folder):
    """The command writes the page too, and ends with 3 below a limit."""
    full = {"question": "What is the P1 first response target?", "facts": ["15  MINUTES"]}
    moons = {"id": "moons", "question": "Which planet has the most moons?", "facts": "Saturn"}
    (folder / "rows.jsonl").write_text(f"{json.dumps(full)}\n{json.dumps(moons)}\n")
    command = ("evaluate", "guardgraph:create_rag_agent", "rows.jsonl")
    done = run(*command, "--fail-under", "facts=0.5", "-o", "page.html")
    assert done.exit_code == 0, done.stderr
    assert "facts       50.0%" in done.stdout
    assert "moons  ok:clarify  lacks 'Saturn'" in done.stdout
    assert "lacks" in (folder / "page.html").read_text()
    done = run(*command, "--fail-under", "facts=0.9", "--json")
    assert (done.exit_code, json.loads(done.stdout)["low"]) == (3, {"facts": 0.5})
    for wrong, said in (
        (("--fail-under", "facts"), "--fail-under: answered, ending, facts, citations, passed with a share"),
        (("--recordings", "none.jsonl"), "--recordings 'none.jsonl': cannot be read"),
        (("--policy", "none.yaml"), "none.yaml"),
    ):
        assert said in refused(run(*command, *wrong))
