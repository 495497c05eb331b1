"""What a number in a text can mean, and when one number licenses another.

Each type of value says two things as keys: what it licenses (`list_licensed_keys`), and of what one must be licensed
before it may be said (`list_needed_keys`). A value is supported where the two meet, so that a question is answered by
looking up a few keys, however much is licensed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
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
    bound: Bound = ""
    otherwise: bool = False
    """Whether it is read in the way of the other half of the world: 1,600 is 1.6 in Spain."""

    def list_licensed_keys(self) -> Iterator[Key]:
        """Yield the keys of what it licenses."""
        yield from self._list_amount_keys(self.amount)
        # "fell by 5%" carries the sign in words; on a scale with a zero of its own, -5 °C is no 5 °C.
        if self.amount.numerator < 0 and not self.unit.zero:
            yield from self._list_amount_keys(-self.amount)

    def _list_amount_keys(self, amount: Amount) -> Iterator[Key]:
        yield "=", amount
        if self.per is not None:
            yield self._make_rate_key(amount, self.per)
            if self.unit == BARE:
                yield "#", amount
            elif self.unit.dimension.isupper():  # "$5 per month" also says $5, and 60 km/h no 60 km
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
        if self.per is not None:
            return self._make_rate_key(self.amount, self.per), ("?", self.amount)
        if self.unit == BARE:
            return (("#" if self.counted == "surely" else "=", self.amount),)
        same = (self._make_unconverted_key(self.amount), ("?", self.amount))
        # "1,600 m" is 1.6 m or 1600 m; if it were both at once, it would also be "1,600 km".
        return same if self.otherwise else ((self.unit.dimension, self.unit.convert_to_base(self.amount)), *same)

    def _make_unconverted_key(self, amount: Amount) -> Key:
        return self.unit.dimension, self.unit.factor, amount

    def _make_rate_key(self, amount: Amount, per: Unit) -> Key:
        return f"{self.unit.dimension}/{per.dimension}", amount * self.unit.factor / Fraction(per.factor)


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
