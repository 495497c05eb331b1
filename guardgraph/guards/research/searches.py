"""Several searches of one run: what each may take, when they end, and which query a proposal may add."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from guardgraph.guards.links import check_links
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.plain.letters import is_unspaced_letter, normalise_to_nfkc
from guardgraph.state.research import FailedQuery, Note, ResearchPolicy, Searches, SearchesEnd

LONGEST_QUERY: Final = 400  # characters of a query
LONGEST_GAP: Final = 400  # characters of what a proposal names open
MOST_GAPS: Final = 20  # things that a proposal may name open, and queries that it may repeat
_JOINER: Final = "\u034f"  # the combining grapheme joiner, which is a mark and drawn as nothing
ROUND_TIMES: Final = 2
"""How often the time of the search before has to be left: once for the next one, once for the answer."""


class Gaps(NamedTuple):
    """What a proposal says that is still missing."""

    open: list[str]  # what nothing that was found says
    queries: list[str]  # queries that were not searched for before, each once; none says that enough was found


def start_searches(query: str, *, hits: int = 0, urls: Sequence[str] = ()) -> Searches:
    """Return the beginning of several searches."""
    return Searches(
        queries=[query], waiting=[], rounds=1, open=[], failed_queries=[], hits=hits, urls=[*urls], notes=0, began=0.0
    )


def share_limit(limit: int, *, used: int, searches_left: int) -> int:
    """Return what one search may take of a limit of the whole run: an even share of what is left, rounded up."""
    return -(-max(limit - used, 0) // max(searches_left, 1))


def count_searches_left(searches: Searches | None, *, max_queries: int) -> int:
    """Return how many searches may still be made, the one of now included."""
    return max(max_queries - (len(searches["queries"]) if searches else 1) + 1, 1)


def find_searches_end(
    searches: Searches, *, max_queries: int, used: Mapping[SearchesEnd, tuple[int, int]], spent: float, seconds: float
) -> SearchesEnd | None:
    """Say why a run may search no more, None where it may."""
    if len(searches["queries"]) >= max_queries:
        return "max_queries"
    if (reached := next((name for name, (have, most) in used.items() if have >= most), None)) is not None:
        return reached
    last = spent - searches["began"]
    return "time" if seconds - spent <= ROUND_TIMES * last else None


def begin_next_search(searches: Searches, *, notes: int, spent: float) -> Searches:
    """Return how far a run has come that searches for the query that waits longest."""
    query, *waiting = searches["waiting"]
    return {**searches, "queries": [*searches["queries"], query], "waiting": waiting, "notes": notes, "began": spent}


def drop_denied_queries(searches: Searches, *, denied: Collection[str], known: Collection[str]) -> Searches:
    """Return how far a run has come, its waiting queries judged again: who asks, or the policy, may have changed."""
    waiting: list[str] = []
    failed: list[FailedQuery] = []
    for query in searches["waiting"]:
        try:
            check_query_terms(query, denied=denied, known=known)
        except Stop as refused:
            failed.append(FailedQuery(query="", reason=refused.reason))
        else:
            waiting.append(query)
    return {**searches, "waiting": waiting, "failed_queries": [*searches["failed_queries"], *failed]}


def list_failed_query(searches: Searches, reason: str) -> Searches:
    """Return how far a run has come whose search of now brought nothing."""
    failed = FailedQuery(query=searches["queries"][-1], reason=reason)
    return {**searches, "failed_queries": [*searches["failed_queries"], failed]}


def parse_gaps(
    raw: JsonValue, *, asked: Sequence[str], max_queries: int, denied: Collection[str], known: Collection[str]
) -> Gaps:
    """Read what a proposal says that is still missing."""
    if not isinstance(raw, dict):
        raise Stop("invalid_gaps:not_object", details={"given": excerpt_value(raw)})
    if not _is_gap_list(still := raw.get("open", [])):
        allowed = f"a list of at most {MOST_GAPS} texts of at most {LONGEST_GAP} characters"
        raise Stop("invalid_gaps:open", details={"allowed": allowed, "given": excerpt_value(still)})
    proposed = raw.get("queries", [])
    if not isinstance(proposed, list) or len(proposed) > MOST_GAPS:
        allowed = f"a list of at most {MOST_GAPS} texts"
        raise Stop("invalid_gaps:queries", details={"allowed": allowed, "given": excerpt_value(proposed)})
    fresh: dict[str, str] = {}
    for text in map(_read_query, proposed):
        fresh.setdefault(_fold_query(text), text)
    before = {*map(_fold_query, asked)}
    queries = [text for folded, text in fresh.items() if folded not in before]
    if len(queries) > (left := max_queries - len(asked)):
        raise Stop("invalid_gaps:too_many", details={"queries": len(queries), "left": left})
    for query in queries:
        check_query_terms(query, denied=denied, known=known)
    return Gaps([item.strip() for item in still], queries)


def check_gap_links(gaps: Gaps, *, question: str, notes: Sequence[Note], policy: ResearchPolicy) -> None:
    """Check that the links of what is named open are in the notes or in the question: readers are shown it."""
    cited = [question, *(text for note in notes for text in (note["claim"], note["quote"], note["title"], note["url"]))]
    check_links(gaps.open, "invalid_gaps", cited=cited, policy=policy, known_names=policy.known_names)


def check_query_terms(query: str, *, denied: Collection[str], known: Collection[str]) -> None:
    """Refuse a query that says what may not leave the house; what the run itself was asked may."""
    folded, said = _fold_query(query), [*map(_fold_query, known)]
    for term in filter(None, map(_fold_query, denied)):
        if _says_term(folded, term) and not any(_says_term(text, term) for text in said):
            raise Stop("query_denied", details={"query_chars": len(query)})


def _says_term(text: str, term: str) -> bool:
    """Say whether a text says a term: as words of its own, in scripts without blanks anywhere; both are folded."""
    starts = (found.start() for found in re.finditer(f"(?={re.escape(term)})", text))
    return any(
        not (_is_one_word(text[:at][-1:], term[0]) or _is_one_word(term[-1], text[at + len(term) :][:1]))
        for at in starts
    )


def _is_one_word(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and not (is_unspaced_letter(left) or is_unspaced_letter(right))


def _read_query(item: JsonValue) -> str:
    if not isinstance(item, str) or not item.strip():
        raise Stop("invalid_gaps:query", details={"given": excerpt_value(item)})
    if len(item.strip()) > LONGEST_QUERY:
        raise Stop("invalid_gaps:query_too_long", details={"chars": len(item.strip()), "limit": LONGEST_QUERY})
    return " ".join(item.split())


def _is_gap_list(value: JsonValue) -> bool:
    is_short = isinstance(value, list) and len(value) <= MOST_GAPS
    return is_short and all(isinstance(item, str) and len(item) <= LONGEST_GAP and item.strip() for item in value)


def _fold_query(text: str) -> str:
    """Return a query as it is compared: letters in one form and case, none unseen, one blank between words."""
    seen = "".join(letter for letter in text if unicodedata.category(letter) != "Cf" and letter != _JOINER)
    return " ".join(normalise_to_nfkc(seen).casefold().split())
