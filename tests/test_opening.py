"""A model that is named by a string is opened before a run, wherever a body of a user's own holds it."""

from __future__ import annotations

import functools

import pytest
from runs import MODES, run
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError
from guardgraph.grammar import Prompt, Proposer, choose_proposer

PROMPT = Prompt("label", "Label the ticket as JSON.", {"type": "object"})


def named():
    """Return a proposer whose model is named by a string."""
    return choose_proposer("labeller", None, "openai:test-model", prompt=PROMPT, offline=lambda view: {"label": "bug"})


IN_MODULE = named()


def asked(proposer, state):
    """Ask a proposer for the label."""
    outcome = yield proposer.call({"ticket": state["task"]})
    return {"proposed_label": outcome.packed()}


def by_helper(state):
    """Ask the module's proposer."""
    return (yield from asked(IN_MODULE, state))


class Labeller:
    """Holds a proposer."""

    def __init__(self, proposer):
        self.proposers = {"label": [proposer]}

    def body(self, state, run):
        """Ask for the label."""
        return (yield from asked(self.proposers["label"][0], state))

    def __call__(self, state, run):
        return (yield from self.body(state, run))


def closed_over(proposer):
    """Return a body that closes over a proposer."""
    return lambda state, run: asked(proposer, state)


def in_a_list(proposer):
    """Return a body that closes over a list of it."""
    held = [(proposer,)]
    return lambda state, run: asked(held[0][0], state)


def in_a_nested_function(proposer):
    """Return a body that closes over a function that does."""

    def inner(state):
        return (yield from asked(proposer, state))

    return lambda state, run: inner(state)


def in_a_partial(proposer):
    """Return a body to which it is bound."""
    return functools.partial(lambda held, state, run: asked(held, state), proposer)


def in_a_default(proposer):
    """Return a body that has it as a default."""
    return lambda state, run, held=proposer: asked(held, state)


def in_a_decorated_function(proposer):
    """Return a body behind a decorator that keeps it from view."""

    @functools.wraps(closed_over(proposer))
    def around(state, run):
        return around.__wrapped__(state, run)

    return around


def in_the_module(proposer):
    """Return a body that names a global one."""
    return lambda state, run: asked(IN_MODULE, state)


def in_a_helper_of_the_module(proposer):
    """Return a body with a function inside that calls a function that names a global one."""

    def body(state, run):
        def inner():
            return (yield from by_helper(state))

        return inner()

    return body


PLACES = [
    closed_over,
    in_a_list,
    in_a_nested_function,
    in_a_partial,
    in_a_default,
    in_a_decorated_function,
    in_the_module,
    in_a_helper_of_the_module,
    Labeller,
    lambda proposer: Labeller(proposer).body,
]
IDS = [*(place.__name__ for place in PLACES[:-2]), "a_callable_object", "a_bound_method"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES, ids=IDS)
def test_a_model_is_opened_before_the_run(place, mode, monkeypatch):
    """Without a key there is an error before anything runs, and no run that ends at the node that asks."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    begun = []

    def first(state, run):
        begun.append(state)

    graph = triage(bodies={"label": place(named()), "request_guard": first})
    with pytest.raises(ConfigurationError, match=r"^OPENAI_API_KEY: "):
        run(graph, TICKET, mode)
    assert begun == []


def test_what_is_held_in_a_circle_is_looked_at_once():
    """A body may hold itself, and a list that holds itself; a run with nobody to open goes its way."""
    held = [Proposer(lambda view: {"label": "bug"}, {"proposer": "own"})]
    held.append(held)

    def body(state, run):
        assert body is not held
        return (yield from asked(held[0], state))

    assert triage(bodies={"label": body}).invoke(TICKET)["outcome"] == "routed"
