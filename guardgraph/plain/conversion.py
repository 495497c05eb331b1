"""What a Runnable, a function or a tool returned or raised, as plain JSON: converted in one way or refused.

The conversions are Pydantic's: dates and times as ISO 8601, durations too, Decimal and UUID as texts, enumerations by
their values, models, dataclasses and named tuples by what they hold, and every other whole or real number by its value.
What numpy and pandas hold is read as Python holds it; what is missing there (NaT, NA) is null.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from guardgraph.plain.errors import ExpectedFailure
from guardgraph.plain.json import (
    INT_LIMIT,
    MAX_DEPTH,
    REPLY_BYTES,
    JsonObject,
    JsonValue,
    Room,
    TooLarge,
    is_plain_json,
    make_legible_text,
    measure_json,
)

_BY_PYDANTIC = (date, datetime, time, timedelta, Decimal, UUID)
ALLOWED = "plain JSON; dates, Decimal, UUID, enumerations, models, dataclasses and numbers become it"
"""What may be returned, in the words of a refusal."""


class Unreturnable(ValueError):
    """Something that was returned is no plain JSON and becomes none, or is not what was asked for."""

    def __init__(
        self, given: str, *, place: Iterable[str] = (), allowed: str = ALLOWED, is_missing: bool = False
    ) -> None:
        super().__init__(given)
        self.given = given
        self.place = tuple(place)
        self.allowed = allowed
        self.is_missing = is_missing  # whether it is how libraries of numbers say that nothing is there: NaN
        self.size = 0  # bytes that were counted of the value; with room for fewer it is too large instead

    @property
    def details(self) -> dict[str, JsonValue]:
        """What a stop says of it."""
        return {"place": ".".join(self.place)[:200], "given": self.given, "allowed": self.allowed}


def convert_to_plain_json(value: object, most: int = REPLY_BYTES, left_out: list[list[str]] | None = None) -> JsonValue:
    """Return a value as plain JSON that every store can keep."""
    size = measure_json(value, most)
    if is_plain_json(value):
        return value
    room = _Conversion(most, left_out)
    try:
        return _convert_nested_value(value, 0, room)
    except Unreturnable as error:
        error.size = max(size, most - room.left)
        raise


class _Conversion(Room):
    """What one value may take, and what is left out of it."""

    __slots__ = ("left_out",)

    def __init__(self, most: int, left_out: list[list[str]] | None) -> None:
        super().__init__(most)
        self.left_out = left_out


def _convert_nested_value(value: Any, depth: int, room: _Conversion) -> JsonValue:
    if value is None or type(value) is bool:
        return value
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas"):
        read = _read_array_value(value, room)
        if type(read) is not type(value):
            return _convert_nested_value(read, depth, room)
    if isinstance(value, Enum):
        return _convert_nested_value(value.value, depth, room)
    if isinstance(value, str):
        room.count_json_size(len(value) + 2)
        return make_legible_text(value)
    if isinstance(value, _BY_PYDANTIC):
        text = str(to_jsonable_python(value))
        if isinstance(value, Decimal) and not value.is_finite():
            raise Unreturnable(f"the Decimal {text}")
        return text
    if isinstance(value, Integral | Real):
        return _convert_number(value)
    if depth == MAX_DEPTH:
        raise Unreturnable(f"more than {MAX_DEPTH} levels of nesting")
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [_convert_object_item(str(at), item, depth, room) for at, item in enumerate(value)]
    made: dict[str, JsonValue] = {}
    for key, item in _list_object_fields(value).items():
        if not isinstance(key, str | Enum | Integral | Real | date | time | timedelta | Decimal | UUID):
            raise Unreturnable(f"the key {key!r:.80}")
        room.count_json_size(1 if isinstance(key, str) else 3)  # what stands around it
        name = str(_convert_nested_value(key, 0, room))
        if name in made:
            raise Unreturnable(f"two keys that are both {name!r:.80}")
        made[name] = _convert_object_item(name, item, depth, room)
    return made


def _read_array_value(value: Any, room: Room) -> Any:
    """Return what numpy or pandas holds as Python does: a frame as rows, what is missing as None."""
    kind, name = getattr(getattr(value, "dtype", None), "kind", ""), type(value).__name__
    if name in ("NaTType", "NAType"):
        return None
    room.count_json_size(getattr(value, "size", 1) if kind or name == "DataFrame" else 0)  # before all of it is made
    if name == "DataFrame":
        return value.to_dict("records")
    if name == "Series" and type(value.index).__name__ != "RangeIndex":
        return value.to_dict()
    if kind in ("m", "M") and type(value).__module__ == "numpy":
        return _read_array_times(value, kind)
    if name in ("Period", "Interval"):
        return str(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _read_array_times(value: Any, kind: str) -> Any:
    """Return numpy's times as texts, as Python has none so fine, and its durations."""
    if value.shape:
        return [_read_array_times(item, kind) for item in value]
    if str(value) == "NaT":
        return None
    if kind == "M":
        return str(value)
    if value.dtype.str[-3:] in ("[M]", "[Y]"):  # which are of no one length
        raise Unreturnable("a duration in months or years")
    return value.astype("timedelta64[us]").tolist()


def _convert_number(value: Integral | Real) -> int | float:
    if isinstance(value, Integral):
        if not -INT_LIMIT <= (whole := int(value)) < INT_LIMIT:
            raise Unreturnable("a whole number of more than 64 bits")
        return whole
    try:
        real = float(value)
    except OverflowError:
        raise Unreturnable("a number too large for a float") from None
    if not math.isfinite(real):
        raise Unreturnable("NaN" if math.isnan(real) else "an infinite number", is_missing=math.isnan(real))
    return real


def _list_object_fields(value: Any) -> Mapping[Any, Any]:
    """Return what an object holds, by name."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    if isinstance(value, tuple):
        named: Mapping[Any, Any] = value._asdict()  # type: ignore[attr-defined]  # a named tuple
        return named
    raise Unreturnable(f"a {type(value).__name__}")


def _convert_object_item(name: str, item: Any, depth: int, room: _Conversion) -> JsonValue:
    room.count_json_size(1)
    known = len(room.left_out or ())
    try:
        return _convert_nested_value(item, depth + 1, room)
    except Unreturnable as error:
        if error.is_missing and room.left_out is not None:
            room.left_out.append([])
            return None
        error.place = (name, *error.place)
        raise
    finally:
        for place in (room.left_out or ())[known:]:
            place.insert(0, name)


EXPECTED_BYTES = 65_536  # that an expected failure may take: failures are short, whatever a budget says of replies


def list_expected_details(error: BaseException) -> JsonObject:
    """Return what the details of a tool's error say of one that was to be expected, nothing of any other."""
    if not isinstance(error, ExpectedFailure):
        return {}
    try:
        return {"expected": convert_to_plain_json({"reason": error.reason, "details": error.details}, EXPECTED_BYTES)}
    except (Unreturnable, TooLarge):
        return {}


def parse_expected_failure(content: JsonValue) -> tuple[str, JsonObject] | None:
    """Return the reason and the details of an expected failure, None where a tool failed otherwise, or did not."""
    match content:
        case {"reason": "tool_error", "details": {"expected": {"reason": str(reason), "details": dict(details)}}}:
            return reason, details
    return None
