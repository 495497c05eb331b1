"""`guardgraph kb`: knowledge bases on disk are filled, searched, checked, rebuilt, and asked who may read what."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

from guardgraph.cli import inputs
from guardgraph.cli.inputs import show_progress_bar
from guardgraph.cli.options import Json, argument, option
from guardgraph.cli.shell import Screen, count_things, exit_with_status, make_command_group, print_json, print_on_stderr
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.urls import is_server_url

if TYPE_CHECKING:
    from guardgraph.knowledge.base import AnyKnowledgeBase
    from guardgraph.knowledge.checking import CheckedBase
    from guardgraph.state.context import Caller

_SHOWN: Final = 5  # of many that are alike


def name_first(names: Sequence[str]) -> str:
    """Return the first of some names, and how many there are more."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}" or "none"


def show_rows(screen: Screen, rows: Iterable[JsonObject]) -> None:
    """Show rows that have the same fields."""
    held = [*rows]
    if not held:
        screen.print_text("nothing", indent=0)
        return
    cells = ([_format_base_cell(value) for value in row.values()] for row in held)
    screen.print_table([name.replace("_", " ") for name in held[0]], cells)


def show_checked(screen: Screen, file: str, checked: CheckedBase) -> None:
    """Show what was found, what became of it, and what to do next."""
    counts = f"{count_things(checked.documents, 'document')}, {count_things(checked.chunks, 'chunk')}"
    screen.print_text(f"{file}: {counts}", indent=0)
    for kind, of_kind in groupby(checked.findings, key=lambda finding: finding.kind):
        findings = [*of_kind]
        for finding in findings[:_SHOWN]:
            screen.print_text((str(finding), "red"), hang=2)
        if len(findings) > _SHOWN:
            screen.print_text((f"{kind}: {len(findings) - _SHOWN} more; --json has them", "red"), hang=2)
    if not checked.findings:
        screen.print_text(("no findings", "green"), indent=0)
    elif not checked.rebuilt:
        screen.print_text(f"to make the index anew of what is right: guardgraph kb rebuild {file}", indent=0)
    if checked.rebuilt:
        screen.print_text(("the index is made anew", "green"), indent=0)
    became = [f"{item}: not what was put in; add it again" for item in checked.refused]
    for said in (*became, *(f"{item}: it has no vectors" for item in checked.without_vectors)):
        screen.print_text((said, "red"), hang=2)
    if checked.unmeasured:
        languages = ", ".join(checked.unmeasured)
        said = f"most chunks are in {languages}, for which no min_chunk_score was measured: set one of your own"
        screen.print_text(said, indent=0)
    if checked.without_vectors or (not checked.rebuilt and any(item.kind == "vectors" for item in checked.findings)):
        again = f"KnowledgeBase({file!r}, embedding=...).add(...); where it is refused, into a new file"
        screen.print_text(f"to make vectors again, in Python: {again}", indent=0)


def _format_base_cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "nobody"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


app = make_command_group("Fill, search and check knowledge bases on disk, and say who may read what.")

SHOWN_TEXT = 160  # characters of a chunk that a person is shown

File = Annotated[str, argument("FILE", "The knowledge base, or the URL of one.")]
Of = Annotated[str | None, option("--tenant TENANT", "Whose documents.")]
Asking = Annotated[str | None, option("--tenant TENANT", "For whom the caller asks.")]
User = Annotated[str | None, option("--user USER", "Who asks.")]
Group = Annotated[list[str] | None, option("--group GROUP", "A group of whoever asks, without group:, more than once.")]


@app.command()
def init(url: Annotated[str, argument("URL", "postgresql://USER:PASSWORD@HOST/DATABASE.")]) -> None:
    """Make an empty knowledge base in a database of PostgreSQL, and its two roles.

    USER may make schemas and roles, and owns the tables. Documents are added and asked for by others, which are members
    of guardgraph_writer or guardgraph_reader. Where the base is there, nothing is changed.
    """
    from guardgraph.knowledge.base import make_server_base

    made = make_server_base(url)
    said = "made; grant guardgraph_reader or guardgraph_writer to roles" if made else "there already"
    Screen().print_text(said, indent=0)


@app.command()
def add(
    file: Annotated[str, argument("FILE", "The knowledge base, made if it is not there; or its URL.")],
    folder: Annotated[str, argument("FOLDER", ".md, .rst, .html, .txt and .pdf files.")],
    *,
    tenant: Of = None,
    reader: Annotated[
        list[str] | None, option("--reader READER", "public, tenant, user:ID or group:ID; more than once.")
    ] = None,
    name: Annotated[str | None, option("--name NAME", "Of the collection; it stands before each id.")] = None,
    prune: Annotated[bool, option("--prune", "Remove what is gone, even if it is more than half.")] = False,
    as_json: Json = False,
) -> None:
    """Make a collection match a folder.

    What is new or changed is read, what is gone is removed, and every rule is held again. Exit code 3 if a file could
    not be taken in; the others were.
    """
    from guardgraph.knowledge.ingest.rules import read_access_list

    inputs.require_file_option("FOLDER", folder, "folder")
    try:
        read_access_list(reader or [])
    except ValueError as error:  # before a file is made
        raise ConfigurationError(f"--reader: {error}") from None
    with _open_knowledge_base(file, makes=True) as kb, show_progress_bar() as progress:
        report = kb.add(folder, tenant=tenant, readers=reader, name=name, prune=prune, progress=progress)
    counts = {name: len(getattr(report, name)) for name in ("added", "changed", "unchanged", "removed", "failed")}
    if not any(counts.values()):
        raise ConfigurationError(f"FOLDER {folder!r:.200}: files with text are required; there are none")
    if as_json:
        items = {name: [item._asdict() for item in getattr(report, name)] for name in ("failed", "left_out")}
        print_json({**report._asdict(), **items})
        exit_with_status(report.ok)
    screen = Screen()
    screen.print_text(f"{folder}: {', '.join(f'{count} {name}' for name, count in counts.items())}", indent=0)
    for failed in report.failed:
        screen.print_text((f"{failed.name}: {failed.reason}", "red"), hang=2)
    if left_out := report.describe_left_out():
        print_on_stderr(f"left out of {folder}: {left_out}")
    if report.closed:
        which = f"{count_things(len(report.closed), 'document')} ({name_first(report.closed)})"
        print_on_stderr(f"nobody may read {which}; --reader or an access.yaml names who may")
    exit_with_status(report.ok)


@app.command(name="list")
def list_(
    file: File,
    name: Annotated[str | None, option("--name NAME", "The documents of this one.")] = None,
    tenant: Of = None,
    as_json: Json = False,
) -> None:
    """List the collections of a knowledge base, or the documents of one."""
    rows: list[JsonObject]
    with _open_knowledge_base(file) as kb:
        if name is None:
            collections = kb.index.collections()
            named = [key for key in sorted(collections, key=_sort_by_tenant) if tenant in (None, key[0])]
            rows = [{"tenant": key[0], "name": key[1], "documents": collections[key]} for key in named]
        else:
            listed = sorted(kb.index.listed(tenant, _require_collection("--name", name, tenant, kb)).items())
            rows = [{"id": at, "source": each.source, "readers": list(each.access.readers)} for at, each in listed]
        _note_unknown_tenant(tenant, kb)
    if as_json:
        print_json(rows)
    else:
        show_rows(Screen(), rows)


@app.command()
def remove(file: File, name: Annotated[str, argument("NAME", "The collection.")], tenant: Of = None) -> None:
    """Remove a collection with all its documents."""
    with _open_knowledge_base(file) as kb:
        count = kb.remove(_require_collection("NAME", name, tenant, kb), tenant=tenant)
    Screen().print_text(f"{name}: {count_things(count, 'document')} removed", indent=0)


@app.command()
def search(
    file: File,
    query: Annotated[str, argument("QUERY", "What is asked.")],
    *,
    tenant: Asking = None,
    user: User = None,
    group: Group = None,
    top_k: Annotated[int, option("--top-k", "How many at most.", min=1, max=1000)] = 4,
    as_json: Json = False,
) -> None:
    """Show what a caller would find, and why they do not find more.

    That shows documents that the caller may not read: who may open the file may read all of it.
    """
    with _open_knowledge_base(file) as kb:
        found, missing = kb.index.explain(query, caller=inputs.parse_caller_options(tenant, user, group), top_k=top_k)
        _note_unknown_tenant(tenant, kb)
    if as_json:
        print_json({"found": found, "not_found": [item._asdict() for item in missing]})
        return
    screen = Screen()
    for candidate in found:
        screen.print_columns((f"{candidate['score']:.4f}", "bold"), candidate["doc_id"], at=8, indent=0)
        text = " ".join(candidate["text"].split())[:SHOWN_TEXT]
        screen.print_text((f"{candidate['source']}: {text}", "dim"), indent=8)
    if not found:
        screen.print_text("nothing found", indent=0)
    if missing:
        screen.print_heading("not found")
    for item in missing:
        screen.print_text(f"{item.id}: {item.reason}", hang=2)


@app.command()
def check(file: File, *, as_json: Json = False) -> None:
    """Check whether a knowledge base is what was put in.

    That is the file, each document and chunk, who may read it, and all that is counted of words. Nothing is changed.
    Exit code 3 if something is not.
    """
    _check_and_exit(file, as_json)


@app.command()
def rebuild(file: File, *, as_json: Json = False) -> None:
    """Make the index again from the stored texts that are what was put in.

    That takes a base that another version read, too. Documents that are not what was put in are taken out and
    named. Exit code 3 if documents have to be added again.
    """
    _check_and_exit(file, as_json, rebuilds=True)


def _check_and_exit(file: str, as_json: bool, *, rebuilds: bool = False) -> NoReturn:
    """Print what comes of a check of a base that is there, and exit as it ends."""
    from guardgraph.knowledge.base import open_to_check

    database = open_to_check(file if is_server_url(file) else inputs.require_file_option("FILE", file))
    from guardgraph.knowledge import checking  # needs numpy, which was looked for

    checked = checking.rebuild_knowledge_base(database) if rebuilds else checking.check_knowledge_base(database)
    if as_json:
        print_json(checked.plain())
    else:
        show_checked(Screen(), database.shown, checked)
    exit_with_status(checked.ok)


@app.command()
def access(file: File, tenant: Asking = None, user: User = None, group: Group = None, as_json: Json = False) -> None:
    """Show who may read what.

    These are the readers of each source, and whether a caller may read it; without options, anybody. They are changed
    where they come from: by `kb add` with other readers or other rules.
    """
    from guardgraph.state.context import is_access_allowed

    asked = inputs.parse_caller_options(tenant, user, group)
    with _open_knowledge_base(file) as kb:
        _note_unknown_tenant(tenant, kb)
        rows = list[JsonObject]()
        counted = kb.index.documents_by_scope()
        for scope in sorted(counted, key=lambda each: (each.access.tenant or "", each.source, each.access.readers)):
            whose = {"tenant": scope.access.tenant, "source": scope.source, "readers": list(scope.access.readers)}
            rows.append({**whose, "documents": counted[scope], "may_read": is_access_allowed(scope.access, asked)})
    if as_json:
        print_json(rows)
    else:
        show_rows(Screen(), rows)


def read_caller_options(kb: str | None, tenant: str | None, user: str | None, group: list[str] | None) -> Caller | None:
    """Return who asks the knowledge base of ``--kb``; None where it is no file, whose documents have no readers."""
    if kb is not None and (is_server_url(kb) or os.path.isfile(inputs.check_path_option("--kb", kb))):
        return inputs.parse_caller_options(tenant, user, group)
    if kb is not None and not os.path.exists(kb):
        required = "a folder, a file of `guardgraph kb` or a URL is required"
        raise ConfigurationError(f"--kb {kb!r:.200}: {required}; there is none")
    for name, given in (("--user", user), ("--group", group)):
        if given:
            raise ConfigurationError(f"{name}: --kb FILE, a file of `guardgraph kb`, is required beside it")
    return None


def _open_knowledge_base(given: str, *, makes: bool = False) -> AnyKnowledgeBase:
    """Open the knowledge base of a file, which is there or is made, or of a URL."""
    from guardgraph.knowledge.base import open_knowledge_base

    if is_server_url(given):
        return open_knowledge_base(given)
    require = inputs.check_path_option if makes else inputs.require_file_option
    return open_knowledge_base(require("FILE", given))


def _require_collection(option: str, name: str, tenant: str | None, kb: AnyKnowledgeBase) -> str:
    """Return the name of a collection that is there."""
    there = sorted(kb.index.collections(), key=_sort_by_tenant)
    if (tenant, name) in there:
        return name
    whose = "without a tenant" if tenant is None else f"of the tenant {tenant!r:.80}"
    shown = [f"{of} ({'no tenant' if whose is None else f'--tenant {whose}'})" for whose, of in there]
    said = f"there is no such collection {whose}; there are {name_first(shown)}"
    raise ConfigurationError(f"{option} {name!r:.80}: {said}")


def _note_unknown_tenant(tenant: str | None, kb: AnyKnowledgeBase) -> None:
    """Say on stderr that a tenant has no documents, since another one may be meant."""
    try:
        there = kb.tenants()
    except ConfigurationError:  # a role of a server that reads for callers only knows no tenants
        return
    if tenant is not None and tenant not in there:
        others = name_first([of for of in there if of])
        print_on_stderr(f"the tenant {tenant!r:.80} has no documents; there are {others}")


def _sort_by_tenant(collection: tuple[str | None, str]) -> tuple[str, str]:
    tenant, name = collection
    return tenant or "", name
