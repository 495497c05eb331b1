"""The RAG agent over a knowledge base on disk: who asks, which sources it may search, and what it cites."""

import pytest
from test_kb_ingest import write

from guardgraph import ConfigurationError, KnowledgeBase, RagPolicy, create_rag_agent

QUESTION = {"question": "How many days does a refund take?"}
CALLER = {"tenant": "acme", "user": "u-17", "groups": ["support"]}
BOTH = RagPolicy(allowed_sources_policy=["billing", "later"], allowed_sources_execution=["billing", "later"])


@pytest.fixture
def base(tmp_path):
    """A base with one document of the tenant acme, for its support."""
    write(tmp_path / "docs", {"billing/refunds.md": "---\ntitle: x\n---\n# Refunds\n\nA refund takes 14 days.\n"})
    with KnowledgeBase(tmp_path / "kb.sqlite") as opened:
        opened.add(tmp_path / "docs", tenant="acme", readers=["group:support"])
        yield opened


def outcome(agent, caller=None):
    """How a run ends, and what it cites."""
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


def test_what_changes_is_found_by_the_same_agent(base):
    """A base is live: what is added, revoked or granted holds from the next run on, for an agent made before."""
    agent, docs = create_rag_agent(knowledge_base=base, policy=BOTH), base.path.parent / "docs"
    (docs / "billing" / "refunds.md").write_text("# Refunds\n\nA refund takes 30 days.\n")
    base.add(docs, tenant="acme", readers=["group:support"])
    assert agent.invoke(QUESTION, context={"caller": CALLER})["answer"] == "A refund takes 30 days."
    base.add(docs, tenant="acme", readers=["user:u-9"])
    assert outcome(agent, CALLER) == ("clarify", [])
    (docs / "billing").rename(docs / "later")
    base.add(docs, tenant="acme", readers=["tenant"])
    assert outcome(agent, CALLER) == ("grounded_answer", ["later/refunds.md#refunds.1"])


def test_a_base_of_several_tenants_needs_both_lists(base):
    """A planner is shown the names of sources: with several tenants, or none yet, the policy has to name them."""
    base.add(base.path.parent / "docs", tenant="globex", readers=["tenant"])
    for policy in (None, RagPolicy(allowed_sources_policy=["billing"])):
        with pytest.raises(ConfigurationError, match=r"which has 2 tenants.* allowed_sources_execution"):
            create_rag_agent(knowledge_base=base, policy=policy)
    agent = create_rag_agent(knowledge_base=base, policy=BOTH)
    assert outcome(agent, {"tenant": "globex"})[0] == "grounded_answer"
    with KnowledgeBase(base.path.parent / "empty.sqlite") as empty:
        with pytest.raises(ConfigurationError, match="has no documents yet"):
            create_rag_agent(knowledge_base=empty)
        assert outcome(create_rag_agent(knowledge_base=empty, policy=BOTH)) == ("clarify", [])


@pytest.mark.parametrize("wrong", [7, ["docs"], "", "nowhere.sqlite"])
def test_what_is_no_base_is_refused(wrong):
    """A folder, a base or its file is required; a file that is not there is not made."""
    with pytest.raises(ConfigurationError, match=r"knowledge[_ ]base"):
        create_rag_agent(knowledge_base=wrong)
