"""A review: who may answer for a run that waits, what an answer is bound to, and how long a question stands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, find_json_problem, is_plain_json
from guardgraph.state.context import Caller
from guardgraph.state.settings import Check, Names, Settings
from guardgraph.state.tightening import Tightens


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answered, as the deployment knows them."""

    name: str  #: the one by which a `Caller` has the user, so that four eyes can be told from two
    roles: tuple[str, ...] = ()  #: what the person is there to decide


Reviewers: TypeAlias = Callable[[JsonObject, Caller | None], Identity | str | Awaitable[Identity | str | None] | None]
"""Says who answered: it is given the whole answer and whoever resumes the run, and returns an identity, or its name.

Whoever may not answer is refused by None or an exception; the run then goes on waiting.
"""


class ReviewPolicy(Settings):
    """What the policy of a pattern may have that asks a person; derive yours from it, from `Policy` too if need be."""

    four_eyes: Check = False
    """The person who answers is not the caller who began the run; it needs reviewers, and a caller who is known."""
    reviewer_roles: Annotated[Names, Tightens.union] = ()
    """Roles that the person who answers needs, all of them; it needs reviewers."""
    max_review_seconds: Annotated[float | None, Field(ge=0, allow_inf_nan=False), Tightens.smallest] = None
    """Seconds for which a question stands, from when it was first asked; None for ever. An answer that comes later, or
    any other resume, ends the run as ``review_expired``."""


def hash_licence(tool: str, args: JsonValue) -> str:
    """Return the SHA-256 of a call that somebody may license: of ``{"tool": …, "args": …}`` as canonical JSON.

    Raises:
        ValueError: the arguments are no plain, finite JSON; two of them might come to one hash.
    """
    if not is_plain_json(args):
        raise ValueError("args: plain, finite JSON is required of what a licence is for")
    return digest({"tool": tool, "args": args})


def find_shown_licence(shown: JsonObject) -> str | None:
    """Return the licence that a question asks for: it shows a call, ``{"call": {"tool": …, "args": …}}``; else None."""
    match shown.get("call"):
        case {"tool": str(tool), "args": args}:
            return hash_licence(tool, args)
    return None


def list_shown_licences(shown: JsonObject) -> list[str]:
    """Return the licences that a question asks for which shows several calls, ``{"calls": [{"tool", "args"}]}``."""
    match shown.get("calls"):
        case [*calls]:
            found = [find_shown_licence({"call": call}) for call in calls]
            return [] if None in found else [licence for licence in found if licence is not None]
    return []


def describe_shown_licences(shown: JsonObject) -> JsonObject:
    """Return what stands beside a question of the calls that it shows: ``licence`` of one, ``licences`` of several."""
    one, several = find_shown_licence(shown), list_shown_licences(shown)
    return {**({} if one is None else {"licence": one}), **({"licences": several} if several else {})}


def list_bound_licences(about: JsonObject) -> list[str]:
    """Return the licences of the calls that a person decided about; see `describe_shown_licences`."""
    return [*([about["licence"]] if "licence" in about else []), *about.get("licences", ())]


def find_shown_delegation(shown: JsonObject) -> JsonObject | None:
    """Return what a question would let a document license; else None."""
    match shown.get("delegation"):
        case {"document": str(document), "calls": [*calls]} if list_shown_licences({"calls": calls}):
            return {"document": document, "calls": calls}
    return None


def name_reviewer(reviewer: JsonObject) -> str:
    """Return who answered, as a result names them: ``unverified`` where nobody verified it."""
    return str(reviewer.get("name", reviewer["status"]))


def parse_identity(given: Any) -> Identity | str:
    """Return who reviewers say that it is; a text that says why it is nobody."""
    if given is None:
        return "they know nobody who may answer so"
    name, roles = (given.get("name"), given.get("roles", [])) if isinstance(given, dict) else (given, [])
    if not _is_reviewer_name(name) or not isinstance(roles, list) or not all(map(_is_reviewer_name, roles)):
        return f"they returned no name of somebody, and no Identity; given: {type(given).__name__}"
    return Identity(str(name), tuple(roles))


def find_identity_problem(identity: Identity | None, policy: Settings, starter: str | None) -> str | None:
    """Say why a policy does not let somebody answer; None where it does."""
    if not isinstance(policy, ReviewPolicy):
        return None
    if identity is None:
        needs = [name for name in ("four_eyes", "reviewer_roles") if getattr(policy, name)]
        return f"{' and '.join(needs)}: reviewers are required, and the graph has none" if needs else None
    if missing := [role for role in policy.reviewer_roles if role not in identity.roles]:
        return f"reviewer_roles: {', '.join(missing)}; whoever answers has {', '.join(identity.roles) or 'none'}"
    if policy.four_eyes and starter is None:
        return "four_eyes: nobody knows who began the run"
    if policy.four_eyes and starter is not None and _fold_reviewer_name(starter) == _fold_reviewer_name(identity.name):
        return "four_eyes: somebody else than who began the run"
    return None


def _is_reviewer_name(given: object) -> bool:
    return isinstance(given, str) and given.strip() != "" and find_json_problem(given) is None


def _fold_reviewer_name(name: str) -> str:
    return name.strip().casefold()
