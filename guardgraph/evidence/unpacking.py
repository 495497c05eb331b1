"""Texts that are JSON, as packed outcomes and the replies of models are: what stands in them can be changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from guardgraph.plain.json import RESULT_DEPTH, is_nested_too_deep


def change_packed_json(text: str, inside: Callable[[Any], Any], whole: Callable[[str], str]) -> str:
    """Return a text with a change.

    Args:
        text: any text.
        inside: changes the list or object that a text is the JSON of.
        whole: changes any other text.
    """
    if text[:64].lstrip()[:1] not in ("[", "{"):
        return whole(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return whole(text)
    if is_nested_too_deep(text, value, RESULT_DEPTH):  # deeper than anything that is recorded
        return whole(text)
    made = inside(value)
    return text if made == value else json.dumps(made)
