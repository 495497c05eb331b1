"""What a caller may ask of the Self-critique agent, and the hints that go with it."""

from __future__ import annotations

import math

from guardgraph.grounding.words import list_word_keys
from guardgraph.guards.stop import build_request_stop, check_request_depth, read_request_text
from guardgraph.plain.json import JsonObject, JsonValue, make_storable_json, walk_json
from guardgraph.state.self_critique import SelfCritiqueTask

IGNORED_KEYS = ("policy_hints", "limits")  # keys of a context that say nothing of an incident, at any depth
HINTS = "incident_context.policy_hints"  # where the hints stand in the input


def parse_self_critique_request(goal: JsonValue, incident_context: JsonValue) -> SelfCritiqueTask:
    """Read the input of a run."""
    asked = read_request_text("goal", goal)
    if not isinstance(incident_context, dict):
        raise build_request_stop("incident_context", incident_context, "an object")
    check_request_depth("incident_context", incident_context)
    hints = incident_context.get("policy_hints", {})
    if not isinstance(hints, dict):
        raise build_request_stop(HINTS, hints, "an object")
    hint = hints.get("avoid_absolute_guarantees", False)
    if not isinstance(hint, bool):
        raise build_request_stop(f"{HINTS}.avoid_absolute_guarantees", hint, "true or false")
    task = SelfCritiqueTask(
        goal=asked,
        incident_context=incident_context,
        avoid_absolute_guarantees=hint,
        max_length_increase_pct=_read_length_hint(hints),
    )
    if make_storable_json(incident_context) != incident_context:
        raise build_request_stop("incident_context", incident_context, "plain JSON, without NaN and infinite numbers")
    if not _has_incident_facts(incident_context):
        raise build_request_stop("incident_context", incident_context, "at least one fact about an incident")
    return task


def _has_incident_facts(context: JsonObject) -> bool:
    """Say whether a context has a text that is not blank, a number, or something that is so or not."""
    told = (value for value in walk_json(context, IGNORED_KEYS) if not isinstance(value, dict | list | None))
    return any(not isinstance(value, str) or list_word_keys(value) for value in told)


def _read_length_hint(hints: JsonObject) -> float | None:
    hint = hints.get("max_length_increase_pct")
    if hint is None:
        return None
    # Compared, not converted: a whole number may be larger than any float.
    if isinstance(hint, bool) or not isinstance(hint, int | float) or not 0 <= hint < math.inf:
        raise build_request_stop(f"{HINTS}.max_length_increase_pct", hint, "a finite number, 0 or more")
    return hint
