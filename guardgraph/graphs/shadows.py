"""Shadows: other agents of a pattern, which judge every recorded run once more, from the same outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from guardgraph.graphs.door import GuardedGraph
from guardgraph.graphs.frame import Frame, described
from guardgraph.graphs.whatif import judged_again, plain
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, json_problem, storable
from guardgraph.state.recording import Recording, Shadow

__all__ = ["Judge", "checked_shadows"]


@dataclass(frozen=True, slots=True)
class Judge:
    """A shadow at work."""

    frame: Frame
    """Of the shadow's graph."""

    def __call__(self, recording: Recording) -> Shadow:
        """Return what the shadow makes of a run; nothing is called, and what goes wrong is said."""
        said: JsonObject = {}
        try:
            policy, budget = self.frame.settings_fingerprints
            said["fingerprints"] = {"policy": policy, "budget": budget, "declarations": self.frame.fingerprint}
            said |= self._judged(recording)
        except Exception as error:  # noqa: BLE001 - whatever a shadow does, the run it looks at is over
            said |= {"kind": "failed", "error": described(error)}
        shadow: Shadow = storable(said)
        return shadow

    def _judged(self, recording: Recording) -> JsonObject:
        again = judged_again(self.frame, recording)
        said: JsonObject = {"kind": again.kind}
        if again.new is not None:
            said["ending"] = plain(again.new)
        if again.guard is not None:
            said["guard"] = again.guard
        if again.call is not None:
            said["call"] = plain(again.call)
        if again.why is not None:
            said["error"] = {"type": again.kind, "message": again.why[:200]}
        return said


def checked_shadows(given: Any, pattern: str) -> dict[str, Callable[[Recording], Shadow]]:
    """Return who judges the runs of a pattern once more, by name.

    Args:
        given: what a factory was given; None for nobody.
        pattern: the pattern's name, as its catalogue has it.

    Raises:
        ConfigurationError: it is no mapping, a name is no text or blank, or an agent is none or of another pattern; a
            line for each.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"shadow: a mapping of names to agents is required; given: {type(given).__name__}")
    lines = [line for name, agent in given.items() if (line := _problem(name, agent, pattern)) is not None]
    if lines:
        raise ConfigurationError("\n".join(lines))
    return {name: Judge(agent.frame) for name, agent in given.items()}


def _problem(name: object, agent: object, pattern: str) -> str | None:
    if not isinstance(name, str) or not name.strip() or json_problem(name) is not None:
        return f"shadow: names that are texts and not blank are required; given: {name!r:.80}"
    if not isinstance(agent, GuardedGraph):
        return f"shadow.{name:.80}: an agent of the pattern {pattern} is required; given: {type(agent).__name__}"
    if (theirs := agent.frame.catalogue.pattern) != pattern:
        return f"shadow.{name:.80}: an agent of the pattern {pattern} is required; given: one of {theirs:.80}"
    return None
