"""The JSON Schema of a policy file, for editors."""

from __future__ import annotations

from typing import Any

from guardgraph.plain.json import JsonObject
from guardgraph.state.settings import Budget, Settings

__all__ = ["policy_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def policy_schema(pattern: str, policy: type[Settings], budget: type[Budget]) -> JsonObject:
    """Return the JSON Schema of a pattern's policy files.

    Args:
        pattern: its name.
        policy: the class of its policy.
        budget: the class of its budget.
    """
    sections = {"policy": _section(policy), "budget": _section(budget)}
    overlays = {name: {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]} for name in sections}
    overlay = {"type": ["object", "null"], "properties": overlays, "additionalProperties": False}
    definitions: JsonObject = {}
    for section in sections.values():
        definitions |= section.pop("$defs", {})
    return {
        "$schema": DIALECT,
        "title": f"Policy file of the pattern {pattern}",
        "type": "object",
        "properties": {
            "pattern": {"const": pattern, "description": "The pattern that the file is for."},
            **overlays,
            "tenants": {
                "type": ["object", "null"],
                "description": "What tenants tighten, by their names; an overlay never loosens.",
                "additionalProperties": overlay,
            },
        },
        "required": ["pattern"],
        "additionalProperties": False,
        "$defs": {**definitions, **sections},
    }


def _section(settings: type[Settings]) -> dict[str, Any]:
    return settings.model_json_schema(mode="validation")
