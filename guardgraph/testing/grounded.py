"""An assertion for tests of answers, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from guardgraph.checking.answer import check_answer
from guardgraph.checking.checked import CheckedAnswer


def assert_grounded(answer: str, sources: Iterable[object], **settings: Any) -> CheckedAnswer:
    """Fail where an answer does not rest on its sources; the failure shows its sentences with their verdicts.

    Args:
        answer: its text.
        sources: what it rests on; as for `check_answer`.
        settings: the other arguments of `check_answer`.

    Returns:
        The checked answer.

    Raises:
        AssertionError: an agent would refuse the answer.
    """
    __tracebackhide__ = True
    checked = check_answer(answer, sources, **settings)
    assert checked.ok, checked.to_text()
    return checked
