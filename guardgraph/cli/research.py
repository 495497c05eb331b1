"""`guardgraph research`: a question researched in the demo's recorded pages or on the web."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import guardgraph
from guardgraph.cli import inputs, policies, runs, waiting
from guardgraph.cli.making import Goal, RunOptions, run_and_exit, spread_options
from guardgraph.cli.options import Json, argument, option
from guardgraph.cli.shell import Screen
from guardgraph.graphs.loading import load_named_graph
from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.json import JsonObject

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


def print_pages_of_reader(reader: Outside, evidence: str | None, shown: Shown | None) -> Outside:
    """Return a reader whose pages are kept and shown as they are read."""
    if evidence is None and shown is None:
        return reader
    folder = None if evidence is None else Path(inputs.check_path_option("--evidence", evidence))
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--evidence {evidence!r:.200}: cannot be made: {error.strerror}") from error
    from langchain_core.runnables import Runnable

    def read_and_print_page(request: JsonObject) -> Any:
        say = shown or (lambda url, came: None)
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
    data = text.encode("utf-8", "replace")
    name = hashlib.sha256(data).hexdigest()
    file = folder / f"{name}.txt"
    if not file.exists():
        made = file.with_suffix(f".{uuid4().hex}")
        made.write_bytes(data)
        made.replace(file)  # whoever reads it finds all of it, or nothing
    return name


@spread_options
def research(
    question: Annotated[str | None, argument("QUESTION", "What you want to know; the demo's if left out.")] = None,
    *,
    searx: Annotated[str | None, option("--searx URL", "Search the web by this SearXNG server.")] = None,
    urls: Annotated[str | None, option("--urls FILE", "Read these pages of the web, a URL a line.")] = None,
    allow: Annotated[
        list[str] | None,
        option("--allow HOST", "May be read, or domain:NAME, or suffix:NAME, instead of --policy; more than once."),
    ] = None,
    cache: Annotated[str | None, option("--cache FILE", "Keeps pages that were read.")] = None,
    evidence: Annotated[
        str | None, option("--evidence FOLDER", "Texts of the pages that were read, by their hash.")
    ] = None,
    reader: Annotated[
        str | None, option("--reader MODULE:FACTORY", "Makes the reader, such as a web_reader of your own.")
    ] = None,
    report: Annotated[
        bool, option("--report", "Search several times, for a longer answer, in up to five minutes.")
    ] = False,
    goal: Goal = None,
    options: RunOptions,
    kept: waiting.KeepingOptions,
    as_json: Json = False,
    as_markdown: Annotated[
        bool, option("--markdown", "Print the brief as Markdown, with a table of its sources, and no more.")
    ] = False,
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
        settings = {**limits, **options.load_settings("research"), **kept.open_kept()}
        again = options.format_options()
        run = runs.prepare_research_command(question, goal=goal, model=options.model, again=again, **settings)
        run_and_exit(run, as_json, as_markdown)
    if searx is not None and urls is not None:
        raise ConfigurationError("--searx URL, --urls FILE: not both")
    if question is None:
        raise ConfigurationError("QUESTION: required beside --searx and --urls")
    if kept.store is not None or kept.checkpoints is not None:
        raise ConfigurationError(
            "--store, --checkpoints: for the demo's pages; a factory of your own goes on with others"
        )
    settings = load_web_settings_options(options.policy, options.tenant, allow) | limits
    settings |= options.load_around()
    search: Any = guardgraph.searx_search(searx) if searx is not None else guardgraph.listed_search(urls or "")
    screen, lock = Screen(), Lock()

    def print_page_line(url: str, came: str) -> None:
        with lock:
            screen.print_columns(("page", "dim"), f"{url}: {came}", at=9, indent=4)

    shown = None if as_json or as_markdown else print_page_line
    pages = print_pages_of_reader(load_reader_option(reader, cache), evidence, shown)
    settings |= {"search": search, "reader": pages}
    run = runs.prepare_web_command(question, goal=goal, model=options.model, **settings)
    run_and_exit(run, as_json, as_markdown)
