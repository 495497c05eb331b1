"""The RAG agent over a knowledge base on disk: who asks, which sources it may search, and what it cites."""

import pytest
from test_kb_ingest import write

from guardgraph import ConfigurationError, KnowledgeBase, RagPolicy, create_rag_agent

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


def outcome(agent, caller=None):
    result = agent.invoke(QUESTION, context=caller and {"caller": caller})
    return result["outcome"], result.get("citations")


@pytest.mark.parametrize("how", ["base", "path", "text"])
def test_the_agent_answers_whom_a_document_is_for(base, how):
    """A base, its path or its name makes an agent that answers those who may read, with the place in the document."""
    agent = create_rag_agent(knowledge_base={"base": base, "path": base.path, "text": str(base.path)}[how])
    assert outcome(agent) == ("clarify", [])
    assert outcome(agent, {**CALLER, "tenant": "other"}) == ("clarify", [])
    result = agent.invoke(QUESTION, context={"caller": CALLER})
    assert (result["outcome"], result["citations"]) == ("grounded_answer", ["billing/refunds.md#refunds.1"])
    start, end = result["citation_details"][0]["document_span"]
    assert (base.path.parent / "docs" / "billing" / "refunds.md").read_text()[start:end] == "A refund takes 14 days."


def shown_sources(agent_of, caller):
    """Which sources a planner is shown in a run of a caller, and how it ends."""
    seen = []

    def plan(view):
        seen.append(view["available_sources"])
        return {"kind": "retrieve", "query": view["question"]}

    result = agent_of(plan).invoke(QUESTION, context=caller and {"caller": caller})
    return seen[0], result


def test_a_running_agent_sees_new_sources(base):
    """A list that is left out holds what the caller may read in this run: sources that appear, and none of others."""
    agents = {}

    def agent_of(plan):
        agents["live"] = create_rag_agent(knowledge_base=base, planner=plan)
        write(base.path.parent / "docs", {"later/more.md": "# More\n\nA refund of a ticket takes 3 days.\n"})
        base.add(base.path.parent / "docs", tenant="acme", readers=["group:support"])
        base.add(base.path.parent / "docs", tenant="globex", readers=["tenant"], name="g")
        write(base.path.parent / "secret", {"plans/a.md": "# Refund\n\nA refund takes 99 days.\n"})
        base.add(base.path.parent / "secret", tenant="globex", readers=["user:boss"])
        return agents["live"]

    sources, result = shown_sources(agent_of, CALLER)
    assert sources == ["billing", "later"]
    assert result["path"][:4] == ["request_guard", "list_sources", "sources_guard", "plan"]
    assert result["trace"][0]["requested_sources"] == ["billing", "later"]
    assert result["citations"] == ["billing/refunds.md#refunds.1"]
    assert "plans" not in repr(result)
    for caller, seen in (({"tenant": "globex", "user": "boss"}, ["billing", "later", "plans"]), (None, [])):
        assert shown_sources(lambda plan: create_rag_agent(knowledge_base=base, planner=plan), caller)[0] == seen


def test_lists_narrow_what_the_caller_may_read(base):
    base.add([{**DOCUMENT, "id": "n", "source": "notes"}], tenant="acme", readers=["tenant"])
    base.add([{**DOCUMENT, "id": "o", "source": "other"}], tenant="globex", readers=["tenant"])
    listed = RagPolicy(allowed_sources_policy=["billing", "other"])
    sources, result = shown_sources(
        lambda plan: create_rag_agent(knowledge_base=base, planner=plan, policy=listed), CALLER
    )
    assert (sources, result["trace"][0]["requested_sources"]) == (["billing"], ["billing"])
    agent = create_rag_agent(knowledge_base=base)
    context = {"caller": CALLER, "policy": {"allowed_sources_execution": ["notes", "other"]}}
    assert agent.invoke(QUESTION, context=context)["trace"][0]["requested_sources"] == ["notes"]
    greedy = create_rag_agent(
        knowledge_base=base, planner=lambda view: {"kind": "retrieve", "query": "refund", "sources": ["other"]}
    )
    result = greedy.invoke(QUESTION, context={"caller": CALLER})
    assert result["stop_reason"] == "invalid_intent:source_not_allowed:other"


def test_a_base_that_lists_nonsense_stops_the_run(base):
    base.list_sources = lambda request: [7]
    result = create_rag_agent(knowledge_base=base).invoke(QUESTION)
    assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:retrieve", "retrieve")


@pytest.mark.parametrize("wrong", [7, ["docs"], "", "nowhere.sqlite"])
def test_what_is_no_base_is_refused(wrong):
    """A folder, a base or its file is required; a file that is not there is not made."""
    with pytest.raises(ConfigurationError, match=r"knowledge[_ ]base"):
        create_rag_agent(knowledge_base=wrong)
