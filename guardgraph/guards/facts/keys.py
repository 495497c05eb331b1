"""What a number under a key of JSON says: the key names its unit, or what it counts."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from guardgraph.guards.facts.grammar import LABELS
from guardgraph.guards.facts.references import make_number_label
from guardgraph.guards.facts.tokens import MAX_DIGITS, read_number_token
from guardgraph.guards.facts.units import FRACTION, PERCENT, find_units, read_key_unit
from guardgraph.guards.facts.values import BARE, YEARS, Amount, Counted, Date, Number, Quantity, Unit, Value, Written
from guardgraph.guards.stop import shown_name
from guardgraph.plain.json import JsonValue
from guardgraph.plain.memory import remember_by_text

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COUNTING: Final = frozenset({"count", "counts", "num", "number", "no"})
_NO_NOUNS: Final = ("ss", "us", "is")
"""Endings of words that look like plurals: "progress", "status", "analysis"."""


class Meaning(NamedTuple):
    """What the numbers under a key are."""

    unit: Unit = BARE
    counted: Counted = ""
    per: Unit | None = None
    of: str = ""
    """The kind of thing that they label."""


NO_KEY: Final = Meaning()


@remember_by_text(texts=1024, chars=64)
def read_number_meaning(key: str) -> Meaning:
    """Read what the numbers under a key are.

    Args:
        key: such as ``"eta_minutes"``, ``"failureRate"``, ``"affected_users"``, ``"alerts_per_hour"``, ``"version"``.
    """
    words = [word.lower() for word in _WORD.findall(key)]
    if "per" in words:
        at = words.index("per")
        units = find_units("_".join(words[at + 1 :]))
        return read_number_meaning("_".join(words[:at]))._replace(per=units[0] if units else None)
    if (unit := read_key_unit(key)) is not None:
        return Meaning(unit)
    if not words:
        return NO_KEY
    if words[-1] in LABELS and not words[-1].endswith("s"):
        return Meaning(of=LABELS[words[-1]])
    plural = len(words[-1]) > 3 and words[-1].endswith("s") and not words[-1].endswith(_NO_NOUNS)
    counts = plural or words[-1] in _COUNTING or (len(words) > 1 and words[0] in _COUNTING)
    return Meaning(counted="surely" if counts else "")


def read_json_number(value: JsonValue, meaning: Meaning) -> Number | None:
    """Read a number of a JSON value.

    Args:
        value: an int of any size, a float (NaN and the infinities are no numbers), or a string that is one.
        meaning: what its key says. A share of one is also read as the percentage that it is.

    Returns:
        The number, or None where the value is none.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > MAX_DIGITS * 3:
        return Number(shown_name(hex(value)), (Written(hex(value)),))
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    if isinstance(value, str) and value[:1].isalpha():
        return None  # as most texts are
    text = str(value).strip()
    amount = value if type(value) is int else _read_signed_amount(text)
    return Number(shown_name(text), tuple(_list_number_readings(amount, text, meaning))) if amount is not None else None


def _list_number_readings(amount: Amount, text: str, meaning: Meaning) -> list[Value]:
    if meaning.of:
        return [make_number_label(meaning.of, text)]
    unit = BARE if meaning.unit == FRACTION and not -1 <= amount <= 1 else meaning.unit
    readings: list[Value] = [Quantity(amount, unit, meaning.counted, meaning.per)]
    if unit == FRACTION:
        readings.append(Quantity(amount * 100, PERCENT))
    elif meaning == NO_KEY and isinstance(amount, int) and amount in YEARS:
        readings.append(Date(amount))
    return readings


def _read_signed_amount(text: str) -> Amount | None:
    digits = text.lstrip("-")
    amount, suffix = (read_number_token(digits) if digits[:1].isdecimal() else None) or (None, "")
    if amount is None or suffix:
        return None
    return -amount if text.startswith("-") else amount
