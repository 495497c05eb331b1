"""Lists of words that are too long to stand in code: files in `data`, each read once, when it is first asked for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).parent / "data"


@cache
def load_word_lists(name: str) -> Any:
    """Return what a file holds; it is shared, and nobody changes it."""
    return json.loads((_DATA / f"{name}.json").read_text("utf-8"))
