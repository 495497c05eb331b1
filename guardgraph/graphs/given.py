"""The world, the recorder and the settings that a pattern is given, checked when it is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import isasyncgenfunction, isclass, iscoroutinefunction
from math import inf
from typing import Any, TypeVar

from pydantic_core import PydanticSerializationError

from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.recording import Recorder
from guardgraph.state.settings import Settings
from guardgraph.world.world import WORLD_METHODS, World

__all__ = ["checked_recorder", "checked_settings", "checked_world"]

SettingsT = TypeVar("SettingsT", bound=Settings)

_AWAITED = "aperform"


def checked_world(given: Any) -> World:
    """Return a world, if it is one.

    Raises:
        ConfigurationError: it is a class, a method is missing, or another one than `aperform` is a coroutine function.
    """
    world: World = _checked(given, "world", WORLD_METHODS)
    return world


def checked_recorder(given: Any) -> Recorder:
    """Return a recorder, if it is one.

    Raises:
        ConfigurationError: it is a class, `record` is missing, or it is a coroutine function, which nobody would await;
            or its `timeout` is no number of seconds above 0.
    """
    recorder: Recorder = _checked(given, "recorder", ("record",))
    seconds = getattr(recorder, "timeout", None)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds < inf):
        raise ConfigurationError(f"recorder.timeout: seconds above 0, or None; given: {seconds!r:.80}")
    return recorder


def checked_settings(given: SettingsT, slot: str) -> SettingsT:
    """Return settings that a recording can hold, and that name what there can be.

    Raises:
        ConfigurationError: a value has no form in JSON, or a name can name nothing.
    """
    try:
        given.plain()
    except PydanticSerializationError as error:
        raise ConfigurationError(f"{slot}: values that can be written as JSON are required; given: {error}") from None
    given.check_listed(slot)
    return given


def _checked(given: Any, slot: str, methods: Iterable[str]) -> Any:
    if isclass(given):
        raise ConfigurationError(f"{slot}: an object is required, not its class; given: {given.__name__}")
    if missing := [method for method in methods if not callable(getattr(given, method, None))]:
        raise ConfigurationError(f"{slot}: an object with {', '.join(missing)} is required; given: {given!r:.80}")
    for name in methods:
        is_async, owner = _is_async(getattr(given, name)), type(given).__name__
        if is_async and name != _AWAITED:
            raise ConfigurationError(f"{slot}.{name}: a plain function is required; given: {owner}.{name} is async")
        if not is_async and name == _AWAITED:
            raise ConfigurationError(
                f"{slot}.{name}: a coroutine function is required; given: {owner}.{name} is not async"
            )
    return given


def _is_async(function: Any) -> bool:
    called = getattr(type(function), "__call__", None)  # noqa: B004 - of an object, what it does when it is called
    return any(check(item) for item in (function, called) for check in (iscoroutinefunction, isasyncgenfunction))
