"""The tool agent's data: the rules of tools, what was called, why a call has no licence, why a run can stop."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired, Self, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state import settings
from guardgraph.state.catalogue import Catalogue, StopReason, common_reasons
from guardgraph.state.context import Context
from guardgraph.state.review import ReviewPolicy
from guardgraph.state.run import Ok, Stopped, Turn, Waiting
from guardgraph.state.tightening import Tightens, intersect_settings, tighten_if_set

Effect: TypeAlias = Literal["read", "write"]  # whether a tool changes something outside

Approve: TypeAlias = Literal["unsupported", "always", "never", "refuse"]
"""When a person is asked: for calls with an unsupported value, for all, for none, which refuses the unsupported ones.
`refuse` is what `always` and `never` come to together: nobody may be asked who has to be, so no call is made."""

DECIDING: Final = "*"  # in a list of authority: all arguments but those that are free texts by their name


def _tighten_approval(ours: Approve, theirs: Approve) -> Approve:
    said = {ours, theirs} - {"unsupported"}
    return "refuse" if len(said) > 1 else next(iter(said), "unsupported")


def _intersect_folders(ours: Any, theirs: Any) -> Any:
    """Return the deeper ones of folders of which one holds the other; folders nobody validated may lead up, to none."""
    one_side, other_side = (
        [posixpath.normpath(each) for each in side if not _folder_leads_up(each)] for side in (ours, theirs)
    )
    pairs = [(one, other) for one in one_side for other in other_side]
    deeper = [max(pair, key=len) for pair in pairs if is_under_folder(*sorted(pair, key=len, reverse=True))]
    return tuple(dict.fromkeys(deeper))


def _validate_if_listed(value: Any) -> Any:
    if value is not None and not isinstance(value, tuple):
        raise ValueError("a list is required, or null")
    return None if value is None else tuple(dict.fromkeys(value))


def _validate_folders(value: Any) -> Any:
    """Return folders as paths are compared with them: none leads up, so none is another than it looks."""
    listed = _validate_if_listed(value)
    if wrong := next(filter(_folder_leads_up, listed or ()), None):
        raise ValueError(f"a folder without '..' is required; given: {wrong!r:.80}")
    return None if listed is None else tuple(dict.fromkeys(map(posixpath.normpath, listed)))


def _folder_leads_up(folder: str) -> bool:
    return ".." in folder.replace("\\", "/").split("/")


def is_under_folder(path: str, folder: str) -> bool:
    """Say whether a path is a folder or under it, both as they are written."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


_Listed: TypeAlias = Annotated[
    settings.Names | None, Tightens("intersection_if_listed", tighten_if_set(intersect_settings), _validate_if_listed)
]
_Folders: TypeAlias = Annotated[
    settings.Names | None, Tightens("folders", tighten_if_set(_intersect_folders), _validate_folders)
]


class ArgumentRule(settings.Settings):
    """What a tool's argument may be. What is not named here is not limited."""

    allowed: _Listed = None
    """Its values, as texts; a number is allowed as it is written in JSON."""
    licenses: Annotated[bool, Tightens.both] = True
    """Whether a value of `allowed` needs no other support; false where only a context lists the values."""
    hosts: _Listed = None
    """Hosts of the URLs, mail addresses and hosts that it may be, exact."""
    under: _Folders = None
    """Folders under which the paths lie that it may be; a path with ``..`` lies under none."""
    min: Annotated[float | None, Field(allow_inf_nan=False), Tightens.largest] = None
    """The smallest number that it may be."""
    max: Annotated[float | None, Field(allow_inf_nan=False), Tightens.smallest] = None
    """The largest number that it may be."""
    max_chars: Annotated[int | None, Field(ge=0), Tightens.smallest] = None
    """Characters that each of its texts may have."""

    def tightened_by(self, overlay: Self | None) -> Self:
        """Return this rule, tightened; see `Settings.tightened_by`. A list that only the overlay has licenses nothing."""
        tight = super().tightened_by(overlay)
        is_new = self.allowed is None and tight.allowed is not None
        return tight.model_copy(update={"licenses": False}) if is_new else tight


class ToolRule(settings.Settings):
    """What a deployment says of one tool. Nothing is said of most: then it writes, and nothing of it is trusted."""

    effect: Annotated[Effect, Tightens.ordered("read", "write")] = "write"
    """Whether it changes something outside: ``read`` | ``write``."""
    sends: settings.Check = False
    """Of a tool that reads: its arguments leave the house, as a search query does; they are judged like a write's."""
    destructive: settings.Check = False
    """It deletes, removes, cancels or changes access; then `approve` is ``always`` unless it says something else than
    ``unsupported``: that an id exists is no authority to delete it."""
    trusted: settings.Allowlist = ()
    """Fields of its results that may license arguments, by path (``contacts.email``; ``*`` is any one key, at the end
    all below; items of lists have no name). Only what the tool's owner sets, such as ids, never names and texts."""
    authority: settings.Vocabulary = (DECIDING,)
    """Arguments that decide what happens, of a tool that writes or sends; ``*``: all but free texts."""
    arguments: Annotated[dict[str, ArgumentRule], settings.TightensByName(ArgumentRule())] = {}  # noqa: RUF012 - copied by Pydantic
    """What arguments may be, by name."""
    forced: Annotated[dict[str, Any], Tightens.fixed] = {}  # noqa: RUF012
    """Arguments that the deployment sets, whatever is proposed, by name."""
    approve: Annotated[Approve, Tightens("approval", _tighten_approval, lambda value: value)] = "unsupported"
    """When a person is asked: ``unsupported`` | ``always`` | ``never``, which refuses what is not supported."""
    max_calls: Annotated[int | None, Field(ge=0), Tightens.smallest] = None
    """Calls of it in a run."""
    idempotent: Annotated[bool, Tightens.both] = False
    """Of one that writes: it does a thing once for one key, however often it is called."""
    pin: Annotated[str | None, Tightens.fixed] = None
    """The SHA-256 of its name, description and schema (`hash_tool`); one that has changed since is not called."""

    @property
    def acts(self) -> bool:
        """Whether its arguments need support: it writes, or sends."""
        return self.effect == "write" or self.sends

    @property
    def asks(self) -> Approve:
        """When a person is asked, once what the tool is counts too."""
        return "always" if self.destructive and self.approve == "unsupported" else self.approve

    def tightened_by(self, overlay: Self | None) -> Self:
        """Return this rule, tightened; see `Settings.tightened_by`.

        Where one side deletes things and so always asks a person, the other's ``never`` leaves nobody who may say yes.
        """
        tight = super().tightened_by(overlay)
        asks = self.asks if overlay is None else _tighten_approval(self.asks, overlay.asks)
        return tight if tight.asks == asks else tight.model_copy(update={"approve": asks})


_UNRULED: Final = ToolRule()  # the rule of a tool of which a deployment says nothing


class ToolPolicy(settings.TextPolicy, ReviewPolicy):
    """Which tools the model may ask for, which are called now, the rule of each, and which checks run."""

    tools_policy: settings.Allowlist = ()
    """Tools that may be asked for."""
    tools_execution: Annotated[settings.Allowlist, settings.LIVE] = ()
    """Tools that are called now."""
    denied_tools: Annotated[settings.Vocabulary, settings.LIVE] = ()
    """Tools that are never called, even if the lists name them."""
    rules: Annotated[dict[str, ToolRule], settings.TightensByName(ToolRule())] = {}  # noqa: RUF012
    """The rule of each tool, by its name; a tool without one writes, and nothing of it is trusted."""
    check_values: settings.Check = True
    """Numbers, dates, prices and other values of the answer must stand in results, the task or the history, or come of
    a working."""
    check_names: settings.Check = True
    """Names of the answer must stand in results, the task or the history, or be known."""
    known_names: settings.Allowlist = ()
    """Names that any answer may say, such as the deployment's own."""
    on_limit: settings.OnLimit = "stop"
    """What becomes of a run whose time, calls or tokens end. "stop" ends it, "partial" has one last answer written from
    what the tools brought, within the budget's reserve."""

    filled: ClassVar[tuple[str, ...]] = ("tools_policy", "tools_execution")

    def rule_of(self, tool: str) -> ToolRule:
        """Return the rule of a tool."""
        return self.rules.get(tool, _UNRULED)


class ToolBudget(settings.ReservingBudget):
    """How much one run may take."""

    max_seconds: settings.MaxFloat = 60.0
    """Seconds that a run may be active, summed over resumes."""
    max_tool_calls: settings.MaxInt = 20
    """Calls of tools."""
    max_same_call: settings.MaxInt = 1
    """Calls that write with the same tool and arguments."""
    max_same_read: settings.MaxInt = 2
    """Calls that read with the same tool and arguments; counted again after a call that writes."""
    max_asked_calls: Annotated[settings.MaxInt, Field(ge=1)] = 10
    """Calls of one step that one question shows a person."""
    max_result_chars: settings.MaxInt = 20_000
    """Characters of one result that the model is shown; the record keeps it whole."""
    max_answer_chars: settings.MaxInt = 4000
    """Characters of the answer."""


class ToolCard(TypedDict):
    """What is known of a tool beside its function."""

    name: str
    description: str
    schema: JsonObject  # JSON Schema of its arguments


class ToolCall(TypedDict):
    """A call of a tool that somebody proposes."""

    tool: str
    args: JsonObject


REPORTED: Final = "tool_reported"
"""Reason of the expected failure that a tool reports: the model is shown its message, and the run goes on."""
REPORTED_CHARS: Final = 10_000  # characters of such a message that are kept


class MadeCall(TypedDict):
    """A call that was made in this run, and what it brought."""

    id: str  # by which results are told apart: ``r1``, ``r2`` …, in the order of the calls
    tool: str
    args: JsonObject
    effect: Effect
    value: JsonValue  # what it brought; None of a call that failed, and the message of a failure that the tool reported
    failed: NotRequired[bool]  # true where the tool reported a failure: what it brought licenses nothing
    approved_by: NotRequired[str]  # who approved it: a reviewer's name, or ``unverified``


class AcceptedCall(MadeCall):
    """A call that was made, as results show it; its value is what the model is shown."""

    supported_by: dict[str, str]
    seconds: float  # seconds of the step in which it was made


class Delegation(TypedDict):
    """What a person lets a document license that the task names: the calls that were shown, once each."""

    document: str  # SHA-256 of the result that the document is, as canonical JSON
    calls: list[ToolCall]  # the calls of the step that it would license


class DelegationOffer(Delegation):
    """A delegation as a person is shown it, for several calls of one step."""

    tools: list[str]
    values: list[JsonValue]  # what of the calls only the document has
    brought_by: str  # the id of the call that brought the document


class Given(TypedDict):
    """What whoever runs the agent gave: it licenses what calls do, all but what others said in the history."""

    task: str
    history: list[Turn]
    caller: NotRequired[JsonObject]  # who asks: tenant, user, groups
    delegated: NotRequired[list[Delegation]]  # what a person approved of documents in this run
    is_foreign: NotRequired[bool]
    """Whether the graph is not one of ours: its model may have been shown texts that no call brought."""


class Sighting(TypedDict):
    """Where a value was seen that nothing licenses."""

    call: str  # the id of the call that brought it
    tool: str
    path: str


class UnsupportedValue(TypedDict):
    """A value of a call that nothing licenses."""

    argument: str  # its place in the arguments, such as ``to`` or ``items[0].id``
    value: JsonValue
    seen: list[Sighting]  # results that have it; none where the model came up with it
    instead: list[JsonValue]  # values of its kind that are licensed: what else may have been meant
    chain: NotRequired[str]
    """Why a trusted field that has it licenses nothing: what its call asked for, and whose word that was."""


class ToolInput(TypedDict):
    """What a run is given; `history` are the turns before the task, ``[{"role": "user" | "assistant", "content": str}]``."""

    task: str
    history: NotRequired[list[Turn]]


class PlannedCall(ToolCall):
    """A call that a guard let through, as it is about to be made."""

    effect: Effect
    supported_by: dict[str, str]
    unsupported: list[UnsupportedValue]  # values that only a person's yes supports


class ToolStep(TypedDict):
    """What the model proposed for one step, as far as it is not done."""

    now: list[PlannedCall]
    """Reads that are made side by side, one call that writes, or those that one question to a person shows."""
    later: list[ToolCall]  # what follows; it is judged once more when what comes before it is done
    plan: str  # the model's own plan, in its words; it licenses nothing
    offer: NotRequired[DelegationOffer]
    """What a person may let a document license, where a call waits whose values stand in one, and others with it."""


class ToolAnswer(TypedDict):
    """An answer to the task."""

    answer: str
    declined: bool  # whether it says that the task is not done
    workings: NotRequired[list[str]]  # how it comes to numbers that neither the task nor a result has


class AcceptedAnswer(ToolAnswer):
    """An answer that rests on what was given and found."""

    untrusted_links: list[str]
    """Links in it that only results have; in the text they are spelled so that nobody can follow them."""
    outcome: Literal["answered", "declined", "grounded_partial"]


class ToolState(TypedDict):
    """The channels. `proposed_`, `found_`, `raw_` hold JSON text nobody has judged; `accepted_` what a guard passed."""

    accepted_task: str
    accepted_history: list[Turn]
    proposed_action: str
    accepted_step: ToolStep
    raw_review: str
    accepted_review: JsonObject
    accepted_delegations: list[Delegation]
    found_results: str
    accepted_calls: list[AcceptedCall]
    drafted_answer: ToolAnswer
    accepted_answer: AcceptedAnswer
    held_steps: list[list[JsonObject]]
    proposed_support: str


class ToolOk(Ok):
    """What an ok run returns."""

    answer: str
    tool_calls: list[JsonObject]
    """Every call in order: ``{id, tool, args, effect, supported_by, seconds}``, and of one that a person approved
    ``approved_by``; `seconds` are those of the step in which it was made."""
    untrusted_links: NotRequired[list[str]]
    """Links in the answer that only results have; in its text they are spelled so that nobody can follow them."""
    ended_by: NotRequired[str]
    """Of a run that a limit ended, whose outcome is ``grounded_partial``: the limit, such as ``max_tool_calls``."""


class ToolStopped(Stopped):
    """What a stopped run returns: why, and the evidence."""

    tool_calls: NotRequired[list[JsonObject]]
    """Every call that was made before, in order: ``{id, tool, args, effect}``, and ``failed`` of one that failed."""
    raw_action: NotRequired[JsonValue]
    unsupported: NotRequired[list[UnsupportedValue] | list[str]]
    claimed: NotRequired[str]  #: the sentence that says that an action was done which no write of the run did
    performed: NotRequired[list[str]]  #: the tools that wrote


ToolResult: TypeAlias = ToolOk | ToolStopped | Waiting  # what a run returns; `status` says which


@dataclass(frozen=True, slots=True)
class Licence:
    """That a call may be made, and why: what supports each of its values, or what a person has to say yes to."""

    tool: str
    args: JsonObject
    effect: Effect
    hash: str  # SHA-256 of tool and arguments; see `hash_licence`
    supported_by: Mapping[str, str]
    """By the place of a value: ``task``, ``history``, ``caller``, ``rule``, ``default``, ``known_links``, or a trusted
    field, with those that support its call (``r2 balance.id ← r1 accounts[0]``)."""
    unsupported: tuple[UnsupportedValue, ...]
    needs_approval: bool  # whether a person has to approve it: a value is unsupported, or its rule asks for every call


def hash_tool(card: ToolCard) -> str:
    """Return the SHA-256 by which a tool is pinned: of its name, description and schema."""
    return digest({"name": card["name"], "description": card["description"], "schema": card["schema"]})


LICENCE: Final = "licence"  # the family of the stops of calls that have no licence

_REFUSALS = (
    ("tool_not_allowed_policy:<tool>", "The call names a tool that is not on tools_policy.", "If the model may ask for it, name it in tools_policy."),
    ("tool_denied:<tool>", "The tool is on denied_tools, or nobody may be asked whose approval its rule needs.", "Look at denied_tools and at the tool's approve."),
    ("tool_denied_execution:<tool>", "The tool is not on tools_execution: it is switched off now.", "If it is to be called, name it in tools_execution."),
    ("tool_changed:<tool>", "The tool's description or schema is not the one that its rule pins.", "Read what changed, and pin it again."),
    ("argument_denied:<tool>.<argument>", "An argument is not what the tool's rule allows.", "Look at details: the rule and what was given."),
    ("loop_detected:<tool>", "The same call was made as often as it may be.", "Look at tool_calls: why does the model not go on? Or raise max_same_call or max_same_read."),
    ("max_calls:<tool>", "The tool was called as often as its rule allows.", "Raise its max_calls, or ask for less."),
    ("max_tool_calls", "The run has made as many calls of tools as it may.", "Raise max_tool_calls, or ask for less."),
    ("unsupported_argument:<tool>.<argument>", "A value of the call stands neither in the task nor in a trusted field, and nobody may be asked.", "Look at unsupported: where it was seen, and what else it might be."),
    ("not_approved:<tool>", "The call needs a person's approval of exactly these arguments, and has none.", "Send it through a review."),
)  # fmt: skip


def licence_reasons(deciding: Iterable[str], acting: Iterable[str], *, asked_again: bool = True) -> list[StopReason]:
    """Return the reasons why a call has no licence; `check_licence` and `check_approval` stop with them.

    Args:
        deciding: the phases in which a guard judges calls that were proposed.
        acting: the phases in which calls are made; they are judged there once more.
        asked_again: whether a proposer is asked again whose call has an unsupported argument, or names no tool that
            there is.
    """
    phases = tuple(dict.fromkeys((*deciding, *acting)))
    acts = tuple(dict.fromkeys(acting))
    return [
        StopReason(
            reason,
            LICENCE,
            acts if reason.startswith("not_approved") else phases,
            meaning,
            advice,
            defensive=reason.startswith("not_approved"),
            again=asked_again and reason.startswith(("unsupported_argument", "tool_not_allowed_policy")),
        )
        for reason, meaning, advice in _REFUSALS
    ]


ToolContext = Context[ToolPolicy, ToolBudget]  # what one run may tighten

PHASES = ("plan", "approve", "act", "answer")

TOOL_REASONS = Catalogue(
    "tools",
    PHASES,
    [
        *common_reasons(
            phases=PHASES,
            asking=("plan", "answer"),
            judging=("answer",),
            reviewing=("approve",),
            spending=PHASES,
            tools={"<tool>": "act"},
            effects={"<tool>": "act"},
        ),
        StopReason("invalid_action:not_object", "invalid_action", ("plan",), "The step is no object with a list of calls, or with an answer.", "Look at raw_action; use a model that follows the prompt.", again=True),
        StopReason("invalid_action:tool", "invalid_action", ("plan",), "A call's tool is blank or no string.", "Look at raw_action.", again=True),
        StopReason("invalid_action:args", "invalid_action", ("plan",), "A call's args is no object of plain JSON.", "Look at raw_action.", again=True),
        StopReason("invalid_action:schema", "invalid_action", ("plan",), "A call's args do not fit the tool's schema.", "Look at details: where, what was given, what is allowed.", again=True),
        *licence_reasons(("plan",), ("act",)),
        StopReason("tool_invalid_output:<tool>", "tool", ("act",), "The tool raised, or returned something that is no JSON.", "Look at details (at: the line that raised); mend the tool."),
        StopReason("invalid_answer:empty", "invalid_answer", ("answer",), "The answer is blank or says nothing: it is a placeholder, or repeats the task or the prompt.", "Use another model.", again=True),
        StopReason("invalid_answer:too_long", "invalid_answer", ("answer",), "The answer is longer than max_answer_chars.", "Raise max_answer_chars, or ask for less.", again=True),
        StopReason("invalid_answer:action_not_done", "invalid_answer", ("answer",), "The answer says that an action was done which no write of the run did.", "Look at claimed and performed; use another model.", again=True),
        StopReason("invalid_answer:active_markup", "invalid_answer", ("answer",), "The answer would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_answer:unsupported_link", "invalid_answer", ("answer",), "The answer has a URL, a host or a mail address that neither the task, the history nor any result has.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("invalid_answer:unsupported_number", "invalid_answer", ("answer",), "The answer states a fact that neither the task, the history nor any result has.", "Look at unsupported.", again=True),
        StopReason("invalid_answer:unsupported_name", "invalid_answer", ("answer",), "The answer has a name that neither the task, the history nor any result has.", "Look at unsupported; names that any answer may say belong on known_names.", again=True),
        StopReason("invalid_answer:unsupported_claim", "invalid_answer", ("answer",), "The verifier found a sentence of the answer that neither the task nor the results bear out.", "Look at unsupported."),
    ],
)  # fmt: skip
"""Why a run of the tool agent can stop."""
