"""What a critique must be before anything follows from it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from guardgraph.guards.links import check_links
from guardgraph.guards.self_critique.changes import find_contradictory_changes, parse_required_change
from guardgraph.guards.self_critique.claims import list_context_texts
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.self_critique import Critique, Decision, Risk, SelfCritiquePolicy, Severity

DECISIONS: tuple[Decision, ...] = ("approve", "revise", "escalate")
"""What a critique can decide; a policy list can only leave some of these out."""

_SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high")

HIGH_RISK_TYPES = frozenset({"legal_risk", "policy_violation"})
"""Risks that only a person may accept."""


def parse_critique(
    raw: JsonValue,
    *,
    decisions: Collection[str],
    risk_types: Collection[str],
    max_risks: int,
    max_required_changes: int,
) -> Critique:
    """Read a critique.

    Args:
        raw: ``{"decision", "severity"?, "risks"?, "required_changes"?, "reason"?}``.
        decisions: the policy list; of it only `DECISIONS` count.
        risk_types: the policy list of risk types.
        max_risks: how many risks a critique may name.
        max_required_changes: how many changes it may require.

    Raises:
        Stop: ``invalid_critique:<what>``, ``critique_decision_not_allowed_policy:<decision>`` or
            ``critique_risk_not_allowed_policy:<type>``, the first that holds.
    """
    if not isinstance(raw, dict):
        raise _build_critique_stop("not_object", raw, "an object")
    decision = _parse_critique_decision(raw.get("decision"), decisions)
    severity = _parse_critique_severity(raw.get("severity", "medium"))
    risks = _parse_critique_risks(raw.get("risks", []), risk_types, max_risks)
    changes = _parse_required_changes(raw.get("required_changes", []), max_required_changes)
    critique = Critique(
        decision=decision,
        severity=severity,
        risks=risks,
        required_changes=changes,
        reason=_parse_critique_reason(raw.get("reason")),
        high_risk=severity == "high" or any(risk["type"] in HIGH_RISK_TYPES for risk in risks),
    )
    _check_critique_consistency(critique)
    return critique


def check_critique_links(critique: Critique, *, context: JsonObject, policy: SelfCritiquePolicy | None) -> None:
    """Refuse a critique whose changes, notes of risks or reason have a link that the incident does not have.

    Args:
        critique: the critique of `parse_critique`.
        context: the incident context.
        policy: which links and which markup it may have; None where links are not judged.

    Raises:
        Stop: ``invalid_critique:active_markup``, ``invalid_critique:unsupported_link``.
    """
    said = [*critique["required_changes"], *(risk["note"] for risk in critique["risks"]), critique["reason"]]
    check_links(said, "invalid_critique", cited=list_context_texts(context.values()), policy=policy)


def check_decision_execution(decision: str, execution: Collection[str], *, denied: Collection[str] = ()) -> None:
    """Refuse a decision that the runtime does not carry out now.

    Args:
        decision: a validated critique's.
        execution: the execution list.
        denied: decisions that are never carried out, whatever the lists say.

    Raises:
        Stop: ``critique_decision_denied_listed:<decision>``, ``critique_decision_denied_execution:<decision>``.
    """
    if decision in denied:
        raise Stop(f"critique_decision_denied_listed:{shown_name(decision)}")
    if decision not in execution:
        raise Stop(f"critique_decision_denied_execution:{shown_name(decision)}")


def _parse_critique_decision(given: JsonValue, allowed: Collection[str]) -> Decision:
    if not isinstance(given, str) or not given.strip():
        raise _build_critique_stop("decision", given, "a text that is not blank")
    decision = given.strip()
    if decision not in allowed or decision not in DECISIONS:
        raise Stop(f"critique_decision_not_allowed_policy:{shown_name(decision)}")
    return decision


def _parse_critique_severity(given: JsonValue) -> Severity:
    severity = given.strip().lower() if isinstance(given, str) else None
    if severity not in _SEVERITIES:
        raise _build_critique_stop("severity", given, "low, medium or high")
    return severity


def _parse_critique_risks(given: JsonValue, allowed: Collection[str], most: int) -> list[Risk]:
    if not isinstance(given, list):
        raise _build_critique_stop("risks", given, "a list")
    if len(given) > most:
        raise _build_critique_stop("too_many_risks", len(given), f"at most {most}")
    return [_parse_critique_risk(item, allowed) for item in given]


def _parse_critique_risk(item: JsonValue, allowed: Collection[str]) -> Risk:
    if not isinstance(item, dict):
        raise _build_critique_stop("risk_item", item, "an object")
    kind, note = item.get("type"), item.get("note")
    if not isinstance(kind, str) or not kind.strip():
        raise _build_critique_stop("risk_type", kind, "a text that is not blank")
    if kind.strip() not in allowed:
        raise Stop(f"critique_risk_not_allowed_policy:{shown_name(kind.strip())}")
    if not isinstance(note, str) or not note.strip():
        raise _build_critique_stop("risk_note", note, "a text that is not blank")
    return Risk(type=kind.strip(), note=note.strip())


def _parse_required_changes(given: JsonValue, most: int) -> list[str]:
    if not isinstance(given, list):
        raise _build_critique_stop("required_changes", given, "a list")
    if len(given) > most:
        raise _build_critique_stop("too_many_required_changes", len(given), f"at most {most}")
    for item in given:
        if not isinstance(item, str) or not item.strip():
            raise _build_critique_stop("required_change_item", item, "a text that is not blank")
    return [item.strip() for item in given]


def _parse_critique_reason(given: JsonValue) -> str:
    if given is not None and not isinstance(given, str):
        raise _build_critique_stop("reason", given, "a text")
    return (given or "").strip()


def _check_critique_consistency(critique: Critique) -> None:
    changes = critique["required_changes"]
    if critique["decision"] == "approve":
        if changes:
            raise _build_critique_stop("approve_with_required_changes", changes[0], "none")
        if critique["high_risk"]:
            raise _build_critique_stop("approve_with_high_risk", _describe_high_risk(critique), "escalate")
    elif critique["decision"] == "revise":
        if not changes:
            raise _build_critique_stop("revise_without_required_changes", changes, "at least one")
        vague = [excerpt_value(item) for item in changes if parse_required_change(item) is None]
        if vague:
            raise Stop("invalid_critique:required_changes_not_enforceable", not_enforceable=vague)
        if opposed := find_contradictory_changes(changes):
            raise _build_critique_stop("required_changes_contradictory", opposed, "changes that one text can have")
        if critique["high_risk"]:
            raise _build_critique_stop("high_risk_requires_escalate", _describe_high_risk(critique), "escalate")
    elif not critique["reason"]:
        raise _build_critique_stop("escalate_reason_required", "", "a reason")


def _describe_high_risk(critique: Critique) -> JsonObject:
    types = sorted({risk["type"] for risk in critique["risks"]} & HIGH_RISK_TYPES)
    return {"severity": critique["severity"], "risks": types}


def _build_critique_stop(what: str, given: Any, allowed: str) -> Stop:
    return Stop(f"invalid_critique:{what}", details={"given": excerpt_value(given), "allowed": allowed})
