"""The stop-reason catalogue: a closed list of why a run can end, typed, one entry a reason and phase list."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

SUCCESS = "success"  # the stop reason of a run that ended well
AUDIT_UNAVAILABLE = "audit_unavailable"  # the stop reason, and the family, of a run that had to be recorded and was not

SWITCHED_OFF, POLICY_UNREADABLE = "switched_off", "policy_unreadable"
"""The stop reasons of a run that its operator stopped, and of one of which nobody knows whether they did."""

ENDING_LIMITS = ("max_seconds", "llm_timeout", "max_llm_calls", "max_tokens", "max_tool_calls")
"""Reasons of runs that a budget ends, after which there may be a last answer: a timeout where the run's time caused it."""

EFFECT = "effect"  # the family of what stops a run on account of a write


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why a run can stop.

    `reason` may end in one placeholder, such as ``source_denied:<name>``, which stands for any text.
    """

    reason: str  #: as a program reads it in ``stop_reason``
    family: str  #: which terminal node it ends in: ``stop_<family>``
    phases: tuple[str, ...]  #: where a run can be when it stops so
    meaning: str  #: one sentence: what was found
    advice: str  #: one sentence: what to do about it
    defensive: bool = False
    """Whether an earlier guard makes it unreachable in a whole run; its own guard still decides."""
    yields: bool = False
    """Whether it gives way to another of the same name: the limits that every pattern has, where it has its own."""
    again: bool = False
    """Whether the proposer is asked again, where it can be: for form and support, and never for what a list, a person
    or a filter denies."""
    untold: bool = False  #: whether a proposer that is asked again is told the reason alone, and not the evidence
    withholds: bool = False
    """Whether the result says only which way the run took: whoever gets it may not see what went before."""

    @property
    def stem(self) -> str | None:
        """What stands before the placeholder, None where the reason has none."""
        head, mark, _ = self.reason.partition("<")
        return head if mark else None


class Catalogue:
    """The reasons of one pattern. A stop that is not in it cannot leave a guard.

    Args:
        pattern: the pattern's name, such as ``"rag"``.
        phases: the pattern's phases in order; the first is where a malformed request stops.
        reasons: every reason; each may be named once, beside one that `yields`.

    Raises:
        ValueError: a reason stands twice, or names a phase that the pattern does not have.
    """

    def __init__(self, pattern: str, phases: Iterable[str], reasons: Iterable[StopReason]) -> None:
        self.pattern = pattern
        self.phases = tuple(phases)
        given = tuple(reasons)
        own = {item.reason for item in given if not item.yields}
        self.reasons = tuple(item for item in given if not (item.yields and item.reason in own))
        self._exact = {item.reason: item for item in self.reasons if item.stem is None}
        self._stems = [(stem, item) for item in self.reasons if (stem := item.stem) is not None]
        if len({item.reason for item in self.reasons}) != len(self.reasons):
            raise ValueError(f"{pattern}: a stop reason stands twice in the catalogue")
        for item in self.reasons:
            if not item.phases or not set(item.phases) <= set(self.phases):
                raise ValueError(f"{pattern}: {item.reason} names a phase outside {self.phases}")

    def __iter__(self) -> Iterator[StopReason]:
        return iter(self.reasons)

    def __repr__(self) -> str:
        return f"<Catalogue {self.pattern}: {len(self.reasons)} reasons>"

    @property
    def families(self) -> tuple[str, ...]:
        """The families in the order of their first reason."""
        return tuple(dict.fromkeys(item.family for item in self.reasons))

    def find(self, reason: str) -> StopReason | None:
        """Return the entry that a stop reason belongs to, None for one outside the catalogue."""
        exact = self._exact.get(reason)
        if exact is not None:
            return exact
        return next((item for stem, item in self._stems if reason.startswith(stem) and reason != stem), None)

    def withholds(self, reason: str) -> bool:
        """Say whether a run that stops for this reason tells only which way it took."""
        found = self.find(reason)
        return found is not None and found.withholds


_MODEL_FAILURES = (
    ("llm_timeout", "The model gave no answer in time, or could not be reached.", "Look at details, then try again or raise the timeout."),
    ("llm_invalid_json", "The model's text is no JSON object.", "Use a model or mode that returns JSON."),
    ("llm_rate_limited", "The provider refused with 429.", "Try again later or raise the provider's limit."),
    ("llm_auth", "The provider refused the key (401 or 403).", "Check the key and what it may use."),
    ("llm_unavailable", "The provider failed with 5xx or refused the connection, or was not asked: too many calls that outlasted their deadline are still at work.", "Look at details; try again later."),
    ("llm_refused", "The model refused to answer.", "Read the refusal in details; change the request."),
    ("llm_truncated", "The model's answer was cut off at its length limit.", "Raise the model's output limit."),
    ("llm_content_filter", "The provider's content filter stopped the answer.", "Change the request."),
    ("llm_circuit_open", "The model was not asked: it failed too often in a row a short while ago.", "Look at details: which circuit, and when it is tried again; mend the model, or give the world fallbacks."),
    ("llm_bad_response", "The provider sent something that is no model answer, or more than max_reply_bytes.", "Look at details; check the base URL and the model's name."),
)  # fmt: skip

_TOOL_FAILURES = (
    ("tool_unavailable", "The tool was not called: too many calls that outlasted their deadline are still at work.", "Look at details; see why calls hang, or raise the bound that details name."),
    ("tool_circuit_open", "The tool was not called: it failed too often in a row a short while ago.", "Look at details: which circuit, and when it is tried again; mend the tool."),
)  # fmt: skip

_SCHEMA = "llm_invalid_schema"

_TEXT_FAILURES = (
    (_SCHEMA, "A field of the model's answer is missing or of the wrong type.", "Use a model that follows the schema in the prompt."),
    ("llm_empty", "The model's text is blank.", "Try again or use another model."),
)  # fmt: skip

_REVIEWS = (
    ("review_unavailable", "A person had to be asked, but no checkpointer could keep the run meanwhile; nobody was asked.", "Give the graph a checkpointer and the call a thread_id."),
    ("review_rejected", "The person said no.", "Read the whole answer in details."),
    ("review_expired", "Nobody answered while the question stood.", "Start a run, or raise max_review_seconds."),
)  # fmt: skip

RESULT_DIFFERS = "result_differs"
"""What stands before the key of a result that says something else than guards accepted."""

EFFECT_UNKNOWN, EFFECT_UNRECORDABLE = "effect_unknown", "effect_unrecordable"
"""What stands before the tool's name in the reasons of writes."""

_MODEL_LIMITS = (
    ("max_llm_calls", "The run has asked models as often as it may.", "Raise max_llm_calls, or ask for less."),
    ("max_tokens", "The tokens that the run may use up do not suffice for the call that would have begun.", "Look at details: what is spent and what would be reserved. Raise max_tokens, or lower max_output_tokens."),
    ("max_cost", "What the run may cost does not suffice for the call that would have begun, or its model has no price.", "Look at details; raise max_cost, or add the model to prices."),
)  # fmt: skip

_TOOL_LIMITS = (
    ("max_tool_calls", "The run has made as many calls of tools as it may, or does not have as many left as it would make at once.", "Raise max_tool_calls, or ask for less."),
)  # fmt: skip

TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE = "tenant_budget", "tenant_budget_unavailable"
"""What stands before the limit's name where a tenant has spent its budget; and where nobody could look at that."""

_TENANT_LIMITS = (
    (f"{TENANT_BUDGET}:<limit>", "What the caller's tenant may use up in a day or a month does not suffice for the call that would have begun.", "Look at details: the period, what is spent and reserved, and the limit."),
    (TENANT_BUDGET_UNAVAILABLE, "What the caller's tenant has used up could not be read or kept, so nothing was called.", "Look at details, and mend the store."),
)  # fmt: skip

_EFFECTS = (
    (EFFECT_UNKNOWN, "The tool may have done this already, and nobody knows what came of it; it was not called again.", "Look at details and ask the tool's owner by the key; declare the tool idempotent, or give it reconcile."),
    (EFFECT_UNRECORDABLE, "Nothing could keep that the tool was about to act, so it was not called.", "Look at details: give the graph a checkpointer and the call a thread_id, or a recorder that keeps begun runs."),
)  # fmt: skip


def common_reasons(
    *,
    phases: Iterable[str],
    asking: Iterable[str] = (),
    objects: Iterable[str] | None = None,
    texts: Iterable[str] = (),
    judging: Iterable[str] = (),
    reviewing: Iterable[str] = (),
    spending: Iterable[str] | None = None,
    tools: Mapping[str, str] | None = None,
    readers: Container[str] = (),
    effects: Mapping[str, str] | None = None,
    calling: Iterable[str] = (),
) -> tuple[StopReason, ...]:
    """Return the reasons that every pattern has.

    Args:
        phases: every phase of the pattern, in order.
        asking: the phases in which a model is asked.
        objects: those of them in which a text that is no JSON object is `llm_invalid_json`; all when None.
        texts: those of them in which a model writes a text (answer, draft, revision).
        judging: those of them in which a model judges claims, whose reply has a schema too.
        reviewing: the phases in which a person is asked.
        spending: the phases whose first step spends time; every phase when None.
        tools: the tools that act nodes call, by name, each with its phase.
        readers: those of `tools` that read pages: the circuits of pages are those of hosts, and end no run.
        effects: the tools by which act nodes change something outside, by name, each with its phase.
        calling: further phases in which tools are called.
    """
    every = tuple(phases)
    rows = [
        StopReason("invalid_request:<field>", "invalid_request", every[:1], "A field of the input is missing or malformed; nothing was run.", "Look at details: the field, what was given, what is allowed."),
        StopReason("max_seconds", "budget", every if spending is None else tuple(spending), "The run's time is spent; phase is the step that would have begun.", "Raise max_seconds or use faster models and tools."),
        StopReason("max_visits", "budget", every, "The run has visited as many nodes as it may; phase is the step that would have begun.", "See why the run goes in circles, or raise max_visits."),
        *_list_limit_reasons(every if spending is None else tuple(spending), tuple(asking), (*(tools or {}).values(), *(effects or {}).values(), *calling)),
        StopReason(SWITCHED_OFF, "budget", every, "The agent is switched off: enabled is false in its policy, its context or its live policy.", "Look at details: who switched it off, and why. Switch it on again."),
        StopReason(POLICY_UNREADABLE, "budget", every, "The live policy cannot be read, so nobody knows what may be done now.", "Look at details; mend what they name, or give it stale_for."),
        StopReason("guard_error:<guard>", "guard_error", every, "A node failed or broke the grammar; the run was closed.", "Look at details: at names the file, the line and the function that failed, and the logger guardgraph has the traceback."),
        StopReason(f"{RESULT_DIFFERS}:<key>", "guard_error", every, "The ending returned something else under this key than guards accepted, or than the record of calls has.", "Look at details: what was accepted and what was returned; mend the terminal.", defensive=True),
        StopReason(AUDIT_UNAVAILABLE, AUDIT_UNAVAILABLE, every, "The run had to be recorded and was not; details say how it would have ended, of one that began.", "Look at details: give the graph a recorder that keeps beginnings, or mend it."),
    ]  # fmt: skip
    if asking_phases := tuple(asking):
        own = {} if objects is None else {"llm_invalid_json": tuple(objects)}
        for name, meaning, advice in _MODEL_FAILURES:
            again = name == "llm_invalid_json"
            phases_of = own.get(name, asking_phases)
            rows.append(StopReason(name, "llm", phases_of, meaning, advice, again=again))
    text_phases = tuple(texts)
    schema_phases = tuple(name for name in every if name in {*text_phases, *judging})
    for name, meaning, advice in _TEXT_FAILURES:
        if where := schema_phases if name == _SCHEMA else text_phases:
            rows.append(StopReason(name, "llm", where, meaning, advice, again=True))
    for tool, phase in (tools or {}).items():
        for name, meaning, advice in _TOOL_FAILURES[: 1 if tool in readers else None]:
            rows.append(StopReason(f"{name}:{tool}", "tool", (phase,), meaning, advice))
    for tool, phase in (effects or {}).items():
        rows += [StopReason(f"{name}:{tool}", EFFECT, (phase,), meaning, advice) for name, meaning, advice in _EFFECTS]
    if reviewing_phases := tuple(reviewing):
        rows += list_review_reasons(reviewing_phases)
    return tuple(rows)


def list_review_reasons(phases: Iterable[str]) -> list[StopReason]:
    """Return the reasons for which a review ends a run, in the phases in which a person is asked."""
    where = tuple(phases)
    return [StopReason(name, "review", where, meaning, advice) for name, meaning, advice in _REVIEWS]


def _list_limit_reasons(
    spending: tuple[str, ...], asking: tuple[str, ...], calling: tuple[str, ...]
) -> Iterator[StopReason]:
    """Yield the reasons for which a call is not begun, in the phases in which such calls are made."""
    called = tuple(phase for phase in spending if phase in calling)
    either = tuple(phase for phase in spending if phase in (*asking, *calling))
    for rows, phases in ((_MODEL_LIMITS, asking), (_TOOL_LIMITS, called), (_TENANT_LIMITS, either)):
        for name, meaning, advice in rows:
            yield StopReason(name, "budget", phases or spending, meaning, advice, yields=True)
