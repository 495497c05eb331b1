"""A folder is added: what is new or changed is read, what is gone is removed, and every rule is held again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from guardgraph.formats.article import Parsed, sections_of
from guardgraph.knowledge.documents import Chunk, StoredDocument
from guardgraph.knowledge.ingest.collection import Collection, Failed, Report, Unusable
from guardgraph.knowledge.ingest.content import (
    Content,
    Patience,
    parse_document_content,
    quick_stamp,
    read_document_content,
    read_document_readers,
)
from guardgraph.knowledge.ingest.folder import Folder, FolderEntry
from guardgraph.knowledge.ingest.rules import is_within_readers
from guardgraph.knowledge.ingest.sidecar import ReadersUnknown, narrow_document_readers
from guardgraph.state.context import Access
from guardgraph.state.rag import PASSAGE_CHARS
from guardgraph.tools.chunks import split_document_into_chunks
from guardgraph.tools.folder import find_file_name_problem, name_source_of_file


def add_folder(
    folder: Folder,
    collection: Collection,
    *,
    prefix: str = "",
    prune: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Make a collection what a folder is."""
    entries = dict[str, FolderEntry]()
    for entry in folder.entries:
        number = prefix + "/".join(entry.file.parts)
        if (problem := find_file_name_problem(number, name_source_of_file(folder.name, entry.file.parts))) is not None:
            collection.failed.append(Failed(entry.shown, problem))
        else:
            entries[number] = entry
    collection.look_up(entries)
    collection.check_rules_version()
    unread = {*_list_unread_files(collection.listed, prefix, folder)}
    there = {number for number, entry in entries.items() if entry.file.size} | unread
    gone = [number for number in collection.listed if number not in there]
    if not prune:
        collection.refuse_loss(_list_lost_documents(gone, entries, collection))
    collection.failed += [*folder.failed, *(Failed(*item) for item in folder.unread)]
    collection.left_out += folder.left_out
    patience = Patience()
    read, total = 0, sum(entry.file.size for entry in entries.values())
    for number, entry in entries.items():
        _add_folder_entry(number, entry, folder, collection, patience)
        read += entry.file.size
        if progress is not None:
            progress(read, total)
    for number in sorted(unread):  # who may read it is what the rules say now, as for any file that cannot be read
        rule = folder.rules.readers_of(tuple(number.removeprefix(prefix).split("/")))
        kept = collection.listed[number].access.readers
        collection.narrow(number, tuple(reader for reader in kept if is_within_readers(reader, rule)))
    collection.remove(number for number in gone if number not in entries)
    return collection.report()


def _list_unread_files(ids: Iterable[str], prefix: str, folder: Folder) -> Iterator[str]:
    """Yield documents of which nobody knows whether they are still there."""
    names = {item.name for item in folder.unread}
    for number in ids:
        parts = number.removeprefix(prefix).split("/")
        if any("/".join(parts[:size]) in names for size in range(1, len(parts) + 1)):
            yield number


def _list_lost_documents(gone: Iterable[str], entries: dict[str, FolderEntry], collection: Collection) -> list[str]:
    """Return what of the gone documents stands under no other name in the folder."""
    named = {number: collection.listed[number].stamp.sha256 for number in gone}
    found, sizes = set[str](), {collection.listed[number].stamp.size for number in named}
    for number, entry in entries.items():
        # A sidecar is part of what is hashed, and of the size.
        if number not in collection.listed and (entry.beside is not None or entry.file.size in sizes):
            with suppress(Unusable):
                found.add(read_document_content(entry).stamp.sha256)
    return [number for number, digest in named.items() if digest not in found]


def _add_folder_entry(
    number: str, entry: FolderEntry, folder: Folder, collection: Collection, patience: Patience
) -> None:
    rule = folder.rules.readers_of(entry.file.parts)
    source, before = name_source_of_file(folder.name, entry.file.parts), collection.listed.get(number)
    # What an unchanged document says of its own readers is within the rule, as it was.
    is_placed = before is not None and (before.source, before.access.readers) == (source, rule)
    is_read_alike = is_placed and not collection.has_old_rules
    if before is not None and is_read_alike and quick_stamp(entry) == before.stamp[:2]:
        collection.keep(number, before.stamp, source, rule)
        return
    readers = rule
    try:
        content = read_document_content(entry)
        readers = narrow_document_readers(readers, content.said.readers)
        readers = narrow_document_readers(readers, *read_document_readers(entry, content))
        if before is not None and content.stamp.sha256 == before.stamp.sha256:
            collection.keep(number, content.stamp, source, readers)
            return
        access = Access(collection.tenant, readers)
        parsed = parse_document_content(entry, content, patience)
        document = _make_stored_document(
            number, entry, content, parsed, name=collection.name, source=source, access=access
        )
        if document.chunks:
            collection.put(document, entry.shown)
            return
    except Unusable as error:  # what there is of it stays, for those who may read what it is now
        kept = () if before is None or isinstance(error, ReadersUnknown) else before.access.readers
        collection.fail(
            number, entry.shown, str(error), tuple(reader for reader in kept if is_within_readers(reader, readers))
        )
        return
    collection.leave_empty(number, entry.shown)


def _make_stored_document(
    number: str, entry: FolderEntry, content: Content, parsed: Parsed, *, name: str, source: str, access: Access
) -> StoredDocument:
    said = content.said
    title, sections = sections_of(parsed, Path(entry.file.parts[-1]).stem)
    return StoredDocument(
        id=number,
        name=name,
        source=source,
        title=said.title or title,
        updated_at=said.updated_at or parsed.updated_at,
        access=access,
        chunks=tuple(
            Chunk(piece.id, piece.section, piece.text, *piece.span)
            for piece in split_document_into_chunks(
                number, parsed.text, sections, PASSAGE_CHARS, below=said.section or parsed.section
            )
        ),
        stamp=content.stamp,
    )
