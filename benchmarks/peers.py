"""One deterministic check in guardgraph and in two other libraries of guards; see citation_check.py.

It runs in an environment of its own, since the others bring much with them; `make bench` makes it. The others report
their use over the network by default; here they are told not to, which also makes them faster. Prints `name value`
lines, or `skip`. Run it as ``python benchmarks/peers.py``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Figure, Skip, print_figures

ROUNDS = 30
ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "build" / "bench-peers" / "bin" / "python"
LIBRARIES = ("nemoguardrails", "guardrails-ai")
SILENCE = {"DO_NOT_TRACK": "1", "NEMO_GUARDRAILS_NO_USAGE_STATS": "1", "OTEL_SDK_DISABLED": "true"}


def figures(rounds: int) -> Iterator[Figure]:
    """Yield what citation_check.py prints, run in the environment of the peers."""
    if not PYTHON.exists():
        raise Skip("peers", "are not installed; `make bench` installs them where it can")
    with TemporaryDirectory() as home:
        Path(home, ".guardrailsrc").write_text("enable_metrics=false\n", encoding="utf-8")
        environ = {**os.environ, **SILENCE, "HOME": home, "PYTHONPATH": str(ROOT)}
        command = [str(PYTHON), str(ROOT / "benchmarks" / "citation_check.py"), "--rounds", str(rounds)]
        done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=False, timeout=600)
    if done.returncode:
        raise Skip("peers", "could not be run; what they say stands above")
    for line in done.stdout.splitlines():
        name, value = line.split()
        yield name, float(value)


def versions() -> list[str]:
    """Return the names and versions of the peers that are installed."""
    if not PYTHON.exists():
        return []
    code = "import sys; from importlib.metadata import version; [print(name, version(name)) for name in sys.argv[1:]]"
    command = [str(PYTHON), "-c", code, *LIBRARIES]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
