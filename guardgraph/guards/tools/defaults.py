"""Defaults of schemas: what a tool receives where a call leaves something out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guardgraph.guards.tools.schemas import find_referenced, is_valid_of_schema
from guardgraph.plain.json import JsonObject, JsonValue, copy_json


def fill_defaults(value: JsonValue, schema: JsonValue, whole: JsonObject) -> JsonValue:
    """Return a value with the defaults of its schema, those of objects inside it too."""
    # A default that its own schema does not allow, such as null of a text, says that the tool fills it in by itself.
    if isinstance(value, list):
        items = [part["items"] for part in _list_parts(value, schema, whole) if "items" in part]
        return [fill_defaults(item, items[0], whole) for item in value] if items else value
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for name, own in list_properties(value, schema, whole):
        if name in filled:
            filled[name] = fill_defaults(filled[name], own, whole)
        elif "default" in own and is_valid_of_schema(own["default"], own, whole):
            filled[name] = fill_defaults(copy_json(own["default"]), own, whole)
    return filled


def list_properties(value: JsonObject, schema: JsonValue, whole: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield the properties that the schema of an object names, each with its own schema."""
    for part in _list_parts(value, schema, whole):
        properties = part.get("properties")
        for name, own in properties.items() if isinstance(properties, dict) else ():
            if isinstance(own, dict):
                yield name, own


def list_default_paths(value: JsonValue, schema: JsonValue, whole: JsonObject, path: str = "") -> Iterator[str]:
    """Yield the places of values inside an argument that are the plain defaults of their properties."""
    if isinstance(value, list):
        for part in _list_parts(value, schema, whole):
            for number, item in enumerate(value):
                yield from list_default_paths(item, part.get("items"), whole, f"{path}[{number}]")
    elif isinstance(value, dict):
        for name, own in list_properties(value, schema, whole):
            if name not in value:
                continue
            at = f"{path}.{name}" if path else name
            if is_same_json(own.get("default", ...), value[name]) and is_plain_default(own, whole):
                yield at
            else:
                yield from list_default_paths(value[name], own, whole, at)


def is_plain_default(own: JsonObject, whole: JsonObject) -> bool:
    """Say whether a default of a schema names nobody: no text, but for one of those that the schema counts up."""
    default = own["default"]
    if isinstance(default, str) and default:
        return any(default == part.get("const") or default in _list_enum(part) for part in _list_all_parts(own, whole))
    return not (isinstance(default, dict | list) and default)


def is_same_json(one: Any, other: Any) -> bool:
    """Say whether two JSON values are the same; true is no 1."""
    return type(one) is type(other) and bool(one == other)


def _list_enum(part: JsonObject) -> list[JsonValue]:
    return listed if isinstance(listed := part.get("enum"), list) else []


def _list_all_parts(schema: JsonValue, whole: JsonObject) -> Iterator[JsonObject]:
    """Yield a schema and the parts of it that hold for the same value, each once."""
    rest, seen = [schema], list[JsonValue]()
    while rest:
        item = rest.pop()
        if not isinstance(item, dict) or any(item is other for other in seen):
            continue
        seen.append(item)
        yield item
        if isinstance(name := item.get("$ref"), str):
            rest.append(find_referenced(whole, name))
        for kind in ("anyOf", "oneOf", "allOf"):
            rest += given if isinstance(given := item.get(kind), list) else []


def _list_parts(value: JsonValue, schema: JsonValue, whole: JsonObject) -> Iterator[JsonObject]:
    """Yield the parts of a schema that a value fits: of several that it may be, those that allow it."""
    return (part for part in _list_all_parts(schema, whole) if part is schema or is_valid_of_schema(value, part, whole))
