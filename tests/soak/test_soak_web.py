"""What takes a minute: three hundred runs that read ten pages each. `make soak` runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"

# In a process of its own, since here every run is kept, so that it can be decided again.
TRIAL = """
import json, web_growth
if __name__ == "__main__":
    print(json.dumps(dict(web_growth.growth(300))))
"""


def test_three_hundred_runs_leave_nothing_behind():
    """Memory, sockets and threads are at the end what they were after a hundred runs."""
    done = subprocess.run([sys.executable, "-c", TRIAL], cwd=SUPPORT, capture_output=True, text=True, check=True)
    grown = json.loads(done.stdout)
    assert grown.keys() == {"web_growth_memory", "web_growth_sockets", "web_growth_threads"}
    assert {name: value for name, value in grown.items() if value > 1.05} == {}
