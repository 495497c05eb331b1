"""What holds in every test: strict checkpoints, property tests that are the same in every run."""

import os

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

# A slow machine is no defect of what is tested, and a test that fails must fail again.
settings.register_profile("guardgraph", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("guardgraph")


@pytest.fixture
def fonts():
    """Skip where the machine has no font to draw the letters of a PNG with."""
    from guardgraph import ConfigurationError, create_rag_agent, draw

    try:
        draw(create_rag_agent()).png(scale=1.0)
    except ConfigurationError as error:
        pytest.skip(str(error))
