"""The leaves of arguments and results: values that hold no other, keys that somebody wrote, and the places of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from guardgraph.guards.tools.values import is_single_value
from guardgraph.plain.conversion import parse_expected_failure
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, parse_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.tools import DECIDING, REPORTED


class Leaf(NamedTuple):
    """A value that holds no other, and where it stands."""

    path: str
    keys: tuple[str, ...]
    """The keys on the way; items of lists have none."""
    value: JsonValue


def list_leaves(value: JsonValue, path: str = "") -> Iterator[Leaf]:
    """Yield the leaves of a JSON value in order, without recursion, since it may be nested deeper than the stack."""
    rest: list[Leaf] = [Leaf(path, (path,) if path else (), value)]
    while rest:
        at, keys, item = rest.pop()
        if isinstance(item, dict):
            inner = [Leaf(f"{at}.{key}" if at else key, (*keys, key), child) for key, child in item.items()]
            rest += reversed(inner)
        elif isinstance(item, list):
            rest += reversed([Leaf(f"{at}[{number}]", keys, child) for number, child in enumerate(item)])
        else:
            yield Leaf(at, keys, item)


def is_trusted_leaf(leaf: Leaf, trusted: Iterable[str]) -> bool:
    """Say whether a leaf of a result stands in a field that may license arguments."""
    return any(_matches_path(leaf.keys, tuple(path.split("."))) for path in trusted)


def _matches_path(keys: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if path[-1] == DECIDING and all(name in (DECIDING, key) for name, key in zip(path[:-1], keys, strict=False)):
        return len(keys) >= len(path) - 1
    return len(keys) == len(path) and all(name in (DECIDING, key) for name, key in zip(path, keys, strict=True))


def is_trusted_key(keys: tuple[str, ...], trusted: Iterable[str]) -> bool:
    """Say whether a path of trusted fields names the last of some keys, or leaves it open and it is one value."""
    return any(_names_key(keys, tuple(path.split("."))) for path in trusted)


def _names_key(keys: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if path[-1] == DECIDING:
        path += (DECIDING,) * (len(keys) - len(path))
    names = path[: len(keys)]
    is_on_path = len(names) == len(keys) and all(name in (DECIDING, key) for name, key in zip(names, keys, strict=True))
    return is_on_path and (names[-1] != DECIDING or is_single_value(keys[-1]))


def read_result(value: JsonValue) -> JsonValue:
    """Return what a tool brought as its fields: a text that is a JSON object or list counts as that."""
    # One in which a key stands twice is a text: the model reads both values, and its fields would have one.
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            parse_json(value, keys_once=True)
            return parse_json(value, exact_numbers=True)
        except NotJson:
            return value
    return value


_BLOCKS: Final = ("image", "image_url", "audio", "input_audio", "video", "file", "document", "media", "resource")
"""Types of blocks of content that are no text."""


def describe_media(value: JsonValue) -> JsonValue:
    """Return what a tool brought with its pictures, files and sounds as lines: kind, size and hash."""
    if not (isinstance(value, list) and value and all(map(_is_block, value))):
        return value
    if all(block["type"] == "text" for block in value):
        return value
    return "\n".join(block["text"] if block["type"] == "text" else _describe_block(block) for block in value)


def _is_block(item: JsonValue) -> bool:
    if not isinstance(item, dict):
        return False
    return item.get("type") in _BLOCKS or (item.get("type") == "text" and isinstance(item.get("text"), str))


def _describe_block(block: JsonObject) -> str:
    kind = next(
        (leaf.value for leaf in list_leaves(block) if leaf.keys[-1] in ("mime_type", "mimeType", "format")), None
    )
    size = sum(len(leaf.value) for leaf in list_leaves(block) if isinstance(leaf.value, str))
    shown = f"{block['type']} {kind}" if isinstance(kind, str) and kind.isprintable() else block["type"]
    return f"[{shown:.80}, {size} characters of data, sha256 {digest(block)[:12]}]"


def read_outcome(outcome: Outcome) -> tuple[JsonValue, bool]:
    """Return what a call of a tool brought, as the model is shown it, and whether it is a failure that it reported."""
    if outcome.form != "failure":
        return describe_media(outcome.content), False
    match parse_expected_failure(outcome.content):
        case (reason, {"message": str(message)}) if reason == REPORTED:
            return message, True
    return None, False


def list_property_names(schema: JsonValue) -> frozenset[str]:
    """Return the names of properties anywhere in a schema: keys of arguments that the tool's owner set."""
    names, rest = set[str](), [schema]
    while rest:
        item = rest.pop()
        if isinstance(item, Mapping):
            properties = item.get("properties")
            names.update(properties if isinstance(properties, Mapping) else ())
            rest += item.values()
        elif isinstance(item, list):
            rest += item
    return frozenset(names)


def list_keys(value: JsonValue, name: str = "") -> Iterator[Leaf]:
    """Yield the keys of a value, each as a leaf that says itself, with the keys on the way and itself."""
    rest: list[Leaf] = [Leaf(name, (name,) if name else (), value)]
    while rest:
        at, keys, item = rest.pop()
        if isinstance(item, dict):
            below = [Leaf(f"{at}.{key}" if at else key, (*keys, key), child) for key, child in item.items()]
            yield from (Leaf(f"{leaf.path} (key)", leaf.keys, leaf.keys[-1]) for leaf in below)
            rest += below
        elif isinstance(item, list):
            rest += [Leaf(f"{at}[{number}]", keys, child) for number, child in enumerate(item)]


def list_own_keys(value: JsonValue, name: str, named: frozenset[str]) -> Iterator[Leaf]:
    """Yield keys inside an argument that no schema has: they are written by the model, as values are."""
    yield from (Leaf(key.path, (), key.value) for key in list_keys(value, name) if key.value not in named)


def is_container(value: JsonValue) -> bool:
    """Say whether a value may hold others."""
    return isinstance(value, dict | list)


def list_empty(value: JsonValue, name: str) -> Iterator[Leaf]:
    """Yield the empty lists and objects of an argument: that there is nothing can decide too, as with all members."""
    rest = [(name, value)]
    while rest:
        at, item = rest.pop()
        if is_container(item) and not item:
            yield Leaf(at, (), item)
        elif isinstance(item, dict):
            rest += [(f"{at}.{key}", child) for key, child in item.items()]
        elif isinstance(item, list):
            rest += [(f"{at}[{number}]", child) for number, child in enumerate(item)]


def write_leaf(value: JsonValue) -> str:
    """Return a leaf as the text by which a rule allows it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
