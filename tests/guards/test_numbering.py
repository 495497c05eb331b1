"""Models are shown numbers and cite these: what they mean is read, and what nothing has is no id of ours."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grammar import Outcome, Stop
from guardgraph.guards.numbering import is_not_found, name_numbered_pages, proposed_answer

TEXTS = {"sla": "P1 is answered within 15 minutes.", "fees": "The enterprise plan costs 320 EUR.", "odd": "Nothing."}
IDS = [*TEXTS]
ITEMS = st.integers(-2, 5) | st.sampled_from(["1", "[2]", " 3 ", "9", "sla", "x", "", None, True, 2.5, []])


def read(said, form=None, prompt="p@1"):
    about = {key: item for key, item in (("prompt", prompt), ("form", form)) if item}
    return proposed_answer(Outcome("text", said, about).packed(), TEXTS).value


def name(item):
    text = item.strip().strip("[]") if isinstance(item, str) else item
    if isinstance(item, bool) or (isinstance(item, str) and not text.isdecimal()) or not isinstance(text, str | int):
        return item
    return IDS[int(text) - 1] if 1 <= int(text) <= len(IDS) else str(int(text))


@given(st.lists(ITEMS, max_size=4))
def test_a_number_is_the_id_of_what_has_it(items):
    """However it is written; one that nothing has stays a number, and whatever else stands there is left."""
    named = read(json.dumps({"answer": "Yes.", "citations": items}))["citations"]
    expected = [*map(name, items)]
    assert named == ([*dict.fromkeys(expected)] if all(isinstance(item, str) for item in expected) else expected)
    assert read(json.dumps({"answer": "Yes.", "citations": items}), prompt=None)["citations"] == items


@each_row(
    ("answer", "said", "cited"),
    ("Within 15 minutes [1].", "Within 15 minutes [sla].", ["sla"]),
    ("Both [1, 2] hold [9].", "Both [sla, fees] hold [9].", ["sla", "fees", "9"]),
    ("See a[1], [1](x) and [word].", "See a[1], [1](x) and [word].", []),
)
def test_marks_in_an_answer_are_named_and_cited(answer, said, cited):
    """Of a sentence or of a section; an index, a link of Markdown and a word in brackets are no marks."""
    assert read(json.dumps({"answer": answer, "citations": []})) == {"answer": said, "citations": cited}
    sections = read(json.dumps({"citations": [], "sections": [{"text": answer}, {"text": 1}, "x"]}))
    assert sections == {"citations": cited, "sections": [{"text": said}, {"text": 1}, "x"]}


def test_a_text_cites_what_it_shares_most_words_with():
    """Where a model was asked for a text alone: its marks count, else the nearest source does; no answer is none."""
    said = "P1 is answered in 15 minutes."
    assert read(said, form="text") == {"answer": said, "citations": ["sla"]}
    assert read("It costs 320 EUR [2].", form="text")["citations"] == ["fees"]
    assert read("NOT FOUND", form="text") == {"insufficient": True}


def test_what_is_no_object_is_no_answer():
    """A model's text that is a list, or no JSON, is a stop with the text; a function's value is its guard's affair."""
    for said in ("[1]", "no JSON", "7"):
        with pytest.raises(Stop) as raised:
            read(said)
        assert (raised.value.reason, raised.value.evidence) == ("llm_invalid_json", {"details": {"text": said}})
    assert proposed_answer(Outcome("value", [1], {}).packed(), TEXTS).value == [1]
    assert read('{"answer": 1, "citations": 2}') == {"answer": 1, "citations": 2}


@each_row(
    ("text", "is_none"),
    ("Not found.", True),
    ("The answer was not found in the passages.", True),
    ("P1 is fast. NOT FOUND.", True),
    ("The key was not found. Ask the desk.", False),
    ("Whoever has not found it asks the desk.", False),
)
def test_a_model_that_finds_no_answer_says_so(text, is_none):
    """Alone, or in a sentence that is about the answer; what a source says of something else is an answer."""
    assert is_not_found(text) is is_none


def test_pages_of_notes_are_named_by_their_urls():
    """A number is the URL of its page; a note that has a URL, or no page, and what is no list stay."""
    notes = [{"page": 2, "claim": "x"}, {"page": "1", "url": "u"}, {"claim": "y"}, "z", {"page": 7}]
    named = [{"claim": "x", "url": "b"}, {"page": "1", "url": "u"}, {"claim": "y"}, "z", {"url": "7"}]
    assert name_numbered_pages({"notes": notes, "more": 1}, ["a", "b"]) == {"notes": named, "more": 1}
    assert name_numbered_pages({"notes": 1}, ["a"]) == {"notes": 1}
    assert name_numbered_pages([], ["a"]) == []
