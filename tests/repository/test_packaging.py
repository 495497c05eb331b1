"""What an installation promises: lower bounds that are tried, and Pythons that are."""

import re
import subprocess
import sys
import tomllib

import pytest
from docs_parts import ROOT
from packaging.requirements import Requirement

LINTED = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
}
"""Which schema what was written for the public repository has to fit."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_dependency_has_one_lower_bound():
    """`make lowest` installs them, and a bound that is missing would be any version."""
    extras = PROJECT["optional-dependencies"]
    for line in [*PROJECT["dependencies"], *extras["draw"], *extras["audit"]]:
        assert [each.operator for each in Requirement(line).specifier].count(">=") == 1, line


def test_the_workflow_runs_on_every_python_that_the_package_names():
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    workflow = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    [matrix] = re.findall(r"python: \[(.+)\]", workflow)
    assert re.findall(r'"(3\.\d+)"', matrix) == named


@pytest.mark.parametrize(("schema", "files"), LINTED.items())
def test_what_the_public_repository_runs_and_asks_is_well_formed(schema, files):
    """Workflows, the release among them, and forms of issues are what their published schemas allow."""
    pytest.importorskip("check_jsonschema", reason="the lowest versions are tried without")
    found = sorted(map(str, ROOT.glob(files)))
    assert found
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *found]
    done = subprocess.run(check, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
