"""How well the number check tells true from false claims, beside a rule that compares tokens.

Usage: ``python benchmarks/facts_fever.py fever_symmetric.json``, with the FEVER-Symmetric test set (Schuster
et al. 2019, CC BY-SA 3.0) as ``{"rows": [[claim, [evidence, ...], supported], ...]}``. Prints ``name value``
lines. The claims are those in which guardgraph finds a number; for the ``token_`` lines, those with a digit token.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from guardgraph.guards.facts import Facts, facts_in_text, unsupported_of_answer

_TOKEN = re.compile(r"\b\d[\d,.]*\b")


def flagged_by_facts(claim: str, evidence: list[str]) -> bool:
    """The rule of the guards for answers: a fact of the claim that the evidence neither says nor comes to."""
    licence = Facts()
    for sentence in evidence:
        licence |= facts_in_text(sentence)
    return bool(unsupported_of_answer(claim, licence, texts=evidence))


def flagged_by_tokens(claim: str, evidence: list[str]) -> bool:
    """The baseline: a token of digits in the claim that the evidence does not have."""
    return bool(set(_TOKEN.findall(claim)) - set(_TOKEN.findall(" ".join(evidence))))


def main(path: str) -> None:
    """Measure both rules on both sets of claims."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))["rows"]
    found = [row for row in rows if facts_in_text(row[0]).numbers]
    tokens = [row for row in rows if _TOKEN.search(row[0])]
    for prefix, chosen in (("", found), ("token_", tokens)):
        for supported, word in ((False, "false"), (True, "true")):
            claims = [row for row in chosen if row[2] is supported]
            print(f"{prefix}claims_{word} {len(claims)}")
            for name, rule in (("flagged", flagged_by_facts), ("baseline_flagged", flagged_by_tokens)):
                share = 100 * sum(rule(row[0], row[1]) for row in claims) / len(claims)
                print(f"{prefix}{name}_{word}_pct {share:.1f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/facts_fever.py PATH_OF_FEVER_SYMMETRIC_JSON")
    main(sys.argv[1])
