"""Extras: the optional packages of guardgraph, and the command that installs those of one."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def explain_extra(extra: str) -> str:
    """Say that an extra is required, and how it is installed."""
    try:
        version("guardgraph")
        installed = "guardgraph"
    except PackageNotFoundError:  # the folder of a checkout is on the path, and nothing is installed
        installed = "."
    return f'guardgraph\'s extra `{extra}` is required: pip install "{installed}[{extra}]"'
