"""When one number licenses another: each question is answered by looking up a few keys, however much is licensed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from guardgraph.guards.facts.moments import Date, Undated, Weekday
from guardgraph.guards.facts.values import Bound, Key, Named, Number, Quantity, Value

Given: TypeAlias = "Mapping[Key, int]"
"""What numbers license: by the key, the sides of an amount that stay open."""

_ANY: Final = 3
_SIDES: Final[dict[Bound, int]] = {"": _ANY, "least": 1, "most": 2}
"""Which sides of an amount a bound leaves open: only opposite bounds conflict."""


def index_licensed_numbers(numbers: Iterable[Number]) -> Given:
    """Return what numbers license."""
    given: dict[Key, int] = {}
    for number in numbers:
        for value in number.readings:
            sides = _SIDES[value.bound] if isinstance(value, Quantity) else _ANY
            for key in value.list_licensed_keys():
                given[key] = given.get(key, 0) | sides
    return given


class NumberLicence:
    """The numbers that may be said, indexed so that each question is answered by looking up a few keys.

    Args:
        given: what the numbers of each text license.
        undated: the days without a year of each source.
    """

    def __init__(self, given: Sequence[Given] = (), undated: Iterable[Undated] = ()) -> None:
        self._given = given
        self._years: dict[tuple[int, int | None], list[frozenset[int]]] = {}
        for source in undated:
            for day in source.days:
                self._years.setdefault(day, []).append(source.years)

    def covers_number(self, number: Number) -> bool:
        """Say whether at least one meaning of the number is licensed."""
        return any(self._covers_number_value(value) for value in number.readings)

    def _covers_number_value(self, value: Value) -> bool:
        sides = _SIDES[value.bound] if isinstance(value, Quantity) else _ANY
        needed = value.list_needed_keys()
        if any(given.get(key, 0) & sides for given in self._given for key in needed):
            return True
        if isinstance(value, Named | Weekday) and (excuse := value.find_licence_excuse()):
            return not self._has_licence_key(excuse.absent) and (
                excuse.given is None or self._has_licence_key(excuse.given)
            )
        if not isinstance(value, Date) or value.year is None or value.month is None:
            return False
        return any(value.year in years for years in self._years.get((value.month, value.day), ()))

    def _has_licence_key(self, key: Key) -> bool:
        return any(key in given for given in self._given)
