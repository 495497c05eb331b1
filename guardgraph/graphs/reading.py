"""What the code of a body says of it, beside what its node declares: the channels that it reads, the stops it raises.

Only what is sure is read. Of channels: ``state["name"]`` with the name written out, on every way to a return, so that
the body cannot but fail without it; in the body, and in the functions that it shows its state and calls by a global
name. Of stops: ``raise Stop("reason")``, in the body and in the functions that it calls so. What is computed, what
depends on a condition, what a handler may catch and what stands behind a decorator is left to the run. The code is
read, not run.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import CO_COROUTINE, CO_GENERATOR
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeGuard

from guardgraph.graphs.ways import instructions, unavoidable
from guardgraph.guards import proposals
from guardgraph.guards.stop import Stop, evidence

__all__ = ["Raised", "channels_read", "stops_raised"]

_CALLS_DEEP = 2
"""How far functions that call functions are followed."""

_FAILURES: dict[Callable[..., Any], str] = {
    proposals.proposal: "llm_timeout",
    proposals.reviewed: "review_unavailable",
    proposals.tool_failure: "tool_invalid_output:",
}
"""Functions that stop for a reason that came back from a call, and the first of these reasons."""

_FILLED = {"setdefault", "update", "pop", "popitem", "clear", "__setitem__"}
"""Methods that change a state in place; what it has then, nobody knows."""

_OTHER = ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")
"""Instructions that give a variable another value, or none."""

_STAYS = ("JUMP", "RETURN", "STORE", "POP_TOP")
"""What ends the expression that an instruction belongs to, other than a raise."""


@dataclass(frozen=True, slots=True)
class Raised:
    """A stop that a body can raise."""

    reason: str
    """As it is written out; of an f-string, what stands before the first value."""
    chooses_phase: bool
    """Whether the function that raises it names a phase of its own."""
    by_helper: bool
    """Whether a function raises it that the body calls, perhaps not always so that it can."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A global name with the attributes that are asked of it, and what it is there for."""

    path: tuple[str, ...]
    text: str | None = None
    """The text that follows, where it is raised with it."""
    is_shown: bool = False
    """Whether it is surely called with the state."""
    is_inner: bool = False
    """Whether it stands in a function inside, which may never be called."""


@dataclass(frozen=True, slots=True)
class _Facts:
    read: frozenset[str]
    """Names in ``state["name"]`` that every way to a return passes."""
    named: tuple[_Named, ...]
    caught: tuple[tuple[str, ...], ...]
    """What the handlers catch; nothing is a handler that cannot be read."""
    chooses_phase: bool


def channels_read(body: object) -> frozenset[str]:
    """Return the channels that a body cannot do without, as far as its code says so."""
    if not isinstance(body, FunctionType):
        return frozenset()
    facts = _facts(body)
    called = [_resolved(name.path, body) for name in facts.named if name.is_shown]
    return facts.read.union(*(_facts(helper).read for helper in called if _runs_at_once(helper)))


def _runs_at_once(helper: object) -> TypeGuard[FunctionType]:
    return isinstance(helper, FunctionType) and not helper.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE)


def stops_raised(body: object) -> frozenset[Raised]:
    """Return the stops that a body can raise, as far as its code says so."""
    if not isinstance(body, FunctionType):
        return frozenset()
    return frozenset(_raised(body, _CALLS_DEEP, by_helper=bool(body.__code__.co_freevars)))


def _raised(function: FunctionType, deep: int, *, by_helper: bool) -> Iterator[Raised]:
    facts = _facts(function)
    if _swallows(function) or _catches_stops(facts, function):
        return
    for name in facts.named:
        target, may_not = _resolved(name.path, function), by_helper or name.is_inner
        if target is Stop and name.text:
            yield Raised(name.text, facts.chooses_phase, may_not)
        elif isinstance(target, FunctionType):
            if target in _FAILURES:
                yield Raised(_FAILURES[target], False, may_not)
            elif target.__module__ == proposals.__name__:  # what reads the outcome of a call, as the body of a guard
                yield from _raised(target, deep, by_helper=may_not)
            elif deep:
                yield from _raised(target, deep - 1, by_helper=True)


def _catches_stops(facts: _Facts, function: FunctionType) -> bool:
    kinds = [_resolved(path, function) for path in facts.caught]
    return any(not isinstance(kind, type) or issubclass(Stop, kind) for kind in kinds)


def _swallows(function: FunctionType) -> bool:
    """Say whether a ``with`` of a function may end an exception; `evidence` never does."""
    ops = instructions(function.__code__)
    contexts = sum(op.opname == "WITH_EXCEPT_START" for op in ops)
    return bool(contexts) and contexts > sum(_resolved(_path(ops[at:]), function) is evidence for at in range(len(ops)))


def _resolved(path: tuple[str, ...], function: FunctionType) -> Any:
    """Return what a global name means in a function, with attributes of modules alone; None where nobody knows."""
    if not path:
        return None
    value = function.__globals__.get(path[0], getattr(builtins, path[0], None))
    for name in path[1:]:
        value = getattr(value, name, None) if isinstance(value, ModuleType) else None
    return value


def _facts(function: FunctionType) -> _Facts:
    return _facts_of(function.__code__, _swallows(function))


@lru_cache(maxsize=1024)
def _facts_of(code: CodeType, swallows: bool, *, is_inner: bool = False) -> _Facts:
    ops = instructions(code)
    within = [_facts_of(item, True, is_inner=True) for item in code.co_consts if isinstance(item, CodeType)]
    state = "" if is_inner else _state(code, ops)
    sure = unavoidable(code, ops, swallows=swallows) if state else frozenset()
    handled = {ops[at].argval for at in range(len(ops)) if _is_handled(ops[at : at + 3], state)}
    return _Facts(
        frozenset(ops[at + 1].argval for at in sure if _is_read(ops[at : at + 3], state)) - handled,
        (*_named(ops, state, sure, is_inner), *(name for item in within for name in item.named)),
        (*_caught(ops), *(kind for item in within for kind in item.caught)),
        any(isinstance(const, tuple) and "phase" in const for const in code.co_consts),
    )


def _state(code: CodeType, ops: Sequence[dis.Instruction]) -> str:
    """Return the name of the state in some code, nothing where it may be something else after a while."""
    name = code.co_varnames[0] if code.co_argcount else ""
    is_filled = any(
        _loads(op, name) and behind.opname in ("LOAD_ATTR", "LOAD_METHOD") and behind.argval in _FILLED
        for op, behind in pairwise(ops)
    )
    return "" if is_filled or _rebinds(code, ops, name) else name


def _rebinds(code: CodeType, ops: Sequence[dis.Instruction], name: str) -> bool:
    """Say whether a variable is given another value, here or in a function inside."""
    others = [op.argval for op in ops if op.opname.startswith(_OTHER)]
    inner = [item for item in code.co_consts if isinstance(item, CodeType) and name in item.co_freevars]
    here = any(name in other if isinstance(other, tuple) else name == other for other in others)
    return here or any(_rebinds(item, instructions(item), name) for item in inner)


def _is_read(ops: Sequence[dis.Instruction], state: str) -> bool:
    """Say whether instructions begin with ``state["name"]``."""
    if len(ops) < 3 or not (_loads(ops[0], state) and _is_text(ops[1])):
        return False
    return ops[2].opname == "BINARY_SUBSCR" or (ops[2].opname == "BINARY_OP" and ops[2].argrepr == "[]")


def _is_handled(ops: Sequence[dis.Instruction], state: str) -> bool:
    """Say whether instructions begin with ``"name" in state``, or end with ``state["name"] =``."""
    if len(ops) < 3:
        return False
    is_asked = _is_text(ops[0]) and _loads(ops[1], state) and ops[2].opname == "CONTAINS_OP"
    return is_asked or (_is_text(ops[0]) and ops[1].opname == "STORE_SUBSCR")


def _loads(op: dis.Instruction, name: str, *, which: int = -1) -> bool:
    """Say whether a variable is what an instruction loads, or the last (`which`) of those that it loads."""
    loaded = op.argval if isinstance(op.argval, tuple) else (op.argval,)
    return op.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and bool(name) and loaded[which] == name


def _is_text(op: dis.Instruction) -> bool:
    return op.opname == "LOAD_CONST" and isinstance(op.argval, str)


def _named(ops: Sequence[dis.Instruction], state: str, sure: frozenset[int], is_inner: bool) -> Iterator[_Named]:
    for at, op in enumerate(ops):
        if op.opname == "LOAD_GLOBAL":
            path = _path(ops[at:])
            behind = ops[at + len(path) : at + len(path) + 2]
            is_called = "NULL" in ops[at + len(path) - 1].argrepr or ops[at + len(path) - 1].opname == "LOAD_METHOD"
            text = next((item.argval for item in behind[:1] if _is_text(item) and _is_raised(ops[at:])), None)
            is_shown = at in sure and is_called and len(behind) == 2 and _loads(behind[0], state, which=0)
            yield _Named(path, text, is_shown and not _is_text(behind[1]), is_inner)


def _is_raised(ops: Sequence[dis.Instruction]) -> bool:
    """Say whether the expression that instructions begin with is raised."""
    ends = (op.opname for op in ops if op.opname == "RAISE_VARARGS" or op.opname.startswith(_STAYS))
    return next(ends, "") == "RAISE_VARARGS"


def _path(ops: Iterable[dis.Instruction]) -> tuple[str, ...]:
    """Return a global name with the attributes that are asked of it."""
    names: list[str] = []
    for op in ops:
        if op.opname != "LOAD_GLOBAL" if not names else op.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        names.append(op.argval)
    return tuple(names)


def _caught(ops: Sequence[dis.Instruction]) -> Iterator[tuple[str, ...]]:
    for at, op in enumerate(ops):
        if op.opname == "CHECK_EXC_MATCH":
            start = next((back for back in range(at - 1, -1, -1) if ops[back].opname == "LOAD_GLOBAL"), at)
            path = _path(ops[start:])
            yield path if start + len(path) == at else ()
