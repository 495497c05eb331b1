"""Claims and their evidence: what a verifier is shown of a text, and what follows from what it says of them.

A verifier may only refuse: what the rules of guardgraph let through, and the evidence does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from typing_extensions import TypedDict

from guardgraph.guards.marks import find_answer_sentences
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.stop import Stop
from guardgraph.languages.sentences import split_sentences
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.rag import RagAnswer
from guardgraph.state.research import Issue, Note, NotesVerification

CLAIM_CHARS = 280
"""Characters of a refused claim that a stop shows."""


class Claim(TypedDict):
    """What a text says, and what it rests on."""

    claim: str
    evidence: str


def list_answer_claims(answer: RagAnswer) -> list[Claim]:
    """Return the sentences of an answer: each with what it cites itself, or else with all that the answer cites.

    Args:
        answer: as its guard accepted it.
    """
    details, text = answer["citation_details"], answer["answer"]
    shown = {item["doc_id"]: item["text"] for item in answer["passages"]}
    said = {
        item["doc_id"]: _join_texts(item["title"], item["section"], item["updated_at"], shown[item["doc_id"]])
        for item in details
    }
    cited = {
        (start, end): [item["doc_id"] for item in details if [start, end] in item.get("answer_spans", [])]
        for start, end, *_ in find_answer_sentences(text)
    }
    by_citation = all(item.get("spans_by") == "cited" for item in details)
    return [
        Claim(claim=text[start:end], evidence=_join_texts(*(said[name] for name in (by_citation and own) or said)))
        for (start, end), own in cited.items()
    ]


def list_brief_claims(answer: str, notes: Iterable[Note]) -> list[Claim]:
    """Return the sentences of a brief, each with the notes that the brief cites.

    Args:
        answer: the text.
        notes: those that it cites.
    """
    evidence = _join_texts(*(_join_texts(note["claim"], _show_note_source(note)) for note in notes))
    return [Claim(claim=said, evidence=evidence) for said in split_sentences(answer) if any(map(str.isalnum, said))]


def list_note_claims(notes: Iterable[Note]) -> list[Claim]:
    """Return the claims of notes, each with its quote and what is known of its page."""
    return [Claim(claim=note["claim"], evidence=_show_note_source(note)) for note in notes]


def _show_note_source(note: Note) -> str:
    return _join_texts(note["title"], note["published_at"], note["quote"])


def _join_texts(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def show_claims(claims: Sequence[Claim]) -> JsonObject:
    """Return what a verifier is shown: ``{"claims": [{number, claim, evidence}]}``, numbers from 1 on."""
    return {"claims": [{"number": at, **claim} for at, claim in enumerate(claims, 1)]}


def share_evidence(view: JsonObject) -> JsonObject:
    """Return what a model is shown of claims: what several rest on stands there once, under a name.

    Args:
        view: of `show_claims`, and what else there is.

    Returns:
        The view with ``evidence`` ``{"e1": …}`` beside the claims, each of which names its own.
    """
    named: dict[str, str] = {}
    claims = [{**item, "evidence": named.setdefault(item["evidence"], f"e{len(named) + 1}")} for item in view["claims"]]
    return {**view, "claims": claims, "evidence": {name: text for text, name in named.items()}}


def read_unsupported_claims(packed: str, claims: Sequence[Claim]) -> tuple[list[int], JsonObject]:
    """Read what a verifier said of claims.

    Args:
        packed: what a propose node wrote: ``{"claims": [{number, supported}]}``, each number once.
        claims: what it was shown.

    Returns:
        The places of those that it does not find supported, and what is known of the verifier.

    Raises:
        Stop: ``llm_invalid_schema`` where it leaves a claim out or says of one what is neither true nor false; other
            ``llm_…`` where it brought no object at all.
    """
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
    """Refuse an answer that has a claim which its evidence does not say.

    Raises:
        Stop: ``invalid_answer:unsupported_claim``, with these sentences in `unsupported`.
    """
    if unsupported:
        shown = [excerpt_value(claims[at]["claim"], CLAIM_CHARS) for at in unsupported]
        raise Stop("invalid_answer:unsupported_claim", unsupported=shown)


def check_note_support(unsupported: Sequence[int], notes: Sequence[Note]) -> NotesVerification:
    """Refuse notes of which one claims what its quote does not say.

    Raises:
        Stop: ``verification_failed:unsupported_claim`` with `verification`.
    """
    issues = [Issue(note=notes[at]["id"], issue="unsupported_claim") for at in unsupported]
    verification = NotesVerification(ok=not issues, checked_notes=len(notes), issues=issues)
    if issues:
        raise Stop("verification_failed:unsupported_claim", verification=verification)
    return verification
