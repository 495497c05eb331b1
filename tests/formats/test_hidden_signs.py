"""Signs that hide or turn a text where it is shown: no answer may have them, not even because a source has."""

import pytest
from tables import each_row

from guardgraph import RagPolicy, create_rag_agent, create_tool_agent
from guardgraph.grounding.links.spelling import find_hidden_signs
from guardgraph.guards.links import check_links
from guardgraph.guards.stop import Stop


@each_row(
    "sign",
    *("\U000e0049\U000e0067\U000e006e", "\U0001f3f4\U000e0041", "\u202eexe.txt", "\u202dtxt", "a\U000e0100\U000e0110"),
    *("\u200b\u2060\u200b\u2060", "\u2066set apart\u2069", "\u202aset apart\u202c"),
)
def test_a_text_with_signs_that_hide_is_refused_even_if_its_source_has_them(sign):
    """Every pattern refuses tags, overrides, stray selectors and bits without width; the stop shows their escapes."""
    text = f"The port is 8080{sign}."
    for family in ("invalid_answer", "invalid_notes", "invalid_draft", "patch_violation"):
        with pytest.raises(Stop) as stop:
            check_links([text], family, cited=[text], policy=RagPolicy())
        assert stop.value.reason == f"{family}:active_markup"
        assert stop.value.evidence["unsupported"]
        assert "".join(stop.value.evidence["unsupported"]).isascii()


@each_row(
    "text",
    "naïve “words” — 8 °C",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f flag of England",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 ❤\ufe0f",
    "葛\U000e0100飾区",
    "می\u200cخواهم",
    "השרת \u2066api-1\u2069 פעיל",
    "soft\u00adhyphen and zero\u200bwidth",
)
def test_signs_that_scripts_are_spelled_with_pass(text):
    """Joiners, flags, forms of Han characters and isolates beside letters from right to left hide nothing."""
    assert find_hidden_signs(text) == []
    check_links([text], "invalid_answer", cited=[], policy=RagPolicy())


def test_a_run_ends_where_an_answer_has_a_hidden_text():
    """The RAG and the tool agent stop before an answer with tags is returned, though their source has these."""
    hidden = "The port is 8080.\U000e0048\U000e0069"
    found = [{"doc_id": "doc_a", "source": "docs", "text": hidden, "score": 0.9}]
    rag = create_rag_agent(
        planner=lambda view: {"kind": "retrieve", "query": view["question"]},
        retriever=lambda request: found,
        answerer=lambda view: {"answer": hidden, "citations": ["doc_a"]},
        policy=RagPolicy(allowed_sources_policy=["docs"], allowed_sources_execution=["docs"]),
    )
    assert rag.invoke({"question": "Which port?"})["stop_reason"] == "invalid_answer:active_markup"

    def read_port(name: str) -> str:
        """Read a port."""
        return hidden

    tools = create_tool_agent(planner=lambda view: {"answer": hidden}, tools=[read_port])
    assert tools.invoke({"task": f"Say this: {hidden}"})["stop_reason"] == "invalid_answer:active_markup"
