"""What a deployment does not keep is in no file, and a redacted recording still is one."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_runs import asked, everything_written, recording, recordings
from tables import each_row

from guardgraph import ConfigurationError, InputError, Redaction, create_rag_agent, report, sql_store
from guardgraph.evidence.redaction import MARKER, redact_recording
from guardgraph.state.recording import validate_recording
from guardgraph.testing import InMemoryRecorder, scripted_tool

SECRET = "sk-canary-1234567890"
NEEDED = ["calls.*.request", "fingerprints.policy", "run_id.0"]


@each_row(
    ("fields", "patterns", "message"),
    (["run_id"], [], "redact.fields: a recording needs what stands there; given: 'run_id'"),
    *(([path], [], "a recording needs what stands there") for path in NEEDED),
    (["nothing.here"], [], "redact.fields: a path that begins with one of budget, calls,"),
    (["input", 3], [], "redact.fields: a list of texts is required"),
    ([], ["("], "redact.patterns: "),
    ([], ["a*"], "redact.patterns: it must not find an empty text"),
)
def test_a_redaction_that_is_none_is_refused(fields, patterns, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        Redaction(fields=fields, patterns=patterns)
    with pytest.raises(ConfigurationError, match="redact: a Redaction is required"):
        sql_store("sqlite:///runs.db", redact={"fields": ["input"]})


def test_a_secret_is_in_no_file(tmp_path):
    """A key in a question, in what a proposer returned, in a key of an object: nothing of it is written anywhere."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db", redact=Redaction(patterns=[r"sk-[\w-]+", r"(?i)bearer \S+"]))
    run = recording(1, tenant="acme", user=SECRET)
    run["input"]["question"] = f"My key is {SECRET}, é"
    packed = json.dumps({"arguments": {SECRET: [f"Authorization: Bearer {SECRET}é"]}})
    run["calls"][0]["outcome"] = json.dumps(["text", packed, {"proposer": "model"}])
    run["result"]["stop_reason"] = f"source_denied:{SECRET}"
    run["result"][SECRET] = 1
    store.record(run)
    written = everything_written(tmp_path)
    assert (b"canary" in written, b"1234567890" in written) == (False, False)
    kept = store.read(run["run_id"]).recording
    assert (validate_recording(kept), kept["result"]["stop_reason"]) == (kept, "source_denied:[redacted]")
    assert kept["redacted"]
    assert list(store.runs(tenant="acme"))
    assert store.verify().ok


def test_a_field_is_nowhere_else_either(tmp_path):
    """What a path leads to is replaced wherever it stands word for word: in calls, steps and proposals."""
    question = "What is the P1 first response target of Ann Miller?"
    store = sql_store(f"sqlite:///{tmp_path}/runs.db", redact=Redaction(fields=["input.question"]))
    result = asked(store, question)
    assert b"Ann Miller" not in everything_written(tmp_path)
    kept = store.read(result["run_id"]).recording
    assert ["input", "question"] in kept["redacted"]
    assert (kept["input"], {call["request"] for call in kept["calls"]}) == ({"question": MARKER}, {"0" * 64})
    assert MARKER in report(store.read(result["run_id"])).html


def test_a_path_goes_into_packed_texts():
    """Numbers too, and with wildcards for one step and for any number of them."""
    run = recording(1)
    fields = ["calls.*.outcome.1.*.score", "calls.*.outcome.**.title", "result.citation_details.0"]
    made = redact_recording(run, Redaction(fields=fields))
    chunks = json.loads(made["calls"][1]["outcome"])[1]
    assert {chunk["score"] for chunk in chunks} == {chunk["title"] for chunk in chunks} == {MARKER}
    assert chunks[0]["text"] == json.loads(run["calls"][1]["outcome"])[1][0]["text"]
    [cited] = made["result"]["citation_details"]
    assert {item for item in cited.values() if not isinstance(item, list)} == {MARKER}
    assert cited["document_span"] == [MARKER, MARKER]
    assert ["calls", 1, "outcome", 1, 0, "score"] in made["redacted"]


WORDS = st.sampled_from([r"\w+", r"\d", r"[a-z]{3}", "e", r"\S+", "P1", r".+", "success|rag|plan", "0"])
PATHS = st.sampled_from(["**", "input", "result.**", "calls.*.outcome", "**.text", "visits.**", "policy", "result.*.*"])


@settings(max_examples=40)
@given(st.integers(0, 3), st.lists(WORDS, max_size=2), st.lists(PATHS, max_size=2))
def test_a_redacted_recording_is_one(at, patterns, fields):
    """Whatever is redacted of a run of any pattern, what is left has the form, the run's id and its path."""
    run = recordings()[at]
    before = json.dumps(run)
    made = redact_recording(run, Redaction(fields=fields, patterns=patterns))
    assert json.dumps(run) == before
    assert validate_recording(json.loads(json.dumps(made))) == made
    for key in ("run_id", "pattern", "status", "path"):
        assert made["result"].get(key) == run["result"].get(key)
    if "**" in fields:
        assert all(item in (None, MARKER) or isinstance(item, dict | list) for item in made["input"].values())
    try:
        report(made["result"])
    except InputError:  # as for a run of nobody's pattern
        assert made["result"]["pattern"] not in ("rag", "research", "self_critique")


PHONE = 4917012345


def left(note, **given):
    recorder = InMemoryRecorder()
    planner = scripted_tool({"kind": "retrieve", "query": "P1 target", "note": note})
    create_rag_agent(planner=planner, recorder=recorder).invoke({"question": "What is the P1 target?"})
    made = redact_recording(recorder.runs[0], Redaction(**given))
    return json.loads(made["calls"][0]["outcome"])[1]["note"]


@each_row(
    ("note", "patterns", "rest"),
    (PHONE, ["[0-9]{10}"], MARKER),
    ([[{"phone": PHONE}]], [str(PHONE)[2:6]], [[{"phone": MARKER}]]),
    ([123, 0.1234567890123, True, None], ["[0-9]"], [123, 0.1234567890123, True, None]),
    ("a SECRET b", ["SECRET", "redacted", "(?=b)"], f"a {MARKER} b"),
    ('```\n{"a": "M\\u00FCller \\ud83d\\ude00"}\n```', ["Müller 😀"], f'```\n{{"a": "{MARKER}"}}\n```'),
)
def test_what_patterns_find_is_gone(note, patterns, rest):
    """In numbers, behind escapes, where finds overlap: whatever one of them finds in what came, nothing of it stays."""
    assert left(note, patterns=patterns) == rest


TWICE = '{"mail": {"of": "ann@acme.example"}, "mail": null}'


@each_row(
    ("packed", "given"),
    (TWICE, {"patterns": ["ann@"]}),
    (TWICE, {"fields": ["result.answer.mail"]}),
    (" " * 70 + '{"mail": "ann@acme.example"}', {"fields": ["result.answer.mail"]}),
    ('```{"to": "https:\\/\\/acme.example\\/ann@"}```', {"patterns": ["https://.*ann@"]}),
)
def test_a_value_that_json_hides_is_gone(packed, given):
    """One that stands under its key a second time, behind many blanks, or with every sign escaped."""
    run = recording(1)
    run["result"]["answer"] = packed
    made = redact_recording(run, Redaction(**given))
    assert ("ann@" in json.dumps(made), made["redacted"][0][:2] == ["result", "answer"]) == (False, True)


def test_no_hash_of_what_was_redacted_stays():
    """A licence is the hash of a tool and its arguments, an approval one of who approved it: both are soon guessed."""
    run, mark = recording(1), "ab" * 32
    about = {"licence": mark, "licences": [mark], "approval": mark, "version": {"body_sha256": mark}}
    run["calls"][0] |= {"approval": mark, "outcome": json.dumps(["value", {"hash": mark}, about])}
    run["result"]["timeline"][0]["licence"] = mark
    made = redact_recording(run, Redaction(patterns=["P1"]))
    assert mark not in json.dumps(made)
    assert made["fingerprints"] == run["fingerprints"]


def test_what_only_looks_like_a_hash_stays():
    run, digest = recording(1), "cd" * 32
    run["result"]["document"] = {"id": digest, "commits": [digest], "etag": digest[:12]}
    made = redact_recording(run, Redaction(patterns=["P1"]))
    assert made["redacted"]
    assert made["result"]["document"] == run["result"]["document"]


def test_a_field_with_keys_that_are_somebodys_is_redacted_whole():
    """Names of fields stay; what is no such name is replaced, and a number is found in texts too."""
    note = {"calls_of": {"ann@acme.example": PHONE, "Bob": {"n": 1}, "count": 2}, "text": f"Call {PHONE}."}
    assert left(note, fields=["calls.*.outcome.**.calls_of"]) == {
        "calls_of": {MARKER: MARKER, f"{MARKER} 2": {"n": MARKER}, "count": MARKER},
        "text": f"Call {MARKER}.",
    }
