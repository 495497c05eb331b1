"""Policies of tools in files: what they name is checked, what differs is told field by field, contexts tighten."""

import json

import pytest
from cli_runs import refused, run
from tables import each_row

from guardgraph import ConfigurationError, ToolPolicy, ToolRule, create_tool_agent

OLD = """
pattern: tools
policy:
  tools_policy: [read_file]
  tools_execution: [read_file, send_money]
  denied_tools: [list_files]
  rules:
    read_file: {effect: read}
    send_money: {max_calls: 1, approve: never}
tenants:
  acme:
    policy: {rules: {send_money: {arguments: {amount: {max: 5}}}}}
"""
NEW = OLD.replace("tools_policy: [read_file]", "tools_policy: [read_file, send_money]").replace("max: 5", "max: 50")
GRAPH = ("--graph", "guardgraph:create_tool_agent")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_diff_says_which_calls_would_newly_be_allowed(tmp_path):
    """The difference is told field by field, and a call that is let through newly for each tenant and setting."""
    old, new = write(tmp_path / "old.yaml", OLD), write(tmp_path / "new.yaml", NEW)
    asked = ("policy", "diff", old, new, *GRAPH)
    done = json.loads(run(*asked, "--json").stdout)
    changed = {(row["tenant"], row["field"], row["compared"]) for row in done["fields"] if row["compared"] != "equal"}
    lists, limits = "policy.tools_policy", "policy.rules.send_money.arguments"
    assert changed == {(None, lists, "looser"), ("acme", lists, "looser"), ("acme", limits, "looser")}
    found = done["subsumption"]
    assert found["verdict"] == "wider"
    widened = {(item["tenant"], item["field"], item["example"]["tool"]) for item in found["widenings"]}
    assert widened == {(tenant, field, "send_money") for tenant, field, _ in changed}
    assert "acme: policy.rules.send_money.arguments: call" in run(*asked).stdout
    assert json.loads(run("policy", "diff", new, old, *GRAPH, "--json").stdout)["subsumption"] == {
        "verdict": "at_most",
        "widenings": [],
        "undecided": [],
    }


@each_row(
    ("text", "said"),
    (OLD.replace("send_money: {max", "send_mony: {max"), "policy.rules: no such tool; there are list_files, "),
    (OLD.replace("amount:", "sum:"), "tenants.acme.policy.rules.send_money.arguments: there are to, amount"),
    (OLD.replace("[list_files]", "[rm]"), "policy.denied_tools: there are list_files, read_file, send_money"),
    (OLD.replace("approve: never", "approve: perhaps"), "tools.yaml:9: policy.rules.send_money.approve: Input"),
    (OLD.replace("max: 5", "most: 5"), "rules.send_money.arguments.amount.most"),
)
def test_check_knows_the_tools(tmp_path, text, said):
    """A name that no tool has is an error that says where it stands, what there is and what may have been meant."""
    assert said in refused(run("policy", "check", write(tmp_path / "tools.yaml", text), *GRAPH))


def test_rules_of_a_context_tighten_one_field():
    """A context that says one field of a rule leaves the others, and loosens none."""
    ours = ToolPolicy(rules={"pay": ToolRule(effect="write", max_calls=3, trusted=["id"])})
    both = ours.tightened_by(ToolPolicy(rules={"pay": ToolRule(max_calls=9, effect="read", trusted=["name", "id"])}))
    assert both.rules == ours.rules
    assert ours.not_taken(ToolPolicy(rules={"pay": ToolRule(max_calls=9)})) == {"rules": {"pay": {"max_calls": 9}}}
    new = ours.tightened_by(ToolPolicy(rules={"look": ToolRule(effect="read", approve="always")}))
    assert (new.rule_of("look").effect, new.rule_of("look").approve) == ("write", "always")


@each_row("policy", {"rules": {"send_mony": {"approve": "always"}}}, {"denied_tools": ["send_mony"]})
def test_a_context_that_tightens_a_tool_which_there_is_not_is_an_error(policy):
    """It would tighten nothing, and nobody would see it: the field, the name and the tools that there are."""
    agent = create_tool_agent()
    with pytest.raises(ConfigurationError, match=r"context.policy.\w+: there are .*; given: 'send_mony'; did you mean"):
        agent.invoke({"task": "List the files."}, context={"policy": policy})
