"""What tests of executors share: many recordings, what a stricter agent makes of them, and workers that are killed."""

from __future__ import annotations

from stored_runs import recording


def numbered(count):
    """Return recordings that differ in their ids, every third one redacted."""
    made = [recording(number) for number in range(count)]
    return [{**item, "redacted": [["x"]]} if number % 3 == 0 else item for number, item in enumerate(made)]


def expected(count):
    """Return what a stricter agent makes of them."""
    return [(recording(at)["run_id"], "unreplayable" if at % 3 == 0 else "changed") for at in range(count)]


def rows(judged):
    """Return ids and classes."""
    return [(row.run_id, row.kind) for row in judged.rows]


def killing(items, at, kill):
    """Yield items, and kill a worker meanwhile."""
    for number, item in enumerate(items):
        if number == at:
            kill()
        yield item
