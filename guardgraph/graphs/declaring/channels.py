"""The channels of a pattern: the grammar's own, and what a pattern may call its own and say of them.

LangGraph keeps channels of its own among those of a state: what is written to ``branch:to:<node>`` starts that node,
what is written to ``__start__`` begins the run again. A channel of the same name would hand that to whoever writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import isclass
from operator import add
from typing import Annotated, Any, NotRequired, Required, get_origin
from unicodedata import category

from langgraph.channels import EphemeralValue, LastValue
from langgraph.channels.base import BaseChannel
from typing_extensions import ReadOnly, TypedDict, get_type_hints

from guardgraph.plain.errors import GrammarError
from guardgraph.state.recording import VisitRecord
from guardgraph.state.run import RECORDED, LogEntry, Verdict

_ALLOWED = "a name without ':' that does not begin with '__'"
_WRITABLE = "a name that is not blank and has no control characters"
_UNWRITABLE = frozenset({"Cc", "Cs"})  # Unicode's categories of control characters and of half characters


class RunRecord(TypedDict):
    """The grammar's own channels, in every pattern; beside them, each node that calls has one for what it called."""

    run: str
    given: dict[str, Any]
    log: Annotated[list[LogEntry], add]
    route: Annotated[str, EphemeralValue]
    verdict: Annotated[Verdict, EphemeralValue]
    refusal: Annotated[dict[str, Any], EphemeralValue]


RECORD = get_type_hints(RunRecord, include_extras=True)  # the grammar's own channels

CALLED = Annotated[list[VisitRecord], add]  # of a node that calls: what it called


_SHARED = {f"given_{name}": name for name in RECORDED}
"""Channels of the input whose fields have the name of a key that says how a run went."""


def name_input_channel(field: str) -> str:
    """Return the channel that holds a field of the input: a caller writes no channel of the result."""
    return f"given_{field}" if field in RECORDED else field


def name_input_field(channel: str) -> str:
    """Return the field of the input that a channel holds."""
    return _SHARED.get(channel, channel)


def is_reserved_channel(name: str) -> bool:
    """Say whether LangGraph may have a channel of this name, or one of this shape, for itself."""
    return ":" in name or name.startswith("__")


def _is_writable_channel(name: str) -> bool:
    return bool(name.strip()) and not any(category(letter) in _UNWRITABLE for letter in name)


def check_node_name(name: object, taken: Iterable[str]) -> None:
    """Refuse the name of a node."""
    if not isinstance(name, str) or is_reserved_channel(name):
        raise GrammarError(f"node {name!r:.80}: {_ALLOWED} is required")
    if not _is_writable_channel(name):
        raise GrammarError(f"node {name!r:.80}: {_WRITABLE} is required")
    if name in taken or name.startswith("stop_"):
        raise GrammarError(f"node {name!r}: a name of its own, not beginning with 'stop_', is required")


def check_channels(**declared: Mapping[str, Any]) -> None:
    """Refuse channels that LangGraph has for itself, and those that say how they are to be written."""
    for field, hints in declared.items():
        for name, hint in hints.items():
            if is_reserved_channel(name):
                raise GrammarError(f"{field}: {_ALLOWED} is required for a channel; given: {name!r:.80}")
            if not _is_writable_channel(name):
                raise GrammarError(f"{field}: {_WRITABLE} is required for a channel; given: {name!r:.80}")
            if (reducer := _name_channel_reducer(hint)) is not None:
                raise GrammarError(
                    f"fresh: the channel {name} has a reducer, so it cannot be cleared; "
                    f"{field}: a plain type is required; given: {reducer}"
                )


def make_ephemeral_channel(hint: Any) -> Any:
    """Return the type hint of a channel whose value lives for one step."""
    if get_origin(hint) is NotRequired:
        (inner,) = hint.__args__
        return NotRequired[Annotated[inner, EphemeralValue]]
    return Annotated[hint, EphemeralValue]


def build_state_schema(name: str, hints: dict[str, Any]) -> Any:
    """Return a TypedDict of these channels."""
    return TypedDict(name, hints)  # type: ignore[operator]


def _name_channel_reducer(hint: Any) -> str | None:
    """Name what a type hint says of how its channel adds up, None where it says nothing."""
    for item in _list_hint_annotations(hint):
        kind = item if isclass(item) else type(item)
        if issubclass(kind, BaseChannel):
            if not issubclass(kind, EphemeralValue | LastValue):
                return kind.__name__
        elif callable(item):
            return str(getattr(item, "__name__", kind.__name__))
    return None


def _list_hint_annotations(hint: Any) -> Iterator[Any]:
    yield from getattr(hint, "__metadata__", ())
    if hasattr(hint, "__metadata__"):
        yield from _list_hint_annotations(hint.__origin__)
    elif get_origin(hint) in (NotRequired, ReadOnly, Required):
        yield from _list_hint_annotations(hint.__args__[0])
