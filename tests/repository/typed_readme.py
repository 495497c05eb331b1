"""README's five lines and policies with lists, as type checkers see them. `make types` checks it; nobody runs it."""

from collections import deque

import guardgraph as g

agent = g.create_rag_agent()
result = agent.invoke({"question": "What SLA applies to enterprise plan and what is P1 first response target?"})
print(result["stop_reason"], result.get("outcome"), result.get("answer"), sep="\n")
print(result["run_id"], result["status"], result["path"], result["trace"], result["history"], result["timeline"])

done = g.create_tool_agent().invoke({"task": "What is the total of the bill in bill-may.txt?"})
print(done.get("answer"), done["run_id"], done["status"], done["path"], done["timeline"])
if done["status"] == "ok":
    print(done["answer"])
    for attempt in done.get("attempts", []):
        print(attempt["reason"])

names = ["support_policy", "billing_policy"]
g.RagPolicy(allowed_sources_policy=names, allowed_sources_execution=("billing_policy",), known_names=deque(names))
g.ResearchPolicy(allowed_domains_policy=names, allowed_domains_execution=names)
g.SelfCritiquePolicy(allowed_decisions_policy=names)
g.ToolPolicy(tools_policy=names, tools_execution=names)
