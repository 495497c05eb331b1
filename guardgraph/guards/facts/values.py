"""What a number in a text can mean, and when one number licenses another."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["BARE", "Amount", "Licence", "Mark", "Number", "Quantity", "Unit", "Value"]

Amount: TypeAlias = Fraction | int
"""An exact number; an int where it is whole, which compares and hashes much faster."""

YEARS = range(1000, 3000)
"""Whole numbers that can be a year, and so lie in a decade."""


class Unit(NamedTuple):
    """A unit of measure: amounts of one dimension compare after multiplication by `factor`."""

    dimension: str
    factor: Amount


BARE = Unit("", 1)
"""No unit: a count, or a unit that the tables do not know."""


class Quantity(NamedTuple):
    """An amount as written (27 in "27%", 3400000 in "3.4 million") and its unit."""

    amount: Amount
    unit: Unit


class Mark(NamedTuple):
    """A value that is compared and never converted.

    ``date`` is (year, month, day) with None for what is not said, ``clock`` seconds since midnight,
    ``decade`` a year divided by ten (9 for "the 90s"), ``ordinal`` a place, ``written`` the characters of what
    is no plain number.
    """

    kind: Literal["date", "clock", "decade", "ordinal", "written"]
    value: tuple[int | None, int | None, int | None] | int | str


Value: TypeAlias = Quantity | Mark


class Number(NamedTuple):
    """One number of a text: how it was written and what it can mean ("5m": minutes, metres or millions)."""

    shown: str
    readings: tuple[Value, ...]


class Licence:
    """The numbers that may be said, indexed so that each question is answered in constant time.

    A bare number is licensed by the same amount as written, whatever its unit; a number with a unit by the
    same unit, converted, or by a bare number. A date licenses its coarser forms (month, year, decade). A
    negative number licenses its amount too, for words ("fell by 5%") can carry the sign.
    """

    def __init__(self, numbers: Iterable[Number] = ()) -> None:
        self._written: set[Amount] = set()
        self._bare: set[Amount] = set()
        self._measured: set[tuple[str, Amount]] = set()
        self._marks: set[Mark] = set()
        for number in numbers:
            for value in number.readings:
                self._add(value)

    def covers(self, number: Number) -> bool:
        """Say whether at least one meaning of the number is licensed."""
        return any(self._covers(value) for value in number.readings)

    def _covers(self, value: Value) -> bool:
        if isinstance(value, Mark):
            return value in self._marks
        amount, unit = value
        if unit == BARE:
            return amount in self._written
        return amount in self._bare or (unit.dimension, amount * unit.factor) in self._measured

    def _add(self, value: Value) -> None:
        if isinstance(value, Quantity):
            self._add_amount(value.amount, value.unit)
            if value.amount.numerator < 0:
                self._add_amount(-value.amount, value.unit)
            return
        self._marks.add(value)
        if value.kind == "date" and isinstance(value.value, tuple):
            self._add_date(*value.value)

    def _add_amount(self, amount: Amount, unit: Unit) -> None:
        self._written.add(amount)
        if unit != BARE:
            self._measured.add((unit.dimension, amount * unit.factor))
            return
        self._bare.add(amount)
        if 0 < amount.numerator < amount.denominator:
            self._measured.add(("ratio", amount))
        if amount.denominator == 1 and amount.numerator in YEARS:
            self._add_decade(amount.numerator)

    def _add_date(self, year: int | None, month: int | None, day: int | None) -> None:
        self._marks.update((Mark("date", (year, month, None)), Mark("date", (None, month, day))))
        if year is not None:
            self._written.add(year)
            self._add_decade(year)

    def _add_decade(self, year: int) -> None:
        self._marks.update((Mark("decade", year // 10), Mark("decade", year // 10 % 10)))
