"""A collection of a tenant while documents are added to it, and the report of what became of them."""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.ingest.rules import RULES_VERSION, is_within_readers
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.context import Access
from guardgraph.tools.folder import LeftOut, describe_left_out_files

if TYPE_CHECKING:
    from guardgraph.knowledge.index import Index, Listed


class Unusable(ValueError):
    """A document that cannot be taken in; the message is the reason, in words."""


class Failed(NamedTuple):
    """A document or a file that could not be taken in."""

    name: str  # its path under the root, or its id
    reason: str


class Report(NamedTuple):
    """What an addition did to a knowledge base; documents are named by their ids, in the order of their paths."""

    added: tuple[str, ...]
    changed: tuple[str, ...]  # those with another text, title or date, and those that others may read now
    removed: tuple[str, ...]  # those that are gone, and those that were renamed, under their old ids
    failed: tuple[Failed, ...]
    """What could not be taken in. What the base had of it before is still there, for no more readers than before."""
    unchanged: tuple[str, ...]
    left_out: tuple[LeftOut, ...]  # what of a folder was not read
    closed: tuple[str, ...] = ()
    """Documents that were put in or are unchanged, and that nobody may read: nothing names readers of them."""

    @property
    def ok(self) -> bool:
        """Whether everything was taken in."""
        return not self.failed

    def describe_left_out(self) -> str:
        """Return how many were left out for each reason, with their first names, on one line; "" if none was."""
        return describe_left_out_files(self.left_out)


_SHOWN = 3  # so many ids stand for all of them in a message


class Collection:
    """What the base has of a collection, and what became of it."""

    def __init__(self, index: Index, tenant: str | None, name: str) -> None:
        self.tenant, self.name = tenant, name
        self.listed: dict[str, Listed] = {}
        """What the base has, by id: all of the collection, or of it the documents that were looked up."""
        self.has_old_rules = False  # whether other rules narrowed its documents, so that unchanged ones are read again
        self.failed: list[Failed] = []
        self.left_out: list[LeftOut] = []
        self._index = index
        self._batch = index.together(self._refuse_put_document)
        self._shown: dict[str, str] = {}  # the names in the report of documents that were put in, by id
        self._stamps: dict[str, Stamp] = {}
        self._closed: list[str] = []
        self._became: dict[str, list[str]] = {"added": [], "changed": [], "unchanged": [], "removed": []}

    def look_up(self, ids: Iterable[str], *, whole: bool = True) -> None:
        """Look up what the base has, and refuse ids that another collection of the tenant has."""
        there = self._index.look_up(self.tenant, ids)
        others = {number: listed.collection for number, listed in there.items() if listed.collection != self.name}
        for other in sorted({*others.values()})[:1]:
            taken = sorted(number for number, collection in others.items() if collection == other)
            raise ConfigurationError(
                f"{_list_some_documents(taken)}: the id of a document in the collection {other!r}, too; "
                "ids are unique within a tenant: give another name"
            )
        self.listed = self._index.listed(self.tenant, self.name) if whole else there

    def check_rules_version(self) -> None:
        """Look whether its documents were narrowed by the rules of this version."""
        self.has_old_rules = self._index.read_rules_version(self.tenant, self.name) != RULES_VERSION

    def refuse_loss(self, lost: Ids[str]) -> None:
        """Refuse to remove more than half of what there is: an unmounted folder must not empty a base."""
        if 2 * len(lost) > len(self.listed):
            raise ConfigurationError(
                f"{len(lost)} of the {len(self.listed)} documents of {self.name!r} are gone "
                f"({_list_some_documents(sorted(lost))}); nothing was changed. More than half are removed with "
                "prune=True (--prune) only; for other documents, give another name"
            )

    def put(self, document: StoredDocument, shown: str) -> None:
        """Put a new or a changed document in."""
        self._shown[document.id] = shown
        self._note_ingested_document("changed" if document.id in self.listed else "added", document.id, document.access)
        self._batch.put(document)

    def _refuse_put_document(self, document: StoredDocument, reason: str) -> None:
        """Note a document that was not put in after all; what there is of it stays, for those who may read both."""
        for noted in (*self._became.values(), self._closed):
            if document.id in noted:
                noted.remove(document.id)
        kept = self.listed[document.id].access.readers if document.id in self.listed else ()
        allowed = tuple(reader for reader in kept if is_within_readers(reader, document.access.readers))
        self.fail(document.id, self._shown[document.id], reason, allowed)

    def keep(self, number: str, stamp: Stamp, source: str, readers: tuple[str, ...]) -> None:
        """Leave a document whose text is unchanged as it is, but for its stamp, its source and its readers."""
        before, access = self.listed[number], Access(self.tenant, readers)
        moved = (before.source, before.access) != (source, access)
        if moved:
            self._index.move(self.tenant, number, source, access)
        if stamp != before.stamp:
            self._stamps[number] = stamp
        self._note_ingested_document("changed" if moved else "unchanged", number, access)

    def fail(self, number: str, shown: str, reason: str, readers: tuple[str, ...]) -> None:
        """Note what cannot be taken in; what there is of it stays, for some of its readers."""
        self.failed.append(Failed(shown, reason))
        if number in self.listed:
            self.narrow(number, readers)

    def narrow(self, number: str, readers: tuple[str, ...]) -> None:
        """Leave a document that cannot be read as it is, for some of its readers."""
        before = self.listed[number]
        if self.has_old_rules:  # what it says of its readers may not have been read: the next addition reads it
            self._stamps[number] = before.stamp._replace(size=-1)
        if before.access.readers != readers:
            self._index.move(self.tenant, number, before.source, Access(self.tenant, readers))

    def leave_empty(self, number: str, shown: str) -> None:
        """Note what has no text that could be put in, and take out what there is of it."""
        self.left_out.append(LeftOut(shown, "empty"))
        self.remove([number] if number in self.listed else [])

    def remove(self, ids: Iterable[str]) -> None:
        """Take documents out, after all that were put in."""
        self._batch.flush()
        gone = [*ids]
        if gone:
            self._index.drop(self.tenant, gone)
            self._became["removed"] += gone

    def report(self) -> Report:
        """Return what became of the documents, once all are written."""
        self._batch.flush()
        self._index.restamp(self.tenant, self._stamps)
        if self.has_old_rules:
            self._index.note_rules_version(self.tenant, self.name, RULES_VERSION)
        became = {name: tuple(ids) for name, ids in self._became.items()}
        failed, left_out = tuple(sorted(self.failed)), tuple(sorted(self.left_out))
        return Report(**became, failed=failed, left_out=left_out, closed=tuple(self._closed))

    def _note_ingested_document(
        self, became: Literal["added", "changed", "unchanged"], number: str, access: Access
    ) -> None:
        self._became[became].append(number)
        if not access.readers:
            self._closed.append(number)


def _list_some_documents(ids: list[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(f"{number!r:.80}" for number in ids[:_SHOWN]) + more
