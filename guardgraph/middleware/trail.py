"""A trail: what came from outside during a run of somebody's own agent, and the recording that is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.middleware.pattern import AgentPolicy, build_agent_pattern
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import Recording
from guardgraph.world.call import Asked, Performed


class TrailPlayer:
    """Makes recordings of trails of one agent: the pattern of recorded agents decides them, and asks nobody."""

    def __init__(self, name: str) -> None:
        self._graph = name
        self._agents: dict[str, GuardedGraph[Any, Any, Any]] = {}

    def play(self, trail: Sequence[JsonObject], *, is_guarded: bool) -> Recording | None:
        """Return the run as its guards decided it; None where that is not how it went."""
        agent = self.prepare(trail, is_guarded=is_guarded)
        result: Any = agent.invoke(read_trail_input(trail))
        told = next(item["ended"] for item in trail if "ended" in item)
        is_same = (result["status"], result["stop_reason"]) == (told["status"], told["stop_reason"])
        is_how_it_went = not is_guarded or (is_same and not _played.get().left)
        return _played.get().recording if is_how_it_went else None

    def prepare(self, trail: Sequence[JsonObject], *, is_guarded: bool) -> GuardedGraph[Any, Any, Any]:
        """Return what plays a trail, which is what its world gives back from here on."""
        _played.set(TrailWorld(trail, is_guarded=is_guarded))
        settings = next(item["settings"] for item in trail if "settings" in item) if is_guarded else {}
        key = digest(settings)
        if key not in self._agents:
            policy, player = AgentPolicy(**settings), _Player()
            self._agents[key] = build_agent_pattern(policy).compile(name=self._graph, world=player, recorder=player)
        return self._agents[key]


class TrailWorld:
    """Gives back what came from outside during a run, in its order.

    Where our guards do not decide (`is_guarded`), a reply says whether somebody asked again.
    """

    def __init__(self, trail: Sequence[JsonObject], *, is_guarded: bool) -> None:
        self._is_told_more = not is_guarded
        self._begin = next(item["begin"] for item in trail if "begin" in item)
        self.left = [item for item in trail if not item.keys() & {"begin", "settings", "ended"}]
        """What nobody has asked for yet."""
        self._ended: JsonObject = next((item["ended"] for item in trail if "ended" in item), {})
        self._now = 0.0
        self.recording: Recording | None = None

    def clock(self) -> float:
        """Return the seconds that what was asked for took."""
        return self._now

    def calendar(self) -> datetime:
        """Return when the run began."""
        return datetime.fromisoformat(self._begin["at"])

    def new_run(self) -> str:
        """Return the run's id."""
        return str(self._begin["id"])

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Return what came; see `World`."""
        came = [self._give_recorded(item) for item in asked]
        self._now += max(performed.seconds for performed in came)
        return came

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Return what came; see `World`."""
        return self.perform(asked, seconds)

    def record(self, run: Recording) -> None:
        """Keep the recording; see `Recorder`."""
        self.recording = run

    def _give_recorded(self, asked: Asked) -> Performed:
        kind = {"model": "model", "person": "person", "tools": "tool"}[asked.node]
        among = [item for item in self.left if kind in item]
        if kind == "tool":
            among = [item for item in among if item["tool"]["id"] == asked.call.request["id"]]
        item = next(iter(among), None)
        if item is None:
            said: JsonObject = {"unmade": "another middleware answered"} if kind == "tool" else {"ended": self._ended}
            return Performed(Outcome("value", said, {}), 0.0)
        at = next(place for place, each in enumerate(self.left) if each is item)
        del self.left[at]
        came = {"answer": item["person"]} if kind == "person" else dict(item[kind])
        if self._is_told_more and kind == "model" and any("model" in later for later in self.left[at:]):
            came["went_on"] = True
        return Performed(Outcome("value", came, {}), item.get("seconds", 0.0))


_played: ContextVar[TrailWorld] = ContextVar("played")


class _Player:
    """The world and the recorder of whatever trail is played."""

    def __getattr__(self, name: str) -> Any:
        if name in ("timeout", "begin", "note", "notes"):
            raise AttributeError(name)
        return getattr(_played.get(), name)


def read_trail_input(trail: Sequence[JsonObject]) -> JsonObject:
    """Return what the pattern of a recorded agent is given."""
    begin = next(item["begin"] for item in trail if "begin" in item)
    tools = next(item["tools"] for item in trail if "tools" in item)
    given = {"asked": begin["given"], "said": begin["said"], "sources": begin["sources"], "tools": tools}
    return {**given, "lacks": begin.get("lacks", [])}
