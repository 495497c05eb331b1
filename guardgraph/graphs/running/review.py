"""A review: a person is asked until a decision counts, and what the run shows and notes meanwhile.

The world asks, the reviewers of the deployment say who answered, and the policy says whether that is enough. An answer
counts in the session in which it was given: LangGraph hands a resumed node all earlier ones again, and whoever resumes
the run then is not who gave them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from langgraph.errors import GraphInterrupt

from guardgraph.graphs.running.end import build_timeline, read_run_origin, withhold_steps
from guardgraph.graphs.running.frame import Part, describe_run_error
from guardgraph.graphs.running.live import find_switch_stop
from guardgraph.graphs.running.recorder import Steps, is_recording_required, note_open_run
from guardgraph.graphs.running.session import Session, Visit, format_utc_moment
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject, copy_json, make_storable_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.review import Identity, Reviewers, ReviewPolicy, find_identity_problem, parse_identity
from guardgraph.state.run import LogEntry
from guardgraph.world.call import Asked, Call, Performed, hash_call_value
from guardgraph.world.reviews import (
    bind_recorded_decision,
    build_beside_question,
    build_decision,
    build_expired_review,
    build_unavailable_review,
    find_answer_problem,
    is_answer_of_session,
    is_review_unanswered,
    read_asked_answer,
    read_question,
)

_LONGEST = 1e9  # seconds, some thirty years, until which a date is named

Asking: TypeAlias = Generator[tuple[Sequence[Asked], float], list[Performed], Performed]
"""A review at work: it yields whom the world asks, and is sent back what that brought."""


def ask_for_decision(asked: Asked, left: float, part: Part, run: Run[Any, Any], visit: Visit) -> Asking:
    """Ask a person until a decision counts."""
    session = visit.session
    if not session.resumable:
        return Performed(build_unavailable_review(), 0.0)
    if session.is_replay:
        [performed] = yield [asked], left
        outcome = bind_recorded_decision(performed.outcome, asked)
        return performed if outcome is performed.outcome else performed._replace(outcome=outcome, packed=None)
    before = read_question(session.question, asked.node)
    asked_at, expired = _time_question(asked, before, run, session)
    if expired is not None:
        return Performed(expired, 0.0)
    asked = replace(asked, beside=build_beside_question(asked, before, asked_at))
    kept, given = _list_session_answers(session)
    for _ in [*kept, None]:  # each is handed over once; then the run waits
        [performed] = yield [asked], left
        if is_review_unanswered(performed.outcome):
            return performed
        answer = read_asked_answer(performed.outcome)
        is_kept = is_answer_of_session(answer, kept)
        if is_kept and not is_answer_of_session(answer, given):
            continue
        problem = find_answer_problem(answer, asked)
        if problem is None:
            reviewer = yield from _identify_reviewer(answer, asked, left, part.frame.reviewers, run)
            refusal = _find_refusal(reviewer, run, visit)
            if refusal is None:
                assert not isinstance(reviewer, str)  # which is a refusal
                session.question = None  # it is answered: what the next visit asks is a question of its own
                return performed._replace(outcome=build_decision(answer, asked, reviewer), packed=None)
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
    elif kept and is_answer_of_session(kept[-1], [*(session.resume_map or {}).values()]):
        before, last = kept[:-1], kept[-1:]
    else:
        before, last = kept, []
    everything = [*kept, *last]
    if session.answers is not None:
        return everything, session.answers
    return everything, [item for item in last if not is_answer_of_session(item, before)]


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
    if (expired := build_expired_review(since, now, most)) is not None:
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
    """Return the user who began a run: whom its context named then, else whom the server did."""
    opening: Any = log[0].get("opening") if log else None
    if opening is None:
        return None
    context = opening["context"] if isinstance(opening["context"], dict) else {}
    starter = context.get("caller") or opening["caller"] or {}
    user = starter.get("user") if isinstance(starter, dict) else None
    return user if isinstance(user, str) else None


def wait_for_answer(part: Part, interrupt: GraphInterrupt, run: Run[Any, Any] | Exception, visit: Visit) -> Steps[None]:
    """Let a run wait: what it shows meanwhile is in its session, and noted by the recorder."""
    session = visit.session
    session.waiting = session.waiting or describe_waiting_run(part, interrupt, visit)
    with session.pause_clock():
        told = yield from note_open_run(part.frame.recorder, session, "waiting", session.waiting)
    if told is not None and told.error is not None and is_recording_required(part.frame, run):
        bare = withhold_steps(build_timeline(visit.log, {}), "history")
        session.waiting = {**session.waiting, **bare, "path": session.waiting["path"]}


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
