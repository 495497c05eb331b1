"""How many critiques of high severity a tenant may have a day: counted in the store, recorded, decided by a guard."""

import pytest

from guardgraph import Caller, ConfigurationError, NotRecorded, SelfCritiqueBudget, replay, sql_store, verify
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.testing import InMemoryRecorder
from guardgraph.tools.demo import load_self_critique_demo

HIGH = {"decision": "escalate", "severity": "high", "risks": [], "required_changes": [], "reason": "a person decides"}


def critic_agent(store, limit, **more):
    budget = SelfCritiqueBudget(severity_budget=limit)
    return PATTERNS["self_critique"].create_agent(critic=lambda view: HIGH, budget=budget, ledger=store, **more)


def critique(agent, tenant="acme"):
    return agent.invoke(load_self_critique_demo(), context={"caller": Caller(tenant=tenant, user="u")})


@pytest.fixture
def store(tmp_path):
    return sql_store(f"sqlite:///{tmp_path}/runs.db")


def test_a_tenant_has_so_many_high_severities_a_day(store):
    """The one after the last is a stop with what is spent and the limit; another tenant has its own."""
    agent = critic_agent(store, 2)
    assert verify(agent) == []
    reasons = [critique(agent)["stop_reason"] for _ in range(3)]
    assert reasons == ["policy_escalation", "policy_escalation", "severity_budget"]
    assert critique(agent)["details"] == {"limit": 2, "spent": 2}
    recorded = critic_agent(None, 1, recorder=store)
    for each, tenant in ((agent, "other"), (recorded, "a third")):
        assert critique(each, tenant)["stop_reason"] == "policy_escalation"
    assert critique(recorded, "a third")["stop_reason"] == "severity_budget"
    assert {item.account.unit for item in store.balances()} == {"high"}


def test_the_number_is_in_the_record_and_a_what_if_decides_by_it(store):
    """How many there were was recorded: under any limit the same record says how the run ends, without the store."""
    recorder = InMemoryRecorder()
    agent = critic_agent(store, 5, recorder=recorder)
    for _ in range(2):
        critique(agent)
    second = recorder.runs[1]
    ends = [replay(critic_agent(store, limit), second)["stop_reason"] for limit in range(4)]
    assert ends == ["severity_budget"] * 2 + ["policy_escalation"] * 2
    assert len(store.balances()) == 1
    free = PATTERNS["self_critique"].create_agent(critic=lambda view: HIGH, recorder=(before := InMemoryRecorder()))
    critique(free)
    with pytest.raises(NotRecorded, match="count_severity"):
        replay(critic_agent(store, 3), before.runs[0])


def test_without_a_store_nothing_is_counted_and_nothing_passes():
    """A limit needs somebody who counts, which the recorder may be; one that fails is a stop, and no run goes on."""
    with pytest.raises(ConfigurationError, match="ledger: one that counts for severity_budget is required"):
        PATTERNS["self_critique"].create_agent(budget=SelfCritiqueBudget(severity_budget=1))

    class Broken:
        def reserve(self, charges, *, seconds):
            raise OSError("the disk is gone")

        def settle(self, reserved, amounts):
            raise AssertionError

    assert critique(critic_agent(Broken(), 3))["stop_reason"] == "tenant_budget_unavailable"
