"""Judging: a guard decides where the run goes, and whatever it does beyond that closes the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guardgraph.graphs.declaring.channels import name_input_field
from guardgraph.graphs.running.asking import (
    blame_missing_proposal,
    find_proposer_to_ask,
    find_refusal_before,
    name_stop_node,
)
from guardgraph.graphs.running.frame import (
    GrammarBreach,
    Part,
    build_stop_verdict,
    check_run_time,
    check_run_visits,
    convert_to_stop,
    run_node_body,
    validate_body_writes,
)
from guardgraph.graphs.running.live import check_run_enabled
from guardgraph.graphs.running.session import REFUSED, Visit
from guardgraph.guards.stop import Stop, build_request_stop
from guardgraph.nodes.body import PartialRefusal, Pass, Run, Step
from guardgraph.plain.json import JsonObject, is_larger_json, make_storable_json
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE

REFUSED_PROPOSAL = "refused"
"""Key of what a guard writes into its line of the log that has a proposer asked again."""


def run_guard(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> JsonObject:
    """Run a guard, and return what it writes: its way on or the stop, and its line in the log."""
    told: JsonObject = {}
    try:
        update = _pass_guard(part, state, run, visit, told)
    except Exception as error:  # noqa: BLE001 - the boundary that turns a failing guard into a stop
        visit.log_failure(error)
        update = _refuse_proposal(part, state, convert_to_stop(part, error), run, visit)
    if refused := update.pop(REFUSED_PROPOSAL, None):
        said: JsonObject = {"verdict": "again", "to": update["route"], "reason": refused["reason"], "refused": refused}
    elif stop := update.get("verdict"):
        said = {"verdict": "stop", "to": update["route"], "reason": stop["reason"]}
    else:
        said = {"verdict": "pass", "to": update["route"]}
    line = visit.write_log_line({**said, **told})
    return {**update, "log": [line]}


def _pass_guard(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, told: JsonObject
) -> JsonObject:
    item = part.declaration
    try:
        _raise_node_refusal(part, state, run, visit)
        if isinstance(run, Exception):
            raise run
        if "budget" in item.stops:  # else nothing is called before or behind it
            check_run_enabled(run, item.phase)
        _check_input_size(part, state, run.budget.max_input_bytes)
        passed = _run_guard_body(part, state, run, visit)
        way = _choose_guard_way(part, passed)
        update = {**validate_body_writes(item, passed.writes), "route": way}
        if passed.steps:
            told["steps"] = [_log_completed_step(step) for step in passed.steps]
        if passed.asked is not None:
            told["asked"] = make_storable_json(dict(passed.asked), around=1)
    finally:
        spent = visit.active_seconds
    following = part.frame.declarations[way]
    if "budget" in item.stops:
        check_run_visits(following, len(visit.log) + 1, run.budget.max_visits)
    check_run_time(following, spent, run.budget.max_seconds)
    return update


def _run_guard_body(part: Part, state: JsonObject, run: Run[Any, Any], visit: Visit) -> Any:
    """Run a guard's body; what it refuses a part of goes on with the rest, where nobody is asked again."""
    try:
        return run_node_body(part, state, visit.build_body_run(run))
    except PartialRefusal as refused:
        if find_proposer_to_ask(part, refused.reason, run, visit) is not None:
            raise
        return refused.rest


def _refuse_proposal(
    part: Part, state: JsonObject, stop: Stop, run: Run[Any, Any] | Exception, visit: Visit
) -> JsonObject:
    """Return what a guard writes that refuses: the way back to the proposer, or the stop."""
    closed = write_guard_stop(part, stop, visit)
    if closed["verdict"]["reason"] != stop.reason or isinstance(run, Exception):
        return closed
    if (asked := find_proposer_to_ask(part, stop.reason, run, visit)) is not None:
        return {"route": asked, REFUSED_PROPOSAL: closed["verdict"]}
    if (before := find_refusal_before(visit.log)) is None or not _is_no_proposal(part, state, stop):
        return closed
    return {"route": name_stop_node(part, before["reason"]), "verdict": blame_missing_proposal(before, stop)}


def _is_no_proposal(part: Part, state: JsonObject, stop: Stop) -> bool:
    """Say whether a guard stops because the node in front of it brought no proposal to judge.

    What a list or an access rule denied to that node is another matter: it is the stop, which may withhold the rest.
    """
    family = getattr(part.frame.catalogue.find(stop.reason), "family", None)
    return family == "llm" or ("refusal" in state and family in ("guard_error", "budget"))


def _raise_node_refusal(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> None:
    """Carry out what the node in front refused, and refuse an input that no state can hold."""
    if refusal := state.get("refusal"):
        if not isinstance(run, Exception):
            _raise_withholding_stop(part, state, visit.build_body_run(run))
        raise Stop(refusal["reason"], **refusal["evidence"])
    if part.declaration.entry:
        for channel in part.declaration.reads:
            value = state.get(channel)
            if isinstance(value, dict) and REFUSED in value:
                raise build_request_stop(name_input_field(channel), value[REFUSED], "plain JSON")


def _raise_withholding_stop(part: Part, state: JsonObject, run: Run[Any, Any]) -> None:
    """Stop a run for what withholds it, before whoever asks now is told why a node brought nothing.

    The node may have refused before it looked at who asks: its time was spent, or somebody else asked then.
    """
    catalogue = part.frame.catalogue
    if not any(reason.withholds for reason in catalogue):
        return
    try:
        run_node_body(part, state, run)
    except Exception as error:  # without a proposal a body may fail for anything else
        if isinstance(error, Stop) and catalogue.withholds(error.reason):
            raise


def _check_input_size(part: Part, state: JsonObject, most: int) -> None:
    """Refuse an input whose fields are larger than the run's budget allows."""
    for channel in part.declaration.reads if part.declaration.entry else ():
        if is_larger_json(state.get(channel), most):
            raise build_request_stop(
                name_input_field(channel), f"more than {most} bytes (max_input_bytes)", "plain JSON"
            )


def _choose_guard_way(part: Part, passed: Any) -> str:
    if not isinstance(passed, Pass):
        raise GrammarBreach(f"returned a {type(passed).__name__}; a guard returns a Pass or raises a Stop")
    ways = part.declaration.to
    way = passed.to if passed.to is not None or len(ways) != 1 else ways[0]
    if way not in ways:
        raise GrammarBreach(f"passed to {way!r}; declared: {', '.join(ways)}")
    return str(way)


def _log_completed_step(step: Step) -> list[JsonObject]:
    """Return a completed step as the log keeps it."""
    if not (isinstance(step.trace, Mapping) and isinstance(step.history, Mapping)):
        raise GrammarBreach("completed a step whose trace or history is no object")
    return [make_storable_json(step.trace, around=1), make_storable_json(step.history, around=1)]


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
