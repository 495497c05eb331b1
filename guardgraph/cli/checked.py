"""What `guardgraph kb check` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guardgraph.cli.screen import Screen

if TYPE_CHECKING:
    from guardgraph.knowledge.checking import CheckedBase

__all__ = ["show_checked"]


def show_checked(screen: Screen, file: str, checked: CheckedBase) -> None:
    """Show what was found, what became of it, and what to do next."""
    screen.show(f"{file}: {checked.documents} documents, {checked.chunks} chunks", indent=0)
    for finding in checked.findings:
        screen.show((str(finding), "red"), hang=2)
    if not checked.findings:
        screen.show(("no findings", "green"), indent=0)
    elif checked.repaired:
        screen.show(("repaired", "green"), indent=0)
    else:
        screen.show(f"to put it right: guardgraph kb check --repair {file}", indent=0)
    for items, became in (
        (checked.closed, "nobody may read it now; add it again"),
        (checked.removed, "taken out; add it again"),
        (checked.without_vectors, "it has no vectors"),
    ):
        for item in items:
            screen.show((f"{item}: {became}", "red"), hang=2)
    for lost in checked.lost:
        screen.show((f"{lost}; add the documents again", "red"), hang=2)
    if checked.without_vectors or (not checked.repaired and any(item.kind == "vectors" for item in checked.findings)):
        screen.show(f"to make vectors again, in Python: KnowledgeBase({file!r}, embedding=...).add(...)", indent=0)
