"""The Self-critique agent's nodes, in the order of its diagram: request, drafts, critique, revision, final."""

from guardgraph.nodes.self_critique.critique import ask_critic, check_critique, escalate
from guardgraph.nodes.self_critique.drafts import check_draft, draft, shorten
from guardgraph.nodes.self_critique.final import approved, check_final, revised
from guardgraph.nodes.self_critique.request import check_request
from guardgraph.nodes.self_critique.revision import check_patch, repair, revise

__all__ = [
    "approved",
    "ask_critic",
    "check_critique",
    "check_draft",
    "check_final",
    "check_patch",
    "check_request",
    "draft",
    "escalate",
    "repair",
    "revise",
    "revised",
    "shorten",
]
