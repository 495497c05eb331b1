"""What the Self-critique agent without a model makes of real incidents.

Usage: ``python benchmarks/incidents.py --data incidents.json``, with records of public status pages as
``[{title, severity, affected, resolved, updates: [{label, body}], ...}, ...]``. Prints ``name value`` lines: for
contexts built from the records, and for the records as they stand (``incidents_raw_``); and for short updates that
must be given one phrase more (``short_updates``).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from guardgraph import create_self_critique_agent
from guardgraph.languages.wording import has_phrase, list_word_keys
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


def measure(prefix: str, contexts: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Run the agent over contexts and print what their updates have, and how the runs ended."""
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
        print(f"{prefix}{name}_pct {100 * shares[name] / total:.1f}")
    for name in (*ENDINGS, "other"):
        print(f"{prefix}ended_{name} {endings[name]}")


def short_updates(records: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield short updates, each with a phrase that it lacks."""
    texts = {" ".join(read_prose_sentences(update["body"])) for record in records for update in record["updates"]}
    short = sorted(text for text in texts if 0 < len(text) <= SHORT_CHARS)
    return ((text, phrase) for text in short for phrase in PHRASES if not has_phrase(text, phrase))


def measure_phrases(records: list[dict[str, Any]]) -> None:
    """Have short updates revised to say one phrase more, and print how often its length stops that."""
    required: list[str] = []
    agent = create_self_critique_agent(
        drafter=lambda view: {"draft": view["incident_context"]["incident"]["summary"]},
        critic=lambda _: {"decision": "revise", "risks": [], "required_changes": list(required), "reason": ""},
    )
    reasons: Counter[str] = Counter()
    for text, phrase in short_updates(records):
        required[:] = [f'ADD "{phrase}"']
        context = {"incident": {"status": "resolved", "summary": text}}
        reasons[agent.invoke({"goal": GOAL, "incident_context": context})["stop_reason"]] += 1
    total = reasons.total()
    print(f"short_updates {total}")
    for name, reason in (("too_long", "patch_violation:length_increase_limit"), ("revised", "success")):
        print(f"short_updates_{name}_pct {100 * reasons[reason] / max(1, total):.1f}")


def main(path: Path) -> None:
    """Measure built contexts, records as they stand, and short updates."""
    records = json.loads(path.read_text(encoding="utf-8"))
    print(f"incidents_read {len(records)}")
    measure("incidents_", ((record, built(record)) for record in records))
    measure("incidents_raw_", ((record, record) for record in records))
    measure_phrases(records)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python benchmarks/incidents.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FILE", help="the records")
    parser.add_argument("path", type=Path, nargs="?", help="the same as --data")
    given = parser.parse_args()
    if not (file := given.data or given.path):
        print("skip incidents it needs records of incidents, `--data FILE`")
        sys.exit()
    main(file)
