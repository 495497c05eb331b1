"""Which of two versions came first: one reading for settings, checks and rounds of calls that came later."""

from __future__ import annotations

import pytest
from rag_agents import POLICY, QUESTION, agent

from guardgraph import replay
from guardgraph.plain.version import is_version_before, parse_version
from guardgraph.state.recording import list_later_checks
from guardgraph.testing import InMemoryRecorder

HUGE = f"0.{'9' * 5000}.1"


@pytest.mark.parametrize(
    ("given", "numbers", "before"),
    [
        ("0.6.0", (0, 6, 0), True),
        ("0.7", (0, 7), True),
        ("0.7rc1", (0, 7), True),
        ("0.7.0.dev3", (0, 7, 0), True),
        ("0.8", (0, 8), False),
        ("0.8.0rc1", (0, 8, 0), False),
        ("0.10.2", (0, 10, 2), False),
        ("1.0", (1, 0), False),
        (HUGE, (0, 999_999_999), False),
        *[(given, (), False) for given in ("unknown", "", "v0.6", "٠.٦", ".6", None, 0.6)],
    ],
)
def test_a_version_is_before_a_release_by_its_numbers(given, numbers, before):
    """What is no version is before none, and one that is marked as made before a release counts as that release."""
    assert parse_version(given) == numbers
    assert is_version_before(given, (0, 8)) is before
    assert ("links" in list_later_checks(given)) is before


@pytest.mark.parametrize("version", [HUGE, "9" * 5000, "٠.٦", "unknown", ""])
def test_a_replay_reads_whatever_a_recording_says_of_its_version(version):
    """A version of five thousand digits, or none, is no error: the run is decided as one of today."""
    recorder = InMemoryRecorder()
    graph = agent(answer={"answer": "P1 within 15 minutes.", "citations": ["a"]}, recorder=recorder, policy=POLICY)
    result = graph.invoke(QUESTION)
    assert replay(graph, {**recorder.runs[0], "guardgraph": version})["stop_reason"] == result["stop_reason"]
