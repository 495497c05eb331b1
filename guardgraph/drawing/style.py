"""How pictures look: a row for each kind of node, one style sheet for light and one for dark, nothing from outside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from types import MappingProxyType
from typing import Literal, TypeAlias

DrawnKind: TypeAlias = Literal["start", "propose", "act", "review", "guard", "ok", "stop", "plain", "end"]
"""How a node looks; `plain` is one that the grammar did not make."""

Outline: TypeAlias = Literal["dot", "ring", "hexagon", "tray", "round", "rectangle"]
"""The shape: `tray` is wider above than below, `round` has half circles for its sides."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one kind is drawn."""

    words: str  # in the legend
    mermaid: tuple[str, str]  # around a name in Mermaid text
    outline: Outline
    corner: float = 0.0  # radius of the corners of a rectangle, in CSS pixels
    double: bool = False  # whether there is a second line inside, which says that the run ends here
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
        "ok": Look("good ending", ("[[", "]]"), "rectangle", 9.0, True, ("#def5e3", "#2b8a3e"), ("#10331a", "#4cc264")),
        "stop": Look(
            "stop", ("[/", "/]"), "rectangle", 9.0, True, ("#fff0f0", "#d6545a"), ("#35161a", "#c9606a"), ink="#b02528"
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

SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','DejaVu Sans',Arial,sans-serif"
MONO = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono','Courier New',monospace"

_COLOURS = {  # on a light ground, and on a dark one
    "paper": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "line": ("#6b7681", "#8b949e"),
    "frame": ("#d1d9e0", "#30363d"),
    "stopped": ("#c92a2a", "#d63a3f"),
    "stop_ink": ("#b02528", "#ffa3a6"),
    "ok_ink": ("#237436", "#6bd681"),
    "newer": ("#bc4c00", "#ffa657"),  # of what the later of two runs took alone
}


def write_style_sheet(drawn: Iterable[DrawnKind], *, dark: bool | None = None, beside: bool = False) -> str:
    """Return the style sheet of a picture."""
    left_out, shapes = RARE - {*drawn}, _read_sheet()["shapes"].substitute(mono=MONO, sans=SANS)
    if dark is not None:
        return shapes + _write_colour_rules(dark, left_out, beside)
    light, night = (_write_colour_rules(is_dark, left_out, beside) for is_dark in (False, True))
    return f"{shapes}{light}@media (prefers-color-scheme: dark) {{\n{night}}}\n"


def list_picture_colours(*, dark: bool) -> dict[str, str]:
    """Return the colours by their names, a kind's border as ``kind-line``, for what stands around a picture."""
    named, kinds = {name: pair[dark] for name, pair in _COLOURS.items()}, _list_kind_colours(dark)
    borders = {f"{kind}-line": border for kind, (_, border) in kinds.items()}
    return {**named, **{kind: fill for kind, (fill, _) in kinds.items()}, **borders}


def _list_kind_colours(dark: bool) -> dict[DrawnKind, tuple[str, str]]:
    looks = {kind: look.dark if dark else look.light for kind, look in LOOKS.items()}
    return {kind: colours for kind, colours in looks.items() if colours}


@cache
def _read_sheet() -> dict[str, Template]:
    """Return the parts of the sheet: shapes, colours, and those of a run that waits, and of two beside each other."""
    text = (resources.files("guardgraph.drawing") / "picture.css").read_text(encoding="utf-8")
    _, *parts = re.split(r"/\* (\w+) \*/\n", text)
    return {name: Template(part) for name, part in zip(parts[::2], parts[1::2], strict=True)}


def _write_colour_rules(dark: bool, left_out: frozenset[DrawnKind], beside: bool) -> str:
    kinds = {kind: colours for kind, colours in _list_kind_colours(dark).items() if kind not in left_out}
    rules = [f".gg .{kind} .shape {{ fill: {fill}; stroke: {border} }}" for kind, (fill, border) in kinds.items()]
    rules += [f".gg .{kind} .inner {{ stroke: {border} }}" for kind, (_, border) in kinds.items()]
    named = {name: pair[dark] for name, pair in _COLOURS.items()} | {
        kind: border for kind, (_, border) in kinds.items()
    }
    # few pictures have a run that waits, or two
    parts = ["colours", *(["waiting"] if "review" in kinds else []), *(["beside"] if beside else [])]
    return "".join(_read_sheet()[part].substitute(named, kinds="\n".join(rules)) for part in parts)
