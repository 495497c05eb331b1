"""What a retriever returned, each candidate by itself: one that is unusable says why, one without a score gets ours."""

# Most of LangChain's retrievers tell no score, and one document in a thousand has no text, or what a table has where
# nothing stands. Neither may end a run that found something.

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from guardgraph.plain.conversion import Unreturnable, convert_to_plain_json
from guardgraph.plain.json import JsonObject, JsonValue, is_plain_json, measure_json
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

_ACCESS: Final = ("tenant", "readers")
_SCORE: Final = "a number, 0..1; without one a candidate is scored by its words"


def read_found_values(returned: object, most: int, *, query: str) -> object:
    """Return what a retriever returned with each candidate read by itself."""
    rows = convert_to_plain_json(returned, most, []) if type(returned).__name__ == "DataFrame" else returned
    if not isinstance(rows, list | tuple) or hasattr(rows, "_asdict"):
        return returned
    are_named = all(type(item) is dict and type(item.get("doc_id")) is str for item in rows)
    if type(rows) is list and are_named:
        measure_json(rows, most)
        if is_plain_json(rows):
            return add_missing_scores([*rows], query)
    return add_missing_scores([_read_candidate(item, at, most) for at, item in enumerate(rows)], query)


def make_unusable_candidate(error: Unreturnable, item: object = None) -> JsonObject:
    """Return what stands in the place of a candidate that cannot be read: its id, who may read it, and why."""
    held = item if isinstance(item, Mapping) else {}
    made: JsonObject = {"unusable": error.details}
    if isinstance(doc_id := held.get("doc_id"), str):
        made["doc_id"] = str(doc_id)[:80]
    for key in _ACCESS:
        if key in held:
            try:
                made[key] = convert_to_plain_json(held[key])
            except Unreturnable:
                made[key] = {}  # which is nobody's: whoever reads it refuses the whole
    return made


def _read_candidate(item: object, at: int, most: int) -> JsonValue:
    left_out: list[list[str]] = []
    try:
        read = convert_to_plain_json(item, most, left_out)
        if isinstance(read, dict) and ["score"] in left_out:
            raise Unreturnable("NaN", place=("score",), allowed=_SCORE)
    except Unreturnable as error:
        error.place = (str(at), *error.place)
        return make_unusable_candidate(error, item)
    if isinstance(read, dict) and isinstance(name := read.get("doc_id"), int | float) and not isinstance(name, bool):
        return {**read, "doc_id": format_number_name(name)}
    return read


def format_number_name(name: float) -> str:
    """Return a number as a name; pandas makes 7.0 of 7 in a column where a number is missing."""
    return str(int(name)) if float(name).is_integer() else str(name)


def add_missing_scores(candidates: list[JsonValue], query: str) -> list[JsonValue]:
    """Return candidates of which each has a score."""
    lacking = [at for at, item in enumerate(candidates) if _is_text(item) and item.get("score") is None]
    if not lacking:
        return candidates
    texts: list[Document] = []
    for at, item in enumerate(candidates):
        if isinstance(item, dict) and _is_text(item):
            title, section = (item[key] if isinstance(item.get(key), str) else "" for key in ("title", "section"))
            named = {"id": str(at), "source": "", "title": title, "section": section, "updated_at": ""}
            texts.append(Document(**named, text=item["text"]))  # type: ignore[typeddict-item]
    found = LexicalRetriever(texts)({"query": query, "sources": [""], "top_k": len(texts)})
    told = {int(hit["doc_id"]): hit for hit in found}
    scored: list[Any] = [*candidates]
    for at in lacking:
        hit = told.get(at, {"score": 0.0})
        scored[at] = {**scored[at], **{key: hit[key] for key in ("score", "unmeasured") if key in hit}}
    return scored


def _is_text(item: JsonValue) -> bool:
    return isinstance(item, dict) and isinstance(item.get("text"), str) and "unusable" not in item
