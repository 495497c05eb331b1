"""The RAG agent over a knowledge base on disk: who asks, which sources it may search, and what it cites."""

import pytest
from test_kb_ingest import write

from guardgraph import ConfigurationError, KnowledgeBase, RagPolicy, create_rag_agent
from guardgraph.testing import scripted_tool

QUESTION = {"question": "How many days does a refund take?"}
CALLER = {"tenant": "acme", "user": "u-17", "groups": ["support"]}
DOCUMENT = {"id": "r", "source": "s", "title": "", "section": "", "updated_at": "", "text": "A refund takes 14 days."}


@pytest.fixture
def base(tmp_path):
    """A base with one document of the tenant acme, for its support."""
    write(tmp_path / "docs", {"billing/refunds.md": "---\ntitle: x\n---\n# Refunds\n\nA refund takes 14 days.\n"})
    with KnowledgeBase(tmp_path / "kb.sqlite") as opened:
        opened.add(tmp_path / "docs", tenant="acme", readers=["group:support"])
        yield opened


@pytest.mark.parametrize("how", ["base", "path", "text"])
def test_the_agent_answers_whom_a_document_is_for(base, how):
    """A base, its path or its name makes an agent that answers those who may read, with the place in the document."""
    agent = create_rag_agent(knowledge_base={"base": base, "path": base.path, "text": str(base.path)}[how])
    for context in (None, {"caller": {**CALLER, "tenant": "other"}}):
        assert agent.invoke(QUESTION, context=context)["outcome"] == "clarify"
    result = agent.invoke(QUESTION, context={"caller": CALLER})
    assert (result["outcome"], result["citations"]) == ("grounded_answer", ["billing/refunds.md#refunds.1"])
    start, end = result["citation_details"][0]["document_span"]
    assert (base.path.parent / "docs" / "billing" / "refunds.md").read_text()[start:end] == "A refund takes 14 days."


@pytest.fixture
def planner():
    return scripted_tool(lambda view: {"kind": "retrieve", "query": view["question"]}, loop=True)


def test_a_running_agent_sees_new_sources(base, planner):
    """A list that is left out holds what the caller may read in this run: sources that appear, and none of others."""
    agent = create_rag_agent(knowledge_base=base, planner=planner)
    write(base.path.parent / "docs", {"later/more.md": "# More\n\nA refund of a ticket takes 3 days.\n"})
    base.add(base.path.parent / "docs", tenant="acme", readers=["group:support"])
    base.add(base.path.parent / "docs", tenant="globex", readers=["tenant"], name="g")
    write(base.path.parent / "secret", {"plans/a.md": "# Refund\n\nA refund takes 99 days.\n"})
    base.add(base.path.parent / "secret", tenant="globex", readers=["user:boss"])
    result = agent.invoke(QUESTION, context={"caller": CALLER})
    assert result["path"][:4] == ["request_guard", "list_sources", "sources_guard", "plan"]
    assert result["trace"][0]["requested_sources"] == ["billing", "later"]
    assert result["citations"] == ["billing/refunds.md#refunds.1"]
    assert "plans" not in repr(result)
    agent.invoke(QUESTION, context={"caller": {"tenant": "globex", "user": "boss"}})
    agent.invoke(QUESTION)
    shown = [["billing", "later"], ["billing", "later", "plans"], []]
    assert [call["available_sources"] for call in planner.calls] == shown


def test_lists_narrow_what_the_caller_may_read(base, planner):
    base.add([{**DOCUMENT, "id": "n", "source": "notes"}], tenant="acme", readers=["tenant"])
    base.add([{**DOCUMENT, "id": "o", "source": "other"}], tenant="globex", readers=["tenant"])

    def ask(policy=None, execution=None, **parts):
        context = {"caller": CALLER, "policy": {"allowed_sources_execution": execution} if execution else {}}
        return create_rag_agent(knowledge_base=base, policy=policy, **parts).invoke(QUESTION, context=context)

    listed = ask(RagPolicy(allowed_sources_policy=["billing", "other"]), planner=planner)
    assert planner.calls[0]["available_sources"] == listed["trace"][0]["requested_sources"] == ["billing"]
    assert ask(execution=["notes", "other"])["trace"][0]["requested_sources"] == ["notes"]
    greedy = ask(planner=lambda view: {"kind": "retrieve", "query": "refund", "sources": ["other"]})
    assert greedy["stop_reason"] == "invalid_intent:source_not_allowed:other"


def test_a_base_that_lists_nonsense_stops_the_run(base):
    base.list_sources = lambda request: [7]
    result = create_rag_agent(knowledge_base=base).invoke(QUESTION)
    assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:retrieve", "retrieve")


@pytest.mark.parametrize("wrong", [7, ["docs"], "", "nowhere.sqlite"])
def test_what_is_no_base_is_refused(wrong, tmp_path, monkeypatch):
    """A folder, a base or its file is required; a file that is not there is not made."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"knowledge[_ ]base"):
        create_rag_agent(knowledge_base=wrong)
    assert not [*tmp_path.iterdir()]
