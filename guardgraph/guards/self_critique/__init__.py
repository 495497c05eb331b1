"""What the Self-critique agent's guards decide: the request, the draft, the critique and its changes, the revision."""

from guardgraph.guards.self_critique.changes import PHRASE_CHARS, Change, enforceable, parse_change, unapplied
from guardgraph.guards.self_critique.claims import (
    CLOSING_STATUSES,
    GUARANTEES,
    claims_in_context,
    forbidden_claims,
    licenses_closures,
    restricted_claims,
)
from guardgraph.guards.self_critique.critique import (
    DECISIONS,
    HIGH_RISK_TYPES,
    check_decision_execution,
    parse_critique,
)
from guardgraph.guards.self_critique.request import parse_self_critique_request
from guardgraph.guards.self_critique.revision import (
    check_final,
    check_patch,
    length_increase_pct,
    parse_draft,
    patch_growth_pct,
    patch_similarity,
)

__all__ = [
    "CLOSING_STATUSES",
    "DECISIONS",
    "GUARANTEES",
    "HIGH_RISK_TYPES",
    "PHRASE_CHARS",
    "Change",
    "check_decision_execution",
    "check_final",
    "check_patch",
    "claims_in_context",
    "enforceable",
    "forbidden_claims",
    "length_increase_pct",
    "licenses_closures",
    "parse_change",
    "parse_critique",
    "parse_draft",
    "parse_self_critique_request",
    "patch_growth_pct",
    "patch_similarity",
    "restricted_claims",
    "unapplied",
]
