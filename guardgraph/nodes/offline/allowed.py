"""What an update may say about an incident: facts that its context supports, and no claim that it does not license."""

from __future__ import annotations

from collections.abc import Iterable

from guardgraph.guards.facts import facts_in_json, facts_in_text, unsupported
from guardgraph.guards.self_critique.claims import GUARANTEE, claims_in_context, restricted_claims
from guardgraph.state.json import JsonObject

__all__ = ["Allowed", "forbidden_claims"]


class Allowed:
    """What may be said by the rules of the guards, for one context."""

    def __init__(self, context: JsonObject) -> None:
        self._context = context
        self._known = facts_in_json(context)

    def says(self, text: str) -> bool:
        """Say whether a text may stand in an update."""
        return not unsupported(facts_in_text(text), self._known) and not forbidden_claims(text, self._context)

    def first(self, texts: Iterable[str]) -> str:
        """Return the first text that may stand in an update, blank if none may."""
        return next((text for text in texts if text and self.says(text)), "")


def forbidden_claims(text: str, context: JsonObject) -> list[str]:
    """Name the restricted claims of a text that nothing in the context licenses."""
    claims = restricted_claims(text)
    hints = context.get("policy_hints")
    if not claims or not isinstance(hints, dict) or hints.get("avoid_absolute_guarantees", True) is not False:
        return claims
    known = claims_in_context(context)
    return [claim for claim in claims if claim == GUARANTEE or claim not in known]
