"""How a view is written for a model: its fields as texts, its lists with numbers, and the schema that fits it.

Ids stay ours: what a list shows, a model knows by its number, from 1 on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Template
from typing import Any, Final

from langchain_core.utils.json_schema import dereference_refs

from guardgraph.plain.json import JsonObject, JsonValue

CHARACTERS: Final = "characters"
"""Key of a schema of ours that says how long a reply may be; no model is sent it."""
NUMBERED: Final = ("context_chunks", "notes", "pages")
"""Lists of a view whose items a model knows by their numbers."""

_HEAD: Final = ("title", "section")
"""What stands in the first line of an item, where it has it."""
_DATES: Final = ("updated_at", "published_at")
"""What stands behind it in parentheses: in front, a small model takes it for the answer."""
_BODY: Final = ("text", "claim", "quote")
"""What stands below, each on lines of its own."""


def write_view(asked: str, view: JsonObject) -> str:
    """Return what a model is asked: the input of its prompt with the view's fields in it."""
    fields = {name: _write_field(name, value) for name, value in view.items()}
    return "\n\n".join(_fill_paragraphs(asked, fields))


def _fill_paragraphs(asked: str, fields: Mapping[str, str]) -> Iterator[str]:
    for paragraph in re.split(r"\n{2,}", asked.strip()):
        named = list_fields(paragraph)
        if not named or any(fields.get(name, "").strip() for name in named):
            yield Template(paragraph).safe_substitute({**dict.fromkeys(named, ""), **fields})


def list_fields(text: str) -> list[str]:
    """Return the names of the fields of a template, in order."""
    return Template(text).get_identifiers()


def _write_field(name: str, value: JsonValue) -> str:
    if (write := _WRITERS.get(name)) is not None and value:
        return write(value)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {item}" for item in value)
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return "\n".join(f"{key.replace('_', ' ')}: {item}" for key, item in value.items())
    return json.dumps(value, ensure_ascii=False)


def write_numbered(items: Sequence[JsonObject]) -> str:
    """Return the items of a list, each with its number, what it is about, and its text."""
    return "\n\n".join(_write_item(number, item) for number, item in enumerate(items, 1))


def _write_item(number: int, item: JsonObject) -> str:
    about, dates = (
        [str(item[name]).strip() for name in names if str(item.get(name) or "").strip()] for names in (_HEAD, _DATES)
    )
    said = [f'"{item[name]}"' if name == "quote" else str(item[name]) for name in _BODY if item.get(name)]
    head = " ".join([f"[{number}]", *(" - ".join(dict.fromkeys(about)),) * bool(about), *(f"({it})" for it in dates)])
    return "\n".join([head, *said])


def _write_turns(turns: Sequence[JsonObject]) -> str:
    return "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)


def _write_tools(tools: Sequence[JsonObject]) -> str:
    return "\n".join(f"- {tool['name']}: {tool['description']}\n  {json.dumps(tool['schema'])}" for tool in tools)


def _write_results(results: Sequence[JsonObject]) -> str:
    return "\n\n".join(_write_result(item) for item in results)


def _write_result(item: JsonObject) -> str:
    call = f"{item['id']}: {item['tool']}({json.dumps(item['args'], ensure_ascii=False)})"
    rest = {key: value for key, value in item.items() if key not in ("id", "tool", "args") and value != []}
    return f"{call}\n{json.dumps(rest, ensure_ascii=False)}"


_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    **dict.fromkeys(NUMBERED, write_numbered),
    "history": _write_turns,
    "sentence_citations": lambda _: "[1]",
    "tools": _write_tools,
    "results": _write_results,
}


def fit_schema(schema: JsonValue, view: Mapping[str, Any]) -> Any:
    """Return a schema with what a call allows."""
    if isinstance(schema, list):
        return [fit_schema(item, view) for item in schema]
    if not isinstance(schema, dict):
        return schema
    fitted = {key: _fit_keyword(key, value, view) for key, value in schema.items() if key != CHARACTERS}
    return {key: value for key, value in fitted.items() if value is not None and not (key == "enum" and value == [])}


def _fit_keyword(key: str, value: JsonValue, view: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or value[:1] not in ("$", "#", "@") or key in ("title", "description"):
        return fit_schema(value, view)
    given = view.get(value[1:])
    if given is None:
        return None
    if value[0] == "@":
        return [_write_call_form(tool) for tool in given] or None
    if value[0] == "$":
        return given
    return len(given) if key in ("minItems", "maxItems", "maximum") else [*range(1, len(given) + 1)]


def _write_call_form(tool: JsonObject) -> JsonObject:
    """Return the schema of a call of one tool: its name, and its own arguments with their types."""
    name = {"type": "string", "enum": [tool["name"]]}
    properties = {"tool": name, "args": inline_definitions(tool["schema"])}
    return {"type": "object", "properties": properties, "required": ["tool", "args"], "additionalProperties": False}


def inline_definitions(schema: JsonObject) -> JsonObject:
    """Return the schema of a tool's arguments with what it refers to in its place."""
    plain = dereference_refs(schema) if "$ref" in json.dumps(schema) else schema
    return {"type": "object", **{key: value for key, value in plain.items() if key != "$defs"}}


MOST_PLACES: Final = 3
"""Texts, and places of each, of which a model that is asked again is told where they stand."""


def write_refusal(template: str, refused: JsonObject, shown: JsonObject) -> str:
    """Return what a model is told that is asked again: why, on what evidence, and where what it said does stand."""
    evidence = refused.get("evidence") or {}
    said = [f"{name.replace('_', ' ')}: {json.dumps(item, ensure_ascii=False)}" for name, item in evidence.items()]
    told = {
        "why": refused.get("why") or refused["reason"],
        "evidence": f" ({'; '.join(said)})" if said else "",
        "where": "".join(f" {it}" for it in _list_places(evidence.get("unsupported"), shown)),
    }
    return Template(template).safe_substitute(told)


def _list_places(texts: JsonValue, shown: JsonObject) -> Iterator[str]:
    """Yield a sentence on each text that what was shown has."""
    items = next((value for name in NUMBERED if isinstance(value := shown.get(name), list)), [])
    given = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    for text in given[:MOST_PLACES]:
        held = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
        at = [
            f"[{number}]" for number, item in enumerate(items, 1) if held.search(json.dumps(item, ensure_ascii=False))
        ]
        if at:
            yield f"{json.dumps(text, ensure_ascii=False)} stands in {' and '.join(at[:MOST_PLACES])}: cite it there."
