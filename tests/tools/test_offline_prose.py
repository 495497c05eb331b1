"""Texts of records as plain sentences: markup, links, lists and paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardgraph.nodes.offline.prose import has_file_path, read_prose_line, read_prose_sentences


def said(text: str) -> list[str]:
    """Return the sentences of a text."""
    return list(read_prose_sentences(text))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("cards fail", ["Cards fail."]),
        ("Cards fail!\nWe look\ninto it", ["Cards fail!", "We look into it."]),
        ("# Title\n\n## Summary\n\nCards *fail*, **all** of `them`.\n\n---\n", ["Cards fail, all of them."]),
        ("Title\n=====\nCards fail.", ["Title.", "Cards fail."]),
        ("---\ntitle: x\nseverity: down\n---\nCards fail.", ["Cards fail."]),
        ("**Update**\nCards fail.\n[Final Message]\n-->\n<!-- note -->", ["Cards fail."]),
        ("```\nkubectl logs\n```\nCards fail.", ["Cards fail."]),
        ("| a | b |\n|---|---|\n> Cards fail.", ["Cards fail."]),
        ("<h1>T</h1><p>Cards &amp; wallets<br/>fail.</p><script>x()</script>", ["Cards & wallets fail."]),
        ("<ul><li>cards fail</li><li>refunds wait</li></ul>", ["Cards fail.", "Refunds wait."]),
        ("snake_case and 2 * 3 * 4 stay", ["snake_case and 2 * 3 * 4 stay."]),
        ("![logo](a.png)Cards \\*fail\\*.", ["Cards *fail*."]),
        ("服务不可用。正在调查", ["服务不可用。", "正在调查。"]),
        ("ci.example.org is down", ["ci.example.org is down."]),
        (" \n-\n* \n", []),
    ],
)
def test_markup_is_taken_away(text: str, sentences: list[str]) -> None:
    """What is left are whole sentences with an end mark; headings, tables, code and comments are no sentences."""
    assert said(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "These fail:\n- cards\n- refunds\n- wallets\n\nWe look.",
            ["These fail: cards, refunds, and wallets.", "We look."],
        ),
        ("These fail:\n\n1. cards;\n2. refunds;", ["These fail: cards and refunds."]),
        ("We expect delays in\n\n- builds\n- releases", ["We expect delays in: builds and releases."]),
        ("Down:\n- a\n- b\n- c\n- d\n- e\n- f\n- g", ["Down: a, b, c, d, e, and others."]),
        ("Timeline:\n- Cards failed.\n- We looked\n  into it.", ["Cards failed.", "We looked into it."]),
        ("Details:\n\n# Next", []),
    ],
)
def test_a_list_follows_what_introduces_it(text: str, sentences: list[str]) -> None:
    """Items that are sentences stand for themselves; an introduction without a list says nothing."""
    assert said(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The [report](https://a.b/c_(d)) is out.", ["The report is out."]),
        ("[Discussion](https://a.b/c)\nCards fail.", ["Cards fail."]),
        ("Cards fail. See more at <https://a.b/c/4>.", ["Cards fail."]),
        ("Internal review: https://a.b/c", []),
        ("Cards fail all over the world: https://a.b/c.", ["Cards fail all over the world:"[:-1] + "."]),
        ("Cards fail (see https://a.b/c) again.", ["Cards fail again."]),
        ("The site https://a.example.org fails.", ["The site a.example.org fails."]),
        (
            "As part of https://a.b/c/1, the team of the site restarts all agents.",
            ["As part of https://a.b/c/1, the team of the site restarts all agents."],
        ),
    ],
)
def test_a_sentence_that_only_points_to_a_link_is_left_out(text: str, sentences: list[str]) -> None:
    """A link that is part of what is said is kept; one in brackets or after a colon goes alone."""
    assert said(text) == sentences


@pytest.mark.parametrize(
    "text",
    ["content/issues/x.md", "see ~/notes", "/var/log/pay", "C:\\pay\\x", "../a/b", "config.yaml", "src/pay/main.py"],
)
def test_a_sentence_with_a_path_is_left_out(text: str) -> None:
    """Customers are not told where files are."""
    assert has_file_path(text)
    assert said(f"Cards fail. We changed {text} today. We look.") == ["Cards fail.", "We look."]
    assert read_prose_line(f"Down: {text}") == ""


@pytest.mark.parametrize(
    "text", ["24/7", "and/or", "HTTP/2", "Node.js", "v1.2/v1.3", "ci.example.org/x", "/status page"]
)
def test_what_has_a_slash_or_a_point_is_not_yet_a_path(text: str) -> None:
    """Rates, names, versions and hosts are no files."""
    assert not has_file_path(text)


@given(st.text(st.sampled_from(" \n-*_#`>[]()<>:.|!ab1/\\&~。"), max_size=200))
def test_any_text_becomes_sentences_on_one_line(text: str) -> None:
    """Each is stripped, has an end mark and names no file, however odd the markup."""
    for sentence in said(text):
        assert sentence == " ".join(sentence.split())
        assert sentence.rstrip("\"')]”’»")[-1] in ".!?…。！？।"
        assert not has_file_path(sentence)
