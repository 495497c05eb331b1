"""Extras: the optional packages of guardgraph, and the command that installs those of one."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement


@cache
def explain_extra(extra: str) -> str:
    """Say that an extra is required, and how its packages are installed."""
    return f"guardgraph's extra `{extra}` is required: pip install {_list_requirements(extra)}"


def _list_requirements(extra: str) -> str:
    from packaging.requirements import Requirement

    try:
        named = [Requirement(line) for line in requires("guardgraph") or ()]
    except PackageNotFoundError:  # the folder of a checkout is on the path, and nothing is installed
        return quote(f".[{extra}]")
    wanted = [item for item in named if item.marker and item.marker.evaluate({"extra": extra})]
    return " ".join(quote(f"{item.name}{_format_extras(item)}{item.specifier}") for item in wanted)


def _format_extras(requirement: Requirement) -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
