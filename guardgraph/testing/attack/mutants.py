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
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

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


class _MutantNode(NamedTuple):
    """A node whose body forgets something."""

    item: Declaration
    body: Body
    frame: Frame
    note: Callable[[], None]  # told whenever it does


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


def _forget_lists(node: _MutantNode, state: Any, run: Run[Any, Any]) -> Any:
    if node.item.kind == "guard":
        node.note()
        policy = _loosen(_loosen(run.policy, _ALLOWS, _Anything), _DENIES, lambda _: ())
        run = run._replace(policy=policy)
    return node.body(state, run)


def _forget_limits(node: _MutantNode, state: Any, run: Run[Any, Any]) -> Any:
    if node.item.kind == "guard":
        node.note()
        run = run._replace(budget=_loosen(run.budget, [Tightens.smallest], lambda most: most and most * 1000))
    return node.body(state, run)


def _forget_approval(node: _MutantNode, state: Any, run: Run[Any, Any]) -> Any:
    passed, known = node.body(state, run), node.frame.declarations
    asking = [way for way in node.item.to if known[way].kind == "review"]
    acting = [way for way in node.item.to if known[way].effects]
    if node.item.kind == "guard" and acting and isinstance(passed, Pass) and passed.to in asking:
        node.note()
        return passed._replace(to=acting[0])
    return passed


def _forget_review(node: _MutantNode, state: Any, run: Run[Any, Any]) -> Any:
    known = node.frame.declarations.values() if node.item.kind == "guard" else ()
    asked = (each for each in known if each.kind == "review" and node.item.name in each.to)
    for channel in [channel for each in asked for channel in each.writes]:
        answer = Outcome.unpacked(state[channel]) if isinstance(state.get(channel), str) else None
        if answer is not None and answer.form == "failure" and answer.content["reason"] == "review_rejected":
            node.note()
            said = {**answer.content["details"], "decision": "approve"}
            state = {**state, channel: Outcome("value", said, answer.about).packed()}
    return node.body(state, run)


def _exchange_argument(node: _MutantNode, state: Any, run: Run[Any, Any]) -> Any:
    work = node.body(state, run)
    if node.item.kind != "act" or (node.frame.has_effects and not node.item.effects):
        return work
    return _exchange_calls(node, work)


def _exchange_calls(node: _MutantNode, work: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    def exchange(call: Any) -> Any:
        if not isinstance(call, Call) or not isinstance(call.request, dict) or not call.request:
            return call
        node.note()
        numbers = [name for name, value in call.request.items() if is_number(value)]
        name = next(iter([*numbers, *call.request]))
        value: Any = call.request[name]
        return replace(call, request={**call.request, name: value + 1 if numbers else f"{value}x"})

    asked = next(work)
    while True:
        changed = [exchange(each) for each in asked] if isinstance(asked, list) else exchange(asked)
        try:
            asked = work.send((yield changed))
        except StopIteration as end:
            return end.value


_MUTANTS: Final[dict[str, tuple[str, Callable[[_MutantNode, Any, Run[Any, Any]], Any]]]] = {
    "lists": ("guards let every name through", _forget_lists),
    "approval": ("nobody is asked, and the call is made", _forget_approval),
    "review": ("every answer of a person is an approval", _forget_review),
    "budget": ("guards judge by limits a thousand times as high", _forget_limits),
    "argument": ("a call that acts has another argument than the one that was judged and shown", _exchange_argument),
}
MUTANTS: Final = {name: said for name, (said, _) in _MUTANTS.items()}  # by name: what a mutant does


@contextmanager
def forgetting(mutant: str, note: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Let all guards and nodes of patterns that are made meanwhile be a mutant's, of one of `MUTANTS`."""
    make_node = GrammarNode.__init__

    def make_mutant(node: GrammarNode, declaration: Declaration, body: Body | None, frame: Frame) -> None:
        make_node(node, declaration, body, frame)
        if body is not None:
            node.body = partial(_MUTANTS[mutant][1], _MutantNode(declaration, body, frame, note))

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
    found, seconds, began = dict[str, str](), None, time.monotonic()
    for mutant in ("", *mutants):  # first without one
        with tempfile.TemporaryDirectory() as folder:
            notes, plugins = Path(folder) / "notes", filter(None, (os.environ.get("PYTEST_PLUGINS"), __name__))
            environ = {**os.environ, MUTANT: mutant, NOTES: str(notes), "PYTEST_PLUGINS": ",".join(plugins)}
            try:
                silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
                code = subprocess.run(command, env=environ, timeout=seconds, check=False, **silent).returncode
            except subprocess.TimeoutExpired:
                code = 1
            except OSError as error:
                raise ConfigurationError(f"--tests: {command[0]!r:.200} cannot be started: {error.strerror}") from None
            was_used = notes.exists()
        if mutant:
            found[mutant] = "unused" if not was_used else "noticed" if code else "unnoticed"
        elif code:
            raise ConfigurationError(f"--tests {tests!r:.200}: the tests fail without a mutant, exit code {code}")
        seconds = seconds or max(_LEAST_SECONDS, 5 * (time.monotonic() - began))
    return found


def pytest_configure(config: Any) -> None:
    """Let the mutant that the environment names be used by all patterns of this process."""
    mutant, notes = os.environ.get(MUTANT), os.environ.get(NOTES)
    if mutant in MUTANTS and notes is not None:
        used = forgetting(mutant, Path(notes).touch)
        used.__enter__()
        config.add_cleanup(lambda: used.__exit__(None, None, None))
