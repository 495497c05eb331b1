"""What tests of stops share: budgets without room for a call, what an operator ends, models and tools left alone."""

import json
from functools import partial

from langchain_core.exceptions import ModelAPIError, ModelAuthenticationError, ModelRateLimitError
from langchain_core.messages import AIMessage
from recorded_runs import Failing
from runs import ASKED_ONCE, StopCase

from guardgraph import Breakers, ResilientWorld, TenantBudget, TenantWorld, live_policy
from guardgraph.testing import Reply, ScriptedChatModel
from guardgraph.world.tenants import Balance, Overdrawn, Reserved

SHOWN, WRITTEN = 30_000, 20_000
"""Tokens of every reply: more than is reserved for it."""
PRICES = {"scripted": {"input": 1e6, "output": 1e6}}
"""A token costs 1."""
MODEL_FAILURES = {
    "llm_timeout": TimeoutError(),
    "llm_invalid_json": "Here is what you asked for",
    "llm_rate_limited": ModelRateLimitError("slow down"),
    "llm_auth": ModelAuthenticationError("who are you"),
    "llm_unavailable": ModelAPIError("down"),
    "llm_refused": Reply(refusal="I would rather not."),
    "llm_truncated": Reply("{", finish_reason="length"),
    "llm_content_filter": Reply(finish_reason="content_filter"),
    "llm_bad_response": IndexError("no choices"),
}
"""What a model says or raises, by the reason."""
OFF = {"details": {"by": "ada", "why": "test"}}
"""The evidence of a run that is switched off so."""


def told(reply):
    usage = {"input_tokens": SHOWN, "output_tokens": WRITTEN, "total_tokens": SHOWN + WRITTEN}
    return AIMessage(json.dumps(reply), usage_metadata=usage)


class Room:
    """A ledger that has room for so many reservations, and fails or refuses then."""

    def __init__(self, room, *, fails=False):
        self.room, self.fails = room, fails

    def reserve(self, charges, *, seconds):
        if self.room:
            self.room -= 1
            return Reserved("id", tuple(charges), (0,) * len(charges))
        if self.fails:
            raise OSError("the disk is gone")
        return Overdrawn(charges[0], Balance(charges[0].account, 7, 0))

    def settle(self, reserved, amounts):
        """Count nothing."""


def tenant_world(room, **how):
    return TenantWorld(Room(room, **how), [TenantBudget(max_llm_calls=9, max_tool_calls=9)])


def limit_cases(run, asking, calling):
    """Return pairs of a reason and a `StopCase`, of runs made by ``run(phase, world=..., **budget)``.

    Models, which reply with `told`, are asked in the phases of `asking`, tools are called in those of `calling`: each
    with how many of its kind were asked before, and how many calls of all kinds were made.
    """
    cases = []
    for phase, (asked, _) in asking.items():
        spent = {"max_llm_calls": asked, "max_tokens": asked * (SHOWN + WRITTEN)}
        spent["max_cost"] = float(spent["max_tokens"])
        for name, limit in spent.items():
            prices = {"prices": PRICES} if name == "max_cost" else {}
            cases.append((name, _case(run, phase, name, **{name: limit}, **prices)))
    for phase, (called, _) in calling.items():
        cases.append(("max_tool_calls", _case(run, phase, "max_tool_calls", max_tool_calls=called)))
    for phase, (_, made) in {**calling, **asking}.items():
        unit = "llm_calls" if phase in asking else "tool_calls"
        full = _case(run, phase, f"tenant_budget:max_{unit}", world=lambda made=made: tenant_world(made))
        failing = _case(run, phase, "tenant_budget_unavailable", world=lambda made=made: tenant_world(made, fails=True))
        cases += [("tenant_budget:<limit>", full), ("tenant_budget_unavailable", failing)]
    return cases


def _case(run, phase, reason, *, world=None, **budget):
    def make():
        return run(phase, world=None if world is None else world(), **budget)

    return StopCase(phase, make, {"details": ...}, reason)


def unreadable():
    raise OSError("disk")


def switch_off():
    return {"enabled": False, "switched": OFF["details"]}


def shut_out(run, **parts):
    """Make two runs in a world whose circuits open at the first failure, and return the second."""
    world = ResilientWorld(attempts=1, breakers=Breakers(failures=1, open_seconds=600))
    run(world=world, context=ASKED_ONCE, **parts)
    return run(world=world, context=ASKED_ONCE, **parts)


def cases(phase, family, **runs):
    """Return the cases of one family in one phase: by what is wrong, how a run is made and its evidence."""
    return {f"{family}:{what}": StopCase(phase, make, evidence) for what, (make, evidence) in runs.items()}


def common_cases(run, begins, ends):
    """Return the cases that every pattern has, by entry; `run` makes one that would begin and end in these phases."""
    audited = {"context": {"policy": {"audit_required": True}}, "recorder": Failing()}
    unrecorded = {"details": {"type": "OSError", "stop_reason": "success"}, "audit": {"status": "unavailable"}}
    down = {"model": ScriptedChatModel(ModelAPIError("down"), loop=True)}
    return {
        "max_visits": StopCase(begins, partial(run, context={"budget": {"max_visits": 1}}), {"details": ...}),
        "switched_off": StopCase(begins, partial(run, live=live_policy(switch_off, every=0)), OFF),
        "policy_unreadable": StopCase(begins, partial(run, live=live_policy(unreadable, every=0)), {"details": ...}),
        "audit_unavailable": StopCase(ends, partial(run, **audited), unrecorded),
        "llm_circuit_open": StopCase(begins, partial(shut_out, run, **down), {"details": {"failures": 1}}),
    }
