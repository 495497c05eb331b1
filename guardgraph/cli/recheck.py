"""`guardgraph recheck`: whether pages still say what a research run quoted."""

from __future__ import annotations

from typing import Annotated

import typer

import guardgraph
from guardgraph.cli import inputs, pages
from guardgraph.cli.making import exit_with, print_json
from guardgraph.cli.options import Json, Policy, Tenant
from guardgraph.cli.screen import Screen
from guardgraph.cli.web import Allow, Cache, Evidence, Reader, reader_of, settings_of
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject

__all__ = ["recheck"]

STYLES = {"same": "green", "moved": "green", "changed": "red", "gone": "red", "denied": "yellow"}
STILL_SAID = ("same", "moved")
PAGE_LIMITS = ("max_page_seconds", "max_wire_bytes", "max_page_bytes")


def recheck(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's result, as --json prints it, or its document; - for a pipe.")
    ],
    *,
    allow: Allow = None,
    policy: Policy = None,
    tenant: Tenant = None,
    evidence: Evidence = None,
    cache: Cache = None,
    reader: Reader = None,
    as_json: Json = False,
) -> None:
    """Fetch the pages that a research run cites once more, and say of each note whether its page still says so.

    It is same, moved (elsewhere in the page), changed, gone (with the reason why the page cannot be read), or denied by
    the lists of now: pages are read under those of --allow or --policy, never under those of the run. With --evidence,
    the notes are held against the texts that the run kept, and nothing is read from the web.

    Exit code 3 if a page no longer says so, or was not read.
    """
    from guardgraph.web import recheck as core

    inputs.load_environment()
    notes = core.cited_in(_result(run))
    if evidence is not None:
        given = {"--allow": allow, "--policy": policy, "--cache": cache, "--reader": reader}
        if beside := [option for option, value in given.items() if value]:
            raise ConfigurationError(f"{beside[0]}: to be left out beside --evidence, which reads nothing from the web")
        texts = core.kept_bodies(inputs.existing_folder("--evidence", evidence))
    else:
        settings = settings_of(policy, tenant, allow)
        lists, budget = settings["policy"], settings.get("budget", guardgraph.ResearchBudget())
        texts = core.live_pages(
            reader_of(reader, cache),
            policy=lists.allowed_domains_policy,
            execution=lists.allowed_domains_execution,
            limits={name: getattr(budget, name) for name in PAGE_LIMITS},
        )
    checked = core.recheck(notes, texts)
    if as_json:
        print_json({"notes": [note.plain() for note in checked]})
    else:
        screen = Screen()
        for note in checked:
            why = f" ({note.why})" if note.why else ""
            screen.columns((f"{note.verdict:<8} {note.id}", STYLES[note.verdict]), f"{note.url}{why}", at=16, indent=0)
    exit_with(all(note.verdict in STILL_SAID for note in checked))


def _result(run: str) -> JsonObject:
    found = pages.read("RUN", run)
    if isinstance(found, dict):
        return found
    if found.recording is None:
        raise ConfigurationError(f"RUN {run!r:.200}: the run was erased")
    return found.recording["result"]
