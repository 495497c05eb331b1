"""The ending is held against the run: what a terminal returns under a declared key is what guards accepted there."""

from __future__ import annotations

from typing import Any

from guardgraph.graphs.running.frame import Part
from guardgraph.graphs.running.licensing import CALLS_KEY, list_called_tools
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.catalogue import RESULT_DIFFERS

_MISSING: Any = object()


def check_held_result(part: Part, state: JsonObject, result: JsonObject) -> None:
    """Hold what an ok terminal returns against the channels that the pattern names for it, and the record of calls.

    Args:
        part: the terminal.
        state: what it was handed.
        result: the keys that its body returned.

    Raises:
        Stop: ``result_differs:<key>`` with `details` ``{accepted, returned}``.
    """
    for key, where in part.declaration.held:
        returned = result.get(key, _MISSING)
        if isinstance(where, tuple):
            if returned not in where:
                raise _refuse_ending(key, list(where), returned)
        elif (accepted := _read_accepted(state, where)) is not returned and accepted != returned:
            raise _refuse_ending(key, accepted, returned)
    if part.frame.table is not None and CALLS_KEY in result:
        made = list_called_tools(state)
        kept = {key for call in made for key in call} | {"approved_by", "failed"}
        told = [{key: item for key, item in call.items() if key in kept} for call in result[CALLS_KEY]]
        if told != made:
            raise _refuse_ending(CALLS_KEY, made, told)


def _read_accepted(state: JsonObject, where: str) -> JsonValue:
    channel, _, key = where.partition(".")
    value = state.get(channel, _MISSING)
    return value.get(key, _MISSING) if key and isinstance(value, dict) else value


def _refuse_ending(key: str, accepted: JsonValue, returned: JsonValue) -> Stop:
    said = {"accepted": accepted, "returned": returned}
    shown = {name: "nothing" if value is _MISSING else excerpt_value(value) for name, value in said.items()}
    return Stop(f"{RESULT_DIFFERS}:{key}", details=shown)
