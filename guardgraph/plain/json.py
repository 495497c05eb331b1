"""Plain JSON, the only thing that enters a state: its types, text in and out, size, copies.

What comes from a model, a tool or a user may hold integers of a thousand digits, NaN, lone surrogates, U+0000 or
nesting without end; each of them breaks a checkpointer or a parser somewhere. These functions turn any value into text
and any text into a value that is safe to keep, without making a wrong value look right. Every value of every run passes
here, nearly all of them plain JSON already: that is found out first, and at once. How large a value is, is found out
without making the text of one that is far too large.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, TypeAlias

from guardgraph.plain.secrets import cut_and_mask_text

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, or a list or a dictionary of them.

mypy cannot narrow a recursive alias without noise at every access, hence `Any`; guards parse before they use.
"""

JsonObject: TypeAlias = dict[str, Any]  # A JSON object


def refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Return an object of the names and values that stand in a JSON text; given as ``object_pairs_hook``."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the key {name!r:.80} stands twice in one object")
            seen.add(name)
    return made


_ATOMS = frozenset({str, int, float, bool, type(None)})


def copy_json(value: Any) -> Any:
    """Copy a value deeply, plain JSON several times faster than `copy.deepcopy` does."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return value if kind in _ATOMS else deepcopy(value)
    made = value.copy()
    waiting: list[Any] = [made]
    while waiting:  # a stack, and no call for each list and object: runs copy what they hand out, again and again
        holder = waiting.pop()
        for key, item in holder.items() if type(holder) is dict else enumerate(holder):
            kind = type(item)
            if kind is dict or kind is list:
                holder[key] = inner = item.copy()
                waiting.append(inner)
            elif kind not in _ATOMS:
                holder[key] = deepcopy(item)
    return made


def walk_json(value: JsonValue, ignored: Collection[str] = ()) -> Iterator[JsonValue]:
    """Yield a value and all that is inside of it but under ignored keys, in no order, however deeply it is nested."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, dict):
            waiting += [inner for key, inner in item.items() if key not in ignored]
        elif isinstance(item, list):
            waiting += item


MAX_DEPTH = 64  # levels of nesting that a value may have; LangGraph's serialisation fails at about 300
INPUT_DEPTH = MAX_DEPTH // 2
"""Levels of nesting that an object of an input may have of which a node keeps and shows more than itself."""

RESULT_DEPTH = 2 * MAX_DEPTH  # levels of nesting of a result, which stands around the values of its run
INT_LIMIT = 2**63  # whole numbers from ``-INT_LIMIT`` to below ``INT_LIMIT`` fit into 64 bits
_NEITHER = math.nan
"""Stands for what JSON cannot say: no guard takes it for a string, a list, an object or a whole number."""


class NotJson(ValueError):
    """The text is no JSON, or nested so deeply that nobody can have meant it."""


def format_json_text(value: object) -> str:
    """Return any value as ASCII JSON text; what JSON cannot say becomes NaN."""
    return pack_json_text(value)[0]


def pack_json_text(value: object) -> tuple[str, bool]:
    """Return a value as `format_json_text` does, and whether the text says just what the value is."""
    plain = is_plain_json(value)
    return json.dumps(value if plain else _make_legible_json(value)), plain


def parse_json(
    text: str, levels: int = MAX_DEPTH, *, keys_once: bool = False, exact_numbers: bool = False
) -> JsonValue:
    """Return the value of a JSON text, safe to keep in a state."""
    try:
        decoder, value, end = _EXACT_DECODER if exact_numbers else _STRICT_DECODER if keys_once else _DECODER, None, -1
        if text[:1] in ("{", "["):  # what a run keeps has no blanks around it, and need not be searched for them
            value, end = decoder.raw_decode(text)
        if end != len(text):
            value = decoder.decode(text)
        is_too_deep = text.count("[") + text.count("{") > levels and is_nested_too_deep(text, value, levels)
    except RecursionError:
        is_too_deep = True
    except ValueError as error:
        raise NotJson(str(error)[:200]) from None
    if is_too_deep:
        raise NotJson(f"more than {levels} levels of nesting")
    # JSON always escapes U+0000; half a character may stand there as it is.
    is_odd = "\\u" in text and ("\\ud" in text or "\\uD" in text or "\\u0000" in text)
    if is_odd or not (text.isascii() or _is_storable_text(text)):
        return _make_legible_json(value, levels=levels)
    return value


def is_nested_too_deep(text: str, value: Any, levels: int = MAX_DEPTH) -> bool:
    """Say whether a value, of which this is the JSON text, has more levels than allowed."""
    if text.count("[") + text.count("{") <= levels:
        return False
    level = [value]
    for _ in range(levels + 1):
        containers = [item for item in level if isinstance(item, dict | list | tuple)]
        level = [inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)]
    return bool(containers)


def _parse_json_integer(digits: str) -> int | float:
    number = int(digits) if len(digits) <= 20 else float(digits)
    return number if -INT_LIMIT <= number < INT_LIMIT else float(number)


def _parse_exact_integer(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else INT_LIMIT
    if not -INT_LIMIT <= number < INT_LIMIT:
        raise ValueError(f"{digits[:40]} is more than 64 bits hold")
    return number


def _parse_exact_float(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:40]} is more than a double holds")
    return number


def _refuse_json_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


_EXACT: dict[str, Any] = {
    "parse_int": _parse_exact_integer, "parse_float": _parse_exact_float, "parse_constant": _refuse_json_constant
}  # fmt: skip
_EXACT_DECODER = json.JSONDecoder(**_EXACT)
EXACT_ONCE_DECODER = json.JSONDecoder(**_EXACT, object_pairs_hook=refuse_repeated_keys)
_DECODER = json.JSONDecoder(parse_int=_parse_json_integer)
_STRICT_DECODER = json.JSONDecoder(parse_int=_parse_json_integer, object_pairs_hook=refuse_repeated_keys)


def _make_legible_json(value: object, above: tuple[int, ...] = (), levels: int = MAX_DEPTH) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return make_legible_text(value)
    if isinstance(value, int):
        return int(value) if -INT_LIMIT <= value < INT_LIMIT else _convert_large_integer(value)
    if isinstance(value, float):
        return float(value)
    if len(above) == levels or id(value) in above:
        return _NEITHER
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        named = ((key if isinstance(key, str) else str(key), item) for key, item in value.items())
        return {make_legible_text(name): _make_legible_json(item, inside, levels) for name, item in named}
    if isinstance(value, list | tuple):
        return [_make_legible_json(item, inside, levels) for item in value]
    if isinstance(value, Integral):
        return _make_legible_json(int(value))
    return _convert_large_integer(value) if isinstance(value, Real) else _NEITHER


def _convert_large_integer(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def make_legible_text(value: str) -> str:
    """Return a text that every store can keep: lone surrogates and U+0000 become U+FFFD."""
    if not value.isascii():
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(value).replace("\0", "\ufffd")  # of an Enum its value, as in JSON, not its name


def _is_storable_text(value: str) -> bool:
    """Say whether every store can keep a text: PostgreSQL has no U+0000, and nobody has half a character."""
    if value.isascii():
        return "\0" not in value
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def make_storable_json(value: JsonValue, around: int = 0) -> JsonValue:
    """Return a value as plain JSON for a result: numbers that JSON has no form for become their names."""
    levels = MAX_DEPTH + around
    return value if is_plain_json(value, levels) else name_json_numbers(_make_legible_json(value, levels=levels))


def is_plain_json(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Say whether a value is plain, finite JSON that any store can keep."""
    waiting: list[tuple[Any, int]] = [([value], levels)]
    while waiting:
        holder, left = waiting.pop()
        if type(holder) is dict:
            for key in holder:
                if type(key) is not str or not ((key.isascii() and "\0" not in key) or _is_storable_text(key)):
                    return False
            holder = holder.values()
        for item in holder:
            kind = type(item)
            if kind is str:
                if not ((item.isascii() and "\0" not in item) or _is_storable_text(item)):
                    return False
            elif kind is dict or kind is list:
                if left == 0:  # lists that hold themselves end here, too
                    return False
                waiting.append((item, left - 1))
            elif kind is int:
                if not -INT_LIMIT <= item < INT_LIMIT:
                    return False
            elif not (item is None or kind is bool or (kind is float and math.isfinite(item))):
                return False
    return True


def measure_json(value: Any, most: float) -> int:
    """Return how large a value is at least; one of more than `most` bytes is not walked to its end."""
    size = 0
    waiting: list[tuple[Any, int]] = [([value], MAX_DEPTH)]
    while waiting:
        holder, left = waiting.pop()
        if type(holder) is dict:
            size += sum(len(key) + 2 if type(key) is str else 1 for key in holder)
            holder = holder.values()
        for item in holder:
            kind = type(item)
            if kind is str:
                size += len(item) + 2
            elif kind is dict or kind is list:
                if left == 0:  # lists that hold themselves end here, too
                    return size
                size += len(item) * (2 if kind is dict else 1) + 1
                waiting.append((item, left - 1))
            else:
                size += 1
            if size > most:
                raise TooLarge("a value is larger than allowed")
    return size


def find_unnamed_numbers(value: JsonValue, above: tuple[str | int, ...] = ()) -> list[list[str | int]]:
    """Return the places, as keys and indices, of the numbers that `make_storable_json` replaces by their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return [list(above)]
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in inner for place in find_unnamed_numbers(item, (*above, key))]


def restore_json_numbers(value: JsonObject, places: list[list[str | int]]) -> JsonObject:
    """Return a value of `make_storable_json` with its numbers in the place of their names again."""
    restored: Any = copy_json(value)
    for *above, last in places:
        holder = restored
        for key in above:
            holder = holder[key]
        holder[last] = float(holder[last])
    return restored  # type: ignore[no-any-return]


def name_json_numbers(value: JsonValue) -> JsonValue:
    """Return JSON in which the numbers that JSON has no form for stand by their names: nan, inf and -inf."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: name_json_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [name_json_numbers(item) for item in value]
    return value


def find_json_problem(value: object, levels: int = MAX_DEPTH) -> str | None:
    """Say why a value cannot be stored as JSON, None when it can; NaN and infinities can, guards judge them."""
    return None if is_plain_json(value, levels) else _find_nested_problem(value, levels)


def _find_nested_problem(value: object, levels: int, above: tuple[int, ...] = ()) -> str | None:
    if value is None or isinstance(value, bool | float):
        return None
    if isinstance(value, str):
        return None if _is_storable_text(value) else "a text with lone surrogates or U+0000"
    if isinstance(value, int):
        return None if -INT_LIMIT <= value < INT_LIMIT else "a whole number of more than 64 bits"
    if not isinstance(value, dict | list):
        return f"a {type(value).__name__}"
    if len(above) == levels or id(value) in above:
        return f"more than {levels} levels of nesting"
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return "an object with keys that are no strings"
    items, inside = [*value, *value.values()] if isinstance(value, dict) else value, (*above, id(value))
    return next((problem for item in items if (problem := _find_nested_problem(item, levels, inside))), None)


def excerpt_value(value: object, limit: int = 120) -> str:
    """Show a value in a message, letters of any script as they are, cut to `limit` characters, without credentials."""
    text = value if isinstance(value, str) else json.dumps(_make_legible_json(value), ensure_ascii=False)
    text = cut_and_mask_text(text, limit + 1)
    return text if len(text) <= limit else text[: limit - 3] + "..."


INPUT_BYTES = 2**20
"""Bytes that a field of an input may have where a budget says nothing else: some hundred pages of text."""

REPLY_BYTES = 4 * 2**20
"""Bytes that a reply may have where a budget says nothing else: a hundred times what the longest model writes."""

_LONGEST = 25  # bytes for one that `measure_json` counts: a number may have so many, a character six


class TooLarge(ValueError):
    """A value takes more bytes than there is room for."""


class Room:
    """Bytes that a value may take as JSON text, counted down while somebody walks through it."""

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def count_json_size(self, size: int) -> None:
        """Count some bytes."""
        self.left -= size
        if self.left < 0:
            raise TooLarge("a value is larger than allowed")


def is_larger_json(value: JsonValue, most: int) -> bool:
    """Say whether plain JSON takes more than `most` bytes."""
    try:
        least = measure_json(value, most)
    except TooLarge:
        return True
    return least * _LONGEST > most and count_json_bytes(value) > most


def count_json_bytes(value: JsonValue) -> int:
    """Return the size of plain JSON: bytes of its text in UTF-8, without blanks between."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
