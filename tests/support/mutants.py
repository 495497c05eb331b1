"""How many single faults in a room's code its own quick tests find: ``make mutants ROOM=guards``.

A mutant has one fault in a function: a comparison is turned round, a `not` is dropped, a `raise` is gone, a number is
one more, or `None` is returned, though not in the place of `False`, which is no fault where truth alone counts. All are
compiled beside what they replace, and a switch says which one lives; no file is changed. The tests run once without
any, which tells which of them reach a mutant; then these run again, each mutant in a process of its own.
"""

import argparse
import ast
import builtins
import copy
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
REMEMBERING = type(cache(len))
QUICK = "not process and not heavy and not slow"
TESTED_BY = {"nodes": ["graphs"]}
"""Whose tests run a room's code, besides its own: a node runs in a graph alone."""
SWITCH = "__is_mutant__"
SEEDS = dict[int, dict[Any, Any]]()
"""What dictionaries that fill themselves had in the beginning, by their ids."""
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


class Mutant(NamedTuple):
    """A place in a file where something is wrong."""

    file: Path
    node: ast.AST
    told: str


def find_fault(node: ast.AST) -> tuple[str, ast.AST] | None:
    """Return what may be wrong in the place of a node: words for it, and the node that stands there instead."""
    wrong = copy.copy(node)
    if isinstance(node, ast.Compare) and isinstance(wrong, ast.Compare) and type(node.ops[0]) in TURNED:
        wrong.ops = [TURNED[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        wrong = node.operand
    elif isinstance(node, ast.Raise):
        wrong = ast.Pass()
    elif isinstance(node, ast.Constant) and type(node.value) is int and isinstance(wrong, ast.Constant):
        wrong.value = node.value + 1
    elif isinstance(wrong, ast.Return) and ast.unparse(wrong) not in ("return", "return None", "return False"):
        wrong.value = ast.Constant(None)
    else:
        return None
    return f"{ast.unparse(node)}  ->  {ast.unparse(wrong)}".replace("\n", " "), wrong


def list_places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: no annotation, which is a text, and no case of a match, which is no expression."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "pattern"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from list_places(child)


def draw_mutants(room: str, count: int, seed: int) -> tuple[list[Mutant], dict[Path, ast.Module]]:
    """Return mutants of a room's functions, each with another fault, drawn at random, and the trees of its files."""
    files = sorted((ROOT / "guardgraph" / room).rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    walked = ((file, node) for file, tree in trees.items() for node in ast.walk(tree))
    functions = [(file, node) for file, node in walked if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    nodes = {node: file for file, function in functions for inside in function.body for node in list_places(inside)}
    places = [Mutant(file, node, fault[0]) for node, file in nodes.items() if (fault := find_fault(node))]
    drawn = sorted(random.Random(seed).sample(range(len(places)), min(count, len(places))))
    return [places[at] for at in drawn], trees


class _AddFaults(ast.NodeTransformer):
    """Puts each fault beside what it replaces."""

    def __init__(self, numbers: dict[ast.AST, int]) -> None:
        self.numbers = numbers

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        fault = find_fault(node) if node in self.numbers else None
        if fault is None:
            return node
        switch = ast.Call(ast.Name(SWITCH, ast.Load()), [ast.Constant(self.numbers[node])], [])
        wrong = fault[1]
        if isinstance(node, ast.Raise) and isinstance(wrong, ast.stmt):
            return ast.copy_location(ast.If(switch, [wrong], [node]), node)
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = ast.IfExp(switch, ast.Constant(None), node.value)
        elif isinstance(node, ast.expr) and isinstance(wrong, ast.expr):
            return ast.copy_location(ast.IfExp(switch, wrong, node), node)
        return node


class Switch:
    """Says which mutant lives, and keeps which were asked about."""

    def __init__(self) -> None:
        self.living, self.reached = -1, set[int]()

    def is_living(self, number: int) -> bool:
        """Tell whether a mutant lives."""
        self.reached.add(number)
        return number == self.living


def import_with_faults(mutants: list[Mutant], trees: dict[Path, ast.Module], switch: Switch) -> None:
    """Let modules be imported with the faults in them."""
    add = _AddFaults({mutant.node: number for number, mutant in enumerate(mutants)})
    made = {str(file): ast.fix_missing_locations(add.visit(tree)) for file, tree in trees.items()}
    codes = {file: compile(tree, file, "exec") for file, tree in made.items()}
    read = SourceFileLoader.get_code
    SourceFileLoader.get_code = lambda loader, name: codes.get(loader.path) or read(loader, name)  # type: ignore
    setattr(builtins, SWITCH, switch.is_living)


class RunMutants:
    """A plugin that runs the tests as they are, and again for each mutant those that reach it, in some processes."""

    def __init__(self, switch: Switch, count: int, workers: int) -> None:
        self.switch, self.count, self.workers = switch, count, workers
        self.killed = set[int]()
        self.reached = list[tuple[float, Any, set[int]]]()
        """How long each test took, the test, and the mutants that it reached; the quickest first."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, and then with each mutant."""
        for at, item in enumerate(session.items):
            _forget_answers(tables=False)
            self.switch.reached, began = set(), time.monotonic()
            _run(item, session.items[at + 1] if at + 1 < len(session.items) else None)
            self.reached.append((time.monotonic() - began, item, self.switch.reached))
            if session.testsfailed:
                return True
        self.reached.sort(key=lambda each: each[0])
        waiting, running = list(range(self.count)), dict[int, int]()
        while waiting or running:
            while waiting and len(running) < self.workers:
                number = waiting.pop()
                running[self._start(number)] = number
            child, status = os.wait()
            number = running.pop(child)
            self.killed |= {number} if status else set()
        return True

    def _start(self, number: int) -> int:
        """Start a process that tries a mutant, whose status is 1 where a test fails, and return its id."""
        mine = [(took, item) for took, item, met in self.reached if number in met]
        if child := os.fork():
            return child
        try:
            signal.alarm(60 + int(5 * sum(took for took, _ in mine)))
            _forget_answers(tables=True)
            self.switch.living = number
            for at, (_, item) in enumerate(mine):
                _run(item, mine[at + 1][1] if at + 1 < len(mine) else None)
                if item.session.testsfailed:
                    os._exit(1)
            os._exit(0)
        finally:
            os._exit(1)


def _forget_answers(*, tables: bool) -> None:
    """Empty what functions of the product remember of texts, and tables too: what was made before has no fault."""
    modules = [vars(module) for name, module in [*sys.modules.items()] if name.partition(".")[0] == "guardgraph"]
    for item in [item for module in modules for item in module.values()]:
        cells = (item.__closure__ or ()) if isinstance(item, FunctionType) else ()
        for held in (item, *(cell.cell_contents for cell in cells if cell != CellType())):
            if isinstance(held, REMEMBERING) and (tables or held.cache_parameters()["maxsize"]):
                held.cache_clear()
            elif hasattr(type(held), "__missing__") and type(held).__module__.startswith("guardgraph."):
                before = SEEDS.setdefault(id(held), {**held})
                held.clear()
                held.update(before)


def _run(item: Any, following: Any) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def run_quietly(do: Callable[[], int]) -> int:
    """Do something whose output and that of its children nobody sees, and return what it returns."""
    streams = [(stream, os.dup(stream)) for stream in (1, 2)]
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    try:
        return do()
    finally:
        for stream, kept in streams:
            os.dup2(kept, stream)


def main() -> None:
    """Print the share of a room's mutants that its quick tests kill, and the survivors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("room")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    mutants, trees = draw_mutants(given.room, given.mutants, given.seed)
    lines = [getattr(mutant.node, "lineno", 0) for mutant in mutants]
    switch = Switch()
    import_with_faults(mutants, trees, switch)
    runs = RunMutants(switch, len(mutants), given.workers)
    rooms = [given.room, *TESTED_BY.get(given.room, ())]
    tests = [str(ROOT / "tests" / room) for room in rooms]
    if run_quietly(lambda: int(pytest.main(["-x", "-p", "no:cacheprovider", "-m", QUICK, *tests], plugins=[runs]))):
        sys.exit(f"the quick tests of {given.room} fail without a mutant: make unit ROOM={given.room}")
    share = 100 * len(runs.killed) / max(1, len(mutants))
    print(f"{given.room}: {len(runs.killed)} of {len(mutants)} mutants killed, {share:.0f} % (seed {given.seed})")
    for number in sorted({*range(len(mutants))} - runs.killed):
        print(f"  {mutants[number].file.relative_to(ROOT)}:{lines[number]}  {mutants[number].told}")


if __name__ == "__main__":
    main()
