"""`make unit ROOM=guards` runs the tests of one room of the package, and no list says which these are.

Within a room, too, imports run one way.
"""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter

import pytest
from rooms import PACKAGE, ROOT, layers, rooms_of

FILES = sorted((ROOT / "tests").glob("test_*.py"))


def test_every_room_has_tests():
    """Each package inside guardgraph is a room, and some file is of it."""
    packages = {file.parent.name for file in (ROOT / "guardgraph").glob("*/__init__.py")}
    assert layers().keys() == packages
    assert set().union(*map(rooms_of, FILES)) == packages


@pytest.mark.parametrize(
    ("file", "rooms"),
    [
        ("test_rag_guards", {"guards"}),  # imports guards alone
        ("test_critique_guards", {"guards"}),  # languages are below
        ("test_facts_rewrites", {"guards"}),  # by a helper, in another folder
        ("test_rag_stops", {"graphs"}),  # by a name of the front
        ("test_web_runs", {"graphs", "web"}),  # by its name too
        ("test_testing", {"testing", "world"}),  # by its name alone: doubles are in every room's tests
        ("test_types", set()),
    ],
)
def test_a_file_is_of_the_highest_room_that_it_imports(file, rooms):
    """It tests that room and stands on those below; helpers and fronts are looked through."""
    assert rooms_of(ROOT / "tests" / f"{file}.py") >= rooms
    assert len(rooms_of(ROOT / "tests" / f"{file}.py")) == len(rooms)


def test_a_room_that_there_is_not_is_refused_with_the_names_of_those_that_are(pytestconfig):
    """The error names every room, so that a slip is put right at once."""
    from conftest import pytest_configure

    class Asked:
        getoption = staticmethod({"--room": "guard"}.get)

    with pytest.raises(pytest.UsageError, match=r"no such room: 'guard'; the rooms are cli, desk, drawing, .*, world$"):
        pytest_configure(Asked)


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
