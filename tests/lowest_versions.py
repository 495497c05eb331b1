"""The lowest versions that pyproject.toml allows, as pip takes them: ``python tests/lowest_versions.py draw audit``.

Prints one pin a line, of the dependencies and of the extras that are named.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def pins(*extras: str) -> list[str]:
    """Return ``name==lowest`` for the dependencies of the package and of its extras.

    Raises:
        ValueError: for a dependency that has not exactly one lower bound.
    """
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(line for name in extras for line in project["optional-dependencies"][name])]
    return [_lowest(Requirement(line)) for line in wanted]


def _lowest(wanted: Requirement) -> str:
    bounds = [item.version for item in wanted.specifier if item.operator in (">=", "==")]
    if len(bounds) != 1:
        raise ValueError(f"{wanted}: one lower bound is required")
    extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
    return f"{wanted.name}{extras}=={bounds[0]}"


if __name__ == "__main__":
    print("\n".join(pins(*sys.argv[1:])))
