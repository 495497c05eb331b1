"""Wrong usage and configuration: one line on stderr, nothing on stdout, exit code 2."""

from __future__ import annotations

import pytest
from cli_runs import CONTROL, empty_folder, files_of_a_user, refused, run

here = pytest.fixture(autouse=True)(empty_folder)
user_files = pytest.fixture(files_of_a_user)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rag", "P1", "--kb", "nowhere"), "nowhere"),
        (("rag", "P1", "--kb", "a_file"), "a_file: a knowledge base is required; it is no database"),
        (("rag", "P1", "--kb", "empty"), "has no text"),
        (("rag", "P1", "--kb", ""), "--kb: a path is required"),
        (("rag", "P1", "--model", "gpt-4.1"), "model: "),
        (("rag", "P1", "--model", "openai:"), "model: "),
        (("rag", "P1", "--model", ""), "model: "),
        (("critique", "--context", "nowhere"), "--context 'nowhere': cannot be read"),
        (("critique", "--context", "empty"), "--context 'empty': cannot be read"),
        (("critique", "--context", "nul\0"), "cannot be read"),
        (("critique", "--context", "binary"), "--context 'binary': cannot be read as UTF-8 text"),
        (("critique", "--context", "a_file"), "--context 'a_file': not JSON"),
        (("critique", "--context", "deep"), "--context 'deep': not JSON: more than 64 levels of nesting"),
        (("critique", "--context", "twice"), "'twice': not JSON: the key 'goal' stands twice in one object"),
        (("critique", "--context", "list"), "--context 'list': a JSON object is required; given: list"),
        (("verify", "factories"), "module:factory is required"),
        (("verify", "factories:"), "module:factory is required"),
        (("verify", ":create"), "module:factory is required"),
        (("verify", "..:create"), "verify '..:create'"),
        (("verify", "nobody_has_this:create"), "No module named 'nobody_has_this'"),
        (("verify", "factories:nothing"), "no attribute 'nothing'"),
        (("verify", "factories:raises"), r"RuntimeError: no; luck \x1b[31m"),
        (("verify", "factories:leaves"), "SystemExit: 7"),
        (("verify", "factories:refuses"), "a setting of ours"),
        (("verify", "factories:number"), "a compiled LangGraph graph is required; given: int"),
        (("verify", "factories:none"), "a compiled LangGraph graph is required; given: NoneType"),
        (("verify", "factories:later"), "a compiled LangGraph graph is required; given: coroutine"),
        (("verify", "factories:builder"), "a compiled LangGraph graph is required; given: StateGraph"),
        (("reasons", "nope"), "rag, research, critique, tools or nothing is required; given: 'nope'"),
        (("reasons", "--json", "--markdown"), "--markdown: "),
        (("reasons", "rag", "--markdown"), "--markdown: "),
    ],
)
def test_wrong_usage_is_one_line(arguments, message, user_files):
    """One line on stderr says what is wrong, nothing is on stdout, and the exit code is 2."""
    assert message in refused(run(*arguments))


@pytest.mark.parametrize("arguments", [("rag",), ("nope",), ("rag", "P1", "--nope"), ("rag", "--kb"), ("demo", "P1")])
def test_usage_errors_of_typer_are_2(arguments):
    """What typer refuses is refused in plain text with the same exit code."""
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error: " in done.stderr
    assert not CONTROL.search(done.stderr)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"NAME=a\0b\n"])
def test_a_dotenv_that_is_no_text_is_one_line(here, content):
    """A `.env` that cannot be read is refused before the run."""
    (here / ".env").write_bytes(content)
    assert refused(run("rag", "P1")).startswith(".env in the current folder cannot be read: ")
