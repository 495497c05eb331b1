"""How many single faults in a room's code its own quick tests find: ``make mutants ROOM=guards``.

A mutant has one fault: a comparison is turned round, a `not` is dropped, a `raise` is gone, a number is one more, or
a function returns `None`, though not in the place of `False`, which is no fault where truth alone counts. All are
compiled beside what they replace, and a switch says which one lives; no file is changed. The tests run once without
any, which tells which of them reach a mutant; then these run again, each mutant in a process of its own. One that
lives when a module is imported has a process that imports it anew, and all tests.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import os
import pickle
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import hypothesis
import langchain_core.language_models
import langgraph.graph
import pytest

ROOT = Path(__file__).parents[2]
QUICK = "not process and not heavy and not slow"
SWITCH = "__is_mutant__"
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
LIBRARIES = (hypothesis, langchain_core, langgraph)
"""What is imported once, for all."""


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
    elif isinstance(wrong, ast.Return) and not (wrong.value is None or _says_no(wrong.value)):
        wrong.value = ast.Constant(None)
    else:
        return None
    return f"{ast.unparse(node)}  ->  {ast.unparse(wrong)}".replace("\n", " "), wrong


def _says_no(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def list_places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: no annotation, which is a text, and no case of a match, which is no expression."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "pattern"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from list_places(child)


def draw_mutants(room: str, count: int, seed: int) -> tuple[list[Mutant], dict[Path, ast.Module]]:
    """Return mutants of a room's files, each with another fault, drawn at random, and the trees in which they are."""
    files = sorted((ROOT / "guardgraph" / room).rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    places = [(file, node) for file, tree in trees.items() for node in list_places(tree) if find_fault(node)]
    drawn = sorted(random.Random(seed).sample(range(len(places)), min(count, len(places))))
    return [Mutant(*places[at], (find_fault(places[at][1]) or ("",))[0]) for at in drawn], trees


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


class _Finder(MetaPathFinder):
    """Imports modules with the faults in them."""

    def __init__(self, codes: dict[str, CodeType]) -> None:
        self.codes = codes

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname not in self.codes:
            return None
        file = self.codes[fullname].co_filename
        loader = _Loader(fullname, file, self.codes[fullname])
        packages = [str(Path(file).parent)] if file.endswith("__init__.py") else None
        return spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=packages)


class _Loader(SourceFileLoader):
    def __init__(self, name: str, file: str, code: CodeType) -> None:
        super().__init__(name, file)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class Switch:
    """Says which mutant lives, and keeps which were asked about."""

    def __init__(self, mutants: list[Mutant], trees: dict[Path, ast.Module]) -> None:
        self.living, self.reached = -1, set[int]()
        add = _AddFaults({mutant.node: number for number, mutant in enumerate(mutants)})
        codes = {
            _name_module(file): compile(ast.fix_missing_locations(add.visit(tree)), str(file), "exec")
            for file, tree in trees.items()
        }
        setattr(builtins, SWITCH, self.is_living)
        sys.meta_path.insert(0, _Finder(codes))

    def is_living(self, number: int) -> bool:
        """Tell whether a mutant lives."""
        self.reached.add(number)
        return number == self.living


def _name_module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Seen(NamedTuple):
    """What the tests showed: which mutants live on import, which were killed, and how all went without any."""

    imported: set[int]
    killed: set[int]
    seconds: float
    failed: list[str]
    """What failed as the code is."""


class _RunMutants:
    """A plugin that runs tests for each mutant that they reach, in processes of its own."""

    def __init__(self, switch: Switch, count: int, workers: int) -> None:
        self.switch, self.count, self.workers = switch, count, workers
        self.seen = Seen(set(), set(), 0.0, [])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep which test failed, and why."""
        self.seen.failed.extend([report.nodeid, str(report.longrepr)[-1000:]] if report.failed else [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, and then with each mutant."""
        imported = {*self.switch.reached}
        reached = list[tuple[float, Any, set[int]]]()
        for at, item in enumerate(session.items):
            self.switch.reached, began = set(), time.monotonic()
            _run(item, session.items[at + 1] if at + 1 < len(session.items) else None)
            reached.append((time.monotonic() - began, item, self.switch.reached))
            if session.testsfailed:
                return True
        reached.sort(key=lambda each: each[0])
        self.seen = self.seen._replace(imported=imported, seconds=sum(took for took, _, _ in reached))

        def start(number: int) -> int:
            mine = [(took, item) for took, item, met in reached if number in met]
            return _fork(60 + int(5 * sum(took for took, _ in mine)), lambda: self._try(number, mine))

        self.seen.killed.update(_kill([*range(self.count)], start, self.workers))
        return True

    def _try(self, number: int, mine: list[tuple[float, Any]]) -> int:
        self.switch.living = number
        for at, (_, item) in enumerate(mine):
            _run(item, mine[at + 1][1] if at + 1 < len(mine) else None)
            if item.session.testsfailed:
                return 1
        return 0


def _run(item: Any, following: Any) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _fork(seconds: int, do: Callable[[], int]) -> int:
    """Do something in a process of its own, whose status it returns, and return the id of that."""
    if child := os.fork():
        return child
    signal.alarm(seconds)
    try:
        os._exit(do())
    finally:
        os._exit(1)


def _kill(numbers: list[int], start: Callable[[int], int], workers: int) -> set[int]:
    """Return the mutants with which a test failed."""
    waiting, running, killed = [*numbers], dict[int, int](), set[int]()
    while waiting or running:
        while waiting and len(running) < workers:
            number = waiting.pop()
            running[start(number)] = number
        child, status = os.wait()
        number = running.pop(child)
        killed |= {number} if status else set()
    return killed


def _run_pytest(room: str, *plugins: Any) -> int:
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    known = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins among what is imported already
    given = ["-x", "-p", "no:cacheprovider", *known, "-m", QUICK, str(ROOT / "tests" / room)]
    return int(pytest.main(given, plugins=plugins))


def try_mutants(room: str, switch: Switch, count: int, workers: int) -> set[int]:
    """Return the numbers of the mutants that the tests of a room kill."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seen"

        def survey() -> int:
            plugin = _RunMutants(switch, count, workers)
            status = _run_pytest(room, plugin)
            file.write_bytes(pickle.dumps(plugin.seen))
            return status

        status = os.waitpid(_fork(24 * 3600, survey), 0)[1]
        seen: Seen = pickle.loads(file.read_bytes())
        if status:
            sys.exit("\n".join([f"the quick tests of {room} fail without a mutant", *seen.failed]))

    def start(number: int) -> int:
        switch.living = number
        return _fork(60 + int(3 * workers * seen.seconds), lambda: _run_pytest(room))

    return seen.killed | _kill(sorted(seen.imported - seen.killed), start, workers)


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
    killed = try_mutants(given.room, Switch(mutants, trees), len(mutants), given.workers)
    share = 100 * len(killed) / max(1, len(mutants))
    print(f"{given.room}: {len(killed)} of {len(mutants)} mutants killed, {share:.0f} % (seed {given.seed})")
    for number in sorted({*range(len(mutants))} - killed):
        print(f"  {mutants[number].file.relative_to(ROOT)}:{lines[number]}  {mutants[number].told}")


if __name__ == "__main__":
    main()
