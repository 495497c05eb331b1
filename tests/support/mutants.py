"""How many single faults in a room's code its own quick tests find: ``make mutants ROOM=guards``.

A mutant has one fault: a comparison is turned round, a `not` is dropped, a `raise` is gone, a number is one more, or
a function returns `None`. Each is tried in a process of its own, forked from one that has imported the libraries, and
no file is changed. Printed are the seed, the share that was killed, and where the survivors are.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
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
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
LIBRARIES = (hypothesis, langchain_core, langgraph)
"""What is imported once, for all."""


class Mutant(NamedTuple):
    """A file with one fault."""

    file: Path
    line: int
    told: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """The module's name."""
        parts = self.file.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def list_faults(node: ast.AST) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield what may be wrong in the place of a node: words for it, and the node that stands there instead."""
    wrong = copy.copy(node)
    if isinstance(node, ast.Compare) and isinstance(wrong, ast.Compare) and type(node.ops[0]) in TURNED:
        wrong.ops = [TURNED[type(node.ops[0])](), *node.ops[1:]]
        yield f"{ast.unparse(node)}  ->  {ast.unparse(wrong)}", wrong
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"{ast.unparse(node)}  ->  {ast.unparse(node.operand)}", node.operand
    elif isinstance(node, ast.Raise):
        yield f"{ast.unparse(node)}  ->  pass", ast.copy_location(ast.Pass(), node)
    elif isinstance(node, ast.Constant) and type(node.value) is int and isinstance(wrong, ast.Constant):
        wrong.value = node.value + 1
        yield f"{node.value}  ->  {wrong.value}", wrong
    elif isinstance(node, ast.Return) and node.value is not None and isinstance(wrong, ast.Return):
        wrong.value = ast.copy_location(ast.Constant(None), node)
        yield f"{ast.unparse(node)}  ->  return None", wrong


class _Replace(ast.NodeTransformer):
    def __init__(self, at: int, wrong: ast.AST | None) -> None:
        self.at, self.wrong, self.seen = at, wrong, -1

    def visit(self, node: ast.AST) -> Any:
        self.seen += 1
        return self.wrong if self.seen == self.at else self.generic_visit(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes in the order in which a transformer visits them."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def draw_mutants(room: str, count: int, seed: int) -> list[Mutant]:
    """Return mutants of a room's files, each with another fault, drawn at random."""
    places = []
    for file in sorted((ROOT / "guardgraph" / room).rglob("*.py")):
        for at, node in enumerate(_walk(ast.parse(file.read_text(encoding="utf-8")))):
            places += [(file, at, number) for number, _ in enumerate(list_faults(node))]
    drawn = random.Random(seed).sample(places, min(count, len(places)))
    return [_make(*place) for place in sorted(drawn)]


def _make(file: Path, at: int, number: int) -> Mutant:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node = [*_walk(tree)][at]
    told, wrong = [*list_faults(node)][number]
    changed = ast.fix_missing_locations(_Replace(at, wrong).visit(tree))
    return Mutant(file, getattr(node, "lineno", 0), told.replace("\n", " "), changed)


class _Loader(SourceFileLoader):
    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.name, str(mutant.file))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.mutant.tree, str(self.mutant.file), "exec")


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self.mutant.name:
            return None
        return spec_from_file_location(fullname, self.mutant.file, loader=_Loader(self.mutant))


def start_tests(room: str, mutant: Mutant | None, seconds: int) -> int:
    """Run a room's quick tests in a process of its own, until one fails, and return its id."""
    if child := os.fork():
        return child
    signal.alarm(seconds)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    if mutant:
        sys.meta_path.insert(0, _Finder(mutant))
    known = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins among what is imported already
    os._exit(pytest.main(["-x", "-p", "no:cacheprovider", *known, "-m", QUICK, str(ROOT / "tests" / room)]))


def list_survivors(room: str, mutants: list[Mutant], seconds: int, workers: int) -> list[Mutant]:
    """Return the mutants with which all tests pass."""
    waiting, running, survivors = [*mutants], {}, []
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop()
            running[start_tests(room, mutant, seconds)] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        survivors += [mutant] if status == 0 else []
    return sorted(survivors, key=lambda mutant: (mutant.file, mutant.line))


def main() -> None:
    """Print the share of a room's mutants that its quick tests kill, and the survivors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("room")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    began = time.monotonic()
    _, status = os.waitpid(start_tests(given.room, None, 3600), 0)
    if status:
        sys.exit(f"the quick tests of {given.room} fail without a mutant")
    took = time.monotonic() - began
    mutants = draw_mutants(given.room, given.mutants, given.seed)
    survivors = list_survivors(given.room, mutants, int(took * 3 * given.workers) + 60, given.workers)
    killed = len(mutants) - len(survivors)
    share = 100 * killed / max(1, len(mutants))
    print(f"{given.room}: {killed} of {len(mutants)} mutants killed, {share:.0f} % (seed {given.seed})")
    for mutant in survivors:
        print(f"  {mutant.file.relative_to(ROOT)}:{mutant.line}  {mutant.told}")


if __name__ == "__main__":
    main()
