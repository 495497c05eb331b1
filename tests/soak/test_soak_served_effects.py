"""What takes minutes: LangGraph's own server is killed while its graph pays, and started again."""

import random
from collections import Counter

import httpx
from effect_runs import Setup, check_payments
from langgraph_server import needs_server, serving
from payment_pattern import FileRecorder

KILLS = 4


def ask_server(folder, dies_at):
    """Ask a server that may die for the payments of a request, and return the run's result; None where it died."""
    graphs = {"paying": "served_payments:agent"}
    config = {"configurable": {"request_key": "r1"}}
    asked = {"assistant_id": "paying", "input": {"batches": [[30, 40], [50]]}, "config": config}
    try:
        with serving(folder, graphs, PAYING_IN=str(folder), DIES_AT=str(dies_at)) as server:
            # the SDK's client would try for a minute to reach a server again that is dead
            return httpx.post(f"{server.url}/runs/wait", json=asked, timeout=60, trust_env=False).json()
    except httpx.TransportError:
        return None
    except RuntimeError as error:  # it went on with its run, and died, before anybody could ask it
        if "the server ended with -9" not in str(error):
            raise
        return None


def test_a_killed_server_doubles_no_payment_and_loses_none(tmp_path):
    """Whoever asks a server again with the same request gets what was paid, and nothing is paid twice."""
    needs_server()
    chance, kills, endings = random.Random(22), 0, Counter()
    while kills < KILLS:
        folder = tmp_path / str(endings.total())
        folder.mkdir()
        while (result := ask_server(folder, chance.randint(1, 24) if chance.random() < 0.8 else 0)) is None:
            kills += 1
        setup = Setup(folder, batches=((30, 40), (50,)))
        endings[check_payments(setup, result)] += 1
        noted = {note["content"]["key"] for note in FileRecorder(folder / "runs.txt").told("note")}
        assert {line["key"] for line in setup.bank.lines} <= noted
    assert set(endings) <= {"success", "effect_unknown:pay"}, endings
