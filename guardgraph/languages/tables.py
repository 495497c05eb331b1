"""The shipped tables, each read once, when it is first asked for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

LANGUAGES: Final = (
    "en",
    "de",
    "es",
    "fr",
    "uk",
    "ru",
    "it",
    "pt",
    "nl",
    "pl",
    "cs",
    "ro",
    "sv",
    "el",
    "tr",
    "vi",
    "ar",
    "hi",
    "th",
    "zh",
    "ja",
    "ko",
)
"""The languages of the tables, as ISO 639-1 codes."""

_DATA: Final = Path(__file__).parent / "data"


@cache
def load_language_table(name: str) -> Any:
    """Read a table.

    Args:
        name: of a file in `data`, without its ending.

    Returns:
        What the file holds. It is shared: nobody changes it.
    """
    return json.loads((_DATA / f"{name}.json").read_text("utf-8"))
