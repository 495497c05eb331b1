"""Asking again: a refused proposal goes back to its proposer, with the reason, as often as the budget allows.

Whether and how often somebody was asked is read from the log: a guard's line says ``again``, to which node, and what
the stop would have been; the next line is the proposer's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guardgraph.graphs.declaring.declaration import Declaration
from guardgraph.graphs.declaring.kinds import name_record_channel
from guardgraph.graphs.running.frame import Part
from guardgraph.graphs.running.session import Visit
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall
from guardgraph.state.run import Attempt, LogEntry, Verdict
from guardgraph.world.call import hash_call_value

LONGEST_TOLD = 300
"""Characters of a text of evidence that a proposer is told."""
MOST_TOLD = 20
"""Items of a list of evidence that a proposer is told."""
_UNTOLD = ("raw_", "allowed")
"""Beginnings of the keys of evidence that a proposer is not told: what it wrote itself, and what lists hold."""


def find_proposer_to_ask(part: Part, reason: str, run: Run[Any, Any], visit: Visit) -> str | None:
    """Return the propose node that is asked again for a proposal that a guard refuses; None where the run stops.

    Args:
        part: the guard.
        reason: of the stop that the refusal would be.
        run: its budget bounds the asks, and so may the guard.
        visit: of the guard; its time has ended.
    """
    known, log = part.frame.catalogue.find(reason), visit.log
    asked = _find_last_proposal(log)
    if known is None or not known.again or asked is None:
        return None
    node = asked["node"]
    if node not in part.declaration.again or not asked.get("askable"):
        return None
    attempts = 1 + len(list(_list_refusals_since_acceptance(log, node, part.frame.declarations)))
    if attempts > 1 and _is_proposed_again(log, node):
        return None
    budget, own = run.budget, part.declaration.attempts
    most = budget.max_attempts if own is None else min(budget.max_attempts, own)
    seconds_left = budget.max_seconds - visit.active_seconds
    is_possible = seconds_left > asked["elapsed_ms"] / 1000 and len(log) + 1 < budget.max_visits
    return node if attempts < most and is_possible else None


def _find_last_proposal(log: Sequence[LogEntry]) -> LogEntry | None:
    return next((line for line in reversed(log) if line["kind"] == "propose"), None)


def _is_proposed_again(log: Sequence[LogEntry], node: str) -> bool:
    """Say whether a node that was asked again proposed the same: it would go on doing so."""
    last, before = [line.get("proposed") for line in log if line["node"] == node][:-3:-1]
    return last is not None and last == before


def _list_refusals_since_acceptance(
    log: Sequence[LogEntry], node: str, declarations: Mapping[str, Declaration]
) -> Iterator[LogEntry]:
    """Yield the lines that sent proposals of a node back, the latest first, until one was accepted.

    It was accepted where a guard let the run go on to a node that is neither a guard nor this one.
    """
    for line in reversed(log):
        if line.get("verdict") == "again" and line["to"] == node:
            yield line
        elif line.get("verdict") == "pass" and (way := line["to"]) != node and declarations[way].kind != "guard":
            return


def find_refusal_before(log: Sequence[LogEntry]) -> Verdict | None:
    """Return the refusal for which the node that ran last was asked again, None where it was not."""
    if len(log) < 2 or log[-2].get("verdict") != "again" or log[-2]["to"] != log[-1]["node"]:
        return None
    return log[-2]["refused"]


def blame_missing_proposal(refused: Verdict, stop: Stop) -> Verdict:
    """Return the stop of a run whose proposer was asked again and brought nothing: what it was asked again for.

    Args:
        refused: the refusal.
        stop: why there is no other proposal; ``details.again`` says it.
    """
    details, why = refused["evidence"].get("details"), {"reason": stop.reason, **_get_stop_details(stop)}
    told = details if isinstance(details, dict) else {} if details is None else {"details": details}
    return {**refused, "evidence": {**refused["evidence"], "details": {**told, "again": why}}}


def _get_stop_details(stop: Stop) -> JsonObject:
    details = stop.evidence.get("details")
    return {} if details is None else {"details": details}


def name_stop_node(part: Part, reason: str) -> str:
    """Return the terminal that a stop reason of the catalogue leads to."""
    known = part.frame.catalogue.find(reason)
    assert known is not None  # it was refused for that in this run
    return f"stop_{known.family}"


def hash_proposal(call: RecordedCall) -> str | None:
    """Return what tells a proposal from another one, None where a call brought none."""
    outcome = Outcome.unpacked(call["outcome"])
    return None if outcome.form == "failure" else hash_call_value([outcome.form, outcome.content])


def describe_refusal(part: Part, log: Sequence[LogEntry], state: JsonObject) -> JsonObject | None:
    """Return what a proposer that is asked again is told, None where its node is not.

    Args:
        part: the propose node.
        log: of the run so far.
        state: what the node was handed, with the record of what it called before.

    Returns:
        The stop reason, what it means, the evidence in short, without contents of lists, the number of the attempt that
        was refused, from 1 on, and what was proposed, where anything was.
    """
    node, declarations = part.declaration.name, part.frame.declarations
    if not log or log[-1].get("verdict") != "again" or log[-1]["to"] != node:
        return None
    refused = log[-1]["refused"]
    known = part.frame.catalogue.find(refused["reason"])
    evidence = {} if known is None or known.untold else _cut_evidence(refused["evidence"])
    attempt = len(list(_list_refusals_since_acceptance(log, node, declarations)))
    why = "" if known is None else known.meaning
    told: JsonObject = {"reason": refused["reason"], "why": why, "evidence": evidence, "attempt": attempt}
    calls = [call for record in state.get(name_record_channel(node)) or () for call in record["calls"]]
    outcome = Outcome.unpacked(calls[-1]["outcome"]) if calls else None
    return told if outcome is None or outcome.form == "failure" else {**told, "proposal": outcome.content}


def _cut_evidence(evidence: JsonObject) -> JsonObject:
    return {name: _cut_told_value(item) for name, item in evidence.items() if not name.startswith(_UNTOLD)}


def _cut_told_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TOLD else f"{value[:LONGEST_TOLD]}..."
    if isinstance(value, list):
        return [_cut_told_value(item) for item in value[:MOST_TOLD]]
    return _cut_evidence(value) if isinstance(value, dict) else value


def list_attempts(log: Sequence[LogEntry]) -> list[Attempt]:
    """Return the proposals of a run that were refused and asked for again."""
    refused = [line["refused"] for line in log if line.get("verdict") == "again"]
    return [{"reason": item["reason"], "evidence": item["evidence"]} for item in refused]
