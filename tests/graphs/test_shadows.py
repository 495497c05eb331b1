"""Shadows: other agents judge every recorded run once more; the recording says how, and the result does not."""

import pytest
import ticket_pattern
from jsonschema import Draft202012Validator
from recorded_runs import Kept, recorded
from runs import BOTH
from tables import each_row
from ticket_pattern import TICKET, TIGHT, triage

from guardgraph import ConfigurationError, create_self_critique_agent, what_if
from guardgraph.state.recording import schema, validate_recording

VALID = Draft202012Validator(schema())
JUDGED = {"kind": "kind", "ending": "new", "guard": "guard", "call": "call"}
"""What a shadow says of a run, by the name that it has in a row of a what-if."""


def strict():
    return triage(policy=ticket_pattern.Policy(labels=("billing",)))


def shadows(recording):
    VALID.validate(recording)
    return validate_recording(recording)["shadows"]


def broken():
    graph = triage()
    graph.frame.nodes.clear()
    return graph


@pytest.mark.parametrize("mode", BOTH)
def test_every_shadow_judges_a_run_once_more(mode):
    """From the same outcomes, in every way of running; who decides otherwise says how, and by which guard."""
    seen = shadows(recorded(lambda **kw: triage(shadow={"as it is": triage(), "strict": strict()}, **kw), mode=mode))
    assert seen["as it is"]["kind"] == "same"
    assert seen["as it is"]["ending"] == {"status": "ok", "stop_reason": "success", "outcome": "routed"}
    assert seen["strict"]["kind"] == "changed"
    assert seen["strict"]["guard"] == "label_guard"
    assert seen["strict"]["ending"] == {"status": "stopped", "stop_reason": "invalid_label", "phase": "label"}


def test_a_shadow_that_fails_is_recorded_as_failed():
    """With the type and the message of what it raised; the others still judge."""

    def raising(state, run):
        raise SystemError("no body can be this wrong")

    failing = triage(bodies={"label_guard": raising})
    recording = recorded(lambda **kw: triage(shadow={"a": broken(), "b": failing, "c": strict()}, **kw))
    seen = shadows(recording)
    assert seen["a"]["kind"] == "failed"
    assert seen["a"]["error"] == {"type": "KeyError", "message": "'request_guard'"}
    assert seen["b"]["ending"]["stop_reason"] == "guard_error:label_guard"
    assert seen["c"]["kind"] == "changed"


@pytest.mark.parametrize("context", [None, TIGHT])
@pytest.mark.parametrize(
    ("proposed", "policy", "kind"),
    [
        ("bug", {"labels": ["bug"], "desks": ["bug"]}, "same"),
        ("bug", {"labels": ["bug"], "desks": []}, "changed"),
        ("none", {"labels": ["none"], "desks": ["none"]}, "unknown"),
    ],
)
def test_a_shadow_that_knows_ends_as_a_live_run_would(proposed, policy, kind, context):
    """Same and changed are the ending of a run of its own under its policy, and what a what-if says of the kept run."""

    def proposer(view):
        return {"label": proposed}

    other, kept = triage(proposer, policy=ticket_pattern.Policy(**policy)), Kept()
    triage(proposer, recorder=kept, shadow={"x": other}).invoke(TICKET, context=context)
    shadow = shadows(kept.only)["x"]
    said = what_if(other, [kept.only]).rows[0].plain()
    assert {name: shadow[name] for name in JUDGED if name in shadow} == {
        then: said[now] for then, now in JUDGED.items() if now in said
    }
    assert shadow["kind"] == (kind if context is None else "same")
    if shadow["kind"] == "unknown":
        assert shadow["call"]["node"] == "lookup"
    else:
        live = other.invoke(TICKET, context=context)
        assert shadow["ending"].items() <= live.items()


NOT_SHADOWS = {
    "no mapping": (5, r"^shadow: a mapping of names to agents is required; given: int$"),
    "no agent": ({"x": 5}, r"^shadow\.x: an agent of the pattern triage is required; given: int$"),
    "another pattern": (
        {"x": create_self_critique_agent()},
        r"^shadow\.x: an agent of the pattern triage is required; given: one of self_critique$",
    ),
    "a blank name": ({" ": strict()}, r"^shadow: names that are texts and not blank are required; given: ' '$"),
    "two": ({"x": 5, "": 6}, r"^shadow\.x: .*\nshadow: names"),
}


@each_row("name", NOT_SHADOWS)
def test_what_is_no_shadow_is_refused(name):
    given, message = NOT_SHADOWS[name]
    with pytest.raises(ConfigurationError, match=message):
        triage(shadow=given)
