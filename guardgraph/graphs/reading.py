"""What the code of a body says of it, beside what its node declares: the channels that it reads, the stops it raises.

Only what stands there in so many words is read: ``state["name"]`` with the name written out, and ``Stop("reason")``, in
the body and in the functions that it calls by a global name. What is computed, and what a handler catches, is left to
the run. The code is read, not run.
"""

from __future__ import annotations

import builtins
import dis
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from inspect import unwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from guardgraph.guards import proposals
from guardgraph.guards.stop import Stop

__all__ = ["Raised", "channels_read", "stops_raised"]

_CALLS_DEEP = 2
"""How far functions that call functions are followed."""

_FAILURES: dict[Callable[..., Any], str] = {
    proposals.proposal: "llm_timeout",
    proposals.reviewed: "review_unavailable",
    proposals.tool_failure: "tool_invalid_output:",
}
"""Functions that stop for a reason that came back from a call, and the first of these reasons."""

_UNSEEN = {"CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "NOT_TAKEN", "PRECALL", "PUSH_NULL", "RESUME"}
"""Instructions that say nothing here, in one version of Python or another."""

_TWO = re.compile(r"((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")
"""Instructions that handle two variables at once, from Python 3.13 on, such as ``LOAD_FAST_LOAD_FAST``."""


class _Step(NamedTuple):
    """What is read of an instruction."""

    opname: str
    argval: Any
    argrepr: str = ""


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
class _Facts:
    read: frozenset[str]
    """Names in ``state["name"]``."""
    at_once: frozenset[str]
    """Those of them before the code first decides on its way."""
    tested: frozenset[str]
    """Names in ``"name" in state``."""
    named: tuple[tuple[tuple[str, ...], str | None, bool], ...]
    """Global names with their attributes, the text that follows, and whether the state does."""
    caught: tuple[tuple[str, ...], ...]
    """What the handlers catch; nothing is a handler that cannot be read."""
    chooses_phase: bool


def channels_read(body: object) -> frozenset[str]:
    """Return the channels that a body cannot do without, as far as its code says so."""
    function = _function(body)
    if function is None or not function.__code__.co_argcount:
        return frozenset()
    facts = _facts(function.__code__, function.__code__.co_varnames[0])
    called = [_resolved(path, function) for path, _, is_shown in facts.named if is_shown]
    by_helpers = [_read_at_once(helper) for helper in called if isinstance(helper, FunctionType)]
    return frozenset() if _catches(facts, KeyError, function) else facts.read.union(*by_helpers) - facts.tested


def _read_at_once(helper: FunctionType) -> frozenset[str]:
    """Return what a function reads that is shown the state, whatever else it is given."""
    if not helper.__code__.co_argcount:
        return frozenset()
    facts = _facts(helper.__code__, helper.__code__.co_varnames[0])
    return frozenset() if _catches(facts, KeyError, helper) else facts.at_once


def stops_raised(body: object) -> frozenset[Raised]:
    """Return the stops that a body can raise, as far as its code says so."""
    function = _function(body)
    return frozenset() if function is None else frozenset(_raised(function, _CALLS_DEEP, False))


def _function(body: object) -> FunctionType | None:
    plain = unwrap(body) if callable(body) else body
    return plain if isinstance(plain, FunctionType) else None


def _raised(function: FunctionType, deep: int, by_helper: bool) -> Iterator[Raised]:
    facts = _facts(function.__code__, "")
    if _catches(facts, Stop, function):
        return
    for path, text, _ in facts.named:
        target = _resolved(path, function)
        if target is Stop and text:
            yield Raised(text, facts.chooses_phase, by_helper)
        elif isinstance(target, FunctionType):
            if target in _FAILURES:
                yield Raised(_FAILURES[target], False, by_helper)
            elif target.__module__ == proposals.__name__:  # what reads the outcome of a call, as the body of a guard
                yield from _raised(target, deep, by_helper)
            elif deep:
                yield from _raised(target, deep - 1, True)


def _catches(facts: _Facts, error: type[Exception], function: FunctionType) -> bool:
    kinds = [_resolved(path, function) for path in facts.caught]
    return any(not isinstance(kind, type) or issubclass(error, kind) for kind in kinds)


def _resolved(path: tuple[str, ...], function: FunctionType) -> Any:
    """Return what a global name means in a function, with attributes of modules alone; None where nobody knows."""
    if not path:
        return None
    value = function.__globals__.get(path[0], getattr(builtins, path[0], None))
    for name in path[1:]:
        value = getattr(value, name, None) if isinstance(value, ModuleType) else None
    return value


@lru_cache(maxsize=1024)
def _facts(code: CodeType, state: str) -> _Facts:
    ops = list(_steps(code))
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    within = [_facts(item, state if state in item.co_freevars else "") for item in inner]
    windows = list(zip(ops, ops[1:], ops[2:], strict=False))
    decides = next((at for at, op in enumerate(ops) if "JUMP" in op.opname or op.opname == "FOR_ITER"), len(ops))
    return _Facts(
        frozenset(ops[1].argval for ops in windows if _is_read(*ops, state)).union(*(item.read for item in within)),
        frozenset(ops[1].argval for ops in windows[:decides] if _is_read(*ops, state)),
        frozenset(ops[0].argval for ops in windows if _is_test(*ops, state)).union(*(item.tested for item in within)),
        (*_named(ops, state), *(name for item in within for name in item.named)),
        (*_caught(ops), *(kind for item in within for kind in item.caught)),
        any(isinstance(const, tuple) and "phase" in const for const in code.co_consts),
    )


def _steps(code: CodeType) -> Iterator[_Step]:
    """Yield the instructions that say something, one for each variable where one instruction handles two of them."""
    for op in dis.get_instructions(code):
        two = _TWO.fullmatch(op.opname)
        if two is not None:
            yield from map(_Step, two.groups(), op.argval)
        elif op.opname not in _UNSEEN:
            yield _Step(op.opname, op.argval, op.argrepr)


def _is_read(first: _Step, second: _Step, third: _Step, state: str) -> bool:
    is_item = third.opname == "BINARY_SUBSCR" or (third.opname == "BINARY_OP" and third.argrepr == "[]")
    return _loads(first, state) and _is_text(second) and is_item


def _is_test(first: _Step, second: _Step, third: _Step, state: str) -> bool:
    return _is_text(first) and _loads(second, state) and third.opname == "CONTAINS_OP"


def _loads(op: _Step, name: str) -> bool:
    return op.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and bool(name) and op.argval == name


def _is_text(op: _Step) -> bool:
    return op.opname == "LOAD_CONST" and isinstance(op.argval, str)


def _named(ops: list[_Step], state: str) -> Iterator[tuple[tuple[str, ...], str | None, bool]]:
    for at in range(len(ops)):
        if ops[at].opname == "LOAD_GLOBAL":
            path = _path(ops[at:])
            behind = ops[at + len(path) : at + len(path) + 2]
            text = next((op.argval for op in behind[:1] if _is_text(op)), None)
            yield path, text, len(behind) == 2 and _loads(behind[0], state) and not _is_text(behind[1])


def _path(ops: Iterable[_Step]) -> tuple[str, ...]:
    """Return a global name with the attributes that are asked of it."""
    names: list[str] = []
    for op in ops:
        if op.opname != "LOAD_GLOBAL" if not names else op.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        names.append(op.argval)
    return tuple(names)


def _caught(ops: list[_Step]) -> Iterator[tuple[str, ...]]:
    for at, op in enumerate(ops):
        if op.opname == "CHECK_EXC_MATCH":
            start = next((back for back in range(at - 1, -1, -1) if ops[back].opname == "LOAD_GLOBAL"), at)
            path = _path(ops[start:])
            yield path if start + len(path) == at else ()
