"""The one way in which a value becomes a hash: SHA-256 of its canonical JSON."""

from __future__ import annotations

import json
from hashlib import sha256

from guardgraph.plain.json import JsonValue

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(value: JsonValue) -> str:
    """Return the one JSON text of a value: keys sorted, no blanks, ASCII."""
    return _ENCODER.encode(value)


def digest(value: JsonValue) -> str:
    """Return the SHA-256 of a value's canonical JSON, 64 hex digits."""
    return sha256(_ENCODER.encode(value).encode("ascii")).hexdigest()
