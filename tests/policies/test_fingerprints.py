"""Fingerprints: hashes of what a run was judged by, the same for what is the same, and another for anything else."""

from __future__ import annotations

from rag_agents import QUESTION
from recorded_runs import Kept
from ticket_pattern import TICKET, Policy, pattern, triage

from guardgraph import RagBudget, RagPolicy, create_rag_agent
from guardgraph.grammar import Budget
from guardgraph.testing import ScriptedChatModel


def fingerprints(graph_of, **given):
    """Return the fingerprints of one run."""
    kept = Kept()
    graph_of(recorder=kept, **given).invoke(TICKET)
    return kept.only["fingerprints"]


def changed(before, after):
    """Return the names of the fingerprints that differ."""
    return {name for name in before if before[name] != after[name]}


def test_fingerprints_are_the_same_for_any_order_and_change_with_what_they_stand_for():
    """Order of lists that are sets counts for nothing; policy, budget and declarations have one each."""
    usual = fingerprints(triage)
    assert fingerprints(triage) == usual
    assert fingerprints(triage, policy=Policy(labels=("spam", "bug", "billing"))) == usual
    assert changed(usual, fingerprints(triage, policy=Policy(labels=("spam", "bug")))) == {"policy"}
    assert changed(usual, fingerprints(triage, budget=Budget(max_seconds=61.0))) == {"budget"}

    def wider(**given):
        p = pattern()
        p.declarations["spam"] = p.declarations["spam"].__class__(
            "spam", "terminal", "lookup", ("accepted_label",), ("outcome", "label")
        )
        return p.compile(name="triage", **given)

    assert changed(usual, fingerprints(wider)) == {"declarations"}


def test_fingerprints_change_with_the_prompts_that_were_used():
    """The same settings with a model instead of rules differ in the prompts alone."""

    def prints(*script, **given):
        kept = Kept()
        create_rag_agent(ScriptedChatModel(*script) if script else None, recorder=kept, **given).invoke(QUESTION)
        return kept.only["fingerprints"]

    asked = prints({"kind": "retrieve", "query": "P1"}, {"answer": "", "citations": [], "insufficient": True})
    assert changed(prints(), asked) == {"prompts"}
    assert changed(asked, prints({"kind": "delete"})) == {"prompts"}
    deeper = prints({"kind": "delete"}, budget=RagBudget(max_top_k=3), policy=RagPolicy(check_values=False))
    assert changed(prints({"kind": "delete"}), deeper) == {"policy", "budget", "prompts"}
