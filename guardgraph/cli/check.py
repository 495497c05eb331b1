"""`guardgraph check`: a finished answer, or many, against files, folders and pages."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from guardgraph.checking.answer import check_answer
from guardgraph.checking.checked import CheckedAnswer
from guardgraph.cli import inputs
from guardgraph.cli.options import Json, argument, option
from guardgraph.cli.shell import HELP, Shell, escape_for_terminal, exit_with_status, print_json, print_on_stderr
from guardgraph.evidence.strict_json import read_json_lines
from guardgraph.grounding.check import Source
from guardgraph.plain.errors import ConfigurationError, InputError, ReadFailure
from guardgraph.plain.json import JsonObject

_MOST_BYTES: Final = 20_000_000  # of an answer or of a file of rows
_PAGES: Final = re.compile("https?://", re.IGNORECASE)
_PLAIN: Final = ".txt"
_LABELS: Final = ("good", "bad")
_STYLES: Final = {
    "contradicted": "red", "unsupported": "red", "doubtful": "yellow", "unchecked": "dim", "supported": "green"
}  # fmt: skip

app = typer.Typer(cls=Shell, pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=HELP)
"""This command alone."""


@app.callback()
def _keep_check_in_group() -> None:
    """It stays a command of a group, as it is beside all others."""


@app.command()
def check(
    answer: Annotated[str | None, argument("ANSWER", "A text, Markdown or HTML file; - is the standard input.")] = None,
    *,
    source: Annotated[
        list[str] | None, option("--source PATH|URL", "A file, a folder or a page that it rests on; more than once.")
    ] = None,
    question: Annotated[str, option("--question", "What was asked; its words may be repeated.")] = "",
    data: Annotated[
        str | None, option("--data FILE", 'Many, {"answer", "sources", "question"?, "label"?} in each line.')
    ] = None,
    fail_under: Annotated[float | None, option("--fail-under PERCENT", "With --data: exit with 3 below it.")] = None,
    html: Annotated[str | None, option("--html FILE", "Write it as a page.")] = None,
    markdown: Annotated[bool, option("--markdown", "Print it as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Hold an answer against its sources, sentence by sentence; needs no model, key or network."""
    if (answer is None) == (data is None):
        raise ConfigurationError("check: ANSWER or --data is required, and not both")
    if as_json and markdown:
        raise ConfigurationError("--json, --markdown: one of them is allowed; given: both")
    if fail_under is not None and not (data is not None and 0 <= fail_under <= 100):
        given = f"{fail_under:g}" + ("" if data is not None else " without --data")
        raise ConfigurationError(f"--fail-under: a number from 0 to 100 beside --data is required; given: {given}")
    if data is not None:
        exit_with_status(_check_data_rows(data, fail_under, as_json))
    if not source:
        raise ConfigurationError("--source: a file, a folder or a URL is required; given: none")
    checked = check_answer(_read_shown_text("ANSWER", str(answer)), _read_sources(source), question=question)
    if html is not None:
        if not html.lower().endswith(".html"):
            raise ConfigurationError(f"--html: a name that ends in .html is required; given: {html!r:.200}")
        inputs.write_option_file("--html", html, checked.to_html())
    if as_json:
        print_json(checked.model_dump())
    elif markdown:
        print(checked.to_markdown(), flush=True)
    else:
        _print_checked_answer(checked)
    exit_with_status(checked.ok)


def _print_checked_answer(checked: CheckedAnswer) -> None:
    width = min(max(shutil.get_terminal_size().columns, 40), 100)
    lines = [escape_for_terminal(line) for line in checked.to_text(width=width).splitlines()]
    if not (sys.stdout.isatty() or os.environ.get("FORCE_COLOR")):
        print("\n".join(lines), flush=True)
        return
    from rich.console import Console

    console = Console()
    for line in lines:
        style = next((_STYLES[name] for name in _STYLES if line.endswith(name) and line[:1] != " "), None)
        console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True, style=style)


def _read_shown_text(option: str, name: str) -> str:
    """Return what a reader sees of a file, by its ending; without one, and from standard input, it is plain text."""
    ending = Path(name).suffix.lower() or _PLAIN
    if name != "-":
        inputs.require_file_option(option, name)
    content = inputs.read_option_bytes(option, name, _MOST_BYTES)
    try:
        if ending in (_PLAIN, ".md"):  # as most are: their texts are the file's, and no parser is loaded
            text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        else:
            from guardgraph.formats.by_ending import FORMATS, decode_file_text

            if ending not in FORMATS:
                allowed = ", ".join(FORMATS)
                raise ConfigurationError(f"{option} {name!r:.200}: a file that ends in {allowed} is required")
            text = FORMATS[ending](decode_file_text(content, ending)).text
    except UnicodeError as error:
        raise ConfigurationError(f"{option} {name!r:.200}: UTF-8 text is required: {error}") from None
    if "\0" in text:
        raise ConfigurationError(f"{option} {name!r:.200}: text is required; it holds a NUL character")
    return text


def _read_sources(names: list[str]) -> list[Source]:
    """Return the sources that were named: a file is one, a folder one for each passage, a URL one page."""
    found = list[Source]()
    for name in names:
        if _PAGES.match(name):
            from urllib.parse import urlsplit

            from guardgraph.web.reader import web_reader

            try:
                host = urlsplit(name).hostname or ""
            except ValueError as error:
                raise ConfigurationError(f"--source {name!r:.200}: no address of a page: {error}") from None
            try:
                page = web_reader()({"url": name, "hosts": [host]})
            except ReadFailure as failure:
                raise InputError(f"--source {name!r:.200}: the page cannot be read: {failure.reason}") from None
            found.append(Source(name, page["body"], (page.get("title") or "",)))
        elif name != "-" and os.path.isdir(inputs.check_path_option("--source", name)):
            from guardgraph.tools.knowledge_base import load_folder

            documents = load_folder(name)
            if left_out := documents.describe_left_out():
                print_on_stderr(f"left out of {name}: {left_out}")
            found += [Source(item["id"], item["text"], (item["title"], item["section"])) for item in documents]
        elif name != "-" and not os.path.exists(name):
            raise ConfigurationError(f"--source {name!r:.200}: a file or a folder is required; there is none")
        else:
            text = _read_shown_text("--source", name)
            if not text.strip():
                raise ConfigurationError(f"--source {name!r:.200}: a text is required; given: a blank one")
            found.append(Source(name, text))
    return found


def _check_data_rows(file: str, fail_under: float | None, as_json: bool) -> bool:
    """Check many answers and print a table; return whether as many are let through as were asked for."""
    verdicts, errors, labelled = Counter[str](), Counter[str](), Counter[str]()
    passed = total = 0
    for place, row in read_json_lines("--data", file):
        if (problem := _find_data_row_problem(row)) is not None:
            raise InputError(f"{place}: {problem}")
        try:
            checked = check_answer(row["answer"], row["sources"], question=row.get("question") or "")
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        total, passed = total + 1, passed + checked.ok
        verdicts[checked.verdict] += 1
        if (label := row.get("label")) is not None:
            labelled[label] += 1
            errors[label] += checked.ok == (label == "bad")
    if not total:
        raise InputError(f"--data {file!r:.200}: lines with answers are required; given: none")
    share = 100 * passed / total
    table: JsonObject = {"answers": total, "let_through": passed, "verdicts": {v: verdicts[v] for v in _STYLES}}
    table |= {} if fail_under is None else {"fail_under": fail_under}
    for label, name in (("good", "good_refused"), ("bad", "bad_let_through")):
        if labelled[label]:
            table[name] = round(100 * errors[label] / labelled[label], 1)
    if as_json:
        print_json(table)
    else:
        print(f"{'answers':<16}{total:>7}\n{'let through':<16}{passed:>7}{share:>7.1f} %")
        if fail_under is not None:
            print(f"{'required':<16}{fail_under:>14.1f} %")
        for verdict in _STYLES:
            print(f"{verdict:<16}{verdicts[verdict]:>7}{100 * verdicts[verdict] / total:>7.1f} %")
        for name, said in (("good_refused", "good, refused"), ("bad_let_through", "bad, let through")):
            if name in table:
                print(f"{said:<16}{table[name]:>14.1f} %")
        sys.stdout.flush()
    return fail_under is None or share >= fail_under


def _find_data_row_problem(row: Any) -> str | None:
    """Say what is wrong in a row; None where nothing is."""
    if not isinstance(row, dict):
        return f'an object {{"answer": TEXT, "sources": [...]}} is required; given: {row!r:.80}'
    wrong = [key for key, kind in (("answer", str), ("sources", list)) if not isinstance(row.get(key), kind)]
    if wrong:
        allowed = {"answer": "a text", "sources": "a list of texts or documents"}[wrong[0]]
        given = f"{row[wrong[0]]!r:.80}" if wrong[0] in row else f"none; keys of the row: {', '.join(row) or 'none'}"
        return f"{wrong[0]}: {allowed} is required; given: {given}"
    label = row.get("label")
    if label is None or label in _LABELS:
        return None
    return f"label: {' or '.join(_LABELS)} is required; given: {label!r:.80}"
