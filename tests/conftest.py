"""What holds in every test: strict checkpoints, and property tests that are the same in every run."""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

# A slow machine is no defect of what is tested, and a test that fails must fail again.
settings.register_profile("guardgraph", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("guardgraph")
