"""The documentation is true: its examples run, its links lead somewhere, its tables are those of the code."""

import ast
import io
import json
import re
import runpy
import shlex
import sys
from contextlib import closing, redirect_stdout
from itertools import pairwise
from pathlib import Path
from shutil import copy2, copytree

import pytest
from cli_runs import empty_folder, run
from docs_parts import (
    MADE,
    MADE_PART,
    PAGES,
    PICTURES,
    ROOT,
    SETTING_PAGES,
    SETTINGS,
    anchors,
    fences,
    find_named,
    list_commands,
    renewed,
    stacked,
)
from markdown_it import MarkdownIt

import guardgraph
from guardgraph import grammar
from guardgraph.evidence.strict_json import format_document_text
from guardgraph.graphs.catalogues import CATALOGUES
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.tools.knowledge_base import demo_documents

OWN_PATTERN = ROOT / "docs" / "own_pattern.md"
SHELL = ("bash", "console")
STRICT = """
from langgraph.graph import END, START, StateGraph

from guardgraph import RagBudget, answer_guard, create_rag_agent


def strict():
    return create_rag_agent(budget=RagBudget(min_chunk_score=0.9))


def graph():
    builder = StateGraph(dict)
    builder.add_node("generate", lambda state: {"answer": "Refunds take 10 days."})
    builder.add_node("answer_guard", answer_guard(ok=END, refused="apologise"))
    builder.add_node("apologise", lambda state: {"answer": "I do not know."})
    builder.add_edge(START, "generate")
    builder.add_edge("generate", "answer_guard")
    builder.add_edge("apologise", END)
    return builder.compile()
"""
SERVED = "python served"
"""Blocks that ask a server; test_serving.py runs them, and the commands that start it."""
MODULES = ("triage", "my_agents", "office")
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")


def _python(page):
    return [fence for fence in fences(page) if fence.info.partition(" ")[0] == "python"]


def _shell_lines():
    for page in PAGES:
        for fence in fences(page):
            if fence.info in SHELL:
                yield from (line.removeprefix("$ ") for line in fence.code.splitlines() if line.strip())


def _commands():
    return sorted({line for line in _shell_lines() if line.startswith("guardgraph ")})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of `reader`, made once."""
    folder = tmp_path_factory.mktemp("files")
    with closing(guardgraph.sql_store(f"sqlite:///{folder}/kept.db")) as store:
        asked = {"question": "What is the P1 first response target?"}
        result = guardgraph.create_rag_agent(recorder=store).invoke(asked)
        document = format_document_text(guardgraph.export_run(store, result["run_id"]))
    result.pop("audit")
    row = {"answer": "Refunds take 10 days.", "sources": ["Refunds take 10 days."]}
    blocks = [
        fence.code for fence in _python(OWN_PATTERN) if fence.code.startswith(('"""Ticket triage', "# triage.py"))
    ]
    (folder / "policies").mkdir()
    for name, text in {
        "my_agents.py": STRICT,
        "run.json": json.dumps(result),
        "policies/refunds.md": "# Refunds\n\nRefunds take 10 days.\n",
        "answer.md": "Refunds take 10 days.\n",
        "rows.jsonl": f"{json.dumps(row)}\n",
        "document.json": document,
        "triage.py": "\n".join(blocks),
        "office.py": _python(ROOT / "docs" / "attack.md")[0].code,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    with guardgraph.KnowledgeBase(folder / "kb.sqlite") as base:
        base.add(demo_documents(), tenant="acme", readers=["tenant"])
    exports = ROOT / "tests" / "data" / "exports"
    copy2(exports / "langgraph_message_dicts.json", folder / "threads.json")
    copy2(exports / "otlp_openinference_agents.jsonl", folder / "traces.jsonl")
    return folder


@pytest.fixture
def reader(tmp_path, files, monkeypatch):
    """A folder as a reader of the docs has it: the docs, triage.py as own_pattern.md has it, a run's result and a store
    with that run, a document of it, a factory of a stricter agent, no key.
    """
    here = empty_folder(tmp_path, monkeypatch)
    (here / "docs").symlink_to(ROOT / "docs")
    for file in files.iterdir():
        copytree(file, here / file.name) if file.is_dir() else copy2(file, here)
    monkeypatch.syspath_prepend(str(here))
    earlier = {name: sys.modules.pop(name, None) for name in MODULES}  # the tests have a module of such a name too
    yield here
    for name, module in earlier.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.mark.heavy  # pages show what people have installed
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_example_runs_and_prints_what_the_page_says(page, reader):
    """The blocks of a page run in their order, in one namespace; a block of text behind one is its output."""
    namespace = {"__name__": "docs"}
    for fence in _python(page):
        where = f"{page}:{fence.line}"
        code = compile("\n" * fence.line + fence.code, where, "exec", dont_inherit=True)
        if fence.info in ("python no-run", SERVED):
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(code, namespace)
        if fence.output is not None:
            assert printed.getvalue() == fence.output, where


@pytest.mark.parametrize("line", _commands())
def test_every_command_line_ends_with_the_exit_code_that_the_page_says(line, reader):
    """A line of a shell block ends with 0 or the code that it names, says something, and raises nothing."""
    told = EXIT_CODE.search(line)
    done = run(*shlex.split(EXIT_CODE.sub("", line))[1:])
    assert done.exit_code == (int(told[1]) if told else 0), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout or done.stderr


def test_every_test_that_a_page_names_exists():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = sorted({*re.findall(r"(tests/[\w/]+\.py)::(\w+)", text)})
    assert len(named) > 30
    assert [name for file, name in named if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")] == []


def test_every_other_line_of_a_shell_block_is_a_target_of_the_makefile_or_an_installation():
    """`make` lines name targets and variables that the Makefile has, and nothing is shown that nobody checks."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = {*re.findall(r"^([\w-]+):", makefile, re.MULTILINE), *re.findall(r"\$\((\w+)\)", makefile)}
    for line in _shell_lines():
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert {word.partition("=")[0] for word in words[1:]} <= known, line
        else:
            assert words[0] in ("guardgraph", "export", "langgraph") or words in (
                ["pip", "install", "."],
                ["pip", "install", ".[serve]"],
                ["pip", "install", ".[mcp]"],
                ["pip", "install", ".[langchain]"],
                [".venv/bin/python", "tests/support/docs_parts.py"],
            )


def test_blocks_are_of_a_kind_that_is_checked():
    known = {"python", "python no-run", SERVED, "json", "text", *SHELL, "sql"}  # test_kb_postgres.py runs the last
    directives = {"{toctree}", "{include} ../CHANGELOG.md"}  # of the site; test_site.py builds it
    assert {fence.info for page in PAGES for fence in fences(page)} <= known | directives


def test_links_lead_to_files_and_headings_that_exist():
    """A relative link names a file of the repository, and an anchor one of its headings."""
    for page, target in [(each, target) for each in PAGES for target in find_named(each, "link_open", "href")]:
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), (page.name, target)
        assert not anchor or anchor in anchors(file), (page.name, target)


def test_parts_made_from_the_code_are_up_to_date():
    """Tables and pictures are, byte for byte, what `.venv/bin/python tests/support/docs_parts.py` would make."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    old = [name for name, text in pages.items() if renewed(text) != text]
    old += [name for name in PICTURES if (ROOT / name).read_bytes() != PICTURES[name]().encode()]
    assert old == [], "run: .venv/bin/python tests/support/docs_parts.py"


def test_every_picture_and_part_that_can_be_made_stands_in_a_page():
    shown = {(page.parent / source).resolve() for page in PAGES for source in find_named(page, "image", "src")}
    assert shown == {ROOT / name for name in PICTURES}
    assert {*(ROOT / "docs" / "pictures").iterdir()} == {ROOT / name for name in PICTURES}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert sorted(part["name"] for part in MADE_PART.finditer(text)) == sorted(MADE)


def test_the_readme_is_short_and_names_every_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    named = set(re.findall(r"`([a-z-]+)`", text.partition("## The command line")[2].partition("\n## ")[0]))
    assert {name.partition(" ")[0] for name, _ in list_commands()} <= named


def test_every_setting_is_described():
    """No setting of a shipped pattern is without a word on what it says, and pages are named for settings alone."""
    fields = {name for model in SETTINGS.values() for name in model.model_fields}
    assert {name for model in SETTINGS.values() for name, said in model.describe_fields().items() if said} == fields
    assert SETTING_PAGES.keys() <= fields


def test_the_pattern_of_ones_own_needs_public_names_only():
    """Whoever writes a pattern needs nothing that `guardgraph.grammar` does not offer by name."""
    used = {name for page in PAGES for fence in _python(page) for name in re.findall(r"\bgg\.(\w+)", fence.code)}
    assert used <= set(grammar.__all__)


def test_the_pattern_of_ones_own_is_proved(reader):
    import triage

    assert guardgraph.verify(triage.create_triage()) == []


@pytest.mark.parametrize("pattern", guardgraph.CATALOGUES)
def test_a_copy_of_a_graph_file_works(pattern):
    """The file of a pattern can be copied out of the package and changed, as guards.md says."""
    copy = runpy.run_path(str(Path(guardgraph.__file__).parent / "graphs" / f"{pattern}.py"))
    assert guardgraph.verify(copy[PATTERNS[pattern].factory.partition(":")[2]]()) == []


def test_pages_are_plain():
    """No page has a dash chain, trailing blanks, tabs, or a path of the machine that it was written on; every column of
    a table has a heading.
    """
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"—|\t|[ ]$|/home/|/root/|/tmp/", text, re.MULTILINE), page.name
        tokens = MarkdownIt().enable("table").parse(text)
        headings = [inside for token, inside in pairwise(tokens) if token.type == "th_open"]
        assert [token.map for token in headings if not token.content] == [], page.name


def test_the_import_contract_has_every_room():
    """No folder of the package is without a place in the order of imports, so none is missing in the table of rooms."""
    package = ROOT / "guardgraph"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert folders == {name for layer in stacked() for name in layer} - {"serving"}


PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
FAILING = [row for row in ROWS if len(row) == 4 and row[0] not in ("what fails", "---")]
NEEDED = [row for row in ROWS if len(row) == 3 and row[0] not in ("what", "---")]


def list_tests(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (item for item in tree.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
    return {item.name for item in functions if item.name.startswith("test_")}


def test_what_a_caller_sees_is_of_the_catalogue_and_shown_by_a_test():
    reasons = {item.reason for catalogue in CATALOGUES.values() for item in catalogue}
    known = {reason.partition(":")[0] for reason in reasons}
    assert len(FAILING) >= 20
    for row in FAILING:
        named = re.findall(r"`([a-z_]+(?::<[a-z]+>)?)`", row[1])
        assert [name for name in named if name.partition(":")[0] not in known] == [], row[0]
        assert all(name in reasons or ":" in name for name in named), row[0]
        [(file, name)] = re.findall(r"^`(tests/[\w/]+\.py)::(test_\w+)`$", row[3])
        assert name in list_tests(file), row[0]


def test_what_production_needs_is_shown_by_tests_that_exist():
    assert len(NEEDED) >= 13
    for row in NEEDED:
        command = re.fullmatch(r"`pytest((?: tests/[\w/]+\.py)+)`", row[2])
        assert command, row[0]
        assert all(list_tests(file) for file in command[1].split()), row[0]
