"""Middleware for agents of LangChain's `create_agent`: calls of tools need a licence, answers rest on what was read.

Needs the extra ``langchain``::

    from guardgraph.middleware import GroundedAnswer, LicensedTools

    agent = create_agent(model, tools, middleware=[LicensedTools(policy), GroundedAnswer()])
"""

from __future__ import annotations

try:
    import langchain.agents  # noqa: F401 - the extra
except ModuleNotFoundError as error:
    from guardgraph.plain.extras import explain_extra

    raise ImportError(explain_extra("langchain")) from error

from guardgraph.middleware.answers import GroundedAnswer
from guardgraph.middleware.calls import LicensedTools
from guardgraph.middleware.importing import import_runs
from guardgraph.middleware.pattern import recorded_agent
from guardgraph.middleware.recording import RecordedRun

__all__ = ["GroundedAnswer", "LicensedTools", "RecordedRun", "import_runs", "recorded_agent"]
