"""Driving: a body that calls out goes on from call to call, and what it calls is kept for the record.

It is one generator for sync and async: it yields what is to be performed and is sent back what came of it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

from langgraph.errors import GraphInterrupt

from guardgraph.graphs.declaring.kinds import KINDS, name_record_channel
from guardgraph.graphs.running.frame import (
    GrammarBreach,
    Part,
    check_run_time,
    convert_to_stop,
    run_node_body,
    validate_body_writes,
)
from guardgraph.graphs.running.langgraph import watch_interrupts
from guardgraph.graphs.running.session import Visit
from guardgraph.nodes.body import Run
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import (
    JsonObject,
    JsonValue,
    count_json_bytes,
    find_json_problem,
    format_json_text,
    make_storable_json,
)
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall, VisitRecord
from guardgraph.world.call import Asked, Call, Performed, hash_call_value
from guardgraph.world.calls import build_too_large_outcome, refuse_call_outcome
from guardgraph.world.failures import record_raised_exception
from guardgraph.world.live import build_unavailable_review

MOST_AT_ONCE = 1000
"""Calls that a body may yield at once."""

Driven: TypeAlias = Generator[tuple[Sequence[Asked], float], list[Performed], JsonObject]
"""A body at work: it yields calls with the seconds that they have, and is sent back what they brought."""


def drive_calling_node(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> Driven:
    """Run a node that calls out, and return what it writes: raw channels or a refusal, its line, its calls.

    Raises:
        GraphInterrupt: the run waits for a person, and can be resumed.
    """
    item, calls, shown = part.declaration, list[RecordedCall](), list[JsonValue]()
    if (pad := visit.session.scratchpad) is not None:
        watch_interrupts(pad, lambda value: shown.append(make_storable_json(value)))
    try:
        if isinstance(run, Exception):
            raise run
        check_run_time(item, visit.began, run.budget.max_seconds)
        seen = visit.build_body_run(run)
        writes = yield from _step_through_body(part, run_node_body(part, state, seen), seen, visit, calls)
        update = validate_body_writes(item, writes)
    except GraphInterrupt as interrupt:
        if visit.session.resumable:
            visit.session.waiting = visit.session.waiting or _describe_waiting_run(part, interrupt, visit)
            raise
        breach = GrammarBreach("interrupted the run, which nobody can resume without a checkpointer")
        update = _write_node_refusal(part, breach, visit)
    except Exception as error:  # noqa: BLE001 - a failing node closes the run at the guard behind it
        update = _write_node_refusal(part, error, visit)
    record = VisitRecord(at=len(visit.log), calls=calls)
    if not (calls and item.kind == "review") and (answers := _get_interrupt_answers(visit)):
        record["answers"] = [format_json_text(answer) for answer in answers]
        if len(shown) == len(answers):
            record["shown_hash"] = digest(shown)
    if KINDS[item.kind].is_text and "refusal" not in update:
        record["wrote"] = _link_writes_to_calls(update, calls)
    return {**update, "log": [visit.write_log_line({})], name_record_channel(item.name): [record]}


def _get_interrupt_answers(visit: Visit) -> list[Any]:
    """Return what was answered so far to interrupts of this visit."""
    return getattr(visit.session.scratchpad, "resume", None) or []


def _is_interrupt_answered(visit: Visit) -> bool:
    """Say whether an interrupt of this visit has an answer, taken already or not."""
    pad = visit.session.scratchpad
    return bool(_get_interrupt_answers(visit)) or (pad is not None and pad.get_null_resume(False) is not None)


def _write_node_refusal(part: Part, error: Exception, visit: Visit) -> JsonObject:
    visit.log_failure(error)
    stop = convert_to_stop(part, error)
    return {"refusal": make_storable_json({"reason": stop.reason, "evidence": stop.evidence}, around=2)}


def _step_through_body(part: Part, steps: Any, run: Run[Any, Any], visit: Visit, calls: list[RecordedCall]) -> Driven:
    """Take a body from call to call; what is thrown in goes to the body, which waits for the answer."""
    if not isinstance(steps, Generator):
        return steps  # type: ignore[no-any-return]
    number = [line["node"] for line in visit.log].count(part.declaration.name) + 1
    try:
        yielded = next(steps)
        while True:
            group = _validate_yielded_calls(part, yielded, len(calls))
            asked = _place_node_calls(part, group, (number, len(calls) + 1), run, visit)
            left = run.budget.max_seconds - visit.read_active_seconds()
            try:
                performed = yield from _perform_node_calls(asked, left, visit)
            except GraphInterrupt as interrupt:
                if asked[0].call.kind == "person":
                    visit.session.waiting = _describe_waiting_run(part, interrupt, visit, by_call=True)
                raise
            except Exception as error:  # noqa: BLE001 - it is thrown in where the body waits, and judged there
                for item in asked:
                    _record_node_call(item, Performed(record_raised_exception(error), 0.0), calls)
                yielded = steps.throw(error)
                continue
            outcomes = [_record_node_call(item, done, calls) for item, done in zip(asked, performed, strict=True)]
            yielded = steps.send(outcomes if isinstance(yielded, list | tuple) else outcomes[0])
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _place_node_calls(
    part: Part, group: Sequence[Call], at: tuple[int, int], run: Run[Any, Any], visit: Visit
) -> list[Asked]:
    """Return calls at their place: which visit of the node it is, and which call of the visit the first one is."""
    settings, name, (number, first), most = "", part.declaration.name, at, run.budget.max_reply_bytes
    if KINDS[part.declaration.kind].calls == "person":
        settings = digest([run.policy.fingerprint, run.budget.fingerprint])
    run_id, in_turn = visit.session.run_id or "", _is_interrupt_answered(visit)
    return [Asked(call, name, number, first + at, run_id, settings, in_turn, most) for at, call in enumerate(group)]


def _perform_node_calls(
    asked: list[Asked], left: float, visit: Visit
) -> Generator[Any, list[Performed], list[Performed]]:
    if not asked:
        return []
    if asked[0].call.kind == "person" and not visit.session.resumable:
        return [Performed(build_unavailable_review(), 0.0)]
    performed = yield asked, left
    if len(performed) != len(asked) or not all(isinstance(item, Performed) for item in performed):
        raise TypeError(f"world: {len(asked)} Performed are required for as many calls; given: {performed!r:.80}")
    return performed


def _validate_yielded_calls(part: Part, yielded: Any, made: int) -> Sequence[Call]:
    """Return the calls that a body yields, if its kind of node may make them."""
    kind = KINDS[part.declaration.kind]
    group = yielded if kind.at_once and isinstance(yielded, list | tuple) else [yielded]
    for call in group:
        if not isinstance(call, Call) or call.kind != kind.calls:
            given = f"a Call of a {call.kind}" if isinstance(call, Call) else f"a {type(call).__name__}"
            raise GrammarBreach(f"yielded {given}; this node may yield Calls of a {kind.calls}")
        if call.kind == "person" and (problem := find_json_problem(call.request)) is not None:
            raise GrammarBreach(f"would show a person {problem}; what is shown is plain JSON")
    if made and not kind.at_once:
        raise GrammarBreach(f"asked twice; a {part.declaration.kind} node makes one call at most")
    if len(group) > MOST_AT_ONCE:
        raise GrammarBreach(f"yielded {len(group)} Calls at once; at most {MOST_AT_ONCE}")
    return group


def _record_node_call(asked: Asked, performed: Performed, calls: list[RecordedCall]) -> Outcome:
    """Keep a call for the record, and return its outcome as a replay will see it: as plain JSON.

    Whatever a world returns, one that looks at the size or a recording, a reply that is too large is none, and neither
    is one that the call refuses.
    """
    most = asked.max_reply_bytes
    if asked.call.kind != "person" and performed.outcome.is_larger_than(most):
        refusal = build_too_large_outcome(asked.call, performed.outcome.about, most)
        performed = performed._replace(outcome=refusal, packed=None)
    if (kept := refuse_call_outcome(asked.call, performed.outcome)) is not performed.outcome:
        came = performed.reply_bytes  # with less room it had been too large, and nothing else of it is kept
        size = None if came is None else max(came, count_json_bytes(performed.outcome.settled().content))
        performed = performed._replace(outcome=kept, packed=None, reply_bytes=size)
    packed, about = performed.packed or performed.outcome.packed(), asked.call.about
    record = RecordedCall(
        node=asked.node,
        visit=asked.visit,
        number=asked.number,
        kind=asked.call.kind,
        request=asked.request,
        outcome=packed,
        seconds=performed.seconds,
    )
    if asked.scope is not None:
        record["scope"] = asked.scope
    if isinstance(proposer := about.get("proposer"), str):
        record["proposer"] = proposer
    if isinstance(prompt := about.get("prompt"), str):
        record["prompt"] = prompt
    if asked.call.kind != "person" and performed.reply_bytes is not None:
        record["reply_bytes"] = performed.reply_bytes
    calls.append(record)
    return performed.outcome if performed.packed else performed.outcome.settled()


def _link_writes_to_calls(update: JsonObject, calls: list[RecordedCall]) -> dict[str, str | int]:
    """Return what a propose node wrote, by the number of the call where it is what that call brought."""
    numbers = {call["outcome"]: call["number"] for call in calls}
    return {channel: number if (number := numbers.get(text)) else text for channel, text in update.items()}


def _describe_waiting_run(part: Part, interrupt: GraphInterrupt, visit: Visit, *, by_call: bool = False) -> JsonObject:
    """Return what a run shows while it waits; what a call of a person shows says already who asks."""
    item = part.declaration
    [shown, *_] = [make_storable_json(given.value) for given in (interrupt.args[0] if interrupt.args else ())] or [None]
    asked_inside = (
        isinstance(shown, dict) and {"node", "shown", "hash"} <= shown.keys()
    )  # by a guarded graph that is called
    if not by_call and not asked_inside:
        shown = {"node": item.name, "shown": shown, "hash": hash_call_value(shown)}
    return {
        "run_id": visit.session.run_id,
        "pattern": part.frame.catalogue.pattern,
        "status": "waiting",
        "phase": item.phase,
        "waiting_for": shown,
        "path": [*(line["node"] for line in visit.log), item.name],
    }
