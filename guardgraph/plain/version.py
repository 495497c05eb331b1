"""Which guardgraph this is, and whether it reads what another one wrote."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Final, Literal

FORMAT: Final[Literal[1]] = 1
"""The form of all that is kept: recordings, documents, stores, knowledge bases and runs that wait."""

FORMAT_SINCE: Final = (0, 16)  # the version that brought it
BEFORE_FORMATS: Final = "0.13 or older"  # what made something that does not say what made it


@cache
def read_package_version() -> str:
    """Return the version of the installed package; ``unknown`` where its sources are used without being installed."""
    try:
        return version_of("guardgraph")
    except PackageNotFoundError:
        return "unknown"


_RELEASE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,2}")
"""The numbers of a version, without what marks one as made before its release; nine digits of each, whatever is given.
"""


def parse_version(given: object) -> tuple[int, ...]:
    """Return the first three numbers of a version, or as many as it has; none of what is no version."""
    found = _RELEASE.match(given) if isinstance(given, str) else None
    return () if found is None else tuple(map(int, found[0].split(".")))


def find_format_problem(number: object, version: object) -> str | None:
    """Say why this guardgraph does not read what another one wrote; None where it does."""
    ours, made = read_package_version(), parse_version(version)
    # A checkout in work has the number of the release before.
    if type(number) is int and number == FORMAT and (version == ours or not made or made >= FORMAT_SINCE):
        return None
    by = f" of guardgraph {version:.80}" if made else ""
    given = "none" if number is None else f"format {number!r:.40}"
    since = ".".join(map(str, FORMAT_SINCE))
    return f"format {FORMAT} of guardgraph {since} or later is required; given: {given}{by}"
