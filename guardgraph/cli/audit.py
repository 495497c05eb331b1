"""`guardgraph audit`: what a store of runs has, whether it is what was written, what has to go; runs as documents."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import guardgraph
from guardgraph.cli import inputs
from guardgraph.cli.options import VARIABLE, Json, Pattern, Run, Since, Store, argument, option
from guardgraph.cli.shell import (
    Screen,
    count_things,
    escape_to_one_line,
    exit_with_status,
    make_command_group,
    print_json,
)
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.files import replace_file
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from guardgraph.evidence.chain import Entry
    from guardgraph.evidence.verification import Erasure

HEAD = re.compile("([0-9]{1,18}):([0-9a-f]{64})")

app = make_command_group("Show, verify and erase what a store of runs has.")

By = Annotated[str, option("--by WHO", "Who erases; it stays in the chain.")]
Tenant = Annotated[str | None, option("--tenant TENANT", "Of this tenant.")]


@app.command(name="list")
def list_(
    *,
    store: Store = None,
    pattern: Pattern = None,
    tenant: Tenant = None,
    since: Since = None,
    only_open: Annotated[bool, option("--open", "Those that began and have no ending.")] = False,
    only_waiting: Annotated[bool, option("--waiting", "Those that wait for a person.")] = False,
    as_json: Json = False,
) -> None:
    """List the runs of a store, each by its latest record, and then those that are open: that have no ending."""
    opened, moment = open_store_option(store), parse_since_option(since)
    runs = () if only_open or only_waiting else opened.runs(pattern=pattern, tenant=tenant, since=moment)
    left = [item for item in opened.open_runs() if item.waiting or not only_waiting]
    chosen = (item for item in left if _is_open_run_chosen(item, pattern, tenant, moment))
    rows = chain(map(make_run_row, runs), map(make_open_row, chosen))
    if as_json:
        print_json(list(rows))
    else:
        screen = Screen()
        for row in rows:
            more = ", redacted" if row.get("redacted") else ""
            if "earlier" in row:
                more += f", recorded before as {', '.join(map(str, row['earlier']))}"
            if "forked_from" in row:
                more += f", forked from {row['forked_from']['run_id']}"
            line = f"{row['seq']:>6}  {row['at'][:19]}  {row['run_id']}  {_format_row_ending(row)}{more}"
            screen.print_text(line, indent=0, hang=8)


@app.command()
def show(run: Run, store: Store = None, as_json: Json = False) -> None:
    """Show a run: where it stands in the chain, and how it ended or that it is open; with --json all that is kept."""
    from guardgraph.evidence.chain import read_chain_entry

    opened = open_store_option(store)
    entries = []
    for text in opened.entries(run):
        with suppress(ValueError):
            entries.append(read_chain_entry(text))
    left = next(iter(opened.open_runs(run) if entries else ()), None)
    if left is None and entries and not any(entry["kind"] == "run" for entry in entries):
        if as_json:
            print_json({"run_id": run, "recording": None, "status": "closed", "entries": entries})
        else:
            screen = Screen()
            screen.print_with_label("run", run)
            screen.print_with_label("state", "closed, without an ending")
            _print_run_entries(screen, entries)
        return
    stored: guardgraph.StoredRun | guardgraph.OpenRun = left or opened.read(run)
    if as_json:
        place = {"seq": stored.position.seq, "hash": stored.position.hash, "at": stored.position.at}
        kept: JsonObject = {"recording": None} if left is None else {**make_open_row(left), "begun": left.begun}
        kept["recording"] = stored.recording if isinstance(stored, guardgraph.StoredRun) else None
        print_json({"run_id": stored.run_id, "position": place, **kept, "entries": entries})
    else:
        _print_kept_run(Screen(), stored, entries)


@app.command()
def head(store: Store = None, as_json: Json = False) -> None:
    """Print number and hash of the last entry, N:HASH, to be kept elsewhere."""
    last = open_store_option(store).head()
    if as_json:
        print_json(None if last is None else {"seq": last.seq, "hash": last.hash, "at": last.at})
    elif last is None:
        Screen().print_text("the chain is empty", indent=0)
    else:
        print(f"{last.seq}:{last.hash}", flush=True)


@app.command()
def verify(
    *,
    store: Store = None,
    head: Annotated[str | None, option("--head N:HASH", "A head that was kept elsewhere.")] = None,
    checkpointer: Annotated[
        str | None, option("--checkpointer MODULE:NAME", "Theirs: finds open runs it lacks.")
    ] = None,
    replay: Annotated[bool, option("--replay", "Decide the runs again, and name those that part.")] = False,
    agent: Annotated[list[str] | None, option("--agent MODULE:NAME", "Who replays, if no shipped agent.")] = None,
    as_json: Json = False,
) -> None:
    """Verify that a store has what was written to it; exit code 3 where it has not."""
    from guardgraph.cli.what_if import print_replayed, replay_store_runs
    from guardgraph.graphs.loading import load_named_graph

    opened, kept = open_store_option(store), parse_head_option(head)
    saver = None if checkpointer is None else load_named_graph(checkpointer, "--checkpointer")
    verification = opened.verify(kept, checkpointer=saver)
    replayed = replay_store_runs(opened.runs(), agent or ()) if replay or agent else None
    if as_json:
        print_json({**verification.plain(), **({} if replayed is None else {"replay": replayed.plain()})})
        exit_with_status(verification.ok and not (replayed and replayed.parted))
    screen = Screen()
    counts = f"{verification.entries} entries, {verification.runs} of runs"
    screen.print_text(f"{counts}; head {verification.head or 'none'}", indent=0)
    for item in verification.erasures:
        screen.print_text(f"entry {item.seq}: {_format_erasure_line(item)} at {item.at}", hang=2)
    for left in verification.open:
        state = _format_open_state(left.intents, left.receipts, left.waiting)
        followed = "" if left.followed_by is None else f"; entry {left.followed_by} began another run on such a thread"
        screen.print_text(f"entry {left.seq}: run {left.run_id} {state}, since {left.at}{followed}", hang=2)
    for seqs in verification.repeated:
        numbers = ", ".join(map(str, seqs))
        screen.print_text(f"entries {numbers}: records of one run, executed or recorded again", hang=2)
    for step in verification.clock_steps:
        screen.print_text(f"entry {step.seq}: a clock went back, from {step.previous} to {step.at}", hang=2)
    if verification.ok:
        screen.print_text(("no findings", "green"), indent=0)
    for finding in verification.findings:
        screen.print_text((str(finding), "red"), hang=2)
    if replayed is not None:
        print_replayed(screen, replayed)
    exit_with_status(verification.ok and not (replayed and replayed.parted))


@app.command(name="import")
def import_(
    source: Annotated[str, argument("FILE|URL", "The export: a file, or a database of checkpoints.")],
    *,
    form: Annotated[str, option("--from FORM", "langgraph or otlp: checkpoints of LangGraph, or spans.")],
    tools: Annotated[str | None, option("--tools MODULE:NAME", "The agent's tools, if not in the export.")] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Import runs that nobody recorded, from checkpoints of LangGraph or spans of OpenTelemetry.

    What an export does not say is named as lacking, and a what-if that needs it says unknown. Importing the same again
    adds nothing.
    """
    from guardgraph.graphs.loading import load_named_graph
    from guardgraph.middleware.importing import FORMS, import_runs

    opened = guardgraph.sql_store(_read_store_url(store))
    before = opened.head()
    given = None if tools is None else load_named_graph(tools, "--tools")
    if form not in FORMS:
        raise ConfigurationError(f"--from: {' or '.join(FORMS)} is required; given: {form!r:.80}")
    imported = import_runs(source, opened, form=form, tools=given)
    added = sum(before is None or receipt["seq"] > before.seq for receipt in imported.receipts)
    ids = [run["run_id"] for run in imported.recordings]
    if as_json:
        print_json({"runs": ids, "added": added, "lacking": imported.lacking, "skipped": imported.skipped})
        return
    screen = Screen()
    screen.print_text(f"{len(ids)} runs, {added} of them added", indent=0)
    for part, count in imported.lacking.items():
        screen.print_with_label("lacking", f"{part} in {count}")
    for each in imported.skipped:
        screen.print_with_label("skipped", escape_to_one_line(each))


@app.command()
def erase(
    run: Annotated[str | None, argument("RUN", "The run's id.")] = None,
    *,
    by: By,
    tenant: Tenant = None,
    user: Annotated[str | None, option("--user USER", "Of this user.")] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Erase a run, or all runs that a tenant or a user began or resumed; the chain stays."""
    _print_erasure_and_exit(open_store_option(store).erase(run, tenant=tenant, user=user, by=by), as_json)


@app.command()
def close(
    run: Run,
    *,
    by: Annotated[str, option("--by WHO", "Who closes; it stays in the chain.")],
    why: Annotated[str, option("--why TEXT", "Why; it stays in the chain.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Close an open run that is lost: nobody will end it."""
    receipt = open_store_option(store).close_run(run, by=by, why=why)
    if as_json:
        print_json({"run_id": run, **receipt})
    else:
        Screen().print_text(f"entry {receipt['seq']}: run {run} closed by {escape_to_one_line(by)}", indent=0)


@app.command()
def retain(
    days: Annotated[float, option("--days N", "What is older is erased.")],
    by: By,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Erase what was recorded more than some days ago, but for runs that are open; the chain stays."""
    _print_erasure_and_exit(open_store_option(store).retain(days, by=by), as_json)


def open_store_option(given: str | None) -> guardgraph.SqlStore:
    """Return the store of ``--store``, or of the environment, which has to be there already."""
    store = guardgraph.sql_store(_read_store_url(given))
    store.check()
    return store


def _read_store_url(given: str | None) -> str:
    url = given or os.environ.get(VARIABLE, "").strip()
    if not url:
        raise ConfigurationError(f"--store: a URL, such as sqlite:///runs.db, is required, or {VARIABLE}")
    return url


def make_run_row(stored: guardgraph.StoredRun) -> JsonObject:
    """Return what a list says of a run."""
    row: JsonObject = {"seq": stored.position.seq, "at": stored.position.at, "run_id": stored.run_id}
    if stored.earlier:
        row["earlier"] = list(stored.earlier)
    if stored.recording is not None and "forked_from" in stored.recording:
        row["forked_from"] = stored.recording["forked_from"]
    if stored.recording is None:
        return {**row, "erased": True} if stored.changed is None else {**row, "changed": stored.changed}
    result = stored.recording["result"]
    row |= {key: result.get(key) for key in ("pattern", "status", "stop_reason", "outcome")}
    return {**row, "redacted": bool(stored.recording.get("redacted"))}


def make_open_row(left: guardgraph.OpenRun) -> JsonObject:
    """Return what a list says of a run that is open; its status is ``open`` or ``waiting``."""
    row: JsonObject = {"seq": left.position.seq, "at": left.position.at, "run_id": left.run_id}
    begun = left.begun
    row |= {"pattern": None if begun is None else begun["pattern"], "status": "waiting" if left.waiting else "open"}
    row |= {"stop_reason": None, "outcome": None, "redacted": bool(begun and begun.get("redacted"))}
    row |= {"intents": left.intents, "receipts": left.receipts}
    if begun is not None and "forked_from" in begun:
        row["forked_from"] = begun["forked_from"]
    return row if left.changed is None else {**row, "changed": left.changed}


def _is_open_run_chosen(left: guardgraph.OpenRun, pattern: str | None, tenant: str | None, since: Any) -> bool:
    """Say whether an open run is one that options of a list select; of one that was erased, nobody knows more."""
    from guardgraph.evidence.chain import build_begun_lookup

    if since is not None and left.position.is_before(since):
        return False
    if left.begun is None:
        return pattern is None and tenant is None
    found_by = build_begun_lookup(left.begun)
    return pattern in (None, found_by.pattern) and (tenant is None or tenant in [name for name, _ in found_by.callers])


def _format_open_state(intents: int, receipts: int, waiting: bool) -> str:
    """Say of an open run whether it waits, and whether it acted."""
    acted = f"{count_things(intents, 'act')} noted" if intents else "no act noted"
    unknown = f", of which the outcome of {intents - receipts} is unknown" if intents > receipts else ""
    return f"{'waiting for a person' if waiting else 'open'}, {acted}{unknown}"


def _format_row_ending(row: JsonObject) -> str:
    if "changed" in row:
        return f"changed: {row['changed']}"
    if "intents" in row:
        state = _format_open_state(row["intents"], row["receipts"], row["status"] == "waiting")
        return f"{row['pattern'] or 'erased'}: {state}"
    return "erased" if "erased" in row else f"{row['pattern']}: {row['outcome'] or row['stop_reason']}"


def _print_kept_run(screen: Screen, kept: guardgraph.StoredRun | guardgraph.OpenRun, entries: list[Entry]) -> None:
    from guardgraph.plain.json import excerpt_value

    place, is_open = kept.position, isinstance(kept, guardgraph.OpenRun)
    said: Any = kept.begun if isinstance(kept, guardgraph.OpenRun) else kept.recording
    screen.print_with_label("run", kept.run_id)
    screen.print_with_label("entry", f"{place.seq}:{place.hash}")
    screen.print_with_label("began" if is_open else "recorded", place.at)
    if isinstance(kept, guardgraph.OpenRun):
        screen.print_with_label("state", _format_open_state(kept.intents, kept.receipts, kept.waiting))
    if said is None:
        screen.print_with_label("content", kept.changed or "erased")
    else:
        screen.print_with_label("pattern", said["pattern"], f", guardgraph {said['guardgraph']}")
        screen.print_with_label("asked", excerpt_value(said["input"], 600))
        if is_open:
            screen.print_with_label("thread", said["thread"] or "none: nobody can resume it")
        else:
            ended = (said["result"].get(key) for key in ("status", "stop_reason", "outcome"))
            screen.print_with_label("ended", ", ".join(map(str, filter(None, ended))))
            screen.print_with_label("path", " ".join(said["result"].get("path", ())))
        if "forked_from" in said:
            screen.print_with_label("forked from", "{run_id} at {checkpoint}".format(**said["forked_from"]))
        if places := said.get("redacted"):
            screen.print_with_label("redacted", f"in {len(places)} places")
    if is_open or said is None or len(entries) > 1:
        _print_run_entries(screen, entries)


def _print_run_entries(screen: Screen, entries: list[Entry]) -> None:
    """Print all that the chain says of a run, an entry a line."""
    for entry in entries:
        said = {"run": "recorded", "begin": "began", "erasure": "erased"}.get(entry["kind"], "")
        if entry["kind"] == "close":
            by = f"run {entry['by']}" if entry["how"] == "superseded" else entry["by"]
            said = f"{entry['how']} by {escape_to_one_line(by)}: {escape_to_one_line(entry['why'])}"
        elif entry["kind"] == "note":
            said = f"noted: {entry['note']}"
        screen.print_with_label(f"{entry['seq']}", f"{entry['at'][:19]}  {said}")


def _format_erasure_line(erasure: Erasure) -> str:
    how = {"erase": "erased", "retain": "erased, as kept long enough,"}[erasure.how]
    return f"{count_things(erasure.records, 'record')} {how} by {escape_to_one_line(erasure.by)}"


def _print_erasure_and_exit(made: Erasure | None, as_json: bool) -> NoReturn:
    if as_json:
        told: Any = made and {key: getattr(made, key) for key in ("seq", "at", "by", "how", "records")}
        print_json(told)
    else:
        said = "nothing to erase" if made is None else f"entry {made.seq}: {_format_erasure_line(made)}"
        Screen().print_text(said, indent=0)
    exit_with_status(True)


def parse_since_option(given: str | None) -> datetime | None:
    """Return the moment of ``--since``, with its zone."""
    if given is None:
        return None
    if (back := re.fullmatch(r"([0-9]{1,5})([dh])", given)) is not None:
        return datetime.now(UTC) - timedelta(**{"days" if back[2] == "d" else "hours": int(back[1])})
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        allowed = "30d, 12h, a date, such as 2026-01-31, or a date and time"
        raise ConfigurationError(f"--since: {allowed} is required; given: {given!r:.80}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_head_option(given: str | None) -> tuple[int, str] | None:
    """Return number and hash of ``--head``."""
    if given is None:
        return None
    if (said := HEAD.fullmatch(given.strip())) is None:
        allowed = "N:HASH, as `guardgraph audit head` prints,"
        raise ConfigurationError(f"--head: {allowed} is required; given: {given!r:.90}")
    return int(said[1]), said[2]


KEY_BYTES = 64 * 1024  # bytes of a PEM file that are read: a hundred times what a key has


@app.command()
def export(
    run: Run,
    store: Store = None,
    out: Annotated[str | None, option("--out -o FILE", "The file; printed if left out.")] = None,
    sign: Annotated[str | None, option("--sign KEY.pem", "An Ed25519 private key, PKCS #8.")] = None,
) -> None:
    """Write a run as one JSON document: recording, result, place in the chain; signed if a key is given.

    The document has all that the run's recording has. The file is readable by its owner alone.
    """
    from guardgraph.evidence.strict_json import format_document_text

    key = None if sign is None else inputs.read_option_bytes("--sign", sign, KEY_BYTES)
    document = guardgraph.export_run(open_store_option(store), run)
    text = format_document_text(dict(document)) if key is None else guardgraph.sign_document(document, key)
    if out is None:
        print(text, end="", flush=True)
        return
    with inputs.name_unwritten_file("--out", out):
        file = Path(out)
        if file.exists() and not file.is_file():
            raise ConfigurationError(f"--out {out!r:.200}: a file is required; something else stands there")
        replace_file(file, text, rights=0o600)
    how = "signed" if key is not None else "not signed"
    place = document["chain"]
    Screen().print_text(f"{out}: run {run}, entry {place['seq']}:{place['hash']}, {how}", indent=0)


@app.command()
def check(
    file: Annotated[str, argument("FILE", "A document; - reads it from a pipe.")],
    agent: Annotated[str, option("--agent MODULE:FACTORY", "Makes the agent that decides again.")],
    head: Annotated[str | None, option("--head N:HASH", "The run's entry, as it was kept elsewhere.")] = None,
    public_key: Annotated[str | None, option("--public-key PEM", "An Ed25519 public key: it has signed.")] = None,
    as_json: Json = False,
) -> None:
    """Derive every verdict of a document again, without its store and without a network.

    FACTORY is given the document's policy and budget if it takes policy and budget. Nothing else of the document says
    what is loaded. Exit code 3 if anything differs, or cannot be derived.
    """
    from guardgraph.evidence.strict_json import MOST_BYTES

    kept = parse_head_option(head)
    key = None if public_key is None else inputs.read_option_bytes("--public-key", public_key, KEY_BYTES)
    data = inputs.read_option_bytes("FILE", file, MOST_BYTES)
    checked = guardgraph.check_document(data, agent, head=kept, public_key=key)
    if as_json:
        print_json(checked.plain())
    else:
        screen = Screen()
        screen.print_with_label("run", checked.run_id, f", {checked.pattern}, guardgraph {checked.guardgraph}")
        screen.print_with_label("entry", f"{checked.seq}:{checked.hash}")
        screen.print_with_label("signature", SIGNED[checked.signed])
        if checked.ok and checked.signed == "unchecked":
            said = "every verdict was derived again; no findings, but who signed it was not checked: give --public-key"
            screen.print_text((said, "yellow"), indent=0)
        elif checked.ok:
            screen.print_text(("every verdict was derived again; no findings", "green"), indent=0)
        for finding in checked.findings:
            screen.print_text((f"{finding.kind}: {finding}", "red"), hang=2)
    exit_with_status(checked.ok)


SIGNED = {
    "no": "not signed",
    "unchecked": "signed; no key was given to check it with",
    "wrong": "not signed with this key",
    "yes": "signed with this key",
}
