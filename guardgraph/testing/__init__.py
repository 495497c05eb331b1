"""Doubles for tests of guarded graphs: a chat model, tools and a clock that follow a script, a recorder. No network.

Checks for a store of runs and for a retriever of your own are here too, and who attacks an agent.

Example::

    model = ScriptedChatModel({"kind": "retrieve", "query": "P1"}, Reply("not JSON", delay=0.5))
    agent = create_rag_agent(model=model)
    agent.invoke({"question": "What does P1 mean?"})
    assert len(model.calls) == 2
"""

from guardgraph.testing.attack.attack import assert_withstands
from guardgraph.testing.attack.attacker import Attacker
from guardgraph.testing.doubles import (
    InMemoryRecorder,
    ModelCall,
    RecordedRun,
    Reply,
    ScriptedChatModel,
    ScriptedClock,
    ScriptedTool,
    ScriptExhausted,
    assert_grounded,
    replays,
    scripted_tool,
    scripted_verifier,
)
from guardgraph.testing.retriever import RETRIEVER_CHECKS, GuardedBase, GuardedDocument, check_retriever
from guardgraph.testing.store import STORE_CHECKS, check_store

__all__ = [
    "RETRIEVER_CHECKS",
    "STORE_CHECKS",
    "Attacker",
    "GuardedBase",
    "GuardedDocument",
    "InMemoryRecorder",
    "ModelCall",
    "RecordedRun",
    "Reply",
    "ScriptExhausted",
    "ScriptedChatModel",
    "ScriptedClock",
    "ScriptedTool",
    "assert_grounded",
    "assert_withstands",
    "check_retriever",
    "check_store",
    "replays",
    "scripted_tool",
    "scripted_verifier",
]
