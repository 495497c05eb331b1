"""Recorded runs as tests: an agent that is changed still decides them as it did, or says what changed."""

from __future__ import annotations

from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from guardgraph.graphs.replay.whatif import judge_recording_again
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import RESULT_DEPTH, NotJson, parse_json
from guardgraph.state.recording import Recording, validate_recording


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recording in a file, to be decided again by an agent."""

    agent: GuardedGraph[Any, Any, Any]
    file: str
    recording: Recording

    def check(self) -> None:
        """Decide the run again, without a call.

        Raises:
            AssertionError: it would have another result, or somebody would be asked what was not recorded; it says
                which.
        """
        again = judge_recording_again(self.agent.frame, self.recording)
        if again.kind != "same":
            asked = f"{again.call.node} asks: {again.call.difference}" if again.call is not None else ""
            new = f"now {again.new}" if again.new is not None else ""
            said = ", ".join(filter(None, (again.kind, f"was {again.old}", new, asked, again.why)))
            raise AssertionError(f"{self.file}: {said}")

    def __str__(self) -> str:
        return Path(self.file).stem


def replays(agent: GuardedGraph[Any, Any, Any], files: str) -> list[RecordedRun]:
    """Return recorded runs as parameters of a test: ``@pytest.mark.parametrize("run", ..., ids=str)``.

    Args:
        agent: a guarded graph.
        files: a pattern of file names, each with one recording as JSON.

    Returns:
        The runs, in the order of the files' names; a test calls `check` on each.

    Raises:
        ConfigurationError: no file has such a name, or `agent` is no guarded graph.
        InputError: a file cannot be read, or holds no recording.
    """
    if not isinstance(agent, GuardedGraph):
        raise ConfigurationError(f"agent: a guarded graph is required; given: {type(agent).__name__}")
    names = sorted(glob(files, recursive=True))
    if not names:
        raise ConfigurationError(f"files: the name of a file at least is required; no file is called {files!r:.200}")
    return [RecordedRun(agent, name, _read_recording_file(name)) for name in names]


def _read_recording_file(name: str) -> Recording:
    try:
        return validate_recording(parse_json(Path(name).read_text(encoding="utf-8-sig"), RESULT_DEPTH, keys_once=True))
    except (OSError, UnicodeError, NotJson, InputError) as error:
        raise InputError(f"files: {name!r:.200}: {getattr(error, 'strerror', None) or error}") from error
