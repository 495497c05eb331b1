"""The command line, as ``guardgraph`` and as ``python -m guardgraph``.

Exit codes: 0 ok (also when the run asks for clarification), 2 wrong usage or configuration, 3 stopped, 4 waits for a
person, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal's encoding may lack any letter
    try:
        if sys.argv[1:2] == ["check"]:  # to load the other commands takes longer than to check an answer
            from guardgraph.cli.check import app
        else:
            from guardgraph.cli.commands import app

        app(prog_name="guardgraph")
    except KeyboardInterrupt:
        print("guardgraph: interrupted", file=sys.stderr)
        sys.exit(130)
