"""Processes that make runs on a tenant's budget, and one that is killed between reservation and settlement."""

import time

from store_writers import TIMEOUT, start_process

from guardgraph import Caller, RagBudget, TenantBudget, TenantWorld, create_rag_agent, sql_store
from guardgraph.state.spending import Spending
from guardgraph.world.call import Asked, Call

INTENT = {"kind": "retrieve", "query": "P1 first response", "sources": ["support_policy"]}
QUESTION = {"question": "What is the P1 first response target?"}


def tenant_agent(url, budgets, planner, **more):
    """Return an agent whose planner counts as a model, on the budgets of tenants in a store."""
    planner.asks_model = True
    world = TenantWorld(sql_store(url, timeout=TIMEOUT), budgets)
    return create_rag_agent(planner=planner, world=world, **more)


def ask(agent, tenant="acme"):
    return agent.invoke(QUESTION, context={"caller": Caller(tenant=tenant, user="u")})


def call_until_refused(pipe, url, limit):
    begun = []
    world = TenantWorld(sql_store(url, timeout=TIMEOUT), [TenantBudget(max_tool_calls=limit)])
    call = Call("tool", begun.append, {})
    asked = Asked(call, "search", 1, 1, tenant="acme", reserved=Spending(tool_calls=1))
    while (outcome := world.perform([asked], 600.0)[0].outcome).form != "failure":
        assert outcome.content is None
    pipe.send((len(begun), outcome.content))
    pipe.close()


def hang_in_call(pipe, url, limit):
    def planner(view):
        pipe.send("reserved")
        time.sleep(600)

    ask(tenant_agent(url, [TenantBudget(max_llm_calls=limit)], planner, budget=RagBudget(max_seconds=600.0)))


def begun_by_processes(url, processes, limit):
    workers = [start_process(call_until_refused, url, limit) for _ in range(processes)]
    told = [pipe.recv() for _, pipe in workers]
    for worker, _ in workers:
        worker.join()
    return told


def kill_in_call(url, limit):
    worker, pipe = start_process(hang_in_call, url, limit)
    assert pipe.recv() == "reserved"
    worker.kill()
    worker.join()
