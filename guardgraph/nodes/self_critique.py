"""The Self-critique agent's nodes, in the order of its diagram: request, drafts, critique, revision, final."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import hash_normalised_text, normalise_spaces
from guardgraph.guards.answers import check_text_is_said
from guardgraph.guards.proposals import proposed_object, proposed_text, read_reviewer, reviewed
from guardgraph.guards.self_critique import critique as critique_guards
from guardgraph.guards.self_critique import request as request_guards
from guardgraph.guards.self_critique import revision as revision_guards
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.guards.spending import check_severity_budget
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps, ask_for_edit, declares, make_asking_node
from guardgraph.nodes.own_guards import HELD_STEPS, GuardedAnswer, release_steps
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.review import name_reviewer
from guardgraph.state.self_critique import (
    MARKERS,
    ChangeAudit,
    Critique,
    Patch,
    Rejected,
    SelfCritiqueBudget,
    SelfCritiquePolicy,
    SelfCritiqueState,
)
from guardgraph.world.call import Call
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import OFFLINE, Proposer
from guardgraph.world.reviews import EDIT, EDITED

SelfCritiqueRun = Run[SelfCritiquePolicy, SelfCritiqueBudget]


@declares(writes=["task"])
def run_request_guard_node(state: JsonObject, run: SelfCritiqueRun) -> Pass:
    """Parse the input."""
    return Pass({"task": request_guards.parse_self_critique_request(state.get("goal"), state.get("incident_context"))})


def make_proposer_view(state: SelfCritiqueState) -> JsonObject:
    """Return what every proposer but the shortener is shown."""
    return {key: state["task"][key] for key in ("goal", "incident_context")}


def show_own_markers(run: SelfCritiqueRun) -> JsonObject:
    """Return the markers of a policy that has its own, for the critic and the reviser; prompts tell of the others."""
    return {} if run.policy.markers == MARKERS else {"markers": dict(run.policy.markers)}


def check_critique_decision(accepted: Critique, run: SelfCritiqueRun) -> None:
    """Ask the lists again at the point of use: they may have changed since the critique was judged."""
    policy = run.policy
    both = [name for name in policy.allowed_decisions_execution if name in policy.allowed_decisions_policy]
    with evidence(critique=accepted):
        critique_guards.check_decision_execution(accepted["decision"], both, denied=policy.denied_decisions)


def read_proposed_text(packed: str, name: str) -> tuple[JsonValue, JsonObject]:
    """Return a proposed text, not yet judged, and what history says of its proposer."""
    given = proposed_text(packed, name)
    return given.value.get(name) if isinstance(given.value, dict) else None, given.about


def list_rejected_attempts(attempt: Rejected | None) -> list[JsonObject]:
    """Return what is known of the attempts that were sent back."""
    return attempt["by"] if attempt is not None else []


def tell_history_of_attempts(about: JsonObject, rejected: list[JsonObject]) -> JsonObject:
    """Tell history of the proposer, and of every attempt where there were several: each of them cost tokens."""
    return {**about, "attempts": [*rejected, about]} if rejected else about


def make_draft_node(drafter: Proposer) -> Body:
    """Ask for a draft."""

    def show_incident(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
        return make_proposer_view(state)

    return make_asking_node(drafter, show_incident, phase="draft", reads=["task"], writes="proposed_draft")


@declares(
    phase="draft",
    reads=["task", "proposed_draft", "rejected_draft"],
    writes=["rejected_draft", "accepted_draft"],
    stops=["llm", "invalid_draft"],
)
def run_draft_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the draft against the context; one that is only too long is shortened once."""
    text, about = read_proposed_text(state["proposed_draft"], "draft")
    rejected = list_rejected_attempts(state.get("rejected_draft"))
    try:
        accepted = revision_guards.parse_draft(
            text, context=state["task"]["incident_context"], max_chars=run.budget.max_draft_chars, policy=run.policy
        )
    except Stop as stop:
        if stop.reason == "invalid_draft:too_long" and not rejected:
            return Pass({"rejected_draft": Rejected(text=text, by=[about])}, "shorten")
        raise
    check_text_is_said(accepted, "invalid_draft:empty", echoes=[state["task"]["goal"]], told=list_prompt_texts())
    trace = {
        "phase": "draft",
        "draft_hash": hash_normalised_text(accepted),
        "chars": len(accepted),
        "attempts_used": run.asks,
        "retried": run.asks > 1,
    }
    history = {"action": "draft_once", "draft": accepted, **tell_history_of_attempts(about, rejected)}
    return Pass({"accepted_draft": accepted}, "critique", (Step(trace, history),))


def make_shorten_node(shortener: Proposer) -> Body:
    """Ask for the same draft in fewer characters."""

    def show_long_draft(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
        return {"draft": state["rejected_draft"]["text"], "max_chars": run.budget.max_draft_chars}

    return make_asking_node(
        shortener, show_long_draft, phase="draft", reads=["rejected_draft"], writes="proposed_draft"
    )


ESCALATION_CHARS = 120  # characters of the critic's reason that a stop repeats


def make_critique_node(critic: Proposer) -> Body:
    """Ask for a critique of the draft."""

    def show_draft_to_critic(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
        risk_types = sorted(run.policy.allowed_risk_types_policy)
        view = {**make_proposer_view(state), "draft": state["accepted_draft"], "allowed_risk_types": risk_types}
        return view | show_own_markers(run)

    reads = ["task", "accepted_draft"]
    return make_asking_node(critic, show_draft_to_critic, phase="critique", reads=reads, writes="proposed_critique")


@declares(
    phase="critique",
    reads=["task", "proposed_critique"],
    writes=["accepted_critique"],
    stops=["llm", "invalid_critique", "not_allowed_policy", "denied_execution"],
)
def run_critique_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the critique against both lists; the decision says where the run goes."""
    read_text = partial(critique_guards.read_text_critique, markers=run.policy.markers)
    given = proposed_object(state["proposed_critique"], read_text)
    with evidence(raw_critique=given.raw):
        accepted = critique_guards.parse_critique(
            given.value,
            policy=run.policy,
            max_risks=run.budget.max_risks,
            max_required_changes=run.budget.max_required_changes,
        )
        critique_guards.check_critique_links(accepted, context=state["task"]["incident_context"], policy=run.policy)
        critique_guards.check_decision_execution(
            accepted["decision"], run.policy.allowed_decisions_execution, denied=run.policy.denied_decisions
        )
    trace = {
        "phase": "critique",
        "decision": accepted["decision"],
        "severity": accepted["severity"],
        "risks": len(accepted["risks"]),
        "required_changes": len(accepted["required_changes"]),
    }
    step = Step(trace, {"action": "critique_once", "critique": accepted, **given.about})
    ways = {"approve": "final_guard", "revise": "revise", "escalate": "escalation_guard"}
    is_counted = accepted["severity"] == "high" and run.budget.severity_budget is not None
    way = COUNTING_NODE if is_counted else ways[accepted["decision"]]
    return Pass({"accepted_critique": accepted}, way, (step,))


COUNTING_NODE = "count_severity"
"""Where critiques of high severity are counted, if the budget bounds them; a person decides on every one of them."""


def make_count_severity_node(count: Callable[[JsonObject], JsonObject]) -> Body:
    """Count a critique of high severity for the caller's tenant."""

    @declares(phase="critique", reads=["accepted_critique"], writes=["found_severity"])
    def run_count_severity_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        tenant = None if run.caller is None else run.caller.tenant
        scope = {"limit": run.budget.severity_budget}
        outcome = yield Call("tool", count, {"tenant": tenant}, scope=scope, holds=lambda content: None)
        return {"found_severity": outcome.packed()}

    return run_count_severity_node


@declares(phase="critique", reads=["found_severity"], stops=["budget"])
def run_severity_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the number of critiques of high severity against the tenant's budget."""
    if run.budget.severity_budget is not None:  # a resume may have another one, but no looser than the deployment's
        check_severity_budget(Outcome.unpacked(state["found_severity"]), run.budget.severity_budget)
    return Pass()


@declares(phase="critique", reads=["accepted_critique"], stops=["denied_execution", "escalation"])
def run_escalation_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hand the draft to a person: the run ends with it, or waits for them."""
    accepted = state["accepted_critique"]
    check_critique_decision(accepted, run)
    if run.policy.escalation == "wait":
        return Pass()
    reason = accepted["reason"][:ESCALATION_CHARS]
    raise Stop("policy_escalation", escalation_reason=reason, critique=accepted)


@declares(phase="revise", reads=["task", "accepted_draft", "accepted_critique"], writes=["raw_review"])
def run_escalate_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
    """Show a person the draft and what the critic says of it; they may edit the draft."""
    critique = state["accepted_critique"]
    told = {key: critique[key] for key in ("severity", "risks", "required_changes", "reason")}
    shown = {"goal": state["task"]["goal"], "draft": state["accepted_draft"], "critique": told}
    outcome = yield ask_for_edit(shown, ["draft"], lambda edited: _check_edited_draft(edited, state, run))
    return {"raw_review": outcome.packed()}


@declares(
    phase="revise",
    reads=["task", "accepted_draft", "accepted_critique", "raw_review"],
    writes=["accepted_critique", "accepted_revision"],
    stops=["denied_execution", "review", "invalid_revised", "patch_violation"],
)
def run_decision_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Let the draft through that a person approved, and what they made of it as any revision."""
    check_critique_decision(state["accepted_critique"], run)
    answer, reviewer = reviewed(state["raw_review"]), read_reviewer(state["raw_review"])
    trace: JsonObject = {"phase": "revise", "decided": answer["decision"]}
    told = {"action": "decide_escalation", "decision": answer["decision"]}
    history = {**told, "decided_by": name_reviewer(reviewer)}
    writes: JsonObject = {"accepted_critique": {**state["accepted_critique"], "reviewed": answer["decision"]}}
    if answer["decision"] == EDIT:
        patch = _check_edited_draft(answer[EDITED], state, run)
        writes["accepted_revision"] = patch
        measured = {key: patch[key] for key in ("patch_similarity", "length_increase_pct")}
        trace |= {**measured, "revised_hash": hash_normalised_text(patch["revised_answer"])}
        history["revised_answer"] = patch["revised_answer"]
    return Pass(writes, steps=(Step(trace, history),))


def _check_edited_draft(edited: JsonValue, state: SelfCritiqueState, run: SelfCritiqueRun) -> Patch:
    """Hold a person's text against draft and incident as a revision; whether the critic's changes are made they say."""
    return _check_patch(edited, [], state, run)


REVISION_ATTEMPTS = 3  # revisions asked for before the deterministic fallback edits the last one

PATCH_ATTEMPTS = 2
"""Asks for one revision at most, the first included: beside the three, a reviser is asked once more and no oftener."""


def make_revise_node(reviser: Proposer, strict: Proposer) -> Body:
    """Ask for a revision of the draft, from the second attempt on with the strict prompt."""

    @declares(
        phase="revise",
        reads=["task", "accepted_draft", "accepted_critique", "rejected_revision"],
        writes=["proposed_revision"],
        calls=[reviser, strict],
    )
    def run_revise_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        accepted = state["accepted_critique"]
        check_critique_decision(accepted, run)
        asked = strict if list_rejected_attempts(state.get("rejected_revision")) else reviser
        required = accepted["required_changes"]
        outcome = yield asked.call(
            {
                **make_proposer_view(state),
                "draft": state["accepted_draft"],
                "required_changes": required,
                **show_own_markers(run),
            }
        )
        return {"proposed_revision": outcome.packed()}

    return run_revise_node


@declares(phase="revise", reads=["accepted_critique", "rejected_revision"], writes=["proposed_revision"])
def run_repair_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
    """Edit the last attempt by rule, since three did not make the changes."""
    accepted = state["accepted_critique"]
    check_critique_decision(accepted, run)
    text = apply_required_changes(state["rejected_revision"]["text"], accepted["required_changes"], run.policy.markers)
    return {"proposed_revision": Outcome("value", {"revised_answer": text}, {"proposer": OFFLINE}).packed()}


PATCH_READS = ("task", "accepted_draft", "accepted_critique", "rejected_revision", "proposed_revision")
PATCH_WRITES = ("rejected_revision", "accepted_revision")
PATCH_STOPS = ("llm", "denied_execution", "invalid_revised", "patch_violation")


@declares(phase="revise", reads=PATCH_READS, writes=PATCH_WRITES, stops=PATCH_STOPS)
def run_patch_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the revision against the draft; changes that were not made are asked for again, then made by rule."""
    return _judge_patch(state, run, by_meaning=False)


@declares(phase="revise", reads=PATCH_READS, writes=[*PATCH_WRITES, "revised_by", HELD_STEPS], stops=PATCH_STOPS)
def run_unmeasured_patch_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the revision against the draft; what it must mention and soften is judged once it is measured."""
    passed = _judge_patch(state, run, by_meaning=True)
    if passed.to != "final_guard" or not _list_measured_changes(state, run):
        return passed
    held = [[step.trace, step.history] for step in passed.steps]
    revised_by = proposed_text(state["proposed_revision"], "revised_answer").about
    return Pass({**passed.writes, "revised_by": revised_by, HELD_STEPS: held}, MEASURING_NODE)


MEASURED_READS = ("accepted_critique", "accepted_revision", "rejected_revision", "revised_by", HELD_STEPS)
MEASURING_NODE = "measure_changes"
"""Where an embedding says how near the sentences of a revision are to what they must mention or soften."""


def make_measure_changes_node(measurer: Proposer) -> Body:
    """Show the phrases and the sentences of a revision to an embedding, all in one call."""

    def show_revision(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
        check_critique_decision(state["accepted_critique"], run)
        return _show_changes(state, run)

    reads = ["accepted_critique", "accepted_revision"]
    return make_asking_node(measurer, show_revision, phase="revise", reads=reads, writes="proposed_similarities")


def _list_measured_changes(state: SelfCritiqueState, run: SelfCritiqueRun) -> list[critique_guards.Change]:
    return critique_guards.list_changes_by_stems(state["accepted_critique"]["required_changes"], run.policy.markers)


def _show_changes(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
    shown = _list_measured_changes(state, run)
    return critique_guards.show_measured_changes(shown, state["accepted_revision"]["revised_answer"])


@declares(
    phase="revise",
    reads=[*MEASURED_READS, "proposed_similarities"],
    writes=["rejected_revision"],
    stops=["llm", "denied_execution", "patch_violation"],
)
def run_changes_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Judge what a revision must mention and soften by the similarities that were measured, beside the stems."""
    check_critique_decision(state["accepted_critique"], run)
    text = state["accepted_revision"]["revised_answer"]
    changes = _list_measured_changes(state, run)
    rows, about = critique_guards.read_similarities(state["proposed_similarities"], _show_changes(state, run))
    try:
        critique_guards.check_measured_changes(
            changes, text, rows, least=run.budget.min_mention_similarity, most=run.budget.max_soften_similarity
        )
    except Stop as stop:
        return _send_revision_back(stop, text, state["revised_by"], state)
    trace: JsonObject = {"phase": "revise", "measured_changes": len(changes)}
    step = Step(trace, {"action": "measure_changes", "similarities": rows, **about})
    return Pass(to="final_guard", steps=(*release_steps(state), step))


def _send_revision_back(stop: Stop, text: JsonValue, about: JsonObject, state: SelfCritiqueState) -> Pass:
    """Have a revision made anew that lacks changes, by the reviser or at last by rule; other refusals are final."""
    rejected = list_rejected_attempts(state.get("rejected_revision"))
    attempts = len(rejected) + 1
    if stop.reason != "patch_violation:required_changes_not_applied" or attempts > REVISION_ATTEMPTS:
        raise stop
    again = {"rejected_revision": Rejected(text=text, by=[*rejected, about])}
    return Pass(again, "revise" if attempts < REVISION_ATTEMPTS else "repair")


def _judge_patch(state: SelfCritiqueState, run: SelfCritiqueRun, *, by_meaning: bool) -> Pass:
    text, about = read_proposed_text(state["proposed_revision"], "revised_answer")
    rejected = list_rejected_attempts(state.get("rejected_revision"))
    required = state["accepted_critique"]["required_changes"]
    try:
        patch = _check_patch(text, required, state, run, by_meaning=by_meaning)
    except Stop as stop:
        return _send_revision_back(stop, text, about, state)
    history = {"action": "revise_once", "required_changes": required, "revised_answer": patch["revised_answer"]}
    step = Step(_measure_patch(patch, required, run), {**history, **tell_history_of_attempts(about, rejected)})
    return Pass({"accepted_revision": patch}, "final_guard", (step,))


def _check_patch(
    text: JsonValue,
    required_changes: Sequence[str],
    state: SelfCritiqueState,
    run: SelfCritiqueRun,
    *,
    by_meaning: bool = False,
) -> Patch:
    task = state["task"]
    return revision_guards.check_revision_patch(
        text,
        draft=state["accepted_draft"],
        context=task["incident_context"],
        required_changes=required_changes,
        hinted_length_increase_pct=task["max_length_increase_pct"],
        avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
        policy=run.policy,
        budget=run.budget,
        by_meaning=by_meaning,
    )


def _measure_patch(patch: Patch, required: Sequence[str], run: SelfCritiqueRun) -> JsonObject:
    markers = run.policy.markers
    read = [critique_guards.parse_required_change(item, markers) for item in required]
    return {
        "phase": "revise",
        "patch_similarity": patch["patch_similarity"],
        "length_increase_pct": patch["length_increase_pct"],
        "required_changes_total": len(required),
        "required_changes_enforced": len(critique_guards.list_enforceable_changes(required, markers)),
        "required_changes_unenforced": read.count(None),
        "attempts_used": run.asks,
        "retried": run.asks > 1,
        "revised_hash": hash_normalised_text(patch["revised_answer"]),
    }


EXCERPT_LINES = 6  # how many changed sentences an audit shows


def audit_draft_change(before: str, after: str, *, risks_count: int, required_changes_count: int) -> ChangeAudit:
    """Compare a draft with the final text."""
    before_hash, after_hash = hash_normalised_text(before), hash_normalised_text(after)
    before_chars, after_chars = len(before.strip()), len(after.strip())
    return ChangeAudit(
        changed=before_hash != after_hash,
        before_hash=before_hash,
        after_hash=after_hash,
        before_chars=before_chars,
        after_chars=after_chars,
        delta_chars=after_chars - before_chars,
        length_increase_pct=round(revision_guards.measure_length_increase(before_chars, after_chars), 2),
        risks_count=risks_count,
        required_changes_count=required_changes_count,
        diff_excerpt=list_changed_sentences(before, after),
    )


def list_changed_sentences(before: str, after: str) -> list[str]:
    """Return the first sentences that only one of two texts has, white space normalised."""
    if normalise_spaces(before) == normalise_spaces(after):
        return []
    old, new = _split_normalised_sentences(before), _split_normalised_sentences(after)
    gone, come = _drop_common_sentences(old, new), _drop_common_sentences(new, old)
    if not gone and not come:
        gone, come = [normalise_spaces(before)], [normalise_spaces(after)]
    room = max(EXCERPT_LINES - len(come), EXCERPT_LINES // 2)
    return [*(f"- {line}" for line in gone[:room]), *(f"+ {line}" for line in come)][:EXCERPT_LINES]


def _split_normalised_sentences(text: str) -> list[str]:
    return [normalise_spaces(sentence) for sentence in split_sentences(text)]


def _drop_common_sentences(lines: list[str], others: list[str]) -> list[str]:
    left = Counter(others)
    left.subtract(lines)
    only = []
    for line in reversed(lines):
        if left[line] < 0:
            left[line] += 1
            only.append(line)
    return only[::-1]


ACCEPTED = ("accepted_critique", "accepted_answer", "accepted_audit")  # what both good endings read

RESULT = ("outcome", "answer", "critique_decision", "severity", "risks", "required_changes", "audit")
"""What both good endings return."""


@declares(
    phase="finalize",
    reads=["task", "accepted_draft", "accepted_critique", "accepted_revision"],
    writes=["accepted_answer", "accepted_audit"],
    stops=["denied_execution", "invalid_answer"],
)
def run_final_guard_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Check the text that is about to be returned, and write the audit."""
    accepted, task = state["accepted_critique"], state["task"]
    check_critique_decision(accepted, run)
    before = state["accepted_draft"]
    ending = choose_final_ending(state)
    answer = revision_guards.check_final_draft(
        state["accepted_revision"]["revised_answer"] if ending == "revised" else before,
        context=task["incident_context"],
        max_chars=run.budget.max_answer_chars,
        avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
        policy=run.policy,
    )
    risks, changed = len(accepted["risks"]), len(accepted["required_changes"])
    audit = audit_draft_change(before, answer, risks_count=risks, required_changes_count=changed)
    trace: JsonObject = {"phase": "audit_finalize", "final_hash": audit["after_hash"]}
    trace |= {"changed": audit["changed"], "diff_lines": len(audit["diff_excerpt"])}
    history = {"action": "audit_finalize", "status": "final", "changed": audit["changed"]}
    writes = {"accepted_answer": answer, "accepted_audit": audit}
    return Pass(writes, ending, (Step(trace, history),))


def show_final_text(state: SelfCritiqueState, run: SelfCritiqueRun) -> tuple[JsonObject, JsonObject]:
    """Return the text that is about to be returned, and what every proposer was shown."""
    return {"answer": state["accepted_answer"]}, make_proposer_view(state)


def choose_final_ending(state: SelfCritiqueState) -> str:
    """Return the ending of a run whose text was accepted."""
    accepted = state["accepted_critique"]
    return "revised" if accepted["decision"] == "revise" or accepted.get("reviewed") == EDIT else "approved"


GUARDED_ANSWER = GuardedAnswer(
    phase="finalize",
    proposer="revise",
    reads=("task", "accepted_critique", "accepted_answer"),
    show=show_final_text,
    ends=("approved", "revised"),
    choose_ending=choose_final_ending,
)
"""What an application adds guards to."""


@declares(phase="finalize", reads=ACCEPTED, writes=RESULT)
def run_approved_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> dict[str, Any]:
    """End with the draft as it was."""
    is_direct = "reviewed" not in state["accepted_critique"]
    return _make_critique_result(state, run, "approved_direct" if is_direct else "approved_by_person")


@declares(phase="finalize", reads=ACCEPTED, writes=RESULT)
def run_revised_node(state: SelfCritiqueState, run: SelfCritiqueRun) -> dict[str, Any]:
    """End with the revision."""
    is_model = "reviewed" not in state["accepted_critique"]
    return _make_critique_result(state, run, "revised_once" if is_model else "edited_by_person")


def _make_critique_result(state: SelfCritiqueState, run: SelfCritiqueRun, outcome: str) -> dict[str, Any]:
    accepted = state["accepted_critique"]
    check_critique_decision(accepted, run)
    judged = {key: accepted[key] for key in ("severity", "risks", "required_changes")}
    answer = {"answer": state["accepted_answer"], "critique_decision": accepted["decision"]}
    return {"outcome": outcome, **answer, **judged, "audit": state["accepted_audit"]}
