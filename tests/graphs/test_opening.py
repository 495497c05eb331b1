"""A model that is named by a string is opened before a run where its node says that it calls it, else at its call."""

from __future__ import annotations

import pytest
from runs import BOTH, run
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError, GrammarError
from guardgraph.grammar import Prompt, choose_proposer, declares

PROMPT = Prompt("label", "Label the ticket as JSON.", {"type": "object"})


def named():
    """Return a proposer whose model is named by a string."""
    return choose_proposer("labeller", None, "openai:test-model", prompt=PROMPT, offline=lambda view: {"label": "bug"})


def asking(proposer, calls=None):
    """Return a body that asks a proposer, and says whom it calls."""

    def body(state, run):
        outcome = yield proposer.call({"ticket": state["task"]})
        return {"proposed_label": outcome.packed()}

    return body if calls is None else declares(calls=calls)(body)


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("calls", [lambda proposer: proposer, lambda proposer: proposer.target], ids=["it", "target"])
def test_a_declared_model_is_opened_before_the_run(calls, mode, monkeypatch):
    """Without a key there is an error before anything runs, and no run that ends at the node that asks."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    begun, proposer = [], named()

    def first(state, run):
        begun.append(state)

    graph = triage(bodies={"label": asking(proposer, [calls(proposer)]), "request_guard": first})
    with pytest.raises(ConfigurationError, match=r"^OPENAI_API_KEY: "):
        run(graph, TICKET, mode)
    assert begun == []


def test_a_body_asks_nobody_whom_it_does_not_declare():
    """A node that says whom it calls and asks another one closes the run."""
    graph = triage(bodies={"label": asking(named(), [lambda view: {"label": "bug"}])})
    result = graph.invoke(TICKET)
    assert result["stop_reason"] == "guard_error:label"
    assert "not among the 1 calls of its node: 'test-model'" in result["details"]["message"]


WRONG = {
    "a text of a propose node": ("label", ["openai"], "node 'label', calls: given 'openai'; allowed: proposers"),
    "a function of an act node": ("lookup", [named], "allowed: names of the pattern's tools"),
    "a guard": ("label_guard", ["pay"], "node 'label_guard', calls: given 'pay'; allowed: nothing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_only_what_a_kind_of_node_may_call_is_declared(name):
    """A propose node declares proposers, an act node names, and no other node anything."""
    node, calls, message = WRONG[name]
    with pytest.raises(GrammarError, match=message):
        triage(bodies={node: declares(calls=calls)(lambda state, run: {})})


@pytest.mark.parametrize("given", ["openai", 3, [3], [None]])
def test_calls_are_a_list_of_who_can_be_called(given):
    """A text would be taken for its letters, and nobody calls a number."""
    with pytest.raises(GrammarError, match="declares, calls: a list of proposers, or of names of tools, is required"):
        declares(calls=given)
