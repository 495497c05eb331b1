"""Random agents with both middlewares."""

from fuzzed_agents import run_random_agent
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_no_random_agent_makes_an_unlicensed_call_or_shows_a_refused_word(seed: int) -> None:
    """Any replies, orders of middlewares, streams; calls are counted at the tools. `make soak` tries 2,000."""
    run_random_agent(seed)
