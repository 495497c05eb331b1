"""Which test files are those of a room of the package: ``make unit ROOM=guards`` runs them alone.

Nobody keeps a list. A file is of the highest room that it imports, itself or by its helpers, as the contract on layers
in pyproject.toml stacks the rooms: it tests that room, and stands on those below. A front's name counts as its home. A
file is also of the room whose name it bears: test_web_runs.py is of `web`. The doubles of `testing` are every room's,
so only its name makes a file one of that room.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "guardgraph"
DOUBLES = "testing"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
HELPERS = [ROOT / "tests", *(ROOT / folder for folder in PROJECT["pytest"]["ini_options"]["pythonpath"])]
"""Folders of what tests import beside the package."""


def stacked() -> list[list[str]]:
    """Return the rooms of the package as the import contract has them: a list for each layer, the highest first."""
    contracts = PROJECT["importlinter"]["contracts"]
    [layers] = (given["layers"] for given in contracts if given["type"] == "layers" and "containers" not in given)
    return [[name.strip().removeprefix("guardgraph.") for name in layer.split("|")] for layer in layers]


@cache
def layers() -> dict[str, int]:
    """Return how far each room stands from the front, which is 0."""
    return {room: at for at, layer in enumerate(stacked()) for room in layer if (PACKAGE / room).is_dir()}


def rooms_of(file: Path) -> frozenset[str]:
    """Return the rooms that a test file is of: the highest that it imports, and the one whose name it bears."""
    imported = {room for room in _imported(file.stem) if room != DOUBLES}
    highest = min((layers()[room] for room in imported), default=None)
    named = {room for room in layers() if f"{file.stem}_".startswith(f"test_{room}_")}
    return frozenset(named | {room for room in imported if layers()[room] == highest})


def _imported(module: str) -> frozenset[str]:
    """Return the rooms that a module of the tests imports, and those of the helpers that it imports."""
    seen, waiting = set(), [module]
    rooms = set()
    while waiting:
        helper = waiting.pop()
        if helper in seen:
            continue
        seen.add(helper)
        names = _names(helper)
        rooms |= {name.split(".")[1] for name in names if name.startswith("guardgraph.")} & layers().keys()
        waiting += [name.partition(".")[0] for name in names]
    return frozenset(rooms)


@cache
def _names(module: str) -> frozenset[str]:
    """Return what a module of the tests imports, as dotted names; nothing if the tests have no such module."""
    files = [file for folder in HELPERS for kind in (f"{module}.py", f"{module}/*.py") for file in folder.glob(kind)]
    names = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_bytes()))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{name.name}" for name in node.names}
    return frozenset(_homes().get(name, name) for name in names)


@cache
def _homes() -> dict[str, str]:
    """Return the home of every name that a front offers, as the fronts' stubs declare them."""
    homes = {}
    for front, stub in (("guardgraph", "__init__.pyi"), ("guardgraph.grammar", "grammar.pyi")):
        for node in ast.parse((PACKAGE / stub).read_bytes()).body:
            if isinstance(node, ast.ImportFrom):
                homes |= {f"{front}.{name.name}": f"{node.module}.{name.name}" for name in node.names}
    return homes
