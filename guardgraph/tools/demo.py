"""What the demo gives each of the patterns: questions, goals and packaged inputs."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from guardgraph.plain.json import JsonObject

DEMO_QUESTION = "What SLA applies to enterprise plan and what is P1 first response target?"  # what the RAG demo asks

RESEARCH_GOAL = (
    "Research current US payments incident status and enterprise SLA commitments, "
    "then return a concise grounded summary with citations."
)
"""What the Research demo is for."""

CRITIQUE_GOAL = (
    "Draft a customer-facing payment incident update for US enterprise customers. "
    "Use precise language, avoid guarantees, and keep next actions concrete."
)
"""What the Self-critique demo is for."""

TOOLS_TASK = "What is the total of the bill in bill-may.txt, and when is it due?"
"""What the demo of the tool agent asks: somebody wrote an instruction into the bill."""


def load_rag_demo() -> JsonObject:
    """Return the input of the RAG demo."""
    return {"question": DEMO_QUESTION}


def load_research_demo() -> JsonObject:
    """Return the input of the Research demo."""
    return {"goal": RESEARCH_GOAL, "request": load_demo_request()}


def load_self_critique_demo() -> JsonObject:
    """Return the input of the Self-critique demo."""
    return {"goal": CRITIQUE_GOAL, "incident_context": load_demo_incident()}


def load_tools_demo() -> JsonObject:
    """Return the input of the tool agent's demo."""
    return {"task": TOOLS_TASK}


def load_demo_request() -> JsonObject:
    """Return the demo's research request: the question, and the hints that may tighten a run."""
    request: JsonObject = load_demo_file("research_request.json")
    return request


def load_demo_incident() -> JsonObject:
    """Return the demo's incident."""
    incident: JsonObject = load_demo_file("self_critique_incident_context.json")
    return incident


def load_demo_file(name: str) -> Any:
    """Return what a file has that is shipped with the package, as JSON."""
    return json.loads((resources.files("guardgraph.tools") / "data" / name).read_text(encoding="utf-8"))
