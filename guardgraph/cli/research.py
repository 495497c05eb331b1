"""`guardgraph research`: a question researched in the demo's recorded pages or on the web."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import guardgraph
from guardgraph.cli import inputs, policies, runs, waiting
from guardgraph.cli.making import Goal, RunOptions, run_and_exit, spread_options
from guardgraph.cli.options import Json, argument, option
from guardgraph.cli.shell import Screen
from guardgraph.graphs.loading import load_named_graph
from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.files import replace_file
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.tools.demo import RESEARCH_GOAL, load_demo_request

if TYPE_CHECKING:
    from guardgraph.world.call import Outside

Shown = Callable[[str, str], None]  # shows a URL, and what came of it


def load_web_settings_options(policy: str | None, tenant: str | None, allow: list[str] | None) -> dict[str, Any]:
    """Return what pages are read under: those of ``--policy``, or the hosts of ``--allow`` on both lists."""
    if bool(allow) == (policy is not None):
        both = "not both" if allow else "one of them"
        raise ConfigurationError(f"--allow HOST, --policy FILE: {both}; they say which hosts may be read")
    if not allow:
        return policies.load_policy_option("research", policy, tenant)
    if tenant is not None:
        raise ConfigurationError(f"--tenant: --policy FILE is required beside it; given: {tenant!r:.80}")
    if odd := next((host for host in allow if find_json_problem(host) is not None), None):
        raise ConfigurationError(f"--allow: a host is required; given: {odd!r:.80}")
    hosts = guardgraph.ResearchPolicy(allowed_domains_policy=tuple(allow), allowed_domains_execution=tuple(allow))
    hosts.check_listed("--allow")
    return {"policy": hosts}


def load_reader_option(reader: str | None, cache: str | None) -> Outside:
    """Return who reads pages: what ``--reader`` makes, else a `web_reader`."""
    with suppress(ImportError):  # without it, nothing of ours retries
        from stamina.instrumentation import set_on_retry_hooks

        set_on_retry_hooks(())  # it would print among the output: what came of the last attempt is shown
    if reader is None:
        return guardgraph.web_reader(cache=None if cache is None else inputs.check_path_option("--cache", cache))
    if cache is not None:
        raise ConfigurationError("--cache: for the reader of ours; --reader makes one with a cache of its own")
    from guardgraph.world.proposers import validate_call_target

    return validate_call_target("--reader", load_named_graph(reader, "--reader"))


def print_pages_of_reader(reader: Outside, evidence: str | None, say: Shown) -> Outside:
    """Return a reader whose pages are kept and shown as they are read."""
    folder = None if evidence is None else Path(inputs.check_path_option("--evidence", evidence))
    if folder is not None:
        with inputs.name_unwritten_file("--evidence", str(evidence)):
            folder.mkdir(parents=True, exist_ok=True)
    from langchain_core.runnables import Runnable

    def read_and_print_page(request: JsonObject) -> Any:
        try:
            page: Any = reader.invoke(request) if isinstance(reader, Runnable) else reader(request)
        except ReadFailure as failure:
            say(request["url"], failure.reason)
            raise
        if isinstance(page, ReadFailure):
            say(request["url"], page.reason)
            return page
        if isinstance(page, dict) and isinstance(text := page.get("body"), str):
            page = page if folder is None else {**page, "text_sha256": _save_evidence_text(folder, text)}
            led = page.get("final_url", request["url"])
            say(request["url"], f"{len(text)} characters{'' if led == request['url'] else f' at {led}'}")
        return page

    return read_and_print_page


def _save_evidence_text(folder: Path, text: str) -> str:
    """Keep the text of a page under its hash, and return the hash."""
    name = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    if not (file := folder / f"{name}.txt").exists():
        replace_file(file, text)
    return name


@spread_options
def research(
    question: Annotated[str | None, argument("QUESTION", "What you want to know; the demo's if left out.")] = None,
    *,
    searx: Annotated[str | None, option("--searx URL", "Search the web by this SearXNG server.")] = None,
    urls: Annotated[str | None, option("--urls FILE", "Read these pages of the web, a URL a line.")] = None,
    allow: Annotated[list[str] | None, option("--allow HOST", "May be read, as in a policy; more than once.")] = None,
    cache: Annotated[str | None, option("--cache FILE", "Keeps pages that were read.")] = None,
    evidence: Annotated[str | None, option("--evidence FOLDER", "Texts of pages that were read, by hash.")] = None,
    reader: Annotated[str | None, option("--reader MODULE:FACTORY", "Makes the reader.")] = None,
    report: Annotated[bool, option("--report", "Search several times, in up to five minutes.")] = False,
    goal: Goal = None,
    options: RunOptions,
    kept: waiting.KeepingOptions,
    as_json: Json = False,
    as_markdown: Annotated[bool, option("--markdown", "Print the brief as Markdown, and no more.")] = False,
) -> None:
    """Research a question and return a brief whose every fact is cited: on the web, or in the demo's recorded pages."""
    if as_json and as_markdown:
        raise ConfigurationError("--json, --markdown: not both")
    if report and options.policy is not None:
        raise ConfigurationError("--report, --policy FILE: not both; the file has the limits of the run")
    limits: dict[str, Any] = {"budget": guardgraph.ResearchBudget.report()} if report else {}
    if searx is None and urls is None:
        given = {"--allow": allow, "--cache": cache, "--evidence": evidence, "--reader": reader}
        if beside := [option for option, value in given.items() if value]:
            raise ConfigurationError(f"{beside[0]}: --searx URL or --urls FILE is required beside it")
        request = load_demo_request()
        if question is not None:
            request["request"]["question"] = question
        asked = {"goal": RESEARCH_GOAL if goal is None else goal, "request": request}
        run_and_exit(waiting.plan_waiting_run("research", asked, options, kept, **limits), as_json, as_markdown)
    if searx is not None and urls is not None:
        raise ConfigurationError("--searx URL, --urls FILE: not both")
    if question is None:
        raise ConfigurationError("QUESTION: required beside --searx and --urls")
    if kept.store is not None or kept.checkpoints is not None:
        raise ConfigurationError("--store, --checkpoints: for the demo's pages; others need a factory of your own")
    settings = load_web_settings_options(options.policy, options.tenant, allow) | limits
    settings |= options.load_around()
    search: Any = guardgraph.searx_search(searx) if searx is not None else guardgraph.listed_search(urls or "")
    screen, lock = Screen(), Lock()

    def print_page_line(url: str, came: str) -> None:
        with lock:
            screen.print_columns(("page", "dim"), f"{url}: {came}", at=9, indent=4)

    shown = (lambda url, came: None) if as_json or as_markdown else print_page_line
    pages = print_pages_of_reader(load_reader_option(reader, cache), evidence, shown)
    asked = {"goal": question if goal is None else goal, "request": {"request": {"question": question}}}
    run = runs.plan_run("research", asked, options.model, search=search, reader=pages, **settings)
    run_and_exit(replace(run, remarks={}), as_json, as_markdown)
