"""Runs that an operator ends, and runs whose models and tools are left alone: what tests of stops share."""

from __future__ import annotations

from guardgraph import Breakers, ResilientWorld, live_policy


def switching(reading, error=None):
    """Return a live policy that switches the agent off at a reading, from 1 on, or cannot be read from then on."""
    readings = []

    def read():
        readings.append(1)
        if len(readings) < reading:
            return {}
        if error is not None:
            raise error
        return {"enabled": False, "switched": {"by": "ada", "why": "test"}}

    return live_policy(read, every=0)


OFF = {"details": {"by": "ada", "why": "test"}}
"""The evidence of a run that is switched off so."""


def fragile():
    """Return a world whose circuits open after one failure, for longer than any test takes."""
    return ResilientWorld(attempts=1, breakers=Breakers(failures=1, open_seconds=600))


def second_run(graph, given, **kwargs):
    """Make a run that fails and opens a circuit, and return the result of the next."""
    graph.invoke(given, **kwargs)
    return graph.invoke(given, **kwargs)
