"""What an application adds behind the guard of an answer: guards of its own, and a verifier that may only refuse."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Never, TypeAlias

from guardgraph.guards.answers import Judged, is_partial
from guardgraph.guards.stop import Stop
from guardgraph.guards.support import Claim, check_answer_support, read_unsupported_claims, show_claims
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Run, Step, Steps, declares, redirect_guard
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import Catalogue, StopReason
from guardgraph.state.outcome import Outcome
from guardgraph.world.call import Call
from guardgraph.world.proposers import Proposer

AnswerCheck: TypeAlias = Callable[[JsonObject, JsonObject], Stop | None]
"""``check(answer, view)``: None lets an answer pass; a `Stop` refuses it, returned or raised."""


@dataclass(frozen=True, slots=True)
class AnswerGuard:
    """A guard of an application's own: it stands behind the answer guard of an agent, and sees what that let through.

    Args:
        check: a pure function of the answer and of what its proposer was shown, both plain JSON. ``answer["answer"]``
            is the text, in all three agents; what else there is, the docs say. It returns None, or returns or raises a
            `Stop` for one of the reasons.
        reasons: why it can stop. One with ``again=True`` has the proposer of the answer asked again.
        name: of its node; the function's own where it is left out.

    Raises:
        ConfigurationError: the check cannot be called, has no name, or there is no reason.
    """

    check: AnswerCheck
    reasons: Sequence[StopReason]
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what can be no guard."""
        reasons, problem = self.reasons if isinstance(self.reasons, Sequence) else (), None
        if not callable(self.check):
            problem = f"check: a function of an answer and a view; given: {self.check!r:.80}"
        elif not reasons or not all(isinstance(item, StopReason) for item in reasons):
            problem = f"reasons: a list of StopReason, at least one; given: {self.reasons!r:.80}"
        elif not isinstance(self.name, str) or not self.node_name.isidentifier():
            required = "a name of letters, digits and _ is required, of the check or beside it"
            problem = f"name: {required}; given: {self.name or self.node_name!r:.80}"
        if problem is not None:
            raise ConfigurationError(f"AnswerGuard.{problem}")

    @property
    def node_name(self) -> str:
        """The name of its node."""
        return self.name or getattr(self.check, "__name__", type(self.check).__name__)


@dataclass(frozen=True, slots=True)
class GuardedAnswer:
    """The accepted answer of a pattern, as what stands behind its guard sees it."""

    phase: str
    proposer: str  # the node that is asked again
    reads: tuple[str, ...]
    show: Callable[[Any, Run[Any, Any]], tuple[JsonObject, JsonObject]]
    """Returns the answer, and what its proposer was shown; it stops where whoever asks now may not see them."""
    ends: tuple[str, ...]  # the good endings that it leads to
    stops: tuple[str, ...] = ()  # the families in which `show` stops
    choose_ending: Callable[[Any], str | None] = lambda state: None  # returns which of several endings it is
    list_claims: Callable[[Any, Run[Any, Any]], list[Claim]] | None = None
    """Returns its claims for a verifier; None where there is none."""


HELD_STEPS = "held_steps"
"""The channel of the steps that an answer guard completes only once what is added behind it has let the answer pass."""


def make_own_guard_node(guard: AnswerGuard, answer: GuardedAnswer, *, is_last: bool) -> Body:
    """Hold an accepted answer against a guard of the application's own."""
    own = Catalogue("own", [answer.phase], [_place_reason(item, answer.phase) for item in guard.reasons])

    @declares(
        phase=answer.phase,
        reads=[*answer.reads, HELD_STEPS],
        writes=(),
        stops=list(dict.fromkeys((*answer.stops, *own.families))),
    )
    def run_own_guard_node(state: Any, run: Run[Any, Any]) -> Pass:
        said, view = answer.show(state, run)
        _refuse_answer(guard.check, said, view, own)
        return Pass(to=answer.choose_ending(state), steps=release_steps(state)) if is_last else Pass()

    return run_own_guard_node


def _refuse_answer(check: AnswerCheck, said: JsonObject, view: JsonObject, own: Catalogue) -> None:
    try:
        refused = check(said, view)
    except Stop as stop:
        refused = stop
    if refused is None:
        return
    if not isinstance(refused, Stop):
        raise TypeError(f"a check returns None or a Stop; returned: {type(refused).__name__}")
    if own.find(refused.reason) is None:
        raise TypeError(f"a check stops for its own reasons alone; given: {refused.reason!r:.80}")
    raise Stop(refused.reason, **refused.evidence)  # and nothing else that a stop of the grammar may carry


def make_verify_node(verifier: Proposer, answer: GuardedAnswer) -> Body:
    """Show the claims of an accepted answer to a verifier, each with its evidence; all in one call."""

    @declares(phase=answer.phase, reads=answer.reads, writes=["proposed_support"], calls=[verifier])
    def run_verify_node(state: Any, run: Run[Any, Any]) -> Steps:
        return {"proposed_support": (yield from ask_verifier(verifier, _list_answer_claims(answer, state, run)))}

    return run_verify_node


def ask_verifier(verifier: Proposer, claims: Sequence[Claim]) -> Generator[Call, Outcome, str]:
    """Return what a verifier says of claims, as the state keeps it; where there are none, it is not asked."""
    outcome = (yield verifier.call(show_claims(claims))) if claims else Outcome("value", {"claims": []})
    return outcome.packed()


def make_support_guard_node(answer: GuardedAnswer) -> Body:
    """Refuse an accepted answer of which a verifier finds a claim unsupported."""

    @declares(
        phase=answer.phase,
        reads=[*answer.reads, HELD_STEPS, "proposed_support"],
        writes=(),
        stops=[*answer.stops, "llm", "invalid_answer"],
    )
    def run_support_guard_node(state: Any, run: Run[Any, Any]) -> Pass:
        claims = _list_answer_claims(answer, state, run)
        unsupported, about = read_unsupported_claims(state["proposed_support"], claims)
        check_answer_support(unsupported, claims)
        counted = {"verified_claims": len(claims)}
        step = Step({"phase": answer.phase, **counted}, {"action": "verify_answer", **counted, **about})
        return Pass(to=answer.choose_ending(state), steps=(*release_steps(state), step))

    return run_support_guard_node


def release_steps(state: Any) -> tuple[Step, ...]:
    """Return the steps that the answer guard would have completed, had nothing stood behind it."""
    return tuple(Step(*step) for step in state[HELD_STEPS])


def _list_answer_claims(answer: GuardedAnswer, state: Any, run: Run[Any, Any]) -> list[Claim]:
    assert answer.list_claims is not None  # a pattern without claims declares no verifier
    return answer.list_claims(state, run)


def extend_catalogue(catalogue: Catalogue, guards: Sequence[AnswerGuard], phase: str) -> Catalogue:
    """Return the catalogue of a pattern with the reasons of an application's guards."""
    if isinstance(guards, AnswerGuard) or not isinstance(guards, Sequence):
        raise ConfigurationError(f"guards: a list of AnswerGuard is required; given: {type(guards).__name__}")
    added = dict[str, StopReason]()
    for at, guard in enumerate(guards):
        if not isinstance(guard, AnswerGuard):
            raise ConfigurationError(f"guards[{at}]: an AnswerGuard is required; given: {type(guard).__name__}")
        for reason in guard.reasons:
            if (problem := _find_reason_problem(reason, catalogue, added, phase)) is not None:
                raise ConfigurationError(f"guards[{at}].reasons: {reason.reason!r:.80}: {problem}")
            added[reason.reason] = _place_reason(reason, phase)
    if not added:
        return catalogue
    return Catalogue(catalogue.pattern, catalogue.phases, [*catalogue, *added.values()])


_GRAMMARS = (
    *("invalid_request", "budget", "guard_error", "audit_unavailable", "llm"),
    *("tool", "review", "effect", "access_revoked"),
)
"""Families that say what befell a run, and not what was found in an answer."""


def _find_reason_problem(
    reason: StopReason, catalogue: Catalogue, added: Mapping[str, StopReason], phase: str
) -> str | None:
    if phase not in reason.phases:
        return f"phases: {phase!r} is required, in which the answer is judged; given: {', '.join(reason.phases)}"
    if catalogue.find(reason.reason) is not None or reason.reason in added:
        return "a reason of its own is required; there is one of this name"
    if reason.family in _GRAMMARS or not reason.family.isidentifier():
        return f"family: invalid_answer, or one of its own, is required; given: {reason.family!r:.80}"
    return None


def _place_reason(reason: StopReason, phase: str) -> StopReason:
    """Return a reason in the one phase in which an agent judges its answer; one guard may serve several agents."""
    return replace(reason, phases=(phase,))


def lead_guard(body: Body, ways: Mapping[str, str]) -> Body:
    """Return the body of an answer guard that leads to other nodes than it names, and holds its steps back for them."""
    if not ways:
        return body

    def lead(passed: Pass, run: Run[Any, Any]) -> Pass:
        if passed.to is not None and passed.to not in ways:
            return passed
        writes = {**passed.writes, HELD_STEPS: [[step.trace, step.history] for step in passed.steps]}
        return Pass(writes, None if passed.to is None else ways[passed.to])

    return redirect_guard(body, lead, writes=[HELD_STEPS])


def refuse_judged_answer(judged: Judged, refusal: Stop, rest: Pass) -> Never:
    """Refuse an answer of whose sentences some are in doubt; unless it stops the run, the rest is a way on."""
    if judged.stops:
        raise refusal
    raise PartialRefusal(refusal, rest, once=not is_partial(judged.unverified))
