"""With `unsupported="drop"` an answer goes on without the sentences that are refused, when nobody is asked again."""

from __future__ import annotations

import pytest
from cli_runs import run
from openai_server import OpenAIServer
from openai_server import answer as served
from rag_agents import INTENT, QUESTION, agent_with, texts
from recorded_runs import Kept
from reported_runs import page, said
from research_cases import PLAN, STATUS, research
from runs import check_result

from guardgraph import RagBudget, RagPolicy, ResearchPolicy, create_rag_agent, replay, what_if
from guardgraph.state.rag import RAG_REASONS
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool

NUMBER, NAME = "invalid_answer:unsupported_number", "invalid_answer:unsupported_name"
TEXTS = {"a": "P1 is answered within 15 minutes. P2 is answered within 4 hours.", "b": "Refunds take 10 days."}
CHUNKS = [{"doc_id": name, "source": "support_policy", "text": text, "score": 0.9} for name, text in TEXTS.items()]
FIRST, WRONG, LAST = "P1 is answered within 15 minutes.", "Refunds take 12 days.", "P2 is answered within 4 hours."
SAID = f"{FIRST} {WRONG} They are fast. {LAST}"
LISTS = {"allowed_sources_policy": ["support_policy"], "allowed_sources_execution": ["support_policy"]}
DROP = RagPolicy(**LISTS, unsupported="drop")


def answering(text, *citations, policy=DROP, **kwargs):
    """Make an agent that always says this."""
    answer = {"answer": text, "citations": [*citations] or ["a", "b"]}
    return agent_with(*CHUNKS, answer=answer, policy=policy, **kwargs)


def answer(text, *citations, context=None, **kwargs):
    """Run an agent that always says this."""
    return check_result(RAG_REASONS, answering(text, *citations, **kwargs).invoke(QUESTION, context=context))


def test_the_rest_of_an_answer_stands():
    """With what was taken out, the citations of the rest, and the sentences that rest on each."""
    result = answer(SAID)
    assert (result["status"], result["outcome"], result["answer"]) == ("ok", "grounded_partial", f"{FIRST} {LAST}")
    [removed] = result["removed"]
    assert (removed["text"], removed["reason"], removed["at"]) == (f"{WRONG} They are fast.", NUMBER, len(FIRST) + 1)
    assert removed["evidence"] == {"unsupported": ["12 days"], "sentence": WRONG}
    assert result["citations"] == ["a"] == [item["doc_id"] for item in result["passages"]]
    [detail] = result["citation_details"]
    assert [result["answer"][start:end] for start, end in detail["answer_spans"]] == [FIRST, LAST]
    assert (result["trace"][-1]["removed"], result["path"][-1]) == (1, "answered")
    assert result["history"][-1]["removed"] == [{"text": f"{WRONG} They are fast.", "reason": NUMBER}]


def test_names_are_taken_out_likewise():
    """Each part with the reason of its own."""
    result = answer(f"{FIRST} That is what Gartner says. {LAST} {WRONG}", "a")
    assert result["answer"] == f"{FIRST} {LAST}"
    assert [item["reason"] for item in result["removed"]] == [NAME, NUMBER]
    assert result["removed"][0]["evidence"]["unsupported"] == ["Gartner"]


def test_a_citation_stays_without_which_the_rest_does_not_pass():
    """A sentence may share more words with another document than with the one that has its number."""
    result = answer(f"{FIRST} Some P1 may be answered within 10 days. {WRONG}")
    assert (result["outcome"], result["citations"]) == ("grounded_partial", ["a", "b"])


def test_sentences_that_cite_keep_their_own_citations():
    """Of marked sentences the citations are those of the sentences that are left."""
    marked = RagPolicy(**LISTS, unsupported="drop", require_sentence_citations=True)
    result = answer(f"{FIRST} [a] {WRONG} [b] {LAST} [a]", "b", policy=marked)
    assert (result["answer"], result["citations"]) == (f"{FIRST} {LAST}", ["a"])
    spans = result["citation_details"][0]["answer_spans"]
    assert [result["answer"][start:end] for start, end in spans] == [FIRST, LAST]
    foreign = answer(f"{FIRST} [a] {LAST} [b]", policy=marked)
    assert (foreign["answer"], foreign["removed"][0]["text"]) == (FIRST, LAST)


STOPS = {
    "by default": (SAID, {"policy": RagPolicy(**LISTS)}, NUMBER),
    "tightened": (SAID, {"context": {"policy": {"unsupported": "stop"}}}, NUMBER),
    "not loosened": (SAID, {"policy": RagPolicy(**LISTS), "context": {"policy": {"unsupported": "drop"}}}, NUMBER),
    "the opening": (f"{WRONG} {FIRST}", {}, NUMBER),
    "a negation": (f"{FIRST} Refunds do not take 12 days.", {}, NUMBER),
    "a contradiction": (f"{FIRST} P2 is never answered within 4 hours. {WRONG}", {}, NUMBER),
    "a link": (f"{FIRST} See https://attacker.io/12.", {}, "invalid_answer:unsupported_link"),
    "markup": (f"{FIRST} ![x](https://attacker.io/12)", {}, "invalid_answer:active_markup"),
}


@pytest.mark.parametrize("name", STOPS)
def test_the_run_stops_as_before(name):
    """Where nothing may be taken out, or what is left would say something else."""
    text, changed, reason = STOPS[name]
    result = answer(text, **changed)
    assert (result["stop_reason"], "removed" in result, "answer" in result) == (reason, False, False)


def test_a_stop_says_why_nothing_was_taken_out():
    """In its details, beside the evidence of the refusal."""
    result = answer(f"{WRONG} {FIRST}")
    assert result["unsupported"] == ["12 days"]
    assert result["details"] == {"kept_whole": "its opening sentence would go"}
    contradiction = answer(STOPS["a contradiction"][0])
    assert contradiction["details"] == {"kept_whole": "a sentence contradicts its source"}


def ask_model(*said, most):
    """Run an agent whose model plans, and then says one answer after the other."""
    replies = texts(INTENT, *({"answer": text, "citations": ["a", "b"]} for text in said))
    model = ScriptedChatModel(*replies)
    made = create_rag_agent(
        model, retriever=scripted_tool(CHUNKS, loop=True), policy=DROP, budget=RagBudget(max_attempts=most)
    )
    return check_result(RAG_REASONS, made.invoke(QUESTION))


def test_a_model_is_asked_again_before_a_sentence_is_taken_out():
    """Its second answer is as good as any; what is still refused when no attempt is left is taken out."""
    mended = ask_model(SAID, f"{FIRST} {LAST}", most=2)
    assert (mended["outcome"], [item["reason"] for item in mended["attempts"]]) == ("grounded_answer", [NUMBER])
    for most in (1, 2, 3):
        left = ask_model(*[SAID] * most, most=most)
        assert (left["outcome"], len(left.get("attempts", []))) == ("grounded_partial", most - 1)


def test_a_partial_answer_is_decided_again_as_it_was():
    """By a replay and a what-if; under a tighter policy it is a stop."""
    kept = Kept()
    answering(SAID, recorder=kept).invoke(QUESTION)
    agents = [answering(SAID, policy=policy) for policy in (DROP, RagPolicy(**LISTS))]
    again = replay(agents[0], kept.only)
    assert again["removed"] == kept.only["result"]["removed"]
    rows = [what_if(agent, [kept.only]).rows[0] for agent in agents]
    assert [row.kind for row in rows] == ["same", "changed"]
    assert replay(agents[1], kept.only)["stop_reason"] == NUMBER


BRIEF = "Payments are degraded. Some 99 % of them fail. Refunds are safe."
NOTES = [
    {"claim": "Payments are degraded.", "quote": "Payments are degraded in the region.", "url": STATUS},
    {"claim": "Refunds are safe.", "quote": "Refunds are safe and take 10 days.", "url": STATUS},
]
PAGE = {
    "title": "Status",
    "published_at": "",
    "body": "Payments are degraded in the region. Refunds are safe and take 10 days.",
}


def make_brief(text=BRIEF, citations=("n1", "n2"), **parts):
    """Run a research agent whose writer always says this."""
    tools = {"reader": PAGE, "extractor": NOTES, "planner": PLAN, "writer": {"answer": text, "citations": [*citations]}}
    made = {name: scripted_tool(item, loop=True) for name, item in tools.items()}
    return check_result(RESEARCH_REASONS, research(**{**made, "policy": ResearchPolicy(unsupported="drop"), **parts}))


def test_a_research_brief_goes_on_without_a_refused_sentence():
    """With the notes that a sentence of the rest still rests on."""
    result = make_brief()
    assert (result["outcome"], result["answer"]) == ("grounded_partial", "Payments are degraded. Refunds are safe.")
    assert [(item["text"], item["reason"]) for item in result["removed"]] == [("Some 99 % of them fail.", NUMBER)]
    assert result["citations"] == ["n1", "n2"]
    fewer = make_brief("Payments are degraded. Refunds take 12 days.")
    assert (fewer["citations"], fewer["aggregate"]["citations_count"]) == (["n1"], 1)
    assert fewer["history"][-1]["removed"] == [{"text": "Refunds take 12 days.", "reason": NUMBER}]
    assert make_brief("Payments are degraded. Ask Gartner.")["removed"][0]["reason"] == NAME


def research_agent(**parts):
    """Make the agent of `make_brief` for a replay, which calls nobody."""
    from guardgraph import create_research_agent

    tools = {"reader": PAGE, "extractor": NOTES, "planner": PLAN}
    made = {name: scripted_tool(item, loop=True) for name, item in tools.items()}
    return create_research_agent(**{**made, **parts}, policy=ResearchPolicy(unsupported="drop"))


def test_the_page_strikes_out_what_was_taken_out():
    """Where it stood, with the reason; markup and addresses in it stay text."""
    hostile = f"{FIRST} Refunds take 12 days <at> www.example.com. {LAST}"
    root = page(answer(hostile))
    [struck] = list(root.iter("del"))
    assert said(struck) == "Refunds take 12 days <at> www.example.com."
    whole = said(next(item for item in root.iter("div") if item.get("class", "").startswith("text answer")))
    assert whole.index(FIRST) < whole.index("Refunds take 12 days") < whole.index(NUMBER) < whole.index(LAST)
    assert "12 days" in whole[whole.index(NUMBER) :]
    assert not [item for item in root.iter("a") if "example.com" in (item.get("href") or "")]


def test_hostile_parts_of_a_result_break_no_page():
    """What is no list of parts with places is shown as any other key."""
    result = answer(SAID)
    for odd in (
        [{"text": "x"}],
        [{"text": "x", "reason": "y", "at": 10**6}],
        "x",
        [{"text": "", "reason": "", "at": 0}],
    ):
        assert page({**result, "removed": odd}).find("body/main") is not None
    assert page({**result, "removed": [{"text": "x", "reason": "y", "at": 3, "evidence": "z"}]}) is not None


def test_the_command_line_says_what_was_taken_out(tmp_path, monkeypatch):
    """Below the answer, with the reason."""
    (tmp_path / "drop.yaml").write_text("pattern: rag\npolicy: {unsupported: drop}\n", encoding="utf-8")
    said = {"answer": f"P1 within 15 minutes. {WRONG}", "citations": ["doc_sla_enterprise_v3"]}
    with OpenAIServer(served(INTENT), served(said), served(said)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = run("rag", QUESTION["question"], "--model", "openai:x", "--policy", str(tmp_path / "drop.yaml"))
    shown = " ".join(done.stdout.split())
    assert f"Taken out of the answer {WRONG} {NUMBER} (12 days)" in shown
    assert "grounded_partial, what the checks refused was taken out" in shown


def test_an_answer_of_100000_characters_takes_seconds():
    """However many of its sentences are refused."""
    text = f"{FIRST} " + "Refunds take 12 days. P2 is answered within 4 hours. " * 1900
    result = answer(text, "a")
    assert result["answer"].startswith(FIRST)
    assert "12 days" not in result["answer"]
