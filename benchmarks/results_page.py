"""The results page: what was measured, on which machine, with which versions, and which goals were not reached."""

from __future__ import annotations

import os
import platform
import sys
import textwrap
from collections.abc import Iterable, Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path

import alternatives
import footprint
import incidents
import knowledge_base
import languages
import links
import load
import long_texts
import overhead
import peers
import replay
import retrieval
import store
import tool_injections
import web
from measure import shown
from sections import Meaning, Section

SECTIONS: tuple[Section, ...] = (
    *alternatives.SECTIONS,
    *overhead.SECTIONS,
    *load.SECTIONS,
    *footprint.SECTIONS,
    *long_texts.SECTIONS,
    *store.SECTIONS,
    *replay.SECTIONS,
    *web.SECTIONS,
    *links.SECTIONS,
    *peers.SECTIONS,
    *tool_injections.SECTIONS,
    *retrieval.SECTIONS,
    *knowledge_base.SECTIONS,
    *languages.SECTIONS,
    *incidents.SECTIONS,
)
"""The sections of the page, in its order; each benchmark says what its figures mean and should be."""
WIDTH = 118
"""Characters of a line of text."""
LIBRARIES = ("guardgraph", "langgraph", "langchain-core", "langgraph-checkpoint-sqlite", "pydantic")

HEAD = """
What guardgraph costs, measured by `make bench`, which writes this page. What an agent is held against runs in turn
with it. Ratios say more than times, which differ from machine to machine and from hour to hour. A ratio of processor
times is the median of the ratios of single rounds; wall times, and what is made of them, are those of the fastest
rounds. A call of a model takes some hundred thousand microseconds. The floor is a plain LangGraph graph of an agent's
nodes, edges, schemas and channels whose nodes do nothing but route.
"""


def page(results: Mapping[str, Mapping[str, float] | str], *, load: float, others: Iterable[str] = ()) -> str:
    """Return the page.

    Args:
        results: of each section, the values of its figures, or why it was skipped.
        load: how many processes were running on average before the first benchmark.
        others: names and versions of other libraries that were measured.
    """
    parts = ["# Benchmarks\n", _wrapped(HEAD), _machine(load, others), _missed(results)]
    for section in SECTIONS:
        parts += [f"## {section.title}\n", _wrapped(section.text), _found(section, results[section.name])]
    return "\n".join(parts)


def _wrapped(text: str) -> str:
    return textwrap.fill(text.strip(), WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _found(section: Section, found: Mapping[str, float] | str) -> str:
    if isinstance(found, str):
        return f"Skipped: {found}.\n"
    table = _grid(section, found) if section.is_grid else _table(section, found)
    is_missed = section.missed and any(section.list_missed(found))
    return f"{table}\n{_wrapped('Why goals are missed: ' + section.missed)}" if is_missed else table


def _machine(load: float, others: Iterable[str]) -> str:
    libraries = ", ".join([*(f"{name} {version(name)}" for name in LIBRARIES), *others])
    rows = {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_memory_gb():.0f} GB",
        "system": _system(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": libraries,
        "load before": f"{load:.2f} processes",
        "date": date.today().isoformat(),
    }
    return "\n".join(
        ["| part | of this machine |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows.items()), ""]
    )


def _processor() -> str:
    names = _fields("/proc/cpuinfo").get("model name")
    return names or platform.processor() or platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # no Linux
        return f"{platform.system()} {platform.release()}"


def _fields(path: str) -> dict[str, str]:
    if sys.platform != "linux":
        return {}
    pairs = (line.partition(":") for line in Path(path).read_text(encoding="utf-8").splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _missed(results: Mapping[str, Mapping[str, float] | str]) -> str:
    judged = {
        name: (value, meaning)
        for section in SECTIONS
        if not isinstance(found := results[section.name], str)
        for name, value in found.items()
        if (meaning := section.meaning(name)).goal_of(name)
    }
    missed = [f"- `{name}` is {shown(value)}, the goal {meaning.goal_of(name)}"
              for name, (value, meaning) in judged.items() if not meaning.is_reached(name, value)]  # fmt: skip
    if not missed:
        return f"All {len(judged)} goals are reached.\n"
    return "\n".join([f"Of {len(judged)} goals {len(missed)} are not reached; they have a ✗:", "", *missed, ""])


def _table(section: Section, found: Mapping[str, float]) -> str:
    """Return a row for each figure."""
    rows = [["figure", "value", "goal", "meaning"], ["---", "---:", "---", "---"]]
    for name, value in found.items():
        meaning = section.meaning(name)
        rows.append([f"`{name}`", _judged(meaning, name, value), meaning.goal_of(name), meaning.text])
    return _lines(rows)


def _grid(section: Section, found: Mapping[str, float]) -> str:
    """Return a row for each beginning of a name, a column for each ending, and what the endings mean."""
    meanings = [item for item in section.meanings if any(section.meaning(name) is item for name in found)]
    stems = dict.fromkeys(name.removesuffix(section.meaning(name).ending) for name in found)
    rows = [["figure", *(f"`{item.ending}`" for item in meanings)], ["---", *("---:" for _ in meanings)]]
    for stem in stems:
        cells = ((item, f"{stem}{item.ending}") for item in meanings)
        judged = (_judged(item, name, found[name]) if name in found else "" for item, name in cells)
        rows.append([f"`{stem}`", *judged])
    told = [
        _wrapped(f"- `{item.ending}`: {item.text}{f' Goal: {item.goal}.' if item.goal else ''}") for item in meanings
    ]
    return f"{_lines(rows)}\n{''.join(told)}"


def _judged(meaning: Meaning, name: str, value: float) -> str:
    return shown(value) if meaning.is_reached(name, value) else f"**{shown(value)}** ✗"


def _lines(rows: Iterable[Iterable[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
