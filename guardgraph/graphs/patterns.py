"""The registry of the shipped patterns: an entry is all that the rest of the package has to know of one.

Entries name what is heavy, as ``module:name``, and load it when it is asked for: help and lists of names are quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from guardgraph.plain.json import JsonObject
from guardgraph.tools.demo import load_rag_demo, load_research_demo, load_self_critique_demo, load_tools_demo

if TYPE_CHECKING:
    from guardgraph.graphs.running.door import GuardedGraph
    from guardgraph.state.catalogue import Catalogue
    from guardgraph.state.settings import Budget, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedPattern:
    """A pattern of guardgraph's own."""

    name: str  # as its catalogue and its results name it
    title: str  # as a person reads it
    command: str  # as the command line calls it
    factory: str  # the function that makes its agent
    reasons: str  # its catalogue
    settings: tuple[str, str]  # the classes of its policy and its budget
    outcomes: Mapping[str, str]  # what each business result of an ok run means
    reasons_named: Mapping[str, str] = field(default_factory=dict)
    """What an outcome means where the result's `clarify_reason` names one of these."""
    demo: Callable[[], JsonObject]  # makes the input of its demo
    subject: tuple[str, ...]  # the keys that lead to what a person reads as the request in an input
    usage: str  # what follows the command in a call with an input of one's own
    invitation: str  # what such a call is good for
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What to know of a run with the tools of the demo, by label."""

    def create_agent(self, model: Any = None, **settings: Any) -> GuardedGraph:
        """Return its agent, made by its factory."""
        agent: GuardedGraph = resolve_name(self.factory)(model, **settings)
        return agent

    @property
    def catalogue(self) -> Catalogue:
        """Every reason why its runs can stop."""
        catalogue: Catalogue = resolve_name(self.reasons)
        return catalogue

    @property
    def settings_classes(self) -> tuple[type[Settings], type[Budget]]:
        """The classes of its policy and its budget."""
        policy, budget = map(resolve_name, self.settings)
        return policy, budget

    def explain_outcome(self, result: JsonObject) -> str | None:
        """Return what the business result of an ok run means, None for one that is not the pattern's."""
        reason, outcome = result.get("clarify_reason"), result.get("outcome")
        named = self.reasons_named.get(reason) if isinstance(reason, str) else None
        return named or (self.outcomes.get(outcome) if isinstance(outcome, str) else None)

    def read_request(self, given: JsonObject) -> str:
        """Return what a person reads as the request in a well-formed input."""
        return str(reduce(lambda inner, key: inner[key], self.subject, given))


_RAG = ShippedPattern(
    name="rag",
    title="RAG",
    command="rag",
    factory="guardgraph.graphs.rag:create_rag_agent",
    reasons="guardgraph.state.rag:RAG_REASONS",
    settings=("guardgraph.state.rag:RagPolicy", "guardgraph.state.rag:RagBudget"),
    outcomes={
        "grounded_answer": "every sentence was held against the context; what is in doubt is marked",
        "grounded_partial": "sentences that the context does not bear out are marked: see unverified",
        "clarify": "nothing relevant was found, so no answer was written",
    },
    reasons_named={"answerer_abstained": "what was found does not answer the question, so no answer was written"},
    demo=load_rag_demo,
    subject=("question",),
    usage='"QUESTION" --kb FOLDER',
    invitation="ask your own files",
)
_RESEARCH = ShippedPattern(
    name="research",
    title="Research",
    command="research",
    factory="guardgraph.graphs.research:create_research_agent",
    reasons="guardgraph.state.research:RESEARCH_REASONS",
    settings=("guardgraph.state.research:ResearchPolicy", "guardgraph.state.research:ResearchBudget"),
    outcomes={
        "grounded_research_answer": "every note was held against its page, every sentence against the notes",
        "grounded_partial": "a limit ended the run (ended_by), or sentences that the notes do not bear out are marked",
    },
    demo=load_research_demo,
    subject=("request", "request", "question"),
    usage='"QUESTION"',
    invitation="ask the recorded pages something else",
    remarks={"pages": "recordings of the demo (payments incident, enterprise SLA); no network"},
)
_SELF_CRITIQUE = ShippedPattern(
    name="self_critique",
    title="Self-critique",
    command="critique",
    factory="guardgraph.graphs.self_critique:create_self_critique_agent",
    reasons="guardgraph.state.self_critique:SELF_CRITIQUE_REASONS",
    settings=("guardgraph.state.self_critique:SelfCritiquePolicy", "guardgraph.state.self_critique:SelfCritiqueBudget"),
    outcomes={
        "approved_direct": "the critic approved the draft as it was",
        "revised_once": "the draft was revised within bounds, and the change audited",
        "approved_by_person": "the critic handed the draft to a person, who approved it as it was",
        "edited_by_person": "the critic handed the draft to a person; what they made of it was held against it",
    },
    demo=load_self_critique_demo,
    subject=("goal",),
    usage="--context FILE",
    invitation="write about an incident of your own",
)
_TOOLS = ShippedPattern(
    name="tools",
    title="Tool agent",
    command="tools",
    factory="guardgraph.graphs.tools:create_tool_agent",
    reasons="guardgraph.state.tools:TOOL_REASONS",
    settings=("guardgraph.state.tools:ToolPolicy", "guardgraph.state.tools:ToolBudget"),
    outcomes={
        "answered": "every call had a licence, and the answer was held against what was given and found",
        "declined": "the answer says that the task was not done",
        "grounded_partial": "a limit ended the run (ended_by); the answer was held against what was found until then",
    },
    demo=load_tools_demo,
    subject=("task",),
    usage='"TASK"',
    invitation="give the demo's office another task",
    remarks={"tools": "an office of the demo (two files, an account); no money is sent"},
)

PATTERNS: Mapping[str, ShippedPattern] = MappingProxyType(
    {item.name: item for item in (_RAG, _RESEARCH, _SELF_CRITIQUE, _TOOLS)}
)
"""The shipped patterns by name, in the order of the docs."""

COMMANDS = tuple(item.command for item in PATTERNS.values())  # what the command line calls them


def find_shipped_pattern(called: str) -> ShippedPattern | None:
    """Return the pattern with this name or command, None if there is none."""
    return next((item for item in PATTERNS.values() if called in (item.name, item.command)), None)
