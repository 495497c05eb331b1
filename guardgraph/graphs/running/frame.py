"""What the nodes of one pattern share, and what all of them hold their bodies to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Protocol

from langgraph.channels import EphemeralValue
from typing_extensions import TypedDict, get_type_hints

from guardgraph.graphs.declaring import INPUT_FIELDS, KINDS, Declaration
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, Run
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import MAX_DEPTH, JsonObject, find_json_problem, is_plain_json, make_storable_json
from guardgraph.plain.log import locate_failure
from guardgraph.plain.secrets import format_error_message
from guardgraph.state.catalogue import POLICY_UNREADABLE, SWITCHED_OFF, Catalogue
from guardgraph.state.context import Context
from guardgraph.state.recording import JudgedBy, Recorder, Recording, Shadow, VisitRecord
from guardgraph.state.review import Reviewers
from guardgraph.state.run import LogEntry, Verdict
from guardgraph.state.settings import Budget, Policy, Settings
from guardgraph.state.tools import hash_tool
from guardgraph.world.call import ToolTable, World
from guardgraph.world.live import identify_target
from guardgraph.world.proposers import ModelProposer, get_call_target


def add_entries(before: list[Any], entries: list[Any]) -> list[Any]:
    """Return entries behind those before; of `operator.add` LangGraph parses a text to learn its parameters."""
    return before + entries


class RunRecord(TypedDict):
    """The grammar's own channels, in every pattern; beside them, each node that calls has one for what it called."""

    run: str
    given: dict[str, Any]
    log: Annotated[list[LogEntry], add_entries]
    route: Annotated[str, EphemeralValue]
    verdict: Annotated[Verdict, EphemeralValue]
    refusal: Annotated[dict[str, Any], EphemeralValue]


RECORD = get_type_hints(RunRecord, include_extras=True)  # the grammar's own channels
CALLED = Annotated[list[VisitRecord], add_entries]  # of a node that calls: what it called


class GrammarBreach(Exception):
    """A body did what its declaration does not allow."""


@dataclass(frozen=True)
class Frame:
    """What the nodes of one pattern share."""

    name: str  # the graph's name
    catalogue: Catalogue
    policy: Settings
    budget: Budget
    context: type[Context[Any, Any]]  # what a run of this pattern may give as context
    world: World
    recorder: Recorder | None
    reviewers: Reviewers | None  # who says whose answer it is that a person gives
    shadows: dict[str, Callable[[Recording], Shadow]]  # who judges a recorded run once more, by name
    live: Any  # the live policy, a `LivePolicy`; None where there is none
    forks: bool  # whether a client may go on from an earlier checkpoint, as a run of its own
    evidence: frozenset[str]  # keys of the output that a stop may show
    optional_inputs: frozenset[str]  # channels of the input that need not be given; what is not given is not written
    lasting: tuple[str, ...]  # channels that outlive a step, which the entry guard clears
    records: tuple[str, ...]  # channels that keep what the nodes called
    declarations: dict[str, Declaration]
    so_far: dict[str, str]  # what a stopped run returns of what guards had accepted: by its key the place that holds it
    answers: dict[str, str]  # the propose nodes that write answers: by name the key of the text in what they propose
    table: ToolTable | None  # the tools that act nodes call by name
    nodes: dict[str, Any]  # the nodes of the builder that was made last, by name

    @cached_property
    def proposers_to_open(self) -> list[ModelProposer]:
        """Whom the nodes declare to call that has to be opened before a live run, each once."""
        called = [whom for item in self.declarations.values() for whom in item.proposers or ()]
        targets: dict[int, Any] = {id(target): target for target in map(get_call_target, called)}
        return [target for target in targets.values() if isinstance(target, ModelProposer)]

    @cached_property
    def limit_guard(self) -> str | None:
        """The guard to which a run goes that a budget ends; None where such a run stops."""
        return next((name for name, item in self.declarations.items() if item.is_limit_guard), None)

    @cached_property
    def declared_targets(self) -> dict[str, frozenset[Hashable]]:
        """What tells those whom each node declares to call from all others."""
        return {
            name: frozenset(identify_target(get_call_target(whom)) for whom in item.proposers or ())
            for name, item in self.declarations.items()
        }

    @cached_property
    def has_effects(self) -> bool:
        """Whether a node may change something outside."""
        return any(item.effects for item in self.declarations.values())

    @cached_property
    def node_channels(self) -> dict[str, tuple[str, ...]]:
        """The channels that each node is handed."""
        return {name: item.channels for name, item in self.declarations.items()}

    @cached_property
    def judged_proposers(self) -> dict[str, frozenset[str]]:
        """The propose nodes whose proposals a guard judges first, by the guard."""
        proposing = [item for item in self.declarations.values() if item.kind == "propose"]
        guards = [name for name, item in self.declarations.items() if item.kind == "guard"]
        return {name: frozenset(item.name for item in proposing if name in item.to) for name in guards}

    @cached_property
    def lasting_channels(self) -> frozenset[str]:
        """The channels that outlive a step, the grammar's own among them."""
        return frozenset(("run", "given", "log", *self.lasting, *self.records))

    @cached_property
    def plain_settings(self) -> tuple[JsonObject, JsonObject]:
        """The deployment's policy and budget as plain JSON."""
        return make_storable_json(self.policy.plain()), make_storable_json(self.budget.plain())

    @cached_property
    def judged_by(self) -> JudgedBy:
        """SHA-256 of what its runs are judged by."""
        return JudgedBy(
            policy=self.policy.fingerprint, budget=self.budget.fingerprint, declarations=self.declarations_fingerprint
        )

    @cached_property
    def declarations_fingerprint(self) -> str:
        """SHA-256 of the declarations: who follows whom, who reads and writes what, who may stop for what."""
        shown = [
            (name, item.kind, item.phase, item.reads, item.writes, item.to, led, item.stops, item.family)
            for name, item in self.declarations.items()
            for led in [(*item.again, *item.limits)]
        ]
        acts = [(item.name, item.effects, item.tools, item.behind) for item in self.declarations.values()]
        cards = {} if self.table is None else {"tools": [hash_tool(card) for card in self.table.cards.values()]}
        return digest(
            {"declarations": shown, "acts": acts, "reasons": [item.reason for item in self.catalogue], **cards}
        )


class Part(Protocol):
    """A node, apart from what runs it: LangGraph or the interpreter."""

    declaration: Declaration
    body: Body | None
    frame: Frame


def validate_body_writes(item: Declaration, writes: Any) -> JsonObject:
    """Return what a body writes, if it is what the node declares."""
    # Nearly all are the first, and the second is slow to ask.
    if not isinstance(writes, (dict, Mapping)):
        raise GrammarBreach(f"returned a {type(writes).__name__}; a body returns a dictionary of channels")
    if undeclared := [name for name in writes if name not in item.writes]:
        raise GrammarBreach(f"wrote {', '.join(sorted(map(str, undeclared)))}; declared: {', '.join(item.writes)}")
    written = dict(writes)
    if KINDS[item.kind].is_text:
        for channel, value in written.items():
            if not isinstance(value, str):
                raise GrammarBreach(f"wrote a {type(value).__name__} to {channel}; a proposal is kept as JSON text")
        if all(type(text) is str and text.isascii() and "\0" not in text for text in written.values()):
            return written  # nearly always
    if not is_plain_json(written, MAX_DEPTH + 1):  # all at once: nearly always it is
        for channel, value in written.items():
            if (problem := find_json_problem(value)) is not None:
                raise GrammarBreach(f"wrote {problem} to {channel}; a state is plain JSON")
        if item.kind == "terminal":  # what it writes is the result
            return make_storable_json(written, around=1)  # type: ignore[no-any-return]
    return written


def check_run_time(following: Declaration, spent: float, most: float) -> None:
    """Stop a run whose time is spent before a node that would spend more."""
    if following.is_calling_node and spent >= most:
        details = {"max_seconds": most, "spent_seconds": round(spent, 3)}
        raise Stop("max_seconds", phase=following.phase, details=details)


def find_switch_stop(run: Run[Any, Any], phase: str) -> Stop | None:
    """Return the stop of a run that is switched off, or of which nobody knows whether it is; None of any other."""
    live = run.live
    if live is not None and "version" not in live:
        return Stop(POLICY_UNREADABLE, phase=phase, details=dict(live["unreadable"]))
    if getattr(run.policy, "enabled", True) is False:
        said = {} if live is None or "switched" not in live else {"details": dict(live["switched"])}
        return Stop(SWITCHED_OFF, phase=phase, **said)
    return None


def check_run_enabled(run: Run[Any, Any], phase: str) -> None:
    """Stop a run that is switched off, or of which nobody knows whether it is."""
    if (stop := find_switch_stop(run, phase)) is not None:
        raise stop


def is_recording_required(frame: Frame, run: Run[Any, Any] | Exception) -> bool:
    """Say whether a run must be recorded; under a context that nobody could read, the deployment's policy says it."""
    policy = frame.policy if isinstance(run, Exception) else run.policy
    return isinstance(policy, Policy) and bool(policy.audit_required)


def read_run_input(part: Part, state: JsonObject) -> JsonObject:
    """Return the input's fields, as the entry guard read them."""
    return {
        INPUT_FIELDS.get(channel, channel): state[channel] for channel in part.declaration.reads if channel in state
    }


def convert_to_stop(part: Part, error: Exception) -> Stop:
    """Return the stop that a body raised, or the one that its failure is."""
    return error if isinstance(error, Stop) else build_guard_error_stop(part, error)


def build_guard_error_stop(part: Part, error: Exception) -> Stop:
    """Return the stop that the failure of a node is, with the place in a user's code where it failed."""
    name, details = part.declaration.name, describe_run_error(error)
    if (place := locate_failure(error)) is not None:
        details["at"] = place
    if type(error) is KeyError and _is_undeclared_channel(part, *error.args):
        details["message"] = f"{details['message']}, a channel that {name} does not declare"
    return Stop(f"guard_error:{name}", details=details)


def _is_undeclared_channel(part: Part, key: object = None, *_: object) -> bool:
    """Say whether a key is a channel that other nodes declare, and that the body of this one is not shown."""
    # What terminals write is the output, which no node reads. A key of another type may fail when it is compared.
    others = [item for item in part.frame.declarations.values() if item.kind != "terminal"]
    channels = {name for item in others for name in (*item.reads, *item.writes)}
    return type(key) is str and key in channels.difference(part.declaration.reads)


def build_stop_verdict(reason: str, phase: str, evidence: JsonObject) -> Verdict:
    """Return a stop as its terminal reads it."""
    said: Verdict = make_storable_json({"reason": reason, "phase": phase, "evidence": evidence}, around=2)
    return said


def describe_run_error(error: BaseException) -> JsonObject:
    """Return what an error is, in a few words."""
    return {"type": type(error).__name__, "message": format_error_message(error)}
