"""Packs of restricted claims as a policy names them: shipped ones by name, a deployment's own as data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from guardgraph.state.tightening import Tightens, explain_unknown_name

SHIPPED_PACKS: Final = ("guarantees", "closures")
MOST_PACKS: Final = 100

_CLASS = re.compile(r"\{([^{}]*)\}")


@with_config(ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True))
class ClaimPack(TypedDict):
    """Phrases that make claims of one kind, and what licenses them."""

    name: str
    phrases: list[str]
    """Words with blanks between them. ``a|b`` is one or the other, ``{class}`` one of `words`, ``a?`` may be absent,
    ``#`` stands for a number, ``*`` for a word, ``…`` for up to six, ``$`` for the end of a clause; ``^`` stands before
    the word where the claim itself begins."""
    words: NotRequired[dict[str, str]]
    """Classes of words by their names: all inflections, blanks between them."""
    exceptions: NotRequired[list[str]]
    """Phrases in which a claim's words mean something else."""
    licensed_by_statuses: NotRequired[list[str]]
    """What the status of an incident says where it licenses the claims, in any case."""
    licensed_by_context: NotRequired[bool]
    """Whether a text of the context that makes such a claim licenses it, where `avoid_absolute_guarantees` is off."""


def _validate_packs(value: Sequence[str | ClaimPack]) -> Sequence[str | ClaimPack]:
    if len(value) > MOST_PACKS:
        raise ValueError(f"at most {MOST_PACKS} packs are allowed")
    names = [pack if isinstance(pack, str) else pack["name"] for pack in value]
    for pack, name in zip(value, names, strict=True):
        if (problem := next(_find_pack_problems(pack), None)) is not None:
            raise ValueError(problem)
        if names.count(name) > 1:
            raise ValueError(f"one pack of each name is required; given: {name!r:.80} twice")
    return value


def _find_pack_problems(pack: str | ClaimPack) -> Iterator[str]:
    if isinstance(pack, str):
        if (problem := explain_unknown_name(pack, SHIPPED_PACKS)) is not None:
            yield problem
        return
    if not pack["name"].strip() or pack["name"] in SHIPPED_PACKS:
        yield f"a name of its own is required; given: {pack['name']!r:.80}"
    classes = pack.get("words", {})
    for phrase in (*pack["phrases"], *pack.get("exceptions", ())):
        if not phrase.strip(" ^"):
            yield f"a phrase of {pack['name']!r:.80} is blank"
        for name in _CLASS.findall(phrase):
            if not classes.get(name, "").strip():
                yield f"{phrase!r:.80}: there is no class {name!r:.80} of words"


def _unite_packs(ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[Any, ...]:
    return (*ours, *(pack for pack in theirs if pack not in ours))


ClaimPacks: TypeAlias = Annotated[
    tuple[str | ClaimPack, ...], Tightens("union", _unite_packs, _validate_packs, of_entries=True)
]
"""Packs that hold: names of shipped ones, or packs; both lists hold."""
