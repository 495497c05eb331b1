"""How long whoever is called may take, how much it may bring, who replied, and what is closed when it is left behind.

Python cannot end a thread, but a thread that waits for a byte ends when its connection does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import NamedTuple

_HERE: ContextVar[Connections | None] = ContextVar("guardgraph_connections", default=None)


def close_with_call(close: Callable[[], object]) -> None:
    """Let `close` be called, in another thread, if the call that is at work outlasts its time."""
    if (connections := _HERE.get()) is not None:
        connections.add_connection(close)


class Connections:
    """What one call has opened. Whatever starts inside of the block belongs to the call."""

    __slots__ = ("_are_closed", "_closing", "_token")

    def __init__(self) -> None:
        self._closing: list[Callable[[], object]] = []
        self._are_closed = False

    def __enter__(self) -> None:
        self._token: Token[Connections | None] = _HERE.set(self)

    def __exit__(self, *raised: object) -> None:
        _HERE.reset(self._token)

    def add_connection(self, close: Callable[[], object]) -> None:
        """Keep what closes a connection; one that was opened too late is closed at once."""
        self._closing.append(close)
        if self._are_closed:
            close()

    def close_connections(self) -> None:
        """Close what is open, and what will be."""
        self._are_closed = True
        for close in tuple(self._closing):
            close()


class ReplyMeter:
    """How much was read for a call."""

    __slots__ = ("_around", "_is_told", "_most", "form", "model")

    def __init__(self, around: ReplyMeter | None = None) -> None:
        self._around, self._most, self._is_told = around, 0, True
        self.model: str | None = None  # the name of the model that replied, where one of several was asked
        self.form: str | None = None  # how the reply was asked for, where that was not by a schema

    @property
    def largest_reply_size(self) -> int | None:
        """Bytes of the largest reply that was read, as it came, by those who count them; 0 where nobody does."""
        return self._most if self._is_told else None

    def count_reply_bytes(self, size: int) -> None:
        """Count a reply, or as much as has come of it."""
        self._most = max(self._most, size)
        if self._around is not None:
            self._around.count_reply_bytes(size)

    def note_limit_asked(self) -> None:
        """Somebody asked how many bytes a reply may have."""
        self._is_told = False
        if self._around is not None:
            self._around.note_limit_asked()


class _Limits(NamedTuple):
    ends: float
    clock: Callable[[], float]
    most: int
    reading: ReplyMeter
    tokens: int | None = None


_LIMITS: ContextVar[_Limits | None] = ContextVar("guardgraph_limits", default=None)


def deadline() -> float | None:
    """Return the seconds that the run has left, for a proposer or a tool that wants to give up in time.

    Returns:
        Seconds, 0 when time is up; None outside a call of a run. It holds in the thread or task of the call, and in
        those that are started with its context.
    """
    known = _LIMITS.get()
    return None if known is None else max(known.ends - known.clock(), 0.0)


def reply_bytes() -> int | None:
    """Return the bytes that a reply may have, for a proposer or a tool that wants to stop reading in time.

    Returns:
        `max_reply_bytes` of the run's budget: a reply that is larger as JSON text is refused. None outside a call of a
        run; it holds where `deadline` does.
    """
    if (known := _LIMITS.get()) is not None:
        known.reading.note_limit_asked()
    return None if known is None else known.most


def output_tokens() -> int | None:
    """Return the tokens that a model may write in its reply, for a proposer that asks one by itself.

    Returns:
        `max_output_tokens` of the run's budget, to be sent to the model; None where it says nothing, and outside a call
        of a run. It holds where `deadline` does.
    """
    return None if (known := _LIMITS.get()) is None else known.tokens


def get_allowed_reply_bytes() -> int | None:
    """Return what `reply_bytes` does, for a client that says by `note_read_bytes` how much it reads."""
    return None if (known := _LIMITS.get()) is None else known.most


def note_read_bytes(size: int) -> None:
    """Say how many bytes of a reply have come so far, for what-ifs to know whether a smaller limit would have held."""
    if (known := _LIMITS.get()) is not None:
        known.reading.count_reply_bytes(size)


def note_replying_model(name: str | None) -> None:
    """Say which of several models replied; None before one of them is asked."""
    if (known := _LIMITS.get()) is not None:
        known.reading.model = name


def get_replying_model() -> str | None:
    """Return the name of the model that replied, None where only one could."""
    return None if (known := _LIMITS.get()) is None else known.reading.model


def note_reply_form(form: str) -> None:
    """Say how a reply was asked for: ``calls``, ``json``, ``none``, ``text``; ``schema`` where tools were dropped."""
    if (known := _LIMITS.get()) is not None:
        known.reading.form = form


def get_reply_form() -> str | None:
    """Return how the reply was asked for, None where a schema held the model, or nobody said."""
    return None if (known := _LIMITS.get()) is None else known.reading.form


class within:
    """Let `deadline` and `reply_bytes` tell what a call may take, and yield how much is read for it."""

    __slots__ = ("_given", "_token")

    def __init__(self, seconds: float, clock: Callable[[], float], most: int, tokens: int | None = None) -> None:
        self._given = (seconds, clock, most, tokens)

    def __enter__(self) -> ReplyMeter:
        seconds, clock, most, tokens = self._given
        around = _LIMITS.get()  # of a run whose tool makes this one
        if around is not None:
            seconds, most = min(seconds, max(around.ends - around.clock(), 0.0)), min(most, around.most)
            tokens = min((limit for limit in (tokens, around.tokens) if limit is not None), default=None)
        reading = ReplyMeter(None if around is None else around.reading)
        self._token = _LIMITS.set(_Limits(clock() + seconds, clock, most, reading, tokens))
        return reading

    def __exit__(self, *raised: object) -> None:
        _LIMITS.reset(self._token)
