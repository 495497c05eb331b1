"""The record of a run: what was asked, what came back, what the clock said, and what was decided on it.

Everything in it is plain JSON, so that it can be kept anywhere; `docs/api.md` explains it field by field, and `schema`
says it as JSON Schema.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Protocol, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError, with_config
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.version import find_format_problem
from guardgraph.state.run import CLOSED, Kind, LiveReading, Moment, Opening, Sha256
from guardgraph.state.spending import CallUsage


@with_config(CLOSED)
class JudgedBy(TypedDict):
    """SHA-256 of what a shadow judges by, as in `Fingerprints`."""

    policy: Sha256
    """Of its policy."""
    budget: Sha256
    """Of its budget."""
    declarations: Sha256
    """Of its nodes and its catalogue."""


@with_config(CLOSED)
class ShadowEnding(TypedDict):
    """How a shadow would have ended the run."""

    status: str
    """``ok`` or ``stopped``, or ``refused`` where it would not have let in the run's context."""
    stop_reason: str
    """Why it would have stopped; ``success`` of a good ending."""
    outcome: NotRequired[str]
    """Of a good ending: what came of it."""
    phase: NotRequired[str]
    """Of a stop: where the run was."""


@with_config(CLOSED)
class ShadowCall(TypedDict):
    """The first call of a shadow that the run did not make, or made otherwise."""

    node: str
    """The node that would call."""
    visit: NotRequired[int]
    """Which visit of the node, from 1 on; absent where no single visit is meant."""
    number: NotRequired[int]
    """Which call of the visit, from 1 on; absent where no single call is meant."""
    difference: str
    """What is not as it was recorded."""


@with_config(CLOSED)
class ShadowError(TypedDict):
    """Why a shadow did not judge."""

    type: str
    """Of what it raised."""
    message: str
    """Of what it raised, its beginning."""


@with_config(CLOSED)
class Shadow(TypedDict):
    """What another agent of the pattern makes of the same outcomes."""

    kind: Literal["same", "changed", "unknown", "unreplayable", "failed"]
    """Whether its result is that of the run, or another; whether it would have called otherwise, so that nobody knows;
    whether the recording could not be read; or whether it failed."""
    fingerprints: NotRequired[JudgedBy]
    """What it judges by, as hashes; absent where it failed before it could say."""
    ending: NotRequired[ShadowEnding]
    """Of a shadow that is same or changed: how it ends."""
    guard: NotRequired[str]
    """Of one that is changed: the guard that stops the run, or that no longer does."""
    call: NotRequired[ShadowCall]
    """Of one that is unknown: the call that differs."""
    error: NotRequired[ShadowError]
    """Of one that is unreplayable or failed: why."""


CallKind: TypeAlias = Literal["proposer", "tool", "person"]  # who is called
Count: TypeAlias = Annotated[int, Field(ge=1)]  # a number that counts from 1 on


@with_config(CLOSED)
class RecordedAttempt(TypedDict):
    """One attempt to make a call."""

    waited: float
    """Seconds before it, since the attempt before or since the call began."""
    seconds: float
    """How long it took."""
    model: NotRequired[str]
    """Of a model's call: who was asked."""
    reason: NotRequired[str]
    """Of one that failed: the reason of its outcome."""
    details: NotRequired[JsonObject]
    """Of one that failed: ``status`` and ``cause``, where they are known."""
    usage: NotRequired[JsonObject]
    """Of a model's call: the tokens that it used up, where they are known."""
    no_time: NotRequired[Literal[True]]
    """Whether another attempt was worth it, and the run had no time left to wait for it."""


@with_config(CLOSED)
class RecordedCall(TypedDict):
    """One call, and what came back."""

    node: str
    """The node that called."""
    visit: Count
    """Which visit of the node, from 1 on."""
    number: Count
    """Which call of the visit, from 1 on."""
    at_once: NotRequired[Annotated[int, Field(ge=2)]]
    """How many calls were made at once, this one among them; absent of one that was made alone."""
    kind: CallKind
    """Who was called."""
    request: Sha256
    """SHA-256 of the request as canonical JSON: of ``{"request": …}``, with ``proposer`` and ``prompt`` beside it where
    there are any; for a call by name of ``{"tool": …, "args": …}``, which is its licence; for a person of
    ``{"shown": …, "run": …, "node": …, "visit": …, "settings": …}``, where settings is the SHA-256 of the fingerprints
    of policy and budget."""
    scope: NotRequired[Sha256]
    """SHA-256 of where the other side might go, such as hosts and limits, where it was told: it is no part of what was
    asked."""
    proposer: NotRequired[str]
    """The proposer's name: the model's, the function's, or ``offline``."""
    prompt: NotRequired[str]
    """The prompt's name and hash, ``name@hash``."""
    askable: NotRequired[Literal[True]]
    """Of a proposer that can be asked again when its proposal is refused; absent for all others."""
    reply_bytes: NotRequired[Annotated[int, Field(ge=0)]]
    """Bytes of the largest reply that was read, as it came; 0 where nobody counted them and nobody asked how many are
    allowed. Absent where nobody knows, and of a person."""
    effect: NotRequired[Literal["write"]]
    """Of a call that changes something outside."""
    tool: NotRequired[str]
    """Of a write, and of a call by name: the tool's name."""
    args: NotRequired[JsonObject]
    """Of a call by name: its arguments."""
    approval: NotRequired[Sha256]
    """Of a call by name that a person had to approve: the approval that it used up."""
    key: NotRequired[Sha256]
    """Of a write: the key by which its tool knows it again; `docs/effects.md` says of what."""
    unmade: NotRequired[Literal[True]]
    """Of a call that was not made, since the budget of the caller's tenant had no room for it, or a circuit is open."""
    unasked: NotRequired[Literal[True]]
    """Of a write that was made before the run was resumed, and that its node did not ask for again."""
    attempts: NotRequired[Annotated[list[RecordedAttempt], Field(min_length=1)]]
    """Of a call that was made more than once, or would have been, had there been time: every attempt, the last one with
    this outcome."""
    usage: NotRequired[CallUsage]
    """Of a model's call: what was reserved for it, and what it used up."""
    outcome: str
    """JSON text of ``[form, content, about]``: form is ``text`` (of a model), ``value`` (what was returned) or
    ``failure`` (reason and details; a timeout is one too); about has the proposer, its prompt and its usage. Of a
    person it has ``reviewer``, who answered, ``licence``, of the call that was shown, if one was, or ``licences``, of
    several, ``delegation``, what a document would license, if that was shown, and ``approval``, the SHA-256 of
    ``{"question": …, "decision": …, "reviewer": …, "licence": …, "licences": …, "delegation": …}`` with those of them
    that there are."""
    seconds: float
    """How long it took."""


class VisitRecord(TypedDict):
    """What a node called when it was visited; kept in a channel that no body reads."""

    at: int  # place in the log
    calls: list[RecordedCall]
    answers: NotRequired[list[str]]  # what a body was answered that interrupted the run by itself
    shown_hash: NotRequired[str]  # what it showed for these answers, as a hash
    wrote: NotRequired[dict[str, str | int]]
    """Of a propose node: its raw channels, each a text or the number of the call whose outcome it holds."""


@with_config(CLOSED)
class RecordedVisit(TypedDict):
    """A node that ran."""

    node: str
    """Its name."""
    kind: Kind
    """What it is for the grammar."""
    clock: Annotated[list[float], Field(min_length=2)]
    """Readings of the clock, in seconds: the one that time counts from, the node's first, others, its last."""
    opening: NotRequired[Opening]
    """What holds from here on: of the first node, and of the first after every resume."""
    live: NotRequired[Annotated[list[LiveReading], Field(min_length=1)]]
    """Of an agent with a live policy: what the node read of it, before it began and before calls with a licence."""
    reserved: NotRequired[Annotated[float, Field(gt=0, allow_inf_nan=False)]]
    """Seconds of the budget that were kept from it, for a last answer; see `OnLimit`."""
    answers: NotRequired[list[str]]
    """What a body was answered that interrupted the run by itself, instead of calling a person: a JSON text each."""
    shown_hash: NotRequired[Sha256]
    """SHA-256 of the list of what it showed for these answers, as plain JSON."""


@with_config(CLOSED)
class Fingerprints(TypedDict):
    """SHA-256 of what a run was judged by."""

    policy: Sha256
    """Of the deployment's policy; the order of its fields, and of lists that are sets, counts for nothing."""
    budget: Sha256
    """Of the deployment's budget."""
    declarations: Sha256
    """Of the nodes: who follows whom, who reads and writes what, who may stop for what; and of the catalogue."""
    prompts: Sha256
    """Of the prompts that were used, by name and hash."""


@with_config(CLOSED)
class ForkedFrom(TypedDict):
    """Where a fork went on from."""

    run_id: str
    """The id of the run from whose earlier checkpoint it did."""
    checkpoint: str
    """The id of that checkpoint."""


@with_config(CLOSED)
class Recording(TypedDict):
    """A finished run, with all that is needed to decide it again."""

    format: Literal[1]
    """The version of this form."""
    guardgraph: str
    """The version of guardgraph that made it."""
    public_suffixes: str
    """The version of the list of public suffixes by which its hosts were judged."""
    pattern: str
    """The pattern's name, as its catalogue has it."""
    graph: str
    """The graph's name."""
    run_id: str
    """The run's id, a UUID."""
    forked_from: NotRequired[ForkedFrom]
    """Of a fork: the run from which it went on. The visits before are that run's."""
    input: JsonObject
    """The input's fields, as the door let them in."""
    nameless: NotRequired[list[list[str | int]]]
    """Places in the input with a number for which JSON has no form; its name stands there, ``nan``, ``inf`` or
    ``-inf``."""
    redacted: NotRequired[list[list[str | int]]]
    """Places, as keys and indices, also into texts that are JSON, where a store did not keep what stood there:
    ``[redacted]`` stands there instead. Requests and other hashes of such a run are zeros."""
    policy: JsonObject
    """The deployment's policy, not yet tightened by a context."""
    budget: JsonObject
    """The deployment's budget, not yet tightened by a context."""
    fingerprints: Fingerprints
    """What the run was judged by, as hashes."""
    visits: Annotated[list[RecordedVisit], Field(min_length=1)]
    """The nodes that ran, in their order."""
    calls: list[RecordedCall]
    """What they called, in the order of the visits."""
    result: JsonObject
    """What the run returned."""
    shadows: NotRequired[dict[str, Shadow]]
    """What other agents of the pattern make of the same outcomes, by the name that the deployment gave them."""


@with_config(CLOSED)
class BegunRun(TypedDict):
    """A run that began: what its entry guard let in, told before anything is called."""

    format: Literal[1]
    """The version of this form."""
    guardgraph: str
    """The version of guardgraph that runs it."""
    pattern: str
    """The pattern's name, as its catalogue has it."""
    graph: str
    """The graph's name."""
    run_id: str
    """The run's id, a UUID."""
    request: str
    """The id of what was asked: the client's `request_key`, else the id that a server gave its run, else the run's.

    Of a graph inside a graph, the first two have its place behind a ``|``; of a fork, the id of its checkpoint."""
    thread: str | None
    """The thread on which a checkpointer keeps the run, of a graph inside a graph with its place behind a ``|``; None
    for one that nobody can resume."""
    input: JsonObject
    """The input's fields, as the door let them in."""
    nameless: NotRequired[list[list[str | int]]]
    """As in a `Recording`."""
    policy: JsonObject
    """The deployment's policy, not yet tightened by a context."""
    budget: JsonObject
    """The deployment's budget, not yet tightened by a context."""
    fingerprints: JudgedBy
    """What the run is judged by, as hashes."""
    redacted: NotRequired[list[list[str | int]]]
    """As in a `Recording`."""
    opening: Opening
    """When it began, under which context, and who asked."""
    forked_from: NotRequired[ForkedFrom]
    """Of a fork: the run from which it went on."""


NoteKind: TypeAlias = Literal["waiting", "decision", "intent", "receipt"]
"""What is noted of an open run: it waits for a person, somebody is about to answer, it is about to act, or what an act
of it brought."""


@with_config(CLOSED)
class RunNote(TypedDict):
    """Something that is kept of an open run before its ending."""

    run_id: str
    """The run's id."""
    request: str
    """As in a `BegunRun`."""
    kind: NoteKind
    """What is noted."""
    at: Moment
    """UTC, ISO 8601."""
    content: JsonObject
    """Of ``waiting``: what the result of a run that waits holds; of ``decision``: attempt, the hash of the question,
    decision and by whom; of ``intent``: key, tool, node, visit, number and the
    request's hash; of ``receipt``: key, and the whole outcome as it is packed."""
    redacted: NotRequired[list[list[str | int]]]
    """As in a `Recording`."""


class Recorder(Protocol):
    """Whoever keeps finished runs.

    One that may also keep runs that have not ended is an `OpenRecorder`.
    """

    def record(self, run: Recording) -> JsonValue:
        """Keep a run that has ended; it is called in the terminal's step, before the result is returned.

        A run may be given more than once, such as one whose `ainvoke` was cancelled while it was being recorded, and
        which was then resumed: keep it by its ``run_id``.

        A recorder may have an attribute `timeout`, in seconds: it is then called in a thread of its own, and waited for
        no longer. Without one it is waited for until it returns.

        Returns:
            A receipt, ``{"seq": int, "hash": str}``, which the result's ``audit`` shows; or None.

        Raises:
            Exception: the run could not be kept. Its result says so, or the run ends in ``stop_audit_unavailable``
                where the policy has `audit_required`.
        """


class OpenRecorder(Recorder, Protocol):
    """A recorder that keeps runs from their beginning on, so that none acts unseen.

    Its methods are called as `Recorder.record` is: under its `timeout`, in a thread of their own from async code.
    """

    def begin(self, run: BegunRun) -> JsonValue:
        """Keep that a run began; nothing is called before this returns. What `record` is given later closes it.

        A run that began earlier on the same thread, for the same tenant, and never ended is closed as superseded.
        Where this raises and the policy has `audit_required`, the run ends before any call.
        """

    def note(self, note: RunNote) -> JsonValue:
        """Keep something of an open run; once this returns, it is kept, and where it cannot be, this raises."""

    def notes(self, request: str) -> list[RunNote]:
        """Return what was noted of a request, of all its runs, in the order in which it was noted.

        A recorder whose `note` returns a receipt with ``seq``, the number of an entry, may take ``after`` here, such a
        number: then it returns what was noted behind that entry. Without it each write of a run reads all notes of its
        request.
        """


class _Plain(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False  # a field's title would be its name once more


@cache
def _get_recording_adapter() -> TypeAdapter[Recording]:
    return TypeAdapter(Recording)


def schema() -> JsonObject:
    """Return the JSON Schema of a recording."""
    made = _get_recording_adapter().json_schema(schema_generator=_Plain)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def validate_recording(given: Any) -> Recording:
    """Return a recording, if it is one."""
    shape = given if isinstance(given, dict) else {}
    if (problem := find_format_problem(shape.get("format"), shape.get("guardgraph"))) is not None:
        raise InputError(f"recording: {problem}")
    try:
        return _get_recording_adapter().validate_python(given)
    except ValidationError as error:
        found = ((".".join(map(str, item["loc"])), item) for item in error.errors(include_url=False))
        lines = (f"recording.{place}: {item['msg']}; given: {item['input']!r:.80}" for place, item in found)
        raise InputError("\n".join(lines)) from None
