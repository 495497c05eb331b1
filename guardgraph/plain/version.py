"""Which guardgraph this is, and which of two versions came first."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of


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


def is_version_before(given: object, release: tuple[int, ...]) -> bool:
    """Say whether a version came before a release, such as ``(0, 8)``; False of what is no version."""
    numbers = parse_version(given)
    return bool(numbers) and numbers < release
