"""What became of the documents of a folder or a list."""

from __future__ import annotations

from typing import NamedTuple

from guardgraph.tools.folder import LeftOut, describe_left_out_files


class Unusable(ValueError):
    """A document that cannot be taken in; the message is the reason, in words."""


class Failed(NamedTuple):
    """A document or a file that could not be taken in."""

    name: str
    """Its path under the root, or its id."""
    reason: str


class Report(NamedTuple):
    """What an addition did to a knowledge base; documents are named by their ids, in the order of their paths."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    """Those with another text, title or date, and those that others may read now."""
    removed: tuple[str, ...]
    """Those that are gone, and those that were renamed, under their old ids."""
    failed: tuple[Failed, ...]
    """What could not be taken in. What the base had of it before is still there, for no more readers than before."""
    unchanged: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    """What of a folder was not read."""
    closed: tuple[str, ...] = ()
    """Documents that were put in or are unchanged, and that nobody may read: nothing names readers of them."""

    @property
    def ok(self) -> bool:
        """Whether everything was taken in."""
        return not self.failed

    def describe_left_out(self) -> str:
        """Return how many were left out for each reason, with their first names, on one line; "" if none was."""
        return describe_left_out_files(self.left_out)
