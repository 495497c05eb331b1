"""What does the Self-critique agent without a model make of real incidents, and which claims does it find in updates?

The incidents are records of public status pages, ``[{title, severity, affected, resolved, updates: [{label, body}]},
...]``. Claims are also looked for in sentences of our own, which are those of the tests; the rules were written without
a look at the ones that are held out. ``--show`` lists the sentences of the incidents with a closing word, and what is
claimed in each, to be read by a person.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from measure import LOG, Figure
from sections import Meaning, Section, run_alone

from guardgraph import create_self_critique_agent
from guardgraph.grounding.words import has_phrase, list_word_keys
from guardgraph.guards.self_critique.claims import GUARANTEES, restricted_claims
from guardgraph.nodes.offline.prose import has_file_path, read_prose_sentences

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

SENTENCES = Path(__file__).parents[1] / "tests" / "data" / "claims"
SETS = {"claims": "", "claims_held_out": "held_out_"}
KINDS = ("closures", "guarantees")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLOSING = re.compile(
    r"resolv|solv|recover|clos|normal|stable|over\b|restor|no longer|operational|fix|\bback\b|address|health|mitigat"
    r"|complet|guarant|ensur|again|rectif|repair|100|success|working|functional|\bend(?:ed|s)?\b|done|finish|promis"
    r"|never|assur|certain|make sure|clear",
    re.IGNORECASE,
)
"""Words beside which a sentence may say that something is over or certain."""

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
    """Yield how many of our own sentences are judged rightly, in per cent, and how many of the incidents' claim."""
    for name, prefix in SETS.items():
        caught = [_is_caught(kind, text) for kind in KINDS for text in _read_sentences(prefix + kind)]
        passed = [not restricted_claims(text) for text in _read_sentences(f"{prefix}none")]
        yield f"{name}_caught", 100 * sum(caught) / len(caught)
        yield f"{name}_none_passed", 100 * sum(passed) / len(passed)
        yield f"{name}_sentences", len(caught) + len(passed)
    records: Records = json.loads(path.read_text(encoding="utf-8"))
    bodies = (update["body"] for record in records for update in record["updates"])
    said = (sentence for body in bodies for sentence in _SENTENCE_END.split(body))
    judged = [(sentence, restricted_claims(sentence)) for sentence in said if _CLOSING.search(sentence)]
    yield "claims_in_incidents", sum(bool(claims) for _, claims in judged)
    yield "claims_in_incidents_sentences", len(judged)
    for sentence, claims in judged:
        LOG.info("%s: %s", ", ".join(claims) or "-", sentence.strip())


def _read_sentences(name: str) -> list[str]:
    return (SENTENCES / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def _is_caught(kind: str, text: str) -> bool:
    """Say whether a sentence is found to make a claim of a kind."""
    return any((claim in GUARANTEES) == (kind == "guarantees") for claim in restricted_claims(text))


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
        "Claims of updates",
        "How well the guards of the Self-critique agent tell claims from what is none: on sentences of our own, of "
        "which some were held out while the rules were written, and counted on updates of public status pages.",
        (
            Meaning("claims_caught", "Per cent of the claims that are found, of their kind.", at_least=98),
            Meaning("claims_none_passed", "Per cent of the other sentences in which none is found.", at_least=95),
            Meaning("claims_held_out_caught", "Per cent of the claims held out that are found.", at_least=98),
            Meaning("claims_held_out_none_passed", "Per cent of the others held out that pass.", at_least=95),
            Meaning("*_sentences", "Sentences."),
            Meaning("claims_in_incidents", "Sentences of the status pages with a closing word that make a claim."),
        ),
        data="incidents",
        figures=measure_claims,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
