"""Briefs as Markdown: numbers behind sentences, a table of sources, and nothing of models or pages but text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from research_cases import GOAL, REQUEST, research

from guardgraph import InputError, ResearchPolicy, create_rag_agent, format_brief
from guardgraph.tools.demo import DEMO_QUESTION

READ = MarkdownIt("commonmark").enable(["table", "strikethrough"])
QUESTION = REQUEST["request"]["question"]
HOSTILE = [
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](https://evil.io/a.png)"),
    *("[log in](https://evil.io)", "[1]: https://evil.io", "<https://evil.io>"),
    "See https://evil.io/a?b=`c`|d and www.evil.io, or ask @everyone (help@evil.io).",
    "See evil1.com, 1evil2.example or evil1.xn--p1ai.",
    *("# Sources", "Sources\n===", "Sources\n---", "- # Sources", "1. > Sources", "> quoted", "    code", "\tcode"),
    *("```\ncode", "~~gone~~ **bold** _i_ `code` &lt; $x$", "| a | b |\n| --- | --- |\n| c | d |", "a\\", "a | b"),
    *("\u202egnp.exe\u200b", "***", "+ - * x", "2026. A year", "-", ""),
]


def made(answer="It is up.", *, spans=None, **changed):
    """Return the result of a run with one source."""
    detail = {"id": "n1", "url": "https://a.example.com/", "title": "A", "published_at": "2026-01-15"}
    detail |= {} if spans is None else {"answer_spans": spans}
    detail |= {key: changed.pop(key) for key in ("title", "url", "tier", "trusted_by", "page") if key in changed}
    ok = {"status": "ok", "stop_reason": "success", "outcome": "grounded_research_answer"}
    return {**ok, "answer": answer, "citations": ["n1"], "citation_details": [detail], **changed}


def tokens(text):
    blocks = READ.parse(text)
    return [*blocks, *(child for block in blocks for child in block.children or ())]


def shown(text):
    return "".join(token.content for token in tokens(text) if token.type in ("text", "code_inline", "text_special"))


def letters(text):
    return re.sub(r"[\W_]", "", text)


def test_the_demo():
    text = format_brief(research(), asked={"goal": GOAL, "request": REQUEST})
    assert text.startswith(f"# {QUESTION}\n\nResearch brief: ")
    assert "may change. [1, 2]\n\n## Sources\n\n| no. | title | address | date |\n" in text
    row = "| 2 | Enterprise SLA | `https://vendor.example.com/policies/enterprise-sla` | 2026-01-15 |\n"
    assert text.endswith(row)


def test_numbers_stand_behind_the_sentences_that_cite():
    """Where every sentence must cite, each has the numbers of its own sources."""
    text = format_brief(research(policy=ResearchPolicy(require_sentence_citations=True)), asked=QUESTION)
    assert re.search(r"45 minutes\. \[1\] Enterprise SLA .* \(24/7\)\. \[2\]\n\n## Sources", text)
    several = made("One. Two.\n\n- Three\n- Four", spans=[[0, 4], [11, 18], [19, 25]])
    assert "\n\nOne. [1] Two.\n\n- Three [1]\n- Four [1]\n\n" in format_brief(several)
    assert "One. [1] (x)" in format_brief(made("One.(x)", spans=[[0, 4]]))


def test_an_answer_is_whole_whatever_its_sections_say():
    """Sections that leave a part of it out, or places that are none of it, are not followed; no number is lost."""
    sections = [{"title": "A", "start": 0, "end": 3}, {"title": "B", "start": 6, "end": 10}]
    assert "\n\nIt is up. [1]\n\n" in format_brief(made(spans=[[0, 99]], sections=sections))
    halves = [{"title": "A", "start": 0, "end": 4}, {"title": "B", "start": 5, "end": 9}]
    text = format_brief(made("One. Two.", spans=[[0, 5], [5, 9]], sections=halves))
    assert "## A\n\nOne. [1]\n\n## B\n\nTwo. [1]\n\n" in text
    both = {**made("One. Two.", spans=[[0, 4], [5, 99]], sections=halves)}
    both["citation_details"].append({"id": "n2", "url": "https://b.example.com/", "answer_spans": [[0, 5], [2, 9]]})
    assert "## A\n\nOne. [1, 2]\n\n## B\n\nTwo. [2]\n\n" in format_brief(both)


def test_what_is_known_of_a_source():
    """Tier, owner and page have columns where there are any; a guessed date says so."""
    text = format_brief(made(tier="official", trusted_by={"owner": "A & Co."}, page=3))
    assert "| no. | title | address | page | tier | date | owner |" in text
    assert "| 1 | A | `https://a.example.com/` | 3 | official | 2026-01-15 | A \\& Co. |" in text
    guessed = made()
    guessed["citation_details"][0] |= {"published_at": "", "guessed_date": "2026-02-01"}
    assert "2026-02-01 (guessed)" in format_brief(guessed)


def test_agreement_and_remarks():
    """Conflicts show both values; what was taken out is counted, and who approved is named."""
    conflict = {"id": "n3", "says": "41", "instead_of": "14"}
    agreement = [
        {"id": "n1", "claim": "14 hurt.", "standing": "conflict", "independent": 2, "conflicts_with": [conflict]},
        {"id": "n3", "claim": "41 hurt.", "standing": "single_source", "independent": 1, "conflicts_with": []},
    ]
    marked = {"start": 0, "end": 3, "verdict": "contradicted", "findings": [{"text": "14", "told": "41"}]}
    more = {"unverified": [marked], "approved_by": "Ada", "open": ["who paid?"], "outcome": "grounded_partial"}
    text = format_brief(made(agreement=agreement, **more))
    assert "| 1 | 14 hurt. | conflict | 2 | n3 says 41, not 14 |" in text
    assert "| n3 | 41 hurt. | single source | 1 |  |" in text
    assert "## Open\n\n- who paid?" in text
    assert "(unverified, contradicted; 14: the source says 41)\n\n## Sources" in text
    assert text.endswith("Approved by Ada.\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_models_and_pages_write_is_text(text):
    """No link, image, element, heading, code block or rule comes of it, in the answer or beside it."""
    plain, spans = tokens(format_brief(made())), [[0, len(text)]]
    agreement = [{"id": text, "claim": text, "standing": text, "conflicts_with": [{"id": text, "says": text}]}]
    said = format_brief(
        made(text, spans=spans, title=text, url=text or "x", tier=text, agreement=agreement, open=[text]), asked=text
    )
    kinds = {token.type for token in tokens(said)}
    known = {token.type for token in [*plain, *tokens("- a\n\n`b`\n\n1. c\n\na\nb")]}
    assert kinds <= known | {"text_special"}
    assert [token.tag for token in tokens(said) if token.type == "heading_open"] == ["h1", *["h2"] * 3]
    assert letters(text.encode("ascii", "backslashreplace").decode()) in letters(shown(said))
    for token in tokens(said):
        if token.type == "text":
            assert not re.search(r"https?://|www\.|\S@\S|@\w|evil\w*\.\w", token.content)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*HOSTILE, "\n", " ", "word", ".", "1. ", "- "]) | st.text(max_size=4), max_size=8))
def test_any_text(parts):
    """Whatever is put together of such, no more than paragraphs and lists comes of it, and no letter is lost."""
    text = "".join(parts)
    said = format_brief(made(text, spans=[[0, max(len(text) // 2, 1)]], title=text))
    assert not {"link_open", "image", "html_block", "html_inline", "fence", "code_block", "hr"} & {
        token.type for token in tokens(said)
    }
    assert [token.tag for token in tokens(said) if token.type == "heading_open"] == ["h1", "h2"]


def test_what_has_no_brief():
    waiting = {"status": "waiting", "__interrupt__": [object()]}
    of_rag = create_rag_agent().invoke({"question": DEMO_QUESTION})
    for run in (research(writer=lambda view: {}), waiting, of_rag, {}, {**made(), "citation_details": [5]}, "ok"):
        with pytest.raises(InputError, match="run: a run of the Research agent that ended well is required; given: "):
            format_brief(run)
