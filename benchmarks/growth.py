"""How the cost of a guard grows with its text: the time for ten times the text, over ten times the time.

1 is linear. Texts are ordinary ones and hostile ones, of anything that a regular expression could stumble over.
Prints `name value` lines. Run it as ``python benchmarks/growth.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from guardgraph.guards.claims import restricted_claims
from guardgraph.guards.facts import facts_in_text
from guardgraph.guards.quotes import stands_in
from guardgraph.guards.revision import patch_similarity
from guardgraph.guards.sentences import sentences
from guardgraph.guards.urls import identity

SHORT = 5_000
"""Characters; the long texts have ten times as many, more than any budget lets through."""
ROUNDS = 5

ORDINARY = "US payment gateway is in P1 degraded mode, 3.4% of payments fail; we expect recovery in 45 minutes. "
PIECES = {
    "ordinary": ORDINARY,
    "digits": "1",
    "commas": "1,",
    "blanks": " ",
    "not": "not ",
    "quotes": "'\"",
    "dots": "a.",
}
GUARDS: dict[str, Callable[[str], object]] = {
    "facts_in_text": facts_in_text,
    "restricted_claims": restricted_claims,
    "sentences": sentences,
    "stands_in": lambda text: stands_in(text, f"{text}x"),
    "url_identity": lambda text: identity(f"https://example.com/{text}"),
}


def fastest(guard: Callable[[str], object], text: str) -> float:
    """Return the shortest time of some calls, in seconds."""
    taken = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        guard(text)
        taken.append(time.perf_counter() - begun)
    return min(taken)


def main() -> None:
    """Measure and print."""
    for name, guard in GUARDS.items():
        growths = []
        for piece in PIECES:
            short, long = ((piece * size)[:size] for size in (SHORT, 10 * SHORT))
            growths.append(fastest(guard, long) / fastest(guard, short) / 10)
        print(f"{name}_growth {max(growths):.2f}")
    drafts = [(ORDINARY * 10)[:size] for size in (90, 900)]
    growth = fastest(lambda text: patch_similarity(text, f"{text} x"), drafts[1])
    growth /= fastest(lambda text: patch_similarity(text, f"{text} x"), drafts[0])
    print(f"patch_similarity_growth {growth / 10:.2f}")


if __name__ == "__main__":
    main()
