"""Can a long or hostile text make a check slow: does its time grow faster than the text?

Ordinary texts, whose sentences all differ, and hostile ones: long rows of digits, commas, blanks, quotes, dots and
negations. What a budget limits is measured up to the limit; beyond it a text is refused before anything else looks at
it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, product
from string import ascii_lowercase

from measure import Figure
from sections import Meaning, Section, run_alone

from guardgraph import SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.grammar import Stop
from guardgraph.grounding.check import Source, check_text
from guardgraph.grounding.quotes import is_quote_in_text
from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.values import scan_values
from guardgraph.guards.research.notes import verify_notes
from guardgraph.guards.self_critique import revision
from guardgraph.guards.self_critique.claims import restricted_claims
from guardgraph.plain.urls import identify_url

LONG = 50_000
"""Characters of a long text that no budget limits; the short one has a tenth of them."""

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
_words = (f"zq{''.join(letters)}" for length in count(3) for letters in product(ascii_lowercase, repeat=length))
"""What makes each text a new one; guardgraph keeps what it found out about the latest."""
Check = Callable[[str], object]

CHECKS: dict[str, Check] = {
    "scan_values": scan_values,
    "restricted_claims": restricted_claims,
    "sentences": split_sentences,
    "stands_in": lambda text: is_quote_in_text(text, f"{text}x"),
    "url_identity": lambda text: identify_url(f"https://example.com/{text}"),
}


def measure_growth(rounds: int) -> Iterator[Figure]:
    """Yield the growths, and the shares of refusals."""
    for name, check in {**CHECKS, "answer": answer, "research_note": research_note}.items():
        yield f"{name}_growth", growth(check, LONG, rounds)
    limited: dict[str, tuple[Check, int]] = {
        "draft": (draft, SelfCritiqueBudget().max_draft_chars),
        "revision": (revised, SelfCritiqueBudget().max_answer_chars),
    }
    for name, (check, limit) in limited.items():
        yield f"{name}_growth", growth(check, limit, rounds)
        at_limit = fastest(check, "ordinary", limit, rounds)
        beyond = max(fastest(check, piece, 100 * limit, rounds) for piece in PIECES)
        yield f"{name}_refusal_share", beyond / at_limit
        yield f"{name}_refusal_us", beyond * 1e6


def growth(check: Check, long: int, rounds: int) -> float:
    """Return the worst growth, of all pieces, from a tenth of `long` characters to all of them."""
    return max(fastest(check, piece, long, rounds) / fastest(check, piece, long // 10, rounds) / 10 for piece in PIECES)


def fastest(check: Check, piece: str, chars: int, rounds: int) -> float:
    """Return the shortest processor time of some calls, in seconds; a stop is an answer like any other."""
    gc.collect()
    gc.disable()  # as timeit does: it looks at all that the process has, which is none of the check's doing
    try:
        return min([_seconds(check, text_of(piece, chars)) for _ in range(rounds + 1)][1:])
    finally:
        gc.enable()


def _seconds(check: Check, text: str) -> float:
    begun = time.thread_time()
    with suppress(Stop):
        check(text)
    return time.thread_time() - begun


def text_of(piece: str, chars: int) -> str:
    """Return a text of `chars` characters that no other has a sentence with in common, with no blank at its ends."""
    times = chars // len(PIECES[piece]) + 1
    made = "".join(f"{next(_words)} {ORDINARY}" for _ in range(times)) if piece == "ordinary" else PIECES[piece] * times
    return f"{next(_words)}{made}"[: chars - 1] + "x"


def answer(text: str) -> None:
    """Hold an answer against a document of the same text, and against another one."""
    check_text(text, [Source("a", text)])
    check_text(text, [Source("b", ORDINARY)])


def _note(text: str) -> dict[str, str]:
    return {"id": "n1", "claim": text, "quote": text, "url": "https://a.example/", "title": "", "published_at": ""}


def research_note(text: str) -> None:
    """Hold a note against a page of the same text."""
    pages = {"https://a.example/": {"title": "", "published_at": "", "body": text}}
    verify_notes([_note(text)], pages=pages, check_values=True, check_quotes=True)


def draft(text: str) -> None:
    """Hold a draft against an incident."""
    limit = SelfCritiqueBudget().max_draft_chars
    revision.parse_draft(text, context={"update": ORDINARY}, max_chars=limit, policy=SelfCritiquePolicy())


def revised(text: str) -> None:
    """Hold a revision against a draft that is all but the same."""
    budget = SelfCritiqueBudget(min_patch_similarity=0.0)
    revision.check_revision_patch(
        text,
        draft=text[: -len("x")],
        context={"update": ORDINARY},
        required_changes=['ADD "an estimate"'],
        hinted_length_increase_pct=None,
        avoid_absolute_guarantees=True,
        policy=SelfCritiquePolicy(),
        budget=budget,
    )


SECTIONS = (
    Section(
        "growth",
        "Growth with long texts",
        "The time for ten times the text, over ten times the time: 1 is linear, less is better. Each is the worst "
        "of ordinary texts and hostile ones (long rows of digits, commas, blanks, quotes, dots, negations). Texts "
        "that no budget limits have 5,000 and 50,000 characters, the others a tenth of the budget's limit and the "
        "limit. Beyond the limit a text is refused before anything else looks at it. Python's garbage collector is "
        "off meanwhile.",
        (
            Meaning("*_growth", "Time for ten times the text, over ten times the time.", at_most=1.25),
            Meaning("*_refusal_share", "Refusing a text of 100 limits, over checking one at the limit.", at_most=0.05),
            Meaning("*_refusal_us", "Microseconds for refusing a text of 100 times the limit."),
        ),
        missed="1 is linear and 2 quadratic. Tests hold hostile texts to linear time; these are ordinary ones.",
        figures=measure_growth,
        rounds=11,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
