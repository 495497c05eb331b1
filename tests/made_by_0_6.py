"""What 0.6.0 made, in `data/made_by_0_6`, and the agents that made it.

`making_by_0_6.py` wrote those files once, with 0.6.0. Whatever version this is has to read them, and to decide what
they hold as 0.6.0 did.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.graph import END, START, StateGraph
from recorded_runs import AGENTS, dead, replaying_agent
from refund_pattern import refund
from ticket_pattern import triage
from typing_extensions import TypedDict

from guardgraph import RagBudget, create_rag_agent, create_research_agent, create_self_critique_agent

FOLDER = Path(__file__).with_name("data") / "made_by_0_6"
OWN = FOLDER / "recordings.jsonl"
"""A recording a line: how runs end well, with a person, shadows, other runs inside, calls that fail."""
STOPS = FOLDER / "stops.jsonl.xz"
"""A recording a line: a run for each reason why one of the three patterns stops, in each phase where it does."""
STORE = FOLDER / "runs.sqlite"
POSTGRES = FOLDER / "runs.postgres.sql"
CHECKPOINTS = FOLDER / "checkpoints.sqlite"
BASE = FOLDER / "kb.sqlite"
PUBLIC_KEY = FOLDER / "public.pem"
DOCUMENTS = {
    "rag": "guardgraph:create_rag_agent",
    "research": "guardgraph:create_research_agent",
    "self_critique": "guardgraph:create_self_critique_agent",
    "shadowed": "made_by_0_6:shadowed",
    "approved": "refund_pattern:refund",
    "rejected": "refund_pattern:refund",
    "signed": "guardgraph:create_rag_agent",
}
"""The documents, by the names of their files, and who decides their runs again."""

QUESTION = {"question": "What SLA applies to enterprise plan and what is P1 first response target?"}


class Letters(Embeddings):
    """A vector for how often each letter stands in a text: as good as none, and the same wherever it is made."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        letters = text.casefold()
        return [float(letters.count(chr(ord("a") + at)) + 1) for at in range(26)]


def shadowed(policy: Any = None, budget: Any = None, recorder: Any = None) -> Any:
    """Return a RAG agent with a stricter shadow."""
    shadow = {"strict": create_rag_agent(budget=RagBudget(min_chunk_score=0.9))}
    return create_rag_agent(policy=policy, budget=budget, recorder=recorder, shadow=shadow)


class Desk(TypedDict, total=False):
    """What an ordinary graph keeps around a guarded one."""

    order: str
    outcome: str


def desk(recorder: Any = None, checkpointer: Any = None) -> Any:
    """Return an ordinary graph with a guarded one in it, which asks a person."""
    graph = StateGraph(Desk)
    graph.add_node("refund", refund(recorder=recorder))
    graph.add_edge(START, "refund")
    graph.add_edge("refund", END)
    return graph.compile(checkpointer=checkpointer)


def asks_an_agent(recorder: Any = None) -> Any:
    """Return a guarded graph whose tool is a run of another one."""
    inner = create_rag_agent(recorder=recorder)

    def on_duty(request: Any) -> str:
        return f"{inner.invoke(QUESTION)['outcome']} ({request['desk']})"

    return triage(tool=on_duty, recorder=recorder)


HR = {"tenant": "acme", "user": "zoe", "groups": ["eu:hr"]}
ASKED = [
    ("fruits in the cellar", None),
    ("fruits in the cellar", {"tenant": "acme", "user": "max"}),
    ("fruits in the cellar", {"tenant": "globex", "user": "bob"}),
    ("refunds of pay", {"tenant": "acme", "user": "max"}),
    ("refunds of pay", HR),
    ("When are plums dried?", HR),
    ("blue", {"tenant": "globex", "groups": ["eu:hr"]}),
]
"""What the knowledge base is asked, and by whom."""
REVIEWED = {"approved": (refund, "approve"), "rejected": (refund, "reject"), "desk": (desk, "approve")}
"""The runs that wait for a person, by their thread, and what he says."""
INTERRUPTED = {
    "rag": (create_rag_agent, "retrieve"),
    "research": (create_research_agent, "extract"),
    "self_critique": (create_self_critique_agent, "critique"),
}
"""The runs that stand before a node, by their thread."""
_STORE = ("--store", "sqlite:///runs.sqlite", "--json")
_KB = ("kb.sqlite", "--json")
COMMANDS = {
    "audit verify": ("audit", "verify", *_STORE),
    "audit head": ("audit", "head", *_STORE),
    "audit list": ("audit", "list", *_STORE),
    "audit list of a tenant": ("audit", "list", "--tenant", "globex", *_STORE),
    "audit list of a pattern": ("audit", "list", "--pattern", "refund", *_STORE),
    "what-if": ("what-if", "guardgraph:create_rag_agent", *_STORE),
    "kb check": ("kb", "check", *_KB),
    "kb list": ("kb", "list", *_KB),
    "kb list of a collection": ("kb", "list", "--tenant", "acme", "--name", "docs", *_KB),
    "kb access": ("kb", "access", "--tenant", "acme", "--user", "ann", *_KB),
    "kb search": ("kb", "search", "kb.sqlite", "refunds of pay", "--tenant", "acme", "--user", "max", "--json"),
    **{
        f"audit check of {name}": (
            *("audit", "check", f"{name}.json", "--agent", agent, "--json"),
            *(("--public-key", "public.pem") if name == "signed" else ()),
        )
        for name, agent in DOCUMENTS.items()
    },
}
"""What is asked on the command line, in a folder with copies of these files; each prints JSON."""


def agent_of(recording: dict[str, Any]) -> Any:
    """Return an agent with the recorded settings and the recorded names of proposers; it could call nobody."""
    if (pattern := recording["pattern"]) in ("refund", "triage"):
        return {"refund": refund, "triage": triage}[pattern](dead("proposer"), dead("tool"))
    if "shadows" in recording:
        _, policy, budget = AGENTS[pattern]
        return shadowed(
            policy=policy.from_recorded(recording["policy"]), budget=budget.from_recorded(recording["budget"])
        )
    return replaying_agent(recording)


@cache
def texts(file: Path) -> tuple[str, ...]:
    """Return the lines of a file of recordings."""
    data = file.read_bytes()
    return tuple((lzma.decompress(data) if file.suffix == ".xz" else data).decode().splitlines())


def recordings(file: Path) -> list[dict[str, Any]]:
    """Return the recordings of a file."""
    return [json.loads(text) for text in texts(file)]


@cache
def expected() -> Any:
    """Return what 0.6.0 said of these files."""
    return json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def name_of(recording: dict[str, Any]) -> str:
    """Return what a run is called: its graph, and how and where it ended."""
    result = recording["result"]
    ended = result.get("outcome", result["stop_reason"])
    return f"{recording['pattern']} {ended[:60]} after {result['path'][-2]}"
