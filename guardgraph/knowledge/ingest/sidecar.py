"""What a document says of itself beside its text: front matter, and the file ``name.meta.yaml`` next to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from guardgraph.formats.markdown import front_matter_of
from guardgraph.formats.rst import fields_of
from guardgraph.formats.settings_file import MAX_BYTES, WrongText, parse_yaml
from guardgraph.knowledge.ingest.report import Unusable
from guardgraph.knowledge.ingest.rules import list_readers_beyond, read_access_list
from guardgraph.plain.json import find_json_problem

SIDECAR: Final = ".meta.yaml"
"""How the name of a file ends that says something of the document beside it."""
_TEXTS: Final = ("title", "section", "updated_at")
_FIELDS: Final = (*_TEXTS, "readers")
_READERS_LINE = re.compile(r"^:?[\"']?readers[\"']?[ \t]*[:=]", re.IGNORECASE | re.MULTILINE)
_READERS_OF_JSON = re.compile(
    r"\s*(?:(?:---|\+\+\+|;;;)[ \t]*\n\s*)?\{(?:[^{}]*\{[^{}]*\})*[^{}]*?[\"']?\breaders[\"']?\s*:", re.IGNORECASE
)
"""An object at the top of a text, maybe below a line: front matter of some tools."""
_READERS_OF_PAGE = re.compile(r"<meta\s[^<>]*?(?:name|property)\s*=\s*[\"']?\s*readers\b", re.IGNORECASE)
_MEANT = re.compile(r"\s*(---|\+\+\+|;;;)[ \t]*\n(.*?)(?:^\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
"""What whoever wrote it may have meant as front matter, also that of other tools."""
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
    """Read a ``name.meta.yaml``.

    Raises:
        ReadersUnknown: it cannot be read, is no mapping, or has anything but `title`, `section`, `updated_at` and
            `readers`.
    """
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
    """Return the readers that front matter names, None where it names none.

    Raises:
        ReadersUnknown: it names some in a way that is not understood.
    """
    front, meant = front_matter_of(text), _MEANT.match(text)
    if _READERS_OF_JSON.match(text):
        raise ReadersUnknown(_NOT_FRONT_MATTER)
    if not _READERS_LINE.search(front or (meant[2] if meant else "")):
        return None
    if not front or len(front) > MAX_BYTES:
        raise ReadersUnknown(_NOT_FRONT_MATTER)
    try:
        named = [(key.lower(), value) for key, value in _read_sidecar_mapping(front).items()]
        if sum(key == "readers" for key, _ in named) > 1:
            raise ValueError("readers: given twice")
        return _read_sidecar_readers(dict(named))
    except ValueError as error:
        raise ReadersUnknown(f"its front matter: {error}") from None


def read_page_readers(text: str) -> tuple[str, ...] | None:
    """Return the readers that a page names in front matter, None where it names none.

    Raises:
        ReadersUnknown: it names some in a way that is not understood.
    """
    if _READERS_OF_PAGE.search(text):
        raise ReadersUnknown(f"its <meta>: readers stand in front matter or in a {SIDECAR}")
    return read_front_matter_rules(text)


def read_field_list_readers(text: str) -> tuple[str, ...] | None:
    """Return the readers that the field list of reStructuredText names, None where it names none.

    Raises:
        ReadersUnknown: it names some in a way that is not understood.
    """
    if (named := fields_of(text).get("readers")) is None:
        return None
    try:
        return _read_sidecar_readers(_read_sidecar_mapping(f"readers: {named}"))
    except ValueError as error:
        raise ReadersUnknown(f"its field list: {error}") from None


def narrow_document_readers(readers: tuple[str, ...], *said: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return who may read a document of those whom the rules name.

    Args:
        readers: those of the rules; where they are none, nobody reads it, whatever it says.
        said: those that the document names itself, by each of its ways; None where it names none.

    Raises:
        ReadersUnknown: it names some who are not among them.
    """
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
