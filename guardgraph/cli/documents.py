"""`guardgraph audit export` and `check`: a run as a document, and what anybody can derive from it again."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import guardgraph
from guardgraph.cli import inputs
from guardgraph.cli.audit import Json, Store, head_of, store_at
from guardgraph.cli.screen import Screen
from guardgraph.cli.shell import OK, STOPPED
from guardgraph.plain.errors import ConfigurationError

__all__ = ["check", "export"]

KEY_BYTES = 64 * 1024
"""Bytes of a PEM file that are read: a hundred times what a key has."""


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)],
    store: Store = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file; printed if left out.", show_default=False),
    ] = None,
    sign: Annotated[
        str | None,
        typer.Option("--sign", metavar="KEY.pem", help="An Ed25519 private key, PKCS #8.", show_default=False),
    ] = None,
) -> None:
    """Write a run as one JSON document: recording, result, place in the chain; signed if a key is given.

    The document has all that the run's recording has. The file is readable by its owner alone.
    """
    from guardgraph.evidence.strict_json import written

    inputs.load_environment()
    key = None if sign is None else inputs.content("--sign", sign, KEY_BYTES)
    document = guardgraph.export_run(store_at(store), run)
    text = written(dict(document)) if key is None else guardgraph.sign_document(document, key)
    if out is None:
        print(text, end="", flush=True)
        return
    _write(out, text)
    how = "signed" if key is not None else "not signed"
    Screen().show(f"{out}: run {run}, entry {document['chain']['seq']}:{document['chain']['hash']}, {how}", indent=0)


def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A document; - reads it from a pipe.", show_default=False)
    ],
    agent: Annotated[
        str,
        typer.Option(
            "--agent", metavar="MODULE:FACTORY", help="Makes the agent that decides again.", show_default=False
        ),
    ],
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="N:HASH", help="The run's entry, as it was kept elsewhere.", show_default=False),
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option("--public-key", metavar="PEM", help="An Ed25519 public key: it has signed.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Derive every verdict of a document again, without its store and without a network.

    FACTORY is given the document's policy and budget if it takes policy and budget. Nothing else of the document says
    what is loaded. Exit code 3 if anything differs, or cannot be derived.
    """
    from guardgraph.evidence.strict_json import MOST_BYTES

    inputs.load_environment()
    kept = head_of(head)
    key = None if public_key is None else inputs.content("--public-key", public_key, KEY_BYTES)
    checked = guardgraph.check_document(inputs.content("FILE", file, MOST_BYTES), agent, head=kept, public_key=key)
    if as_json:
        print(json.dumps(checked.plain(), indent=2), flush=True)
    else:
        _show(Screen(), checked)
    raise typer.Exit(OK if checked.ok else STOPPED)


SIGNED = {
    "no": "not signed",
    "unchecked": "signed; no key was given to check it with",
    "wrong": "not signed with this key",
    "yes": "signed with this key",
}


def _show(screen: Screen, checked: guardgraph.CheckedRun) -> None:
    screen.labelled("run", checked.run_id, f", {checked.pattern}, guardgraph {checked.guardgraph}")
    screen.labelled("entry", f"{checked.seq}:{checked.hash}")
    screen.labelled("signature", SIGNED[checked.signed])
    if checked.ok:
        screen.show(("every verdict was derived again; no findings", "green"), indent=0)
    for finding in checked.findings:
        screen.show((f"{finding.kind}: {finding}", "red"), hang=2)


def _write(out: str, text: str) -> None:
    """Write a file that its owner alone can read, whole or not at all.

    Raises:
        ConfigurationError: it cannot be written, or something stands there that is no file.
    """
    try:
        file = Path(out)
        if file.exists() and not file.is_file():
            raise ConfigurationError(f"--out {out!r:.200}: a file is required; something else stands there")
        handle, beside = tempfile.mkstemp(prefix=f".{file.name[:80]}.", dir=file.parent)
        try:
            with open(handle, "w", encoding="utf-8") as opened:
                opened.write(text)
                opened.flush()
                os.fsync(handle)
            os.replace(beside, file)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside)  # it is still there where it did not become the file
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"--out {out!r:.200}: cannot be written: {error}") from error
