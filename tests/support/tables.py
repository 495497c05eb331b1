"""Tables whose rows leave nothing behind: a test of one has all its rows, and names the first that fails."""

from functools import wraps
from inspect import iscoroutinefunction, signature

import pytest


def each_row(names, *rows):
    """Make one test of all rows: `names` are as `pytest.mark.parametrize` has them, other parameters are fixtures."""
    assert rows, "a table without rows"
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names

    def decorate(test):
        assert not iscoroutinefunction(test), "nobody would await its rows"

        @wraps(test)
        def test_all(*own, **fixtures):
            for row in rows:
                try:
                    test(*own, **fixtures, **dict(zip(names, row if len(names) > 1 else [row], strict=True)))
                except pytest.skip.Exception:
                    raise
                except BaseException as error:
                    error.add_note(f"row: {row!r:.300}")
                    raise

        known = signature(test)
        others = [parameter for name, parameter in known.parameters.items() if name not in names]
        test_all.__signature__ = known.replace(parameters=others)
        return test_all

    return decorate
