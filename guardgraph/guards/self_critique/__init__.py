"""What the Self-critique agent's guards decide: the request, the draft, the critique and its changes, the revision."""

from guardgraph.guards.self_critique.claims import forbidden_claims, is_licensed, restricted_claims
from guardgraph.guards.self_critique.critique import (
    PHRASE_CHARS,
    Change,
    check_critique_links,
    check_decision_execution,
    check_measured_changes,
    find_unapplied_changes,
    list_changes_by_stems,
    list_enforceable_changes,
    parse_critique,
    parse_required_change,
    read_similarities,
    read_text_critique,
    show_measured_changes,
)
from guardgraph.guards.self_critique.request import parse_self_critique_request
from guardgraph.guards.self_critique.revision import (
    check_final_draft,
    check_revision_patch,
    measure_length_increase,
    measure_patch_growth,
    measure_patch_similarity,
    parse_draft,
)

__all__ = [
    "PHRASE_CHARS",
    "Change",
    "check_critique_links",
    "check_decision_execution",
    "check_final_draft",
    "check_measured_changes",
    "check_revision_patch",
    "find_unapplied_changes",
    "forbidden_claims",
    "is_licensed",
    "list_changes_by_stems",
    "list_enforceable_changes",
    "measure_length_increase",
    "measure_patch_growth",
    "measure_patch_similarity",
    "parse_critique",
    "parse_draft",
    "parse_required_change",
    "parse_self_critique_request",
    "read_similarities",
    "read_text_critique",
    "restricted_claims",
    "show_measured_changes",
]
