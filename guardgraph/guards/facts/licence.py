"""When one number licenses another: each question is answered by looking up a few keys, however much is licensed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from guardgraph.guards.facts.moments import Date, Undated, Weekday
from guardgraph.guards.facts.values import Bound, Key, Named, Number, Quantity, Value

__all__ = ["Licence"]

_ANY: Final = 3
_SIDES: Final[dict[Bound, int]] = {"": _ANY, "least": 1, "most": 2}
"""Which sides of an amount a bound leaves open: only opposite bounds conflict."""


class Licence:
    """The numbers that may be said, indexed so that each question is answered in constant time."""

    def __init__(self, numbers: Iterable[Number] = (), undated: Iterable[Undated] = ()) -> None:
        self._given: dict[Key, int] = {}
        self._years: dict[tuple[int, int | None], list[frozenset[int]]] = {}
        for number in numbers:
            for value in number.readings:
                self._add(value)
        for source in undated:
            for day in source.days:
                self._years.setdefault(day, []).append(source.years)

    def _add(self, value: Value) -> None:
        sides = _SIDES[value.bound] if isinstance(value, Quantity) else _ANY
        given = self._given
        for key in value.gives():
            given[key] = given.get(key, 0) | sides

    def covers(self, number: Number) -> bool:
        """Say whether at least one meaning of the number is licensed."""
        return any(self._covers(value) for value in number.readings)

    def _covers(self, value: Value) -> bool:
        sides = _SIDES[value.bound] if isinstance(value, Quantity) else _ANY
        if any(self._given.get(key, 0) & sides for key in value.needs()):
            return True
        if isinstance(value, Named | Weekday) and (excuse := value.excuse()):
            return excuse.absent not in self._given and (excuse.given is None or excuse.given in self._given)
        if not isinstance(value, Date) or value.year is None or value.month is None:
            return False
        return any(value.year in years for years in self._years.get((value.month, value.day), ()))
