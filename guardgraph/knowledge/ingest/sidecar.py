"""What a document says of itself beside its text: front matter, and the file ``name.meta.yaml`` next to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from guardgraph.formats.markdown import body_of, front_matter_of
from guardgraph.formats.rst import fields_of
from guardgraph.formats.settings_file import MAX_BYTES, WrongText, parse_yaml
from guardgraph.knowledge.ingest.collection import Unusable
from guardgraph.knowledge.ingest.lookalikes import (
    READERS,
    is_like_readers,
    list_like_fields,
    list_like_keys,
    list_like_metas,
    list_meant_keys,
    list_nested_keys,
)
from guardgraph.knowledge.ingest.rules import list_readers_beyond, read_access_list
from guardgraph.plain.json import find_json_problem

SIDECAR: Final = ".meta.yaml"
"""How the name of a file ends that says something of the document beside it."""
_TEXTS: Final = ("title", "section", "updated_at")
_FIELDS: Final = (*_TEXTS, "readers")
_NOT_FRONT_MATTER: Final = "its front matter: lines of `key: value` between two lines of three hyphens are required"


class SidecarRules(NamedTuple):
    """What a document says of itself; "" and None where it says nothing."""

    readers: tuple[str, ...] | None = None
    title: str = ""
    section: str = ""
    """The path of headings that the document stands below."""
    updated_at: str = ""


class ReadersUnknown(Unusable):
    """Nobody can tell whom a document means to keep out."""


def read_sidecar_rules(content: bytes) -> SidecarRules:
    """Read a ``name.meta.yaml``."""
    if len(content) > MAX_BYTES:
        raise ReadersUnknown(f"its {SIDECAR}: at most {MAX_BYTES} bytes are allowed")
    try:
        value = _read_sidecar_mapping(content.decode("utf-8-sig"))
        for field in value:
            if field not in _FIELDS:
                raise ValueError(f"{field!r:.80}: no such field; {', '.join(_FIELDS)} are allowed")
        return SidecarRules(
            _read_sidecar_readers(value), **{field: _read_sidecar_text(value, field) for field in _TEXTS}
        )
    except ValueError as error:
        raise ReadersUnknown(f"its {SIDECAR}: {error}") from None


def read_front_matter_rules(text: str) -> tuple[str, ...] | None:
    """Return the readers that front matter names, None where it names none."""
    front = front_matter_of(text)
    if front and (meant := list_meant_keys(body_of(text))):
        raise ReadersUnknown(f"behind its front matter: {meant[0]!r:.80}: readers are named in the first block alone")
    like = list_like_keys(front) if front else list_meant_keys(text)
    if not like and not ("\\" in front or "<<" in front):
        return None
    if not front or len(front) > MAX_BYTES:
        raise ReadersUnknown(_NOT_FRONT_MATTER)
    try:
        value = _read_sidecar_mapping(front)
        wrong = [name for name in list_nested_keys([*value.values()]) if is_like_readers(name)]
        named = [key for key in value if is_like_readers(key)]
        if len(named) > 1 and {key.lower() for key in named} == {READERS}:
            raise ValueError("readers: given twice")
        for key in (*wrong, *(key for key in named if key.lower() != READERS)):
            raise ValueError(f"{key!r:.80}: readers are named by the field readers, at the top")
        return _read_sidecar_readers({READERS: value[named[0]]} if named else {})
    except ValueError as error:
        if not like:
            return None
        raise ReadersUnknown(f"its front matter: {error}") from None


def read_page_readers(text: str) -> tuple[str, ...] | None:
    """Return the readers that a page names in front matter, None where it names none."""
    if list_like_metas(text):
        raise ReadersUnknown(f"its <meta>: readers stand in front matter or in a {SIDECAR}")
    return read_front_matter_rules(text)


def read_field_list_readers(text: str) -> tuple[str, ...] | None:
    """Return the readers that the field list of reStructuredText names, None where it names none."""
    if not (like := list_like_fields(text)):
        return None
    try:
        named = fields_of(text).get(READERS)
        if len(like) > 1 or named is None:
            raise ValueError(f"{like[-1]!r:.80}: readers are named once, by the field readers below the title")
        return _read_sidecar_readers(_read_sidecar_mapping(f"readers: {named}"))
    except ValueError as error:
        raise ReadersUnknown(f"its field list: {error}") from None


def narrow_document_readers(readers: tuple[str, ...], *said: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return who may read a document of those whom the rules name."""
    for own in said:
        if own is None or not readers:
            continue
        if added := list_readers_beyond(own, readers):
            raise ReadersUnknown(
                f"readers: {', '.join(added):.200}: a document adds no readers to those of its folder, "
                f"{', '.join(readers) or 'nobody':.200}"
            )
        readers = own
    return readers


def _read_sidecar_mapping(text: str) -> dict[str, Any]:
    try:
        value, _ = parse_yaml(text)
    except WrongText as error:
        where = "" if error.line is None else f"line {error.line}: "
        raise ValueError(f"{where}{error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"a mapping is required; given: {type(value).__name__}")
    return value


def _read_sidecar_text(value: Mapping[str, Any], field: str) -> str:
    given = value.get(field, "")
    if not isinstance(given, str) or find_json_problem(given) is not None:
        raise ValueError(f"{field}: a text is required; given: {given!r:.80}")
    return " ".join(given.split())


def _read_sidecar_readers(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "readers" not in value:
        return None
    try:
        return read_access_list(value["readers"])
    except ValueError as error:
        raise ValueError(f"readers: {error}") from None
