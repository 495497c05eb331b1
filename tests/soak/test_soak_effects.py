"""What takes minutes: thirty kill -9 at random places of act nodes that pay. `make soak` runs it."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from effect_runs import Setup, attempt, check_payments
from postgres_server import postgres_server

KILLS = 30
WAYS = {
    "sync": {"durability": "sync"},
    "async": {"durability": "async"},
    "exit": {"durability": "exit"},
    "awaited": {"mode": "ainvoke", "durability": "async"},
    "inside": {"inside": True, "durability": "sync"},
    "inside async": {"inside": True, "durability": "async"},
    "inside exit": {"inside": True, "durability": "exit", "recorder": "file"},
    "no saver": {"saver": None, "recorder": "file"},
    "store": {"saver": None, "recorder": "store"},
    "both": {"recorder": "file", "durability": "async"},
    "postgres": {"durability": "async"},
}
SURE = [{}, {}, {"options": ("idempotent",), "tool": "pay_once"}, {"options": ("reconcile",)}]


@pytest.fixture(scope="module")
def server():
    """The address of a PostgreSQL server."""
    with postgres_server() as address:
        yield address


def test_kills_at_random_double_no_payment_and_lose_none(server, tmp_path):
    """However a run is made and resumed: nothing is paid twice, and a run that ends well paid everything."""
    chance, kills, endings = random.Random(100), 0, Counter[str]()
    while kills < KILLS:
        way = chance.choice(sorted(WAYS))
        setup = Setup(
            tmp_path / str(endings.total()),
            batches=tuple(
                tuple(range(10 * at, 10 * at + chance.randint(1, 3))) for at in range(1, chance.randint(2, 4))
            ),
            thread=f"soak{endings.total()}",
            **{**WAYS[way], **({"saver": server} if way == "postgres" else {}), **chance.choice(SURE)},
        )
        setup.folder.mkdir()
        while (result := attempt(setup, chance.randint(8, 60) if chance.random() < 0.7 else 0)) is None:
            kills += 1
        endings[check_payments(setup, result)] += 1
    assert set(endings) == {"success", "effect_unknown:pay"}, endings
