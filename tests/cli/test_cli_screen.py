"""What a person sees is safe and fits: no markup, no control sequences, any width."""

import json
import re

import pytest
from cli_runs import CONTROL, empty_folder, run
from openai_server import OpenAIServer, answer
from rich.cells import cell_len
from tables import each_row

from guardgraph.cli.shell import escape_for_terminal, escape_to_one_line
from guardgraph.cli.views import describe_printed_step
from guardgraph.grammar import Outcome

here = pytest.fixture(autouse=True)(empty_folder)


HOSTILE = "\x1b[2J\x1b]0;title\x07 [bold red]refund[/bold red] [/] :smile: \u202e\x9b31m\r"


def test_text_of_files_is_neither_markup_nor_control(here):
    """Escape sequences of a knowledge base are shown as escapes, markup as it stands; JSON keeps the text."""
    (here / "kb").mkdir()
    text = HOSTILE.replace("\u202e", "")  # an answer with a hidden sign is refused
    (here / "kb" / "a.md").write_text(f"# Refund {text}\n\nA refund takes 14 days {text}.\n", encoding="utf-8")
    done = run("rag", f"How long does a refund take? {HOSTILE}", "--kb", "kb")
    assert done.exit_code == 0
    assert not CONTROL.search(done.stdout)
    assert r"\x1b[2J\x1b]0;title\x07 [bold red]refund[/bold red] [/] :smile: \x9b31m" in done.stdout
    printed = run("rag", f"How long does a refund take? {HOSTILE}", "--kb", "kb", "--json").stdout
    assert not CONTROL.search(printed)
    assert "\x1b[2J" in json.loads(printed)["answer"]


def test_text_of_models_is_neither_markup_nor_control(monkeypatch):
    """What a model proposes cannot steer the terminal, whatever becomes of it."""
    asked = answer({"kind": "retrieve", "query": "P1", "sources": [HOSTILE]})
    with OpenAIServer(asked, asked, answer(HOSTILE)) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        refused_source = run("rag", "P1", "--model", "openai:m")
        refused_text = run("research", "P1", "--model", "openai:m")
    assert (refused_source.exit_code, refused_text.exit_code) == (3, 3)
    assert not CONTROL.search(refused_source.stdout + refused_text.stdout)
    assert r"source_not_allowed:\x1b[2J" in refused_source.stdout
    assert "[bold red]refund[/bold red]" in refused_text.stdout


def test_a_terminal_gets_colours_and_no_sequence_of_others(here, monkeypatch):
    """With colours on, the only escape sequences are rich's own styles."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    printed = run("rag", f"P1 first response target {HOSTILE}").stdout
    assert "\x1b[1m" in printed
    assert not CONTROL.search(re.sub(r"\x1b\[[0-9;]*m", "", printed))


@pytest.mark.parametrize("columns", ["1", "40", "100000000", "many"])
def test_any_width_is_fine(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    done = run("demo")
    width = min(max(int(columns), 20), 120) if columns.isdigit() else 80
    assert done.exit_code == 0
    assert max(map(cell_len, done.stdout.splitlines())) <= width
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    table = run("reasons", "rag")
    assert max(map(cell_len, table.stdout.splitlines())) <= width


def test_plain_text():
    """Letters of any script stay; what steers or hides is shown; white space becomes blanks, line ends stay."""
    assert escape_for_terminal("naïve 東京 क्‍ष 👩‍💻") == "naïve 東京 क्‍ष 👩‍💻"
    assert escape_for_terminal("a\tb\u00a0c\r\nd\x85e") == "a b c \nd e"
    assert escape_for_terminal("\x1b[0m\x00\x7f\x9b\u202e\u2066\ufeff\ud800\U000e0041") == (
        r"\x1b[0m\x00\x7f\x9b\u202e\u2066\ufeff\ud800\U000e0041"
    )
    assert escape_to_one_line("a\n\n b\r\nc\x1b") == r"a;  b; c\x1b"


@each_row(
    ("kind", "writes", "shown"),
    ("propose", {"refusal": {"reason": "source_denied:x", "evidence": {}}}, "refused: source_denied:x"),
    ("act", {"refusal": {"reason": "max_seconds", "evidence": {}}}, "refused: max_seconds"),
    ("act", {"found": "[]"}, "done"),
    ("propose", {"proposed": Outcome("text", "no\nJSON " * 50, {"proposer": "m"}).packed()}, "m: no JSON no JSON"),
)
def test_what_a_node_decided(kind, writes, shown):
    told = describe_printed_step({"kind": kind, "writes": ["proposed"]}, writes)
    assert "\n" not in told
    assert told.startswith(shown)
