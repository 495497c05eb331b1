"""What is named by a string and opened when a live run begins: a model, later an index or a store.

Naming one reads no key and connects to nothing, so a graph can be built, drawn, proved and replayed without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from guardgraph.world.models import Opens
from guardgraph.world.proposers import Proposer

__all__ = ["held_by"]


def held_by(bodies: Iterable[Callable[..., Any] | None]) -> list[Opens]:
    """Return whom bodies may call that have to be opened: what they close over, each once."""
    held = [item for body in bodies for item in _around(body)]
    targets = [item.target if isinstance(item, Proposer) else item for item in held]
    return list(dict.fromkeys(item for item in targets if isinstance(item, Opens)))


def _around(body: Any) -> Iterator[Any]:
    if isinstance(body, partial):
        yield from (*body.args, *body.keywords.values())
        body = body.func
    for cell in getattr(body, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a cell that was never filled
            continue
