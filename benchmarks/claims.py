"""How well claims are told from what is none: on sentences of our own, and counted on real incidents.

    python benchmarks/claims.py [incidents.json] [--show]

The sentences are those of the tests; the rules were written without a look at the ones that are held out. The file
holds records of public status pages as ``[{updates: [{label, body}], ...}, ...]``. Prints ``name value`` lines; with
`--show` the sentences of the incidents with a closing word, and what is claimed, to be read by a person.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from guardgraph.guards.self_critique.claims import GUARANTEES, restricted_claims

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


def sentences(name: str) -> list[str]:
    """Return sentences of our own."""
    return (SENTENCES / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def is_caught(kind: str, text: str) -> bool:
    """Say whether a sentence is found to make a claim of a kind."""
    return any((claim in GUARANTEES) == (kind == "guarantees") for claim in restricted_claims(text))


def figures() -> Iterator[tuple[str, float]]:
    """Measure both sets of our own sentences, in per cent."""
    for name, prefix in SETS.items():
        caught = [is_caught(kind, text) for kind in KINDS for text in sentences(prefix + kind)]
        passed = [not restricted_claims(text) for text in sentences(f"{prefix}none")]
        yield f"{name}_caught", 100 * sum(caught) / len(caught)
        yield f"{name}_none_passed", 100 * sum(passed) / len(passed)
        yield f"{name}_sentences", len(caught) + len(passed)


def real_sentences(path: Path) -> list[str]:
    """Return the sentences of incidents that have a closing word."""
    records = json.loads(path.read_text(encoding="utf-8"))
    bodies: Iterable[str] = (update["body"] for record in records for update in record["updates"])
    said = (sentence for body in bodies for sentence in _SENTENCE_END.split(body))
    return [sentence for sentence in said if _CLOSING.search(sentence)]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python benchmarks/claims.py")
    parser.add_argument("data", nargs="?", type=Path, help="records of incidents")
    parser.add_argument("--show", action="store_true", help="print their sentences with a closing word")
    given = parser.parse_args()
    for name, value in figures():
        print(f"{name} {value:.4g}")
    if given.data is None:
        print("skip claims_in_incidents it needs a data set: python benchmarks/claims.py FILE")
        return
    judged = [(sentence, restricted_claims(sentence)) for sentence in real_sentences(given.data)]
    print(f"claims_in_incidents {sum(bool(claims) for _, claims in judged)}")
    print(f"claims_in_incidents_sentences {len(judged)}")
    for sentence, claims in judged if given.show else ():
        print(f"{', '.join(claims) or '-'}: {sentence.strip()}")


if __name__ == "__main__":
    main()
