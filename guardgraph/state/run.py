"""What every pattern's state and result share."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NotRequired, TypeAlias, get_args

from pydantic import AfterValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.spending import Usage

if TYPE_CHECKING:
    from typing_extensions import ReadOnly
else:

    class ReadOnly:
        """For type checkers alone: Pydantic warns of the real one in every model that holds a result."""

        def __class_getitem__(cls, hint):
            return hint


CLOSED = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)
"""What is recorded has no other fields, and nothing in it is taken for something that it is not."""


_DAY, _TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


def _check_calendar(moment: str) -> str:
    datetime.fromisoformat(moment)  # the pattern has the 30th of February, too
    return moment


Moment: TypeAlias = Annotated[
    str, Field(pattern=f"^{_DAY}T{_TIME}([+-][0-9]{{2}}:[0-9]{{2}})?$"), AfterValidator(_check_calendar)
]
"""A date and time as ISO 8601 has them."""

Sha256: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # a hash, 64 hex digits


@with_config(CLOSED)
class Unreadable(TypedDict):
    """Why a live policy could not be read."""

    type: str
    """Of what was raised."""
    message: str
    """Of what was raised, its beginning."""


@with_config(CLOSED)
class Switch(TypedDict):
    """Who changed a live policy last."""

    by: str
    """Who it was, in their own words."""
    why: str
    """Why, in theirs."""
    at: NotRequired[str]
    """When, as ISO 8601."""


@with_config(CLOSED)
class LiveReading(TypedDict):
    """What a node read of the live policy: it tightens the policy as long as the node is at work."""

    version: NotRequired[Sha256]
    """SHA-256 of what it says, as canonical JSON; absent where it has never been read."""
    policy: NotRequired[JsonObject]
    """The fields that it sets; absent where the reading before in the run has the same version."""
    switched: NotRequired[Switch]
    """Who changed it last, where it says so; absent as `policy` is."""
    unreadable: NotRequired[Unreadable]
    """Why it could not be read this time; with `version`, what was read before still counts."""


@with_config(CLOSED)
class Asking(TypedDict):
    """Who asks, as plain JSON; see `guardgraph.state.context.Caller`."""

    tenant: str | None
    """The organisation for which the user asks."""
    user: str | None
    """The user's identity."""
    groups: list[str]
    """The groups that the user belongs to."""


@with_config(CLOSED)
class Opening(TypedDict):
    """What holds from here on, until a run is resumed: written by the first node that runs in a process."""

    started_at: Moment
    """UTC, ISO 8601."""
    context: JsonValue
    """The context as it was given, None for none."""
    caller: Asking | None
    """Who asked, where LangGraph's server says it; else the context does."""
    carried: float
    """Seconds that an attempt took which was cancelled or interrupted before it could write anything."""
    resumable: bool
    """Whether a checkpointer keeps the run."""
    refused: NotRequired[str]
    """What a context that cannot be read raised, as a packed outcome; every node was closed by it."""


RECORDED = (
    *("run_id", "pattern", "status", "stop_reason", "phase", "asked_question", "trace", "history", "path", "timeline"),
    *("attempts", "forked_from", "usage", "so_far"),
)
"""Keys of a result that say how the run went; no body writes them."""

AUDITED = ("status", "seq", "hash", "error", "unbegun")
"""Keys of a result's ``audit`` that say whether the run was recorded; no body writes them."""

Kind = Literal["propose", "act", "review", "guard", "terminal"]  # what a node is, for the grammar


class LogEntry(TypedDict):
    """One node that ran. A guard adds its verdict and, when it completes steps, what goes to trace and history."""

    node: str
    kind: Kind
    phase: str
    elapsed_ms: float
    clock: list[float]
    """Readings of the clock, in seconds: the one that time counts from, the node's first, others, its last."""
    active: float  # seconds for which the run had been active when the node ended
    opening: NotRequired[Opening]
    observed: NotRequired[str]
    """Of the first node of a session that is observed: what its observer knows the session by."""
    live: NotRequired[list[LiveReading]]  # of an agent with a live policy: what the node read of it
    reserved: NotRequired[float]  # seconds of the budget that were kept from the node, for a last answer
    verdict: NotRequired[Literal["pass", "again", "limit", "stop"]]
    to: NotRequired[str]
    reason: NotRequired[str]
    rest: NotRequired[JsonObject]
    """Of a guard that sent a proposal back which it refuses in part: how the run would go on with the rest."""
    refused: NotRequired[Verdict]
    """Of a guard that sent a proposal back, or had the last answer written: the stop that it would have been."""
    ended_by: NotRequired[str]  # of a guard that had the last answer written: the limit that ended the run
    answer: NotRequired[JsonObject]
    """Of a guard that refused an answer whose sentences were judged: its text, and those that are unverified."""
    askable: NotRequired[bool]  # of a propose node: whether its proposer can be asked again
    proposed: NotRequired[str]
    """Of a propose node whose proposer can: a hash of what it proposed, which tells whether that changed."""
    withheld: NotRequired[bool]
    """Of an ok ending that failed: whether the result may say nothing of what came of the run."""
    steps: NotRequired[list[tuple[JsonObject, JsonObject]]]
    asked: NotRequired[JsonObject]  # of a guard: what the run was asked, as results show it
    request: NotRequired[str]  # of the first node: the id of what was asked, where it is not the run's
    began_at: NotRequired[str]
    """Of the first node of a graph that changes something outside: the checkpoint at which it worked."""
    unbegun: NotRequired[dict[str, str]]  # of the first node: what the recorder raised that was told of the beginning
    forked_from: NotRequired[dict[str, str]]
    """Of the first node of a fork: the run, and the checkpoint of it, from which this run went on."""
    spent: NotRequired[JsonObject]  # of a node that called: what the run had spent when it ended; see `Spending`
    near_limit: NotRequired[JsonObject]
    """Of a node that called: limits of which the run has now spent 80 %; see `find_near_limits`."""


class TimelineEntry(TypedDict):
    """One node that ran, as results show it. Keys that do not belong to its kind are absent."""

    node: str
    kind: Kind
    phase: str
    elapsed_ms: float
    proposal: NotRequired[JsonValue]
    """Of a propose node: what it proposed, before anybody judged it; a model's text where it is no JSON."""
    failure: NotRequired[JsonObject]
    """Of a propose node that got no proposal, and of a review whose answer does not count: reason and details."""
    proposer: NotRequired[str]
    prompt: NotRequired[str]
    model: NotRequired[str]
    """Of a proposal that a model wrote: what its provider calls the model, where that is not the proposer's name."""
    usage: NotRequired[JsonObject]
    near_limit: NotRequired[JsonObject]
    """Of a node whose calls brought the run to 80 % of a limit, or over it: by its name ``{limit, spent}``."""
    answer: NotRequired[JsonValue]  # of a review node: what the person answered, be it a yes or a no
    effects: NotRequired[list[JsonObject]]
    """Of an act node that changed something outside, or may have: the tool and the key of each write."""
    reviewer: NotRequired[JsonObject]
    """Of a review node: who answered, ``{status: "verified", name, roles}``, or ``{status: "unverified"}``."""
    licence: NotRequired[str]  # of a review node that shows a call: the SHA-256 of its tool and arguments
    verdict: NotRequired[Literal["pass", "again", "limit", "stop"]]
    """Of a guard: the run went on, the proposer was asked again, a limit has the last answer written, or it stopped."""
    to: NotRequired[str]  # of a guard: the node that it sent the run to
    reason: NotRequired[str]  # of a guard that stopped the run or had the proposer asked again: the stop reason
    steps: NotRequired[list[int]]  # of a guard: numbers of the steps in trace and history that it completed


class Verdict(TypedDict):
    """A stop on its way from a guard to its terminal."""

    reason: str
    phase: str
    evidence: JsonObject


class Waiting(TypedDict):
    """What a run that waits for a person shows; LangGraph's ``__interrupt__`` stands beside it."""

    run_id: str
    pattern: str
    status: Literal["waiting"]
    phase: str
    waiting_for: JsonObject
    """``{node, shown, hash}``: who asks, what the person is shown, and the hash that the answer has to name.

    Where it shows a call, ``licence`` is the hash of tool and arguments. Where it stands for a time only, ``asked_at``
    and ``expires_at`` say from when and until when. After an answer that does not count, ``problem`` says why. Where
    another question was asked or answered before, ``instead_of`` is its hash and ``changed`` names what is not the
    same: ``shown``, ``settings``, or ``place``, for a hash of another run, node or visit.
    """
    trace: list[JsonObject]
    history: list[JsonObject]
    path: list[str]
    timeline: list[TimelineEntry]
    """As in a `Result`, of the nodes that ran so far; the one that waits is only in ``path``."""
    forked_from: NotRequired[dict[str, str]]  #: as in a `Result`


class Audit(TypedDict):
    """Whether a run was recorded; in no recording, since that is found out when the recording is kept."""

    status: NotRequired[Literal["recorded", "unavailable"]]
    """Absent where nobody recorded the run, or the recorder gave no receipt."""
    seq: NotRequired[int]  # of a recorded run, where its recorder says it: the number of the record
    hash: NotRequired[str]  # of a recorded run, where its recorder says it: the hash of the record
    error: NotRequired[dict[str, str]]  # of a run that was not recorded: ``{type, message}``, what the recorder raised
    unbegun: NotRequired[dict[str, str]]
    """Of a run whose beginning was not recorded: ``{type, message}``, what the recorder raised then."""


class Attempt(TypedDict):
    """A proposal that was refused, after which its proposer was asked again."""

    reason: str  # the stop reason that it would have been
    evidence: JsonObject  # the keys of a result that would have shown what was refused


Role: TypeAlias = Literal["user", "assistant"]  # who said a turn

ROLES: Final[tuple[str, ...]] = get_args(Role)


class Turn(TypedDict):
    """What somebody said in a conversation."""

    role: Role
    content: str


class AskedQuestion(TypedDict):
    """What a run was asked."""

    own: str  # the words of the person
    standalone: NotRequired[str]
    """Where the question follows a conversation: the same question, rewritten to be understood without it."""


class Result(TypedDict):
    """What every run returns. Keys that do not belong to the ending are absent."""

    run_id: str
    pattern: str
    status: ReadOnly[Literal["ok", "stopped"]]
    stop_reason: str
    asked_question: NotRequired[AskedQuestion]  #: of a pattern whose guards say it: what the run was asked
    trace: list[JsonObject]
    history: list[JsonObject]
    path: list[str]
    timeline: list[TimelineEntry]
    attempts: NotRequired[list[Attempt]]  #: of a run in which a proposer was asked again: what was refused, in order
    forked_from: NotRequired[dict[str, str]]
    """Of a fork: ``{run_id, checkpoint}``, the run from whose earlier checkpoint this one went on."""
    usage: NotRequired[Usage]  #: what its calls used up; absent where whoever asks may not see what led to the ending
    phase: NotRequired[ReadOnly[str]]
    outcome: NotRequired[ReadOnly[str]]
    details: NotRequired[dict[str, Any] | JsonValue]
    so_far: NotRequired[dict[str, JsonValue]]
    """Of a stopped run: what guards had accepted before, by the pattern's names: passages, notes, calls; and, as
    `refused_answer` ``{text, reason, unverified?}``, the last answer that they refused. It is data, and no result."""
    audit: NotRequired[ReadOnly[Audit]]  #: what came of recording the run


class Ok(Result):
    """What an ok run returns."""

    status: Literal["ok"]
    outcome: ReadOnly[str]


class Stopped(Result):
    """What a stopped run returns."""

    status: Literal["stopped"]
    phase: str


class Progress(TypedDict):
    """One event of a run in LangGraph's ``custom`` stream.

    It has names of the pattern and numbers, and nothing that anybody wrote: no question, proposal, source, URL or
    evidence. So it says the same to every caller, whatever they may read, and before any guard has judged.
    """

    event: Literal["began", "calling", "judged", "ended"]
    """A node begins; it calls out; a guard has decided; the run is over."""
    run_id: str  #: empty while the run has none, which the first guard gives it
    pattern: str  #: the graph's name
    node: str
    kind: str  #: ``propose``, ``act``, ``review``, ``guard`` or ``terminal``
    phase: str  #: of the pattern, such as ``retrieve``; of a terminal that several phases may end in, as it declares it
    visit: int  #: which node of the run this is, from 1 on
    calls: NotRequired[int]  #: of ``calling``: how many calls begin at once
    of: NotRequired[Literal["proposer", "tool", "person"]]  #: of ``calling``: who is called
    tool: NotRequired[str]
    """Of ``calling``: the tool, where the pattern has a table of tools and all calls are of this one."""
    verdict: NotRequired[Literal["pass", "again", "limit", "stop"]]
    """Of ``judged``: the run goes on, the proposer is asked again, a limit has the last answer written, or it stops."""
    to: NotRequired[str]  #: of ``judged``: the node that the run goes on with
    reason: NotRequired[str]
    """Of ``judged``: for what the guard refused, as the catalogue lists it: ``source_denied:<name>``, not a name."""
    status: NotRequired[Literal["ok", "stopped"]]  #: of ``ended``: how
