"""What type checkers refuse of the shipped agents: the lines that end with an error mark, and no other."""

from langchain_core.runnables import RunnableLambda

import guardgraph as g
from guardgraph.testing import ScriptedChatModel


def by_rule(view: dict[str, str]) -> str:
    """Answer, but not as a chat model does."""
    return view["question"]


agent = g.create_rag_agent()
question: g.RagInput = {"question": "What SLA applies to the enterprise plan?"}

agent.invoke({"questoin": "What SLA applies to the enterprise plan?"})  # error
agent.invoke({"question": 7})  # error
g.RagPolicy(allowed_sources_policy=[1])  # error
agent.invoke({})  # error
agent.invoke("What SLA applies to the enterprise plan?")  # error
agent.invoke(question, context=g.SelfCritiqueContext())  # error
agent.invoke(question, context="tight")  # error
agent.invoke(question, contxt={"budget": {"max_seconds": 2.0}})  # error
agent.invoke(question, durability="never")  # error
agent.batch([{"questoin": "Why?"}])  # error
agent.batch([question], contxt={})  # error
for _ in agent.stream({"questoin": "Why?"}):  # error
    pass

g.create_rag_agent(7)  # error
g.create_rag_agent(ScriptedChatModel)  # error
g.create_rag_agent(RunnableLambda(by_rule))  # error

other: g.ResearchResult = agent.invoke(question)  # error

result = agent.invoke(question)
print(result["anwser"])  # error
print(result["answer"])  # error
print(result["raw_intent"])  # error
if result["status"] == "ok":
    print(result["anwser"])  # error
    print(result["unsupported"])  # error
else:
    print(result["answer"])  # error
    print(result["stop_reasons"])  # error
if result["status"] == "okay":  # error: mypy
    pass


async def asynchronously() -> None:
    """Misspell what `ainvoke` and `abatch` take and return."""
    one = await agent.ainvoke(question)
    print(one["anwser"])  # error
    await agent.ainvoke({"questoin": "Why?"})  # error
    await agent.abatch([{"questoin": "Why?"}])  # error


g.create_research_agent().invoke({"goal": "Inform."})  # error
g.create_self_critique_agent().invoke({"goal": "Inform.", "context": {}})  # error
print(g.replay(agent, {})["anwser"])  # error

g.create_rag_agent(retriever=7)  # error
g.create_rag_agent(retriever=print, sources=7)  # error
g.create_research_agent(search=7)  # error
g.LangChainRetriever(print, sources={"help": 1}.keys())  # error
g.LangChainRetriever(print, metadata={"title": 7})  # error
g.LangChainSearch(print, metadta={"url": "address"})  # error
