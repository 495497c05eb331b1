"""Claims and their evidence: what a verifier is shown of a text, and what follows from what it says of them.

A verifier may only refuse: what the rules of guardgraph let through, and the evidence does not say.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from typing_extensions import TypedDict

from guardgraph.grounding.languages import LANGUAGES, list_hand_words
from guardgraph.grounding.marks import find_answer_sentences
from guardgraph.grounding.words import load_negations
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value

if TYPE_CHECKING:
    from guardgraph.state.grounding import UnverifiedSentence
    from guardgraph.state.rag import RagAnswer
    from guardgraph.state.research import Issue, Note, NotesVerification

CLAIM_CHARS = 280  # characters of a refused claim that a stop shows
_MOST_LABEL_WORDS: Final = 2  # words of a heading or lead-in that may only say what something is about
_COLONS: Final = ":\uff1a"
_WORD: Final = re.compile(r"\w+")
_NUMBERED: Final = re.compile(r"^[ \t]*\(?\d{1,3}[.)][ \t]+", re.MULTILINE)
_MARKED: Final = re.compile(r"^(?:[ \t]*(?:#{1,6}|[-+*>•◦‣·–—])[ \t]+)+")
_BOLD: Final = re.compile(r"(\*\*|__)([^*_]+)\1(:?)")
_HEADING: Final = re.compile(r"[ \t>]*#{1,6}[ \t]|[ \t]*(\*\*|__)[^*_]+\1:?[ \t]*$")
_UNDERLINE: Final = re.compile(r"[ \t]*+(?:=+|-{2,}|\|?[ \t]*+:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)+\|?)[ \t]*+")
"""What a line becomes a heading by, or the head of a table."""


SpanT = TypeVar("SpanT", bound=tuple[Any, ...])  # a sentence of which the first item is where it begins


class Claim(TypedDict):
    """What a text says, and what it rests on."""

    claim: str
    evidence: str


def find_claim_sentences(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, list[int]]]:
    """Return the sentences of a text that claim something, without marks of lists and headings."""
    is_numbered = len(_NUMBERED.findall(text)) > 1  # a number alone in front of a line may be a date
    ends = [*(match.start() for match in re.finditer("\n", text)), len(text)]
    parts = [
        (at, _strip_marks(text[start:end], is_numbered), _introduces_claims(text, start, end, ends))
        for at, (start, end) in enumerate(spans)
    ]
    parts = [part for part in parts if any(map(str.isalnum, part[1]))]
    found, before = list[tuple[str, list[int]]](), list[tuple[int, str]]()
    for at, said, introduces in parts:
        if introduces:
            if _label_may_claim(said):
                before.append((at, said))
            continue
        lead = "".join(f"{label.rstrip(_COLONS)}: " for _, label in before)
        found.append((f"{lead}{said}", [*(place for place, _ in before), at]))
        before = []
    if not found:
        return [(said, [at]) for at, said, _ in parts]
    return [*found, *((said, [at]) for at, said in before)]


def _strip_marks(said: str, is_numbered: bool) -> str:
    said = _MARKED.sub("", _NUMBERED.sub("", said) if is_numbered else said)
    bold = _BOLD.fullmatch(said)
    said = f"{bold[2]}{bold[3]}" if bold else said
    return said.strip("| \t") if said.startswith("|") else said.strip()


def _introduces_claims(text: str, start: int, end: int, ends: Sequence[int]) -> bool:
    """Say whether a sentence is a heading, a lead-in, the head of a table, or a yes or no alone."""
    at, last = bisect_left(ends, start), bisect_left(ends, end)
    begin, following = (ends[at - 1] + 1 if at else 0), ends[last : last + 2]
    said = text[start:end].rstrip("*_ \t")
    return (
        said.endswith(tuple(_COLONS))
        or " ".join(_WORD.findall(said.casefold())) in _list_assents()
        or _HEADING.match(text, begin, following[0]) is not None
        or (len(following) > 1 and _UNDERLINE.fullmatch(text, following[0] + 1, following[1]) is not None)
    )


@cache
def _list_assents() -> frozenset[str]:
    return frozenset().union(*(list_hand_words(each, "assents") for each in LANGUAGES))


def _label_may_claim(said: str) -> bool:
    """Say whether a label says more than what it is about."""
    words = _WORD.findall(said.casefold())
    if " ".join(words) in _list_assents() or "|" in said:
        return False
    return len(words) > _MOST_LABEL_WORDS or any(map(str.isdigit, said)) or not load_negations().isdisjoint(words)


def list_answer_claims(answer: RagAnswer) -> list[Claim]:
    """Return the claims of an answer: each with what it cites itself, or else with all that the answer cites."""
    details, text = answer["citation_details"], answer["answer"]
    shown = {item["doc_id"]: item["text"] for item in answer["passages"]}
    said = {
        item["doc_id"]: _join_evidence_texts(item["title"], item["section"], item["updated_at"], shown[item["doc_id"]])
        for item in details
    }
    spans = _list_unmarked_sentences(
        [(start, end) for start, end, *_ in find_answer_sentences(text)], answer.get("unverified", ())
    )
    cited = [[item["doc_id"] for item in details if [*span] in item.get("answer_spans", [])] for span in spans]
    by_citation = all(item.get("spans_by") == "cited" for item in details)
    claims = list[Claim]()
    for claim, places in find_claim_sentences(text, spans):
        own = dict.fromkeys(name for at in places for name in cited[at]) if by_citation else {}
        claims.append(Claim(claim=claim, evidence=_join_evidence_texts(*(said[name] for name in own or said))))
    return claims


def _list_unmarked_sentences(spans: Iterable[SpanT], marked: Iterable[UnverifiedSentence]) -> list[SpanT]:
    starts = {item["start"] for item in marked if item["verdict"] != "doubtful"}
    return [span for span in spans if span[0] not in starts]


def list_brief_claims(
    answer: str, cited: Sequence[tuple[int, int, Sequence[Note]]], marked: Sequence[UnverifiedSentence] = ()
) -> list[Claim]:
    """Return the claims of a brief, each with the notes that its sentences cite."""
    claims, sentences = list[Claim](), _list_unmarked_sentences(cited, marked)
    for claim, places in find_claim_sentences(answer, [(start, end) for start, end, _ in sentences]):
        notes = {note["id"]: note for at in places for note in sentences[at][2]}.values()
        shown = (_join_evidence_texts(note["claim"], _show_note_source(note)) for note in notes)
        claims.append(Claim(claim=claim, evidence=_join_evidence_texts(*shown)))
    return claims


def list_note_claims(notes: Iterable[Note]) -> list[Claim]:
    """Return the claims of notes, each with its quote and what is known of its page."""
    return [Claim(claim=note["claim"], evidence=_show_note_source(note)) for note in notes]


def _show_note_source(note: Note) -> str:
    return _join_evidence_texts(note["title"], note["published_at"], note["quote"])


def _join_evidence_texts(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def show_claims(claims: Sequence[Claim]) -> JsonObject:
    """Return what a verifier is shown: ``{"claims": [{number, claim, evidence}]}``, numbers from 1 on."""
    return {"claims": [{"number": at, **claim} for at, claim in enumerate(claims, 1)]}


def share_evidence(view: JsonObject) -> JsonObject:
    """Return what a model is shown of claims: what several rest on stands there once, under a name."""
    named: dict[str, str] = {}
    claims = [{**item, "evidence": named.setdefault(item["evidence"], f"e{len(named) + 1}")} for item in view["claims"]]
    return {**view, "claims": claims, "evidence": {name: text for text, name in named.items()}}


def read_unsupported_claims(packed: str, claims: Sequence[Claim]) -> tuple[list[int], JsonObject]:
    """Read what a verifier said of claims."""
    given = proposed_object(packed)
    said = given.value.get("claims") if isinstance(given.value, dict) else None
    judged = sorted(map(_read_judged_claim, said)) if isinstance(said, list) else []
    if not isinstance(said, list) or [number for number, _ in judged] != [*range(1, len(claims) + 1)]:
        allowed = f"claims 1 to {len(claims)}, each once, with supported true or false"
        raise Stop("llm_invalid_schema", details={"allowed": allowed, "given": excerpt_value(given.value)})
    return [number - 1 for number, supported in judged if not supported], given.about


def _read_judged_claim(item: JsonValue) -> tuple[int, bool]:
    """Return a number and whether that claim is supported; 0 for what says neither."""
    fields = item if isinstance(item, dict) else {}
    number, supported = fields.get("number"), fields.get("supported")
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(supported, bool):
        return 0, False
    return number, supported


def check_answer_support(unsupported: Sequence[int], claims: Sequence[Claim]) -> None:
    """Refuse an answer that has a claim which its evidence does not say."""
    if unsupported:
        shown = [excerpt_value(claims[at]["claim"], CLAIM_CHARS) for at in unsupported]
        raise Stop("invalid_answer:unsupported_claim", unsupported=shown)


def check_note_support(unsupported: Sequence[int], notes: Sequence[Note]) -> NotesVerification:
    """Refuse notes of which one claims what its quote does not say."""
    issues: list[Issue] = [{"note": notes[at]["id"], "issue": "unsupported_claim"} for at in unsupported]
    verification: NotesVerification = {"ok": not issues, "checked_notes": len(notes), "issues": issues}
    if issues:
        raise Stop("verification_failed:unsupported_claim", verification=verification)
    return verification
