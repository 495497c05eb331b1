"""What `guardgraph kb check` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guardgraph.cli.screen import Screen

if TYPE_CHECKING:
    from guardgraph.knowledge.checking import CheckedBase

__all__ = ["show_checked"]


def show_checked(screen: Screen, file: str, checked: CheckedBase) -> None:
    """Show what was found, and what became of it."""
    screen.show(f"{file}: {checked.documents} documents, {checked.chunks} chunks", indent=0)
    for finding in checked.findings:
        screen.show((str(finding), "red"), hang=2)
    if not checked.findings:
        screen.show(("no findings", "green"), indent=0)
    elif checked.repaired:
        screen.show(("repaired", "green"), indent=0)
    for items, became in ((checked.closed, "nobody may read it now"), (checked.removed, "taken out")):
        for item in items:
            whose = f" of {item.tenant}" if item.tenant else ""
            screen.show((f"{item.id}{whose}: {became}; add it again", "red"), hang=2)
