"""Moments: dates, decades, weekdays and times of day, and what one source says about its days without a year."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, Literal, NamedTuple

from guardgraph.guards.facts.values import Excuse, Key, Number

YEARS: Final = range(1000, 3000)
"""Whole numbers that can be a year, and so lie in a decade."""


class Date(NamedTuple):
    """A day, a month or a year, with None for what is not said. It licenses its coarser forms."""

    year: int | None
    month: int | None = None
    day: int | None = None
    kind: Literal["date"] = "date"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        year, month, day = self[:3]
        yield "date", year, month, day
        if month is not None:
            yield from (("date", year, month, None), ("date", None, month, day), ("date", None, month, None))
        if day is not None:
            yield "day", day
        if year is not None:
            yield from (("=", year), ("date", year, None, None))
            yield from Decade(year // 10).list_licensed_keys()
            if month is not None and day is not None:
                yield from _find_date_weekday(year, month, day)

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        if self.month is None:
            return (("=", self.year),) if self.day is None else (("day", self.day),)
        return (("date", *self[:3]),)


def _find_date_weekday(year: int, month: int, day: int) -> Iterator[Key]:
    try:
        yield "weekday", date(year, month, day).isoweekday()
    except ValueError:  # no such day
        return


class Decade(NamedTuple):
    """Ten years, by the year without its last digit; a `short` one ("the 90s") by a single digit, of any century."""

    number: int
    short: bool = False
    kind: Literal["decade"] = "decade"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield "decade", self.number % 10
        yield ("any decade" if self.short else "full decade"), self.number

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        if self.short:
            return (("decade", self.number),)
        return ("full decade", self.number), ("any decade", self.number % 10)


class Clock(NamedTuple):
    """A time of day. Without a zone it fits any; said to the second, it licenses its minute."""

    second: int
    """Since midnight."""
    exact: bool = False
    """Whether it is said to the second."""
    zone: str = ""
    ahead: tuple[int, ...] = ()
    """Minutes ahead of UTC, of each zone that has the name."""
    kind: Literal["clock"] = "clock"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        for exact in (True, False):
            yield self._make_clock_key("clock", 0, exact)
            if not self.zone:
                yield self._make_clock_key("local", 0, exact)
            yield self._make_clock_key(self.zone, 0, exact)
            for ahead in self.ahead:
                yield self._make_clock_key("utc" if len(self.ahead) == 1 else "perhaps utc", ahead, exact)
            yield from (self._make_clock_key("likely utc", ahead, exact) for ahead in self.ahead[:1])

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        if not self.zone:
            return (self._make_clock_key("clock", 0, self.exact),)
        zoned = [self._make_clock_key("utc", ahead, self.exact) for ahead in self.ahead]
        # Two names that several zones share (CST and PST) are compared by the zone that each names first.
        other = "perhaps utc" if len(self.ahead) == 1 else "likely utc"
        zoned += [self._make_clock_key(other, ahead, self.exact) for ahead in self.ahead[:1]]
        return self._make_clock_key("local", 0, self.exact), self._make_clock_key(self.zone, 0, self.exact), *zoned

    def _make_clock_key(self, name: str, ahead: int, exact: bool) -> Key:
        second = (self.second - ahead * 60) % 86_400
        return name, exact, second if exact else second // 60


class Weekday(NamedTuple):
    """A day of the week, Monday 1 to Sunday 7. Beside a date, any fits a source that names none."""

    number: int
    dated: bool = False
    kind: Literal["weekday"] = "weekday"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield from (("weekday", self.number), ("weekdays",))

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        return (("weekday", self.number),)

    def find_licence_excuse(self) -> Excuse | None:
        """Return when it is no other thing though it is not licensed."""
        return Excuse(("weekdays",)) if self.dated else None


class Undated(NamedTuple):
    """What one source says about time in several places: its days without a year, and the years that it names."""

    days: frozenset[tuple[int, int | None]]
    """Month and day, None for a month alone."""
    years: frozenset[int]


def collect_undated_days(numbers: Iterable[Number]) -> frozenset[Undated]:
    """Collect the days without a year, and the years, that a source names; nothing where it has neither."""
    days: set[tuple[int, int | None]] = set()
    years: set[int] = set()
    for number in numbers:
        for value in number.readings:
            if isinstance(value, Date):
                if value.year is not None:
                    years.add(value.year)
                elif value.month is not None:
                    days.add((value.month, value.day))
    return frozenset([Undated(frozenset(days), frozenset(years))]) if days or years else frozenset()


def unite_undated_days(parts: Iterable[Undated]) -> frozenset[Undated]:
    """Put together what several texts of one source say about time."""
    listed = list(parts)
    if len(listed) < 2:
        return frozenset(listed)
    days, years = zip(*listed, strict=True)
    return frozenset([Undated(frozenset().union(*days), frozenset().union(*years))])
