"""Documents in one form, whoever returned them, and what stands in their metadata."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

from guardgraph.plain.conversion import Unreturnable, convert_to_plain_json
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import TooLarge

if TYPE_CHECKING:
    from langchain_core.documents import Document


Found: TypeAlias = "tuple[Document, object]"
"""A document, and the score that was returned beside it; None where there was none."""

Metadata: TypeAlias = "Mapping[str, str | Callable[[Document], object]]"
"""Where a field of ours stands: its key in the metadata, or a function of the document that returns it."""

_TEXTS = ("page_content", "text", "content", "snippet", "body")  # keys of a dictionary's text

FORMS = "a list of documents, of dictionaries or of pairs of a document and its score, or the JSON text of one"


def is_of_langchain_class(given: object, module: str, name: str) -> bool:
    """Say whether something is of a class of LangChain's: whoever made one has loaded its module, and we need not."""
    known = getattr(sys.modules.get(f"langchain_core.{module}"), name, None)
    return known is not None and isinstance(given, known)


class MetadataKeys:
    """Reads the fields of documents."""

    def __init__(self, slot: str, usual: Mapping[str, tuple[str, ...]], own: Metadata | None) -> None:
        given = {} if own is None else own
        if not isinstance(given, Mapping) or not given.keys() <= usual.keys():
            raise ConfigurationError(f"{slot}: a dictionary of {', '.join(usual)} is required; given: {given!r:.80}")
        for field, where in given.items():
            if not callable(where) and not (isinstance(where, str) and where):
                allowed = "a key of the metadata or a function of the document"
                raise ConfigurationError(f"{slot}[{field!r}]: {allowed} is required; given: {where!r:.80}")
        self._usual = usual
        self._own = dict(given)

    def has_own_key(self, field: str) -> bool:
        """Say whether the user says where a field stands."""
        return field in self._own

    def read_metadata_field(self, document: Document, at: int, field: str) -> object:
        """Return a field of the document at a place, None where it has none."""
        where = self._own.get(field)
        if not callable(where):
            keys = self._usual[field] if where is None else (where,)
            return next((value for key in keys if (value := document.metadata.get(key)) is not None), None)
        try:
            return where(document)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            given = f"{type(error).__name__}: {error!s:.80}"
            allowed = "what the function of the document returns"
            raise refuse_langchain_document(document, (at, "metadata", field), given, allowed) from error

    def read_metadata_text(self, document: Document, at: int, field: str) -> str | None:
        """Return a field that is a text or a date as a text, None for anything else."""
        value = self.read_metadata_field(document, at, field)
        plain = read_plain_value(value)
        if isinstance(value, date) and plain is not None:
            return value.isoformat()
        return plain if isinstance(plain, str) else None

    def refuse_missing_field(self, document: Document, at: int, field: str, allowed: str) -> Unreturnable:
        """Return the refusal of a document without a field, which says what it has instead."""
        has = ", ".join(map(str, document.metadata)) or "nothing"
        place = (at, "metadata", self._describe_metadata_key(field))
        return refuse_langchain_document(document, place, f"nothing; the metadata has {has:.100}", allowed)

    def refuse_wrong_field(self, document: Document, at: int, field: str, given: object, allowed: str) -> Unreturnable:
        """Return the refusal of a field that is not what it has to be."""
        place = (at, "metadata", self._describe_metadata_key(field))
        return refuse_langchain_document(document, place, f"{given!r:.80}", allowed)

    def _describe_metadata_key(self, field: str) -> str:
        where = self._own.get(field, " or ".join(self._usual[field]))
        return field if callable(where) else where


def read_plain_value(value: object) -> object:
    """Return what metadata holds as plain JSON; None where nothing is there, as numpy and pandas say it, too."""
    try:
        [plain] = convert_to_plain_json([value], left_out=[])
    except (Unreturnable, TooLarge):
        return value
    return plain


def refuse_langchain_document(document: Document, place: Iterable[object], given: str, allowed: str) -> Unreturnable:
    """Return the refusal of what was found, for what stands at a place of one of its documents, or does not."""
    # It says the document's id and nothing else of it: nobody has judged yet whether it may be seen.
    name = document.metadata.get("id") or document.id
    told = f"{given}, in the document {name!r:.80}" if name else given
    return Unreturnable(told, place=("found", *map(str, place)), allowed=allowed)


def read_found_documents(returned: object) -> list[Found]:
    """Read what was returned as documents."""
    given = _parse_tool_json(returned) if isinstance(returned, str) else returned
    if isinstance(given, Mapping) and isinstance(given.get("results"), list):
        given = given["results"]
    if not isinstance(given, list | tuple):
        raise Unreturnable(f"a {type(returned).__name__}: {returned!r:.80}", place=("found",), allowed=FORMS)
    found, faults = list[Found](), list[Unreturnable]()
    for at, item in enumerate(given):
        try:
            is_pair = isinstance(item, list | tuple) and len(item) == 2
            document, score = item if is_pair else (item, None)
            found.append((_make_langchain_document(document, at), score))
        except Unreturnable as error:
            faults.append(error)
            found.append((_make_langchain_document({}, at), None))
    if faults and len(faults) == len(found):
        raise faults[0]
    return found


def read_page_documents(returned: object) -> list[Document]:
    """Read what was returned for one URL: its text, its documents, a dictionary with its text, or JSON text of one."""
    given = returned
    if isinstance(returned, str):
        # A page may be JSON itself; only what says that it has a body is more than its text.
        read = _parse_tool_json(returned)
        given = read if isinstance(read, dict) and isinstance(read.get("body"), str) else {"body": returned}
    pages = given if isinstance(given, list | tuple) else [given]
    for at, page in enumerate(pages):
        if isinstance(page, Mapping) and not any(isinstance(page.get(key), str) for key in _TEXTS):
            keys = f"a dictionary of {sorted(map(str, page))}"
            raise Unreturnable(keys, place=("found", str(at)), allowed=f"a text under one of {', '.join(_TEXTS)}")
    return [_make_langchain_document(page, at) for at, page in enumerate(pages)]


def _parse_tool_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _make_langchain_document(item: object, at: int) -> Document:
    from langchain_core.documents import Document

    if isinstance(item, Document):
        return item
    if not isinstance(item, Mapping):
        raise Unreturnable(f"a {type(item).__name__}: {item!r:.80}", place=("found", str(at)), allowed=FORMS)
    text = next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), "")
    inner = item.get("metadata")
    held = {**item, **inner} if isinstance(inner, Mapping) else item
    return Document(page_content=text, metadata={str(key): value for key, value in held.items()})


def read_tool_output(returned: Any) -> object:
    """Return what a tool brings: of a message its artifact, else its text."""
    if not is_of_langchain_class(returned, "messages", "ToolMessage"):
        return _join_text_blocks(returned)
    if returned.status == "error":
        raise Unreturnable(f"the tool's error: {returned.text:.200}", place=("found",), allowed=FORMS)
    return _join_text_blocks(returned.content) if returned.artifact is None else returned.artifact


def _join_text_blocks(content: object) -> object:
    if isinstance(content, Sequence) and content and all(_is_text_block(item) for item in content):
        return "".join(item["text"] for item in content)
    return content


def _is_text_block(item: object) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "text" and isinstance(item.get("text"), str)
