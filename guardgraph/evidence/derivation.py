"""Derivation: a recorded run is decided again from what came from outside, and held against its recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from pydantic import ValidationError

from guardgraph.evidence.place import DocumentFinding, DocumentFindingKind
from guardgraph.graphs.loading import is_factory_setting, load_named_graph
from guardgraph.graphs.replay.interpreter import interpret_recording
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.end import build_recording
from guardgraph.graphs.running.frame import Frame
from guardgraph.plain.errors import ConfigurationError, InputError, NotRecorded
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.scopes import read_public_suffixes_version
from guardgraph.plain.version import read_package_version
from guardgraph.state.recording import Recording, validate_recording
from guardgraph.state.settings import Settings

MOST = 100
"""Differences that are named: one says enough, and after a change of the way of a run nothing is as it was."""
SETTINGS = ("policy", "budget")

SHOWN = 160
"""Characters of a value in a message."""
BEFORE = 40
"""Characters of a long text that are shown before the place where it differs."""

_NOTHING = object()
"""Stands where one of two has nothing."""


def load_deriving_agent(agent: GuardedGraph[Any, Any, Any] | str, recording: JsonObject) -> GuardedGraph[Any, Any, Any]:
    """Return the agent that decides a recorded run again.

    Args:
        agent: it, or ``module:factory``, whose factory is given the recorded policy and budget where they are others
            than its own and it takes them; one that refuses them has its own.
        recording: of the run.

    Raises:
        ConfigurationError: there is no such agent.
        InputError: it is one of another pattern.
    """
    made = load_named_graph(agent, "agent") if isinstance(agent, str) else agent
    if not isinstance(made, GuardedGraph):
        raise ConfigurationError(f"agent: a guarded graph or module:factory is required; given: {type(made).__name__}")
    if recording.get("pattern") != (ours := made.frame.catalogue.pattern):
        raise InputError(f"document: a run of {ours} is required; given: one of {recording.get('pattern')!r:.80}")
    if isinstance(agent, str) and (settings := _find_recorded_settings(made.frame, agent, recording)):
        with suppress(ConfigurationError):  # it refuses them: each is named as a difference
            made = load_named_graph(agent, "agent", **settings)
        if not isinstance(made, GuardedGraph):
            raise ConfigurationError(f"agent: a guarded graph is required; given: {type(made).__name__}")
    return made


def _find_recorded_settings(frame: Frame, target: str, recording: JsonObject) -> dict[str, Settings]:
    """Return the recorded settings that are not an agent's own, as far as its factory takes them."""
    found: dict[str, Settings] = {}
    for name, ours, plain in zip(SETTINGS, (frame.policy, frame.budget), frame.plain_settings, strict=True):
        if recording.get(name) == plain or not is_factory_setting(target, "agent", name):
            continue
        try:
            found[name] = type(ours).model_validate_json(canonical_json(recording[name]))
        except (
            ValidationError,
            KeyError,
            TypeError,
        ):  # other settings than there are now: each of them is named as a difference
            continue
    return found


def find_derivation_problems(frame: Frame, given: JsonObject) -> list[DocumentFinding]:
    """Decide a recorded run again, and name every difference between its recording and what comes out.

    Args:
        frame: of the agent.
        given: the recording; nobody checked it.

    Raises:
        InputError: it is no recording.
    """
    if given.get("redacted"):
        return [DocumentFinding("underived", "redacted", "words of the run were redacted: nothing can be derived")]
    recording = validate_recording(given)
    ours = (read_package_version(), read_public_suffixes_version())
    is_alike = (recording["guardgraph"], recording["public_suffixes"]) == ours
    kind: DocumentFindingKind = "verdict" if is_alike else "version"
    behind = "" if is_alike else f"; differs under version {read_package_version()}"
    found = islice(_compare_with_derived_run(frame, recording, given), MOST)
    return [
        *[DocumentFinding(kind, place, f"{message}{behind}") for place, message in found],
        *_find_underivable_shadows(frame, recording),
    ]


def _compare_with_derived_run(frame: Frame, recording: Recording, given: JsonObject) -> Iterator[tuple[str, str]]:
    versions = {"guardgraph": read_package_version(), "public_suffixes": read_public_suffixes_version()}
    known: JsonObject = {**given, **versions}
    shadows = known.pop("shadows", {})
    alone: Any = {key: value for key, value in recording.items() if key != "shadows"}
    try:
        made: JsonObject = {**build_recording(interpret_recording(frame, alone))}
    except (NotRecorded, ConfigurationError, InputError) as error:
        ours = _describe_deriving_agent(frame)
        fingerprints = {name: known["fingerprints"][name] for name in ours["fingerprints"]}
        yield from _compare_recorded_values(
            {**{name: known[name] for name in ours}, "fingerprints": fingerprints}, ours, ""
        )
        yield _explain_underivable_run(error)
    else:
        yield from _compare_recorded_values(known, made, "")
    for name, shadow in shadows.items():
        if name in frame.shadows:
            yield from _compare_recorded_values(shadow, frame.shadows[name](alone), f"shadows.{name}.")


def _describe_deriving_agent(frame: Frame) -> JsonObject:
    """Return what an agent says of itself before it decides anything."""
    policy, budget = frame.settings_fingerprints
    fingerprints = {"policy": policy, "budget": budget, "declarations": frame.declarations_fingerprint}
    return {"graph": frame.name, **dict(zip(SETTINGS, frame.plain_settings, strict=True)), "fingerprints": fingerprints}


def _explain_underivable_run(error: Exception) -> tuple[str, str]:
    """Return where a run cannot be decided again, and why."""
    if isinstance(error, NotRecorded):
        return f"calls ({error.node})", f"cannot be derived: {error.difference}"
    if isinstance(error, ConfigurationError):
        return "visits", f"a context that the agent would have refused: {error}"
    place, _, message = str(error).removeprefix("recording.").partition(": ")
    return place, message


def _find_underivable_shadows(frame: Frame, recording: Recording) -> list[DocumentFinding]:
    others = recording.get("shadows", {}).keys() - frame.shadows.keys()
    message = "the agent has no such shadow: what it made of the run cannot be derived"
    return [DocumentFinding("underived", f"shadows.{name:.80}", message) for name in sorted(others)]


def _compare_recorded_values(recorded: JsonValue, made: JsonValue, path: str) -> Iterator[tuple[str, str]]:
    """Yield where two values differ, down to single texts and numbers, with what stands there."""
    if isinstance(recorded, dict) and isinstance(made, dict):
        for key in [*recorded, *(made.keys() - recorded.keys())]:
            yield from _compare_recorded_values(recorded.get(key, _NOTHING), made.get(key, _NOTHING), f"{path}{key}.")
    elif isinstance(recorded, list) and isinstance(made, list):
        for at in range(max(len(recorded), len(made))):
            yield from _compare_recorded_values(
                _get_recorded_item(recorded, at), _get_recorded_item(made, at), f"{path}{at}."
            )
    elif type(recorded) is not type(made) or recorded != made:
        then, now = _excerpt_recorded_values(recorded, made)
        yield path.removesuffix("."), f"recorded {then}, derived {now}"


def _get_recorded_item(items: list[JsonValue], at: int) -> JsonValue:
    return items[at] if at < len(items) else _NOTHING


def _excerpt_recorded_values(recorded: object, made: object) -> tuple[str, str]:
    """Return two values for a message, of long texts what is around the place where they part."""
    if not (isinstance(recorded, str) and isinstance(made, str)):
        return _format_recorded_value(recorded), _format_recorded_value(made)
    parting = next((at for at, (then, now) in enumerate(zip(recorded, made, strict=False)) if then != now), 0)
    start = max(parting - BEFORE, 0) if max(len(recorded), len(made)) > SHOWN else 0
    then, now = (f"{'...' if start else ''}{text[start:]}" for text in (recorded, made))
    return _format_recorded_value(then), _format_recorded_value(now)


def _format_recorded_value(value: object) -> str:
    return "nothing" if value is _NOTHING else excerpt_value(json.dumps(value, ensure_ascii=False), SHOWN)
