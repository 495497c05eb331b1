"""A world in which calls take the time that a test says, by a clock of its own; nobody really waits."""

from guardgraph import LiveWorld
from guardgraph.testing import ScriptedClock
from guardgraph.world.call import Performed
from guardgraph.world.deadline import within
from guardgraph.world.live import build_late_outcome, perform_call


class Timed:
    """A `LiveWorld` whose requests take the seconds that `takes` returns: halves and their like, so sums are exact."""

    def __init__(self, takes=lambda request: request.get("seconds", 0.0)):
        self.takes, self.clock, self.live = takes, ScriptedClock(), LiveWorld()
        self.calendar, self.new_run = self.live.calendar, self.live.new_run

    def perform(self, asked, seconds):
        if asked[0].call.kind == "person":
            return self.live.perform(asked, seconds)
        if asked[0].in_turn and len(asked) > 1:
            ends = self.clock() + seconds
            return [self.perform([item], ends - self.clock())[0] for item in asked]
        took = [max(min(self.takes(item.call.request), seconds), 0.0) for item in asked]
        try:
            return [self._one(item, seconds, spent) for item, spent in zip(asked, took, strict=True)]
        finally:
            self.clock.advance(max(took))

    def _one(self, item, seconds, spent):
        if seconds <= 0 or self.takes(item.call.request) > seconds:
            return Performed(build_late_outcome(item.call, seconds), spent, reply_bytes=0)
        with within(60.0, self.clock, item.max_reply_bytes) as read:
            outcome = perform_call(item.call, 60.0, item.max_reply_bytes)
        return Performed(outcome, spent, reply_bytes=read.largest_reply_size)

    async def aperform(self, asked, seconds):
        return self.perform(asked, seconds)
