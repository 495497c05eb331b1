"""Fingerprints: hashes of what a run was judged by, the same for what is the same, and another for anything else."""

from __future__ import annotations

from dataclasses import replace
from typing import NotRequired

import pytest
from rag_agents import QUESTION
from recorded_runs import Kept
from ticket_pattern import TICKET, Out, Policy, pattern, triage

from guardgraph import GrammarError, RagBudget, RagPolicy, create_rag_agent
from guardgraph.grammar import Budget, Pass, declares
from guardgraph.graphs.grammar import collect_result_keys
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
    deeper = prints({"kind": "delete"}, budget=RagBudget(max_top_k=3), policy=RagPolicy(check_numbers=False))
    assert changed(prints({"kind": "delete"}), deeper) == {"policy", "budget", "prompts"}


def test_what_a_node_reads_since_there_are_recordings_changes_no_fingerprint():
    """A guard that reads one more channel says since when, and the fingerprint of its pattern stays."""

    def reading_task(later):
        def compiled(**given):
            p = pattern()
            guard = p.declarations["label_guard"]
            p.declarations["label_guard"] = replace(guard, reads=(*guard.reads, "task"), later=later)
            return p.compile(name="triage", **given)

        return fingerprints(compiled)

    assert reading_task(("task",)) == fingerprints(triage)
    assert changed(fingerprints(triage), reading_task(())) == {"declarations"}


def test_only_what_a_node_reads_can_be_later():
    """The error names the node and the channel."""
    body = declares(phase="label", reads=["proposed_label"], later=["task"], stops=[])(lambda state, run: Pass())
    with pytest.raises(GrammarError, match="node 'again', later: given task; allowed: what it reads"):
        pattern().guard("again", body, to="routed")


def test_what_an_ending_writes_since_there_are_recordings_changes_no_fingerprint():
    """A key of the result that came later is later of every ending, those that stop a run included."""

    class Wider(Out):
        note: NotRequired[str]

    def writing_note(later):
        def compiled(**given):
            p = pattern()
            p._output = collect_result_keys(Wider)
            spam = p.declarations["spam"]
            p.declarations["spam"] = replace(spam, writes=(*spam.writes, "note"), later_writes=later)
            return p.compile(name="triage", **given)

        return fingerprints(compiled)

    assert writing_note(("note",)) == fingerprints(triage)
    assert changed(fingerprints(triage), writing_note(())) == {"declarations"}


def test_only_what_a_node_writes_can_be_written_later():
    """The error names the node and the channel."""
    body = declares(phase="label", writes=["task"], reads=[], later_writes=["accepted_label"], stops=[])(
        lambda state, run: Pass()
    )
    with pytest.raises(GrammarError, match="node 'again', later_writes: given accepted_label; allowed: what it writes"):
        pattern().guard("again", body, to="routed")
