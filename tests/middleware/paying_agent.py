"""An agent of LangChain's that pays, in a process of its own: ``python paying_agent.py FOLDER STEP DIES [DURABILITY]``.

STEP is ``begin``, ``go_on`` or ``approve``; the process dies ``in_tool`` after the payment, ``behind_tool`` once its
receipt is kept, or ``never``. What was paid stands in FOLDER/paid.txt; what came of the run is printed.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from guardgraph import ToolPolicy
from guardgraph.middleware import LicensedTools
from guardgraph.testing import ScriptedChatModel

IBAN = "DE44500105175407324931"


def main(folder: Path, step: str, dies: str, durability: str = "async") -> None:
    """Run the agent, as far as it comes."""

    @tool
    def send_money(to: str, amount: float, config: RunnableConfig) -> str:
        """Send money to an account."""
        with (folder / "paid.txt").open("a", encoding="utf-8") as paid:
            paid.write(f"{to} {amount} {config['configurable'].get('idempotency_key')}\n")
        if dies == "in_tool":
            os._exit(9)
        time.sleep(0.5)  # so that two that come at once meet
        return f"sent {amount}"

    @wrap_tool_call
    def die(request: Any, handler: Any) -> Any:
        came = handler(request)
        if dies == "behind_tool":
            os._exit(9)
        return came

    call = {"name": "send_money", "args": {"to": IBAN, "amount": 76.0}, "id": "c1"}
    script = ScriptedChatModel(AIMessage("", tool_calls=[call]), AIMessage("Paid."))
    if step != "begin":
        script = ScriptedChatModel(AIMessage("Paid."))
    asks = "always" if (folder / "asks").exists() else "unsupported"
    rule = {"idempotent": (folder / "idempotent").exists(), "approve": asks}
    policy = ToolPolicy(rules={"send_money": rule})
    with SqliteSaver.from_conn_string(str(folder / "kept.db")) as saver:
        agent = create_agent(script, [send_money], middleware=[die, LicensedTools(policy)], checkpointer=saver)
        asked = {"messages": [("user", f"Send 76 EUR to {IBAN}.")]}
        approved = Command(resume={"decisions": [{"type": "approve"}]})
        given: Any = {"begin": asked, "go_on": None, "approve": approved}[step]
        result = agent.invoke(given, {"configurable": {"thread_id": "1"}}, durability=durability)
        waits = "waits" if result.get("__interrupt__") else ""
        print(waits or result["guardgraph"]["stop_reason"], "|", result["messages"][-1].text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
