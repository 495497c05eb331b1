"""The commands: what they print, and how they end."""

import json
import re

import pytest
from cli_runs import CONTROL, empty_folder, files_of_a_user, refused, run
from openai_server import OpenAIServer, answer
from tables import each_row

import guardgraph
from guardgraph.tools.demo import DEMO_QUESTION

here = pytest.fixture(autouse=True)(empty_folder)
user_files = pytest.fixture(files_of_a_user)
DESK = ("review", "desk", "--graph", "rag")


def test_help_lists_the_commands():
    for done in (run("--help"), run("-h"), run()):
        assert all(name in done.output for name in ("rag", "research", "critique", "demo", "verify", "reasons"))
        assert not CONTROL.search(done.output)


def test_a_run_shows_steps_answer_sources_and_what_is_next():
    """Every node is a line with its kind and what it decided; then come the answer and what it rests on."""
    done = run("rag", DEMO_QUESTION)
    assert done.exit_code == 0
    assert re.search(r"guard +request_guard +-> plan\n", done.stdout)
    assert re.search(r'propose +plan +offline: \{"kind": "retrieve"', done.stdout)
    assert re.search(r"act +retrieve", done.stdout)
    assert re.search(r"guard +answer_guard +citation_count 1 -> answered", done.stdout)
    assert re.search(r"terminal answered +grounded_answer", done.stdout)
    assert "99.95% monthly uptime" in done.stdout
    assert "doc_sla_enterprise_v3  Support Policy" in done.stdout
    assert "--model openai" in done.stdout


def test_what_a_folder_leaves_out_is_said(here):
    """One line on stderr counts what was left out by reason, without control characters; stdout stays one document."""
    (here / "kb").mkdir()
    (here / "kb" / "a.rst").write_text("Refunds\n=======\n\nRefunds take 14 days.\n")
    (here / "kb" / "b\x1b[31m.pdf").write_text("no")
    (here / "kb" / "evil.md").symlink_to("/etc/passwd")
    done = run("rag", "How long do refunds take?", "--kb", "kb", "--json")
    assert json.loads(done.stdout)["citations"] == ["a.rst#refunds.1"]
    assert done.stderr == (
        "guardgraph: left out of kb: another format: 1 (b\\x1b[31m.pdf); link out of the folder: 1 (evil.md)\n"
    )
    (here / "kb" / "a.rst").unlink()
    assert "has no text in any" in (said := refused(run("rag", "P1", "--kb", "kb")))
    assert "left out: another format: 1 (b" in said


def test_research_of_something_else_is_stopped():
    done = run("research", "Who won the chess olympiad?")
    assert done.exit_code == 3
    known = guardgraph.CATALOGUES["research"].find("no_sources_after_dedupe")
    for expected in ("Stopped: no_sources_after_dedupe", known.meaning, known.advice, "phase      dedupe"):
        assert expected in done.stdout
    assert "guardgraph reasons research" in done.stdout


def test_a_model_proposes_and_guards_decide(monkeypatch):
    """With a model, the steps show what it proposed and that a guard refused it."""
    intent = {"kind": "retrieve", "query": "P1 first response target"}
    with OpenAIServer(answer(intent), answer({"answer": "P1 is 15 minutes.", "citations": ["doc_made_up"]})) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        done = run("rag", "What is the P1 target?", "--model", "openai:test-model")
    assert done.exit_code == 3
    assert 'test-model: {"kind": "retrieve"' in done.stdout
    assert re.search(r"answer_guard +stop: invalid_answer:citations_out_of_context", done.stdout)
    assert 'invalid_citations ["doc_made_up"]' in done.stdout
    assert "proposer   test-model" in done.stdout
    assert "--model openai" not in done.stdout


def test_prompts_are_written_out_and_given_back(here, monkeypatch):
    """A folder of them is what the model is told; history has the hash of the changed one."""
    assert run("prompts", "--pattern", "rag", "--to", "own").exit_code == 0
    told = here / "own" / "rag_answer.md"
    told.write_text(f"Be brief.\n---\n{told.read_text('utf-8').partition('---')[2]}", "utf-8")
    said = {"answer": "P1 is answered within 15 minutes.", "citations": [1]}
    with OpenAIServer(answer({"kind": "retrieve", "query": "P1"}), answer(said)) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        run("rag", "What is the P1 first response target?", "--model", "openai:m", "--prompts", "own")
    assert server.requests[1]["body"]["messages"][0]["content"] == "Be brief."


def test_the_demo_in_json():
    done = run("demo", "--json")
    outcomes = {pattern: result["outcome"] for pattern, result in json.loads(done.stdout).items()}
    research = {"research": "grounded_research_answer", "self_critique": "revised_once"}
    assert (done.exit_code, outcomes) == (0, {"rag": "grounded_answer", **research, "tools": "answered"})


def test_verify_lists_findings(user_files):
    """A graph of one's own that breaks the grammar ends with 3; what its module prints is kept off stdout."""
    done = run("verify", "factories:unguarded")
    assert done.exit_code == 3
    assert done.stdout.startswith("unguarded [bold]: 1 node, ")
    assert "foreign: " in done.stdout
    assert "noise" in done.stderr
    found = json.loads(run("verify", "factories:unguarded", "--json").stdout)
    assert [item["graph"] for item in found] == ["unguarded [bold]"]
    assert {"rule", "message", "nodes", "path"} == set(found[0]["findings"][0])


def test_reasons_are_listed():
    done = run("reasons", "rag")
    assert done.exit_code == 0
    for item in guardgraph.CATALOGUES["rag"]:
        assert item.reason in done.stdout
    assert "self_critique" not in done.stdout
    listed = json.loads(run("reasons", "--json").stdout)
    expected = [(pattern, item.reason) for pattern, known in guardgraph.CATALOGUES.items() for item in known]
    assert [(item["pattern"], item["reason"]) for item in listed] == expected


@each_row(
    ("arguments", "message"),
    (("rag", "P1", "--kb", "nowhere"), "nowhere"),
    (("rag", "P1", "--kb", "a_file"), "a_file: a knowledge base is required; it is no database"),
    (("rag", "P1", "--model", "gpt-4.1"), "model: "),
    (("rag", "P1", "--prompts", "empty"), "prompts: a folder with files NAME.md is required"),
    (("critique", "--context", "nowhere"), "--context 'nowhere': cannot be read"),
    (("critique", "--context", "a_file"), "--context 'a_file': not JSON"),
    (("critique", "--context", "/dev/zero"), "--context '/dev/zero': at most 67108864 bytes are allowed"),
    (("kb", "add", "x" * 300, "empty"), "File name too long"),
    (("prompts", "--to", ""), "--to: a path is required; given: ''"),
    (("prompts", "--to", "x" * 300), "prompts: cannot be written to 'xxx"),
    (("audit", "head", "--store", "sqlite:///\udcff.db"), "url: sqlite:///FILE"),
    (("research", "P1", "--urls", "a_file", "--allow", "\udcff"), r"--allow: a host is required; given: '\udcff'"),
    (("critique", "--context", "twice"), "'twice': not JSON: the key 'goal' stands twice in one object"),
    (("verify", "factories:raises"), r"RuntimeError: no; luck \x1b[31m (factories.py:"),
    (("verify", "factories:leaves"), "SystemExit: 7"),
    (("verify", "factories:builder"), "a compiled LangGraph graph is required; given: StateGraph"),
    ((*DESK, "--host", "0.0.0.0"), "beyond this machine --tokens and --origin are required"),
    ((*DESK, "--origin", "https://a.example"), "beyond this machine --tokens is required"),
    ((*DESK, "--tokens", "factories.py"), "--tokens: line 16: NAME TOKEN is required, each token once"),
    ((*DESK, "--origin", "http://["), "origin: http(s)://HOST[:PORT] is required; given: 'http://['"),
    (("reasons", "nope"), "rag, research, critique, tools or nothing is required; given: 'nope'"),
    (("reasons", "--json", "--markdown"), "--markdown: "),
)
def test_wrong_usage_is_one_line(arguments, message, user_files):
    assert message in refused(run(*arguments))


def test_a_dotenv_that_is_no_text_is_one_line(here):
    for content in (b"\xff\xfe", b"NAME=a\0b\n"):
        (here / ".env").write_bytes(content)
        assert refused(run("rag", "P1")).startswith(".env in the current folder cannot be read: ")
