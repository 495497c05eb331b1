"""How pictures look: one style sheet for light and one for dark, without fonts or anything else from outside."""

from __future__ import annotations

__all__ = ["MONO", "SANS", "style_sheet"]

SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','DejaVu Sans',Arial,sans-serif"
MONO = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono','Courier New',monospace"

_LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "line": "#6b7681",
    "frame": "#d1d9e0",
    "propose": ("#fff3d1", "#b27a10"),
    "act": ("#e5ebff", "#4c63d2"),
    "guard": ("#dbf3f4", "#0b7f8f"),
    "ok": ("#def5e3", "#2b8a3e"),
    "stop": ("#fff0f0", "#d6545a"),
    "plain": ("#f1f3f5", "#7a838c"),
    "stopped": ("#c92a2a", "#ffffff"),
    "stop_ink": "#b02528",
    "ok_ink": "#237436",
}
_DARK = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9198a1",
    "line": "#8b949e",
    "frame": "#30363d",
    "propose": ("#3a2c07", "#d9a62e"),
    "act": ("#1a2550", "#8499ff"),
    "guard": ("#07333b", "#37b9c9"),
    "ok": ("#10331a", "#4cc264"),
    "stop": ("#35161a", "#c9606a"),
    "plain": ("#21262d", "#8b949e"),
    "stopped": ("#e5484d", "#ffffff"),
    "stop_ink": "#ffa3a6",
    "ok_ink": "#6bd681",
}
_KINDS = ("propose", "act", "guard", "ok", "stop", "plain")


def style_sheet(*, dark: bool | None = None) -> str:
    """Return the style sheet of a picture.

    Args:
        dark: the one for dark or for light surroundings; None for both, of which the reader's system takes one.
    """
    if dark is not None:
        return _SHAPES + _colours(_DARK if dark else _LIGHT)
    return f"{_SHAPES}{_colours(_LIGHT)}@media (prefers-color-scheme: dark) {{\n{_colours(_DARK)}}}\n"


_SHAPES = f"""\
.gg text {{ font-family: {MONO}; font-size: 13px; text-anchor: middle }}
.gg .chip text {{ font-size: 11px }}
.gg .sans {{ font-family: {SANS}; font-size: 12px; text-anchor: start }}
.gg .title {{ font-size: 16px; font-weight: 600 }}
.gg .edge {{ fill: none; stroke-width: 1.4 }}
.gg .fold {{ fill: none; stroke-width: 1.2 }}
.gg .bridge {{ fill: none; stroke-width: 7 }}
.gg .decided {{ stroke-dasharray: 5 4 }}
.gg .shape {{ stroke-width: 1.5 }}
.gg .inner {{ fill: none; stroke-width: 1 }}
.gg .taken .shape {{ stroke-width: 2.4 }}
.gg .taken .edge {{ stroke-width: 3 }}
.gg .taken .fold {{ stroke-width: 2.4 }}
.gg .faded {{ opacity: 0.32 }}
.gg .badge text {{ font-size: 11px; font-weight: 700 }}
"""


def _colours(palette: dict[str, str | tuple[str, str]]) -> str:
    stopped = palette["stopped"]
    rules = [
        f".gg .paper {{ fill: {palette['paper']}; stroke: {palette['frame']} }}",
        f".gg text {{ fill: {palette['ink']} }}",
        f".gg .rule {{ stroke: {palette['frame']} }}",
        f".gg .edge {{ stroke: {palette['line']} }}",
        f".gg .tip, .gg .dot {{ fill: {palette['line']}; stroke: {palette['line']} }}",
        f".gg .ring {{ fill: {palette['paper']}; stroke: {palette['line']} }}",
        f".gg .halo {{ fill: {palette['paper']} }}",
        *(f".gg .{kind} .shape {{ fill: {fill}; stroke: {line} }}" for kind, fill, line in _pairs(palette)),
        *(f".gg .{kind} .inner {{ stroke: {line} }}" for kind, _, line in _pairs(palette)),
        f".gg .fold {{ stroke: {palette['stop'][1]} }}",
        f".gg .stop .tip {{ fill: {palette['stop'][1]}; stroke: {palette['stop'][1]} }}",
        f".gg .stop text, .gg .stop_ink {{ fill: {palette['stop_ink']} }}",
        f".gg text.muted {{ fill: {palette['muted']} }}",
        f".gg .bridge {{ stroke: {palette['paper']} }}",
        f".gg .ok_ink {{ fill: {palette['ok_ink']} }}",
        f".gg .taken .edge {{ stroke: {palette['ink']} }}",
        f".gg .taken .tip, .gg .taken .dot {{ fill: {palette['ink']}; stroke: {palette['ink']} }}",
        f".gg .badge rect {{ fill: {palette['ink']} }}",
        f".gg .badge text {{ fill: {palette['paper']} }}",
        f".gg .stopping .shape {{ stroke: {stopped[0]}; stroke-width: 3 }}",
        f".gg .stop.taken .fold {{ stroke: {stopped[0]} }}",
        f".gg .stop.taken .tip {{ fill: {stopped[0]}; stroke: {stopped[0]} }}",
        f".gg .stop.taken .shape {{ fill: {stopped[0]}; stroke: {stopped[0]} }}",
        f".gg .stop.taken text {{ fill: {stopped[1]}; font-weight: 700 }}",
    ]
    return "".join(f"{rule}\n" for rule in rules)


def _pairs(palette: dict[str, str | tuple[str, str]]) -> list[tuple[str, str, str]]:
    return [(kind, palette[kind][0], palette[kind][1]) for kind in _KINDS]
