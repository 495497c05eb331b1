"""What the command line reads from the web: the options of it, and a reader that shows and keeps what it read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import guardgraph
from guardgraph.cli import inputs, policies
from guardgraph.graphs.named import graph_named
from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from guardgraph.world.call import Outside

__all__ = ["Allow", "Cache", "Evidence", "Reader", "Shown", "reader_of", "settings_of", "watched"]

Shown = Callable[[str, str], None]
"""Shows a URL, and what came of it."""

Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", metavar="HOST", help="May be read, instead of --policy; more than once.", show_default=False
    ),
]
Evidence = Annotated[
    str | None,
    typer.Option(
        "--evidence", metavar="FOLDER", help="Texts of the pages that were read, by their hash.", show_default=False
    ),
]
Cache = Annotated[
    str | None, typer.Option("--cache", metavar="FILE", help="Keeps pages that were read.", show_default=False)
]
Reader = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="MODULE:FACTORY",
        help="Makes the reader, such as a web_reader of your own.",
        show_default=False,
    ),
]


def settings_of(policy: str | None, tenant: str | None, allow: list[str] | None) -> dict[str, Any]:
    """Return the settings under which pages are read: those of ``--policy``, or the hosts of ``--allow`` on both lists.

    Raises:
        ConfigurationError: there is neither, there are both, or one of them is wrong.
    """
    if bool(allow) == (policy is not None):
        both = "not both" if allow else "one of them"
        raise ConfigurationError(f"--allow HOST, --policy FILE: {both}; they say which hosts may be read")
    if not allow:
        return policies.settings_for("research", policy, tenant)
    if tenant is not None:
        raise ConfigurationError(f"--tenant: --policy FILE is required beside it; given: {tenant!r:.80}")
    hosts = guardgraph.ResearchPolicy(allowed_domains_policy=tuple(allow), allowed_domains_execution=tuple(allow))
    hosts.check_listed("--allow")
    return {"policy": hosts}


def reader_of(reader: str | None, cache: str | None) -> Outside:
    """Return who reads pages: what ``--reader`` makes, else a `web_reader`.

    Raises:
        ConfigurationError: there is no such factory, it makes none, or the extra `web` is not installed.
    """
    _say_nothing_of_retries()
    if reader is None:
        return guardgraph.web_reader(cache=None if cache is None else inputs.named("--cache", cache))
    if cache is not None:
        raise ConfigurationError("--cache: for the reader of ours; --reader makes one with a cache of its own")
    from guardgraph.world.proposers import outside

    return outside("--reader", graph_named(reader, "--reader"))


def _say_nothing_of_retries() -> None:
    """Keep stamina from printing among the output: what came of the last attempt is shown."""
    try:
        from stamina.instrumentation import set_on_retry_hooks
    except ImportError:  # and so nothing of ours retries
        return
    set_on_retry_hooks(())


def watched(reader: Outside, evidence: str | None, shown: Shown | None) -> Outside:
    """Return a reader whose pages are kept and shown as they are read.

    Args:
        reader: who reads.
        evidence: the folder of ``--evidence``, made where there is none.
        shown: called with each page from the thread that read it.

    Raises:
        ConfigurationError: the folder cannot be made.
    """
    if evidence is None and shown is None:
        return reader
    folder = None if evidence is None else _folder(evidence)
    from langchain_core.runnables import Runnable

    def read(request: JsonObject) -> Any:
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
            page = page if folder is None else {**page, "text_sha256": _kept(folder, text)}
            led = page.get("final_url", request["url"])
            say(request["url"], f"{len(text)} characters{'' if led == request['url'] else f' at {led}'}")
        return page

    return read


def _folder(evidence: str) -> Path:
    folder = Path(inputs.named("--evidence", evidence))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--evidence {evidence!r:.200}: cannot be made: {error.strerror}") from error
    return folder


def _kept(folder: Path, text: str) -> str:
    from guardgraph.web.recheck import keep_body

    return keep_body(folder, text)
