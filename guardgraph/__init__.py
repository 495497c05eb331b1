"""guardgraph: LangGraph agent patterns in which an LLM only proposes and deterministic guards decide.

Three patterns as compiled LangGraph graphs, the grammar they are made with, and the proof of it::

    from guardgraph import create_rag_agent

    agent = create_rag_agent()
    result = agent.invoke({"question": "What SLA applies to the enterprise plan?"})
    print(result["stop_reason"], result["outcome"], result["answer"])

Everything is loaded when it is first used, so that a part can be imported at the cost of that part.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from guardgraph.drawing import Picture, draw
    from guardgraph.graphs.door import GuardedGraph
    from guardgraph.graphs.grammar import Pattern
    from guardgraph.graphs.rag import create_rag_agent
    from guardgraph.graphs.replay import replay
    from guardgraph.graphs.research import create_research_agent
    from guardgraph.graphs.self_critique import create_self_critique_agent
    from guardgraph.graphs.verify import RULES, Finding, verify
    from guardgraph.guards.proposals import Proposal, found, proposal, proposed_object, proposed_text
    from guardgraph.guards.stop import Stop, evidence, shown_name
    from guardgraph.nodes.body import Pass, Run, Step
    from guardgraph.reporting import Page, report
    from guardgraph.state.catalogue import Catalogue, StopReason, common_reasons
    from guardgraph.state.catalogues import CATALOGUES
    from guardgraph.state.context import Caller, Context
    from guardgraph.state.errors import ConfigurationError, GrammarError, GuardgraphError, InputError, NotRecorded
    from guardgraph.state.outcome import Outcome
    from guardgraph.state.rag import RagBudget, RagContext, RagPolicy, RagResult
    from guardgraph.state.research import ResearchBudget, ResearchContext, ResearchPolicy, ResearchResult
    from guardgraph.state.run import Result
    from guardgraph.state.self_critique import (
        SelfCritiqueBudget,
        SelfCritiqueContext,
        SelfCritiquePolicy,
        SelfCritiqueResult,
    )
    from guardgraph.state.settings import (
        Allowlist,
        Budget,
        Check,
        MaxFloat,
        MaxInt,
        MinFloat,
        Settings,
        Vocabulary,
    )
    from guardgraph.state.tightening import Tightens
    from guardgraph.tools.knowledge_base import Document, load_folder
    from guardgraph.tools.lexical import LexicalRetriever
    from guardgraph.world.call import Call, ask_person
    from guardgraph.world.deadline import deadline
    from guardgraph.world.live import LiveWorld
    from guardgraph.world.models import Prompt, chat_model
    from guardgraph.world.proposers import Proposer, choose_proposer

_HOMES = {
    "guardgraph.graphs.door": ("GuardedGraph",),
    "guardgraph.drawing": ("Picture", "draw"),
    "guardgraph.graphs.grammar": ("Pattern",),
    "guardgraph.graphs.rag": ("create_rag_agent",),
    "guardgraph.graphs.research": ("create_research_agent",),
    "guardgraph.graphs.self_critique": ("create_self_critique_agent",),
    "guardgraph.graphs.verify": ("RULES", "Finding", "verify"),
    "guardgraph.guards.proposals": ("Proposal", "found", "proposal", "proposed_object", "proposed_text"),
    "guardgraph.guards.stop": ("Stop", "evidence", "shown_name"),
    "guardgraph.nodes.body": ("Pass", "Run", "Step"),
    "guardgraph.state.outcome": ("Outcome",),
    "guardgraph.graphs.replay": ("replay",),
    "guardgraph.world.call": ("Call", "ask_person"),
    "guardgraph.world.deadline": ("deadline",),
    "guardgraph.world.live": ("LiveWorld",),
    "guardgraph.world.models": ("Prompt", "chat_model"),
    "guardgraph.world.proposers": ("Proposer", "choose_proposer"),
    "guardgraph.reporting": ("Page", "report"),
    "guardgraph.state.catalogue": ("Catalogue", "StopReason", "common_reasons"),
    "guardgraph.state.catalogues": ("CATALOGUES",),
    "guardgraph.state.context": ("Caller", "Context"),
    "guardgraph.state.errors": ("ConfigurationError", "GrammarError", "GuardgraphError", "InputError", "NotRecorded"),
    "guardgraph.state.rag": ("RagBudget", "RagContext", "RagPolicy", "RagResult"),
    "guardgraph.state.research": ("ResearchBudget", "ResearchContext", "ResearchPolicy", "ResearchResult"),
    "guardgraph.state.run": ("Result",),
    "guardgraph.state.self_critique": (
        "SelfCritiqueBudget",
        "SelfCritiqueContext",
        "SelfCritiquePolicy",
        "SelfCritiqueResult",
    ),
    "guardgraph.state.settings": (
        "Allowlist",
        "Budget",
        "Check",
        "MaxFloat",
        "MaxInt",
        "MinFloat",
        "Settings",
        "Vocabulary",
    ),
    "guardgraph.state.tightening": ("Tightens",),
    "guardgraph.tools.knowledge_base": ("Document", "load_folder"),
    "guardgraph.tools.lexical": ("LexicalRetriever",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CATALOGUES",
    "RULES",
    "Allowlist",
    "Budget",
    "Call",
    "Caller",
    "Catalogue",
    "Check",
    "ConfigurationError",
    "Context",
    "Document",
    "Finding",
    "GrammarError",
    "GuardedGraph",
    "GuardgraphError",
    "InputError",
    "LexicalRetriever",
    "LiveWorld",
    "MaxFloat",
    "MaxInt",
    "MinFloat",
    "NotRecorded",
    "Outcome",
    "Page",
    "Pass",
    "Pattern",
    "Picture",
    "Prompt",
    "Proposal",
    "Proposer",
    "RagBudget",
    "RagContext",
    "RagPolicy",
    "RagResult",
    "ResearchBudget",
    "ResearchContext",
    "ResearchPolicy",
    "ResearchResult",
    "Result",
    "Run",
    "SelfCritiqueBudget",
    "SelfCritiqueContext",
    "SelfCritiquePolicy",
    "SelfCritiqueResult",
    "Settings",
    "Step",
    "Stop",
    "StopReason",
    "Tightens",
    "Vocabulary",
    "ask_person",
    "chat_model",
    "choose_proposer",
    "common_reasons",
    "create_rag_agent",
    "create_research_agent",
    "create_self_critique_agent",
    "deadline",
    "draw",
    "evidence",
    "found",
    "load_folder",
    "proposal",
    "proposed_object",
    "proposed_text",
    "replay",
    "report",
    "shown_name",
    "verify",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'guardgraph' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
