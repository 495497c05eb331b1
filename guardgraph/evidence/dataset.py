"""Datasets: rows of inputs with what is expected of their runs, from a file, a DataFrame or a list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from guardgraph.evidence.judged import check_ending_name
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import RESULT_DEPTH, JsonObject, NotJson, parse_json

EXPECTED: Final = ("id", "ending", "facts", "citations")
"""Columns of a dataset that are no input."""


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A row of a dataset: an input, and what is expected of its run."""

    id: str
    input: JsonObject
    ending: str | None
    facts: tuple[str, ...]
    citations: tuple[str, ...]


def read_dataset(agent: GuardedGraph[Any, Any, Any], dataset: Any) -> list[DatasetRow]:
    """Read the rows of a dataset for an agent.

    Args:
        agent: whose input fields the columns are.
        dataset: as `evaluate` takes it.

    Raises:
        InputError: it is empty or no table, cannot be read, or a row is not as it has to be; the message names the row.
    """
    rows = [_parse_row(agent, at, row) for at, row in enumerate(_read_table(dataset), 1)]
    _refuse_repeated_rows(rows)
    return rows


def _read_table(dataset: Any) -> list[Any]:
    if isinstance(dataset, (str, Path)):
        rows = list(_read_dataset_lines(Path(dataset)))
    elif hasattr(dataset, "to_dict"):  # a DataFrame, whose empty cells are NaN
        rows = [_drop_empty_cells(row) for row in dataset.to_dict("records")]
    elif isinstance(dataset, Iterable) and not isinstance(dataset, Mapping):
        rows = list(dataset)
    else:
        raise InputError(f"dataset: rows, a DataFrame or a file is required; given: {type(dataset).__name__}")
    if not rows:
        raise InputError("dataset: one row at least is required; given: none")
    return rows


def _drop_empty_cells(row: Mapping[Any, Any]) -> JsonObject:
    return {key: value for key, value in row.items() if value is not None and not _is_nan(value)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _read_dataset_lines(file: Path) -> Iterator[Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(
            f"dataset {str(file)!r:.200}: {getattr(error, 'strerror', None) or 'UTF-8 text is required'}"
        ) from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield parse_json(line, RESULT_DEPTH, keys_once=True)
            except NotJson as error:
                raise InputError(f"dataset {str(file)!r:.200}, line {number}: not JSON: {error}") from error


def _parse_row(agent: GuardedGraph[Any, Any, Any], at: int, row: Any) -> DatasetRow:
    if not isinstance(row, Mapping) or not row:
        raise InputError(f"dataset, row {at}: a dictionary with an input is required; given: {row!r:.80}")
    allowed = (*agent.input_fields, *EXPECTED)
    if unknown := [key for key in row if key not in allowed]:
        raise InputError(f"dataset, row {at}: one of {', '.join(allowed)} is required; given: {unknown[0]!r:.80}")
    expected = {key: row.get(key) for key in EXPECTED if key not in agent.input_fields}  # an input field is input
    given = {key: value for key, value in row.items() if key in agent.input_fields}
    if not given:
        raise InputError(f"dataset, row {at}: an input is required, {' or '.join(agent.input_fields)}; given: none")
    try:
        hash_input(given)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"dataset, row {at}: an input of plain JSON is required: {error}") from error
    ending = expected.get("ending")
    if ending is not None:
        try:
            check_ending_name(f"row {at}: ending", str(ending), agent.frame.catalogue)
        except ConfigurationError as error:
            raise InputError(f"dataset, {error}") from error
    facts, citations = (_parse_texts(f"row {at}: {key}", expected.get(key)) for key in ("facts", "citations"))
    own = expected.get("id")
    return DatasetRow(str(at if own is None else own), given, ending, facts, citations)


def _parse_texts(name: str, given: Any) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else () if given is None else given
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise InputError(f"dataset, {name}: a text or a list of texts is required; given: {given!r:.80}")
    return tuple(texts)


def _refuse_repeated_rows(rows: list[DatasetRow]) -> None:
    for what, keys in (("id", [row.id for row in rows]), ("input", [hash_input(row.input) for row in rows])):
        first: dict[str, int] = {}
        for at, key in enumerate(keys, 1):
            if first.setdefault(key, at) != at:
                raise InputError(
                    f"dataset, row {at}: an {what} of its own is required; given: that of row {first[key]}"
                )


def hash_input(given: Mapping[str, Any]) -> str:
    """Return what tells inputs apart; a field that is None is one that was left out."""
    return digest({key: value for key, value in given.items() if value is not None})
