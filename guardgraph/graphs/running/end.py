"""Ending: a terminal puts the result of a run together, and hands the recording of it to the recorder.

A run that is over is a `Conclusion`; its recording is made of the log and of what the nodes called; what comes of the
recorder is the run's audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from guardgraph.graphs.declaring import FAILED_ENDING, UNRECORDED_ENDING, name_record_channel
from guardgraph.graphs.running.frame import (
    Frame,
    GrammarBreach,
    Part,
    build_guard_error_stop,
    build_stop_verdict,
    convert_to_stop,
    is_recording_required,
    validate_body_writes,
)
from guardgraph.graphs.running.judge import list_attempts
from guardgraph.graphs.running.licensing import CALLS_KEY, list_called_tools
from guardgraph.graphs.running.recorder import NO_RECORDER, Steps, Telling, describe_run
from guardgraph.graphs.running.session import Visit, read_asker, run_node_body
from guardgraph.guards.proposals import proposal
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Run
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, copy_json, excerpt_value, make_storable_json
from guardgraph.plain.scopes import read_public_suffixes_version
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE, RESULT_DIFFERS, SUCCESS
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import Fingerprints, RecordedVisit, Recording, VisitRecord
from guardgraph.state.run import AUDITED, Audit, LogEntry, Opening, TimelineEntry
from guardgraph.state.spending import count_recorded_calls
from guardgraph.world.call import ObservedSession
from guardgraph.world.reviews import REJECTED

_DECIDED: Final = ("reviewer", "licence", "licences")  # what a timeline shows of a person's decision beside the answer

_UNSHOWN: Final = {
    "clock",
    "active",
    "opening",
    "observed",
    "live",
    "withheld",
    "refused",
    "askable",
    "proposed",
    "request",
    "format",
    "guardgraph",
    "began_at",
    "unbegun",
    "asked",
    "forked_from",
    "spent",
    "ended_by",
    "reserved",
    "answer",
}
"""Of a line in the log: what is for the record alone."""


@dataclass(frozen=True)
class Conclusion:
    """A run that is over."""

    part: Part  # its terminal
    state: JsonObject  # what the terminal read
    log: list[LogEntry]  # every line, the terminal's last
    came: JsonObject  # what came of it: the result but for how it went
    observed: ObservedSession | None = None  # who observes its last session

    @cached_property
    def visit_records(self) -> dict[int, VisitRecord]:
        """What the nodes called, by their place in the log."""
        channels = self.part.frame.records
        return {record["at"]: record for channel in channels for record in self.state.get(channel) or ()}

    @cached_property
    def result(self) -> JsonObject:
        """What came of it, with trace, history, path and timeline."""
        result = {**self.came, **self._build_shown_timeline(), **read_run_origin(self.log)}
        if "audit" in result:  # it stands last, as in what the graph returns
            result["audit"] = result.pop("audit")
        return result

    def _build_shown_timeline(self) -> JsonObject:
        if self.part.declaration.family == AUDIT_UNAVAILABLE:
            return withhold_steps(build_timeline(self.log, {}), "history")
        withholds = self.came["status"] != "ok" and self.part.frame.catalogue.withholds(self.came["stop_reason"])
        if withholds or any(line.get("withheld") for line in self.log):
            return withhold_steps(build_timeline(self.log, {}), "trace", "history")
        shown = build_timeline(self.log, self.visit_records)
        if asked := [line["asked"] for line in self.log if "asked" in line]:
            shown = {"asked_question": asked[-1], **shown}
        if attempts := list_attempts(self.log):
            shown["attempts"] = attempts
        calls = [call for record in self.visit_records.values() for call in record["calls"]]
        shown["usage"] = count_recorded_calls(calls).build_usage()
        return shown


def read_run_origin(log: list[LogEntry]) -> JsonObject:
    """Return what a result says of a fork: from which run it went on."""
    return {"forked_from": log[0]["forked_from"]} if log and "forked_from" in log[0] else {}


def withhold_steps(record: JsonObject, *names: str) -> JsonObject:
    """Return how a run went without what came of it, such as the answer of a run that is not recorded."""
    kept = ("step", "phase", "elapsed_ms", "ok")
    bare = {name: [{key: step[key] for key in kept if key in step} for step in record[name]] for name in names}
    return {**record, **bare}


def build_timeline(log: list[LogEntry], records: dict[int, VisitRecord]) -> JsonObject:
    """Return trace, history, path and timeline."""
    trace: list[JsonObject] = []
    history: list[JsonObject] = []
    timeline: list[TimelineEntry] = []
    elapsed = 0.0  # a step lasts from the end of the one before
    near: JsonObject = {}  # of the calls since then
    for at, entry in enumerate(log):
        elapsed += entry["elapsed_ms"]
        near |= entry.get("near_limit", {})
        steps = entry.get("steps", ())
        for traced, told in steps:
            head, tail = {"step": len(trace) + 1}, {"elapsed_ms": round(elapsed, 3)}
            trace.append({**head, **traced, **({"near_limit": near} if near else {}), **tail, "ok": True})
            history.append({**head, **told, **tail})
            elapsed, near = 0.0, {}
        line = {key: value for key, value in entry.items() if key not in _UNSHOWN}
        # The entry's own words first in order, and last in say: no proposer can rewrite the record.
        shown: Any = {**line, **_summarize_visit_calls(records[at], entry), **line} if at in records else line
        if steps:
            shown["steps"] = [step["step"] for step in trace[-len(steps) :]]
        timeline.append(shown)
    return {"trace": trace, "history": history, "path": [entry["node"] for entry in log], "timeline": timeline}


def _summarize_visit_calls(record: VisitRecord, entry: LogEntry) -> JsonObject:
    """Return what a timeline shows of the calls of a visit: what was proposed, what a person answered."""
    if entry["kind"] == "act":
        writes: list[JsonObject] = [{**call} for call in record["calls"] if call.get("effect") == "write"]
        return {"effects": [{name: call.get(name) for name in ("tool", "key")} for call in writes]} if writes else {}
    if entry["kind"] == "review":
        return _read_review_answer([Outcome.unpacked(call["outcome"]) for call in record["calls"]])
    outcomes = {call["number"]: call["outcome"] for call in record["calls"]}
    wrote = record.get("wrote", {})
    shown = {
        channel: _read_node_proposal(outcomes[item] if isinstance(item, int) else item)
        for channel, item in wrote.items()
    }
    told = {key: value for item in shown.values() for key, value in item.items()}
    if len(shown) > 1 and "proposal" in told:
        told["proposal"] = {name: item["proposal"] for name, item in shown.items() if "proposal" in item}
    return told


def _read_review_answer(outcomes: list[Outcome]) -> JsonObject:
    """Return what a person answered, be it a yes or a no, and who it was, or why no answer counts."""
    for outcome in outcomes:
        about: JsonObject = {name: outcome.about[name] for name in _DECIDED if name in outcome.about}
        if outcome.form == "failure" and outcome.content["reason"] == REJECTED:
            return {"answer": make_storable_json(outcome.content["details"]), **about}
        return {"failure" if outcome.form == "failure" else "answer": make_storable_json(outcome.content), **about}
    return {}


def _read_node_proposal(packed: str) -> JsonObject:
    try:
        return Outcome.unpacked(packed).describe_proposal()
    except NotJson:  # a body of a user's own may keep its proposal as any text
        return {"proposal": packed}


Watch: TypeAlias = Callable[[Frame, Recording], None]  # what is given every recording of the process, for tests

_watching: list[Watch] = []


@contextmanager
def watch_recordings(watch: Watch) -> Iterator[None]:
    """Give every recording of this process to `watch` while the block lasts; for tests."""
    _watching.append(watch)
    try:
        yield
    finally:
        _watching.remove(watch)


def build_recording(over: Conclusion) -> Recording:
    """Return the recording of a run that is over; whoever keeps it may do with it what they like."""
    frame, records = over.part.frame, over.visit_records
    calls = [call for at in sorted(records) for call in records[at]["calls"]]
    prompts = digest(sorted({call["prompt"] for call in calls if "prompt" in call}))
    recorded: Recording = copy_json(
        {
            **describe_run(frame, over.state["run"], over.state.get("given") or {}),
            "public_suffixes": read_public_suffixes_version(),
            "fingerprints": Fingerprints(**frame.judged_by, prompts=prompts),
            "visits": [_build_recorded_visit(entry, records.get(at)) for at, entry in enumerate(over.log)],
            "calls": calls,
            "result": over.result,
            **read_run_origin(over.log),
        }
    )
    return recorded


def _build_recorded_visit(entry: LogEntry, record: VisitRecord | None) -> RecordedVisit:
    """Return what a recording keeps of a line of the log, and of what was called meanwhile."""
    known: Any = {**entry, **(record or {})}
    visit: Any = {name: known[name] for name in RecordedVisit.__annotations__ if name in known}
    return visit  # type: ignore[no-any-return]


def build_unavailable_audit(why: JsonObject) -> Audit:
    """Return the audit of a run that was not recorded."""
    said: Audit = make_storable_json({"status": "unavailable", "error": {key: why[key] for key in ("type", "message")}})
    return said


def _read_recorder_receipt(given: object) -> Audit | None:
    """Return what a result says of what a recorder returned, None of what is no receipt."""
    if not isinstance(given, Mapping):
        return None
    said = Audit(status="recorded")
    seq, mark = given.get("seq"), given.get("hash")
    if isinstance(seq, int) and not isinstance(seq, bool):
        said["seq"] = seq
    if isinstance(mark, str):
        said["hash"] = mark
    audit: Audit = make_storable_json({**said})
    return audit


def run_terminal(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> Steps[JsonObject]:
    """Run a terminal, and return the result, or the way to the stop that says why there is none."""
    over = conclude_run(part, state, run, visit)
    if not isinstance(over, Conclusion):
        return over
    try:
        return (yield from _tell_conclusion(over, run))
    except Exception as error:  # see conclude_run
        if part.declaration.family is not None:
            raise
        return _route_failed_ending(part, visit, error)


def conclude_run(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit
) -> Conclusion | JsonObject:
    """Return the run that is over in a terminal, of which nobody was told yet; or the way to its failure's stop."""
    item = part.declaration
    if item.family is not None:
        return _conclude_run(part, state, run, visit, _build_stopped_result(part, state))
    try:
        if isinstance(run, Exception):
            raise run
        result = validate_body_writes(item, run_node_body(part, state, run, visit))
        own = result.get("audit", {})
        if not isinstance(own, dict) or own.keys() & {*AUDITED}:  # whether the run was recorded, no body says
            raise GrammarBreach(f"wrote an audit that is no object without {', '.join(AUDITED)}")
        check_held_result(part, state, result)
        came = {**_build_result_head(part, state), "status": "ok", "stop_reason": SUCCESS, **result}
        return _conclude_run(part, state, run, visit, came)
    except Exception as error:  # noqa: BLE001 - a failing ending must not look like a good one
        return _route_failed_ending(part, visit, error)


def _route_failed_ending(part: Part, visit: Visit, error: Exception) -> JsonObject:
    visit.log_failure(error)
    is_lie = isinstance(error, Stop) and error.reason.startswith(f"{RESULT_DIFFERS}:")
    stop = convert_to_stop(part, error) if is_lie else build_guard_error_stop(part, error)
    withholds = isinstance(error, Stop) and part.frame.catalogue.withholds(error.reason)
    line = visit.write_log_line({"reason": stop.reason, **({"withheld": True} if withholds else {})})
    said = build_stop_verdict(stop.reason, part.declaration.phase, stop.evidence)
    return {"route": FAILED_ENDING, "verdict": said, "log": [line]}


def _build_stopped_result(part: Part, state: JsonObject) -> JsonObject:
    said = state["verdict"]
    evidence = said["evidence"]
    stop = {"status": "stopped", "stop_reason": said["reason"], "phase": said["phase"], **evidence}
    audit = (
        {"audit": build_unavailable_audit(evidence["details"])} if part.declaration.family == AUDIT_UNAVAILABLE else {}
    )
    called = list_called_tools(state) if part.frame.table is not None and CALLS_KEY in part.frame.evidence else []
    found = _collect_so_far(part, state, said["reason"])
    shown = {**({CALLS_KEY: called} if called else {}), **({"so_far": found} if found else {})}
    return {**_build_result_head(part, state), **stop, **audit, **shown}


def _collect_so_far(part: Part, state: JsonObject, reason: str) -> JsonObject:
    """Return what guards had accepted before a run stopped; nothing of what its caller may not see."""
    is_withheld = part.frame.catalogue.withholds(reason) or any(line.get("withheld") for line in state["log"])
    if is_withheld or part.declaration.family == AUDIT_UNAVAILABLE:
        return {}
    found = {key: _read_accepted_value(state, where) for key, where in part.frame.so_far.items()}
    found["refused_answer"] = _find_refused_answer(part.frame, state)
    return {key: value for key, value in found.items() if value is not _MISSING and value not in (None, [], {}, "")}


def _find_refused_answer(frame: Frame, state: JsonObject) -> JsonObject | None:
    """Return the last answer that guards refused, as data; nothing where they let it through, or there is none."""
    log: list[LogEntry] = state["log"]
    written = [at for at, line in enumerate(log) if line["node"] in frame.answers]
    kinds = {name: item.kind for name, item in frame.declarations.items()}
    for at in reversed(written):
        after = (line for line in log[at + 1 :] if line.get("verdict") != "pass" or kinds[line["to"]] != "guard")
        way: Mapping[str, Any] = next(after, {})
        known = frame.catalogue.find(reason) if (reason := way.get("reason")) else None
        if way.get("verdict") == "pass":
            return None
        text = _read_written_text(state, log[at]["node"], at, frame)
        if known is not None and known.family not in _UNREFUSING and text:
            return {"text": text, "reason": reason, **way.get("answer", {})}
    return None


_UNREFUSING: Final = ("budget", "guard_error", "llm", "review")
"""Families of stops that say nothing of the answer that was written."""


def _read_written_text(state: JsonObject, node: str, at: int, frame: Frame) -> str:
    """Return the text of an answer as it was proposed, with its sections where it has any; "" where there is none."""
    records = state.get(name_record_channel(node)) or ()
    calls = next((record["calls"] for record in records if record["at"] == at), ())
    if not calls:
        return ""
    try:
        given = proposal(calls[-1]["outcome"])
    except Stop:
        return ""
    fields = given.value if isinstance(given.value, dict) else {}
    parts = fields.get("sections")
    texts = [each.get("text") for each in parts if isinstance(each, dict)] if isinstance(parts, list) else []
    said = [fields.get(frame.answers[node]), *texts] if fields else [given.text]
    return "\n\n".join(text for text in said if isinstance(text, str)).strip()


def _build_result_head(part: Part, state: JsonObject) -> JsonObject:
    return {"run_id": state["run"], "pattern": part.frame.catalogue.pattern}


def _conclude_run(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, came: JsonObject
) -> Conclusion:
    line: Any = visit.write_log_line({"phase": came["phase"]} if "phase" in came else {})
    if _is_stop_withheld(part, [*visit.log, line], visit):
        line["withheld"] = True
        if "opening" in line or not isinstance(run, Exception):  # else it says that the context could not be read
            came = {key: came[key] for key in (*_build_result_head(part, state), "status", "stop_reason", "phase")}
    visit.session.is_over = True
    return Conclusion(part, state, [*visit.log, line], came, observed=visit.session.observed)


def _tell_conclusion(over: Conclusion, run: Run[Any, Any] | Exception) -> Steps[JsonObject]:
    """Hand out what a run that is over leaves, and return the result with what came of that."""
    part = over.part
    if part.declaration.family == AUDIT_UNAVAILABLE:  # it is not tried once more
        return over.result
    audit, required = (yield from _hand_out_recording(over)), is_recording_required(part.frame, run)
    if required and part.frame.recorder is None:
        audit = build_unavailable_audit({**NO_RECORDER})
    if required and audit is not None and audit["status"] == "unavailable":
        # It says how the run would have ended, and no more.
        result, line = over.result, {**over.log[-1], "reason": AUDIT_UNAVAILABLE}
        ending: JsonObject = {key: result[key] for key in ("stop_reason", "outcome") if key in result}
        phase = result.get("phase", part.declaration.phase)
        verdict = build_stop_verdict(AUDIT_UNAVAILABLE, phase, {"details": {**audit["error"], **ending}})
        return {"route": UNRECORDED_ENDING, "verdict": verdict, "log": [line]}
    said: JsonObject = {**({"unbegun": over.log[0]["unbegun"]} if "unbegun" in over.log[0] else {}), **(audit or {})}
    return {**over.result, "audit": {**over.result.get("audit", {}), **said}} if said else over.result


def _is_stop_withheld(part: Part, log: list[LogEntry], visit: Visit) -> bool:
    """Say whether whoever asks now may not see what led to a stop: no guard has held it against them."""
    if part.declaration.family in (None, AUDIT_UNAVAILABLE):
        return False
    judged = [at for at, line in enumerate(log) if line["kind"] == "guard"]
    openings = [(at, line["opening"]) for at, line in enumerate(log) if "opening" in line]
    is_shielded = any(reason.withholds for reason in part.frame.catalogue)
    if not (is_shielded and judged and openings):
        return False
    if any(line.get("withheld") for line in log):
        return False
    now, then = openings[-1][1], [opening for at, opening in openings if at <= judged[-1]][-1:]
    return [now] != then and ("refused" in now or not then or _identify_asker(now) != _identify_asker(then[0]))


def _identify_asker(opening: Opening) -> tuple[str | None, str | None, frozenset[str]]:
    caller = read_asker(opening)
    return caller.tenant, caller.user, frozenset(caller.groups)


def _hand_out_recording(over: Conclusion) -> Steps[Audit | None]:
    """Hand out the recording of a run, where there is a recorder, with what the shadows make of it."""
    frame, watching = over.part.frame, _watching
    if frame.recorder is None and not watching:
        return None
    made = build_recording(over)
    if frame.shadows and frame.recorder is not None:
        made["shadows"] = {name: judge(made) for name, judge in frame.shadows.items()}
        if over.observed is not None:
            over.observed.see_shadows({name: {**shadow} for name, shadow in made["shadows"].items()})
    for watch in watching:
        with suppress(Exception):  # for tests; they change no run
            watch(frame, copy_json(made))
    if frame.recorder is None:
        return None
    told = yield Telling(frame.recorder, "record", made)
    return _read_recorder_receipt(told.came) if told.error is None else build_unavailable_audit(told.error)


_MISSING: Any = object()


def check_held_result(part: Part, state: JsonObject, result: JsonObject) -> None:
    """Hold what an ok terminal returns against the channels that the pattern names for it, and the record of calls."""
    for key, where in part.declaration.held:
        returned = result.get(key, _MISSING)
        if isinstance(where, tuple):
            if returned not in where:
                raise _refuse_ending(key, list(where), returned)
        elif (accepted := _read_accepted_value(state, where)) is not returned and accepted != returned:
            raise _refuse_ending(key, accepted, returned)
    if part.frame.table is not None and CALLS_KEY in result:
        made = list_called_tools(state)
        kept = {key for call in made for key in call} | {"approved_by", "failed"}
        told = [{key: item for key, item in call.items() if key in kept} for call in result[CALLS_KEY]]
        if told != made:
            raise _refuse_ending(CALLS_KEY, made, told)


def _read_accepted_value(state: JsonObject, where: str) -> JsonValue:
    channel, _, key = where.partition(".")
    value = state.get(channel, _MISSING)
    return value.get(key, _MISSING) if key and isinstance(value, dict) else value


def _refuse_ending(key: str, accepted: JsonValue, returned: JsonValue) -> Stop:
    said = {"accepted": accepted, "returned": returned}
    shown = {name: "nothing" if value is _MISSING else excerpt_value(value) for name, value in said.items()}
    return Stop(f"{RESULT_DIFFERS}:{key}", details=shown)
