"""A what-if is shown: limits for CI, the command line, the picture of two ways, the page."""

import pytest
from drawn_graphs import elements, shown_nodes, words
from rag_agents import QUESTION, agent
from recorded_runs import recorded
from tables import each_row
from ticket_pattern import Policy, triage

from guardgraph import ConfigurationError, RagBudget, RagPolicy, create_rag_agent, draw, report, what_if
from guardgraph.evidence.what_if import parse_fail_on
from guardgraph.state.rag import RAG_REASONS

STRICT = RagBudget(min_chunk_score=0.9)
WRONG = {"answer": "Within 20 minutes.", "citations": ["doc_sla_enterprise_v3"]}


def unchecked(recorder):
    return agent(answer=WRONG, policy=RagPolicy(check_values=False), recorder=recorder)


def judged():
    return what_if(create_rag_agent(budget=STRICT), answers())


def unreplayable():
    first, second = answers()
    return what_if(create_rag_agent(), [{**first, "redacted": [["input"]]}, {**second, "format": 2}])


def answers():
    return [recorded(create_rag_agent, QUESTION), recorded(unchecked, QUESTION)]


# Limits


@each_row(
    ("limit", "found", "exceeded"),
    [
        ("ok>ok:0", 1, True),
        ("ok:grounded_answer>ok:clarify:0", 1, True),
        ("stopped>ok:0", 0, False),
        ("ok>stopped:invalid_answer:0", 0, False),
        ("changed:0", 1, True),
        ("unknown:49%", 1, True),
        ("unknown:50%", 1, False),
        ("unreplayable:version:0", 1, True),
        ("unreplayable:redacted:1", 1, False),
        ("unreplayable:changed:0%", 0, False),
    ],
)
def test_a_limit_counts_changes_or_a_class(limit, found, exceeded):
    """Endings by status, by outcome, by the beginning of a reason; a number, or a percentage of all runs."""
    parsed, found_in = parse_fail_on(limit, RAG_REASONS), unreplayable() if "unreplayable" in limit else judged()
    assert (parsed.count_what_if_runs(found_in), parsed.is_exceeded(found_in)) == (found, exceeded)


@each_row(
    ("limit", "message"),
    [
        ("stopped>ok", "a whole number or a percentage behind the last colon; given: 'stopped>ok'"),
        ("stoped>ok:0", "endings called ok, stopped, refused, .*; given: 'stoped'"),
        ("ok:ground>ok:0", "an outcome of rag: grounded_answer, grounded_partial, clarify; given: 'ground'"),
        ("ok>stopped:no_such:0", "a stop reason of rag; given: 'no_such'"),
        ("chnged:0", "OLD>NEW:MOST, CLASS:MOST or .*, with a class of same, .*; given: 'chnged'"),
    ],
)
def test_a_limit_that_is_none_is_refused(limit, message):
    """A name that is mistyped would never be exceeded, so it is an error."""
    with pytest.raises(ConfigurationError, match=f"^--fail-on {limit!r}: required: {message}$"):
        parse_fail_on(limit, RAG_REASONS)


# The picture


def ways():
    candidate = create_rag_agent(budget=STRICT)
    [row] = what_if(candidate, [recorded(create_rag_agent, QUESTION)]).rows
    return candidate, *row.ways


def test_a_picture_shows_two_ways_and_where_they_part():
    """What both took is as in every picture of a run; what one took alone has a class, and a node says `parts`."""
    candidate, then, now = ways()
    picture = draw(candidate, now.run, earlier=then.run)
    classes = shown_nodes(picture)
    assert {name for name, kinds in classes.items() if "earlier" in kinds} == {"generate", "answer_guard", "answered"}
    assert {name for name, kinds in classes.items() if "newer" in kinds} == {"clarified"}
    assert picture.diagram.parting == "context_guard"
    [badge] = elements(picture, "badge")[:1]
    assert words(badge) == ["parts"]
    assert repr(picture).endswith("a run that ended with success, beside an earlier one that ended with success>")
    assert "earlier" in picture.mermaid


def test_both_reasons_stand_at_a_guard_that_stopped_one_of_two_runs():
    """A stop of the earlier run is a chip of its own, with its reason."""
    recording = recorded(lambda **made: triage(lambda view: {"label": "spam"}, policy=Policy(labels=()), **made))
    [row] = what_if(triage(), [recording]).rows
    then, now = row.ways
    picture = draw(triage(), now.run, earlier=then.run)
    [chip] = [item for item in elements(picture, "chip") if "earlier" in item.get("class")]
    assert words(chip) == ["invalid_label"]
    turned = draw(triage(), then.run, earlier=now.run)
    assert {name for name, kinds in shown_nodes(turned).items() if "earlier" in kinds} == {"spam"}


# The page


def test_the_page_has_bars_both_ways_and_what_is_unknown():
    """How many went from where to where, a picture for each kind of change, and the calls that nobody recorded."""
    page = report(judged())
    assert repr(page) == "<Page: What if, rag: 1 of 2 runs changed>"
    html = page.html
    for part in ("From ending to ending", "Where the ways part", "here they part", "Unknown", 'class="bar"'):
        assert part in html
    assert "<script" not in html
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
