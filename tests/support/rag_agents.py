"""RAG agents whose planner, answerer and retriever follow a script."""

import json

from guardgraph import RagPolicy, create_rag_agent
from guardgraph.testing import scripted_tool

QUESTION = {"question": "What SLA applies to enterprise plan and what is P1 first response target?"}
SOURCES = ["billing_policy", "security_policy", "support_policy"]
INTENT = {"kind": "retrieve", "query": "enterprise SLA P1 first response", "top_k": 4}
NAMED = {**INTENT, "sources": ["support_policy"]}
SLA = "doc_sla_enterprise_v3"
ANSWER = {"answer": "99.95% monthly uptime; P1 within 15 minutes, 24/7.", "citations": [SLA]}
TARGET = {"question": "What is the P1 first response target?"}
SEARCH = {"kind": "retrieve", "query": "P1 first response target"}
RIGHT = {"answer": "The target is 15 minutes.", "citations": [SLA]}
WRONG = {**RIGHT, "answer": "The target is 20 minutes."}
CANDIDATE = {"doc_id": "a", "source": "support_policy", "text": "P1 within 15 minutes.", "score": 0.5}
FOUND = [
    {**CANDIDATE, "doc_id": name, "text": f"The {name} team answers P1 within 15 minutes.", "score": score}
    for name, score in (("night", 0.9), ("day", 0.8), ("week", 0.7))
]
POLICY = RagPolicy(allowed_sources_policy=SOURCES, allowed_sources_execution=SOURCES)


def agent(plan=INTENT, answer=ANSWER, **kwargs):
    own = {"planner": scripted_tool(plan, loop=True), "answerer": scripted_tool(answer, loop=True)}
    return create_rag_agent(**{**own, **kwargs})


def agent_with(*candidates, plan=INTENT, policy=POLICY, **kwargs):
    return agent(plan, retriever=scripted_tool(list(candidates), loop=True), policy=policy, **kwargs)


def texts(*values):
    return [json.dumps(value) for value in values]
