"""`guardgraph research`: a question, researched in the demo's recorded pages or on the web."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import Annotated, Any

import typer

import guardgraph
from guardgraph.cli import inputs, policies, runs
from guardgraph.cli.making import make
from guardgraph.cli.options import Goal, Json, Model, Policy, Tenant
from guardgraph.cli.screen import Screen
from guardgraph.cli.web import Allow, Cache, Evidence, Reader, reader_of, settings_of, watched
from guardgraph.plain.errors import ConfigurationError

__all__ = ["research"]

Question = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="What you want to know; the demo's if left out.", show_default=False),
]


def research(
    question: Question = None,
    *,
    searx: Annotated[
        str | None,
        typer.Option("--searx", metavar="URL", help="Search the web by this SearXNG server.", show_default=False),
    ] = None,
    urls: Annotated[
        str | None,
        typer.Option("--urls", metavar="FILE", help="Read these pages of the web, a URL a line.", show_default=False),
    ] = None,
    allow: Allow = None,
    cache: Cache = None,
    evidence: Evidence = None,
    reader: Reader = None,
    goal: Goal = None,
    model: Model = None,
    policy: Policy = None,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Research a question and return a brief whose every fact is cited: on the web, or in the demo's recorded pages.

    With --searx or --urls, pages of the hosts of --allow, or of --policy, are read, and no others.
    """
    inputs.load_environment()
    if searx is None and urls is None:
        given = {"--allow": allow, "--cache": cache, "--evidence": evidence, "--reader": reader}
        if beside := [option for option, value in given.items() if value]:
            raise ConfigurationError(f"{beside[0]}: --searx URL or --urls FILE is required beside it")
        settings = policies.settings_for("research", policy, tenant)
        make(runs.research_run(question, goal=goal, model=model, **settings), as_json)
    if searx is not None and urls is not None:
        raise ConfigurationError("--searx URL, --urls FILE: not both")
    if question is None:
        raise ConfigurationError("QUESTION: required beside --searx and --urls")
    settings = settings_of(policy, tenant, allow)
    search: Any = guardgraph.searx_search(searx) if searx is not None else guardgraph.listed_search(urls or "")
    shown = None if as_json else partial(_show, Screen(), Lock())
    pages = watched(reader_of(reader, cache), evidence, shown)
    make(runs.web_run(question, goal=goal, model=model, search=search, reader=pages, **settings), as_json)


def _show(screen: Screen, lock: Lock, url: str, came: str) -> None:
    with lock:
        screen.columns(("page", "dim"), f"{url}: {came}", at=9, indent=4)
