"""Pages of runs: what they say of how a run went, and how they are made."""

import html
import json
import re
import sys
from copy import deepcopy
from functools import cache

import pytest
from rag_agents import CANDIDATE, QUESTION, agent, agent_with
from recorded_runs import recorded
from reported_runs import page, result_of, said, with_class
from tables import each_row

from guardgraph import ConfigurationError, InputError, RagBudget, create_rag_agent, report, what_if
from guardgraph.testing import ScriptedChatModel

SVG = "{http://www.w3.org/2000/svg}"
DEEP = json.loads("[" * 900 + "]" * 900)
"""Read by Python, but too deep to be laid out."""


def test_a_proposal_that_was_sent_back_stands_beside_why():
    """The verdict of a refused attempt shows its evidence as text, and no link of what a model wrote."""
    refused = {"answer": "Refunds go out in 11 days, see https://refunds.example/now.", "citations": ["d"]}
    right = {"answer": "In 10 days.", "citations": ["d"]}
    model = ScriptedChatModel({"kind": "retrieve", "query": "refunds"}, refused, right)
    document = {"doc_id": "d", "source": "docs", "text": "Refunds go out in 10 days.", "score": 0.9}
    result = create_rag_agent(model, retriever=lambda request: [document], sources=["docs"]).invoke(QUESTION)
    root = page(result)
    [sent_back] = [each for each in with_class(root, "judged") if "again → generate" in said(each)]
    assert "11 days" in said(sent_back)
    assert "invalid_answer:contradicts_source" in said(sent_back)
    assert not any("refunds.example" in each.get("href", "") for each in root.iter("a"))
    for changed in ([], [None], [{"evidence": ["11 days"]}], {"evidence": {}}):
        assert "again → generate" in said(page({**result, "attempts": changed}))


def test_the_head_of_a_good_run_says_what_came_of_it():
    """Status, outcome and its meaning, the stop reason, the run's id, its time and what was asked."""
    result = result_of("rag")
    root = page(result, asked=QUESTION["question"])
    head = said(root.find("body/header"))
    assert said(root.find("body/header/h1")) == "✓ ok grounded_answer"
    assert "Every sentence was held against the context" in head
    for told in ("RAG run", QUESTION["question"], "success", result["run_id"], "active time"):
        assert told in head
    assert said(root.find("head/title")) == "RAG run, ok: grounded_answer"


@each_row("name", "rag", "rag stopped", "research", "critique stopped")
def test_the_timeline_has_every_node_with_its_time(name):
    """A row for each node that ran, in order, with bars that begin where the one before ends."""
    result = result_of(name)
    [table] = with_class(page(result), "timeline")
    rows = table.findall("tbody/tr")
    assert [said(row.find("th/bdi")) for row in rows] == result["path"]
    whole = sum(entry["elapsed_ms"] for entry in result["timeline"])
    begun = 0.0
    for row, entry in zip(rows, result["timeline"], strict=True):
        [bar] = row.iter("rect")
        share = 100 * entry["elapsed_ms"] / whole
        assert float(bar.get("width")) == pytest.approx(max(share, 0.8), abs=0.01)
        assert float(bar.get("x")) == pytest.approx(min(begun, 100 - float(bar.get("width"))), abs=0.02)
        begun += share


@cache
def _cited():
    texts = {"short": "P1 is answered in 15 minutes. It rains.", "long": f"{'It rains. ' * 200}Refunds take 10 days."}
    found = [{**CANDIDATE, "doc_id": name, "text": text} for name, text in texts.items()]
    answer = {"answer": "P1 is answered in 15 minutes [short]. Refunds take 10 days [long].", "citations": []}
    return agent_with(*found, answer=answer).invoke(QUESTION, context={"policy": {"require_sentence_citations": True}})


def test_cited_sentences_and_their_evidence_are_marked():
    """Each sentence is marked with the number of its source, each passage where the evidence stands."""
    root = page(_cited())
    [answer] = with_class(root, "answer")
    marked = [said(item) for item in answer.iter("mark")]
    assert marked == ["P1 is answered in 15 minutes.", "Refunds take 10 days."]
    links = [(item.get("data-of"), item.get("href")) for item in answer.iter("a")]
    assert links == [("1", "#source-1"), ("2", "#source-2")]
    short, long = with_class(root, "source")
    assert [short.get("id"), long.get("id")] == ["source-1", "source-2"]
    assert [said(item) for item in short.iter("mark")] == ["P1 is answered in 15 minutes."]
    assert [said(item) for item in long.iter("mark")] == ["Refunds take 10 days."] * 2
    assert "characters 2,000 to 2,021 of the document" in said(long)
    assert "cited by the answer" in said(long)


@each_row("spans", None, 5, [5], [[0]], [[-1, 3]], [[0, 9_999]], [["0", "1"]], [[0, 9], [4, 12]], [[3, 3]], [[True, 5]])
def test_places_that_are_none_mark_nothing(spans):
    result = deepcopy(_cited())
    for detail in result["citation_details"]:
        detail.update(answer_spans=spans, document_span=spans, passage_span=spans)
    assert not [*page(result).iter("mark")]


def test_sources_are_shown_with_their_words():
    """RAG shows the chunk that it cites; research the claim, its quote and the page, and what was left out."""
    [source] = with_class(page(result_of("rag")), "source")
    assert "99.95% monthly uptime" in said(source.find("blockquote"))
    result = result_of("research")
    root = page(result)
    cited = zip(result["citation_details"], result["passages"], strict=True)
    for item, (detail, passage) in zip(with_class(root, "source"), cited, strict=True):
        assert said(item.find("blockquote")) == passage["quote"]
        assert passage["claim"] in said(item)
        assert item.find("p/a").get("href") == detail["link"]
        assert said(item.find("p/a")) == detail["url"]
    elsewhere = {**result["citation_details"][0], "link": "https://evil.example/"}
    [source] = with_class(page({**result, "citation_details": [elsewhere]}), "source")
    assert source.find("p/a").get("href") == elsewhere["url"]
    assert "https://evil.example/" in said(source)
    [left] = with_class(root, "left")
    for denied in result["aggregate"]["denied_sources"]:
        assert denied["url"] in said(left)
        assert denied["reason"] in said(left)


def test_a_revision_is_shown_beside_the_draft():
    """Both texts are there whole, what came is marked, and so are the measures and lines of the audit."""
    result = result_of("critique")
    [sides] = with_class(page(result), "sides")
    draft, final = (said(text) for text in with_class(sides, "text"))
    assert (draft, final) == (result["history"][0]["draft"], result["answer"])
    assert "".join(map(said, sides.iter("ins"))).strip() == "Timing may change as we learn more."
    words = said(page(result))
    assert all(str(item) in words for item in (result["audit"]["before_hash"], *result["audit"]["diff_excerpt"]))


def test_the_path_is_drawn_and_so_is_the_graph_of_a_pattern():
    """A run names its pattern: the graph is drawn beside the way of the run."""
    pictures = page(result_of("rag stopped")).iter(f"{SVG}svg")
    way, whole = ([said(text) for text in picture.iter(f"{SVG}text")] for picture in pictures)
    assert way[:4] == ["request_guard", "plan", "policy_guard", "stop_invalid_intent"]
    assert {"rag", "answer_guard", "stopped: invalid_intent:source_not_allowed:wiki"} <= {*whole}


@each_row(
    ("named", "title"),
    ("triage", "Run of triage"),
    ("rag", "Run of rag"),
    ("\u202eodd" * 90, "Run of "),
    (3, "Run"),
    ("", "Run"),
)
def test_a_pattern_that_is_none_of_ours_is_named_and_not_taken_for_one(named, title):
    """A pattern of a user's own, even one with the name of ours, has the picture of its way and no words of ours."""
    result = {"path": ["sort", "clarified"], "stop_reason": "success", "outcome": "clarify", "pattern": named}
    root = page(result)
    assert len([*root.iter(f"{SVG}svg")]) == 1
    kicker = said(root.find("body/header/p"))
    assert kicker.startswith(title)
    assert len(kicker) < 1000
    assert "\u202e" not in kicker
    assert "nothing relevant was found" not in said(root).lower()


def test_without_the_extra_the_page_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphlay", None)
    root = page(result_of("rag"))
    assert not [*root.iter(f"{SVG}svg")]
    assert said(root).count('pip install "guardgraph[draw]"') == 2


def test_a_notebook_shows_the_page_in_a_frame():
    made = report(result_of("rag"))
    frame = made._repr_html_()
    [(sandbox, inside)] = re.findall(r'^<iframe sandbox="([^"]*)" style="[^"]*" srcdoc="([^"]*)"></iframe>$', frame)
    assert html.unescape(inside) == made.html
    assert "allow-scripts" not in sandbox
    assert "allow-same-origin" not in sandbox
    assert repr(made) == "<Page: RAG run, ok: grounded_answer>"


def test_a_page_is_saved_as_html_alone(tmp_path):
    """The file is the page; a name with another ending is refused before anything is written."""
    made = report(result_of("rag"))
    made.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == made.html
    with pytest.raises(ConfigurationError, match=r"a name that ends in \.html; given: '.*run\.pdf'"):
        made.save(tmp_path / "run.pdf")
    with pytest.raises(OSError, match="nowhere"):
        made.save(tmp_path / "nowhere" / "run.html")
    assert [file.name for file in tmp_path.iterdir()] == ["run.html"]


@each_row(
    ("run", "message"),
    (None, "run: the result of a finished run is required, with path, a list of node names, and stop_reason"),
    ({"path": [], "stop_reason": "success"}, "run: the result of a finished run is required"),
    ({"path": ["x"], "stop_reason": "no", "timeline": [3]}, "run: timeline: entry 1 names no node; given: 3"),
    ({"path": ["__start__", "x"], "stop_reason": "no"}, "run: path: entry 1 is the name of no node; given: '__sta"),
    ({"path": ["x"], "stop_reason": "no", "timeline": [{"node": "y"}]}, "run: timeline: entry 1 is of a node that"),
    ({"path": ["x"], "stop_reason": "no", "x": {1, 2}}, "run: plain JSON is required"),
    ({"path": ["x"], "stop_reason": "no", "x": DEEP}, "run: at most 128 levels of nesting are allowed"),
)
def test_what_is_no_run_is_refused(run, message):
    with pytest.raises(InputError, match=re.escape(message)):
        report(run)


def test_the_page_of_a_what_if_has_bars_both_ways_and_what_is_unknown():
    """How many went from where to where, a picture for each kind of change, and the calls that nobody recorded."""
    runs = [recorded(make, QUESTION) for make in (create_rag_agent, lambda recorder: agent({}, recorder=recorder))]
    made = report(what_if(create_rag_agent(budget=RagBudget(min_chunk_score=0.9)), runs))
    assert repr(made) == "<Page: What if, rag: 1 of 2 runs changed>"
    for part in ("From ending to ending", "Where the ways part", "here they part", "Unknown", 'class="bar"'):
        assert part in made.html
    assert "<script" not in made.html
    assert "http://" not in made.html.replace("http://www.w3.org/2000/svg", "")
