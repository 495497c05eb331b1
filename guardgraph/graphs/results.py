"""What a run of a pattern may return, as its author says it: one TypedDict, or one for each status."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import Any, NotRequired, Required, Union, get_args, get_origin

from typing_extensions import ReadOnly, get_type_hints

from guardgraph.plain.errors import GrammarError
from guardgraph.state.run import Audit, Result, Waiting

__all__ = ["has_own_audit", "record_last", "result_keys"]


def result_keys(output: Any) -> dict[str, Any]:
    """Return the keys of a result with their type hints.

    Args:
        output: a TypedDict derived from `Result`, or a union of such; `Waiting` in it is for type checkers alone, since
            a run that waits has not returned.

    Raises:
        GrammarError: one of them is not derived from `Result`.
    """
    is_union = get_origin(output) in (Union, UnionType)
    parts = [item for item in get_args(output) if item is not Waiting] if is_union else [output]
    results = [get_type_hints(part, include_extras=True) for part in parts]
    ours = get_type_hints(Result, include_extras=True)
    for hints in results or [{}]:
        if missing := sorted(ours.keys() - hints.keys()):
            raise GrammarError(f"output: a TypedDict derived from Result is required; missing: {', '.join(missing)}")
    return {**ours, **_joined(results, ours)} if is_union else results[0]


def has_own_audit(keys: dict[str, Any]) -> bool:
    """Say whether the results of a pattern have an ``audit`` of their own, to which the grammar adds what it says."""
    return _unqualified(keys["audit"]) is not Audit


def record_last(names: Iterable[str]) -> list[str]:
    """Order a result for its reader: what came of the run before how it went."""
    return sorted(names, key=lambda name: name in ("trace", "history", "path", "timeline", "audit"))


def _joined(results: list[dict[str, Any]], ours: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that are the pattern's own: which of them a run returns depends on how it ends."""
    shared = ours.keys() - ({"audit"} if any(map(has_own_audit, results)) else set())
    said: dict[str, list[Any]] = {}
    for name, hint in ((name, hint) for hints in results for name, hint in hints.items() if name not in shared):
        said.setdefault(name, []).append(_unqualified(hint))
    return {name: NotRequired[Union[tuple(hints)]] for name, hints in said.items()}  # noqa: UP007 - of any number


def _unqualified(hint: Any) -> Any:
    while get_origin(hint) in (NotRequired, ReadOnly, Required):
        (hint,) = get_args(hint)
    return hint
