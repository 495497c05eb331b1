"""Answers whose sentences say what they rest on, and answers that are given with marks at what nothing bears out."""

import pytest
from rag_agents import CANDIDATE, INTENT, QUESTION, agent_with
from recorded_runs import Kept
from runs import check_result
from tables import each_row

from guardgraph import RagBudget, RagPolicy, create_rag_agent, replay, verify, what_if
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool

TEXTS = {
    "doc_a": "P1 is answered in 15 minutes. Tickets are closed by the desk.",
    "doc_b": "Uptime is 99.95 % for Initech. The desk says: \u201cno ticket is lost\u201d.",
    "doc_c": "Refunds take 10 days.",
}
FOUND = [{**CANDIDATE, "doc_id": doc_id, "text": text} for doc_id, text in TEXTS.items()]
MUST = {"policy": {"require_sentence_citations": True}}


def said(answer, *citations):
    graph = agent_with(*FOUND, answer={"answer": answer, "citations": list(citations)})
    return check_result(RAG_REASONS, graph.invoke(QUESTION, context=MUST))


def cited_by(result):
    text = result["answer"]
    return {each["doc_id"]: [text[slice(*at)] for at in each["answer_spans"]] for each in result["citation_details"]}


def test_marks_say_what_a_sentence_rests_on():
    """Marks are taken out of the answer; its sentences and their evidence are found by their spans."""
    result = said("P1 is answered in 15 minutes [doc_a]. Uptime is 99.95 % [doc_b, doc_c].", "doc_c", "doc_a", "doc_b")
    first, second = "P1 is answered in 15 minutes.", "Uptime is 99.95 %."
    assert (result["answer"], result["citations"]) == (f"{first} {second}", ["doc_c", "doc_a", "doc_b"])
    assert cited_by(result) == {"doc_a": [first], "doc_b": [second], "doc_c": [second]}
    details = {item["doc_id"]: item for item in result["citation_details"]}
    evidence = [TEXTS[name][slice(*details[name]["document_span"])] for name in ("doc_a", "doc_b")]
    assert evidence == [first, "Uptime is 99.95 % for Initech."]
    assert {item["spans_by"] for item in details.values()} == {"cited"}


def test_a_sentence_inherits_in_its_paragraph():
    """A sentence without a mark cites what the one before it cites; the first of a paragraph has to say it itself."""
    result = said("P1 is answered in 15 minutes [doc_a]. Tickets are closed by the desk.")
    assert cited_by(result) == {"doc_a": ["P1 is answered in 15 minutes.", "Tickets are closed by the desk."]}
    for answer, sentence in {
        "Tickets are closed by the desk. P1 is answered in 15 minutes [doc_a].": "Tickets are closed by the desk.",
        "P1 is answered in 15 minutes [doc_a].\n\nRefunds are quick.": "Refunds are quick.",
        "[doc_a] P1 is answered in 15 minutes.": "P1 is answered in 15 minutes.",
        "P1 is answered [doc_a].\n\n[doc_c] Refunds take days.": "Refunds take days.",
    }.items():
        result = said(answer)
        assert (result["stop_reason"], result["sentence"]) == ("invalid_answer:uncited_sentence", sentence)


def test_the_view_and_the_prompt_ask_for_marks_when_the_policy_does():
    answerer = scripted_tool({"answer": "P1 is answered in 15 minutes [doc_a].", "citations": []}, loop=True)
    graph = agent_with(*FOUND, answerer=answerer)
    assert graph.invoke(QUESTION)["status"] == "ok"
    assert graph.invoke(QUESTION, context=MUST)["status"] == "ok"
    assert [call.get("sentence_citations") for call in answerer.calls] == [None, True]


OTHER, DOUBT = "invalid_answer:contradicts_source", "invalid_answer:doubtful"
FIRST, WRONG, LAST = "P1 is answered within 15 minutes.", "Refunds take 12 days.", "P2 is answered within 4 hours."
CLOSED, TURNED = (f"Tickets of all customers are {word}closed by the night desk." for word in ("", "not "))
SAID = f"{FIRST} {WRONG} {LAST}"
CHUNKS = [{**CANDIDATE, "text": f"{FIRST} {LAST} {CLOSED}"}, {**CANDIDATE, "doc_id": "b", "text": FOUND[2]["text"]}]
LISTS = {"allowed_sources_policy": ["support_policy"], "allowed_sources_execution": ["support_policy"]}
STOP, MARK = RagPolicy(**LISTS), RagPolicy(**LISTS, on_unsupported="mark")


def answering(text, *citations, policy=STOP, **kwargs):
    proposed = {"answer": text, "citations": [*citations] or ["a", "b"]}
    return agent_with(*CHUNKS, answer=proposed, policy=policy, **kwargs)


def answer(text, *citations, context=None, **kwargs):
    return check_result(RAG_REASONS, answering(text, *citations, **kwargs).invoke(QUESTION, context=context))


def marked(result):
    assert all(result["answer"][item["start"] : item["end"]] == item["text"] for item in result["unverified"])
    return [(item["text"], item["verdict"]) for item in result["unverified"]]


@each_row(
    ("text", "reason", "unsupported"),
    (SAID, OTHER, "12 days"),
    (f"{FIRST} It costs 77 EUR.", "invalid_answer:unsupported_number", "77 EUR"),
    (f"{FIRST} Gartner says so.", "invalid_answer:unsupported_name", "Gartner"),
)
def test_a_refused_sentence_stops_the_run_or_is_marked(text, reason, unsupported):
    """By `on_unsupported`: a stop with what was found and what the source says, or the whole answer and its marks."""
    stopped = answer(text)
    assert (stopped["stop_reason"], stopped["unsupported"], "answer" in stopped) == (reason, [unsupported], False)
    finding = stopped["findings"][0]
    assert text[finding["start"] : finding["end"]] == finding["text"] == unsupported
    given = answer(text, policy=MARK)
    assert (given["outcome"], given["answer"]) == ("grounded_partial", text)
    assert [item["findings"] for item in given["unverified"]] == [stopped["findings"]]
    assert given["trace"][-1]["unverified"] == len(marked(given)) == len(given["history"][-1]["unverified"])


@pytest.mark.parametrize("text", [TURNED, "Elephants wander quietly through northern valleys at dusk."])
def test_a_doubt_is_ignored_marked_or_stops(text):
    text = f"{FIRST} {text}"
    doubted = answer(text)
    assert (doubted["outcome"], [verdict for _, verdict in marked(doubted)]) == ("grounded_answer", ["doubtful"])
    assert "unverified" not in answer(text, policy=RagPolicy(**LISTS, on_doubt="ignore"))
    assert answer(text, policy=RagPolicy(**LISTS, on_doubt="stop"))["stop_reason"] == DOUBT
    assert answer(text, context={"policy": {"on_doubt": "stop"}})["stop_reason"] == DOUBT


def ask_model(*said, most=2, policy=MARK):
    """Run an agent whose model plans, and then says one answer after the other."""
    model = ScriptedChatModel(INTENT, *({"answer": text, "citations": ["a", "b"]} if text else "" for text in said))
    parts = {"retriever": scripted_tool(CHUNKS, loop=True), "budget": RagBudget(max_attempts=most)}
    return check_result(RAG_REASONS, create_rag_agent(model, policy=policy, **parts).invoke(QUESTION))


def test_a_model_is_asked_again_before_anything_is_marked():
    """For what is refused as often as it may be, for a doubt once; the prompt has what the source says instead."""
    mended = ask_model(SAID, f"{FIRST} {LAST}")
    assert (mended["outcome"], [item["reason"] for item in mended["attempts"]]) == ("grounded_answer", [OTHER])
    assert mended["attempts"][0]["evidence"]["findings"][0]["told"] == "10 days"
    left = ask_model(SAID, f"{LAST} {WRONG}", f"{WRONG} {LAST}", most=3)
    assert (left["outcome"], len(left["attempts"])) == ("grounded_partial", 2)
    doubted = ask_model(f"{FIRST} {TURNED}", f"{LAST} {TURNED}", FIRST, most=3)
    assert (doubted["outcome"], len(doubted["attempts"])) == ("grounded_answer", 1)
    assert marked(doubted) == [(TURNED, "doubtful")]


def test_asking_again_makes_nothing_worse():
    """Where the second answer would stop the run, or none comes, the first is given with its marks."""
    for worse in (f"{FIRST} {WRONG}", None):
        result = ask_model(f"{FIRST} {TURNED}", worse, policy=STOP)
        assert (result["outcome"], marked(result)) == ("grounded_answer", [(TURNED, "doubtful")])
        assert [item["reason"] for item in result["attempts"]] == [DOUBT]


def test_a_marked_answer_is_decided_again_as_it_was():
    """By a replay and a what-if; under a tighter policy it is a stop, and the graph is proven as before."""
    kept = Kept()
    answering(SAID, policy=MARK, recorder=kept).invoke(QUESTION)
    agents = [answering(SAID, policy=policy) for policy in (MARK, STOP)]
    assert replay(agents[0], kept.only)["unverified"] == kept.only["result"]["unverified"]
    assert [what_if(agent, [kept.only]).rows[0].kind for agent in agents] == ["same", "changed"]
    assert (replay(agents[1], kept.only)["stop_reason"], verify(agents[0])) == (OTHER, [])
