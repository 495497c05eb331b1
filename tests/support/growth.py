"""What a function's time does when its text grows."""

import gc
import time

TRIALS = 12
"""A busy machine slows trials, and the least time of each text counts; what grows with the square is slow in all."""


def assert_linear(work, small, large, *, spare=0.3):
    """Fail unless `work(large)` takes at most twice the time in proportion to `work(small)`, and `spare` seconds."""
    work(small // 10)  # tables are read once
    least = {small: float("inf"), large: float("inf")}
    for _ in range(TRIALS):
        least = {chars: min(before, _measure(work, chars)) for chars, before in least.items()}
        if least[large] <= 2 * large / small * least[small] + spare:
            return
    raise AssertionError(f"{small:,} characters took {least[small]:.3f} s and {large:,} took {least[large]:.3f} s")


def _measure(work, chars):
    """Return the thread's seconds, without the garbage collector, which passes over whatever else the process holds."""
    gc.disable()
    try:
        begun = time.thread_time()
        work(chars)
        return time.thread_time() - begun
    finally:
        gc.enable()
