"""What becomes of sentences that their sources do not bear out: a stop, or the whole answer with marks."""

from __future__ import annotations

import pytest
from rag_agents import INTENT, QUESTION, agent_with, texts
from recorded_runs import Kept
from runs import check_result

from guardgraph import RagBudget, RagPolicy, create_rag_agent, replay, verify, what_if
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool

OTHER, NUMBER, NAME, DOUBT = (
    f"invalid_answer:{name}" for name in ("contradicts_source", "unsupported_number", "unsupported_name", "doubtful")
)
TEXTS = {
    "a": "P1 is answered within 15 minutes. P2 is answered within 4 hours. "
    "Tickets of all customers are closed by the night desk.",
    "b": "Refunds take 10 days.",
}
CHUNKS = [{"doc_id": name, "source": "support_policy", "text": text, "score": 0.9} for name, text in TEXTS.items()]
FIRST, WRONG, LAST = "P1 is answered within 15 minutes.", "Refunds take 12 days.", "P2 is answered within 4 hours."
FOREIGN, TURNED = "Gartner says so.", "Tickets of all customers are not closed by the night desk."
UNCOVERED = "Elephants wander quietly through northern valleys at dusk."
SAID = f"{FIRST} {WRONG} {LAST}"
LISTS = {"allowed_sources_policy": ["support_policy"], "allowed_sources_execution": ["support_policy"]}
STOP, MARK = RagPolicy(**LISTS), RagPolicy(**LISTS, on_unsupported="mark")


def answering(text, *citations, policy=STOP, workings=None, **kwargs):
    """Make an agent that always says this."""
    proposed = {"answer": text, "citations": [*citations] or ["a", "b"]}
    proposed |= {} if workings is None else {"workings": workings}
    return agent_with(*CHUNKS, answer=proposed, policy=policy, **kwargs)


def answer(text, *citations, context=None, **kwargs):
    """Run an agent that always says this."""
    return check_result(RAG_REASONS, answering(text, *citations, **kwargs).invoke(QUESTION, context=context))


def marked(result):
    """Return the marked sentences of a result with their verdicts."""
    assert all(result["answer"][item["start"] : item["end"]] == item["text"] for item in result["unverified"])
    return [(item["text"], item["verdict"]) for item in result["unverified"]]


REFUSED = {
    "another value of the same": (SAID, OTHER, ["12 days"]),
    "a value of nobody": (f"{FIRST} It costs 77 EUR.", NUMBER, ["77 EUR"]),
    "a name of nobody": (f"{FIRST} {FOREIGN}", NAME, ["Gartner"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_sentence_stops_the_run_or_is_marked(name):
    """By `on_unsupported`: a stop with what was found and what the source says, or the whole answer and its marks."""
    text, reason, unsupported = REFUSED[name]
    stopped = answer(text)
    assert (stopped["stop_reason"], stopped["unsupported"], "answer" in stopped) == (reason, unsupported, False)
    finding = stopped["findings"][0]
    assert text[finding["start"] : finding["end"]] == finding["text"] == unsupported[0]
    given = answer(text, policy=MARK)
    assert (given["outcome"], given["answer"]) == ("grounded_partial", text)
    assert [item["findings"] for item in given["unverified"]] == [stopped["findings"]]
    assert given["trace"][-1]["unverified"] == len(marked(given)) == len(given["history"][-1]["unverified"])


@pytest.mark.parametrize("text", [TURNED, UNCOVERED])
def test_a_doubt_is_ignored_marked_or_stops(text):
    """By `on_doubt`, and the outcome stays that of an answer; by default it is marked."""
    text = f"{FIRST} {text}"
    doubted = answer(text)
    assert (doubted["outcome"], [verdict for _, verdict in marked(doubted)]) == ("grounded_answer", ["doubtful"])
    assert "unverified" not in answer(text, policy=RagPolicy(**LISTS, on_doubt="ignore"))
    assert answer(text, policy=RagPolicy(**LISTS, on_doubt="stop"))["stop_reason"] == DOUBT
    assert answer(text, context={"policy": {"on_doubt": "stop"}})["stop_reason"] == DOUBT


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("See https://attacker.io/12.", "invalid_answer:unsupported_link"),
        ("![x](https://attacker.io/12)", "invalid_answer:active_markup"),
        ("That is so [99].", "invalid_answer:citations_out_of_context"),
        ("That is so【3†source】.", "invalid_answer:citations_out_of_context"),
        ("That is so \ue200cite\ue202turn0search1\ue201.", "invalid_answer:citations_out_of_context"),
    ],
)
def test_links_markup_and_marks_that_name_nothing_always_stop(more, reason):
    """Whatever becomes of the rest."""
    for policy in (STOP, MARK):
        assert answer(f"{SAID} {more}", policy=policy)["stop_reason"] == reason


# Workings


@pytest.mark.parametrize(
    ("working", "is_right"),
    [
        ("15 * 2 = 30", True),
        ("15 + 15 = 30", True),
        ("15 * 3 = 30", False),
        ("10 * 3 = 30", True),
        ("7 * 6 = 42", False),
        ("import os", False),
        ("", False),
    ],
)
def test_what_is_worked_out_needs_its_working(working, is_right):
    """Its operands stand in the sources and its result is right; else the value is nobody's."""
    text = f"{FIRST} Twice that is 30 minutes."
    assert answer(text)["stop_reason"] in (NUMBER, OTHER)
    assert (answer(text, workings=[working])["status"] == "ok") is is_right


# Asking again


def ask_model(*said, most, policy=MARK):
    """Run an agent whose model plans, and then says one answer after the other."""
    replies = texts(INTENT, *({"answer": text, "citations": ["a", "b"]} for text in said))
    model = ScriptedChatModel(*replies)
    made = create_rag_agent(
        model, retriever=scripted_tool(CHUNKS, loop=True), policy=policy, budget=RagBudget(max_attempts=most)
    )
    return check_result(RAG_REASONS, made.invoke(QUESTION))


def test_a_model_is_asked_again_before_anything_is_marked():
    """For what is refused as often as it may be, for a doubt once; the prompt has what the source says instead."""
    mended = ask_model(SAID, f"{FIRST} {LAST}", most=2)
    assert (mended["outcome"], [item["reason"] for item in mended["attempts"]]) == ("grounded_answer", [OTHER])
    assert mended["attempts"][0]["evidence"]["findings"][0]["told"] == "10 days"
    left = ask_model(SAID, f"{LAST} {WRONG}", f"{WRONG} {LAST}", most=3)
    assert (left["outcome"], len(left["attempts"])) == ("grounded_partial", 2)
    doubted = ask_model(f"{FIRST} {TURNED}", f"{LAST} {TURNED}", FIRST, most=3)
    assert (doubted["outcome"], len(doubted["attempts"])) == ("grounded_answer", 1)
    assert marked(doubted) == [(TURNED, "doubtful")]


def test_asking_again_makes_nothing_worse():
    """Where the second answer would stop the run, or none comes, the first is given with its marks."""
    for worse in (f"{FIRST} {WRONG}", "no JSON"):
        replies = [*texts(INTENT, {"answer": f"{FIRST} {TURNED}", "citations": ["a"]})]
        replies += [*texts({"answer": worse, "citations": ["a", "b"]})] if worse != "no JSON" else [worse]
        made = create_rag_agent(ScriptedChatModel(*replies), retriever=scripted_tool(CHUNKS, loop=True), policy=STOP)
        result = check_result(RAG_REASONS, made.invoke(QUESTION))
        assert (result["outcome"], marked(result)) == ("grounded_answer", [(TURNED, "doubtful")])
        assert [item["reason"] for item in result["attempts"]] == [DOUBT]


# Decided again


def test_a_marked_answer_is_decided_again_as_it_was():
    """By a replay and a what-if; under a tighter policy it is a stop, and the graph is proven as before."""
    kept = Kept()
    answering(SAID, policy=MARK, recorder=kept).invoke(QUESTION)
    agents = [answering(SAID, policy=policy) for policy in (MARK, STOP)]
    assert replay(agents[0], kept.only)["unverified"] == kept.only["result"]["unverified"]
    assert [what_if(agent, [kept.only]).rows[0].kind for agent in agents] == ["same", "changed"]
    assert replay(agents[1], kept.only)["stop_reason"] == OTHER
    assert verify(agents[0]) == []


# Research

# How it is shown
