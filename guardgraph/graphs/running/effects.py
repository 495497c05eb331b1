"""Effects: what changes something outside is done once, whatever ends the process and whoever resumes the run.

Before a write is made its intent is kept, and after it its receipt, the whole outcome: beside the checkpoint on which
the node works, and by a recorder that keeps begun runs. A node that runs again finds both. A receipt is given back, and
nobody is called. An intent without a receipt is not acted on again, unless the tool is idempotent or can say what came
of it. Where nothing can keep the intent, the write is not made.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar
from uuid import uuid4

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBinding
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphInterrupt

from guardgraph.graphs.running.frame import Part, describe_run_error
from guardgraph.graphs.running.langgraph import CHECKPOINT_MAP, CHECKPOINTER
from guardgraph.graphs.running.recorder import Telling, has_method, has_parameter, list_write_notes, note_open_run
from guardgraph.graphs.running.session import Session
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, make_storable_json
from guardgraph.state.catalogue import EFFECT_UNKNOWN, EFFECT_UNRECORDABLE
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall, Recorder
from guardgraph.world.call import Asked, Performed
from guardgraph.world.failures import record_raised_exception, restore_raised_exception
from guardgraph.world.live import is_cut_off_outcome, limit_call_reply

LOGGER = logging.getLogger("guardgraph")

CHANNEL: Final = "guardgraph:effect"
"""No channel of a graph: LangGraph passes over what is written to it beside a checkpoint."""
KEY_NAME: Final = "idempotency_key"
"""The parameter of a function, and the key in a Runnable's configuration, that is given the key of a write."""
_WAIT, _PAUSE = 2.0, 0.005
"""Seconds to wait for the checkpoint of a graph around, which may be kept while its node is at work, and between two
looks."""
_INTERRUPTED = "interrupted"
"""Reason of the receipt of a write that interrupted the run by itself: it is made again when the run is resumed."""


@dataclass(frozen=True)
class Errand:
    """Something to be done at a checkpointer, a live policy or by LangGraph's own methods; each has an async one."""

    target: Any
    method: Literal["put", "put_writes", "get_tuple", "bulk_update_state", "read"]
    arguments: tuple[Any, ...]
    pause: float = 0.0  # seconds to wait before it

    def meet(self) -> Any:
        """Do it in this thread."""
        if self.pause:
            time.sleep(self.pause)
        return getattr(self.target, self.method)(*self.arguments)

    async def ameet(self) -> Any:
        """Do it without blocking the event loop."""
        if self.pause:
            await asyncio.sleep(self.pause)
        return await getattr(self.target, f"a{self.method}")(*self.arguments)


T = TypeVar("T")

Need: TypeAlias = tuple[Sequence[Asked], float] | Errand | Telling
"""What a node at work needs done: calls with the seconds that they have, an errand, what a recorder is told."""
Needs: TypeAlias = Generator[Need, Any, T]
"""A node at work: it yields what it needs done, and is sent back what came of it."""


@dataclass(frozen=True)
class KeptPlace:
    """The checkpoint on which a node works: what is kept beside it is there when the node runs again."""

    saver: BaseCheckpointSaver[Any]
    own: RunnableConfig
    around: tuple[RunnableConfig, ...]  # of the graphs around: without them, a resume would not come back here

    @property
    def checkpoint(self) -> str:
        """The checkpoint's id."""
        return str(self.own["configurable"]["checkpoint_id"])

    def locate_checkpoint(self, checkpoint: str) -> RunnableConfig:
        """Return where another checkpoint of the same graph on the same thread stands."""
        return {"configurable": {**self.own["configurable"], "checkpoint_id": checkpoint}}


def locate_node_checkpoint(config: Any) -> KeptPlace | None:
    """Return the checkpoint on which a node works, by its configuration; None where no checkpointer keeps the run."""
    configurable = (config or {}).get("configurable") or {}
    saver, ids = configurable.get(CHECKPOINTER), configurable.get(CHECKPOINT_MAP)
    if not isinstance(saver, BaseCheckpointSaver) or not ids:
        return None
    own = str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]
    places: dict[str, RunnableConfig] = {
        namespace: {
            "configurable": {
                "thread_id": str(configurable["thread_id"]),
                "checkpoint_ns": namespace,
                "checkpoint_id": checkpoint,
            }
        }
        for namespace, checkpoint in ids.items()
    }
    here = places.pop(own, None)
    return None if here is None else KeptPlace(saver, here, tuple(places.values()))


def perform_write(asked: Asked, seconds: float, recorder: Recorder | None, session: Session) -> Needs[Performed]:
    """Make a write once, and return what it brought, now or when it was made."""
    place = {"node": asked.node, "visit": asked.visit, "number": asked.number}
    key, began = digest({"request": session.request, **place, "hash": asked.request}), session.world.clock()
    if seconds <= 0:  # the world says that it is too late, and calls nobody
        [told] = yield [asked], seconds
        unmade: Performed = told._replace(key=key)
        return unmade
    try:
        claims = yield from _claim_visit(asked, recorder, session)
    except Exception as error:  # noqa: BLE001 - a checkpointer that fails: nothing was done yet
        return _build_failed_reply(
            EFFECT_UNRECORDABLE, asked.call.tool, key, {"checkpointer": describe_run_error(error)}
        )
    intent = _Note("intent", str(uuid4()), asked, key)
    if (why := (yield from _keep_write_note(intent, recorder, session))) is not None:
        return _build_failed_reply(EFFECT_UNRECORDABLE, asked.call.tool, key, why)
    try:
        known = yield from _list_kept_notes(place, recorder, session)
        known += yield from _list_notes_of_others(claims, asked, key, session)
    except Exception as error:  # noqa: BLE001 - a checkpointer or a recorder that cannot be read
        return _build_unknown_reply(asked, key, "unreadable", {"error": describe_run_error(error)})
    if earlier := [note for note in known if note["attempt"] != intent.attempt]:
        intent = replace(intent, key=earlier[0]["key"])
        if (given := (yield from _recall_write(intent, seconds, earlier))) is not None:
            if given.packed is None:
                yield from _keep_write_receipt(intent, given, recorder, session)
            return given
    left = seconds - (session.world.clock() - began)
    return (yield from _make_write_once(intent, left, recorder, session))


def _make_write_once(intent: _Note, seconds: float, recorder: Recorder | None, session: Session) -> Needs[Performed]:
    """Make a write whose intent is kept, and keep its receipt."""
    asked, key = intent.asked, intent.key
    handed, target = asked, asked.call.target
    if isinstance(target, Runnable):  # it finds the key in its configuration, beside what LangGraph hands on
        around = (var_child_runnable_config.get() or {}).get("configurable", {})
        keyed = RunnableBinding(bound=target, config={"configurable": {**around, KEY_NAME: key}})
        handed = replace(asked, call=replace(asked.call, target=keyed), key=key)
    elif callable(target) and has_parameter(target, KEY_NAME):
        handed = replace(asked, call=replace(asked.call, target=partial(target, **{KEY_NAME: key})), key=key)
    try:
        [performed] = yield [handed], seconds
    except GraphInterrupt:
        told = Outcome("failure", {"reason": _INTERRUPTED, "details": {}}, {})
        yield from _keep_write_receipt(intent, Performed(told, 0.0), recorder, session)
        raise
    except Exception as error:
        yield from _keep_write_receipt(intent, Performed(record_raised_exception(error), 0.0), recorder, session)
        raise
    performed = limit_call_reply(asked, performed)._replace(key=key)
    if not is_cut_off_outcome(performed.outcome):  # of one that is still at work, nobody knows what comes of it
        yield from _keep_write_receipt(intent, performed, recorder, session)
    return performed


def _recall_write(intent: _Note, seconds: float, earlier: list[JsonObject]) -> Needs[Performed | None]:
    """Return what came of a write that was begun before; None where it may be made again, with the same key."""
    asked, call, key = intent.asked, intent.asked.call, intent.key
    if other := next((note for note in earlier if note["request"] != asked.request), None):
        return _build_unknown_reply(asked, key, "another_request", {"kept": other})
    receipts = [note for note in earlier if note["kind"] == "receipt"]
    if receipts:
        given = _read_receipt(receipts[0])
        if (error := restore_raised_exception(given.outcome)) is not None:
            raise error
        return given
    said: JsonObject = {"kept": earlier[0]}
    if call.reconcile is not None:
        reconciling = replace(asked, call=replace(call, target=partial(_reconcile_write, call.reconcile, key)))
        [told] = yield [reconciling], seconds
        if told.outcome.form == "value" and isinstance(told.outcome.content, str):
            came = Performed(Outcome.unpacked(told.outcome.content), told.seconds)
            return limit_call_reply(asked, came)._replace(key=key)
        said |= {} if told.outcome.form == "value" else {"reconcile": told.outcome.content}
    return None if call.idempotent else _build_unknown_reply(asked, key, "no_receipt", said)


def _drop_interrupted_attempts(notes: list[JsonObject]) -> list[JsonObject]:
    """Return the notes of attempts but for those that interrupted the run by themselves, and are made again."""
    interrupted = {note["attempt"] for note in notes if note["kind"] == "receipt" and _is_write_interrupted(note)}
    return [note for note in notes if note["attempt"] not in interrupted]


def _is_write_interrupted(receipt: JsonObject) -> bool:
    outcome = Outcome.unpacked(receipt["outcome"])
    return outcome.form == "failure" and outcome.content["reason"] == _INTERRUPTED


def _reconcile_write(ask: Any, key: str, request: JsonObject) -> str | None:
    """Ask what came of a write; an outcome travels as the text that it is packed as."""
    came = ask(key)
    if came is not None and not isinstance(came, Outcome):
        raise TypeError(f"reconcile: an Outcome or None is required; given: {type(came).__name__}")
    return None if came is None else came.packed()


@dataclass(frozen=True)
class _Note:
    """What is kept of a write."""

    kind: Literal["intent", "receipt"]
    attempt: str  # tells one attempt to make the write from another
    asked: Asked
    key: str
    performed: Performed | None = None  # of a receipt: what the write brought

    def write(self) -> JsonObject:
        """Return the note as plain JSON."""
        asked, call = self.asked, self.asked.call
        said: JsonObject = {"kind": self.kind, "attempt": self.attempt, "key": self.key, "tool": call.tool}
        said |= {"node": asked.node, "visit": asked.visit, "number": asked.number, "request": asked.request}
        if asked.licence is not None:
            said |= {"args": call.request, "approval": asked.approval}
        if self.performed is not None:
            said |= {"outcome": self.performed.outcome.packed(), "seconds": self.performed.seconds}
        return said


def _keep_write_note(note: _Note, recorder: Recorder | None, session: Session) -> Needs[JsonObject | None]:
    """Keep a note wherever it can be kept; return why it is not kept, None where it is."""
    written, kept = note.write(), False
    try:
        if session.place is not None and (yield from _are_outer_checkpoints_kept(session)):
            writes = [(CHANNEL, written)]
            yield Errand(session.place.saver, "put_writes", (session.place.own, writes, str(uuid4())))
            kept = True
    except Exception as error:  # noqa: BLE001 - a checkpointer that fails: nothing was done yet
        return {"checkpointer": describe_run_error(error)}
    if has_method(recorder, "notes"):
        told = yield from note_open_run(recorder, session, note.kind, written)
        if told is not None and told.error is not None:
            return {"recorder": told.error}
        kept = kept or told is not None
    if kept:
        return None
    return {
        "allowed": "a checkpointer that keeps every step of the graphs around, or a recorder with note and notes",
        "given": "neither",
    }


def _keep_write_receipt(
    intent: _Note, performed: Performed, recorder: Recorder | None, session: Session
) -> Needs[None]:
    receipt = replace(intent, kind="receipt", performed=performed)
    if (why := (yield from _keep_write_note(receipt, recorder, session))) is not None:
        LOGGER.warning("the receipt of %s was not kept, run %s: %s", intent.asked.call.tool, session.run_id, why)


def _are_outer_checkpoints_kept(session: Session) -> Needs[bool]:
    """Say whether the checkpoints of the graphs around are kept, by which a resume comes back to this one."""
    place: KeptPlace = session.place
    if session.anchored is None:
        left = 0.0 if session.outer_durability == "exit" else _WAIT
        for config in place.around:
            pause = 0.0
            while (yield Errand(place.saver, "get_tuple", (config,), pause)) is None:
                left, pause = left - max(pause, _PAUSE), min(max(2 * pause, _PAUSE), 0.1)
                if left <= 0:
                    session.anchored = False
                    return False
        session.anchored = True
    return session.anchored


def _list_kept_notes(
    at: JsonObject, recorder: Recorder | None, session: Session, *, of_run: bool = False
) -> Needs[list[JsonObject]]:
    """Return what was kept of writes."""
    found: list[JsonObject] = []
    if session.place is not None:
        found += yield from _read_notes_beside(session.place.own, session)
    told = yield from list_write_notes(recorder, session, at)
    if told is not None:
        if told.error is not None:
            raise RuntimeError(f"the notes of the run could not be read: {told.error['message']}")
        notes = [note for note in told.came if not of_run or note["run_id"] == session.run_id]
        found += [note["content"] for note in notes if note["kind"] in ("intent", "receipt")]
    here = [note for note in found if note["kind"] in ("intent", "receipt") and at.items() <= note.items()]
    return _drop_interrupted_attempts(here)


def _claim_visit(asked: Asked, recorder: Recorder | None, session: Session) -> Needs[list[JsonObject]]:
    """Claim the visit of a write for this session, and return the claims of others who went another way to it."""
    place, first, visit = session.place, session.first_checkpoint, (asked.node, asked.visit)
    if place is None or first is None or has_method(recorder, "notes"):
        return []
    if visit not in first.claims:
        began = place.locate_checkpoint(first.id)
        at: JsonObject = {"kind": "claim", "run_id": session.run_id, "node": asked.node, "visit": asked.visit}
        claim = {**at, "checkpoint": place.checkpoint}
        yield Errand(place.saver, "put_writes", (began, [(CHANNEL, claim)], str(uuid4())))
        made = [note for note in (yield from _read_notes_beside(began, session)) if at.items() <= note.items()]
        first.claims[visit] = [note for note in made if note["checkpoint"] != place.checkpoint]
    return first.claims[visit]


def _list_notes_of_others(
    claims: list[JsonObject], asked: Asked, key: str, session: Session
) -> Needs[list[JsonObject]]:
    """Return what others who claimed the visit kept of a write; where that is nothing, they may be about to make it."""
    found: list[JsonObject] = []
    at = {"node": asked.node, "visit": asked.visit, "number": asked.number}
    for claim in claims:
        notes = yield from _read_notes_beside(session.place.locate_checkpoint(claim["checkpoint"]), session)
        here = _drop_interrupted_attempts([note for note in notes if at.items() <= note.items()])
        found += here or [{**claim, **at, "attempt": claim["checkpoint"], "request": asked.request, "key": key}]
    return found


def _read_notes_beside(config: RunnableConfig, session: Session) -> Needs[list[JsonObject]]:
    """Return what was kept of writes beside a checkpoint; nothing where it is gone."""
    stored = yield Errand(session.place.saver, "get_tuple", (config,))
    writes = stored.pending_writes or () if stored else ()
    return [value for _, channel, value in writes if channel == CHANNEL and isinstance(value, dict)]


def list_unasked_writes(part: Part, visit: int, made: Sequence[RecordedCall], session: Session) -> Needs[Any]:
    """Return the writes that a visit made before the run was resumed here, and did not ask for again."""
    name, numbers = part.declaration.name, {call["number"] for call in made}
    if session.is_replay:
        return [call for call in session.unasked if (call["node"], call["visit"]) == (name, visit)]
    if session.opening is None:  # the node before ran in this session, and so did all of this visit
        return []
    notes = yield from _list_kept_notes({"node": name, "visit": visit}, part.frame.recorder, session, of_run=True)
    kept: dict[int, JsonObject] = {}
    for note in notes:
        if note["number"] not in numbers and (note["kind"] == "receipt" or note["number"] not in kept):
            kept[note["number"]] = note
    return [_record_unasked_write(kept[number]) for number in sorted(kept)]


def _record_unasked_write(note: JsonObject) -> RecordedCall:
    reply = (
        _read_receipt(note)
        if note["kind"] == "receipt"
        else _build_failed_reply(EFFECT_UNKNOWN, note["tool"], note["key"], {"cause": "not_asked_again", "kept": note})
    )
    record = RecordedCall(
        node=note["node"],
        visit=note["visit"],
        number=note["number"],
        kind="tool",
        request=note["request"],
        effect="write",
        tool=note["tool"],
        key=note["key"],
        unasked=True,
        outcome=reply.outcome.packed(),
        seconds=reply.seconds,
    )
    if "args" in note:
        record["args"] = note["args"]
        if note["approval"] is not None:
            record["approval"] = note["approval"]
    return record


def is_effect_unknown(outcome: Outcome) -> bool:
    """Say whether an outcome is that of a write of which nobody knows what came of it."""
    return outcome.form == "failure" and outcome.content["reason"].startswith(f"{EFFECT_UNKNOWN}:")


def _read_receipt(note: JsonObject) -> Performed:
    """Return what a write brought when it was made."""
    packed = note["outcome"]
    return Performed(Outcome.unpacked(packed), note["seconds"], packed, key=note["key"])


def _build_unknown_reply(asked: Asked, key: str, cause: str, known: JsonObject) -> Performed:
    return _build_failed_reply(EFFECT_UNKNOWN, asked.call.tool, key, {"cause": cause, **known})


def _build_failed_reply(reason: str, tool: str, key: str, known: JsonObject) -> Performed:
    """Return what a write brings that is not made; it is not kept, so that a resume looks again."""
    details = make_storable_json({"key": key, **known})
    outcome = Outcome("failure", {"reason": f"{reason}:{tool}", "details": details}, {})
    return Performed(outcome, 0.0, outcome.packed(), key=key)
