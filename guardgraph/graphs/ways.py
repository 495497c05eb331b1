"""The ways through the code of a function: what every run of it does that comes to a return."""

from __future__ import annotations

import dis
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["instructions", "unavoidable"]

_UNSEEN = {"CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "NOT_TAKEN", "PRECALL", "PUSH_NULL", "RESUME"}
"""Instructions that say nothing here, in one version of Python or another."""

_TWO = re.compile(r"((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")
"""Instructions that handle two variables at once, from Python 3.13 on, such as ``LOAD_FAST_LOAD_FAST``."""

_RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
_RAISES = {"RAISE_VARARGS", "RERAISE"}
_GOES = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
"""Instructions that never go on to the next one."""

_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)


class _Ways(NamedTuple):
    """The instructions that may follow one."""

    on: list[int]
    caught: list[int]
    """Handlers of what it raises."""


@lru_cache(maxsize=1024)
def instructions(code: CodeType) -> tuple[dis.Instruction, ...]:
    """Return the instructions of some code that say something, one for each variable where one handles two of them."""
    return tuple(step for op in dis.get_instructions(code) if op.opname not in _UNSEEN for step in _single(op))


def _single(op: dis.Instruction) -> list[dis.Instruction]:
    two = _TWO.fullmatch(op.opname)
    if two is None:
        return [op]
    return [op._replace(opname=name, argval=value) for name, value in zip(two.groups(), op.argval, strict=True)]


def unavoidable(code: CodeType, ops: Sequence[dis.Instruction], *, swallows: bool) -> frozenset[int]:
    """Return the instructions that every way from the beginning to a return passes, without an exception.

    There are none where nothing returns.

    Args:
        code: of a function.
        ops: its `instructions`.
        swallows: whether a ``with`` in it may end an exception.
    """
    ways = _ways(code, ops, swallows)
    return frozenset(at for at in _way(ways, ops) if not _returns(ways, ops, at))


def _ways(code: CodeType, ops: Sequence[dis.Instruction], swallows: bool) -> list[_Ways]:
    offsets = [op.offset for op in ops]
    handlers: list[Any] = getattr(dis.Bytecode(code), "exception_entries", [])
    ways: list[_Ways] = []
    for at, op in enumerate(ops):
        on = [bisect_left(offsets, op.argval)] if op.opcode in _JUMPS else []
        if op.opname not in _RETURNS | _RAISES | _GOES and (op.opname != "WITH_EXCEPT_START" or swallows):
            on.append(at + 1)
        caught = [bisect_left(offsets, item.target) for item in handlers if item.start <= op.offset < item.end]
        ways.append(_Ways(on, caught))
    return ways


def _way(ways: list[_Ways], ops: Sequence[dis.Instruction]) -> list[int]:
    """Return the instructions of a shortest way to a return, nothing where there is none."""
    before, waiting = {0: -1}, [0]
    for at in waiting:
        if ops[at].opname in _RETURNS:
            break
        for way in [*ways[at].on, *ways[at].caught]:
            if way not in before:
                before[way] = at
                waiting.append(way)
    else:
        return []
    passed = []
    while at >= 0:
        passed.append(at)
        at = before[at]
    return passed


def _returns(ways: list[_Ways], ops: Sequence[dis.Instruction], without: int) -> bool:
    """Say whether a return can be reached from the beginning if one instruction always fails."""
    seen, waiting = {0}, [0]
    while waiting:
        at = waiting.pop()
        if at != without and ops[at].opname in _RETURNS:
            return True
        following = ways[at].caught if at == without else [*ways[at].on, *ways[at].caught]
        fresh = [way for way in following if way not in seen]
        seen.update(fresh)
        waiting += fresh
    return False
