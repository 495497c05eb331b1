"""What does the Self-critique agent without a model make of real incidents, and which updates does it tell as closures?

The incidents are records of public status pages, ``[{title, severity, affected, resolved, updates: [{label, body}]},
...]``. Rules are written with a look at the updates of one half, by their hash; ``reported`` is the other half.
``--show`` lists the updates that are told wrongly, to be read by a person.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from measure import LOG, Figure
from sections import Meaning, Section, run_alone

from guardgraph import create_self_critique_agent
from guardgraph.grounding.words import has_phrase, list_word_keys
from guardgraph.guards.self_critique import restricted_claims
from guardgraph.nodes.offline.self_critique import has_file_path, read_prose_sentences

GOAL = "Write an update for customers. Use precise language and keep next actions concrete."
ENDINGS = ("approved_direct", "revised_once", "policy_escalation")
PHRASES = (
    "Timing may change as we learn more",
    "We apologize for the disruption and thank you for your patience",
    "The next update follows on this page",
)
"""What a critic may ask a short update to say."""
SHORT_CHARS = 300
TOLD_WORDS = 5
"""Words in a row that show that a text is used."""

LABELS = {
    "resolved": ("resolved", "final message", "close issue", "end of outage message"),
    "open": ("investigating", "identified", "monitoring", "initial message", "open issue"),
}
"""Labels of updates that say that it is over, and of those that do not."""


Records = list[dict[str, Any]]


def measure_incidents(path: Path) -> Iterator[Figure]:
    """Yield what comes of contexts built from the records, of the records as they stand, and of short updates."""
    records = json.loads(path.read_text(encoding="utf-8"))
    yield "incidents_read", len(records)
    yield from _measure_updates("incidents_", ((record, built(record)) for record in records))
    yield from _measure_updates("incidents_raw_", ((record, record) for record in records))
    yield from _measure_phrases(records)


def built(record: dict[str, Any]) -> dict[str, Any]:
    """Return the context that a user builds of a record."""
    incident = {name: record.get(name) for name in ("title", "severity", "affected")}
    status = "resolved" if record.get("resolved") in (True, "true", "resolved") else "investigating"
    return {"incident": {**incident, "status": status, "summary": summary_of(record)}}


def summary_of(record: dict[str, Any]) -> str:
    """Return the first update of a record."""
    return next((update["body"] for update in record["updates"]), "")


def has_status(answer: str, context: dict[str, Any]) -> bool:
    """Say whether an update states a status: the context's own, where it has one."""
    status = context.get("incident", {}).get("status", "")
    return has_phrase(answer, f"current status {status}")


def tells(answer: str, summary: str) -> bool:
    """Say whether some words of a summary stand in an update, one after the other."""
    said = list_word_keys(" ".join(read_prose_sentences(summary)))
    runs = (said[at : at + TOLD_WORDS] for at in range(max(1, len(said) - TOLD_WORDS + 1)))
    return any(has_phrase(answer, " ".join(run)) for run in runs if run)


def is_internal(answer: str, names: Iterable[str]) -> bool:
    """Say whether an update names a file or a field of its record."""
    return has_file_path(answer) or any(
        f"{name}:" in answer.lower() or ("_" in name and name in answer) for name in names
    )


def _measure_updates(prefix: str, contexts: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[Figure]:
    """Run the agent over contexts, and yield what their updates have, and how the runs ended."""
    agent = create_self_critique_agent()
    endings: Counter[str] = Counter()
    shares: Counter[str] = Counter()
    for record, context in contexts:
        result = agent.invoke({"goal": GOAL, "incident_context": context})
        ending = result["outcome"] if result["status"] == "ok" else result["stop_reason"]
        endings[ending if ending in ENDINGS else "other"] += 1
        answer = result.get("answer", "")
        shares["status_kept"] += has_status(answer, context)
        shares["summary_told"] += tells(answer, summary_of(record))
        shares["internal"] += is_internal(answer, ("path", "source", "resolved_when"))
    total = endings.total()
    for name in ("status_kept", "summary_told", "internal"):
        yield f"{prefix}{name}_pct", 100 * shares[name] / total
    for name in (*ENDINGS, "other"):
        yield f"{prefix}ended_{name}", endings[name]


def _list_short_updates(records: Records) -> Iterator[tuple[str, str]]:
    """Yield short updates, each with a phrase that it lacks."""
    texts = {" ".join(read_prose_sentences(update["body"])) for record in records for update in record["updates"]}
    short = sorted(text for text in texts if 0 < len(text) <= SHORT_CHARS)
    return ((text, phrase) for text in short for phrase in PHRASES if not has_phrase(text, phrase))


def _measure_phrases(records: Records) -> Iterator[Figure]:
    """Have short updates revised to say one phrase more, and yield how often its length stops that."""
    required: list[str] = []
    agent = create_self_critique_agent(
        drafter=lambda view: {"draft": view["incident_context"]["incident"]["summary"]},
        critic=lambda _: {"decision": "revise", "risks": [], "required_changes": list(required), "reason": ""},
    )
    reasons: Counter[str] = Counter()
    for text, phrase in _list_short_updates(records):
        required[:] = [f'ADD "{phrase}"']
        context = {"incident": {"status": "resolved", "summary": text}}
        reasons[agent.invoke({"goal": GOAL, "incident_context": context})["stop_reason"]] += 1
    total = reasons.total()
    yield "short_updates", total
    for name, reason in (("too_long", "patch_violation:length_increase_limit"), ("revised", "success")):
        yield f"short_updates_{name}_pct", 100 * reasons[reason] / max(1, total)


def measure_claims(path: Path) -> Iterator[Figure]:
    """Yield how many updates that say that it is over are told as closures, and how many open ones, in per cent."""
    records: Records = json.loads(path.read_text(encoding="utf-8"))
    updates = [update for record in records for update in record["updates"]]
    for half, name in enumerate(("tuned", "reported")):
        for kind, labels in LABELS.items():
            bodies = [update["body"] for update in updates if update["label"].lower() in labels]
            said = [body for body in bodies if _find_half(body) == half]
            claims = {body: restricted_claims(body, ["closures"]) for body in said}
            told = sum(bool(claims[body]) for body in said)
            yield f"{name}_{kind}_told_pct", 100 * told / max(1, len(said))
            yield f"{name}_{kind}_updates", len(said)
            for body, found in claims.items():
                if bool(found) != (kind == "resolved"):
                    LOG.info("%s, %s: %s", kind, ", ".join(found) or "-", body[:300])


def _find_half(body: str) -> int:
    return int(sha256(body.encode()).hexdigest(), 16) % 2


SECTIONS = (
    Section(
        "incidents",
        "Updates on real incidents",
        "What the Self-critique agent without a model makes of records of public status pages: of contexts that are "
        "built from them, and of the records as they stand (`raw`). `short_updates` are updates of these pages, each "
        "revised to say one phrase more.",
        (
            Meaning("incidents_read", "Records."),
            Meaning(
                "*_status_kept_pct", "Per cent that state the status, the context's own where it has one.", at_least=100
            ),
            Meaning("*_summary_told_pct", "Per cent that tell something of the first update.", at_least=98),
            Meaning("*_internal_pct", "Per cent that name a file or a field of the record.", at_most=0),
            Meaning("*_ended_approved_direct", "Runs that end with the draft."),
            Meaning("*_ended_revised_once", "Runs that end with a revision."),
            Meaning("*_ended_policy_escalation", "Runs that hand the draft to a person."),
            Meaning("*_ended_other", "Runs that end in another way.", at_most=0),
            Meaning("short_updates", "Short updates, each with a phrase that it lacks."),
            Meaning("short_updates_too_long_pct", "Per cent that end in `length_increase_limit`.", at_most=0),
            Meaning("short_updates_revised_pct", "Per cent that end with the revision."),
        ),
        data="incidents",
        figures=measure_incidents,
    ),
    Section(
        "claims",
        "Closures in updates",
        "Which updates of public status pages the guards of the Self-critique agent tell as closures: those that say "
        "that it is over, and wrongly those of open incidents. Rules were written with a look at the tuned half.",
        (
            Meaning("*_resolved_told_pct", "Per cent of the closing updates that are told.", at_least=72),
            Meaning("*_open_told_pct", "Per cent of the open ones that are told, wrongly.", at_most=6),
            Meaning("*_updates", "Updates."),
        ),
        data="incidents",
        figures=measure_claims,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
