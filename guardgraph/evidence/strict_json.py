"""JSON from somebody whom nobody trusts: documents within bounds, and files with an object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from typing import Final

from guardgraph.plain.errors import InputError, explain_unread_file
from guardgraph.plain.json import (
    EXACT_ONCE_DECODER,
    RESULT_DEPTH,
    JsonObject,
    JsonValue,
    NotJson,
    is_nested_too_deep,
    is_plain_json,
    parse_json,
)

LONGEST_LINE: Final = 64 * 2**20  # characters of a file with an object a line
MOST_BYTES = 64 * 2**20  # bytes of a document: sixteen replies of the size that a budget allows by default


def parse_strict_json(data: bytes, name: str, levels: int) -> JsonObject:
    """Return the JSON object that some bytes are, every value of which means one thing only."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name}: at most {MOST_BYTES} bytes are allowed; given: more")
    try:
        text = data.decode()
        value = EXACT_ONCE_DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: UTF-8 text is required; byte {error.start} is none") from None
    except RecursionError:
        raise InputError(f"{name}: at most {levels} levels of nesting are allowed; given: more") from None
    except ValueError as error:
        raise InputError(f"{name}: JSON is required: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise InputError(f"{name}: a JSON object is required; given: a {type(value).__name__}")
    if is_nested_too_deep(text, value, levels):
        raise InputError(f"{name}: at most {levels} levels of nesting are allowed; given: more")
    if not is_plain_json(value, levels + 1):
        raise InputError(f"{name}: texts without lone surrogates and U+0000 are required; given: others")
    return value


def read_json_lines(what: str, file: str | os.PathLike[str]) -> Iterator[tuple[str, JsonValue]]:
    """Yield where each line of a file stands that is not blank, and its JSON; ``-`` is the standard input."""
    shown = f"{what} {os.fspath(file)!r:.200}"
    try:
        is_pipe = file == "-"
        with open(0 if is_pipe else file, encoding="utf-8-sig", closefd=not is_pipe) as lines:
            for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE), ""), 1):
                if len(line) == LONGEST_LINE:
                    raise InputError(f"{shown}, line {number}: it has more than {LONGEST_LINE:,} characters")
                if line.strip():
                    try:
                        value = parse_json(line, RESULT_DEPTH, keys_once=True)
                    except NotJson as error:
                        raise InputError(f"{shown}, line {number}: not JSON: {error}") from error
                    yield f"{shown}, line {number}", value
    except (OSError, ValueError) as error:
        raise InputError(f"{shown}: {explain_unread_file(error)}") from error


def format_document_text(value: JsonObject) -> str:
    """Return the one text that a document is written as: keys sorted, a line for each value, ASCII."""
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n"
