"""The accounts of tenants in a store's database: tables beside the chain, which is no evidence of what was spent."""

# A charge is one conditional update: it adds to what is reserved only where what is spent and reserved leaves room, so
# however many processes ask at once, no account comes above its limit. What a dead process reserved is taken back by
# whoever finds no room.

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time
from typing import Any, Final, TypeVar
from uuid import uuid4
from weakref import WeakSet

from sqlalchemy import BigInteger, Column, Connection, Engine, Float, Index, MetaData, String, Table, Text, text

from guardgraph.evidence.sql.database import StoreDatabase
from guardgraph.world.tenants import Account, Balance, Charge, Overdrawn, Reserved

T = TypeVar("T")

_METADATA: Final = MetaData()

_KEY: Final = ("tenant", "period", "unit")

ACCOUNTS: Final = Table(
    "guardgraph_accounts",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("period", String(10), primary_key=True),
    Column("unit", String(40), primary_key=True),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("lapsed", BigInteger, nullable=False),
)
"""What stands in each account."""

RESERVED: Final = Table(
    "guardgraph_reserved",
    _METADATA,
    Column("id", String(36), primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("period", String(10), primary_key=True),
    Column("unit", String(40), primary_key=True),
    Column("amount", BigInteger, nullable=False),
    Column("lapses", Float(53), nullable=False),
    Index("guardgraph_reserved_of_an_account", *_KEY, "lapses"),
)
"""Reservations that are not settled, and when each lapses, in seconds since 1970."""

_ACCOUNT: Final = "tenant = :tenant AND period = :period AND unit = :unit"
_OPEN: Final = text(
    "INSERT INTO guardgraph_accounts (tenant, period, unit, spent, reserved, lapsed) "
    "VALUES (:tenant, :period, :unit, 0, 0, 0) ON CONFLICT DO NOTHING"
)
_CHARGE: Final = text(
    f"UPDATE guardgraph_accounts SET reserved = reserved + :amount WHERE {_ACCOUNT} "
    "AND spent + reserved + :amount <= :limit AND spent + reserved < :limit RETURNING spent + reserved - :amount"
)
_KEEP: Final = text(
    "INSERT INTO guardgraph_reserved (id, tenant, period, unit, amount, lapses) "
    "VALUES (:id, :tenant, :period, :unit, :amount, :lapses)"
)
_DROP: Final = text(f"DELETE FROM guardgraph_reserved WHERE id = :id AND {_ACCOUNT} RETURNING amount")
_LAPSE: Final = text(f"DELETE FROM guardgraph_reserved WHERE {_ACCOUNT} AND lapses <= :now RETURNING amount")
_TAKE_BACK: Final = text(
    f"UPDATE guardgraph_accounts SET reserved = reserved - :amount, lapsed = lapsed + :amount WHERE {_ACCOUNT}"
)
_SPEND: Final = text(
    f"UPDATE guardgraph_accounts SET reserved = reserved - :held, spent = spent + :amount WHERE {_ACCOUNT}"
)
_READ: Final = text(f"SELECT spent, reserved, lapsed FROM guardgraph_accounts WHERE {_ACCOUNT}")
_LIST: Final = text(
    "SELECT tenant, period, unit, spent, reserved, lapsed FROM guardgraph_accounts ORDER BY tenant, period, unit"
)

_ready: WeakSet[Engine] = WeakSet()  # engines of databases that are known to have the tables


class NoRoom(Exception):
    """An account has no room for a charge: the transaction is rolled back."""

    def __init__(self, overdrawn: Overdrawn) -> None:
        self.overdrawn = overdrawn
        super().__init__(overdrawn.charge.account.unit)


def run_on_accounts(database: StoreDatabase, work: Callable[[Connection], T]) -> T:
    """Do some work on the accounts in a transaction; their tables are made before, where there are none yet."""
    # They are made in a transaction of their own: work that finds no room is rolled back.

    def run_with_tables(connection: Connection) -> tuple[T] | None:
        return (work(connection),) if connection.engine in _ready else None

    if (done := database.run_transaction(run_with_tables, "append")) is None:
        _ready.add(database.run_transaction(_make_tables, "append"))
        done = database.run_transaction(run_with_tables, "append")
    assert done is not None  # the tables are there now
    return done[0]


def _make_tables(connection: Connection) -> Engine:
    _METADATA.create_all(connection, checkfirst=True)
    return connection.engine


def reserve_charges(connection: Connection, charges: Sequence[Charge], seconds: float) -> Reserved:
    """Reserve all charges, each by one conditional update."""
    made, now, before = str(uuid4()), time(), dict[Account, int]()
    for charge in sorted(charges, key=lambda each: each.account):  # in one order, so that nobody waits in a circle
        key = _name_account(charge.account)
        change = {**key, "amount": charge.amount, "limit": charge.limit}
        connection.execute(_OPEN, key)
        if (stood := connection.scalar(_CHARGE, change)) is None:
            if lapsed := sum(connection.scalars(_LAPSE, {**key, "now": now}).all()):
                connection.execute(_TAKE_BACK, {**key, "amount": lapsed})
            if (stood := connection.scalar(_CHARGE, change)) is None:
                row: Any = connection.execute(_READ, key).one()
                raise NoRoom(Overdrawn(charge, Balance(charge.account, *row)))
        before[charge.account] = stood
        connection.execute(_KEEP, {**key, "id": made, "amount": charge.amount, "lapses": now + seconds})
    return Reserved(made, tuple(charges), tuple(before[charge.account] for charge in charges))


def settle_charges(connection: Connection, reserved: Reserved, amounts: Sequence[int]) -> None:
    """Count what was used up instead of what was reserved; a reservation that lapsed holds nothing any more."""
    both = sorted(zip(reserved.charges, amounts, strict=True), key=lambda each: each[0].account)
    for charge, amount in both:
        key = _name_account(charge.account)
        held = sum(connection.scalars(_DROP, {**key, "id": reserved.id}).all())
        connection.execute(_SPEND, {**key, "held": held, "amount": amount})


def list_balances(connection: Connection) -> list[Balance]:
    """Return what stands in all accounts."""
    return [Balance(Account(*row[:3]), *row[3:]) for row in connection.execute(_LIST)]


def _name_account(account: Account) -> dict[str, str]:
    return {"tenant": account.tenant, "period": account.period, "unit": account.unit}
