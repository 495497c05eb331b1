"""Shadows: other agents judge every recorded run once more; the recording says how, and the result does not."""

from typing import Annotated

import pytest
import ticket_pattern
from jsonschema import Draft202012Validator
from recorded_runs import Kept, recorded
from runs import BOTH
from tables import each_row
from ticket_pattern import TICKET, TIGHT, triage

from guardgraph import ConfigurationError, InputError, create_self_critique_agent, replay, what_if
from guardgraph.grammar import Tightens
from guardgraph.state.recording import schema, validate_recording

VALID = Draft202012Validator(schema())
JUDGED = {"kind": "kind", "ending": "new", "guard": "guard", "call": "call"}
"""What a shadow says of a run, by the name that it has in a row of a what-if."""
OTHER = {"x": create_self_critique_agent()}


def strict():
    return triage(policy=ticket_pattern.Policy(labels=("billing",)))


def shadows(recording):
    VALID.validate(recording)
    return validate_recording(recording)["shadows"]


@pytest.mark.parametrize("mode", BOTH)
def test_every_shadow_judges_a_run_once_more(mode):
    """From the same outcomes, in every way of running; who decides otherwise says how, and by which guard."""
    seen = shadows(recorded(lambda **kw: triage(shadow={"as it is": triage(), "strict": strict()}, **kw), mode=mode))
    ok = {"status": "ok", "stop_reason": "success", "outcome": "routed"}
    stopped = {"status": "stopped", "stop_reason": "invalid_label", "phase": "label"}
    assert {"kind": "same", "ending": ok}.items() <= seen["as it is"].items()
    assert {"kind": "changed", "guard": "label_guard", "ending": stopped}.items() <= seen["strict"].items()


def test_a_shadow_that_fails_is_recorded_as_failed():
    """With the type and the message of what it raised; the others still judge."""

    def raising(state, run):
        raise SystemError("no body can be this wrong")

    broken, failing = triage(), triage(bodies={"label_guard": raising})
    broken.frame.nodes.clear()
    seen = shadows(recorded(lambda **kw: triage(shadow={"a": broken, "b": failing, "c": strict()}, **kw)))
    error = {"type": "KeyError", "message": "'request_guard'"}
    assert {"kind": "failed", "error": error}.items() <= seen["a"].items()
    assert (seen["b"]["ending"]["stop_reason"], seen["c"]["kind"]) == ("guard_error:label_guard", "changed")


class Fixed(ticket_pattern.Policy):
    currency: Annotated[str, Tightens.fixed] = "EUR"


def test_a_shadow_that_refuses_the_context_of_a_run_says_so():
    context, kept = {"policy": {"currency": "EUR"}}, Kept()
    other = triage(policy=Fixed(currency="USD"))
    triage(policy=Fixed(), recorder=kept, shadow={"x": other}).invoke(TICKET, context=context)
    seen = shadows(kept.only)["x"]
    assert (seen["kind"], seen["ending"]["status"]) == ("changed", "refused")
    with pytest.raises(InputError, match=r"^recording: a run whose context this agent would refuse: .*currency"):
        replay(other, kept.only)


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
    told = {JUDGED[name]: shadow[name] for name in JUDGED if name in shadow}
    assert told == {name: said[name] for name in JUDGED.values() if name in said}
    assert shadow["kind"] == (kind if context is None else "same")
    if shadow["kind"] == "unknown":
        assert shadow["call"]["node"] == "lookup"
    else:
        assert shadow["ending"].items() <= other.invoke(TICKET, context=context).items()


@each_row(
    ("given", "message"),
    (5, r"^shadow: a mapping of names to agents is required; given: int$"),
    ({"x": 5}, r"^shadow\.x: an agent of the pattern triage is required; given: int$"),
    (OTHER, r"^shadow\.x: an agent of the pattern triage is required; given: one of self_critique$"),
    ({" ": strict()}, r"^shadow: names that are texts and not blank are required; given: ' '$"),
    ({"x": 5, "": 6}, r"^shadow\.x: .*\nshadow: names"),
)
def test_what_is_no_shadow_is_refused(given, message):
    with pytest.raises(ConfigurationError, match=message):
        triage(shadow=given)
