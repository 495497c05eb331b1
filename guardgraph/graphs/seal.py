"""What the grammar put into a graph, kept beside it: the nodes' parts and what they share.

Whether they are still the same is for `verify` to say. It sees what was exchanged in a node or in a setting; a function
that was changed within, or a global that it reads, it does not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from guardgraph.graphs.frame import Frame
from guardgraph.graphs.node import GrammarNode
from guardgraph.state.settings import Settings

__all__ = ["Seal"]


class Seal:
    """The parts of a pattern's nodes as they were made.

    Args:
        nodes: by name.
        frame: what they share.
    """

    def __init__(self, nodes: Mapping[str, GrammarNode], frame: Frame) -> None:
        self.context = frame.context
        self._frame = frame
        self._nodes = {name: dict(vars(node)) for name, node in nodes.items()}
        self._shared = {field.name: _kept(getattr(frame, field.name)) for field in fields(frame)}

    def broken(self, name: str, node: GrammarNode) -> str | None:
        """Say in what a node is not the one that was made under its name, None where it is."""
        made, now = self._nodes.get(name), vars(node)
        if made is None or node.frame is not self._frame:
            return "was made for another pattern"
        changed = [part for part in made if now.get(part) is not made[part]]
        changed += [part for part, kept in self._shared.items() if not _same(getattr(node.frame, part), kept)]
        return f"does not have the {', '.join(changed)} that it was made with" if changed else None


def _kept(value: object) -> object:
    """Return a copy of what can be changed in place."""
    if isinstance(value, Settings):
        return value.model_copy()
    return dict(value) if isinstance(value, dict) else value


def _same(now: object, kept: object) -> bool:
    return now == kept if isinstance(kept, Settings | dict) else now is kept
