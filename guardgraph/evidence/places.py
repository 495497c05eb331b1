"""Places in a recording: which of them its form needs as they are, and how paths with wildcards lead to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from guardgraph.state.recording import Asking, Fingerprints, Opening, RecordedCall, RecordedVisit, Recording
from guardgraph.state.run import RECORDED, Ok, TimelineEntry

Place: TypeAlias = tuple[str | int, ...]
"""Keys and indices; in a path ``*`` stands for any one of them, ``**`` for any number."""

FORM: dict[Place, frozenset[str]] = {
    (): frozenset(Recording.__annotations__),
    ("fingerprints",): frozenset(Fingerprints.__annotations__),
    ("visits", "*"): frozenset(RecordedVisit.__annotations__),
    ("visits", "*", "opening"): frozenset(Opening.__annotations__),
    ("visits", "*", "opening", "caller"): frozenset(Asking.__annotations__),
    ("calls", "*"): frozenset(RecordedCall.__annotations__),
    ("result",): frozenset({*RECORDED, *Ok.__annotations__}),
    ("result", "timeline", "*"): frozenset(TimelineEntry.__annotations__),
}
"""The keys that a recording has by its form: they stay."""

_KEPT: frozenset[tuple[str, ...]] = frozenset(
    (
        *(
            (name,)
            for name in ("format", "guardgraph", "pattern", "graph", "run_id", "nameless", "redacted", "fingerprints")
        ),
        *(("visits", "*", name) for name in ("node", "kind", "clock")),
        *(("visits", "*", "opening", name) for name in ("started_at", "carried", "resumable")),
        *(
            ("calls", "*", name)
            for name in ("node", "visit", "number", "kind", "request", "scope", "prompt", "reply_bytes", "seconds")
        ),
        ("calls", "*", "outcome", "0"),
        *(("result", name) for name in ("run_id", "pattern", "status", "phase", "path")),
        *(
            ("result", "timeline", "*", name)
            for name in ("node", "kind", "phase", "elapsed_ms", "verdict", "to", "steps")
        ),
        *(("result", "timeline", "*", name) for name in ("prompt", "usage")),
    )
)
"""What is as it is for a recording to be one, for its picture and for its place in time: nobody's words."""
_DEEPEST = max(map(len, _KEPT))
_LISTS = (1, 2)
"""How deep the indices of the form's own lists stand."""


def is_never_redacted(place: Place) -> bool:
    """Say whether what stands at a place stays as it is, whatever is to be redacted."""
    if not 0 < len(place) <= _DEEPEST:
        return False
    steps = map(str, place)
    return tuple("*" if at in _LISTS and step.isdigit() else step for at, step in enumerate(steps)) in _KEPT


def follow_redaction_paths(paths: Iterable[Place], step: str) -> frozenset[Place]:
    """Return what is left of paths one step further; an empty one has led here, and leads on to all that is inside."""
    made: set[Place] = set()
    for path in paths:
        if not path:
            made.add(path)
        elif path[0] == "**":
            made.add(path)
            made |= follow_redaction_paths([path[1:]], step) if path[1:] else {()}
        elif path[0] in ("*", step):
            made.add(path[1:])
    return frozenset(made)
