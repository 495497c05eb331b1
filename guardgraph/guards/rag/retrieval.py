"""What a retriever returned, who may read it, what a reranker made of it, and the context that is packed from it.

Each document's tenant and readers are held against whoever asks. Copies of a text would only fill the context.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from numbers import Real
from typing import Any, Final, NamedTuple

from guardgraph.grounding.quotes import normalise_quote_text
from guardgraph.grounding.values import Value, scan_values
from guardgraph.grounding.words import list_word_keys
from guardgraph.guards.rag.passages import cut_candidate_text
from guardgraph.guards.stop import Stop, build_output_stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value, walk_json
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.context import Access, Caller, is_access_allowed, normalize_document_access
from guardgraph.state.rag import Candidate, ContextChunk, Retrieval

_KEYS: Final = frozenset({"tenant", "readers"})

FORBIDDEN: Final[JsonObject] = {"allowed": "documents that the caller may read", "given": "another document"}
MALFORMED: Final[JsonObject] = {
    "allowed": "tenant: a text or null; readers: a list of public, tenant, user:ID and group:ID",
    "given": "a document with something else",
}
UNCONTROLLED: Final[JsonObject] = {
    "allowed": "documents that say who may read them (require_access)",
    "given": "a document without readers",
}
"""What the details of a refusal say: that such a document came, and nothing of it, neither which nor how many."""


def parse_candidate_access(item: JsonObject) -> Access | None:
    """Return who may read a candidate, None where it does not say."""
    if item.get("tenant") is None and "readers" not in item:
        return None
    tenant, readers = item.get("tenant"), item.get("readers", [])
    if not isinstance(tenant, str | None) or not isinstance(readers, list):
        raise ValueError("a text or null, and a list of readers, are required")
    return normalize_document_access(tenant, readers)


def explain_access_refusal(raw: JsonValue, *, caller: Caller | None, required: bool) -> JsonObject | None:
    """Say why a run may not even keep what a retriever returned, None where it may."""
    for item in raw if isinstance(raw, list) else [[raw]]:
        details = _explain_candidate_refusal(item, caller)
        if details and (required or details is not UNCONTROLLED):
            return dict(details)
    return None


def _explain_candidate_refusal(item: JsonValue, caller: Caller | None) -> JsonObject | None:
    if not isinstance(item, dict):
        names = {key for inner in walk_json(item) if isinstance(inner, dict) for key in inner}
        return MALFORMED if _KEYS & names else UNCONTROLLED
    try:
        access = parse_candidate_access(item)
    except ValueError:
        return MALFORMED
    if access is None:
        return UNCONTROLLED
    return None if is_access_allowed(access, caller) else FORBIDDEN


def is_uncontrolled_access(details: JsonValue) -> bool:
    """Say whether details are those of a call that was refused since a document did not say who may read it."""
    return bool(details == UNCONTROLLED)


def check_candidate_access(found: JsonValue, *, caller: Caller | None, required: bool) -> None:
    """Hold what was found before against who asks now."""
    if (details := explain_access_refusal(found, caller=caller, required=required)) is not None:
        raise Stop("access_revoked", details=details)


_CODE_CHARS: Final = 16  # characters of the code of a language


ROUNDING: Final = 1e-4
"""How far beyond 0 and 1 a relevance may be: cosines of 32-bit vectors with a thousand numbers are off by less."""


def parse_relevance(given: object) -> float | None:
    """Return a score as a relevance, None where it is none."""
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    try:
        score = float(given)
    except OverflowError:
        return None
    return min(max(score, 0.0), 1.0) if -ROUNDING <= score <= 1 + ROUNDING else None


class ParsedCandidates(NamedTuple):
    """What a retriever returned, held against what it was asked."""

    candidates: list[Candidate]
    left_out: list[JsonObject]
    """What could not be used beside them: ``{doc_id, allowed, given}`` of each, and its place where it is known."""


class _Unusable(ValueError):
    """A candidate cannot be used; nothing is wrong with the others for that."""

    def __init__(self, details: JsonObject) -> None:
        super().__init__(details)
        self.details = details


def parse_candidates(raw: JsonValue, *, allowed_sources: Collection[str], top_k: int) -> ParsedCandidates:
    """Parse what a retriever returned."""
    if not isinstance(raw, list):
        raise build_output_stop("retrieve", raw, "a list of candidates is required")
    candidates, left_out = list[Candidate](), list[JsonObject]()
    for item in raw:
        try:
            candidates.append(_parse_candidate(item, allowed_sources))
        except _Unusable as error:
            name = item.get("doc_id") if isinstance(item, dict) else None
            left_out.append({"doc_id": excerpt_value(name) if isinstance(name, str) else "", **error.details})
    if left_out and not candidates:
        details = {key: item for key, item in left_out[0].items() if key != "doc_id"}
        raise Stop("tool_invalid_output:retrieve", details=details)
    _check_candidate_ids(candidates)
    once: dict[tuple[str, ...], Candidate] = {}
    for item in candidates:
        if item["score"] > 0:
            told = (item["source"], item["title"], item["section"], item["updated_at"])
            once.setdefault((item["doc_id"], item["text"].strip(), *told), item)
    return ParsedCandidates(list(once.values())[:top_k], left_out)


def _check_candidate_ids(candidates: Sequence[Candidate]) -> None:
    """Refuse one id with two texts: a citation would not say which of them it means."""
    texts: dict[str, str] = {}
    for item in candidates:
        if texts.setdefault(item["doc_id"], item["text"].strip()) != item["text"].strip():
            raise build_output_stop("retrieve", item["doc_id"], "doc_id: one text for each")


def _parse_candidate(item: JsonValue, allowed_sources: Collection[str]) -> Candidate:
    if not isinstance(item, dict):
        raise _refuse_candidate("each candidate is an object", item)
    if isinstance(said := item.get("unusable"), dict):
        raise _Unusable(said)
    doc_id, text, source = (item.get(key) for key in ("doc_id", "text", "source"))
    if not isinstance(source, str) or source not in allowed_sources:
        raise build_output_stop("retrieve", source, "source: one of those asked for")
    if not isinstance(doc_id, str) or not doc_id.strip():
        raise _refuse_candidate("doc_id: a text that is not blank", doc_id)
    if not isinstance(text, str) or not text.strip():
        raise _refuse_candidate("text: a text that is not blank", text)
    if (score := parse_relevance(item.get("score"))) is None:
        raise _refuse_candidate("score: a number in 0..1", item.get("score"))
    told = {key: "" if item.get(key) is None else item[key] for key in ("title", "section", "updated_at")}
    if wrong := next((key for key, value in told.items() if not isinstance(value, str)), None):
        raise _refuse_candidate(f"{wrong}: a text", told[wrong])
    fields: Any = {"doc_id": doc_id.strip(), "source": source, **told, "text": text, "score": score}
    candidate: Candidate = fields
    try:
        access = parse_candidate_access(item)
    except ValueError:
        raise Stop("tool_invalid_output:retrieve", details=dict(MALFORMED)) from None
    if access is not None:
        candidate["tenant"], candidate["readers"] = access.tenant, list(access.readers)
    if item.get("span") is not None:
        candidate["span"] = _parse_candidate_span(item["span"])
    if item.get("unmeasured") is not None:
        candidate["unmeasured"] = _parse_candidate_languages(item["unmeasured"])
    return candidate


def _parse_candidate_span(given: JsonValue) -> list[int]:
    match given:
        case [int(start), int(end)] if 0 <= start < end and not {type(start), type(end)} & {bool}:
            return [start, end]
    raise _refuse_candidate("span: [start, end), whole numbers of characters of the document's text", given)


def _parse_candidate_languages(given: JsonValue) -> list[str]:
    if isinstance(given, list) and all(isinstance(code, str) and 0 < len(code) <= _CODE_CHARS for code in given):
        return [str(code) for code in given]
    raise _refuse_candidate("unmeasured: a list of language codes", given)


def _refuse_candidate(allowed: str, given: JsonValue) -> _Unusable:
    return _Unusable({"allowed": allowed, "given": excerpt_value(given)})


def pack_context(candidates: Sequence[Candidate], *, min_score: float, max_chunks: int, max_chars: int) -> Retrieval:
    """Choose the context from ranked candidates."""
    chunks: list[ContextChunk] = []
    rejected = total = 0
    for item in candidates:
        text = item["text"]
        chunk = cut_candidate_text(item, len(text) - len(text.lstrip()), len(text.rstrip()))
        if item["score"] < min_score:
            rejected += 1
        elif len(chunks) >= max_chunks:
            break
        elif total + len(chunk["text"]) <= max_chars:
            chunks.append(chunk)
            total += len(chunk["text"])
    return Retrieval(chunks=chunks, total_chars=total, rejected_low_score=rejected)


def parse_ranking(raw: JsonValue, *, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Parse what a reranker returned."""
    if not isinstance(raw, list):
        raise build_output_stop("rerank", raw, "a list of candidates is required")
    texts = {item["doc_id"]: item["text"] for item in candidates}
    ids = dict.fromkeys(_parse_ranked_candidate(item, texts) for item in raw)
    return [item for doc_id in ids for item in candidates if item["doc_id"] == doc_id]


def _parse_ranked_candidate(item: JsonValue, texts: dict[str, str]) -> str:
    doc_id = item.get("doc_id") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(doc_id, str):
        raise build_output_stop("rerank", item, "each candidate is an object with its doc_id")
    if doc_id not in texts:
        raise build_output_stop("rerank", doc_id, "doc_id: one of those that it was given")
    if item.get("text") != texts[doc_id]:
        raise build_output_stop("rerank", item.get("text"), f"text: that of {excerpt_value(doc_id)}, unchanged")
    return doc_id


def drop_duplicates(candidates: Sequence[Candidate], *, min_score: float) -> list[Candidate]:
    """Leave out relevant candidates that are copies of a more recent one."""
    groups: dict[object, list[Candidate]] = {}
    for rank, item in enumerate(candidates):
        said = normalise_quote_text(f"{item['title']}\n{item['section']}\n{item['text']}").casefold()
        groups.setdefault(said if item["score"] >= min_score else rank, []).append(item)
    return [_keep_latest_copy(group) for group in groups.values()]


def _keep_latest_copy(group: Sequence[Candidate]) -> Candidate:
    """Return the most recent one of copies, with the ids of the others."""
    latest = max(group, key=lambda item: _read_update_moment(item["updated_at"])) if len(group) > 1 else group[0]
    others = [item for item in group if item is not latest]
    ids = [*latest.get("duplicates", []), *(item["doc_id"] for item in others)]
    ids += [name for item in others for name in item.get("duplicates", [])]
    left_out = [name for name in dict.fromkeys(ids) if name != latest["doc_id"]]
    return Candidate(**{**latest, "duplicates": left_out}) if left_out else latest


@remember_by_text(texts=512, chars=100)
def _read_update_moment(updated_at: str) -> datetime:
    """Return the latest moment that a text names, the first of all where it names none."""
    text = updated_at.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return max(map(_convert_date, scan_values(text)), default=_NEVER)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _convert_date(value: Value) -> datetime:
    dates = value.dates or (((0, int(value.amounts[0]), 0, 0),) if value.is_year else ())
    for _, year, month, day in dates:
        try:
            return datetime(year, month or 1, day or 1, tzinfo=UTC)
        except ValueError:
            pass
    return _NEVER


_NEVER: Final = datetime.min.replace(tzinfo=UTC)


_RANKED_BELOW: Final = 61  # what is added to a place before it is turned round (Cormack, Clarke and Buettcher, 2009)


def list_queries(query: str, question: str) -> list[str]:
    """Return what is searched for: an intent's query, and the question, unless they are the same words."""
    return [query] if list_word_keys(query) == list_word_keys(question) else [query, question]


def merge_found(found: Sequence[Sequence[JsonValue]], top_k: int) -> list[JsonValue]:
    """Return what several queries found as one list, by reciprocal ranks; scores stay."""
    ranks, first = dict[str, float](), dict[str, JsonValue]()
    for items in found:
        for place, item in enumerate(items):
            named = {key: value for key, value in item.items() if key != "score"} if isinstance(item, dict) else item
            key = json.dumps(named, sort_keys=True)
            ranks[key] = ranks.get(key, 0.0) + 1 / (_RANKED_BELOW + place)
            first[key] = _choose_better(first[key], item) if key in first else item
    return [first[key] for key in sorted(ranks, key=lambda key: -ranks[key])][:top_k]


def _choose_better(one: JsonValue, other: JsonValue) -> JsonValue:
    """Return of a candidate that two queries found the one with the higher score."""
    scores = [item.get("score") if isinstance(item, dict) else None for item in (one, other)]
    has_both = all(isinstance(score, int | float) for score in scores)
    return other if has_both and scores[1] > scores[0] else one  # type: ignore[operator]
