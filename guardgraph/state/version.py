"""The version of this library."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

__all__ = ["version"]


@cache
def version() -> str:
    """Return the version that is installed, ``"unknown"`` for files that were never installed."""
    try:
        return installed("guardgraph")
    except PackageNotFoundError:
        return "unknown"
