"""`guardgraph policy`, and the commands that take policy files."""

import asyncio
import json

import pytest
from cli_runs import empty_folder, refused, run
from jsonschema import Draft202012Validator
from policy_files import PLAIN
from tables import each_row

from guardgraph import ConfigurationError, RagBudget, create_research_agent, create_tool_agent, load_policy, serving
from guardgraph.graphs.patterns import COMMANDS
from guardgraph.state.tools import ArgumentRule, ToolPolicy, ToolRule
from guardgraph.world.call import NamedTool

here = pytest.fixture(autouse=True)(empty_folder)


def _file(here, name, text=PLAIN):
    (here / name).write_text(text, encoding="utf-8")
    return name


def test_check_prints_what_holds_and_what_an_overlay_does_not_get(here):
    done = json.loads(run("policy", "check", _file(here, "rag.yaml"), "--tenant", "acme", "--json").stdout)
    holds = load_policy("rag.yaml").settings("acme")
    assert {name: done[name]["fingerprint"] for name in holds} == {name: of.fingerprint for name, of in holds.items()}
    assert done["policy"]["settings"] == holds["policy"].plain()
    assert [(item["field"], item["asked"], item["holds"]) for item in done["not_taken"]] == [
        ("policy.allowed_sources_execution", ["security_policy"], ["billing_policy"]),
        ("budget.max_seconds", 50.0, 20.0),
    ]
    shown = run("policy", "check", "rag.yaml")
    assert shown.exit_code == 0
    assert "rag: valid" in shown.stdout
    assert "acme: budget.max_seconds: 50.0; holds: 20.0" in shown.stdout


def test_diff_says_of_every_field_what_it_is_beside_the_old_one(here):
    """Tighter, looser, other or equal, for everybody and for each tenant; --fail-on is for CI."""
    new = PLAIN.replace("max_seconds: 20", "max_seconds: 30").replace("[NO, yes, 2024-01-01]", "[NO, other]")
    new = new.replace("billing_policy, support_policy]", "billing_policy]").replace("  globex:\n", "")
    arguments = ("policy", "diff", _file(here, "old.yaml"), _file(here, "new.yaml", new))
    done = json.loads(run(*arguments, "--json").stdout)
    ours = {row["field"]: row["compared"] for row in done["fields"] if row["tenant"] is None}
    assert {name for name, kind in ours.items() if kind == "equal"} >= {"budget.max_top_k", "policy.check_names"}
    assert {name: kind for name, kind in ours.items() if kind != "equal"} == {
        "policy.allowed_sources_policy": "tighter",
        "policy.allowed_sources_execution": "tighter",
        "policy.known_names": "other",
        "budget.max_seconds": "looser",
    }
    assert {row["tenant"] for row in done["fields"]} == {None, "acme", "globex"}
    codes = [run(*arguments, *more).exit_code for more in ((), ("--fail-on", "looser"), ("--fail-on", "other"))]
    assert codes == [0, 3, 3]
    assert run("policy", "diff", "old.yaml", "old.yaml", "--fail-on", "other").exit_code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_schema_is_valid_and_takes_what_the_file_takes(command, here):
    schema = json.loads(run("policy", "schema", command).stdout)
    Draft202012Validator.check_schema(schema)
    valid = Draft202012Validator(schema).is_valid
    pattern = schema["properties"]["pattern"]["const"]
    for name in ("policy", "budget"):
        assert all(field["description"] for field in schema["$defs"][name]["properties"].values())
    tenants = {"a": {"policy": {"audit_required": True}}}
    assert valid({"pattern": pattern, "budget": {"max_seconds": 3}, "tenants": tenants})
    for wrong in ({"max_secnds": 3}, {"max_seconds": "3"}):
        assert not valid({"pattern": pattern, "budget": wrong})
    assert not valid({"pattern": pattern, "policy": {"allowed_decisions_policy": ["aprove"]}})


@each_row(
    ("arguments", "message"),
    (("policy", "check", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
    (("policy", "check", "rag.yaml", "--tenant", "acne"), "tenant: there are acme, globex; given: 'acne'"),
    (("policy", "diff", "rag.yaml", "rag.yaml", "--fail-on", "worse"), "--fail-on: tighter, looser, other are"),
    (("policy", "diff", "rag.yaml", "research.yaml"), "two files of one pattern are required; given: rag, rese"),
    (("policy", "schema", "nope"), "rag, research, critique, tools or module:factory is required; given: 'nope'"),
    (("policy", "pin", "nope"), "pin: tools or module:factory is required; given: 'nope'"),
    (("policy", "pin", "rag"), "pin: tools or module:factory, with tools by name, is required; given: 'rag'"),
    (("rag", "P1", "--tenant", "acme"), "--tenant: --policy FILE is required beside it; given: 'acme'"),
    (("research", "--policy", "rag.yaml"), "rag.yaml:1: pattern: research is required; given: 'rag'"),
)
def test_wrong_usage_is_one_line(arguments, message, here):
    _file(here, "rag.yaml")
    _file(here, "research.yaml", "pattern: research")
    assert message in refused(run(*arguments))


SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}, "amount": {"type": "number"}}}
LIMITS = {"to": ArgumentRule(hosts=("münchen.example",)), "amount": ArgumentRule(max=50)}
RULES = {
    "read: 'it'": ToolRule(effect="read", trusted=("a.*",), authority=()),
    "pay": ToolRule(approve="never", max_calls=2, forced={"amount": 1.5}, arguments=LIMITS),
}


def make_pinned():
    tools = {name: NamedTool(print, "Do: # it \x1b[2J\n now", SCHEMA) for name in (*RULES, "bare")}
    policy = ToolPolicy(rules=RULES, denied_tools=("bare",), check_names=False)
    return create_tool_agent(tools=tools, planner=lambda view: {"answer": ""}, policy=policy)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_pin_prints_is_a_policy_file_of_the_same_rules(form, here):
    """Pinned and checked, the rules are those of the graph: a tool that reads stays one that reads."""
    target = "test_policy_cli:make_pinned"
    made = run("policy", "pin", target, *(["--json"] if form == "json" else []))
    assert made.exit_code == 0
    assert "\x1b" not in made.stdout
    file = _file(here, f"pin_{form}.yaml", made.stdout)
    checked = json.loads(run("policy", "check", file, "--graph", target, "--json").stdout)
    rules = checked["policy"]["settings"].pop("rules")
    graph = make_pinned().frame.policy
    assert set(rules) == {"read: 'it'", "pay", "bare"}
    for name, rule in rules.items():
        assert len(rule.pop("pin")) == 64
        assert rule == {key: value for key, value in graph.rule_of(name).plain().items() if key != "pin"}
    expected = {**graph.plain(), "tools_policy": None, "tools_execution": None}
    assert checked["policy"]["settings"] == {key: value for key, value in expected.items() if key != "rules"}


def test_a_served_agent_is_that_of_the_tenant(here, monkeypatch):
    """GUARDGRAPH_TENANT names whose overlay holds, beside what holds for all; in a file without tenants, none is."""
    _file(here, "rag.yaml")
    monkeypatch.setenv("GUARDGRAPH_POLICY", str(here))
    for tenant, most in (("acme", 2), (" globex ", RagBudget().max_top_k)):
        monkeypatch.setenv("GUARDGRAPH_TENANT", tenant)
        agent = asyncio.run(serving.rag())
        assert (agent.frame.budget.max_seconds, agent.frame.budget.max_top_k) == (20, most)
        assert agent.frame.policy == load_policy("rag.yaml").settings(tenant.strip())["policy"]
    assert asyncio.run(serving.research()).frame.budget == create_research_agent().frame.budget


def test_a_server_without_its_tenant_has_no_agent(here, monkeypatch):
    nothing = "one of rag's tenants is required: acme, globex; given: nothing"
    _file(here, "rag.yaml")
    monkeypatch.delenv("GUARDGRAPH_TENANT", raising=False)
    monkeypatch.setenv("GUARDGRAPH_POLICY", str(here))
    for tenant, message in ((None, nothing), (" ", nothing), ("acne", "tenant: there are acme, globex; given: 'acne'")):
        if tenant is not None:
            monkeypatch.setenv("GUARDGRAPH_TENANT", tenant)
        with pytest.raises(ConfigurationError, match=f"GUARDGRAPH_TENANT: {message}"):
            asyncio.run(serving.rag())
    monkeypatch.delenv("GUARDGRAPH_POLICY")
    with pytest.raises(ConfigurationError, match="a folder is required beside GUARDGRAPH_TENANT; given: 'acne'"):
        asyncio.run(serving.rag())


@pytest.mark.parametrize("command", [("rag", "What is P1's target?"), ("research",), ("critique",), ("tools",)])
def test_a_run_of_the_command_line_holds_a_live_policy(command, here):
    """`--live` names the file that `policy switch` writes: off stops every agent's run, and on lets it go on."""
    for switch, code, reason in (("off", 3, "switched_off"), ("on", 0, "success")):
        assert run("policy", "switch", switch, "live.yaml", "--by", "Ada", "--why", "drill").exit_code == 0
        done = run(*command, "--live", "live.yaml", "--json")
        assert (done.exit_code, json.loads(done.stdout)["stop_reason"]) == (code, reason)
