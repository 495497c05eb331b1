"""Driving: a body that calls out goes on from call to call, and what it calls is kept for the record.

It is one generator for sync and async: it yields what is to be performed and is sent back what came of it. A person is
asked until a decision counts: the world asks, the reviewers of the deployment say who answered, and the policy says
whether that is enough. An answer counts in the session in which it was given: LangGraph hands a resumed node all
earlier ones again, and whoever resumes the run then is not who gave them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from langgraph.errors import GraphInterrupt

from guardgraph.graphs.declaring import KINDS
from guardgraph.graphs.running.effects import Errand, Needs, is_effect_unknown, list_unasked_writes, perform_write
from guardgraph.graphs.running.end import build_timeline, read_run_origin, withhold_steps
from guardgraph.graphs.running.frame import (
    GrammarBreach,
    Part,
    check_run_time,
    convert_to_stop,
    describe_run_error,
    find_switch_stop,
    is_recording_required,
    validate_body_writes,
)
from guardgraph.graphs.running.judge import describe_refusal, hash_proposal
from guardgraph.graphs.running.langgraph import watch_interrupts
from guardgraph.graphs.running.licensing import LicensedCall, SwitchedMeanwhile, check_call_meanwhile, license_calls
from guardgraph.graphs.running.live_policy import PolicyLook, shorten_reading
from guardgraph.graphs.running.recorder import note_open_run
from guardgraph.graphs.running.session import Session, Visit, format_utc_moment, read_asker, run_node_body
from guardgraph.guards.proposals import build_tool_stop
from guardgraph.guards.spending import check_budget_outcomes, check_spending
from guardgraph.guards.stop import evidence
from guardgraph.nodes.body import Run
from guardgraph.plain.errors import PASSING, convert_exit
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import (
    JsonObject,
    JsonValue,
    copy_json,
    find_json_problem,
    format_json_text,
    make_storable_json,
)
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall, VisitRecord
from guardgraph.state.review import Identity, Reviewers, ReviewPolicy, find_identity_problem, parse_identity
from guardgraph.state.run import LogEntry
from guardgraph.state.spending import NOTHING, count_recorded_calls, find_near_limits, list_limits
from guardgraph.world import reviews
from guardgraph.world.call import Asked, Call, Performed, hash_call_value
from guardgraph.world.failures import record_raised_exception
from guardgraph.world.live import identify_target
from guardgraph.world.proposers import tell_call_refusal
from guardgraph.world.replaying import ReplayingWorld
from guardgraph.world.spending import record_call, reserve_call

MOST_AT_ONCE = 1000  # calls that a body may yield at once
Driven: TypeAlias = Needs[JsonObject]  # a body at work: it yields what is to be done, and is sent back what came of it


def drive_calling_node(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> Driven:
    """Run a node that calls out, and return what it writes: raw channels or a refusal, its line, its calls."""
    item, calls, shown = part.declaration, list[RecordedCall](), list[JsonValue]()
    pad = visit.session.scratchpad
    if has_answers_in_turn(pad):
        watch_interrupts(pad, lambda value: shown.append(make_storable_json(value)))
    try:
        if isinstance(run, Exception):
            raise run
        check_run_time(item, visit.began, run.budget.max_seconds)
        steps = run_node_body(part, state, run, visit)  # not in the generator, which a StopIteration would not leave
        writes = yield from _step_through_body(part, steps, run, visit, state=state, calls=calls)
        update = validate_body_writes(item, writes)
    except GraphInterrupt as interrupt:
        if visit.session.resumable:
            session = visit.session
            session.waiting = session.waiting or describe_waiting_run(part, interrupt, visit)
            with session.pause_clock():
                told = yield from note_open_run(part.frame.recorder, session, "waiting", session.waiting)
            if told is not None and told.error is not None and is_recording_required(part.frame, run):
                bare = withhold_steps(build_timeline(visit.log, {}), "history")
                session.waiting = {**session.waiting, **bare, "path": session.waiting["path"]}
            raise
        breach = GrammarBreach("interrupted the run, which nobody can resume without a checkpointer")
        update = _write_node_refusal(part, breach, visit)
    except Exception as error:  # noqa: BLE001 - a failing node closes the run at the guard behind it
        update = _write_node_refusal(part, error, visit)
    if item.effects:
        update = yield from _add_unasked_writes(part, visit, calls, update)
    record = VisitRecord(at=len(visit.log), calls=calls)
    used = {} if isinstance(run, Exception) else _describe_spending(calls, run, visit)
    if not (calls and item.kind == "review") and (answers := getattr(pad, "resume", None)):
        record["answers"] = [format_json_text(answer) for answer in answers]
        if len(shown) == len(answers):
            record["shown_hash"] = digest(shown)
    if KINDS[item.kind].is_text and "refusal" not in update:
        numbers = {call["outcome"]: call["number"] for call in calls}  # what a call brought is kept once
        record["wrote"] = {channel: numbers.get(text) or text for channel, text in update.items()}
    is_askable = bool(calls and calls[-1].get("askable"))
    askable = {"askable": True, "proposed": hash_proposal(calls[-1])} if is_askable else {}
    return {**update, "log": [visit.write_log_line({**askable, **used})], item.record_channel: [record]}


def has_answers_in_turn(pad: Any) -> bool:
    """Say whether interrupts of a visit have answers, taken already or not, which go by the order of asking."""
    return pad is not None and (bool(getattr(pad, "resume", None)) or pad.get_null_resume(False) is not None)


def _describe_spending(calls: Sequence[RecordedCall], run: Run[Any, Any], visit: Visit) -> JsonObject:
    """Return what the log keeps of what a node's calls used up: the run's sum, and limits that it has come near to."""
    if all(call["kind"] != "tool" and "usage" not in call for call in calls):
        return {}
    before = visit.read_spending()
    if (used := count_recorded_calls(calls)) is NOTHING:
        return {}
    spent = before + used
    near = find_near_limits(before, spent, run.budget)
    return {"spent": spent.plain(), **({"near_limit": near} if near else {})}


def _add_unasked_writes(part: Part, visit: Visit, calls: list[RecordedCall], update: JsonObject) -> Needs[JsonObject]:
    """Add the writes that an earlier attempt of the visit made, and return what the node writes."""
    try:
        unasked = yield from list_unasked_writes(part, _number_visit(part, visit), calls, visit.session)
    except Exception as error:  # noqa: BLE001 - a checkpointer or a recorder that cannot be read
        return update if "refusal" in update else _write_node_refusal(part, error, visit)
    calls += unasked
    unknown = [call for call in unasked if is_effect_unknown(Outcome.unpacked(call["outcome"]))]
    if unknown and "refusal" not in update:
        stop = build_tool_stop(Outcome.unpacked(unknown[0]["outcome"]), unknown[0]["tool"])
        return _write_node_refusal(part, stop, visit)
    return update


def _number_visit(part: Part, visit: Visit) -> int:
    """Return which visit of its node this is, from 1 on."""
    return [line["node"] for line in visit.log].count(part.declaration.name) + 1


def _write_node_refusal(part: Part, error: Exception, visit: Visit) -> JsonObject:
    visit.log_failure(error)
    stop = convert_to_stop(part, error)
    return {"refusal": make_storable_json({"reason": stop.reason, "evidence": stop.evidence}, around=2)}


def _step_through_body(
    part: Part, steps: Any, run: Run[Any, Any], visit: Visit, *, state: JsonObject, calls: list[RecordedCall]
) -> Driven:
    """Take a body from call to call; what is thrown in goes to the body, which waits for the answer."""
    if not isinstance(steps, Generator):
        return steps  # type: ignore[no-any-return]
    item, rounds = part.declaration, 0
    number, refused = _number_visit(part, visit), describe_refusal(part, visit.log, state)
    try:
        yielded = next(steps)
        while True:
            group = _validate_yielded_calls(part, yielded, len(calls))
            if refused is not None:
                group = [tell_call_refusal(call, refused) for call in group]
            rounds += bool(group)
            if item.kind == "act" and item.rounds != "any" and rounds > item.rounds:
                # What an earlier round brought could reach this one, and nobody has judged it.
                raise GrammarBreach(
                    f"yielded calls for the {rounds}. time in a visit; declared: rounds={item.rounds}. Yield a list of "
                    "calls, or let a guard judge what came before the next one is made"
                )
            if item.tools:
                run = yield from look_at_live_policy(run, visit)
            is_licensing = item.kind == "act" and part.frame.table is not None
            licensed = license_calls(part, group, state, run, calls) if is_licensing else [*map(LicensedCall, group)]
            asked = _place_node_calls(part, licensed, (number, calls), run, visit)
            performed: list[Performed] = []
            try:
                yield from _perform_node_calls(part, asked, run, visit, performed)
            except SwitchedMeanwhile as refused:
                for each, done in zip(asked, performed, strict=False):
                    calls.append(record_call(each, done)[0])
                raise refused.stop from None
            except GraphInterrupt as interrupt:
                if asked[0].call.kind == "person":
                    visit.session.waiting = describe_waiting_run(part, interrupt, visit, by_call=True)
                raise
            except Exception as error:  # noqa: BLE001 - it is thrown in where the body waits, and judged there
                # Those that were made at once all raised it; of others the rest was not made.
                raising = asked[len(performed) :][: 1 if any(item.call.effect == "write" for item in asked) else None]
                failed = [Performed(record_raised_exception(error), 0.0) for _ in raising]
                for each, done in zip(asked, performed + failed, strict=False):
                    calls.append(record_call(each, done)[0])
                yielded = steps.throw(error)
                continue
            kept = [record_call(each, done) for each, done in zip(asked, performed, strict=True)]
            calls += [record for record, _ in kept]
            outcomes = [outcome for _, outcome in kept]
            if any(outcome.form == "failure" for outcome in outcomes):
                with evidence(phase=item.phase):
                    check_budget_outcomes(outcomes)
            yielded = steps.send(outcomes if isinstance(yielded, list | tuple) else outcomes[0])
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    except PASSING:
        raise
    except BaseException as error:
        raise convert_exit(error) from error


def _place_node_calls(
    part: Part, group: Sequence[LicensedCall], at: tuple[int, list[RecordedCall]], run: Run[Any, Any], visit: Visit
) -> list[Asked]:
    """Return calls at their place: which visit of the node it is, and behind which calls of the visit."""
    session, name, (number, calls) = visit.session, part.declaration.name, at
    budget, world, settings = run.budget, visit.session.world, ""
    if part.declaration.kind == "review":
        bound = session.run or run  # without the live policy: a switch changes no question
        settings = digest([bound.policy.fingerprint, bound.budget.fingerprint])
    for item in group:
        if item.call.effect != "read":
            _check_call_effect(part, item.call)
    asked, reserved, pad = list[Asked](), NOTHING, session.scratchpad
    in_turn = has_answers_in_turn(pad)
    at_once = 1 if any(item.call.effect == "write" for item in group) else len(group)
    spent, limits = visit.read_spending(), list_limits(budget)
    if calls:
        spent += count_recorded_calls(calls)
    for place, item in enumerate(group, len(calls) + 1):
        kept_back = reserve_call(item.call, budget.max_output_tokens, budget.prices)
        placed = Asked(
            item.call,
            name,
            number,
            place,
            session.run_id or "",
            settings,
            in_turn=in_turn,
            at_once=at_once,
            max_reply_bytes=budget.max_reply_bytes,
            licence=item.licence,
            approval=item.approval,
            tenant=None if run.caller is None else run.caller.tenant,
            max_output_tokens=budget.max_output_tokens if kept_back.llm_calls else None,
            prices=budget.prices,
            reserved=kept_back,
            spent=spent,
            limits=limits,
        )
        asked.append(_reserve_as_recorded(placed, world) if isinstance(world, ReplayingWorld) else placed)
        if asked[-1].reserved is not NOTHING:
            reserved += asked[-1].reserved
    if limits and reserved:
        with evidence(phase=part.declaration.phase):
            check_spending(spent, reserved, budget)
    return asked


def _reserve_as_recorded(asked: Asked, world: ReplayingWorld) -> Asked:
    """Return a call of a run that is decided again with what was reserved for the same call when it was recorded."""
    was = world.recorded_calls.get((asked.node, asked.visit, asked.number))
    if was is None or "usage" not in was or was["request"] != asked.request:
        return asked
    reserved = reserve_call(asked.call, asked.max_output_tokens, asked.prices, was["usage"])
    is_alike = was["usage"].get("bound") == asked.max_output_tokens
    return replace(asked, reserved=reserved, recorded=was["usage"] if is_alike else None)


def _check_call_effect(part: Part, call: Call) -> None:
    """Refuse a write that the node does not declare."""
    if call.effect not in ("read", "write"):
        raise GrammarBreach(f"yielded a Call with the effect {call.effect!r:.80}; allowed: read, write")
    declared = part.declaration.effects
    if call.effect == "write" and not (call.tool and (call.tool in declared or any("<" in name for name in declared))):
        raise GrammarBreach(f"yielded a write by {call.tool!r:.80}; declared effects: {', '.join(declared) or 'none'}")


def _perform_node_calls(
    part: Part, asked: list[Asked], run: Run[Any, Any], visit: Visit, performed: list[Performed]
) -> Needs[None]:
    """Have calls made, and add what they bring: side by side, or one after another where one of them is a write."""
    if any(item.call.effect == "write" for item in asked):
        for item in asked:
            if performed:
                world, before = visit.session.world, performed[-1].outcome
                calls = world.recorded_calls if isinstance(world, ReplayingWorld) else {}
                is_recorded = (item.node, item.visit, item.number) in calls
                if item.licence is not None and before.form == "failure" and not is_recorded:
                    # Nobody has judged this call in the light of the one before it, which failed.
                    raise SwitchedMeanwhile(build_tool_stop(before, asked[len(performed) - 1].call.tool))
                run = yield from look_at_live_policy(run, visit)
                check_call_meanwhile(part, item, run)
            left = run.budget.max_seconds - visit.read_active_seconds()
            if item.call.effect == "write" and not visit.session.is_replay:
                performed.append((yield from perform_write(item, left, part.frame.recorder, visit.session)))
            else:
                performed += yield [item], left
        return
    left = run.budget.max_seconds - visit.read_active_seconds()
    if asked and asked[0].call.kind == "person":
        performed.append((yield from ask_for_decision(asked[0], left, part, run, visit)))
    elif asked:
        performed += yield asked, left


def look_at_live_policy(run: Run[Any, Any] | Exception, visit: Visit) -> Needs[Any]:
    """Return the run as it is under a look at the live policy, where there is one; the node's line tells of it."""
    base = visit.session.run
    if visit.live is None or base is None or isinstance(run, Exception):
        return run
    look: PolicyLook = yield Errand(visit.live, "read", (base.policy,))
    visit.looks.append(shorten_reading(look.reading, visit.looks, visit.log))
    return run._replace(policy=base.policy.tightened_by(look.overlay), live=look.reading)


def _validate_yielded_calls(part: Part, yielded: Any, made: int) -> Sequence[Call]:
    """Return the calls that a body yields, if its kind of node may make them."""
    kind, table = KINDS[part.declaration.kind], part.frame.table
    group = yielded if kind.at_once and isinstance(yielded, list | tuple) else [yielded]
    declared = part.declaration.proposers
    known = () if declared is None else part.frame.declared_targets[part.declaration.name]
    for call in group:
        if not isinstance(call, Call) or call.kind != kind.calls:
            given = f"a Call of a {call.kind}" if isinstance(call, Call) else f"a {type(call).__name__}"
            raise GrammarBreach(f"yielded {given}; this node may yield Calls of a {kind.calls}")
        if table is None or part.declaration.kind != "act":
            if isinstance(call.target, str):
                raise GrammarBreach(
                    f"called {call.target!r:.80} by its name; only act nodes of a pattern with a table may"
                )
            for name, tool in table.tools.items() if table is not None else ():
                if identify_target(call.target) == identify_target(tool.target):
                    raise GrammarBreach(f"asked the function of {name:.80}; only an act node may call it, by its name")
        if declared is not None and identify_target(call.target) not in known:
            named = call.about.get("proposer", type(call.target).__name__)
            raise GrammarBreach(
                f"asked a proposer that is not among the {len(declared)} calls of its node: {named!r:.80}"
            )
        if call.kind == "person" and (problem := find_json_problem(call.request)) is not None:
            raise GrammarBreach(f"would show a person {problem}; what is shown is plain JSON")
    if made and not kind.at_once:
        raise GrammarBreach(f"asked twice; a {part.declaration.kind} node makes one call at most")
    if len(group) > MOST_AT_ONCE:
        raise GrammarBreach(f"yielded {len(group)} Calls at once; at most {MOST_AT_ONCE}")
    # Of calls that are made one after another, the first may bring what its body would write into the next.
    return [call.freeze() for call in group] if len(group) > 1 else group


_LONGEST = 1e9  # seconds, some thirty years, until which a date is named

Asking: TypeAlias = Generator[tuple[Sequence[Asked], float], list[Performed], Performed]
"""A review at work: it yields whom the world asks, and is sent back what that brought."""


def ask_for_decision(asked: Asked, left: float, part: Part, run: Run[Any, Any], visit: Visit) -> Asking:
    """Ask a person until a decision counts."""
    session = visit.session
    if not session.resumable:
        return Performed(reviews.build_unavailable_review(), 0.0)
    if session.is_replay:
        [performed] = yield [asked], left
        outcome = reviews.bind_recorded_decision(performed.outcome, asked)
        return performed if outcome is performed.outcome else performed._replace(outcome=outcome, packed=None)
    before = reviews.read_question(session.question, asked.node)
    asked_at, expired = _time_question(asked, before, run, session)
    if expired is not None:
        return Performed(expired, 0.0)
    asked = replace(asked, beside=reviews.build_beside_question(asked, before, asked_at))
    kept, given = _list_session_answers(session)
    for _ in [*kept, None]:  # each is handed over once; then the run waits
        [performed] = yield [asked], left
        if reviews.is_review_unanswered(performed.outcome):
            return performed
        answer = reviews.read_asked_answer(performed.outcome)
        is_kept = reviews.is_answer_of_session(answer, kept)
        if is_kept and not reviews.is_answer_of_session(answer, given):
            continue
        problem = reviews.find_answer_problem(answer, asked)
        if problem is None:
            reviewer = yield from _identify_reviewer(answer, asked, left, part.frame.reviewers, run)
            refusal = _find_refusal(reviewer, run, visit)
            if refusal is None:
                assert not isinstance(reviewer, str)  # which is a refusal
                session.question = None  # it is answered: what the next visit asks is a question of its own
                return performed._replace(outcome=reviews.build_decision(answer, asked, reviewer), packed=None)
            problem = {"problem": f"answer: {refusal}"}
        asked = replace(asked, beside={**asked.beside, **problem})
        if not is_kept:
            break
    raise TypeError(
        f"world: for a person, an answer that counts is required; {asked.beside.get('problem', 'given: none')}"
    )


def _list_session_answers(session: Session) -> tuple[list[Any], list[Any]]:
    """Return the answers that LangGraph hands over in this visit, and those of them that were given in this session."""
    pad = session.scratchpad
    kept: list[Any] = [] if pad is None else [*(pad.resume or ())]
    pending = None if pad is None else pad.get_null_resume(False)
    if pending is not None:
        before, last = kept, [pending]
    elif kept and reviews.is_answer_of_session(kept[-1], [*(session.resume_map or {}).values()]):
        before, last = kept[:-1], kept[-1:]
    else:
        before, last = kept, []
    everything = [*kept, *last]
    if session.answers is not None:
        return everything, session.answers
    return everything, [item for item in last if not reviews.is_answer_of_session(item, before)]


def _time_question(
    asked: Asked, before: JsonObject | None, run: Run[Any, Any], session: Session
) -> tuple[dict[str, str], Outcome | None]:
    """Return when a question was first asked and until when it stands, and the outcome of one that expired."""
    most = run.policy.max_review_seconds if isinstance(run.policy, ReviewPolicy) else None
    if most is None:
        return {}, None
    now = datetime.fromisoformat(format_utc_moment(session.world.calendar()))
    said = (before or {}).get("asked_at")
    since = now if said is None else datetime.fromisoformat(said)
    if (expired := reviews.build_expired_review(since, now, most)) is not None:
        return {}, expired
    if before is not None and before["hash"] != asked.request:
        since = now  # it is another question
    until = since + timedelta(seconds=min(most, _LONGEST))
    return {"asked_at": since.isoformat(), "expires_at": until.isoformat()}, None


def _identify_reviewer(
    answer: JsonObject, asked: Asked, left: float, reviewers: Reviewers | None, run: Run[Any, Any]
) -> Generator[tuple[Sequence[Asked], float], list[Performed], Identity | str | None]:
    """Return who answered, None where nobody verifies it; a text that says why the reviewers refuse it."""
    if reviewers is None:
        return None
    call = Call("tool", lambda _: reviewers(copy_json(answer), run.caller), {"answer": answer})
    try:
        [performed] = yield [replace(asked, call=call, number=asked.number + 1, beside={})], left
    except Exception as error:  # noqa: BLE001 - whatever reviewers raise is no identity
        performed = Performed(Outcome("failure", {"details": describe_run_error(error)}, {}), 0.0)
    if performed.outcome.form != "failure":
        return parse_identity(performed.outcome.content)
    details = performed.outcome.content["details"]
    return str(details.get("message") or details.get("cause") or "no identity")


def _find_refusal(reviewer: Identity | str | None, run: Run[Any, Any], visit: Visit) -> str | None:
    """Say why somebody may not answer, None for whom may: first the reviewers are heard, then the policy."""
    if isinstance(reviewer, str):
        return f"refused by the reviewers: {reviewer}"
    if (stop := find_switch_stop(run, visit.part.declaration.phase)) is not None:
        said = ", ".join(f"{name}: {text}" for name, text in stop.evidence.get("details", {}).items())
        return f"it does not count for now: {stop.reason}{f' ({said})' if said else ''}; answer again later"
    problem = find_identity_problem(reviewer, run.policy, _find_run_starter(visit.log))
    return None if problem is None else f"refused by the policy: {problem}"


def _find_run_starter(log: list[LogEntry]) -> str | None:
    """Return the user who began a run."""
    opening = log[0].get("opening") if log else None
    return None if opening is None else read_asker(opening).user


def describe_waiting_run(part: Part, interrupt: GraphInterrupt, visit: Visit, *, by_call: bool = False) -> JsonObject:
    """Return what a run shows while it waits; what a call of a person shows says already who asks."""
    item, session = part.declaration, visit.session
    [shown, *_] = [make_storable_json(given.value) for given in (interrupt.args[0] if interrupt.args else ())] or [None]
    asked_inside = (
        isinstance(shown, dict) and {"node", "shown", "hash"} <= shown.keys()
    )  # by a guarded graph that is called
    if not by_call and not asked_inside:
        shown = {"node": item.name, "shown": shown, "hash": hash_call_value(shown)}
    called = session.read(list(part.frame.records)) if callable(session.read) else {}
    records = {record["at"]: record for channel in called.values() for record in channel or ()}
    went = build_timeline(visit.log, records)
    waiting: JsonObject = make_storable_json(
        {
            "run_id": session.run_id,
            "pattern": part.frame.catalogue.pattern,
            "status": "waiting",
            "phase": item.phase,
            "waiting_for": shown,
            **went,
            "path": [*went["path"], item.name],
            **read_run_origin(visit.log),
        },
        around=4,  # of a proposal: the result, its timeline, a line of it, and proposals by channel
    )
    return copy_json(waiting)  # type: ignore[no-any-return]
