"""Whether an answer is about a topic of high risk, so that it waits for a person, and what the person is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from guardgraph.grounding.words import has_phrase
from guardgraph.guards.stop import Stop
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.scopes import make_scope_set
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.research import Note, NoteAgreement


def find_high_risks(
    texts: Iterable[str],
    cited: Iterable[str],
    tiers: Mapping[str, str],
    *,
    risky_terms: Collection[str],
    risky_scopes: Collection[str],
    risky_tiers: Collection[str],
) -> list[JsonObject]:
    """Return why an answer is of high risk, nothing where it is not."""
    read, urls = [*texts], [*dict.fromkeys(cited)]
    found: list[JsonObject] = [{"term": term} for term in risky_terms if any(has_phrase(text, term) for text in read)]
    scopes = make_scope_set(tuple(risky_scopes))
    hosts = [known.host for url in urls if (known := parse_url_target(url)) is not None]
    found += [{"host": host} for host in dict.fromkeys(hosts) if scopes.denies_host(host)]
    found += [{"tier": tiers[url], "url": url} for url in urls if tiers.get(url) in risky_tiers]
    return found


def hash_brief(brief: JsonObject) -> str:
    """Return the SHA-256 of an answer with its citations, which an approval is for."""
    text = {key: item.strip() if isinstance(item, str) else item for key, item in brief.items()}
    return digest({**text, "citations": list(dict.fromkeys(brief["citations"]))})


def show_brief_claims(notes: Iterable[Note], agreement: Iterable[NoteAgreement]) -> list[JsonObject]:
    """Return the claims that a person is shown: each with its quote, where it is from, and how it stands."""
    standing = {said["id"]: said for said in agreement}
    shown: list[JsonObject] = []
    for note in notes:
        of_note: JsonObject = {key: note[key] for key in ("id", "claim", "quote", "url", "title", "published_at")}
        if (said := standing.get(note["id"])) is not None:
            of_note |= {key: said[key] for key in ("standing", "independent", "agrees_with", "conflicts_with")}
        shown.append(of_note)
    return shown


def parse_edited_brief(edited: JsonValue) -> JsonObject:
    """Read a brief in a person's own words."""
    given = edited.get("workings") if isinstance(edited, dict) else None
    workings: JsonObject = {"workings": given} if given else {}
    match edited:
        case {"answer": str(answer), "citations": [*citations]} if all(isinstance(each, str) for each in citations):
            return {"answer": answer, "citations": citations, **workings}
        case {"sections": [*sections], "citations": [*citations]} if all(isinstance(each, str) for each in citations):
            return {"sections": sections, "citations": citations, **workings}
    details = {"allowed": '{"answer": text, "citations": [ids of notes]}', "given": excerpt_value(edited)}
    raise Stop("review_rejected", details=details)
