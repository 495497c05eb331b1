"""Parts of the docs that are made from the code; ``.venv/bin/python tests/support/docs_parts.py`` renews them."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from inspect import getdoc
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, get_args

from markdown_it import MarkdownIt
from typer.main import get_command

import guardgraph
from guardgraph import grammar
from guardgraph.graphs.catalogues import catalogue_markdown
from guardgraph.state.recording import schema
from guardgraph.state.research import READ_FAILURES
from guardgraph.tools.demo import CRITIQUE_GOAL, load_demo_incident

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

MADE_PART = re.compile(r"(?<=<!-- made: )(?P<name>[\w ]+) -->\n(?P<text>.*?)(?=<!-- end -->)", re.DOTALL)


class Fence(NamedTuple):
    """A block of code in a page."""

    info: str
    code: str
    line: int
    output: str | None
    """The block of text that follows it with nothing between."""


def fences(page: Path) -> Iterator[Fence]:
    """Yield the blocks of code of a page."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "fence" and token.map:
            output = following.content if following and following.info == "text" else None
            yield Fence(token.info, token.content, token.map[0] + 1, output)


def find_named(page: Path, kind: str, attribute: str) -> Iterator[str]:
    """Yield where the links or images of a page lead."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        yield from (str(child.attrGet(attribute)) for child in token.children or () if child.type == kind)


def anchors(page: Path) -> set[str]:
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def stacked() -> list[list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contracts = project["importlinter"]["contracts"]
    [layers] = (given["layers"] for given in contracts if given["type"] == "layers" and "containers" not in given)
    return [[name.strip().removeprefix("guardgraph.") for name in layer.split("|")] for layer in layers]


def rooms_list() -> str:
    between = "\n\n    "
    return "".join(f"{at}. {between.join(map(_describe_room, layer))}\n" for at, layer in enumerate(stacked(), 1))


def _describe_room(name: str) -> str:
    said = str(getdoc(import_module(f"guardgraph.{name}"))).partition("\n\n")[0]
    return f"`{name}{'/' if (ROOT / 'guardgraph' / name).is_dir() else '.py'}`: {_plain(said)}"


def stopped_rag() -> str:
    agent = guardgraph.create_rag_agent(planner=lambda view: {"kind": "retrieve", "query": "SLA", "sources": ["wiki"]})
    return guardgraph.draw(agent, agent.invoke({"question": "What is our SLA?"})).svg


def repaired_draft() -> str:
    agent = guardgraph.create_self_critique_agent(reviser=lambda view: {"revised_answer": f"{view['draft']} Sorry."})
    request = {"goal": CRITIQUE_GOAL, "incident_context": load_demo_incident()}
    return guardgraph.draw(agent, agent.invoke(request)).svg


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def list_commands() -> list[tuple[str, str]]:
    return sorted(_walk_commands(get_command(import_module("guardgraph.cli.commands").app), ()))


def _walk_commands(command: Any, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if inner := getattr(command, "commands", None):
        for name, item in inner.items():
            yield from _walk_commands(item, (*names, name))
    else:
        yield " ".join(names), _plain(command.help.partition("\n\n")[0])


SETTINGS = {
    f"{pattern}{kind}": getattr(guardgraph, f"{pattern}{kind}")
    for pattern in ("Rag", "Research", "SelfCritique", "Tool")
    for kind in ("Policy", "Budget")
}
"""Policies and budgets of the shipped patterns."""

KINDS = ("MaxInt", "MaxFloat", "MinFloat", "Allowlist", "Hosts", "Scopes", "DeniedScopes", "Links", "Vocabulary")
"""Kinds of settings that have a name of their own, beside `Check`."""

SETTING_PAGES = {
    "allowed_domains_execution": "research_web.md#scopes",
    "allowed_domains_policy": "research_web.md#scopes",
    "audit_required": "recording.md#a-run-that-must-be-recorded",
    "check_cover": "grounding.md",
    "check_names": "grounding.md",
    "check_opposites": "grounding.md",
    "check_values": "grounding.md",
    "corroboration": "research_sources.md#agreement",
    "denied_domains": "research_web.md#scopes",
    "denied_query_terms": "research_web.md#several-searches",
    "enabled": "live_policy.md",
    "escalation": "review_queue.md#an-escalation-that-waits",
    "four_eyes": "own_pattern.md#who-answered",
    "high_risk_terms": "research_sources.md#a-person",
    "known_links": "guards.md#links",
    "max_attempts": "models.md#asked-again",
    "max_history_turns": "embedding.md#in-a-conversation",
    "max_llm_calls": "budgets.md#what-is-counted",
    "max_output_tokens": "budgets.md#reservations",
    "max_sections": "research_reports.md#sections",
    "max_queries": "research_web.md#several-searches",
    "max_tokens": "budgets.md",
    "on_doubt": "guards.md#what-sources-say",
    "on_unsupported": "guards.md#what-sources-say",
    "prices": "budgets.md#prices",
    "require_sentence_citations": "guards.md#sentences-that-must-cite",
    "rules": "tools.md#the-rules-of-a-tool",
    "severity_budget": "budgets.md#critiques-of-high-severity",
    "trust": "research_sources.md#trust",
    "unsure_text": "web.md#pdf-files",
}
"""Where more is said of a setting."""


def _setting_cells(model: type[grammar.Settings], name: str) -> tuple[str, str, str, str]:
    shown = f"[`{name}`]({SETTING_PAGES[name]})" if name in SETTING_PAGES else f"`{name}`"
    value = getattr(model(), name)
    default = (", ".join(value) or "none") if isinstance(value, tuple) else value
    return shown, _format_kind(model, name), str(default), _plain(model.describe_fields()[name])


@cache
def _settings_by_cells() -> dict[tuple[str, str, str, str], list[str]]:
    """Return the settings of all policies and budgets, with the classes that have each alike."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for model in SETTINGS.values():
        for name in model.model_fields:
            found.setdefault(_setting_cells(model, name), []).append(model.__name__)
    return found


def list_shared_settings() -> str:
    return "".join(
        _format_setting(shown, [re.sub("Policy|Budget", "", name) for name in models], *rest)
        for (shown, *rest), models in _settings_by_cells().items()
        if len(models) > 1
    )


def list_settings(model: type[grammar.Settings]) -> str:
    cells = (_setting_cells(model, name) for name in model.model_fields)
    own = [each for each in cells if _settings_by_cells()[each] == [model.__name__]]
    return "".join(_format_setting(shown, [], *rest) for shown, *rest in own)


def _format_setting(shown: str, patterns: Sequence[str], kind: str, default: str, said: str) -> str:
    of = [", ".join(patterns)] if 0 < len(patterns) < 4 else []
    return f"- {shown} ({'; '.join([*of, kind, default])}): {said}\n"


def _format_kind(model: type[grammar.Settings], name: str) -> str:
    info = model.model_fields[name]
    if "Tightens.by_name(" in str(info.metadata):
        return "by name"
    [rule] = (mark for mark in info.metadata if isinstance(mark, grammar.Tightens))
    kinds = [(kind, *get_args(getattr(grammar, kind))) for kind in (*KINDS, "Check")]
    named = [kind for kind, annotation, *marks in kinds if annotation == info.annotation and rule in marks]
    return f"`{[*named, str(rule).partition('(')[0]][0]}`"


PICTURES: dict[str, Callable[[], str]] = {
    "docs/pictures/rag.svg": lambda: guardgraph.draw(guardgraph.create_rag_agent()).svg,
    "docs/pictures/research.svg": lambda: guardgraph.draw(guardgraph.create_research_agent()).svg,
    "docs/pictures/self_critique.svg": lambda: guardgraph.draw(guardgraph.create_self_critique_agent()).svg,
    "docs/pictures/tools.svg": lambda: guardgraph.draw(guardgraph.create_tool_agent()).svg,
    "docs/pictures/rag_stopped.svg": stopped_rag,
    "docs/pictures/self_critique_repaired.svg": repaired_draft,
}
"""Every picture of the docs, by its file."""


MADE: dict[str, Callable[[], str]] = {
    **{name: partial(list_settings, model) for name, model in SETTINGS.items()},
    "shared settings": list_shared_settings,
    "commands": lambda: _list_told(list_commands()),
    "failures": lambda: _list_told(READ_FAILURES.items()),
    "rooms": rooms_list,
    "rules": lambda: _list_told((name, getdoc(rule)) for name, rule in guardgraph.RULES.items()),
    "reasons": catalogue_markdown,
}


def _list_told(told: Iterable[tuple[str, str | None]]) -> str:
    return "".join(f"- `{name}`: {said}\n" for name, said in told)


def renewed(text: str) -> str:
    return MADE_PART.sub(lambda part: f"{part['name']} -->\n\n{MADE[part['name']]()}\n", text)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
    for name, made in PICTURES.items():
        (ROOT / name).write_text(made(), encoding="utf-8")
    form = json.dumps(schema(), indent=2, ensure_ascii=False)
    (ROOT / "docs" / "recording.schema.json").write_text(f"{form}\n", encoding="utf-8")
