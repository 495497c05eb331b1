"""Documents that are given in Python, each of which is a chunk, as `LexicalRetriever` takes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.knowledge.ingest.collection import Collection, Report
from guardgraph.knowledge.ingest.rules import read_access_list
from guardgraph.knowledge.ingest.sidecar import narrow_document_readers
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import find_json_problem
from guardgraph.state.context import Access, normalise_tenant
from guardgraph.tools.knowledge_base import Document

GIVEN: Final = "documents"
"""The collection of documents that are given without a name."""

_TEXTS: Final = tuple(sorted(Document.__required_keys__))


def add_given_documents(
    documents: Iterable[Document],
    collection: Collection,
    *,
    readers: tuple[str, ...],
    prefix: str = "",
    whole: bool = False,
    prune: bool = False,
) -> Report:
    """Put a list of documents into a collection."""
    read = dict[str, Mapping[str, Any]]()
    for at, document in enumerate(documents):
        checked = _check_given_document(at, document, collection.tenant)
        number = prefix + checked["id"]
        if number in read:
            raise ConfigurationError(f"document {at}: the id {number!r:.80} is another one's, too")
        read[number] = checked
    collection.look_up(read, whole=whole)
    gone = [number for number in collection.listed if number not in read] if whole else []
    if not prune:
        emptied = [
            number for number in collection.listed if whole and number in read and not read[number]["text"].strip()
        ]
        collection.refuse_loss([*gone, *emptied])
    for number, checked in read.items():
        _add_given_document(number, checked, collection, readers)
    collection.remove(gone)
    return collection.report()


def _check_given_document(at: int, document: object, tenant: str | None) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise ConfigurationError(f"document {at} is no dictionary but a {type(document).__name__}")
    for field in _TEXTS:
        value = document.get(field)
        if not isinstance(value, str):
            raise ConfigurationError(f"document {at}: {field!r} is missing or no string")
        if (problem := find_json_problem(value)) is not None:
            raise ConfigurationError(f"document {at}: {field}: a text that can be stored is required, not {problem}")
    for field in ("id", "source"):
        if (name := document[field]) != name.strip() or not name:
            raise ConfigurationError(
                f"document {at}: {field}: a text without blanks around it is required; given: {name!r:.80}"
            )
    whose = document.get("tenant", tenant)
    if (normalise_tenant(whose) if isinstance(whose, str) else whose) != normalise_tenant(tenant):
        raise ConfigurationError(f"document {at}: tenant: {tenant!r:.80} is added to; given: {whose!r:.80}")
    _read_given_span(at, document)
    return document


def _read_given_span(at: int, document: Mapping[str, Any]) -> tuple[int, int]:
    """Return where a document's text stands in the text that it is a piece of, where it says so."""
    match document.get("span"):
        case None:
            return 0, len(document["text"])
        case [int(start), int(end)] if 0 <= start <= end < 1 << 63 and not {type(start), type(end)} & {bool}:
            return start, end
    raise ConfigurationError(f"document {at}: span: [start, end) in characters is required, or none")


def _add_given_document(
    number: str, document: Mapping[str, Any], collection: Collection, readers: tuple[str, ...]
) -> None:
    before = collection.listed.get(number)
    if not document["text"].strip():
        collection.leave_empty(number, number)
        return
    try:
        own = read_access_list(document["readers"]) if "readers" in document else None
        held = narrow_document_readers(readers, own)
    except ValueError as error:
        collection.fail(number, number, str(error), ())
        return
    stored = _make_given_document(number, document, Access(collection.tenant, held), collection.name)
    if before is not None and before.stamp.sha256 == stored.stamp.sha256:
        collection.keep(number, stored.stamp, stored.source, held)
        return
    collection.put(stored, number)


def _make_given_document(number: str, document: Mapping[str, Any], access: Access, name: str) -> StoredDocument:
    text, title, day = document["text"], document["title"], document["updated_at"]
    start, end = _read_given_span(0, document)
    own_place = [] if (start, end) == (0, len(text)) else [start, end]
    written = json.dumps([text, title, document["section"], day, *own_place]).encode()
    stamp = Stamp(len(text.encode()), 0, hashlib.sha256(written).hexdigest())
    chunk = Chunk(number, document["section"], text, start, end)
    return StoredDocument(number, name, document["source"], title, day, access, (chunk,), stamp)
