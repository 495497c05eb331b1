"""The rooms of the package: tests lie as they do, and within a room, too, imports run one way."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "guardgraph"
BESIDE = {"repository", "soak"}
"""Folders of tests that are of no room: those of docs, examples and the whole package, and those that take minutes."""


def test_tests_lie_where_their_rooms_do():
    """Each room of the package has a folder of tests by its name, and no test lies elsewhere."""
    rooms = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    tests = ROOT / "tests"
    assert {str(file.parent.relative_to(tests)) for file in tests.rglob("test_*.py")} == rooms | BESIDE


def test_no_module_imports_itself_by_others():
    """Not for its types either: what two modules need of each other stands in a third."""
    files = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in PACKAGE.rglob("*.py")}
    imported = {name: {*_imported_modules(ast.parse(file.read_bytes()).body)} for name, file in files.items()}
    assert [*TopologicalSorter({name: others & files.keys() for name, others in imported.items()}).static_order()]


def _imported_modules(statements):
    """Yield what statements import when their module is, or when a type checker reads it."""
    for statement in statements:
        if isinstance(statement, ast.ImportFrom):
            yield statement.module
            yield from (f"{statement.module}.{name.name}" for name in statement.names)
        elif isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.If | ast.Try):
            yield from _imported_modules([*statement.body, *statement.orelse])
