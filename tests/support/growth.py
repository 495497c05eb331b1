"""What a function's time does when its text grows."""

import gc
import time

TRIALS = 5
"""A busy machine slows a trial or two; what grows with the square of its text is slow in each."""


def assert_linear(work, small, large, *, spare=0.3):
    """Fail unless `work(large)` takes at most twice the time in proportion to `work(small)`, and `spare` seconds."""
    work(small // 10)  # tables are read once
    for _ in range(TRIALS):
        spent = {chars: _measure(work, chars) for chars in (small, large)}
        if spent[large] <= 2 * large / small * spent[small] + spare:
            return
    raise AssertionError(f"{small:,} characters took {spent[small]:.3f} s and {large:,} took {spent[large]:.3f} s")


def _measure(work, chars):
    """Return the thread's seconds, without the garbage collector, which passes over whatever else the process holds."""
    gc.disable()
    try:
        begun = time.thread_time()
        work(chars)
        return time.thread_time() - begun
    finally:
        gc.enable()
