"""Links that open a page at a text."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardgraph.state.fragments import link_to_text

URL = "https://docs.example.com/a"
LONG = " ".join(f"word{number}" for number in range(40))


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("The SLA is 99.95%.", "#:~:text=The%20SLA%20is%2099.95%25."),
        ("on-call, day & night", "#:~:text=on%2Dcall%2C%20day%20%26%20night"),
        ("  two\tblanks  ", "#:~:text=two%20blanks"),
        ("Größe", "#:~:text=Gr%C3%B6%C3%9Fe"),
        ("one block\n\nand another one", "#:~:text=one%20block,and%20another%20one"),
        (
            LONG,
            "#:~:text=word0%20word1%20word2%20word3%20word4%20word5,word34%20word35%20word36%20word37%20word38%20word39",
        ),
        ("x" * 200, f"#:~:text={'x' * 200}"),
        (" \n", ""),
    ],
)
def test_a_text_stands_in_its_link(text, fragment):
    """As a whole or by its ends, with what parts a fragment encoded; a text that says nothing changes no link."""
    assert link_to_text(URL, text) == URL + fragment


def test_a_fragment_is_kept():
    """The page's own place stands before the text's."""
    assert link_to_text(f"{URL}#top", "a text") == f"{URL}#top:~:text=a%20text"


@given(st.text())
def test_any_text_makes_a_link_of_ascii(text):
    """What is between the commas are words of the text, whatever it holds; nothing raises."""
    link = link_to_text(URL, text)
    assert link.isascii()
    _, _, ends = link.partition("#:~:text=")
    words = " ".join(text.encode("utf-8", "replace").decode().split())
    assert all(unquote(end) in words for end in ends.split(","))
    assert not any(mark in ends for mark in "-& ")
