"""What is said where an extra is missing can be typed, in a checkout and beside a wheel."""

from __future__ import annotations

import shlex
from importlib import metadata

from packaging.requirements import Requirement
from tables import each_row

from guardgraph.plain.extras import explain_extra

EXTRAS = metadata.metadata("guardgraph").get_all("Provides-Extra")


@each_row("extra", EXTRAS)
def test_a_missing_extra_is_installed_by_its_own_packages(extra):
    """The command names what the extra needs, each with its version, and no package called guardgraph."""
    said, _, command = explain_extra(extra).partition(": ")
    named = [Requirement(word) for word in shlex.split(command)[2:]]
    assert said == f"guardgraph's extra `{extra}` is required"
    assert named
    assert all(item.specifier and item.name != "guardgraph" for item in named)


def test_without_a_package_the_checkout_is_named(monkeypatch):
    """Where nothing is installed, since the folder of a checkout is on the path, that folder is."""

    def find_nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("guardgraph.plain.extras.requires", find_nothing)
    explain_extra.cache_clear()
    assert explain_extra("kb").endswith(": pip install '.[kb]'")
    explain_extra.cache_clear()
