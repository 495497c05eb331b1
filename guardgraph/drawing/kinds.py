"""How the kinds of nodes are drawn, one row for each: legend, shapes, colours and Mermaid text take them from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

DrawnKind: TypeAlias = Literal["start", "propose", "act", "review", "guard", "ok", "stop", "plain", "end"]
"""How a node looks; `plain` is one that the grammar did not make."""

Outline: TypeAlias = Literal["dot", "ring", "hexagon", "tray", "round", "rectangle"]
"""The shape: `tray` is wider above than below, `round` has half circles for its sides."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one kind is drawn."""

    words: str
    """In the legend."""
    mermaid: tuple[str, str]
    """Around a name in Mermaid text."""
    outline: Outline
    corner: float = 0.0
    """Radius of the corners of a rectangle, in CSS pixels."""
    double: bool = False
    """Whether there is a second line inside, which says that the run ends here."""
    light: tuple[str, str] | None = None
    """Filling and border on a light ground; None for what has no filling of its own."""
    dark: tuple[str, str] | None = None
    ink: str = "#1f2328"
    """Of the name in Mermaid text."""


LOOKS: Mapping[DrawnKind, Look] = MappingProxyType(
    {
        "start": Look("START", ("((", "))"), "dot"),
        "propose": Look("proposes", ("([", "])"), "round", light=("#fff3d1", "#b27a10"), dark=("#3a2c07", "#d9a62e")),
        "act": Look("acts", ("[", "]"), "rectangle", light=("#e5ebff", "#4c63d2"), dark=("#1a2550", "#8499ff")),
        "review": Look(
            "asks a person", ("[\\", "/]"), "tray", light=("#f6e3ff", "#9333c4"), dark=("#371a47", "#cf8cf5")
        ),
        "guard": Look("guard", ("{{", "}}"), "hexagon", light=("#dbf3f4", "#0b7f8f"), dark=("#07333b", "#37b9c9")),
        "ok": Look(
            "good ending",
            ("[[", "]]"),
            "rectangle",
            corner=9.0,
            double=True,
            light=("#def5e3", "#2b8a3e"),
            dark=("#10331a", "#4cc264"),
        ),
        "stop": Look(
            "stop",
            ("[/", "/]"),
            "rectangle",
            corner=9.0,
            double=True,
            light=("#fff0f0", "#d6545a"),
            dark=("#35161a", "#c9606a"),
            ink="#b02528",
        ),
        "plain": Look(
            "node", ("(", ")"), "rectangle", corner=5.0, light=("#f1f3f5", "#7a838c"), dark=("#21262d", "#8b949e")
        ),
        "end": Look("END", ("(((", ")))"), "ring"),
    }
)
"""Every kind, in the order of the legend."""

RARE: frozenset[DrawnKind] = frozenset({"review"})
"""Kinds that few pictures have: their colours stand in the pictures that show them alone."""
