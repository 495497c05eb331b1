"""What an update may say about an incident: facts that its context supports, and no claim that it does not license."""

from __future__ import annotations

from collections.abc import Iterable

from guardgraph.guards import self_critique as guards
from guardgraph.guards.facts import facts_in_json, facts_in_text, unsupported
from guardgraph.nodes.offline.prose import ended
from guardgraph.plain.json import JsonObject

__all__ = ["Allowed"]


class Allowed:
    """What may be said by the rules of the guards, for one context."""

    def __init__(self, context: JsonObject) -> None:
        hints = context.get("policy_hints")
        strictly = isinstance(hints, dict) and hints.get("avoid_absolute_guarantees") is True
        self._facts = facts_in_json(context)
        self._closures = guards.licenses_closures(context, avoid_absolute_guarantees=strictly)

    def says(self, text: str) -> bool:
        """Say whether a text may stand in an update as a sentence or several."""
        text = ended(text)  # as a critic reads it in the update, so that what the guards found out is remembered
        return not unsupported(facts_in_text(text), self._facts) and not self.forbidden_claims(text)

    def first(self, texts: Iterable[str]) -> str:
        """Return the first text that may stand in an update, blank if none may."""
        return next((text for text in texts if text and self.says(text)), "")

    def forbidden_claims(self, text: str) -> list[str]:
        """Name the restricted claims of a text that nothing in the context licenses."""
        made = guards.restricted_claims(text)
        return [claim for claim in made if claim in guards.GUARANTEES or not self._closures]
