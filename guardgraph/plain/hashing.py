"""The one way in which a value becomes a hash: SHA-256 of its canonical JSON."""

from __future__ import annotations

import json
from hashlib import sha256

from guardgraph.plain.json import JsonValue

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(value: JsonValue) -> str:
    """Return the one JSON text of a value: keys sorted, no blanks, ASCII.

    A tuple counts as a list. A whole number and a float of the same size differ, as their texts do.

    Args:
        value: plain JSON; see `guardgraph.plain.json.json_problem`.

    Raises:
        ValueError: a number is NaN or infinite, or a container holds itself.
        TypeError: something is no JSON at all.
    """
    return _ENCODER.encode(value)


def digest(value: JsonValue) -> str:
    """Return the SHA-256 of a value's canonical JSON, 64 hex digits.

    Raises:
        ValueError: as `canonical_json`.
        TypeError: as `canonical_json`.
    """
    return sha256(canonical_json(value).encode("ascii")).hexdigest()
