"""Mutants of a pattern's guards, each of which forgets one thing, and which of them the user's own tests notice.

A mutant is made where nodes are: `forgetting` lets every node that is made meanwhile forget it. The tests run in a
process of their own, in which this module is a plugin of pytest.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from guardgraph.graphs.declaring import Declaration
from guardgraph.graphs.running.frame import Frame
from guardgraph.graphs.running.node import GrammarNode
from guardgraph.guards.tools.support import is_number
from guardgraph.nodes.body import Body, Pass, Run
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.outcome import Outcome
from guardgraph.state.tightening import Tightens
from guardgraph.world.call import Call

MUTANT, NOTES = "GUARDGRAPH_MUTANT", "GUARDGRAPH_MUTANT_NOTES"
"""Variables of the tests' process: what guards forget, and the file in which it is noted that they did."""
_LEAST_SECONDS: Final = 60.0
_DENIES: Final = (Tightens.union, Tightens.denied_scopes)
_ALLOWS: Final = (Tightens.intersection, Tightens.hosts, Tightens.scopes, Tightens.links)

Note: TypeAlias = Callable[[], None]  # told whenever a mutant forgets something


class _Anything(tuple[str, ...]):
    """A list that has every name."""

    def __contains__(self, name: object) -> bool:
        return True


def _loosen(settings: Any, kinds: Sequence[Tightens], by: Callable[[Any], Any]) -> Any:
    """Return settings whose fields of some kinds are another value."""
    loose: dict[str, Any] = {}
    for name, field in type(settings).model_fields.items():
        if any(each in kinds for each in field.metadata if isinstance(each, Tightens)):
            loose[name] = by(getattr(settings, name))
    return settings.model_copy(update=loose)


def _make_guard_mutant(forget: Callable[[Run[Any, Any]], Run[Any, Any]]) -> Callable[..., Body | None]:
    """Return what lets guards judge by other settings."""

    def make_body_that_forgets(item: Declaration, body: Body, note: Note, frame: Frame) -> Body | None:
        def judge(state: Any, run: Run[Any, Any]) -> Any:
            note()
            return body(state, forget(run))

        return judge if item.kind == "guard" else None

    return make_body_that_forgets


def _forget_approval(item: Declaration, body: Body, note: Note, frame: Frame) -> Body | None:
    """A guard that may ask a person or act never asks."""
    asking = [way for way in item.to if frame.declarations[way].kind == "review"]
    acting = [way for way in item.to if frame.declarations[way].effects]
    if item.kind != "guard" or not asking or not acting:
        return None

    def judge(state: Any, run: Run[Any, Any]) -> Any:
        passed = body(state, run)
        if isinstance(passed, Pass) and passed.to in asking:
            note()
            return passed._replace(to=acting[0])
        return passed

    return judge


def _forget_review(item: Declaration, body: Body, note: Note, frame: Frame) -> Body | None:
    """The guard behind a question takes every answer for an approval."""
    asked = [each for each in frame.declarations.values() if each.kind == "review" and item.name in each.to]
    if item.kind != "guard" or not asked:
        return None
    raw = [channel for each in asked for channel in each.writes]

    def judge(state: Any, run: Run[Any, Any]) -> Any:
        for channel in raw:
            answer = Outcome.unpacked(state[channel]) if isinstance(state.get(channel), str) else None
            if answer is not None and answer.form == "failure" and answer.content["reason"] == "review_rejected":
                note()
                said = {**answer.content["details"], "decision": "approve"}
                state = {**state, channel: Outcome("value", said, answer.about).packed()}
        return body(state, run)

    return judge


def _exchange_argument(item: Declaration, body: Body, note: Note, frame: Frame) -> Body | None:
    """A node that acts calls with another argument than the one that guards passed and a person was shown."""
    if item.kind != "act" or (frame.has_effects and not item.effects):
        return None

    def exchange(call: Any) -> Any:
        if not isinstance(call, Call) or not isinstance(call.request, dict) or not call.request:
            return call
        note()
        numbers = [name for name, value in call.request.items() if is_number(value)]
        name = next(iter([*numbers, *call.request]))
        value: Any = call.request[name]
        return replace(call, request={**call.request, name: value + 1 if numbers else f"{value}x"})

    def act(state: Any, run: Run[Any, Any]) -> Generator[Any, Any, Any]:
        work = body(state, run)
        asked = next(work)
        while True:
            try:
                changed = [exchange(each) for each in asked] if isinstance(asked, list) else exchange(asked)
                asked = work.send((yield changed))
            except StopIteration as end:
                return end.value

    return act


_FORGETS: Final[dict[str, Callable[..., Body | None]]] = {
    "lists": _make_guard_mutant(
        lambda run: run._replace(policy=_loosen(_loosen(run.policy, _ALLOWS, _Anything), _DENIES, lambda _: ()))
    ),
    "approval": _forget_approval,
    "review": _forget_review,
    "budget": _make_guard_mutant(
        lambda run: run._replace(budget=_loosen(run.budget, [Tightens.smallest], lambda most: most and most * 1000))
    ),
    "argument": _exchange_argument,
}
MUTANTS: Final = {
    "lists": "guards let every name through",
    "approval": "nobody is asked, and the call is made",
    "review": "every answer of a person is an approval",
    "budget": "guards judge by limits a thousand times as high",
    "argument": "a call that acts has another argument than the one that was judged and shown",
}
"""By name: what a mutant does."""


@contextmanager
def forgetting(mutant: str, note: Note = lambda: None) -> Iterator[None]:
    """Let all guards and nodes of patterns that are made meanwhile be a mutant's, of one of `MUTANTS`."""
    make_node = GrammarNode.__init__

    def make_mutant(node: GrammarNode, declaration: Declaration, body: Body | None, frame: Frame) -> None:
        make_node(node, declaration, body, frame)
        node.body = (body and _FORGETS[mutant](declaration, body, note, frame)) or body

    GrammarNode.__init__ = make_mutant  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        GrammarNode.__init__ = make_node  # type: ignore[method-assign]


def try_mutants(tests: str, mutants: Iterable[str] = tuple(MUTANTS)) -> dict[str, str]:
    """Run a command of pytest with each mutant, and say whether its tests notice it.

    By mutant it is ``noticed`` (tests fail), ``unnoticed``, or ``unused`` (no test came to what it forgets).
    """
    try:
        command = shlex.split(tests)
    except ValueError as error:
        raise ConfigurationError(f"--tests {tests!r:.200}: {error}") from None
    if not any(Path(part).name in ("pytest", "py.test") for part in command):
        allowed = "a command of pytest is required, such as 'pytest -x'"
        raise ConfigurationError(f"--tests: {allowed}; given: {tests!r:.200}")
    began = time.monotonic()
    code, _ = _run_tests_with_mutant(command, None, None)
    if code:
        raise ConfigurationError(f"--tests {tests!r:.200}: the tests fail without a mutant, exit code {code}")
    seconds = max(_LEAST_SECONDS, 5 * (time.monotonic() - began))
    found = dict[str, str]()
    for mutant in mutants:
        code, was_used = _run_tests_with_mutant(command, mutant, seconds)
        found[mutant] = "unused" if not was_used else "noticed" if code else "unnoticed"
    return found


def _run_tests_with_mutant(command: Sequence[str], mutant: str | None, seconds: float | None) -> tuple[int, bool]:
    """Run tests, with a mutant where one is named; return their exit code, and whether the mutant forgot anything."""
    with tempfile.TemporaryDirectory() as folder:
        notes, environ = Path(folder) / "notes", dict(os.environ)
        if mutant is not None:
            plugins = filter(None, (environ.get("PYTEST_PLUGINS"), __name__))
            environ |= {MUTANT: mutant, NOTES: str(notes), "PYTEST_PLUGINS": ",".join(plugins)}
        try:
            silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            code = subprocess.run(command, env=environ, timeout=seconds, check=False, **silent).returncode
        except subprocess.TimeoutExpired:
            code = 1
        except OSError as error:
            raise ConfigurationError(f"--tests: {command[0]!r:.200} cannot be started: {error.strerror}") from None
        return code, notes.exists()


def pytest_configure(config: Any) -> None:
    """Let the mutant that the environment names be used by all patterns of this process."""
    mutant, notes = os.environ.get(MUTANT), os.environ.get(NOTES)
    if mutant in MUTANTS and notes is not None:
        used = forgetting(mutant, Path(notes).touch)
        used.__enter__()
        config.add_cleanup(lambda: used.__exit__(None, None, None))
