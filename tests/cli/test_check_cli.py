"""`guardgraph check`: an answer, or many, against files, folders and rows."""

import json

import pytest
from cli_runs import CONTROL, empty_folder, refused, run
from tables import each_row
from test_kb_ingest import write

from guardgraph import check_answer

HANDBOOK, RIGHT, WRONG = "Refunds take 10 days. A refund costs 2 EUR.", "Refunds take 10 days.", "Refunds take 5 days."


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with answers, and a folder of sources."""
    answers = {"right.txt": RIGHT, "wrong.html": f"<p>{WRONG}</p>", "answer.pdf": f"%PDF-1.7 {RIGHT}"}
    none = {"blank.txt": " \n", "nul.txt": "a\0b", "latin.md": b"caf\xe9"}
    docs = {"docs/handbook.md": f"# Refunds\n\n{HANDBOOK}\n", "docs/x.doc": "x"}
    return write(empty_folder(tmp_path, monkeypatch), {**answers, **none, **docs})


def rows(folder, *given):
    (folder / "rows.jsonl").write_text("\r\n".join(json.dumps(row, ensure_ascii=False) for row in given), "utf-8")
    return run("check", "--data", "rows.jsonl")


def test_an_answer_is_shown_with_its_verdicts_and_ends_with_3_where_it_is_refused(here):
    """As text, JSON, Markdown and a page; what a folder leaves out is said on stderr."""
    done = run("check", "right.txt", "--source", "docs")
    assert (done.exit_code, done.stderr) == (0, "guardgraph: left out of docs: another format: 1 (x.doc)\n")
    expected = check_answer(WRONG, [{"id": "docs/handbook.md", "text": f"# Refunds\n\n{HANDBOOK}\n"}])
    asked = ("check", "wrong.html", "--source", "docs/handbook.md")
    done = run(*asked)
    assert (done.exit_code, "contradicted" in done.stdout, "10 days" in done.stdout) == (3, True, True)
    shown = json.loads(run(*asked, "--json").stdout)
    assert (shown["stop_reason"], shown["answer"]) == (expected.stop_reason, WRONG)
    assert run(*asked, "--markdown").stdout.strip() == expected.to_markdown().strip()
    assert run(*asked, "--html", "page.html").exit_code == 3
    assert (here / "page.html").read_text("utf-8") == expected.to_html()
    assert run("check", "right.txt", "--source", "blank.txt", "--source", "docs").exit_code == 2
    (here / "steers.txt").write_text(f"{RIGHT}\x1b[2J\u202e")
    assert not CONTROL.search(run("check", "steers.txt", "--source", "docs", "--markdown").stdout)


def test_a_table_counts_what_is_let_through_and_what_labels_say_of_it(here):
    """Exit code 3 below what is required; a line separator inside a text ends no row."""
    good = {"answer": "Refunds\u2028take 10 days.", "sources": [HANDBOOK], "label": "good"}
    bad = [{"answer": answer, "sources": [HANDBOOK], "label": "bad"} for answer in (RIGHT, WRONG, WRONG)]
    done = rows(here, good, *bad)
    assert (done.exit_code, done.stdout.split()[:6]) == (0, ["answers", "4", "let", "through", "2", "50.0"])
    assert done.stdout.splitlines()[-1].split() == ["bad,", "let", "through", "33.3", "%"]
    table = json.loads(run("check", "--data", "rows.jsonl", "--json", "--fail-under", "50").stdout)
    assert table["verdicts"]["contradicted"] == 2
    assert (table["answers"], table["let_through"], table["good_refused"], table["fail_under"]) == (4, 2, 0.0, 50.0)
    done = run("check", "--data", "rows.jsonl", "--fail-under", "50.1")
    assert (done.exit_code, "required" in done.stdout) == (3, True)


@each_row(
    ("words", "said"),
    ("--data rows.jsonl --fail-under 100.1", "--fail-under: a number from 0 to 100"),
    ("right.txt --source docs --fail-under 5", "given: 5 without --data"),
    ("right.txt --source docs --json --markdown", "--json, --markdown: one of them is allowed"),
    ("right.txt --data rows.jsonl", "ANSWER or --data is required, and not both"),
    ("right.txt", "--source: a file, a folder or a URL is required; given: none"),
    ("answer.pdf --source docs", "ANSWER 'answer.pdf': a file that ends in .md, "),
    ("nul.txt --source docs", "text is required; it holds a NUL character"),
    ("latin.md --source docs", "ANSWER 'latin.md': UTF-8 text is required"),
    ("right.txt --source blank.txt", "a text is required; given: a blank one"),
    ("right.txt --source HTTP://[", "no address of a page"),
    ("right.txt --source nowhere", "--source 'nowhere': a file or a folder is required"),
    ("right.txt --source docs/handbook.md --html a.pdf", "--html: a name that ends in .html is required"),
    ("right.txt --source docs/handbook.md --html none/a.html", "--html 'none/a.html': cannot be written: No such"),
)
def test_wrong_words_are_told_in_one_line(words, said):
    assert said in refused(run("check", *words.split()))


@each_row(
    ("row", "said"),
    ({"answr": "x", "sources": []}, "answer: a text is required; given: none; keys of the row: answr, sources"),
    ({"answer": "x", "sources": "y"}, "sources: a list of texts or documents is required; given: 'y'"),
    ({"answer": "x", "sources": [], "label": "god"}, "label: good or bad is required; given: 'god'"),
    ({"answer": "x", "sources": ["y"], "question": ["q"]}, "question"),
    ([1], "an object"),
)
def test_a_row_that_is_none_is_told_by_its_number_and_key_and_data_that_are_none_are_told(row, said, here):
    assert f"line 2: {said}" in refused(rows(here, {"answer": RIGHT, "sources": [HANDBOOK]}, row))
    for content, said in ((b"\n", "lines with answers are required"), (b"{", "line 1: not JSON"), (b"\xff", "UTF-8")):
        (here / "rows.jsonl").write_bytes(content)
        assert said in refused(run("check", "--data", "rows.jsonl"))
