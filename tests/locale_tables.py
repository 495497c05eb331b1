"""Makes the tables of guardgraph/languages from the pinned libraries; run as a script, it renews the shipped files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import locale_calendar
import locale_money
import locale_places
import locale_units
import locale_words

import guardgraph.languages

DATA = Path(guardgraph.languages.__file__).parent / "data"

MAKERS: dict[str, Callable[[], object]] = {
    "months": locale_calendar.months,
    "weekdays": locale_calendar.weekdays,
    "zones": locale_calendar.zones,
    "separators": locale_places.separators,
    "territories": locale_places.territories,
    "stop_words": locale_places.stop_words,
    "units": locale_units.units,
    "currencies": locale_money.currencies,
    "number_words": locale_words.number_words,
    "magnitudes": locale_words.magnitudes,
}
"""What makes each table, by the name of its file."""


def written(made: object) -> str:
    """Return a table as it is shipped: compact, one line for each of its first keys, so that changes can be read."""
    if not isinstance(made, dict):
        return json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n"
    lines = [f"{json.dumps(key, ensure_ascii=False)}:{written(value).rstrip()}" for key, value in made.items()]
    inner = lines if any(isinstance(value, dict | list) for value in made.values()) else [",".join(lines)]
    return "{" + ",\n".join(inner) + "}\n"


if __name__ == "__main__":
    for name, make in MAKERS.items():
        text = written(make())
        (DATA / f"{name}.json").write_text(text, "utf-8")
        print(name, len(text.encode()))
