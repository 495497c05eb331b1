"""`check_answer`: a finished answer against its sources."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from tables import each_row

from guardgraph import ConfigurationError, InputError, RagPolicy, check_answer
from guardgraph.testing import assert_grounded

HANDBOOK = "Refunds take 10 days. A refund costs 2 EUR. P1 tickets are answered within 15 minutes."
SHAPES: list[Any] = [
    HANDBOOK,
    {"id": "h", "text": HANDBOOK, "title": "Handbook"},
    {"doc_id": "h", "section": "Refunds", "text": HANDBOOK},
    Document(page_content=HANDBOOK, metadata={"id": "h", "source": "help"}),
]


@each_row("source", *SHAPES)
def test_every_shape_of_a_source_is_read(source: Any) -> None:
    assert check_answer("Refunds take 10 days.", [source]).ok
    checked = check_answer("Refunds take 5 days.", [source])
    assert (checked.ok, checked.stop_reason) == (False, "invalid_answer:contradicts_source")
    assert checked.sentences[0].findings[0].told == "10 days"


def test_a_sentence_is_held_against_what_it_cites() -> None:
    sources = [{"id": "a", "text": "Plan A costs 10 EUR a month."}, {"id": "b", "text": "Plan B costs 20 EUR a month."}]
    assert check_answer("Plan B costs 20 EUR a month [b]. Plan A costs 10 EUR a month [a].", sources).ok
    assert not check_answer("Plan B costs 20 EUR a month [a].", sources).ok


def test_marks_and_citations_that_name_nothing_are_refused() -> None:
    for checked in (
        check_answer("Refunds take 10 days [99].", [HANDBOOK]),
        check_answer("Refunds take 10 days.", [HANDBOOK], citations=["1", "99"]),
    ):
        assert checked.stop_reason == "invalid_answer:citations_out_of_context"
        assert checked.unknown_citations == ("99",)


def test_a_working_bears_out_what_is_worked_out() -> None:
    """A result of values that the sources state, and not without the working."""
    answer = "The 10 rides and the fee cost 3.20 EUR."
    source = ["A ride costs 0.22 EUR. The fee is 1.00 EUR. There were 10 rides."]
    assert not check_answer(answer, source, policy={"on_doubt": "ignore"}).ok
    assert check_answer(answer, source, workings=["10 * 0.22 + 1.00 = 3.20"], policy={"on_doubt": "ignore"}).ok


def test_the_settings_of_a_policy_hold() -> None:
    wrong = "Refunds take 5 days."
    assert check_answer(wrong, [HANDBOOK], policy={"on_unsupported": "mark"}).verdict == "contradicted"
    assert check_answer(wrong, [HANDBOOK], policy={"on_unsupported": "mark"}).ok
    assert not check_answer(wrong, [HANDBOOK], policy=RagPolicy()).ok
    with pytest.raises(ConfigurationError, match=r"given on_doubts; allowed: check_values"):
        check_answer(wrong, [HANDBOOK], policy={"on_doubts": "stop"})


def test_links_and_empty_texts_are_refused() -> None:
    link = check_answer("See https://evil.acme-pay.com/pay.", [HANDBOOK])
    assert link.stop_reason == "invalid_answer:unsupported_link"
    assert "the link 'https://evil.acme-pay.com/pay' is in no source\n" in f"{link.to_text()}\n"
    image = check_answer("![](https://help.acme.com/a.png)", [HANDBOOK])
    assert "would load, run or lay out something" in image.to_text()
    empty = check_answer("N/A", [HANDBOOK])
    assert empty.stop_reason == "invalid_answer:empty"
    assert {empty.verdict, *(each.verdict for each in empty.sentences)} == {"unchecked"}  # and not supported at once
    assert check_answer("See https://help.acme.com.", [HANDBOOK], known_links=["help.acme.com"]).unsupported == ()


@each_row(
    ("answer", "sources", "message"),
    (None, [HANDBOOK], "answer: a text is required; given: NoneType"),
    ("a", HANDBOOK, "sources: a list of texts or documents is required; given: str"),
    ("a", [HANDBOOK, 3], r"sources\[1\]: a text, a document"),
    ("a", [{"title": "x"}], r"sources\[0\]: a text"),
    ("a", [Path("refunds.md")], r"sources\[0\]: .*load_folder makes documents"),
)
def test_wrong_arguments_are_told_by_name(answer: Any, sources: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_answer(answer, sources)


def test_it_is_shown_for_people() -> None:
    """Text, Markdown and HTML mark the sentence and say what the source says instead; nothing of it is markup."""
    checked = check_answer("Refunds take 5 days <b>now</b>. A refund costs 2 EUR.", [HANDBOOK])
    for shown in (checked.to_text(), checked.to_markdown(), checked.to_html()):
        assert "10 days" in shown
    assert all(len(line) <= 60 for line in checked.to_text(width=60).splitlines())
    assert "<b>" not in checked.to_html()
    assert "<script" not in checked.to_html()
    assert checked.rows()[0]["verdict"] != "supported"
    parser = HTMLParser()
    parser.feed(checked.to_html())
    assert checked.model_dump()["stop_reason"] == checked.stop_reason


@given(answer=st.text(max_size=200), source=st.text(max_size=200))
def test_any_texts_have_a_verdict(answer: str, source: str) -> None:
    checked = check_answer(answer, [source])
    assert all(checked.answer[item.start : item.end] == item.text for item in checked.sentences)
    assert checked.to_text()
    assert checked.to_html()
    assert checked.to_markdown()


def test_an_assertion_shows_the_marked_sentences() -> None:
    assert assert_grounded("Refunds take 10 days.", [HANDBOOK]).ok
    with pytest.raises(AssertionError, match="10 days"):
        assert_grounded("Refunds take 5 days.", [HANDBOOK])


@pytest.mark.process
def test_it_loads_no_framework() -> None:
    code = (
        "import sys; from guardgraph import check_answer; "
        "check_answer('Refunds take 5 days.', ['Refunds take 10 days.']).to_html(); "
        "heavy = ('langgraph', 'langchain', 'langchain_core', 'pydantic', 'rich', 'markdown_it'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@each_row(
    ("settings", "field"),
    ({"on_unsupported": "banana"}, "on_unsupported"),
    ({"min_cover": float("nan")}, "min_cover"),
    ({"check_values": None}, "check_values"),
    ({"label_patterns": ["("]}, "label_patterns"),
    ("strict", "policy"),
)
def test_a_setting_or_an_argument_that_is_none_lets_nothing_through(settings: Any, field: str) -> None:
    with pytest.raises(ConfigurationError, match=field):
        check_answer("Refunds take 5 days.", [HANDBOOK], policy=settings)
    others = {"question": 5, "workings": "2 * 5 = 10", "known_names": "Bob", "citations": [1], "known_links": 5}
    for name, value in others.items():
        with pytest.raises(InputError, match=f"{name}: .* required"):
            check_answer("Refunds take 10 days.", [HANDBOOK], **{name: value})  # type: ignore[arg-type]


def test_markdown_has_no_markup_of_an_answer() -> None:
    """A fence would hide the findings; rules, lists and entities are as little wanted."""
    checked = check_answer("~~~\nRefunds take 5 days.\n- one\n---\n&lt;b&gt; WWW.evil.example", [HANDBOOK])
    shown = checked.to_markdown().splitlines()
    assert not any(line.startswith(("~", "-", "=")) for line in shown)
    assert "&lt;" not in checked.to_markdown().replace("\\&", "")
    assert "`WWW.evil.example`" in checked.to_markdown()


def test_sources_that_share_an_id_are_one() -> None:
    pieces = [{"id": "a", "text": "Refunds take 10 days."}, {"id": "a", "text": "A ticket costs 2 EUR."}]
    assert check_answer("A ticket costs 2 EUR. Refunds take 10 days [a].", pieces).ok
    assert "“Refunds take 10 days.”" in check_answer("Refunds take 5 days.", pieces).to_text()
