"""Writes of agents of LangChain's whose process dies, or which two processes go on with at once."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
AGENT = Path(__file__).with_name("paying_agent.py")


def start(folder: Path, step: str, dies: str = "never", *more: str) -> subprocess.Popen[str]:
    """Start a process with the agent."""
    command = [sys.executable, str(AGENT), str(folder), step, dies, *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder: Path, step: str, dies: str = "never", *more: str) -> str:
    """Let a process with the agent end, and return what it printed."""
    process = start(folder, step, dies, *more)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == (0 if dies == "never" else 9), errors
    return out.strip()


def payments(folder: Path) -> list[str]:
    """What was paid, with the keys."""
    return (folder / "paid.txt").read_text(encoding="utf-8").splitlines()


def test_a_process_that_dies_between_intent_and_receipt_does_not_pay_again(tmp_path: Path) -> None:
    """Nobody knows what came of the call, so it is not made again, and the run says so."""
    run(tmp_path, "begin", "in_tool")
    assert run(tmp_path, "go_on").startswith("effect_unknown:send_money |")
    assert len(payments(tmp_path)) == 1


def test_a_receipt_is_given_back_to_another_process(tmp_path: Path) -> None:
    run(tmp_path, "begin", "behind_tool")
    assert (run(tmp_path, "go_on"), len(payments(tmp_path))) == ("success | Paid.", 1)


def test_an_idempotent_tool_is_called_again_with_the_same_key(tmp_path: Path) -> None:
    """By the key its own side knows that it is one payment."""
    (tmp_path / "idempotent").touch()
    run(tmp_path, "begin", "in_tool")
    assert run(tmp_path, "go_on") == "success | Paid."
    first, second = payments(tmp_path)
    assert first == second
    assert len(first.split()[-1]) == 64


def test_of_two_processes_that_go_on_at_once_one_pays_at_most(tmp_path: Path) -> None:
    """Both were told that a person approves; each finds the claim of the other."""
    (tmp_path / "asks").touch()
    assert run(tmp_path, "begin").startswith("waits")
    both = [start(tmp_path, "approve") for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert all(process.returncode == 0 for process in both), said
    paid = payments(tmp_path) if (tmp_path / "paid.txt").exists() else []
    assert len(paid) <= 1, said
    endings = {out.partition(" |")[0] for out, _ in said}
    assert endings <= {"success", "effect_unknown:send_money"}


def test_where_only_the_end_is_kept_a_write_is_kept_nowhere(tmp_path: Path) -> None:
    """With durability exit the dead process left nothing: whoever asks again pays again. The docs say so."""
    run(tmp_path, "begin", "in_tool", "exit")
    assert (run(tmp_path, "begin", "never", "exit"), len(payments(tmp_path))) == ("success | Paid.", 2)
