"""Claims that no incident update may make lightly: closures say that it is over, guarantees promise an outcome.

A claim is looked for from its verb outwards. It is none when that very verb is negated, partial, in progress or
unreal (*not yet resolved*, *being resolved*, *may be resolved*), or when its clause is an aim, an expectation, a
condition or a denied statement (*to get it resolved*, *until it is resolved*, *we cannot say that it is
resolved*). A time word, a condition on something else or a negation elsewhere in the sentence changes nothing, and
questions and plain futures count. Where the rules are in doubt, the claim counts. Only English is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from guardgraph.grounding.words import list_word_keys
from guardgraph.guards.self_critique.closures import find_closures
from guardgraph.guards.self_critique.guarantees import GUARANTEES, find_guarantees
from guardgraph.guards.self_critique.reading import split_claim_sentences
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.memory import remember_by_text

CLOSING_STATUSES = frozenset({"resolved", "closed", "recovered", "completed", "fixed", "postmortem"})
"""What the status of an incident says when it is over; it licenses closures."""


def restricted_claims(text: str) -> list[str]:
    """Name the restricted claims that a text makes.

    Args:
        text: any text; the claims are looked for in English.

    Returns:
        The claims found, each once, in the order of the text: a guarantee by its name in `GUARANTEES`, a closure by
        its word or phrase.
    """
    return list(_find_text_claims(text))


@remember_by_text(texts=128, chars=1000)
def _find_text_claims(text: str) -> tuple[str, ...]:
    found = (claim for said in split_claim_sentences(text) for claim in (*find_closures(said), *find_guarantees(said)))
    return tuple(dict.fromkeys(found))


def find_context_claims(context: JsonObject) -> list[str]:
    """Name the restricted claims that the texts of a context make, policy hints aside."""
    found: dict[str, None] = {}
    for text in list_context_texts([value for key, value in context.items() if key != "policy_hints"]):
        found |= dict.fromkeys(restricted_claims(text))
    return sorted(found)


def forbidden_claims(text: str, context: JsonObject, *, avoid_absolute_guarantees: bool) -> list[str]:
    """Name the restricted claims that a text makes and may not make.

    Args:
        text: a draft, a revision or an answer; it never licenses itself.
        context: the incident context. The incident's own status licenses closures when it is one of
            `CLOSING_STATUSES`, in any case.
        avoid_absolute_guarantees: whether nothing else licenses them; otherwise any text of the context does that
            makes a closure itself.

    Returns:
        The claims, as `restricted_claims` names them. Nothing licenses a guarantee.
    """
    made = restricted_claims(text)
    promised = [claim for claim in made if claim in GUARANTEES]
    if made == promised or licenses_closures(context, avoid_absolute_guarantees=avoid_absolute_guarantees):
        return promised
    return made


def licenses_closures(context: JsonObject, *, avoid_absolute_guarantees: bool) -> bool:
    """Say whether a context licenses closures: by the incident's own status, or where it may, by any of its texts.

    Args:
        context: the incident context.
        avoid_absolute_guarantees: whether nothing but the status licenses them.
    """
    if _is_incident_over(context) or avoid_absolute_guarantees:
        return _is_incident_over(context)
    return any(claim not in GUARANTEES for claim in find_context_claims(context))


def _is_incident_over(context: JsonObject) -> bool:
    incident = context.get("incident")
    status = incident.get("status") if isinstance(incident, dict) else None
    return isinstance(status, str) and " ".join(list_word_keys(status)) in CLOSING_STATUSES


def list_context_texts(values: Iterable[JsonValue]) -> Iterator[str]:
    """Yield every text of JSON values, of any depth."""
    unread = [*values]
    while unread:
        value = unread.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            unread.extend(value.values() if isinstance(value, dict) else value)
