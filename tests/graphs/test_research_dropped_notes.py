"""With `on_unsupported="mark"` notes that do not verify are left out and listed, when nobody is asked again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from research_cases import NOTES, PAGES, PLAN, RUMORS, asked, research
from runs import check_result

from guardgraph import ResearchBudget, ResearchPolicy, create_research_agent
from guardgraph.grammar import Stop
from guardgraph.guards.research import drop_unverified_notes, verify_notes
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool
from guardgraph.tools.recordings import make_recorded_reader

DROP = ResearchPolicy(on_unsupported="mark")
MISQUOTED = {**NOTES[0], "quote": "Nothing of the kind stands in any page."}
OVERSTATED = {**NOTES[0], "claim": "It is P1, and 99 % of payments fail."}
UNREAD = {**NOTES[0], "url": RUMORS, "claim": "Rumors say so."}
NAMED = "verification_failed:quote_not_in_source"
CITE_LAST = {"answer": "The incident is known.", "citations": ["n6"]}


def given_notes(proposed):
    """Return what a model says that proposes notes."""
    return {"notes": [{key: note[key] for key in ("claim", "quote", "url")} for note in proposed]}


def test_one_misquoted_note_of_six_is_left_out():
    """The answer is of the rest, whose ids do not change, and the writer is shown nothing of the note."""
    writer = scripted_tool(CITE_LAST)
    parts = {"extractor": scripted_tool([*[NOTES[0]] * 2, MISQUOTED, *[NOTES[1]] * 3]), "writer": writer}
    result = check_result(RESEARCH_REASONS, research(policy=DROP, **parts))
    assert (result["outcome"], result["citations"]) == ("grounded_research_answer", ["n6"])
    assert [note["id"] for note in writer.calls[0]["notes"]] == ["n1", "n2", "n4", "n5", "n6"]
    assert MISQUOTED["quote"] not in str(writer.calls)
    said = {key: MISQUOTED[key] for key in ("claim", "quote", "url")}
    assert result["dropped_notes"] == [{"id": "n3", **said, "reason": NAMED}]
    assert (result["aggregate"]["notes_count"], result["aggregate"]["verified_notes"]) == (6, 5)
    assert (result["trace"][4]["checked_notes"], result["trace"][4]["issues"]) == (6, 2)
    assert result["history"][4]["dropped_notes"] == [{"id": "n3", "reason": NAMED}]


@pytest.mark.parametrize(
    ("policy", "context", "taken"),
    [
        (None, None, [MISQUOTED, NOTES[1]]),
        (DROP, {"policy": {"on_unsupported": "stop"}}, [MISQUOTED, NOTES[1]]),
        (ResearchPolicy(), {"policy": {"on_unsupported": "mark"}}, [MISQUOTED, NOTES[1]]),
        (DROP, None, [MISQUOTED, MISQUOTED]),
    ],
    ids=["default", "tightened", "not loosened", "none left"],
)
def test_the_run_stops_as_before(policy, context, taken):
    """Where nothing may be dropped, or nothing would be left."""
    result = research(policy=policy, context=context, extractor=scripted_tool(taken))
    assert (check_result(RESEARCH_REASONS, result)["stop_reason"], "dropped_notes" in result) == (NAMED, False)
    assert result["verification"]["ok"] is False


def ask_model(*said, most=2, **parts):
    """Run an agent whose model plans, takes notes and answers."""
    model = ScriptedChatModel(PLAN, *map(given_notes, said), {"answer": "It is known.", "citations": ["n2"]})
    agent = create_research_agent(
        model, reader=make_recorded_reader(), policy=DROP, budget=ResearchBudget(max_attempts=most), **parts
    )
    return check_result(RESEARCH_REASONS, agent.invoke(asked()))


BOTH = [MISQUOTED, NOTES[1]]


def test_a_model_is_asked_again_before_a_note_is_left_out():
    """Its second notes are as good as any; what is still misquoted when no attempt is left is dropped."""
    mended = ask_model(BOTH, [NOTES[0], NOTES[1]])
    assert (mended["status"], [item["reason"] for item in mended["attempts"]]) == ("ok", [NAMED])
    assert "dropped_notes" not in mended
    for most in (1, 2, 3):
        left = ask_model(*[BOTH] * most, most=most)
        assert (left["status"], len(left.get("attempts", []))) == ("ok", most - 1)
        assert [note["id"] for note in left["dropped_notes"]] == ["n1"]


KINDS = {"good": NOTES[0], "other": NOTES[1], "misquoted": MISQUOTED, "overstated": OVERSTATED, "unread": UNREAD}


@given(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=8))
def test_notes_are_dropped_exactly_where_they_have_an_issue(kinds):
    """The rest verifies, in its order, with its ids; nothing is lost."""
    taken = [{**KINDS[kind], "id": f"n{at}"} for at, kind in enumerate(kinds)]
    checks = {"pages": PAGES, "check_values": True, "check_quotes": True}
    wrong = [note["id"] for note, kind in zip(taken, kinds, strict=True) if kind not in ("good", "other")]
    if not wrong:
        assert verify_notes(taken, **checks)["ok"]
        return
    with pytest.raises(Stop) as raised:
        verify_notes(taken, **checks)
    kept, dropped = drop_unverified_notes(taken, raised.value.evidence["verification"])
    assert [note["id"] for note in dropped] == wrong
    assert kept == [note for note in taken if note["id"] not in wrong]
    assert not kept or verify_notes(kept, **checks)["ok"]
