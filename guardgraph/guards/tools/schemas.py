"""JSON Schemas of tools: what they say of arguments, and what is none that a call can be held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from guardgraph.guards.stop import Stop
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue, copy_json, excerpt_value, parse_json, walk_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from pydantic_core import SchemaValidator


MATCHED_CHARS: Final = 1000
"""Characters of a text, and of a pattern, up to which they are matched; the tool itself judges longer ones."""
MOST_JUDGED_PARTS: Final = 10_000
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_KNOWN_SCHEMAS: Final = 256


def check_arguments(tool: str, args: JsonObject, schema: JsonObject) -> None:
    """Hold arguments against the JSON Schema of their tool; one that it does not name is none of its."""
    properties = schema.get("properties")
    is_open = schema.get("additionalProperties") not in (None, False) or "patternProperties" in schema
    if isinstance(properties, dict) and not is_open and (unknown := [name for name in args if name not in properties]):
        allowed = f"arguments {', '.join(properties) or 'none'}"
        raise Stop("invalid_action:schema", details={"tool": tool, "at": unknown[0], "allowed": allowed})
    from jsonschema.exceptions import best_match

    error = best_match(_compile_schema(canonical_json(schema)).iter_errors(args))
    if error is not None:
        at = ".".join(map(str, error.absolute_path))
        details = {"tool": tool, "at": at, "given": excerpt_value(error.instance), "allowed": error.message[:300]}
        raise Stop("invalid_action:schema", details=details)


def is_valid_of_schema(value: JsonValue, part: JsonObject, whole: JsonObject) -> bool:
    """Say whether a part of a schema allows a value; references lead into the whole."""
    defined = {key: whole[key] for key in ("$schema", "$defs", "definitions") if key in whole}
    return bool(_compile_schema(canonical_json({**defined, **part})).is_valid(value))


@lru_cache(maxsize=_KNOWN_SCHEMAS)
def _compile_schema(schema: str) -> Validator:
    # Patterns are somebody else's: they are matched in linear time, which the library's own keywords do not.
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry

    parsed: Any = parse_json(schema)
    own: dict[str, Any] = {
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
        "additionalProperties": _check_additional_properties,
    }
    if '"patternProperties"' in schema:
        own["unevaluatedProperties"] = lambda *_: ()  # it matches names with patterns of its own
    kind = extend(validator_for(parsed, default=Draft202012Validator), own)  # type: ignore[no-untyped-call]
    # A part of the schema that names its dialect would be judged by the library's keywords again.
    validator: Validator = kind(_leave_out_dialects(parsed), registry=Registry())
    return validator


def _leave_out_dialects(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {key: item for key, item in schema.items() if not (key == "$schema" and isinstance(item, str))}
        return {key: _leave_out_dialects(item) for key, item in kept.items()}
    return [_leave_out_dialects(item) for item in schema] if isinstance(schema, list) else schema


@lru_cache(maxsize=_KNOWN_SCHEMAS)
def _compile_pattern(pattern: str) -> SchemaValidator | None:
    """Return a pattern that takes linear time, None for one that is not known here, such as one that looks ahead."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        return None


def _matches_pattern(pattern: str, text: str) -> bool | None:
    """Say whether a text has what a pattern looks for; None where that is left to the tool."""
    compiled = _compile_pattern(pattern) if max(len(text), len(pattern)) <= MATCHED_CHARS else None
    return None if compiled is None else compiled.isinstance_python(text)


def _check_pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and _matches_pattern(pattern, instance) is False:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    for name, item in instance.items() if isinstance(instance, dict) else ():
        for pattern, schema in patterns.items():
            if _matches_pattern(pattern, name):
                yield from validator.descend(item, schema, path=name, schema_path=pattern)


def _check_additional_properties(
    validator: Any, schema: Any, instance: Any, whole: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    known, patterns = whole.get("properties", {}), whole.get("patternProperties", {})
    unknown = [name for name in instance if name not in known]
    for name in unknown:
        if all(_matches_pattern(pattern, name) is False for pattern in patterns):
            if schema is False:
                yield ValidationError(f"{name!r:.80} is no property")
            else:
                yield from validator.descend(instance[name], schema, path=name)


def find_schema_problem(schema: JsonObject) -> str | None:
    """Say why something is no JSON Schema of a tool's arguments, None where it is one."""
    from jsonschema import FormatChecker
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    if not isinstance(schema, dict):
        return f"a schema of an object is required; given: {schema!r:.80}"
    if schema.get("type", "object") != "object":
        return f"a schema of an object is required; given: type {schema['type']!r:.80}"
    if outside := next((name for name in _list_references(schema) if not name.startswith("#")), None):
        return f"references within the schema are required; given: {outside!r:.80}"
    try:
        kind: Any = validator_for(schema, default=Draft202012Validator)
        # Patterns are those of ECMAScript: what Python cannot compile may be one.
        kind.check_schema(schema, format_checker=FormatChecker(formats=()))
        return find_reference_problem(schema)
    except SchemaError as error:
        return f"a JSON Schema is required: {error.message:.200}"
    except RecursionError:
        return "a schema that is nested less deeply is required"


def find_reference_problem(schema: JsonObject) -> str | None:
    """Say which reference of a schema leads nowhere, to itself, or to too many parts to judge one value by."""
    for name in _list_references(schema):
        if not isinstance(find_referenced(schema, name), dict | bool):
            return f"references to parts of the schema are required; given: {name!r:.80}"
    sizes: dict[int, int | None] = {}
    for item in _list_objects(schema):
        size = _count_judged_parts(item, schema, sizes)
        if size is None:
            return f"references that do not lead back to themselves are required; given: {item.get('$ref', '')!r:.80}"
        if size > MOST_JUDGED_PARTS:
            return f"at most {MOST_JUDGED_PARTS} parts that judge one value are required; given: {size}"
    return None


def _count_judged_parts(item: JsonObject, schema: JsonObject, sizes: dict[int, int | None]) -> int | None:
    """Return how many parts of a schema judge a value that one of them judges; None where that has no end."""
    if id(item) in sizes:
        return sizes[id(item)]
    sizes[id(item)] = None
    size = 1
    for part in _list_parts_in_place(item, schema):
        if (inner := _count_judged_parts(part, schema, sizes)) is None:
            return None
        size += inner
    sizes[id(item)] = size
    return size


def _list_parts_in_place(item: JsonObject, schema: JsonObject) -> Iterator[JsonObject]:
    """Yield the parts that judge the same value as the part that has them."""
    named = [item[key] for key in _REFERENCES if isinstance(item.get(key), str)]
    parts: list[Any] = [find_referenced(schema, name) for name in named]
    parts += [item.get(key) for key in ("not", "if", "then", "else")]
    for key in ("allOf", "anyOf", "oneOf"):
        parts += given if isinstance(given := item.get(key), list) else ()
    for key in ("dependentSchemas", "dependencies"):
        parts += given.values() if isinstance(given := item.get(key), dict) else ()
    yield from (part for part in parts if isinstance(part, dict))


def find_referenced(schema: JsonObject, name: str) -> Any:
    """Return the part of a schema that a reference names, None where there is none."""
    pointer = unquote(name.removeprefix("#"))
    if pointer and not pointer.startswith("/"):
        anchors = ((item.get("$anchor"), item.get("$dynamicAnchor"), item) for item in _list_objects(schema))
        return next((item for *said, item in anchors if pointer in said), None)
    found: Any = schema
    for key in (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]):
        if isinstance(found, dict):
            found = found.get(key)
        else:
            found = found[int(key)] if isinstance(found, list) and key.isdecimal() and int(key) < len(found) else None
    return found


def _list_references(schema: JsonValue) -> Iterator[str]:
    for item in _list_objects(schema):
        yield from (item[key] for key in _REFERENCES if isinstance(item.get(key), str))


def _list_objects(schema: JsonValue) -> Iterator[JsonObject]:
    return (item for item in walk_json(schema) if isinstance(item, dict))


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


def drop_defaults(value: JsonValue, schema: JsonValue, whole: JsonObject) -> JsonValue:
    """Return a value without what is the default of its schema, in objects inside it too."""
    if isinstance(value, list):
        items = [part["items"] for part in _list_parts(value, schema, whole) if "items" in part]
        return [drop_defaults(item, items[0], whole) for item in value] if items else value
    if not isinstance(value, dict):
        return value
    named = dict(list_properties(value, schema, whole))
    return {
        name: drop_defaults(item, named.get(name), whole)
        for name, item in value.items()
        if not is_same_json(named.get(name, {}).get("default", ...), item)
    }


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
