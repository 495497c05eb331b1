"""What the commands of knowledge bases show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from guardgraph.cli.screen import Screen
from guardgraph.cli.shell import print_on_stderr
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from guardgraph.knowledge.checking import CheckedBase
    from guardgraph.knowledge.ingest.report import Report


_SHOWN: Final = 5
"""Of many that are alike."""


def counted(count: int, name: str) -> str:
    """Return a number of things."""
    return f"{count} {name}{'' if count == 1 else 's'}"


def first_of(names: Sequence[str]) -> str:
    """Return the first of some names, and how many there are more."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}" or "none"


def show_report(screen: Screen, folder: str, report: Report) -> None:
    """Show what became of the files of a folder, and on stderr what to know of those that were put in."""
    counts = {name: len(getattr(report, name)) for name in ("added", "changed", "unchanged", "removed", "failed")}
    screen.print_text(f"{folder}: {', '.join(f'{count} {name}' for name, count in counts.items())}", indent=0)
    for failed in report.failed:
        screen.print_text((f"{failed.name}: {failed.reason}", "red"), hang=2)
    if left_out := report.describe_left_out():
        print_on_stderr(f"left out of {folder}: {left_out}")
    if report.closed:
        whom = "--reader or an access.yaml names who may"
        print_on_stderr(
            f"nobody may read {counted(len(report.closed), 'document')} ({first_of(report.closed)}); {whom}"
        )


def show_rows(screen: Screen, rows: Iterable[JsonObject]) -> None:
    """Show rows that have the same fields."""
    held = [*rows]
    if not held:
        screen.print_text("nothing", indent=0)
        return
    screen.print_table(
        [name.replace("_", " ") for name in held[0]], ([_cell(value) for value in row.values()] for row in held)
    )


def show_checked(screen: Screen, file: str, checked: CheckedBase) -> None:
    """Show what was found, what became of it, and what to do next."""
    screen.print_text(f"{file}: {counted(checked.documents, 'document')}, {counted(checked.chunks, 'chunk')}", indent=0)
    for kind, of_kind in groupby(checked.findings, key=lambda finding: finding.kind):
        findings = [*of_kind]
        for finding in findings[:_SHOWN]:
            screen.print_text((str(finding), "red"), hang=2)
        if len(findings) > _SHOWN:
            screen.print_text((f"{kind}: {len(findings) - _SHOWN} more; --json has them", "red"), hang=2)
    if not checked.findings:
        screen.print_text(("no findings", "green"), indent=0)
    elif not checked.rebuilt:
        screen.print_text(f"to make the index anew of what is right: guardgraph kb rebuild {file}", indent=0)
    if checked.rebuilt:
        screen.print_text(("the index is made anew", "green"), indent=0)
    for items, became in (
        (checked.refused, "not what was put in; add it again"),
        (checked.without_vectors, "it has no vectors"),
        (checked.lost, "add the documents again"),
    ):
        for item in items:
            screen.print_text((f"{item}: {became}", "red"), hang=2)
    if checked.without_vectors or (not checked.rebuilt and any(item.kind == "vectors" for item in checked.findings)):
        again = f"KnowledgeBase({file!r}, embedding=...).add(...); where it is refused, into a new file"
        screen.print_text(f"to make vectors again, in Python: {again}", indent=0)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "nobody"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
