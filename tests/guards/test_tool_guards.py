"""The pure guards of the tool agent: steps and calls that were proposed, results as they are shown, answers."""

import contextlib
import re
import time

import pytest
from guard_cases import json_values, outcome
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row
from test_plain import nested

from guardgraph.grounding.links.finding import find_links
from guardgraph.guards.stop import INPUT_DEPTH, LONGEST_QUESTION, Stop, check_request_depth
from guardgraph.guards.tools import answer as answer_guards
from guardgraph.guards.tools.actions import MOST_TURNS, cut_step, parse_call, parse_step, parse_task_history
from guardgraph.guards.tools.answer import check_answer_values, is_declining, settle_answer_links, show_results
from guardgraph.guards.tools.schemas import check_arguments, find_referenced, find_schema_problem
from guardgraph.guards.tools.values import describe_media, read_outcome
from guardgraph.plain.json import is_plain_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.tools import REPORTED, Given, MadeCall, ToolCard, ToolPolicy, ToolRule

JSON = json_values(["calls", "answer", "tool", "args", "plan", "role", "content"])
SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}},
    "required": ["id"],
    "$defs": {"tag": {"enum": ["a", "b"]}},
}
CARDS = {"look": ToolCard(name="look", description="Look.", schema=SCHEMA)}
POLICY = ToolPolicy(rules={"look": ToolRule(effect="read", trusted=["mail"])})
GIVEN = Given(task="Look at page 7 of corp.org for Ada.", history=[])


def made(value):
    return MadeCall(id="r1", tool="look", args={}, effect="read", value=value)


@given(JSON)
def test_any_step_is_read_or_refused(raw):
    """For any JSON a step is calls or an answer, or it is refused with a reason of the catalogue."""
    try:
        step = parse_step(raw)
    except Stop as stop:
        assert stop.reason == "invalid_action:not_object"  # noqa: PT017
        return
    assert bool(step.calls) != (step.answer is not None)
    for call in step.calls:
        try:
            parsed = parse_call(call, CARDS, {})
        except Stop as stop:
            assert re.fullmatch("invalid_action:(not_object|tool|args|schema)", stop.reason)  # noqa: PT017
        else:
            assert parsed["tool"].strip()
            assert is_plain_json(parsed["args"])


@each_row(
    ("raw", "came"),
    ({"tool": "look", "args": {"id": 7}}, {"tool": "look", "args": {"id": 7, "loud": True}}),
    ({"tool": "look", "args": '{"id": 7}'}, {"tool": "look", "args": {"id": 7, "loud": True}}),
    ({"tool": "gone", "args": " "}, {"tool": "gone", "args": {}}),
    ({"tool": "gone"}, {"tool": "gone", "args": {}}),
    ({"tool": "look"}, "schema"),
    ({"tool": "look", "args": "id: 7"}, "args"),
    ({"tool": "look", "args": [7]}, "args"),
    ({"tool": " ", "args": {}}, "tool"),
    ({"tool": 7}, "tool"),
    ([], "not_object"),
)
def test_a_call_is_read_with_what_its_rule_forces(raw, came):
    """Arguments may be the JSON text of an object, and none is none; a tool that there is not is judged later."""
    cards = {"look": {**CARDS["look"], "schema": {**SCHEMA, "properties": {**SCHEMA["properties"], "loud": {}}}}}
    decided = outcome(parse_call, raw, cards, {"look": {"loud": True}})
    assert decided["value"] == came if isinstance(came, dict) else decided["stop"] == f"invalid_action:{came}"


def test_a_step_is_calls_or_an_answer():
    """One call as models write it in a text is one; a plan is cut, and what is no text among workings is left out."""
    assert parse_step({"name": "look", "parameters": {"id": 7}}).calls == [{"tool": "look", "args": {"id": 7}}]
    step = parse_step({"calls": [], "answer": "Yes.", "declined": 1, "workings": ["1 + 1", 2], "plan": "x" * 9999})
    assert (step.calls, step.answer) == ([], {"answer": "Yes.", "declined": False, "workings": ["1 + 1"]})
    assert len(step.plan) == len(parse_step({"calls": [{}], "plan": "x" * 9998}).plan) < 9998
    assert parse_step({"answer": "No.", "declined": True}).answer["declined"]
    for raw in ({"answer": "Yes.", "calls": "look"}, {"answer": 5}, {}):
        assert outcome(parse_step, raw)["stop"] == "invalid_action:not_object"


def test_a_history_has_so_many_turns_of_so_many_characters():
    """The limits themselves are allowed, and one more is refused with its place."""
    for count, field in ((MOST_TURNS, None), (MOST_TURNS + 1, "history")):
        turns = [{"role": "user", "content": "x"}] * count
        assert outcome(parse_task_history, turns).get("stop") == (field and f"invalid_request:{field}")
    for levels, stop in ((INPUT_DEPTH, None), (INPUT_DEPTH + 1, "invalid_request:task")):
        assert outcome(check_request_depth, "task", nested(levels)).get("stop") == stop
    turns = [{"role": "user", "content": "x" * (LONGEST_QUESTION + more)} for more in (0, 1)]
    assert outcome(parse_task_history, turns)["stop"] == "invalid_request:history.1.content"
    assert outcome(parse_task_history, [{"role": "user", "content": 5}])["stop"] == "invalid_request:history.0.content"
    assert outcome(parse_task_history, [{"role": "x", "content": "y"}])["stop"] == "invalid_request:history.0.role"
    for said, stop in ((" x" * 3, None), (" \n", "invalid_answer:empty"), ("x" * 6, "invalid_answer:too_long")):
        assert outcome(answer_guards.parse_answer, said, max_chars=5).get("stop") == stop


@given(JSON)
def test_any_history_is_read_or_refused(raw):
    decided = outcome(parse_task_history, raw)
    assert decided.get("stop", "invalid_request:history").startswith("invalid_request:history")
    assert all(turn["role"].strip() == turn["role"] != "" for turn in decided.get("value", ()))


@each_row(
    ("args", "at"),
    ({"id": 7, "tags": ["a"]}, None),
    ({"id": "7"}, "id"),
    ({"id": 7, "tags": ["a", "c"]}, "tags.1"),
    ({}, ""),
    ({"id": 7, "force": True}, "force"),
)
def test_arguments_are_held_against_their_schema(args, at):
    """The first thing that does not fit is named; an argument that no schema has is none of the tool's, unless open."""
    assert outcome(check_arguments, "look", args, SCHEMA).get("details", {}).get("at") == at
    for is_open in ({"properties": {}, "additionalProperties": True}, {}):
        check_arguments("look", {"any": 1}, {"type": "object", **is_open})


@given(
    st.lists(st.tuples(st.sampled_from(["read", "write"]), st.booleans()), min_size=1, max_size=6), st.integers(1, 4)
)
def test_a_step_is_cut_into_parts(effects, most):
    """Reads that need nobody go together, as do calls that wait for one answer; a write goes alone."""
    count, way = cut_step(effects, max_asked=most)
    part, rest = effects[:count], effects[count:]
    assert way == ("approve" if part[0][1] else part[0][0])
    if way == "approve":
        assert all(waits for _, waits in part)
        assert count == most or not rest or not rest[0][1]
    else:
        assert count == 1 or set(part) == {("read", False)}
        assert way != "read" or not rest or rest[0] != ("read", False)


def test_results_are_shown_with_what_is_trusted():
    """A result is data beside its tool; what is too long is shown from its beginning."""
    [shown] = show_results([made({"mail": "ada@corp.org"})], POLICY, 100)
    assert (shown["trusted_fields"], shown["result"]) == (["mail"], {"mail": "ada@corp.org"})
    [cut] = show_results([made("x" * 30)], POLICY, 10)
    assert (cut["result"], cut["left_out_chars"]) == ("x" * 10, 20)


PIECES = [
    *("See", "https://evil.net/a?b=1", "evil.net", "m@evil.net", "[the bank](https://evil.net/x)", "\n", ".", "(", ")"),
    *("<https://evil.net>", "corp.org", "//evil.net/y", "ada@corp.org", "evil[.]net", "EVIL.net"),
]
FOUND = "https://evil.net/a?b=1 evil.net m@evil.net https://evil.net/x https://evil.net //evil.net/y ada@corp.org"


@given(st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join))
def test_no_link_of_a_result_can_be_followed_in_an_answer(answer):
    """Whatever an answer is made of, the links that a browser could open in it are those that were given."""
    told = {"given": GIVEN, "made": [made({"text": FOUND, "mail": "ada@corp.org"})], "policy": POLICY, "cards": {}}
    assert outcome(settle_answer_links, "So\u202e it is.", **told)["stop"] == "invalid_answer:active_markup"
    try:
        settled, untrusted = settle_answer_links(answer, **told)
    except Stop as stop:
        assert stop.reason in ("invalid_answer:unsupported_link", "invalid_answer:active_markup")  # noqa: PT017
        return
    assert {link.host for link in find_links(settled)} <= {"corp.org"}
    assert "](http" not in settled
    assert bool(untrusted) == ("evil" in answer.lower())


def test_an_answer_rests_on_what_was_called_and_found():
    """Facts and names of arguments, keys and texts of results license an answer, and no others."""
    brought = {"total_eur": 98.7, "by": "Mallory Ltd", "text": "The bill was sent in May."}
    calls = [{**made(brought), "args": {"seats": 3}}]
    told = {"given": GIVEN, "made": calls, "policy": POLICY}
    check_answer_values("Mallory asks for 98.70 EUR for 3 seats, see page 7.", **told)
    check_answer_values("The bill was sent by Mallory, and it is for Ada.", **told)
    check_answer_values("Two such bills come to 197.40 EUR.", **told, workings=["98.70 + 98.70 = 197.40"])
    for said in ("It comes to 89 EUR.", "Two such bills come to 197.40 EUR."):
        with pytest.raises(Stop, match="unsupported_number"):
            check_answer_values(said, **told)
    with pytest.raises(Stop, match="unsupported_name"):
        check_answer_values("The bill was sent by Gertrude Stein, and it is for Ada.", **told)


@each_row(
    "answer",
    *("The mail could not be sent. Sorry.", "Das ist leider nicht möglich.", "No puedo hacerlo."),
    *("Je ne peux pas le faire.", "Я не можу цього зробити.", "Я не могу этого сделать."),
)
def test_answers_that_decline_are_told_in_six_languages(answer):
    assert is_declining(answer)
    assert not is_declining("It is done.")


DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


@each_row(
    "schema",
    {"properties": {"a": {"pattern": "^(a+)+$"}}},
    {"properties": {"a": {**DRAFT_7, "pattern": "^(a+)+$"}}},
    {**DRAFT_7, "properties": {"a": {"pattern": "^(a+)+$"}, "b": {"$ref": "#"}}},
    {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False},
)
def test_no_pattern_of_a_tool_takes_long(schema):
    """A schema is somebody else's: patterns that take exponential time elsewhere are matched at once."""
    assert find_schema_problem(schema) is None
    bad = "a" * 40 + "!"
    began = time.process_time()
    for args in ({"a": bad}, {"b": {"a": bad}}, {bad: 1}, {"a": bad * 1000}):
        with contextlib.suppress(Stop):
            check_arguments("look", args, schema)
    assert time.process_time() - began < 5


def test_patterns_are_those_of_json_schema():
    """A pattern holds as JSON Schema says; one that is not known here is left to the tool."""
    schema = {
        "properties": {"a": {"pattern": r"^\p{L}+$"}, "b": {"pattern": "(?=x)y(?!z)"}, "c": {"pattern": "(?<a-b>"}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert find_schema_problem(schema) is None
    for args in ({"a": "Größe"}, {"b": "any"}, {"c": "any"}, {"x-a": 1}):
        check_arguments("look", args, schema)
    for args in ({"a": "a1"}, {"x-a": "1"}, {"y": 1}):
        with pytest.raises(Stop):
            check_arguments("look", args, schema)
    with pytest.raises(Stop):
        check_arguments("look", {"a": {"x": 1}}, {"properties": {"a": {"unevaluatedProperties": False}}})


@each_row(
    ("schema", "said"),
    ({"properties": {"a": {"$ref": "#/properties/a"}}}, "do not lead back to themselves"),
    ({"$ref": "#"}, "do not lead back to themselves"),
    ({"anyOf": [{"not": {"$ref": "#"}}]}, "do not lead back to themselves"),
    ({"properties": {"a": {"$ref": "#/$defs/nope"}}}, "'#/$defs/nope'"),
    ({"properties": {"a": {"$ref": "#/required/0"}}, "required": ["a"]}, "'#/required/0'"),
    ("object", "a schema of an object is required"),
    ({"type": "string"}, "a schema of an object is required; given: type 'string'"),
    ({"properties": {"a": {"$ref": "https://a.b/c.json"}}}, "references within the schema are required"),
    ({"properties": {"a": {"type": "text"}}}, "a JSON Schema is required: 'text' is not valid"),
)
def test_what_is_no_schema_of_arguments_is_said(schema, said):
    """A reference to nothing or to itself, too, is said when the agent is built, not when a call is judged."""
    assert said in (find_schema_problem(schema) or "none")


def test_references_that_end_are_none():
    """A schema of a tree, and one with anchors and escaped names, are as they should be; one that explodes is not."""
    node = {"type": "object", "properties": {"sons": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
    schema = {"$defs": {"node": node, "a/b": {"$anchor": "leaf"}}, "properties": {"a": {"$ref": "#/$defs/node"}}}
    schema["properties"] |= {"b": {"$ref": "#leaf"}, "c": {"$ref": "#/$defs/a~1b"}}
    assert find_schema_problem(schema) is None
    check_arguments("look", {"a": {"sons": [{"sons": []}]}}, schema)
    assert find_referenced(schema, "#leaf") == find_referenced(schema, "#/$defs/a~1b") == {"$anchor": "leaf"}
    deep = {}
    for _ in range(2000):
        deep = {"not": deep}
    assert find_schema_problem(deep) == "a schema that is nested less deeply is required"
    twice = {f"a{at}": {"anyOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(20)}
    assert "at most" in (find_schema_problem({"$defs": {**twice, "a20": {"type": "string"}}}) or "")


def test_what_a_tool_brought_is_a_value_or_a_failure_that_it_reports():
    """Blocks of text alone stay as they are; a failure of another kind brings nothing."""
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_outcome(Outcome("value", texts, {})) == (texts, False)
    said = {"reason": REPORTED, "details": {"message": "no record a"}}
    reported = {"reason": "tool_error", "details": {"type": "ToolException", "expected": said}}
    assert read_outcome(Outcome("failure", reported, {})) == ("no record a", True)
    other = {**reported, "details": {"type": "X", "expected": {**said, "reason": "away"}}}
    assert read_outcome(Outcome("failure", other, {})) == (None, False)
    picture = {"type": "image", "mime_type": "image/png", "data": "abcd"}
    line = describe_media([{**picture, "id": "x1"}])
    assert line.startswith("[image image/png, 18 characters of data, sha256 ")
    assert describe_media([texts[0], {**picture, "id": "x2"}]) == f"a\n{line}"
    for other in (texts, [], "x", [{"type": "text"}], [5]):
        assert describe_media(other) == other
