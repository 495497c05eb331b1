"""What takes minutes: twenty kills, a minute of readers and writers, hundreds of damaged files. `make soak` runs it."""

from __future__ import annotations

from kb_faults import damaged, rebuilds_survived, shared, survived


def test_twenty_kills(tmp_path):
    """Whenever the process is killed that adds a folder, each document is whole, and the next addition completes."""
    assert survived(tmp_path, kills=20, seed=20, documents=2400) > 10


def test_twenty_kills_of_a_rebuild(tmp_path):
    """Whenever the process is killed that rebuilds a base, it is as it was or whole, and the next rebuild completes."""
    assert rebuilds_survived(tmp_path, kills=20, seed=20) > 5


def test_eight_readers_and_two_writers_for_a_minute(tmp_path):
    """No wrong answer, no file that is locked, and the next addition completes."""
    assert min(shared(tmp_path, readers=8, writers=2, seconds=60)) > 0


def test_hundreds_of_damaged_files(tmp_path):
    """A file that was cut or changed says so, or answers with what was put in for those who ask."""
    answered, rebuilt = damaged(tmp_path, trials=400, seed=400)
    assert (answered > 20, rebuilt > 5) == (True, True)
