"""Judging: a guard decides where the run goes, and whatever it does beyond that closes the run.

A refused proposal goes back to its proposer, with the reason, as often as the budget allows. Whether and how often
somebody was asked is read from the log: a guard's line says ``again``, to which node, and what the stop would have
been; the next line is the proposer's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guardgraph.graphs.declaring import INPUT_FIELDS, Declaration, name_record_channel
from guardgraph.graphs.running.frame import (
    GrammarBreach,
    Part,
    build_stop_verdict,
    check_run_time,
    convert_to_stop,
    find_switch_stop,
    validate_body_writes,
)
from guardgraph.graphs.running.session import REFUSED, Visit, find_ended_line, run_node_body
from guardgraph.guards.stop import Denial, Stop, build_request_stop
from guardgraph.nodes.body import PartialRefusal, Pass, Run
from guardgraph.plain.json import JsonObject, JsonValue, is_larger_json, make_storable_json
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE, ENDING_LIMITS, POLICY_UNREADABLE, SWITCHED_OFF
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall
from guardgraph.state.run import Attempt, LogEntry, Verdict
from guardgraph.world.call import hash_call_value

ENDED_RUN = "ended"  # key of what a guard writes into its line of the log that has the last answer written
REFUSED_PROPOSAL = "refused"  # key of what a guard writes into its line of the log that has a proposer asked again


def run_guard(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> JsonObject:
    """Run a guard, and return what it writes: its way on or the stop, and its line in the log."""
    told: JsonObject = {}
    try:
        update = _pass_guard(part, state, run, visit, told)
    except Exception as error:  # noqa: BLE001 - the boundary that turns a failing guard into a stop
        visit.log_failure(error)
        stop = convert_to_stop(part, error)
        update = _stop_last_answer(part, stop, visit) or _refuse_proposal(part, state, stop, run, visit)
        if REFUSED_PROPOSAL not in update:
            update = _go_on_with_rest(part, state, stop, visit, told) or update
        elif isinstance(error, PartialRefusal):
            rest, declared = error.rest, part.declaration
            writes = {**validate_body_writes(declared, rest.writes), "route": _choose_guard_way(part, rest)}
            steps = make_storable_json([[step.trace, step.history] for step in rest.steps], around=3)
            told["rest"] = {"writes": writes, "steps": steps}
        update = _lead_to_last_answer(part, stop, update, run, told) or update
        update = {**told.pop("writes", {}), **update}
        if stop.answer is not None:
            told["answer"] = make_storable_json(stop.answer, around=1)
    if (ended := update.pop(ENDED_RUN, None)) is not None:
        said: JsonObject = {"verdict": "limit", "to": update["route"], "reason": ended["reason"], "refused": ended}
    elif refused := update.pop(REFUSED_PROPOSAL, None):
        said = {"verdict": "again", "to": update["route"], "reason": refused["reason"], "refused": refused}
    elif verdict := update.get("verdict"):
        said = {"verdict": "stop", "to": update["route"], "reason": verdict["reason"]}
    else:
        said = {"verdict": "pass", "to": update["route"]}
    line = visit.write_log_line({**said, **told})
    return {**update, "log": [line]}


def _pass_guard(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, told: JsonObject
) -> JsonObject:
    item = part.declaration
    try:
        if refusal := state.get("refusal"):  # of the node in front
            if not isinstance(run, Exception):
                _raise_withholding_stop(part, state, run, visit)
            raise Stop(refusal["reason"], **refusal["evidence"])
        if item.entry:
            _refuse_odd_input(part, state)
        if isinstance(run, Exception):
            raise run
        if "budget" in item.stops and (off := find_switch_stop(run, item.phase)):  # else nothing is called around it
            raise off
        if item.entry:
            _refuse_large_input(part, state, run.budget.max_input_bytes)
        try:
            passed = run_node_body(part, state, run, visit)
        except PartialRefusal as refused:  # it goes on with the rest, where nobody is asked again
            before = find_refusal_before(visit.log) if refused.once else None
            was_asked = before is not None and before["reason"] == refused.reason
            if not was_asked and find_proposer_to_ask(part, refused.reason, run, visit) is not None:
                raise
            passed = refused.rest
        way = _choose_guard_way(part, passed)
        update = {**validate_body_writes(item, passed.writes), "route": way}
        if passed.refused is not None:
            update[REFUSED_PROPOSAL] = build_stop_verdict(passed.refused.reason, item.phase, passed.refused.evidence)
        if passed.steps:
            told["steps"] = make_storable_json([[step.trace, step.history] for step in passed.steps], around=3)
        if passed.asked is not None:
            told["asked"] = make_storable_json(dict(passed.asked), around=1)
        told["writes"] = {name: value for name, value in update.items() if name not in ("route", REFUSED_PROPOSAL)}
    finally:
        spent = visit.read_active_seconds(at_end=True)
    following = part.frame.declarations[way]
    visits, most = len(visit.log) + 1, run.budget.max_visits
    if "budget" in item.stops and visits >= most and following.kind != "terminal":
        raise Stop("max_visits", phase=following.phase, details={"max_visits": most, "visits": visits})
    if following.is_calling_node:
        check_run_time(following, spent, run.budget.max_seconds)
    del told["writes"]  # else what was accepted stays, though the run ends
    return update


def _refuse_proposal(
    part: Part, state: JsonObject, stop: Stop, run: Run[Any, Any] | Exception, visit: Visit
) -> JsonObject:
    """Return what a guard writes that refuses: the way back to the proposer, or the stop."""
    closed = write_guard_stop(part, stop, visit)
    if closed["verdict"]["reason"] != stop.reason or isinstance(run, Exception):
        return closed
    asked = None if isinstance(stop, Denial) else find_proposer_to_ask(part, stop.reason, run, visit)
    if asked is not None:
        return {"route": asked, REFUSED_PROPOSAL: closed["verdict"]}
    if (before := find_refusal_before(visit.log)) is None or not _is_no_proposal(part, state, stop):
        return closed
    return {"route": name_stop_node(part, before["reason"]), "verdict": blame_missing_proposal(before, stop)}


def _stop_last_answer(part: Part, stop: Stop, visit: Visit) -> JsonObject | None:
    """Return the stop that refuses a run's last answer; None where a guard failed, or a person or access said no."""
    ended = find_ended_line(visit.log)
    known = part.frame.catalogue.find(stop.reason) if ended is not None and isinstance(stop.reason, str) else None
    if ended is None or known is None or known.withholds or known.family in ("guard_error", "review"):
        return None
    if stop.reason in (SWITCHED_OFF, POLICY_UNREADABLE):
        return None
    first = ended["refused"]
    why = first if stop.reason == ended["ended_by"] else blame_missing_proposal(first, stop, "last_answer")
    return {"route": name_stop_node(part, first["reason"]), "verdict": why}


def _lead_to_last_answer(
    part: Part, stop: Stop, update: JsonObject, run: Run[Any, Any] | Exception, told: JsonObject
) -> JsonObject | None:
    """Return the way of a run to its last answer where a budget ends it, if it may have one; else None."""
    limit, limits = _name_ended_limit(stop), part.declaration.limits
    if limit is None or not limits or "verdict" not in update or isinstance(run, Exception):
        return None
    if run.policy.on_limit != "partial" or run.ended_by is not None:
        return None
    told["ended_by"] = limit
    return {"route": limits[0], ENDED_RUN: build_stop_verdict(stop.reason, part.declaration.phase, {**stop.evidence})}


def _name_ended_limit(stop: Stop) -> str | None:
    """Return the limit of the budget that a stop is for, None of any other; a timeout may be one of the run's time."""
    details = stop.evidence.get("details")
    if stop.reason == "llm_timeout":
        return "max_seconds" if isinstance(details, dict) and details.get("limit") == "max_seconds" else None
    return stop.reason if stop.reason in ENDING_LIMITS else None


def _go_on_with_rest(part: Part, state: JsonObject, stop: Stop, visit: Visit, told: JsonObject) -> JsonObject | None:
    """Return the way on with what was refused a part of, where asking again brought nothing better; else None."""
    catalogue, name = part.frame.catalogue, part.declaration.name
    asked = _find_last_proposal(visit.log)
    refused = _list_refusals_since_acceptance(visit.log, asked["node"], part.frame.declarations) if asked else iter(())
    kept = next((line for line in refused if "rest" in line and line["node"] == name), None)
    if kept is None:
        return None
    families = {getattr(catalogue.find(reason), "family", None) for reason in (stop.reason, kept["reason"])}
    if len(families) > 1 and not _is_no_proposal(part, state, stop):
        return None
    told["steps"] = kept["rest"]["steps"]
    return {**kept["rest"]["writes"]}


def _is_no_proposal(part: Part, state: JsonObject, stop: Stop) -> bool:
    """Say whether a guard stops because the node in front of it brought no proposal to judge."""
    family = getattr(part.frame.catalogue.find(stop.reason), "family", None)
    return family == "llm" or ("refusal" in state and family in ("guard_error", "budget"))


def _refuse_odd_input(part: Part, state: JsonObject) -> None:
    for channel in part.declaration.reads:
        value = state.get(channel)
        if isinstance(value, dict) and REFUSED in value:
            raise build_request_stop(INPUT_FIELDS.get(channel, channel), value[REFUSED], "plain JSON")


def _raise_withholding_stop(part: Part, state: JsonObject, run: Run[Any, Any], visit: Visit) -> None:
    """Stop a run for what withholds it, before whoever asks now is told why a node brought nothing."""
    catalogue = part.frame.catalogue
    if not any(reason.withholds for reason in catalogue):
        return
    try:
        run_node_body(part, state, run, visit)
    except Exception as error:  # without a proposal a body may fail for anything else
        if isinstance(error, Stop) and catalogue.withholds(error.reason):
            raise


def _refuse_large_input(part: Part, state: JsonObject, most: int) -> None:
    """Refuse an input whose fields are larger than the run's budget allows."""
    if not is_larger_json([state.get(channel) for channel in part.declaration.reads], most):
        return  # nearly always
    for channel in part.declaration.reads:
        if is_larger_json(state.get(channel), most):
            raise build_request_stop(
                INPUT_FIELDS.get(channel, channel), f"more than {most} bytes (max_input_bytes)", "plain JSON"
            )


def _choose_guard_way(part: Part, passed: Any) -> str:
    if not isinstance(passed, Pass):
        raise GrammarBreach(f"returned a {type(passed).__name__}; a guard returns a Pass or raises a Stop")
    if not all(isinstance(told, Mapping) for step in passed.steps for told in (step.trace, step.history)):
        raise GrammarBreach("completed a step whose trace or history is no object")
    ways = part.declaration.to
    way = passed.to if passed.to is not None or len(ways) != 1 else ways[0]
    if way not in ways:
        raise GrammarBreach(f"passed to {way!r}; declared: {', '.join(ways)}")
    return str(way)


def write_guard_stop(part: Part, stop: Stop, visit: Visit) -> JsonObject:
    """Return what a guard writes to stop the run, if its declaration and the catalogue allow the stop."""
    item, frame = part.declaration, part.frame
    reason = frame.catalogue.find(stop.reason) if isinstance(stop.reason, str) else None
    shown = dict(stop.evidence)
    phase = shown.pop("phase", item.phase)
    unknown = shown.keys() - frame.evidence
    families = {*item.families} - {AUDIT_UNAVAILABLE}  # which is for whoever tells the recorder to say
    if reason is None or reason.family not in families or phase not in reason.phases or unknown:
        why = f"raised {stop!r} in phase {phase}, which its declaration and the catalogue do not allow"
        breach = GrammarBreach(why)
        visit.log_failure(breach)
        return write_guard_stop(part, convert_to_stop(part, breach), visit)
    return {"route": f"stop_{reason.family}", "verdict": build_stop_verdict(stop.reason, phase, shown)}


# Asking again


LONGEST_TOLD = 300  # characters of a text of evidence that a proposer is told
MOST_TOLD = 20  # items of a list of evidence that a proposer is told
_UNTOLD = ("raw_", "allowed")
"""Beginnings of the keys of evidence that a proposer is not told: what it wrote itself, and what lists hold."""


def find_proposer_to_ask(part: Part, reason: str, run: Run[Any, Any], visit: Visit) -> str | None:
    """Return the propose node that is asked again for a proposal that a guard refuses; None where the run stops."""
    known, log = part.frame.catalogue.find(reason), visit.log
    asked = _find_last_proposal(log)
    if known is None or not known.again or asked is None or run.ended_by is not None:
        return None
    node = asked["node"]
    if node not in part.declaration.again or not asked.get("askable"):
        return None
    attempts = 1 + len(list(_list_refusals_since_acceptance(log, node, part.frame.declarations)))
    if attempts > 1 and _is_proposed_again(log, node):
        return None
    budget, own = run.budget, part.declaration.attempts
    most = budget.max_attempts if own is None else min(budget.max_attempts, own)
    seconds_left = budget.max_seconds - visit.read_active_seconds(at_end=True)
    is_possible = seconds_left > asked["elapsed_ms"] / 1000 and len(log) + 1 < budget.max_visits
    return node if attempts < most and is_possible else None


def _find_last_proposal(log: Sequence[LogEntry]) -> LogEntry | None:
    return next((line for line in reversed(log) if line["kind"] == "propose"), None)


def _is_proposed_again(log: Sequence[LogEntry], node: str) -> bool:
    """Say whether a node that was asked again proposed the same: it would go on doing so."""
    last, before = [line.get("proposed") for line in log if line["node"] == node][:-3:-1]
    return last is not None and last == before


def _list_refusals_since_acceptance(
    log: Sequence[LogEntry], node: str, declarations: Mapping[str, Declaration]
) -> Iterator[LogEntry]:
    """Yield the lines that sent proposals of a node back, the latest first, until one was accepted."""
    for line in reversed(log):
        if line.get("verdict") == "again" and line["to"] == node:
            yield line
        elif line.get("verdict") == "pass" and (way := line["to"]) != node and declarations[way].kind != "guard":
            return


def find_refusal_before(log: Sequence[LogEntry]) -> Verdict | None:
    """Return the refusal for which the node that ran last was asked again, None where it was not."""
    if len(log) < 2 or log[-2].get("verdict") != "again" or log[-2]["to"] != log[-1]["node"]:
        return None
    return log[-2]["refused"]


def blame_missing_proposal(refused: Verdict, stop: Stop, key: str = "again") -> Verdict:
    """Return the stop of a run that got no other proposal, for what was refused before; its details say why."""
    details, own = refused["evidence"].get("details"), stop.evidence.get("details")
    why = {"reason": stop.reason, **({} if own is None else {"details": own})}
    told = details if isinstance(details, dict) else {} if details is None else {"details": details}
    return {**refused, "evidence": {**refused["evidence"], "details": {**told, key: why}}}


def name_stop_node(part: Part, reason: str) -> str:
    """Return the terminal that a stop reason of the catalogue leads to."""
    known = part.frame.catalogue.find(reason)
    assert known is not None  # it was refused for that in this run
    return f"stop_{known.family}"


def hash_proposal(call: RecordedCall) -> str | None:
    """Return what tells a proposal from another one, None where a call brought none."""
    outcome = Outcome.unpacked(call["outcome"])
    return None if outcome.form == "failure" else hash_call_value([outcome.form, outcome.content])


def describe_refusal(part: Part, log: Sequence[LogEntry], state: JsonObject) -> JsonObject | None:
    """Return what a proposer that is asked again is told, None where its node is not."""
    node, declarations = part.declaration.name, part.frame.declarations
    if not log or log[-1].get("verdict") != "again" or log[-1]["to"] != node:
        return None
    refused = log[-1]["refused"]
    known = part.frame.catalogue.find(refused["reason"])
    evidence = {} if known is None or known.untold else _cut_evidence(refused["evidence"])
    attempt = len(list(_list_refusals_since_acceptance(log, node, declarations)))
    why = "" if known is None else known.meaning
    told: JsonObject = {"reason": refused["reason"], "why": why, "evidence": evidence, "attempt": attempt}
    calls = [call for record in state.get(name_record_channel(node)) or () for call in record["calls"]]
    outcome = Outcome.unpacked(calls[-1]["outcome"]) if calls else None
    return told if outcome is None or outcome.form == "failure" else {**told, "proposal": outcome.content}


def _cut_evidence(evidence: JsonObject) -> JsonObject:
    return {name: _cut_told_value(item) for name, item in evidence.items() if not name.startswith(_UNTOLD)}


def _cut_told_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TOLD else f"{value[:LONGEST_TOLD]}..."
    if isinstance(value, list):
        return [_cut_told_value(item) for item in value[:MOST_TOLD]]
    return _cut_evidence(value) if isinstance(value, dict) else value


def list_attempts(log: Sequence[LogEntry]) -> list[Attempt]:
    """Return the proposals of a run that were refused and asked for again."""
    refused = [line["refused"] for line in log if line.get("verdict") == "again"]
    return [{"reason": item["reason"], "evidence": item["evidence"]} for item in refused]
