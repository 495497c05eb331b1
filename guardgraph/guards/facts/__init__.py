"""Facts as values: what a text claims, what a context supports, and what is claimed without support.

Numbers are values with units; severities, incident ids and regions are sets. What counts the parts of a text
(list markers, citations, "Step 3") is no number, but a count of what an answer itself lists ("two commitments")
is a claim like any other. The guards of all patterns ask the same way::

    missing = unsupported(facts_in_text(answer), facts_in_text(chunk) | facts_in_text(question))
    if missing:
        raise Stop("invalid_answer:unsupported_number", unsupported=missing.all())
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain

from guardgraph.guards.facts.answers import list_contradicted_numbers, list_unexcused_numbers
from guardgraph.guards.facts.numbers import read_text_numbers
from guardgraph.guards.facts.references import (
    DEFAULT_REGIONS,
    NO_KEY,
    Meaning,
    find_incident_id_facts,
    find_region_facts,
    find_severity_facts,
    read_json_number,
    read_number_meaning,
)
from guardgraph.guards.facts.spelling import drop_invisible_characters, read_column_rates, write_column_nouns
from guardgraph.guards.facts.values import (
    Given,
    Number,
    NumberLicence,
    Undated,
    collect_undated_days,
    index_licensed_numbers,
    unite_undated_days,
)
from guardgraph.guards.stop import shown_name
from guardgraph.plain.json import JsonValue
from guardgraph.plain.memory import remember_by_text

__all__ = [
    "DEFAULT_IGNORED",
    "DEFAULT_REGIONS",
    "Facts",
    "Unsupported",
    "facts_in_json",
    "facts_in_text",
    "facts_in_texts",
    "unsupported",
    "unsupported_of_answer",
]

DEFAULT_IGNORED = ("policy_hints", "limits")
"""Keys of a context that hold settings, not facts."""

KNOWN_TEXTS = 256
KNOWN_TEXT_CHARS = 2500
"""How many texts are kept with their facts, and how long each may be: 4 MB of ordinary texts, 60 MB of mere numbers."""

KNOWN_CONTEXTS = 32
KNOWN_CONTEXT_CHARS = 10_000
"""How many contexts are kept with their facts, and how long the JSON text of each may be."""


@dataclass(frozen=True)
class Facts:
    """What a text or a context says."""

    numbers: frozenset[Number] = frozenset()
    severities: frozenset[str] = frozenset()
    """Normalised: "P0" to "P5", "SEV0" to "SEV5"."""
    incident_ids: frozenset[str] = frozenset()
    """As written; compared without regard to case."""
    regions: frozenset[str] = frozenset()
    """As in the policy list."""
    implied: frozenset[Number] = frozenset()
    """Numbers said in passing ("every hour", the "2." of a list): they license, and are not checked."""
    numerals: frozenset[Number] = frozenset()
    """Roman numerals of names ("Henry VIII"): unsupported only where the name stands there with other numbers."""
    undated: frozenset[Undated] = frozenset()
    """The days without a year of each source, with the years that the source names elsewhere."""
    _joined: tuple[Facts, ...] = field(default=(), repr=False, compare=False)
    """Of which these are all: what each of them licenses is found out once."""

    def __or__(self, other: Facts) -> Facts:
        return _unite_facts((self, other), self.undated | other.undated)

    def includes(self, other: Facts) -> bool:
        """Say whether every fact of another stands here just so; where not, it may still be licensed."""
        return (
            other.numbers <= self.numbers
            and other.severities <= self.severities
            and other.incident_ids <= self.incident_ids
            and other.regions <= self.regions
            and not other.numerals
        )

    @property
    def parts(self) -> tuple[Facts, ...]:
        """Facts that are these together, each of one text as a rule."""
        return self._joined or (self,)

    @cached_property
    def licence_keys(self) -> Given:
        """What the numbers license."""
        return index_licensed_numbers(self.numbers | self.implied | self.numerals)


_NO_FACTS = Facts()
"""Most texts of a context have none."""


@dataclass(frozen=True)
class Unsupported:
    """Claimed facts that nothing licenses, as written, sorted. False when there are none."""

    numbers: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    incident_ids: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.severities or self.incident_ids or self.regions)

    def all(self) -> list[str]:
        """Every unsupported fact in one sorted list: the evidence of a stop."""
        return sorted({*self.numbers, *self.severities, *self.incident_ids, *self.regions})


def facts_in_text(text: str, *, regions: Collection[str] = DEFAULT_REGIONS) -> Facts:
    """Read the facts of a text.

    Args:
        text: any text, also what a model wrote.
        regions: the names that count as regions (policy); case matters.
    """
    return _read_text_facts(text, _sort_region_names(regions))


def facts_in_texts(
    texts: Iterable[str], *, dated_by: Iterable[str] = (), regions: Collection[str] = DEFAULT_REGIONS
) -> Facts:
    """Read the facts of the texts of one source, such as its title and its body.

    No fact runs from one text into the next, but a day may have its year from another one of them. An amount in a table
    is also the rate that the heading of its column says.

    Args:
        texts: the texts.
        dated_by: texts that say of which year the source is, and license nothing else.
        regions: the names that count as regions (policy); case matters.
    """
    listed = _sort_region_names(regions)
    read = [write_column_nouns(text) for text in texts]
    read += [rates for text in read if (rates := read_column_rates(text))]
    facts = [_read_text_facts(text, listed) for text in read]
    return _unite_source_facts([*facts, *(Facts(undated=_read_text_facts(text, listed).undated) for text in dated_by)])


def _sort_region_names(regions: Collection[str]) -> tuple[str, ...]:
    return regions if isinstance(regions, tuple) else tuple(sorted(regions))


@remember_by_text(texts=KNOWN_TEXTS, chars=KNOWN_TEXT_CHARS)
def _read_text_facts(text: str, regions: tuple[str, ...]) -> Facts:
    text = drop_invisible_characters(text)
    severities, unlabelled = find_severity_facts(text)
    incident_ids, unnamed = find_incident_id_facts(unlabelled)
    numbers, implied, numerals = read_text_numbers(unnamed)
    named = find_region_facts(text, regions)
    if numbers or severities or incident_ids or named or implied or numerals:
        return Facts(numbers, severities, incident_ids, named, implied, numerals, collect_undated_days(numbers))
    return _NO_FACTS


def _unite_source_facts(facts: Iterable[Facts]) -> Facts:
    some = [each for each in facts if each is not _NO_FACTS]
    if len(some) < 2:
        return some[0] if some else _NO_FACTS
    return _unite_facts(some, unite_undated_days(chain.from_iterable(each.undated for each in some)))


def _unite_facts(some: Sequence[Facts], undated: frozenset[Undated]) -> Facts:
    return Facts(
        frozenset().union(*[each.numbers for each in some]),
        frozenset().union(*[each.severities for each in some]),
        frozenset().union(*[each.incident_ids for each in some]),
        frozenset().union(*[each.regions for each in some]),
        frozenset().union(*[each.implied for each in some]),
        frozenset().union(*[each.numerals for each in some]),
        undated,
        tuple(part for each in some for part in each.parts),
    )


def facts_in_json(
    value: JsonValue, *, regions: Collection[str] = DEFAULT_REGIONS, ignore: Collection[str] = DEFAULT_IGNORED
) -> Facts:
    """Read the facts of a context: every string, key and number, the key giving a number its unit.

    Args:
        value: any JSON value, of any depth.
        regions: the names that count as regions (policy); case matters.
        ignore: keys that are left out with all below them, at any depth.

    Returns:
        The facts: ``{"eta_minutes": 45}`` says 45 minutes, ``{"affected_pct": 27}`` and
        ``{"failure_rate": 0.27}`` say 27 %.
    """
    names, unread = _sort_region_names(regions), frozenset(ignore)
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):  # no JSON, or nested without end
        return _read_json_facts(value, names, unread)
    if len(text) > KNOWN_CONTEXT_CHARS:
        return _read_json_facts(value, names, unread)
    return _read_json_text_facts(text, names, unread)


@lru_cache(maxsize=KNOWN_CONTEXTS)
def _read_json_text_facts(text: str, regions: tuple[str, ...], ignore: frozenset[str]) -> Facts:
    """Read a context that several guards of a run read, by its text: it is read again when anything in it changed."""
    return _read_json_facts(json.loads(text), regions, ignore)


def _read_json_facts(value: JsonValue, regions: tuple[str, ...], ignore: frozenset[str]) -> Facts:
    found: set[Number] = set()
    texts: set[str] = set()
    for leaf, meaning in _walk_fact_leaves(value, ignore):
        number = read_json_number(leaf, meaning)
        if number:
            found.add(number)
        elif isinstance(leaf, str):
            texts.add(leaf)
    numbers = frozenset(found)
    said = Facts(numbers=numbers, undated=collect_undated_days(numbers)) if numbers else _NO_FACTS
    return _unite_source_facts([said, facts_in_texts(texts, regions=regions)])


def _walk_fact_leaves(value: JsonValue, ignore: frozenset[str]) -> Iterator[tuple[JsonValue, Meaning]]:
    """Walk without recursion, since a JSON value may be nested deeper than the stack; keys are leaves too."""
    rest: list[tuple[JsonValue, Meaning]] = [(value, NO_KEY)]
    while rest:
        item, meaning = rest.pop()
        if isinstance(item, dict):
            kept = [(key, child) for key, child in item.items() if key not in ignore]
            rest += [(child, read_number_meaning(key) if isinstance(key, str) else NO_KEY) for key, child in kept]
            yield from ((key, NO_KEY) for key, _ in kept)
        elif isinstance(item, list | tuple):
            rest += [(child, meaning) for child in item]
        else:
            yield item, meaning


def unsupported(claimed: Facts, licence: Facts) -> Unsupported:
    """Compare what is claimed with what may be said.

    A bare number is licensed by the same amount, bare or with any unit; a number with a unit by the same unit
    (60 minutes license 1 hour) or by a bare number; a date also licenses its month and its year (see `values`).
    The rest is compared as sets.
    """
    return _compare_facts(claimed, licence, list_unsupported_numbers(claimed, licence))


def list_unsupported_numbers(claimed: Facts, licence: Facts) -> list[Number]:
    """Return the numbers of which no meaning is licensed."""
    # Every number licenses itself; only what is put differently needs to be looked up.
    said = licence.numbers | licence.implied | licence.numerals
    differently = (claimed.numbers | claimed.numerals) - said
    if not differently:
        return []
    allowed = NumberLicence([each for part in licence.parts if (each := part.licence_keys)], licence.undated)
    return [number for number in differently if not allowed.covers_number(number)]


def _compare_facts(claimed: Facts, licence: Facts, missing: Iterable[Number]) -> Unsupported:
    known_ids = {name.casefold() for name in licence.incident_ids}
    return Unsupported(
        numbers=_show_unsupported_facts([number.shown for number in missing]),
        severities=_show_unsupported_facts(claimed.severities - licence.severities),
        incident_ids=_show_unsupported_facts(
            [name for name in claimed.incident_ids if name.casefold() not in known_ids]
        ),
        regions=_show_unsupported_facts(claimed.regions - licence.regions),
    )


def unsupported_of_answer(
    answer: str,
    licence: Facts,
    *,
    texts: Collection[str],
    documents: int = 0,
    derive: bool = True,
    regions: Collection[str] = DEFAULT_REGIONS,
) -> Unsupported:
    """Compare the facts of an answer with what may be said, as an answer says it in its own words.

    An answer counts and numbers what it speaks of ("two fighters", "The second is …", "Document 2"), and says what
    follows from its sources ("over £1.5 million"). Both hold for answers alone: a claim of a note must stand in its
    quote, and a draft in its context.

    Args:
        answer: its text.
        licence: the facts of what it cites, and of the question.
        texts: what it cites, to be read again where something is missing.
        documents: how many documents its writer was shown; "Document 3" names one of them.
        derive: whether it may say what follows from what it cites.
        regions: as for `facts_in_text`.
    """
    claimed = facts_in_text(answer, regions=regions)
    missing = list_unsupported_numbers(claimed, licence)
    if missing:
        missing = list_unexcused_numbers(answer, missing, texts=texts, documents=documents, derive=derive)
    missing += list_contradicted_numbers(answer, texts)
    return _compare_facts(claimed, licence, missing)


def _show_unsupported_facts(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted({shown_name(name) for name in names})) if names else ()
