"""The Self-critique agent's data: what goes in, what flows, what comes out, how it is configured, why it can stop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, get_args

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state import settings
from guardgraph.state.catalogue import Catalogue, StopReason, common_reasons, list_review_reasons
from guardgraph.state.context import Context
from guardgraph.state.review import ReviewPolicy
from guardgraph.state.run import Audit, Ok, Stopped, Waiting
from guardgraph.state.tightening import Tightens, explain_unknown_name

SHIPPED_PACKS: Final = ("guarantees", "closures")
MOST_PACKS: Final = 100

_CLASS = re.compile(r"\{([^{}]*)\}")
_SAID = re.compile(r"[^\W_]|#")  # what a text can have of a phrase
_UNREAD = re.compile(r"[,;:()\[\]]|\^.*\^|[{}]")  # beside classes: no clause has a mark that ends it


@with_config(ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True))
class ClaimPack(TypedDict):
    """Phrases that make claims of one kind, and what licenses them."""

    name: str
    phrases: list[str]
    """Words with blanks between them, spelled as in a text. ``a|b`` is one or the other, ``{class}`` one of `words`,
    ``a?`` may be absent, ``#`` stands for a number, ``*`` for a word, ``…`` for up to six, ``$`` for where a clause
    begins or ends; ``^`` stands before the word where the claim itself begins."""
    words: NotRequired[dict[str, str]]
    """Classes of words by their names: all inflections, blanks between them."""
    exceptions: NotRequired[list[str]]
    """Phrases in which a claim's words mean something else."""
    licensed_by_statuses: NotRequired[list[str]]
    """What the status of an incident says where it licenses the claims, in any case."""
    licensed_by_context: NotRequired[bool]
    """Whether a text of the context that makes such a claim licenses it, where `avoid_absolute_guarantees` is off."""


def _validate_packs(value: Sequence[str | ClaimPack]) -> Sequence[str | ClaimPack]:
    if len(value) > MOST_PACKS:
        raise ValueError(f"at most {MOST_PACKS} packs are allowed")
    names = [pack if isinstance(pack, str) else pack["name"] for pack in value]
    for pack, name in zip(value, names, strict=True):
        if (problem := next(_find_pack_problems(pack), None)) is not None:
            raise ValueError(problem)
        if names.count(name) > 1:
            raise ValueError(f"one pack of each name is required; given: {name!r:.80} twice")
    return value


def _find_pack_problems(pack: str | ClaimPack) -> Iterator[str]:
    if isinstance(pack, str):
        if (problem := explain_unknown_name(pack, SHIPPED_PACKS)) is not None:
            yield problem
        return
    if not pack["name"].strip() or pack["name"] in SHIPPED_PACKS:
        yield f"a name of its own is required; given: {pack['name']!r:.80}"
    classes = pack.get("words", {})
    for phrase in (*pack["phrases"], *pack.get("exceptions", ())):
        if not any(_SAID.search(word) for word in phrase.rpartition("^")[2].split() if not word.endswith("?")):
            yield f"{phrase!r:.80} of {pack['name']!r:.80} is blank: a word that may not be absent is required"
        if _UNREAD.search(_CLASS.sub("", phrase)):
            yield f"{phrase!r:.80}: words of one clause, whole {{classes}} and at most one ^ are allowed"
        for name in _CLASS.findall(phrase):
            if not _SAID.search(classes.get(name, "")):
                yield f"{phrase!r:.80}: there is no class {name!r:.80} of words"
    if not all(map(_SAID.search, pack.get("licensed_by_statuses", ()))):
        yield f"licensed_by_statuses of {pack['name']!r:.80}: a status is blank"


def _unite_packs(ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[Any, ...]:
    return (*ours, *(pack for pack in theirs if pack not in ours))


ClaimPacks: TypeAlias = Annotated[
    tuple[str | ClaimPack, ...], Tightens("union", _unite_packs, _validate_packs, of_entries=True)
]
"""Packs that hold: names of shipped ones, or packs; both lists hold."""


Decision = Literal["approve", "revise", "escalate"]
Severity = Literal["low", "medium", "high"]
Reviewed = Literal["approve", "edit"]
"""What a person decided of a draft that a critic handed to them; after a no there is no more to decide."""

Escalation: TypeAlias = Annotated[Literal["stop", "wait"], Tightens.ordered("wait", "stop")]
"""What becomes of a run whose critic hands the draft to a person; "stop" holds if either says so."""

Decisions: TypeAlias = Annotated[settings.Names, Tightens.among(*get_args(Decision))]
"""Decisions that are allowed; only those on both lists hold."""

DeniedDecisions: TypeAlias = Annotated[settings.Names, Tightens.denied_among(*get_args(Decision))]
"""Decisions that are denied; those on either list hold."""

RISK_TYPES = ("overconfidence", "missing_uncertainty", "contradiction", "scope_leak", "policy_violation", "legal_risk")
"""The risks that a critic can name by default."""

ChangeKind: TypeAlias = Literal["include", "remove", "mention", "soften"]
"""What a text must do with a phrase: have it word for word or not have it; have all of its content words in one
sentence, in whatever form; or say it, in whatever form of its words, only as what may be."""

LabelKind: TypeAlias = Literal["incident_id", "severity_label", "region"]
"""Labels of an application that a draft may only name as the context does; each has its stop, ``new_…``."""

MARKERS: dict[str, ChangeKind] = {
    "ADD": "include",
    "REMOVE": "remove",
    "MUST_INCLUDE": "include",
    "MUST_REMOVE": "remove",
    "MUST_MENTION": "mention",
    "MUST_SOFTEN": "soften",
}
"""What the markers ask for by default."""

_REGIONS = r"(?<![\w.])(US|EU|UK|EMEA|APAC|LATAM|AMER|ANZ|APJ|DACH|EEA|MENA|NORAM|UA|Global)A?(?![\w$]| ?\$| [Dd]ollar)"

LABEL_PATTERNS: dict[LabelKind, Sequence[str]] = {
    "incident_id": (r"(?<![\w-])((?:INC(?:ident)?[-_]\w+|INC\d\w*)(?:-\w+)*)",),
    "severity_label": (r"(?<!\w)P([0-5])(?!\w|[.,:]\d|%)", r"(?<!\w)SEV(?:erity)?[ .:_#-]{0,2}([0-5])(?!\w|[.,:]\d|%)"),
    "region": (_REGIONS,),
}
"""The labels of the demo, a payments incident."""


def _validate_markers(value: dict[str, ChangeKind]) -> dict[str, ChangeKind]:
    if not value or any(not re.fullmatch(r"\w{2,40}", marker) for marker in value):
        raise ValueError("markers are words of 2 to 40 letters, digits and underscores, at least one")
    return value


def _validate_patterns(value: dict[LabelKind, Sequence[str]]) -> dict[LabelKind, Sequence[str]]:
    for pattern in (pattern for patterns in value.values() for pattern in patterns):
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r:.80} is no regular expression: {error}") from None
    return value


Markers: TypeAlias = Annotated[
    dict[str, ChangeKind], Tightens("fixed", lambda ours, theirs: ours, _validate_markers, is_fixed=True)
]
LabelPatterns: TypeAlias = Annotated[
    dict[LabelKind, settings.Names], Tightens("fixed", lambda ours, theirs: ours, _validate_patterns, is_fixed=True)
]


class SelfCritiqueInput(TypedDict):
    """What a run is given."""

    goal: str
    incident_context: JsonObject


class SelfCritiqueTask(TypedDict):
    """The request, parsed."""

    goal: str
    incident_context: JsonObject
    avoid_absolute_guarantees: bool
    max_length_increase_pct: float | None


class Rejected(TypedDict):
    """What a guard sent back: the last text, and who made this and every earlier attempt."""

    text: str
    by: list[JsonObject]


class Risk(TypedDict):
    """Something that a critique finds wrong with a draft."""

    type: str
    note: str


class Critique(TypedDict):
    """A validated critique; texts are stripped."""

    decision: Decision
    severity: Severity
    risks: list[Risk]
    required_changes: list[str]
    reason: str
    high_risk: bool
    reviewed: NotRequired[Reviewed]  # what a person decided, where one was asked


class Patch(TypedDict):
    """A validated revision and what was measured on it."""

    revised_answer: str
    patch_similarity: float  # 0..1, 3 digits
    length_increase_pct: float  # growth of the white-space-normalised text, in per cent, 2 digits


class ChangeAudit(Audit):
    """The difference between a draft and the final text; lengths are of the stripped texts, in characters."""

    changed: bool
    before_hash: str
    after_hash: str
    before_chars: int
    after_chars: int
    delta_chars: int
    length_increase_pct: float
    risks_count: int
    required_changes_count: int
    diff_excerpt: list[str]


class SelfCritiqueState(TypedDict):
    """The channels. `proposed_` holds JSON text nobody has judged; `accepted_` what a guard let through."""

    task: SelfCritiqueTask
    proposed_draft: str
    rejected_draft: Rejected
    accepted_draft: str
    proposed_critique: str
    accepted_critique: Critique
    found_severity: str
    raw_review: str
    proposed_revision: str
    rejected_revision: Rejected
    revised_by: JsonObject
    proposed_similarities: str
    accepted_revision: Patch
    accepted_answer: str
    accepted_audit: ChangeAudit
    held_steps: list[list[JsonObject]]


class SelfCritiqueOk(Ok):
    """What an ok run returns."""

    answer: str
    critique_decision: Decision
    severity: Severity
    risks: list[Risk]
    required_changes: list[str]
    audit: ChangeAudit


class SelfCritiqueStopped(Stopped):
    """What a stopped run returns: why, and the evidence."""

    raw_critique: NotRequired[JsonValue]
    critique: NotRequired[Critique]
    escalation_reason: NotRequired[str]
    unsupported: NotRequired[list[str]]
    claims: NotRequired[list[str]]
    unapplied: NotRequired[list[str]]
    not_enforceable: NotRequired[list[str]]
    patch_similarity: NotRequired[float]
    length_increase_pct: NotRequired[float]


SelfCritiqueResult: TypeAlias = SelfCritiqueOk | SelfCritiqueStopped | Waiting
"""What a run returns; `status` says which."""


class SelfCritiquePolicy(settings.TextPolicy, ReviewPolicy):
    """What a critic may decide and name, what the runtime will carry out now, and which checks run."""

    allowed_decisions_policy: Decisions = get_args(Decision)
    """Decisions that a critic may ask for."""
    allowed_decisions_execution: Annotated[Decisions, settings.LIVE] = get_args(Decision)
    """Decisions that the runtime will carry out now."""
    denied_decisions: Annotated[DeniedDecisions, settings.LIVE] = ()
    """Decisions that are never carried out, even if the lists name them."""
    allowed_risk_types_policy: settings.Allowlist = RISK_TYPES
    """Risks that a critic may name, in words of your own if you like."""
    high_risk_types: settings.Vocabulary = ("legal_risk", "policy_violation")
    """Risks that only a person may accept."""
    markers: Markers = MARKERS
    """Words by which a critic requires changes, and what each asks for. One with an underscore may stand anywhere in its
    item, any other only at the beginning."""
    check_facts: settings.Check = True
    """Facts of a draft must stand in the context, those of a revision in the context or the draft."""
    label_patterns: LabelPatterns = LABEL_PATTERNS
    """Regular expressions of labels, which a draft may only name as the context does, in any case, regions as they are
    written; what is in a group is compared, else all."""
    known_regions: settings.Vocabulary = ()
    """Region names to watch for beside those of `label_patterns`."""
    claims: ClaimPacks = SHIPPED_PACKS
    """Claims that a revision and the final text may not make lightly: packs by name, or packs of your own,
    ``{name, phrases, words?, exceptions?, licensed_by_statuses?, licensed_by_context?}``, which may stand in a file."""
    escalation: Escalation = "stop"
    """What becomes of a run whose critic escalates: it stops as `policy_escalation`, or, with `wait`, it asks a person,
    who approves the draft, edits or rejects it."""


class SelfCritiqueBudget(settings.Budget):
    """How much one run may take."""

    max_seconds: settings.MaxFloat = 120.0
    """Seconds that a run may be active, summed over resumes."""
    max_input_bytes: settings.MaxInt = 2**18
    """As of every budget; every fact of a context is read, which takes some seconds for so many bytes."""
    max_draft_chars: settings.MaxInt = 900
    """Characters of a draft; a longer one is shortened once."""
    max_risks: settings.MaxInt = 5
    """Risks that a critique may name."""
    max_required_changes: settings.MaxInt = 5
    """Changes that a critique may require."""
    max_answer_chars: settings.MaxInt = 980
    """Characters of a revision and of the answer."""
    max_length_increase_pct: settings.MaxFloat = 20.0
    """Growth of a revision over its draft, in per cent."""
    min_patch_similarity: settings.MinFloat = 0.4
    """What a revision must have in common with its draft, from 0 to 1."""
    min_mention_similarity: settings.MinFloat = 0.8
    """From which similarity on a sentence mentions a phrase, where an `embedding` measures it."""
    max_soften_similarity: settings.MaxFloat = 0.8
    """How similar a sentence that is not hedged may be to a phrase that is to be softened, where an `embedding` measures
    it."""
    severity_budget: settings.OptionalMaxInt = None
    """Critiques of high severity that the caller's tenant may have in a day (UTC), over all its runs; the agent needs a
    `ledger` to count them. None for no limit."""


SelfCritiqueContext = Context[SelfCritiquePolicy, SelfCritiqueBudget]  # what one run may tighten

PHASES = ("draft", "critique", "revise", "finalize")

SELF_CRITIQUE_REASONS = Catalogue(
    "self_critique",
    PHASES,
    [
        *common_reasons(
            phases=PHASES,
            asking=("draft", "critique", "revise"),
            texts=("draft", "revise"),
            spending=("draft", "critique", "revise"),
            calling=("critique",),
        ),
        *list_review_reasons(["revise"]),
        StopReason("severity_budget", "budget", ("critique",), "The caller's tenant has had as many critiques of high severity today as it may; nobody was asked to decide on this one.", "Look at details; see why so many drafts are of high severity, or raise severity_budget."),
        StopReason("invalid_draft:empty", "invalid_draft", ("draft",), "The draft is blank, no string, or says nothing: it is a placeholder, or repeats the goal or the prompt.", "Use another drafter.", again=True),
        StopReason("invalid_draft:too_long", "invalid_draft", ("draft",), "The draft is longer than max_draft_chars, also once shortened.", "Raise max_draft_chars, or ask for less."),
        StopReason("invalid_draft:active_markup", "invalid_draft", ("draft",), "The draft would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_draft:unsupported_link", "invalid_draft", ("draft",), "The draft has a URL, a host or a mail address that the incident does not have.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("invalid_draft:no_new_facts", "invalid_draft", ("draft",), "The draft states a number that the context does not have.", "Look at unsupported.", again=True),
        StopReason("invalid_draft:new_incident_id", "invalid_draft", ("draft",), "The draft names an incident that the context does not have.", "Look at unsupported.", again=True),
        StopReason("invalid_draft:new_severity_label", "invalid_draft", ("draft",), "The draft names a severity that the context does not have.", "Look at unsupported.", again=True),
        StopReason("invalid_draft:new_region", "invalid_draft", ("draft",), "The draft names a region that the context does not have.", "Look at unsupported.", again=True),
        StopReason("invalid_critique:not_object", "invalid_critique", ("critique",), "The critique is no object.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:decision", "invalid_critique", ("critique",), "The decision is blank or no string.", "Look at raw_critique.", again=True),
        StopReason("critique_decision_not_allowed_policy:<decision>", "not_allowed_policy", ("critique",), "The critic decided something that is not on the policy list.", "Add it to allowed_decisions_policy, if a critic may decide it."),
        StopReason("invalid_critique:severity", "invalid_critique", ("critique",), "The severity is none of low, medium, high.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:risks", "invalid_critique", ("critique",), "risks is no list.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:too_many_risks", "invalid_critique", ("critique",), "There are more than max_risks risks.", "Raise max_risks."),
        StopReason("invalid_critique:risk_item", "invalid_critique", ("critique",), "A risk is no object.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:risk_type", "invalid_critique", ("critique",), "A risk's type is blank or no string.", "Look at raw_critique.", again=True),
        StopReason("critique_risk_not_allowed_policy:<type>", "not_allowed_policy", ("critique",), "The critic named a risk that is not on the policy list.", "Add it to allowed_risk_types_policy, if a critic may name it."),
        StopReason("invalid_critique:risk_note", "invalid_critique", ("critique",), "A risk's note is blank or no string.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:required_changes", "invalid_critique", ("critique",), "required_changes is no list.", "Look at raw_critique."),
        StopReason("invalid_critique:too_many_required_changes", "invalid_critique", ("critique",), "There are more than max_required_changes changes.", "Raise max_required_changes."),
        StopReason("invalid_critique:required_change_item", "invalid_critique", ("critique",), "A required change is blank or no string.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:reason", "invalid_critique", ("critique",), "The reason is no string.", "Look at raw_critique.", again=True),
        StopReason("invalid_critique:approve_with_required_changes", "invalid_critique", ("critique",), "The critic approves and requires changes.", "Look at raw_critique."),
        StopReason("invalid_critique:approve_with_high_risk", "invalid_critique", ("critique",), "The critic approves a high risk.", "Let a person look."),
        StopReason("invalid_critique:revise_without_required_changes", "invalid_critique", ("critique",), "The critic wants a revision and requires no change.", "Look at raw_critique."),
        StopReason("invalid_critique:required_changes_not_enforceable", "invalid_critique", ("critique",), "A required change has no marker, or does not quote exactly one phrase.", "Look at not_enforceable."),
        StopReason("invalid_critique:required_changes_contradictory", "invalid_critique", ("critique",), "A required change removes what another one adds.", "Look at details."),
        StopReason("invalid_critique:high_risk_requires_escalate", "invalid_critique", ("critique",), "The critic wants a revision of something that only a person may accept.", "Let a person look."),
        StopReason("invalid_critique:escalate_reason_required", "invalid_critique", ("critique",), "The critic escalates without a reason.", "Look at raw_critique."),
        StopReason("invalid_critique:active_markup", "invalid_critique", ("critique",), "A required change, a note of a risk or the reason would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_critique:unsupported_link", "invalid_critique", ("critique",), "A required change, a note of a risk or the reason has a URL, a host or a mail address that the incident does not have.", "Look at unsupported; links that any text may have belong on known_links."),
        StopReason("critique_decision_denied_execution:<decision>", "denied_execution", ("critique", "revise", "finalize"), "The decision is not carried out now.", "Add it to allowed_decisions_execution to switch it on."),
        StopReason("critique_decision_denied_listed:<decision>", "denied_execution", ("critique", "revise", "finalize"), "The decision is on the list of what is denied, which wins over both others.", "Take it off denied_decisions, if it may be carried out."),
        StopReason("policy_escalation", "escalation", ("critique",), "The critic hands the draft to a person.", "Read escalation_reason and critique; with escalation: wait the run waits for that person."),
        StopReason("invalid_revised:empty", "invalid_revised", ("revise",), "The revision is blank or no string.", "Use another reviser.", again=True),
        StopReason("invalid_revised:too_long", "invalid_revised", ("revise",), "The revision is longer than max_answer_chars.", "Raise max_answer_chars.", again=True),
        StopReason("invalid_revised:no_changes", "invalid_revised", ("revise",), "The revision is the draft.", "Use another reviser.", again=True),
        StopReason("patch_violation:too_large_edit", "patch_violation", ("revise",), "The revision has less in common with the draft than min_patch_similarity.", "Look at patch_similarity.", again=True),
        StopReason("patch_violation:length_increase_limit", "patch_violation", ("revise",), "The revision is longer than the draft by more than allowed.", "Look at length_increase_pct.", again=True),
        StopReason("patch_violation:active_markup", "patch_violation", ("revise",), "The revision would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("patch_violation:unsupported_link", "patch_violation", ("revise",), "The revision has a URL, a host or a mail address that the incident does not have.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("patch_violation:no_new_facts", "patch_violation", ("revise",), "The revision states a number that neither draft nor context has.", "Look at unsupported.", again=True),
        StopReason("patch_violation:new_incident_id", "patch_violation", ("revise",), "The revision names a new incident.", "Look at unsupported.", again=True),
        StopReason("patch_violation:new_severity_label", "patch_violation", ("revise",), "The revision names a new severity.", "Look at unsupported.", again=True),
        StopReason("patch_violation:new_region", "patch_violation", ("revise",), "The revision names a new region.", "Look at unsupported.", again=True),
        StopReason("patch_violation:restricted_claims", "patch_violation", ("revise",), "The revision makes a claim that it may not make.", "Look at claims."),
        StopReason("patch_violation:required_changes_not_applied", "patch_violation", ("revise",), "The revision lacks a required phrase or keeps a removed one, also after three attempts and the fallback edit.", "Look at unapplied.", again=True),
        StopReason("invalid_answer:too_long", "invalid_answer", ("finalize",), "The final text is longer than max_answer_chars.", "Raise max_answer_chars."),
        StopReason("invalid_answer:restricted_claims", "invalid_answer", ("finalize",), "The approved draft makes a claim that it may not make.", "Look at claims."),
    ],
)  # fmt: skip
"""Why a Self-critique run can stop."""
