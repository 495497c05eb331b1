"""The two fronts, `guardgraph` and `guardgraph.grammar`: each name is declared once, cheap to reach, and documented."""

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from docs_parts import PAGES, ROOT, fences

import guardgraph
from guardgraph import grammar, testing

FRONTS = {"__init__.pyi": guardgraph, "grammar.pyi": grammar}
EVERY_FRONT = pytest.mark.parametrize(("stub", "front"), FRONTS.items(), ids=lambda item: getattr(item, "__name__", ""))


def _declared(stub):
    text = (Path(guardgraph.__file__).parent / stub).read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return [(item.asname, item.name, node.module) for node in imports for item in node.names]


def _shown_code():
    """Yield what the docs and examples show as code, and the headings of the docs."""
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            text = page.read_text(encoding="utf-8")
            yield from (fence.code for fence in fences(page) if fence.info.startswith("python"))
            yield from re.findall(r"(?<!`)`[^`\n]+`(?!`)|^#+ .*$", text, re.MULTILINE)
    for path in ROOT.glob("examples/**/*.py"):
        yield path.read_text(encoding="utf-8")
    for path in ROOT.glob("notebooks/*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            yield "".join(cell["source"]) if cell["cell_type"] == "code" else ""


def _loaded_by(statement):
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    return set(done.stdout.split())


def _defined_in(home):
    """Return the names that a module defines itself, or lists as those that it passes on."""
    module = import_module(home)
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    for target in (each for node in assigned for each in getattr(node, "targets", [getattr(node, "target", None)])):
        defined |= {target.id} if isinstance(target, ast.Name) else set()
    return {*defined, *getattr(module, "__all__", ())}


@EVERY_FRONT
def test_a_front_offers_what_its_stub_declares(stub, front):
    """Type checkers and programs find the same names, each the very thing that its home has."""
    declared = _declared(stub)
    assert sorted(name for name, _, _ in declared) == front.__all__
    for name, original, home in declared:
        assert name == original, "a front gives nothing another name"
        assert getattr(front, name) is getattr(import_module(home), name)
        assert name in _defined_in(home)


def test_a_name_stands_in_one_front():
    assert not {*guardgraph.__all__} & {*grammar.__all__}


@pytest.mark.parametrize("front", [guardgraph, grammar, testing], ids=lambda item: item.__name__)
def test_every_public_name_is_shown(front):
    shown = "\n".join(_shown_code())
    assert [name for name in front.__all__ if not re.search(rf"(?<![\w\"'/]){name}(?![\w\"'/])", shown)] == []


@EVERY_FRONT
def test_a_front_behaves_like_a_module(stub, front):
    assert {*front.__all__} <= {*dir(front)}
    everything = {}
    exec(f"from {front.__name__} import *", everything)
    assert {*front.__all__} <= {*everything}
    with pytest.raises(AttributeError, match=rf"module '{front.__name__}' has no attribute 'nothing'"):
        _ = front.nothing
    with pytest.raises(ImportError, match="nothing"):
        exec(f"from {front.__name__} import nothing")


def test_a_part_is_imported_at_the_cost_of_that_part():
    heavy = {"langgraph", "langchain_core", "openai", "pydantic", "graphlay", "resvg_py"}
    assert not heavy & _loaded_by("import guardgraph, guardgraph.grammar; guardgraph.__all__")
    assert not {"langgraph", "langchain_core", "openai"} & _loaded_by("from guardgraph.grammar import Stop, evidence")
    assert "langgraph" in _loaded_by("from guardgraph.grammar import Pattern")
