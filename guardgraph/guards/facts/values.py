"""What a number in a text can mean, and when one number licenses another.

Each type of value says two things as keys: what it licenses (`list_licensed_keys`), and of what one must be licensed
before it may be said (`list_needed_keys`). A value is supported where the two meet, so that a question is answered by
looking up a few keys, however much is licensed. Amounts and labels come first, then dates and times of day with what
one source says about its days without a year, then the licence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

Amount: TypeAlias = Fraction | int
"""An exact number; an int where it is whole, which compares and hashes much faster."""

Key: TypeAlias = Hashable
Counted: TypeAlias = Literal["", "perhaps", "surely"]
"""Whether a noun that is no unit follows an amount: "23 players" surely, "23 caminando" perhaps."""

Bound: TypeAlias = Literal["", "least", "most"]
"""How an amount is bounded: "at least 5" and "more than 5" are "least", "at most 5" and "under 5" are "most"."""

RATIO: Final = "ratio"
"""The dimension of shares and percentages."""


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

    def convert_to_base(self, amount: Amount) -> Amount:
        """Convert an amount to the base of the dimension."""
        return amount * self.factor + self.zero


BARE: Final = Unit("", 1)
"""No unit."""


_LENGTHS: Final = frozenset({"time", "calendar"})
"""Dimensions of lengths of time."""


class Quantity(NamedTuple):
    """An amount as written (27 in "27%", 3400000 in "3.4 million"), and what it measures or counts.

    A bare amount licenses the same amount of anything. A counted one ("23 players") licenses the amount bare and
    of anything counted, but in no unit. One with a unit licenses the same in its dimension, and the amount bare.
    """

    amount: Amount
    unit: Unit = BARE
    counted: Counted = ""
    per: Unit | None = None
    """What a rate is for: the hour of "$5 per hour"."""
    also_per: Unit | None = None
    """What it is for, too: the month of "$8 per user per month"."""
    bound: Bound = ""
    otherwise: bool = False
    """Whether it is read in the way of the other half of the world: 1,600 is 1.6 in Spain."""

    @property
    def base(self) -> Amount:
        """The amount in the unit that others of its kind are measured in."""
        return self.unit.convert_to_base(self.amount)

    @property
    def speed(self) -> Amount | None:
        """Metres a second of "60 mph" and "97 km/h"; None of what is no speed."""
        kind, amount = (
            (self.unit.dimension, self.base) if self.per is None else self._make_rate_key(self.amount, self.per)
        )
        return amount if kind == "meter/time" else None

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield from self._list_amount_keys(self.amount)
        # "fell by 5%" carries the sign in words; on a scale with a zero of its own, -5 °C is no 5 °C.
        if self.amount.numerator < 0 and not self.unit.zero:
            yield from self._list_amount_keys(-self.amount)

    def _is_length_in_longer(self) -> bool:
        """Say whether it is a length of time in each longer one; 5 m/s is read as minutes, too, and is none."""
        if self.per is None or not {self.unit.dimension, self.per.dimension} <= _LENGTHS:
            return False
        return self.unit.dimension != self.per.dimension or self.unit.convert_to_base(1) < self.per.convert_to_base(1)

    def _list_amount_keys(self, amount: Amount) -> Iterator[Key]:
        yield "=", amount
        if self.per is not None:
            yield self._make_rate_key(amount, self.per)
            yield self._make_whole_rate_key(amount)
            if self.also_per is not None:
                yield self._make_rate_key(amount, self.also_per)
            if self.unit == BARE:
                yield "#", amount
            elif self.unit.dimension.isupper() or self.per.dimension.startswith("~") or self._is_length_in_longer():
                # "$5 per month" also says $5, "2 kWh per cycle" 2 kWh, "8 hours a day" 8 hours, and 60 km/h no 60 km
                yield self.unit.dimension, self.unit.convert_to_base(amount)
        elif self.unit != BARE:
            yield self._make_unconverted_key(amount)
            if not self.otherwise:
                yield self.unit.dimension, self.unit.convert_to_base(amount)
        else:
            yield "#", amount
            if not self.counted:
                yield "?", amount
                if 0 < amount.numerator < amount.denominator:
                    yield RATIO, amount

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        if self.per is not None and self.also_per is not None:
            # What says "$8 per user" alone leaves open for how long.
            open_keys = (self._make_open_rate_key(self.amount, per) for per in (self.per, self.also_per))
            return self._make_whole_rate_key(self.amount), *open_keys, ("?", self.amount)
        if self.per is not None:
            return self._make_rate_key(self.amount, self.per), ("?", self.amount)
        if self.unit == BARE:
            return (("#" if self.counted == "surely" else "=", self.amount),)
        same = (self._make_unconverted_key(self.amount), ("?", self.amount))
        # "1,600 m" is 1.6 m or 1600 m; if it were both at once, it would also be "1,600 km".
        return same if self.otherwise else ((self.unit.dimension, self.unit.convert_to_base(self.amount)), *same)

    def _make_unconverted_key(self, amount: Amount) -> Key:
        return self.unit.dimension, self.unit.factor, amount

    def _make_rate_key(self, amount: Amount, per: Unit) -> tuple[str, Amount]:
        return f"{self.unit.dimension}/{per.dimension}", amount * self.unit.factor / Fraction(per.factor)

    def _make_whole_rate_key(self, amount: Amount) -> tuple[str, Amount]:
        if self.per is None or self.also_per is None:
            return self._make_open_rate_key(amount, self.per or BARE)
        kinds = sorted((self.per.dimension, self.also_per.dimension))
        return self._make_rate_key(amount, Unit(" ".join(kinds), Fraction(self.per.factor) * self.also_per.factor))

    def _make_open_rate_key(self, amount: Amount, per: Unit) -> tuple[str, Amount]:
        return self._make_rate_key(amount, per._replace(dimension=f"{per.dimension} ?"))


class Ordinal(NamedTuple):
    """A place in an order: "5th", "fifth". It is no amount."""

    place: int
    kind: Literal["ordinal"] = "ordinal"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield "ordinal", self.place

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        return (("ordinal", self.place),)


class Named(NamedTuple):
    """A number that belongs to the name before it: "World War II", "Apollo 11".

    It is another thing where the source has the name with other numbers only. Where the source has the name
    without any, a Roman numeral is a part of the name, and digits are supported as a number is.
    """

    name: str
    number: int
    roman: bool = False
    counted: Counted = ""
    kind: Literal["named"] = "named"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield from (("named", self.name, self.number), ("numbered", self.name), ("ordinal", self.number))
        yield from (("=", self.number), ("#", self.number)) if self.counted else (("=", self.number),)

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        return (("named", self.name, self.number),)

    def find_licence_excuse(self) -> Excuse:
        """Return when it is no other thing though it is not licensed."""
        return Excuse(
            ("numbered", self.name), None if self.roman else ("#" if self.counted == "surely" else "=", self.number)
        )


class Label(NamedTuple):
    """A number that tells one thing of a kind from another: "Section 4.2", "version 3.10", "third quarter"."""

    of: str
    number: str
    """As written, for 3.10 is not 3.1."""
    amount: Amount | None = None
    """The same as an amount, where it is one."""

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield "label", self.of, self.number
        yield "written", self.number
        if self.of == "version":
            yield "dotted", self.number
        if self.amount is not None:
            yield "=", self.amount
            yield "ordinal", self.amount

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        same = ("label", self.of, self.number)
        return (same, ("dotted", self.number)) if self.of == "version" and "." in self.number else (same,)


class Identifier(NamedTuple):
    """What tells one document, ticket or thing from all others, without case and signs: "cve20241234"."""

    name: str
    joined: tuple[str, str] | None = None
    """The letters and the number of one that is also written with a blank between them: JDK21."""
    kind: Literal["identifier"] = "identifier"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield "identifier", self.name
        if self.joined is not None:
            yield from (self._make_joined_key(*self.joined), ("numbered", self.joined[0]))

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        same = ("identifier", self.name)
        return (same,) if self.joined is None else (same, self._make_joined_key(*self.joined))

    @staticmethod
    def _make_joined_key(letters: str, number: str) -> Key:
        return ("label", "version", number) if "." in number else ("named", letters, int(number))


class Written(NamedTuple):
    """Characters that are no plain number, compared as they stand: "24/7", a telephone number."""

    text: str
    kind: Literal["written"] = "written"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield "written", self.text
        yield "dotted", self.text

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        return (("written", self.text),)


class Value(Protocol):
    """One meaning of a number."""

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""


class Number(NamedTuple):
    """One number of a text: how it was written and what it can mean ("5m": minutes, metres or millions)."""

    shown: str
    readings: tuple[Value, ...]


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


class DaySpan(NamedTuple):
    """Days of the week in a row: "Monday to Friday". It licenses the ends of the same span, and no single day."""

    first: int
    last: int
    kind: Literal["days"] = "days"

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield "days", self.first, self.last

    def list_needed_keys(self) -> tuple[Key, ...]:
        """Return the keys of which one must be licensed."""
        return (("days", self.first, self.last),)


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
