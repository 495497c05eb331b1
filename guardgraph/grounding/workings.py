"""A working: how a text comes to a number that no source has, as "10 * 0.22 + 1.00 = 3.20"."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from guardgraph.grounding.scanning import parse_digits, scan_text
from guardgraph.grounding.values import Value

CONSTANTS: Final = (2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 366.0, 1000.0)
"""What a working may use without a source: parts of the calendar, per cent, halves and thousands."""
_MOST_CHARS: Final = 500
_MOST_DEPTH: Final = 30
_OPERATIONS: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_SIGNS: Final = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", ":": "/"})
_PART: Final = re.compile(r"\s*(?:(\d[\d,]*(?:\.\d+)?|\.\d+)|([-+*/()]))")
_UNITS: Final = re.compile(
    r"[$€£¥₹%]|(?<=[\d)%])\s*[^\W\d_][\w²³/]*(?:\s+[^\W\d_]\w*)*|(?<=[-+*/(])\s*[^\W\d_][\w ]*(?=\d)"
)
_MOMENT: Final = re.compile(r"^(.*?\S)\s++([-+−–])\s+(\d[\d.,]*\s*[^\W\d_]+)\s*$")


class _Unreadable(ValueError):
    """A working that is no sum of numbers that sources state."""


def evaluate_workings(workings: Iterable[str], told: Sequence[Value]) -> list[Value]:
    """Return what workings come to, as values of the sources; one that does not hold gives none."""
    results = list[Value]()
    for working in workings:
        if len(working) <= _MOST_CHARS:
            results += _evaluate_moment(working, [*told, *results]) or _evaluate_sum(working, [*told, *results])
    return results


def _evaluate_sum(working: str, told: Sequence[Value]) -> list[Value]:
    left, sign, right = working.rpartition("=")
    left = left if sign else working
    result = scan_text(right.strip(), "en") if sign else ()
    try:
        text, parts, at = _UNITS.sub(" ", left).translate(_SIGNS).strip(), list[str](), 0
        while at < len(text):
            match = _PART.match(text, at)
            if match is None:
                raise _Unreadable(left)
            parts.append(match[1] or match[2])
            at = match.end()
        amount, rest = _evaluate_terms([*parts, ""], 0, told)
        if rest != "" or (sign and len(result) != 1):
            return []
    except (_Unreadable, ZeroDivisionError, OverflowError):
        return []
    if not result:
        return [*scan_text(f"{amount:.10g}", "en")]
    said = result[0]
    written = re.search(r"[\d,]*\.?\d+", said.text)
    stated = said.said[0] if said.said else said.amounts[0]
    digits = len(written[0].partition(".")[2]) if written else 0
    off = (
        0.5
        * 10.0**-digits
        * (1 + 1e-9)
        * max(1.0, stated / max(parse_digits(written[0], ".")[0], 1e-12) if written else 1.0)
    )
    as_shares = (amount, amount * 100) if said.kind == "percent" else (amount,)
    return [said] if any(abs(abs(each) - stated) <= off for each in as_shares) else []


def _evaluate_terms(parts: list[str], depth: int, told: Sequence[Value]) -> tuple[float, str]:
    """Evaluate a sum from the front of its parts; return what it comes to and the part behind it."""
    if depth > _MOST_DEPTH:
        raise _Unreadable
    amount, sign = _evaluate_factors(parts, depth, told)
    while sign in ("+", "-"):
        more, following = _evaluate_factors(parts, depth, told)
        amount, sign = _OPERATIONS[sign](amount, more), following
    return amount, sign


def _evaluate_factors(parts: list[str], depth: int, told: Sequence[Value]) -> tuple[float, str]:
    amount = _read_operand(parts, depth, told)
    while (sign := parts.pop(0)) in ("*", "/"):
        amount = _OPERATIONS[sign](amount, _read_operand(parts, depth, told))
    return amount, sign


def _read_operand(parts: list[str], depth: int, told: Sequence[Value]) -> float:
    part = parts.pop(0)
    if part == "(":
        amount, closing = _evaluate_terms(parts, depth + 1, told)
        if closing != ")":
            raise _Unreadable
        return amount
    if part == "-" and depth < _MOST_DEPTH:
        return -_read_operand(parts, depth + 1, told)
    if not part[:1].isdecimal() and not part.startswith("."):
        raise _Unreadable
    amount = parse_digits(part, ".")[0]
    if amount in CONSTANTS or any(_is_stated(amount, value) for value in told):
        return amount
    raise _Unreadable


def _is_stated(amount: float, value: Value) -> bool:
    """Say whether a value states a number: as written, in its base unit, or without magnitude: 3.4 of "3.4 million"."""
    written = re.search(r"\d[\d,]*(?:\.\d+)?", value.text)
    stated = [*value.amounts, *value.said, *([parse_digits(written[0], ".")[0]] if written else [])]
    stated += [float(part) for date in value.dates for part in date if part]
    return any(abs(amount - each) <= 1e-9 * max(abs(each), 1.0) for each in stated) or (
        value.kind == "percent" and any(abs(amount * 100 - each) < 1e-9 * max(abs(each), 1.0) for each in value.amounts)
    )


def _evaluate_moment(working: str, told: Sequence[Value]) -> list[Value]:
    """Evaluate a time or a date that a length of time is added to."""
    from guardgraph.grounding.values import find_support

    left, sign, right = working.rpartition("=")
    match = _MOMENT.match(left.strip())
    if not sign or match is None:
        return []
    begin, length, end = (scan_text(part.strip(), "en") for part in (match[1], match[3], right))
    if not (len(begin) == len(length) == len(end) == 1) or begin[0].kind not in ("date", "time"):
        return []
    if find_support(begin[0], told) is None or not any(
        _is_stated(length[0].said[0], value) for value in told if length[0].said
    ):
        return []
    amount = length[0].amounts[0] * (1 if match[2] == "+" else -1)
    if begin[0].kind == end[0].kind == "time" and length[0].unit == "second":
        minutes = {(each + amount / 60) % 1440 for each in begin[0].amounts}
        return [end[0]] if minutes & set(end[0].amounts) else []
    if begin[0].kind == end[0].kind == "date" and length[0].unit in ("second", "calendar"):
        reached = [_move_date(date, amount, length[0].unit) for date in begin[0].dates]
        return [end[0]] if any(date is not None and date in end[0].dates for date in reached) else []
    return []


def _move_date(date: tuple[int, int, int, int], amount: float, unit: str) -> tuple[int, int, int, int] | None:
    year, _, month, day = date
    if not (year and month and day):
        return None
    try:
        if unit == "calendar":
            months = year * 12 + month - 1 + int(amount)
            moved = datetime(months // 12, months % 12 + 1, day)
        else:
            moved = datetime(year, month, day) + timedelta(seconds=amount)
    except (ValueError, OverflowError):
        return None
    return moved.year, moved.year, moved.month, moved.day
