"""guardgraph: LangGraph agent patterns in which an LLM only proposes and deterministic guards decide.

Three patterns as compiled LangGraph graphs, and the proof of them::

    from guardgraph import create_rag_agent

    agent = create_rag_agent()
    result = agent.invoke({"question": "What SLA applies to the enterprise plan?"})
    print(result["stop_reason"], result["outcome"], result["answer"])

What patterns are made with is in `guardgraph.grammar`, doubles for tests are in `guardgraph.testing`. The names that
stand here are declared in ``__init__.pyi``.
"""

from __future__ import annotations

from guardgraph.front import Front

_front = Front(__name__, "__init__.pyi")


def __getattr__(name: str) -> object:
    if name == "__version__":
        from guardgraph.plain.version import read_package_version

        return read_package_version()
    return _front.load(name)


__dir__ = _front.names
