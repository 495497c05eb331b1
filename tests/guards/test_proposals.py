"""Outcomes of calls, as text in a raw channel and as what guards read from it."""

import json

import pytest
from growth import assert_linear
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tables import each_row
from test_plain import JSON, VALUES, same

from guardgraph.grammar import Outcome, Stop, evidence, found, proposal, proposed_object, proposed_text, reviewed
from guardgraph.guards.proposals import read_text_reply
from guardgraph.plain.json import NotJson, parse_json

ABOUT = {"proposer": "p", "usage": {"input_tokens": 1}}
FAILED = Outcome("failure", {"reason": "llm_auth", "details": {"status": 401}}).packed()
LATE = Outcome("failure", {"reason": "max_seconds", "details": {"seconds": 1.0}}).packed()


def text(content):
    return Outcome("text", content, ABOUT).packed()


def value(content):
    return Outcome("value", content, ABOUT).packed()


def stopped(call, *args):
    with pytest.raises(Stop) as raised:
        call(*args)
    return raised.value.reason, raised.value.evidence


@given(st.sampled_from(["text", "value", "failure"]), VALUES, st.dictionaries(st.text(), VALUES, max_size=2))
def test_an_outcome_survives_its_channel(form, content, about):
    """Whatever came back is packed as ASCII text, and unpacked as what JSON can say of it."""
    packed = Outcome(form, content, about).packed()
    assert packed.isascii()
    unpacked = Outcome.unpacked(packed)
    assert (unpacked.form, unpacked.packed()) == (form, packed)
    for other in ("", "null", "{}", '["value"]', '["value", 1, {}, 2]', "7"):
        with pytest.raises(NotJson):
            Outcome.unpacked(other)


@given(VALUES)
def test_a_value_reaches_the_guard_as_it_was(content):
    given_ = proposal(value(content))
    assert (given_.text, given_.unreadable, given_.about) == (None, False, ABOUT)
    assert same(given_.raw, given_.value)
    assert proposed_object(value(content)).text is None
    assert proposed_text(value(content), "draft").text is None


@given(st.text(st.characters(codec=None)))
def test_a_text_is_read_as_json_or_kept_as_it_is(content):
    given_ = proposal(text(content))
    if given_.unreadable:
        assert given_.value is None
        assert given_.raw == given_.text
    else:
        assert same(given_.raw, parse_json(given_.text, exact_numbers=True))


@each_row("read", proposal, proposed_object, reviewed, lambda packed: proposed_text(packed, "draft"))
def test_a_failure_is_its_own_stop(read):
    """What happened to the model is the reason, however the proposal would have been read."""
    assert stopped(read, FAILED) == ("llm_auth", {"details": {"status": 401}})


FENCES = st.sampled_from(["```", "````", "~~~", "~~~~~~"])
SPACE = st.text(" \t\r\n", max_size=3)


@given(
    FENCES, st.sampled_from(["", "json", " JSON", "json5 x"]), st.dictionaries(st.text(), JSON, max_size=3),
    SPACE, SPACE, st.sampled_from(["\n", "\r\n"]), st.sampled_from([None, 2]),
)  # fmt: skip
def test_an_object_in_one_fence_is_that_object(fence, word, content, before, after, end, indent):
    """However a model fences it, the object reads as it would alone, and the text is kept as it came."""
    plain = json.dumps(content, indent=indent)
    fenced = f"{before}{fence}{word}{end}{plain}{end}{fence}{after}"
    if proposal(text(plain)).unreadable:  # it has a number that JSON or 64 bits cannot hold
        assert proposal(text(fenced)).unreadable
        return
    read = proposed_object(text(fenced))
    assert same(read.value, proposed_object(text(plain)).value)
    assert (read.text, read.unreadable) == (fenced, False)


@given(FENCES, st.dictionaries(st.text(), JSON, max_size=2), st.text(min_size=1).filter(str.strip), st.booleans())
def test_any_other_text_around_a_fence_is_invalid_json(fence, content, said, comes_first):
    """A model that talks beside the object has not returned an object."""
    fenced = f"{fence}json\n{json.dumps(content)}\n{fence}"
    assume("".join(said.split()).strip("`~"))  # more of the fence is a fence
    said_beside = f"{said}\n{fenced}" if comes_first else f"{fenced}\n{said}"
    assert stopped(proposed_object, text(said_beside))[0] == "llm_invalid_json"


@each_row(
    "content",
    '```json\n[1]\n```', "```\nnull\n```", "```json\n```", "```\n\n```", '```{"a": 1}```', '```json\n{"a": 1}',
    '{"a": 1}\n```', '``\n{"a": 1}\n``', '```\n{"a": 1}\n~~~', '````\n{"a": 1}\n```', "```", "``````", "~~~\n~~~",
    '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', '```\n```json\n{"a": 1}\n```\n```', '"""\n{"a": 1}\n"""',
    '```js`on\n{"a": 1}\n```', '> ```\n> {"a": 1}\n> ```', '```json\n{"a": 1} // so\n```', "`" * 10_000,
    "```\n" * 10_000, '<think>{"a": 1}', '{"a": 1}</think>', '{"a": 1}<think>x</think>',
)  # fmt: skip
def test_a_fence_around_anything_else_is_invalid_json(content):
    """One fence, one object: no list, no second fence, no fence that is not closed by its like, and no thinking."""
    assert stopped(proposed_object, text(content))[0] == "llm_invalid_json"
    assert proposal(text(content)).unreadable


THOUGHTS = st.lists(
    st.sampled_from(["Hm. ", "<think>", "</think>", "<THINKING>", "</Thinking>", '{"a": 0}', "```\n", "{", '"', "\n"]),
    max_size=8,
).map("".join)
ENDS = st.sampled_from(["</think>", "</THINK>\n\n", "</thinking>", "</Thinking >\n"])
SPOKEN = ["x", "</think>", 'He wrote </think>{"a": 0}', "<think>", '</thinking>[]</think>"', 7, ["</think>{"]]
REPLIES = st.dictionaries(st.sampled_from(["b", "</think>", "</think>{"]), st.sampled_from(SPOKEN), min_size=1)


@given(THOUGHTS, ENDS, REPLIES, st.booleans())
@settings(max_examples=400)
def test_a_reply_stands_behind_the_thinking(thought, end, reply, is_fenced):
    """However it begins and whatever it quotes; JSON inside of it is never read, nor is any of a string."""
    said = f"```json\n{json.dumps(reply)}\n```" if is_fenced else json.dumps(reply)
    assert proposed_object(text(f"{thought}{end}{said}")).value == reply


@pytest.mark.parametrize("piece", ["</think>", '</think>{"a":"', "<think>"])
def test_hostile_thinking_is_judged_in_linear_time(piece):
    """A text that has many ends and no reply takes no longer for each letter than a shorter one."""

    def read(chars):
        assert stopped(proposed_object, text(piece * (chars // len(piece)) + "x"))[0] == "llm_invalid_json"

    assert_linear(read, 200_000, 2_000_000)


@each_row(
    ("content", "reason", "details"),
    ("{}", "llm_invalid_schema", {"fields": ["draft", "citations"], "given": "{}"}),
    ('{"draft": 1, "citations": []}', "llm_invalid_schema", None),
    ('{"draft": "x", "citations": "a"}', "llm_invalid_schema", None),
    ('{"draft": "x", "citations": ["a", 1]}', "llm_invalid_schema", None),
    ('{"draft": "", "citations": ["a"]}', "llm_empty", {"field": "draft"}),
    ('{"draft": " \\n\\u00a0", "citations": []}', "llm_empty", None),
)
def test_a_text_that_is_to_carry_a_text_is_checked(content, reason, details):
    """Answer, draft and revision need their field, of the right type and not blank."""
    given_reason, shown = stopped(proposed_text, text(content), "draft", ("citations",))
    assert given_reason == reason
    assert details in (None, shown["details"])


def test_a_tool_s_outcome_is_its_value_or_a_stop():
    """What a tool returned, that it failed, or that it outlasted the run's time."""
    assert found(value([1]), "search") == [1]
    broken = Outcome("failure", {"reason": "tool_error", "details": {"type": "OSError"}}).packed()
    assert stopped(found, broken, "search") == ("tool_invalid_output:search", {"details": {"type": "OSError"}})
    assert stopped(found, LATE, "search") == ("max_seconds", {"details": {"seconds": 1.0}})
    assert reviewed(value({"decision": "approve"})) == {"decision": "approve"}
    with pytest.raises(NotJson):
        reviewed(value(["approve"]))


def test_evidence_is_added_to_whatever_stop_is_raised():
    """A guard shows what it judged without naming it at every stop; what the stop itself says wins."""
    with pytest.raises(Stop) as raised, evidence(raw=1, details="outer"):
        raise Stop("invalid", details="inner")
    assert raised.value.evidence == {"raw": 1, "details": "inner"}
    assert repr(raised.value) == "Stop('invalid', raw, details)"


def replied(content, form):
    return proposal(Outcome("text", content, {"prompt": "p", "form": form}).packed())


@each_row(
    ("said", "read"),
    ("It is up. It is up. It is fast.", "It is up. It is fast."),
    ("It is up.\nIt is up.\nQuestion: Is it?\n[1] It is fast.", "It is up.\n1. It is fast."),
    ("<think>Hm.</think>\n```\nIt is up.\n```", "It is up."),
    ("Question: it is up.", "it is up."),
)
def test_a_text_says_everything_once(said, read):
    """Sentences that come again are left out, and so are thinking, fences and questions that the model asks itself."""
    assert read_text_reply(replied(said, "text")) == read
    assert read_text_reply(replied(said, "json")) is None


@each_row(
    ("said", "read"),
    ('{"a": 1} is it, no: {"a": "x\ny"}, I hope.', {"a": "x\ny"}),
    ('{"a": 1} is it.', {"a": 1}),
    ('A {{"a": 1} or {.', {"a": 1}),
    ('<think>{"a": 1}</think> none', None),
    ('It is {"a": 1e999}.', None),
    ("It is none.", None),
)
def test_a_model_without_a_schema_may_talk_around_its_object(said, read):
    """The last object of its text counts, with line ends in its strings; held to a schema, it says the object alone."""
    assert replied(said, "json").value == read
    assert replied(said, None).unreadable


def test_a_reply_that_was_asked_for_as_a_text_is_read_as_one():
    """Where a model was asked for no JSON, a text is its reply; where it was, a text is none."""
    said = Outcome("text", "Yes, all.", {"prompt": "p", "form": "text"}).packed()
    assert proposed_object(said, lambda text: {"answer": text}).value == {"answer": "Yes, all."}
    assert stopped(proposed_object, text("Yes, all."), lambda text: {"answer": text})[0] == "llm_invalid_json"
