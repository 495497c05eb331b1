"""Which guardgraph this is."""

from __future__ import annotations

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
