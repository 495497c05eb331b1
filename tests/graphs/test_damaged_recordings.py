"""A recording that is none, or that somebody damaged, is refused by field; nothing else ever comes out of a replay."""

import json
from copy import deepcopy
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.types import Command
from recorded_runs import Kept, dead, recorded, recorded_stop, replaying_agent
from runs import THREAD
from tables import each_row
from test_documents import holder_of, places
from test_judged_again import interrupting
from ticket_pattern import TICKET, triage

from guardgraph import InputError, NotRecorded, replay

DEAD = (dead("the proposer"), dead("the tool"))
NO_REASON = '["failure", {}, {}]'


@each_row(
    ("message", "damage"),
    (r"^recording: format 1 of guardgraph .* is required; given: format 2", lambda r: r.update(format=2)),
    (r"^recording: format 1 of guardgraph .* is required; given: ", lambda r: r.clear()),
    (r"^recording\.guardgraph: Field required; given: ", lambda r: r.pop("guardgraph")),
    (r"^recording\.calls\.0\.outcome: ", lambda r: r["calls"][0].update(outcome="{")),
    (r"calls\.1\.outcome: a failure has a reason and details$", lambda r: r["calls"][1].update(outcome=NO_REASON)),
    (r"^recording\.visits\.0\.opening: ", lambda r: r["visits"][0].pop("opening")),
    (r"^recording\.nameless: ", lambda r: r.update(nameless=[["ticket", 3]])),
    (r"^recording: a run of triage is required; given: one of 'rag'$", lambda r: r.update(pattern="rag")),
    (r"^recording\.visits: answers of 'lookup': JSON texts; ", lambda r: r["visits"][3].update(answers=["{"])),
    (r"^recording\.more: Extra inputs are not permitted; given: 1$", lambda r: r.update(more=1)),
)
def test_a_damaged_recording_is_refused_by_field(message, damage):
    recording = recorded(triage)
    damage(recording)
    with pytest.raises(InputError, match=message):
        replay(triage(), recording)
    with pytest.raises(InputError, match=r"^agent: a guarded graph is required; given: dict$"):
        replay(recording, recording)


def _interrupted():
    graph = interrupting(lambda run: "who?", recorder=(kept := Kept()))
    graph.invoke(TICKET, THREAD, context={"caller": {"user": "Ada"}})
    graph.invoke(Command(resume="Ada"), THREAD)
    return kept.only


@cache
def sound():
    """Recordings with nothing wrong: of a run that waited, of one that went through, and of one that was stopped."""
    return (_interrupted(), recorded(triage), json.loads(recorded_stop("rag: invalid_answer:missing_citations")))


@cache
def replaying(which):
    """Return the agent that replays one of them: it is the same one whatever was damaged."""
    return replaying_agent(sound()[which]) if sound()[which]["pattern"] == "rag" else triage(*DEAD)


ODD = st.sampled_from([None, True, 0, -1, 1.5, 10**30, "", "x", [], [0], ["x"], {}, {"x": 1}, "\ud800", float("nan")])


@settings(max_examples=400)
@given(which=st.integers(0, 2), at=st.integers(0), change=st.sampled_from(["drop", "put", "cut"]), odd=ODD)
def test_whatever_is_wrong_with_a_recording_only_our_errors_come_out(which, at, change, odd):
    """A missing key, a wrong type, a list that was cut: a result, an InputError or NotRecorded, and nothing else."""
    recording = deepcopy(sound()[which])
    known = list(places(recording))
    place = known[at % len(known)]
    holder, last = holder_of(recording, place), place[-1]
    if change == "drop":
        del holder[last]
    elif change == "cut" and isinstance(holder[last], list):
        del holder[last][at % (len(holder[last]) + 1) :]
    else:
        holder[last] = odd
    try:
        assert replay(replaying(which), recording)["path"]
    except (InputError, NotRecorded) as error:
        assert str(error)  # noqa: PT017
