"""The benchmarks run, compare like with like, and their page says what they print. No test looks at a time."""

from __future__ import annotations

import asyncio
import json
import math
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_parts import ROOT
from footprint import growth_kb
from measure import in_new_process
from measured_agents import beside_floor, floor, scripted_agent
from results_page import SECTIONS, page

from guardgraph.testing import scripted_tool

PAGE = ROOT / "docs" / "benchmarks.md"
ON_DATA = tuple(section.name for section in SECTIONS if section.data)
MEASURED = [section.name for section in SECTIONS if not section.data]
ALONE = "recorder_cost"
PATTERNS = ("rag", "research", "self_critique")
CODE = re.compile(r"`([^`]+)`")


def _started(*arguments):
    command = [sys.executable, str(ROOT / "benchmarks"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _lines(process):
    printed, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return printed.splitlines()


def _figures(lines):
    return {name: float(value) for name, value in (line.split() for line in lines if not line.startswith("skip "))}


@pytest.fixture(scope="module")
def printed():
    """What every section prints when it measures once, by its name; one as the command line runs it."""
    together = [name for name in MEASURED if name != ALONE]
    command = [sys.executable, str(ROOT / "tests" / "soak" / "benchmarks_once.py"), *together]
    lines, section = {ALONE: _lines(_started(ALONE, "--rounds", "1"))}, ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in _lines(process):
            name, _, value = line.partition(" ")
            if name == "section":
                section = value
            lines.setdefault(section, []).extend([] if name == "section" else [line])
    return lines


@pytest.fixture
def data_sets(tmp_path):
    """Data sets of a few items each, as options of the command line."""
    cranfield = {"docs": {"a": "wing flutter", "b": "heat transfer"}, "queries": {"1": "flutter of a wing"}}
    incident = {"title": "Cards fail", "severity": "major", "affected": ["checkout"], "resolved": "true"}
    updates = ["Card payments fail for some customers.", "It is fixed. It was not closed."]
    incidents = [{**incident, "updates": [{"label": "update", "body": body} for body in updates]}]
    question = {"question": "Who is Ann Lee?", "paragraph": "0#0", "answer": "Ann Lee"}
    asked = {"paragraphs": {"0#0": "Ann Lee."}, "questions": [question]}
    sets = {"cranfield": {**cranfield, "qrels": {"1": {"a": 3}}}, "incidents": incidents, "xquad": {"en": asked}}
    for name, data in sets.items():
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    return [f"--{name}={tmp_path / name}" for name in sets]


@pytest.fixture(scope="module", params=PATTERNS)
def scripted(request):
    """One of the agents that are measured."""
    return scripted_agent(request.param)


def figures_on(text):
    """Return the names of the figures of a page: rows of tables, or a row and the ending above a filled cell."""
    names, endings = [], []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells[:1] == ["figure"]:
            endings = [match[1] if (match := CODE.fullmatch(cell)) else "" for cell in cells[1:]]
        elif cells and (stem := CODE.fullmatch(cells[0])):
            grid = "" not in endings
            names += [stem[1] + ending for ending, cell in zip(endings, cells[1:], strict=True) if cell and grid]
            names += [] if grid else [stem[1]]
    return names


@pytest.mark.parametrize("measured", MEASURED)
def test_a_benchmark_prints_figures_as_name_and_value(printed, measured):
    """Each line is a name of its own and a number, whose meaning the page can say; or it says why it was skipped."""
    (section,) = (section for section in SECTIONS if section.name == measured)
    lines = printed[measured]
    if measured in ("peers", "tool_injections") and len(lines) == 1:
        assert re.fullmatch(rf"skip {measured} .{{20,}}", lines[0])
        return
    figures = _figures(lines)
    assert len(figures) == len(lines) > 0
    for name, value in figures.items():
        assert re.fullmatch(r"[a-z0-9_]+", name)
        assert math.isfinite(value)
        assert section.meaning(name).text.endswith(".")


def test_no_two_benchmarks_use_the_same_name(printed):
    """A figure is known by its name alone."""
    names = [name for lines in printed.values() for name in _figures(lines)]
    assert sorted(set(names)) == sorted(names)


def test_benchmarks_on_data_sets_are_skipped_with_a_word_when_there_are_none():
    """Without a file, the line says which option would name it."""
    lines = _lines(_started(*ON_DATA))
    assert [line.split()[:2] for line in lines] == [["skip", name] for name in ON_DATA]
    assert all("--" in line for line in lines)


def test_benchmarks_on_data_sets_print_figures(data_sets):
    """With the files, each measures what it says."""
    figures = _figures(_lines(_started(*ON_DATA, *data_sets)))
    assert figures["ndcg_at_10"] == 1
    assert (figures["unrelated_passing_pct_10000"] < 2, figures["related_passing_pct"]) == (True, 100)
    assert (figures["en_found_in_first_3"], figures["en_unrelated_passing_share"]) == (1, 0)
    assert (figures["incidents_status_kept_pct"], figures["short_updates_too_long_pct"]) == (100, 0)
    assert {"reported_resolved_told_pct", "reported_open_told_pct"} <= figures.keys()


def test_memory_grows_in_a_process_of_its_own():
    """The process in which an agent runs for the benchmark of memory says by how many kB it grew."""
    assert in_new_process(growth_kb, "rag", "agent", 1) >= 0


def test_an_unknown_benchmark_is_refused():
    """The error names it and those that there are."""
    process = _started("speed")
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "speed" in errors
    assert "overhead" in errors


@pytest.mark.parametrize("coroutines", [False, True])
def test_a_scripted_agent_ends_with_success(scripted, coroutines):
    """What is measured is a whole run, up to a good ending, in either way of calling."""
    agent = scripted_agent(scripted.pattern, coroutines=coroutines).make()
    for result in (agent.invoke(scripted.given()), asyncio.run(agent.ainvoke(scripted.given()))):
        assert result["stop_reason"] == "success"
        assert result["path"] == scripted.result["path"]
    assert len(result["path"]) > 5


@pytest.mark.parametrize("coroutines", [False, True])
def test_a_floor_has_the_shape_of_its_agent(scripted, coroutines):
    """It has the same nodes, edges, inputs of nodes, channels and schemas."""
    agent, plain = beside_floor(scripted, coroutines=coroutines).values()
    drawn = [
        {(edge.source, edge.target, edge.conditional) for edge in graph.get_graph().edges} for graph in (agent, plain)
    ]
    assert drawn[0] == drawn[1]
    assert agent.nodes.keys() == plain.nodes.keys()
    for schema in ("input_schema", "output_schema", "state_schema", "context_schema"):
        assert getattr(agent.builder, schema) is getattr(plain.builder, schema)
    for name, node in agent.builder.nodes.items():
        assert node.input_schema is plain.builder.nodes[name].input_schema
    assert {name: type(item) for name, item in agent.channels.items()} == {
        name: type(item) for name, item in plain.channels.items()
    }


@pytest.mark.parametrize("coroutines", [False, True])
def test_a_floor_goes_the_way_of_the_run_and_returns_its_result(scripted, coroutines):
    """The floor of a run passes the same nodes and ends with the same dictionary."""
    plain = beside_floor(scripted, coroutines=coroutines)["floor"]

    async def updates():
        return [update async for update in plain.astream(scripted.given(), stream_mode="updates")]

    assert [name for update in asyncio.run(updates()) for name in update] == scripted.result["path"]
    assert asyncio.run(plain.ainvoke(scripted.given())) == scripted.result


def test_a_floor_refuses_a_run_that_leaves_a_node_in_two_ways():
    """A floor that went another way than the run would be no measure of it."""
    from guardgraph import create_self_critique_agent

    scripted = scripted_agent("self_critique")
    drafts = scripted_tool({"draft": "We are on it. " * 100}, loop=True)
    shortener = scripted_tool({"draft": "We are on it."}, loop=True)
    agent = create_self_critique_agent(drafter=drafts, shortener=shortener)
    result = agent.invoke(scripted.given())
    assert result["path"].count("draft_guard") == 2
    with pytest.raises(ValueError, match="one way"):
        floor(agent, result)


def test_the_page_has_every_figure_that_is_printed(printed):
    """Nothing that is measured is left out of docs/benchmarks.md."""
    names = {name for lines in printed.values() for name in _figures(lines)}
    assert names <= set(figures_on(PAGE.read_text(encoding="utf-8")))


def test_the_page_names_the_machine_but_not_its_host():
    """It says processor, memory, Python and versions, and nothing that belongs to one machine alone."""
    text = PAGE.read_text(encoding="utf-8")
    for said in ("| processor |", "| memory |", "| Python |", "langgraph 1.", "| date | 20"):
        assert said in text
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text)
    assert str(Path.home()) not in text
    assert str(ROOT) not in text


def test_the_page_is_plain_about_goals_that_are_not_reached(printed):
    """A value beyond its goal is listed first, with the goal, and marked where it stands."""
    skipped = dict.fromkeys(ON_DATA, "it was not there")
    results = {name: _figures(lines) for name, lines in printed.items()} | skipped
    results["by_hand"] |= dict.fromkeys(("rag_invoke_by_hand_ratio", "research_invoke_by_hand_ratio"), 1.1)
    results["by_hand"]["self_critique_invoke_by_hand_ratio"] = 7.5
    results["overhead"]["rag_invoke_ratio"] = 7.5
    results["imports"]["import_guards_ratio"] = 0.01
    text = page(results, load=0.5)
    assert "- `self_critique_invoke_by_hand_ratio` is 7.5, the goal ≤ 1.12" in text
    assert "- `research_invoke_by_hand_ratio` is 1.1, the goal ≤ 1.08" in text
    assert "- `rag_invoke_by_hand_ratio`" not in text
    assert "| **7.5** ✗ |" in text
    assert "- `import_guards_ratio`" not in text
    assert "Skipped: it was not there." in text
