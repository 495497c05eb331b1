"""JSON from somebody whom nobody trusts: read within bounds, and every value in it meant one thing only."""

from __future__ import annotations

import json
import math

from guardgraph.plain.errors import InputError
from guardgraph.plain.json import INT_LIMIT, JsonObject, is_nested_too_deep, is_plain_json, refuse_repeated_keys

MOST_BYTES = 64 * 2**20  # bytes of a document: sixteen replies of the size that a budget allows by default
DIGITS = 20  # characters of a whole number of 64 bits, with its sign


def parse_strict_json(data: bytes, name: str, levels: int) -> JsonObject:
    """Return the JSON object that some bytes are."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name}: at most {MOST_BYTES} bytes are allowed; given: more")
    try:
        text = data.decode()
        value = json.loads(
            text,
            object_pairs_hook=refuse_repeated_keys,
            parse_int=_parse_bounded_int,
            parse_float=_parse_finite_float,
            parse_constant=_refuse_nan,
        )
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


def format_document_text(value: JsonObject) -> str:
    """Return the one text that a document is written as: keys sorted, a line for each value, ASCII."""
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n"


def _parse_bounded_int(digits: str) -> int:
    number = int(digits) if len(digits) <= DIGITS else INT_LIMIT
    if -INT_LIMIT <= number < INT_LIMIT:
        return number
    raise ValueError(f"a whole number of 64 bits is required; given: {digits[:DIGITS]}...")


def _parse_finite_float(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise ValueError(f"a number of 64 bits is required; given: {digits[:DIGITS]}...")


def _refuse_nan(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
