"""Whether the outline of a report may be written from its notes: how many sections, and what their titles say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from guardgraph.grounding.names import find_unsupported_names
from guardgraph.grounding.values import find_unsupported_values
from guardgraph.guards.links import check_links
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.state.research import Note, ResearchPolicy

LONGEST_TITLE: Final = 80  # characters of a section's title: about a line


def parse_outline(raw: JsonValue, *, max_sections: int) -> list[str]:
    """Read the titles of sections."""
    if not isinstance(raw, dict):
        raise Stop("invalid_outline:not_object", details={"given": excerpt_value(raw)})
    proposed = raw.get("sections")
    if not isinstance(proposed, list) or not proposed:
        raise Stop("invalid_outline:sections", details={"given": excerpt_value(proposed)})
    if len(proposed) > max_sections:
        raise Stop("invalid_outline:too_many", details={"sections": len(proposed), "limit": max_sections})
    titles = list(map(_read_section_title, proposed))
    if twice := [
        title for at, title in enumerate(titles) if _fold_section_title(title) in map(_fold_section_title, titles[:at])
    ]:
        raise Stop("invalid_outline:title_twice", details={"title": twice[0]})
    return titles


def _read_section_title(item: JsonValue) -> str:
    if not isinstance(item, str) or not any(map(str.isalnum, item)):
        raise Stop("invalid_outline:title", details={"given": excerpt_value(item)})
    title = " ".join(item.split())
    if len(title) > LONGEST_TITLE:
        raise Stop("invalid_outline:title_too_long", details={"chars": len(title), "limit": LONGEST_TITLE})
    return title


def _fold_section_title(title: str) -> str:
    return title.casefold()


def check_outline(titles: Sequence[str], *, question: str, notes: Sequence[Note], policy: ResearchPolicy) -> None:
    """Check that the titles of an outline say nothing that neither the notes nor the question says."""
    said = [question, *(text for note in notes for text in (note["claim"], note["quote"], note["title"], note["url"]))]
    check_links(titles, "invalid_outline", cited=said, policy=policy, known_names=policy.known_names)
    headings = "\n\n".join(f"## {title}" for title in titles)
    if policy.check_values and (values := find_unsupported_values(headings, said)):
        raise Stop("invalid_outline:unsupported_number", unsupported=list(map(shown_name, values)))
    if policy.check_names and (names := find_unsupported_names(headings, said, policy.known_names)):
        raise Stop("invalid_outline:unsupported_name", unsupported=list(map(shown_name, names)))
