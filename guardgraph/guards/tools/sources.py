"""Sources: what may license values of calls, each read once, in all the forms in which a value may stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from guardgraph.grounding.links import LinkSupport, read_link_support
from guardgraph.grounding.links.finding import list_licensed_links
from guardgraph.grounding.links.spelling import list_readings
from guardgraph.grounding.values import Value
from guardgraph.guards.tools.amounts import read_values
from guardgraph.guards.tools.leaves import list_leaves
from guardgraph.guards.tools.values import (
    FoldedText,
    compose_letters,
    find_accounts,
    fold_text,
    is_single_value,
    list_written_urls,
    squeeze_account,
)
from guardgraph.plain.json import JsonValue
from guardgraph.state.tools import Given

_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|(?<!\w)'([^'\n]{1,300})'(?!\w)|`([^`\n]{1,300})`"
    r"|“([^“”\n]{1,300})”|„([^„“\n]{1,300})“|«([^«»\n]{1,300})»"
)


class Source:
    """Something that may license values."""

    def __init__(self, name: str, value: JsonValue, is_text: bool, keys: Sequence[str] = ()) -> None:
        self.name, self.value, self.keys = name, value, tuple(keys)
        is_read = isinstance(value, str)
        self.words = value if is_read and is_text else ""
        """The text whose words license; "" where it has none."""
        self.leading = value if is_read and (is_text or is_single_value(value)) else ""
        """The text whose links and accounts license."""

    @cached_property
    def folded(self) -> FoldedText:
        """The words as they are looked for."""
        return fold_text(self.words)

    @cached_property
    def wholes(self) -> frozenset[str]:
        """What stands in it as a whole: itself, and what its writer put in quotation marks."""
        if not isinstance(self.value, str):
            return frozenset()
        text = compose_letters(self.value).strip()
        quoted = _QUOTED.finditer(compose_letters(self.words))
        return frozenset({text, *(part.strip() for match in quoted for part in match.groups() if part)})

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The typed values of the words."""
        return read_values(self.words) if self.words else ()

    @cached_property
    def links(self) -> LinkSupport:
        """The links, by where they lead."""
        return read_link_support(self.leading)

    @cached_property
    def urls(self) -> frozenset[str]:
        """The URLs as they are written."""
        readings = list_readings(self.leading) if self.leading else ()
        links = (link for reading in readings for link in list_licensed_links(reading))
        return frozenset(url for link in links for url in list_written_urls(link))

    @cached_property
    def accounts(self) -> frozenset[str]:
        """The account numbers, without what they are grouped by."""
        return frozenset(map(squeeze_account, find_accounts(self.leading))) if self.leading else frozenset()


def list_given_sources(given: Given) -> Iterator[Source]:
    """Yield what was given: the task, the user's turns, and what is known of the caller."""
    yield Source("task", given["task"], True)
    yield from (Source("history", turn["content"], True) for turn in given["history"] if turn["role"] == "user")
    yield from (Source("caller", leaf.value, False, leaf.keys) for leaf in list_leaves(given.get("caller")))
