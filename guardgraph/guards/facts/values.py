"""What a number in a text can mean, and when one number licenses another.

Each type of value says two things as keys: what it licenses (`gives`), and of what one must be licensed before it
may be said (`needs`). A value is supported where the two meet, so that a question is answered by looking up a few
keys, however much is licensed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from datetime import date
from fractions import Fraction
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

__all__ = [
    "BARE",
    "RATIO",
    "Amount",
    "Bound",
    "Clock",
    "Date",
    "Decade",
    "Identifier",
    "Label",
    "Licence",
    "Named",
    "Number",
    "Ordinal",
    "Quantity",
    "Undated",
    "Unit",
    "Value",
    "Weekday",
    "Written",
    "one_source",
    "undated_in",
]

Amount: TypeAlias = Fraction | int
"""An exact number; an int where it is whole, which compares and hashes much faster."""

Key: TypeAlias = Hashable
Bound: TypeAlias = Literal["", "least", "most"]
"""How an amount is bounded: "at least 5" and "more than 5" are "least", "at most 5" and "under 5" are "most"."""

YEARS: Final = range(1000, 3000)
"""Whole numbers that can be a year, and so lie in a decade."""

RATIO: Final = "ratio"
"""The dimension of shares and percentages."""

_ANY, _LEAST, _MOST = 3, 1, 2
_SIDES: Final[dict[Bound, int]] = {"": _ANY, "least": _LEAST, "most": _MOST}


class Excuse(NamedTuple):
    """When a value is no other thing though it is not licensed: where one key is absent and another given."""

    absent: Key
    given: Key | None = None


class Unit(NamedTuple):
    """A unit of measure: amounts of one dimension compare after conversion to its base."""

    dimension: str
    factor: Amount
    zero: Amount = 0
    """Where its scale begins, in the base: 273.15 kelvin for degrees Celsius."""

    def base(self, amount: Amount) -> Amount:
        """Convert an amount to the base of the dimension."""
        return amount * self.factor + self.zero


BARE: Final = Unit("", 1)
"""No unit."""


class Quantity(NamedTuple):
    """An amount as written (27 in "27%", 3400000 in "3.4 million"), and what it measures or counts.

    A bare amount licenses the same amount of anything. A counted one ("23 players") licenses the amount bare and
    of anything counted, but in no unit. One with a unit licenses the same in its dimension, and the amount bare.
    """

    amount: Amount
    unit: Unit = BARE
    counted: bool = False
    """Whether a noun that is no unit follows."""
    per: Unit | None = None
    """What a rate is for: the hour of "$5 per hour"."""
    bound: Bound = ""

    def gives(self) -> Iterator[Key]:
        yield from self._gives(self.amount)
        if self.amount.numerator < 0:  # "fell by 5%" carries the sign in words
            yield from self._gives(-self.amount)

    def _gives(self, amount: Amount) -> Iterator[Key]:
        yield "=", amount
        if self.per is not None:
            yield self._rate(amount, self.per)
            if self.unit == BARE:
                yield "#", amount
            elif self.unit.dimension.isupper():  # "$5 per month" also says $5, and 60 km/h no 60 km
                yield self.unit.dimension, self.unit.base(amount)
        elif self.unit != BARE:
            yield self.unit.dimension, self.unit.base(amount)
        else:
            yield "#", amount
            if not self.counted:
                yield "?", amount
                if 0 < amount.numerator < amount.denominator:
                    yield RATIO, amount

    def needs(self) -> tuple[Key, ...]:
        if self.per is not None:
            return self._rate(self.amount, self.per), ("?", self.amount)
        if self.unit != BARE:
            return (self.unit.dimension, self.unit.base(self.amount)), ("?", self.amount)
        return (("#" if self.counted else "=", self.amount),)

    def _rate(self, amount: Amount, per: Unit) -> Key:
        return f"{self.unit.dimension}/{per.dimension}", amount * self.unit.factor / Fraction(per.factor)


class Date(NamedTuple):
    """A day, a month or a year, with None for what is not said. It licenses its coarser forms."""

    year: int | None
    month: int | None = None
    day: int | None = None
    kind: Literal["date"] = "date"

    def gives(self) -> Iterator[Key]:
        year, month, day = self[:3]
        yield "date", year, month, day
        if month is not None:
            yield from (("date", year, month, None), ("date", None, month, day), ("date", None, month, None))
        if day is not None:
            yield "day", day
        if year is not None:
            yield from (("=", year), ("date", year, None, None))
            yield from Decade(year // 10).gives()
            if month is not None and day is not None:
                yield from _weekday_of(year, month, day)

    def needs(self) -> tuple[Key, ...]:
        if self.month is None:
            return (("=", self.year),) if self.day is None else (("day", self.day),)
        return (("date", *self[:3]),)


def _weekday_of(year: int, month: int, day: int) -> Iterator[Key]:
    try:
        yield "weekday", date(year, month, day).isoweekday()
    except ValueError:  # no such day
        return


class Decade(NamedTuple):
    """Ten years, by the year without its last digit; a `short` one ("the 90s") by a single digit."""

    number: int
    short: bool = False
    kind: Literal["decade"] = "decade"

    def gives(self) -> Iterator[Key]:
        yield "decade", self.number % 10
        yield ("any decade" if self.short else "full decade"), self.number

    def needs(self) -> tuple[Key, ...]:
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

    def gives(self) -> Iterator[Key]:
        for exact in (True, False):
            yield self._key("clock", 0, exact)
            if not self.zone:
                yield self._key("local", 0, exact)
            yield self._key(self.zone, 0, exact)
            for ahead in self.ahead:
                yield self._key("utc" if len(self.ahead) == 1 else "perhaps utc", ahead, exact)
            yield from (self._key("likely utc", ahead, exact) for ahead in self.ahead[:1])

    def needs(self) -> tuple[Key, ...]:
        if not self.zone:
            return (self._key("clock", 0, self.exact),)
        zoned = [self._key("utc", ahead, self.exact) for ahead in self.ahead]
        # Two names that several zones share (CST and PST) are compared by the zone that each names first.
        other = "perhaps utc" if len(self.ahead) == 1 else "likely utc"
        zoned += [self._key(other, ahead, self.exact) for ahead in self.ahead[:1]]
        return self._key("local", 0, self.exact), self._key(self.zone, 0, self.exact), *zoned

    def _key(self, name: str, ahead: int, exact: bool) -> Key:
        second = (self.second - ahead * 60) % 86_400
        return name, exact, second if exact else second // 60


class Weekday(NamedTuple):
    """A day of the week, Monday 1 to Sunday 7. Beside a date, any fits a source that names none."""

    number: int
    dated: bool = False
    kind: Literal["weekday"] = "weekday"

    def gives(self) -> Iterator[Key]:
        yield from (("weekday", self.number), ("weekdays",))

    def needs(self) -> tuple[Key, ...]:
        return (("weekday", self.number),)

    def excuse(self) -> Excuse | None:
        return Excuse(("weekdays",)) if self.dated else None


class Ordinal(NamedTuple):
    """A place in an order: "5th", "fifth". It is no amount."""

    place: int
    kind: Literal["ordinal"] = "ordinal"

    def gives(self) -> Iterator[Key]:
        yield "ordinal", self.place

    def needs(self) -> tuple[Key, ...]:
        return (("ordinal", self.place),)


class Named(NamedTuple):
    """A number that belongs to the name before it: "World War II", "Apollo 11".

    It is another thing where the source has the name with other numbers only. Where the source has the name
    without any, a Roman numeral is a part of the name, and digits are supported as a number is.
    """

    name: str
    number: int
    roman: bool = False
    counted: bool = False
    kind: Literal["named"] = "named"

    def gives(self) -> Iterator[Key]:
        yield from (("named", self.name, self.number), ("numbered", self.name), ("ordinal", self.number))
        yield from (("=", self.number), ("#", self.number)) if self.counted else (("=", self.number),)

    def needs(self) -> tuple[Key, ...]:
        return (("named", self.name, self.number),)

    def excuse(self) -> Excuse:
        return Excuse(("numbered", self.name), None if self.roman else ("#" if self.counted else "=", self.number))


class Label(NamedTuple):
    """A number that tells one thing of a kind from another: "Section 4.2", "version 3.10", "third quarter"."""

    of: str
    number: str
    """As written, for 3.10 is not 3.1."""
    amount: Amount | None = None
    """The same as an amount, where it is one."""

    def gives(self) -> Iterator[Key]:
        yield "label", self.of, self.number
        yield "written", self.number
        if self.amount is not None:
            yield "=", self.amount
            yield "ordinal", self.amount

    def needs(self) -> tuple[Key, ...]:
        return (("label", self.of, self.number),)


class Identifier(NamedTuple):
    """What tells one document, ticket or thing from all others, without case and signs: "cve20241234"."""

    name: str
    kind: Literal["identifier"] = "identifier"

    def gives(self) -> Iterator[Key]:
        yield "identifier", self.name

    def needs(self) -> tuple[Key, ...]:
        return (("identifier", self.name),)


class Written(NamedTuple):
    """Characters that are no plain number, compared as they stand: "24/7", a telephone number."""

    text: str
    kind: Literal["written"] = "written"

    def gives(self) -> Iterator[Key]:
        yield "written", self.text

    def needs(self) -> tuple[Key, ...]:
        return (("written", self.text),)


class Value(Protocol):
    """One meaning of a number."""

    def gives(self) -> Iterator[Key]: ...

    def needs(self) -> tuple[Key, ...]: ...


class Number(NamedTuple):
    """One number of a text: how it was written and what it can mean ("5m": minutes, metres or millions)."""

    shown: str
    readings: tuple[Value, ...]


class Undated(NamedTuple):
    """What one source says about time in several places: its days without a year, and the years that it names."""

    days: frozenset[tuple[int, int | None]]
    """Month and day, None for a month alone."""
    years: frozenset[int]


def undated_in(numbers: Iterable[Number]) -> frozenset[Undated]:
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


def one_source(parts: Iterable[Undated]) -> frozenset[Undated]:
    """Put together what several texts of one source say about time."""
    listed = list(parts)
    if len(listed) < 2:
        return frozenset(listed)
    days, years = zip(*listed, strict=True)
    return frozenset([Undated(frozenset().union(*days), frozenset().union(*years))])


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
