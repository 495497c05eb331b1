"""The review of a policy: what it newly allows is shown by an example, and kept runs say how they would have ended."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import payer
import pytest
from cli_runs import ROOT, refused, run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from policy_pairs import draw_call, draw_policy_pair, judge_call
from ruamel.yaml import YAML
from tables import each_row

from guardgraph import ConfigurationError, ToolPolicy, load_policy, report, review_policies, sql_store, what_if
from guardgraph.policies.comparison import compare_policy_files
from guardgraph.policies.file import PolicyFile
from guardgraph.policies.subsumption import judge_subsumption
from guardgraph.reporting.review import format_review
from guardgraph.state.tools import ToolBudget
from guardgraph.testing import InMemoryRecorder

TOOLS = """
pattern: tools
policy:
  tools_policy: [look, pay]
  tools_execution: [look, pay]
  rules:
    look: {effect: read}
    pay: {authority: [to], arguments: {amount: {min: 1, max: 100}, p: {under: [/a]}, u: {hosts: [x.com]}}}
"""
RESEARCH = """
pattern: research
policy: {allowed_domains_execution: ['domain:example.com'], denied_domains: [bad.example.com], min_trust: 0.2}
"""
RAG = """
pattern: rag
policy: {on_doubt: stop, min_cover: 0.5, known_names: [Nimbus]}
budget: {max_top_k: 3}
"""
CRITIQUE = "pattern: self_critique\npolicy: {denied_decisions: [escalate], high_risk_types: [legal_risk]}\n"


@pytest.fixture
def judge(tmp_path):
    """Judge whether a new file is at most an old one."""

    def judge_files(old, new):
        for name, text in (("old", old), ("new", new)):
            (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
        files = [load_policy(tmp_path / f"{name}.yaml") for name in ("old", "new")]
        return judge_subsumption(*files, compare_policy_files(*files))

    return judge_files


@each_row(
    ("old", "was", "becomes", "kind"),
    (TOOLS.replace("policy: [look, pay]", "policy: [look]"), "policy: [look]", "policy: [look, pay]", "call"),
    (TOOLS, "max: 100", "max: 101", "call"),
    (TOOLS, "[x.com]", "[x.com, y.com]", "call"),
    (TOOLS, "u: {hosts: [x.com]}", "to: {allowed: [bob]}, u: {hosts: [x.com]}", "call"),
    (TOOLS, "authority: [to]", "authority: [to, memo]", "call"),
    (TOOLS, "effect: read", "effect: read, trusted: [account.id]", "call"),
    (TOOLS.replace("authority: [to]", "approve: always"), "approve: always", "approve: never", "call"),
    (TOOLS.replace("authority: [to]", "pin: " + "a" * 64), "pin: " + "a" * 64, "authority: ['*']", "call"),
    (TOOLS.replace("authority: [to]", "forced: {cc: ops}"), "forced: {cc: ops}", "authority: ['*']", "call"),
    (TOOLS + "budget: {max_tool_calls: 2}\n", "max_tool_calls: 2", "max_tool_calls: 3", "call"),
    (RESEARCH, "'domain:example.com'", "'domain:example.com', 'suffix:gov'", "host"),
    (RESEARCH, "[bad.example.com]", "[]", "host"),
    (RAG, "on_doubt: stop", "on_doubt: mark", "answer"),
    (RAG, "on_doubt: stop", "check_values: false, on_doubt: stop", "answer"),
    (RAG, "[Nimbus]", "[Nimbus, Zephyr]", "name"),
    (RAG, "max_top_k: 3", "max_top_k: 4", "setting"),
    (CRITIQUE, "[escalate]", "[]", "name"),
    (CRITIQUE, "[legal_risk]", "[policy_violation]", "name"),
)
def test_what_is_newly_allowed_has_an_example_and_the_way_back_has_none(old, was, becomes, kind, judge):
    """A loosened setting is wider, with an example of its kind; where the change is taken back nothing is wider."""
    new = old.replace(was, becomes)
    found = judge(old, new)
    assert (found.verdict, {each.kind for each in found.widenings}) == ("wider", {kind})
    is_twofold = becomes.startswith(("authority", "approve: never", "to: {allowed", "[policy"))
    assert is_twofold or judge(new, old).verdict in ("at_most", "unknown")


def list_looser(held, name):
    """Return settings in which this one alone is looser."""
    value = getattr(held, name)
    ways = {"on_doubt": ["mark", "ignore"], "on_unsupported": ["mark"], "corroborate": ["none"]}.get(name, [])
    if isinstance(value, bool):
        ways = [not value]
    elif isinstance(value, int | float):
        ways = [value + 0.1, value - 0.1] if isinstance(value, float) else [value + 1, value - 1]
    elif isinstance(value, tuple):
        ways = [(*value, "another"), (*value, "another.example.com"), value[1:]]
    copies = [held.model_copy(update={name: way}) for way in ways]
    alike = [each for each in copies if held.is_open(name) == each.is_open(name)]
    return [each for each in alike if held.compared(each)[name] == "looser"]


@pytest.mark.parametrize("text", [TOOLS, RESEARCH, RAG, CRITIQUE])
def test_whatever_setting_is_loosened_is_named(text, tmp_path):
    """Each of a policy and a budget; a tool on one of both lists alone lets nothing through."""
    (tmp_path / "old.yaml").write_text(text)
    old, loosened = load_policy(tmp_path / "old.yaml"), []
    for section in ("policy", "budget"):
        held = getattr(old, section)
        for name in {*type(held).model_fields} - {"tools_policy", "tools_execution"}:
            loosened += [(f"{section}.{name}", replace(old, **{section: each})) for each in list_looser(held, name)]
    assert len(loosened) > 10
    for field, new in loosened:
        found = judge_subsumption(old, new, compare_policy_files(old, new))
        assert found.verdict == "wider", field
        assert any(each.field.startswith(field) for each in (*found.widenings, *found.undecided)), field


@pytest.mark.parametrize(("trusted", "verdict"), [("[account.id]", "unknown"), ("[]", "at_most")])
def test_a_denied_tool_licenses_what_it_brought_before_only_by_trusted_fields(trusted, verdict, judge):
    """A run that goes on under NEW may have its results; a tool that no list of requests names is not called."""
    assert judge(TOOLS, TOOLS.replace("execution: [look, pay]", "execution: [look, pay, wire]")).verdict == "at_most"
    old = TOOLS.replace("look: {effect: read}", f"look: {{trusted: {trusted}}}")
    old = old.replace("policy:\n", "policy:\n  denied_tools: [look]\n")
    assert "denied_tools" in old
    assert judge(old, old.replace(trusted, f"{trusted}, authority: [to, note]")).verdict == verdict


@settings(max_examples=60, deadline=None)
@example(seed=4459)
@given(seed=st.integers(0, 10**9))
def test_no_call_contradicts_that_a_policy_is_at_most_another(seed):
    """Of random pairs of policies, whatever call is proposed: where NEW is at most OLD, OLD lets it as far."""
    drawn = random.Random(seed)
    old, new, cards = draw_policy_pair(drawn)
    found = judge_subsumption(old, new, compare_policy_files(old, new), cards)
    if found.verdict == "at_most":
        for call in (draw_call(drawn) for _ in range(200 if seed == 4459 else 40)):
            assert judge_call(call, new, new, cards) <= judge_call(call, old, new, cards), call


PAY = "pattern: tools\npolicy:\n  rules:\n    pay: {arguments: {amount: {max: 100}}}\n"


@cache
def paid():
    """Return 6 kept runs as lines of JSON: of them 4 paid, and 2 asked for too much."""
    recorder = InMemoryRecorder()
    agent = payer.make(policy=ToolPolicy(rules={"pay": {"arguments": {"amount": {"max": 100}}}}), recorder=recorder)
    for number, amount in enumerate([5, 20, 70, 99, 200, 900]):
        agent.invoke({"task": f"Pay {amount} to acme."}, {"configurable": {"thread_id": str(number)}})
    return "".join(f"{json.dumps(each)}\n" for each in recorder.runs)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder with the agent's policy and kept runs; the runs too."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("tools.yaml", PAY), ("runs.jsonl", paid())):
        (tmp_path / name).write_text(text)
    return tmp_path, [json.loads(line) for line in paid().splitlines()]


@each_row(
    ("becomes", "verdict", "said"),
    ("max: 500", "wider", {("newly_allowed", 1), ("same", 5)}),
    ("max: 50", "at_most", {("newly_refused", 2), ("same", 4)}),
    ("max: 100}}, approve: always, max_calls: 9", "at_most", {("newly_asked", 4), ("same", 2)}),
    ("max: 100", "at_most", {("same", 6)}),
)
def test_kept_runs_say_what_a_policy_would_have_changed(becomes, verdict, said, kept):
    """Every kept run ends the same, or in a group with both endings; what-if with each policy alone agrees."""
    folder, recordings = kept
    text = PAY.replace("max: 100}}", becomes) if "approve" in becomes else PAY.replace("max: 100", becomes)
    (folder / "new.yaml").write_text(text)
    files = load_policy("tools.yaml"), load_policy("new.yaml")
    found = review_policies(*files, recordings, create=payer.make)
    counted = {(each.change, each.runs) for each in found.parted} | {("same", found.same)}
    assert (found.subsumption.verdict, counted, found.unknown) == (verdict, said, {})
    alone = what_if(payer.make(**files[1].settings()), recordings)
    changed = sum(row.old != row.new or row.kind == "unknown" for row in alone.rows)
    assert changed == sum(each.runs for each in found.parted)
    assert report(found).html.count("<tr>") >= len(found.changed) + len(found.parted)


def commit(*files):
    """Make the current folder a repository with these files."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", *files], [*who, "commit", "-qm", "policy"]):
        subprocess.run(["git", *command], check=True)


@pytest.mark.process
def test_a_pull_request_is_reviewed_against_the_branch_that_it_leaves(kept):
    """The old policy is read out of git with the files beside it; the comment is short, and its cells are no markup."""
    folder, _ = kept
    (folder / "tools.yaml").write_text(PAY + "  known_names: {file: names.txt}\n")
    (folder / "names.txt").write_text("Nimbus\n")
    commit("tools.yaml", "names.txt")
    (folder / "tools.yaml").write_text(PAY.replace("max: 100", "max: 500") + "  known_names: ['<b>|x']\n")
    asked = ["policy", "review", "git:HEAD:tools.yaml", "tools.yaml", "--graph", "payer:make", "--store", "runs.jsonl"]
    done = run(*asked, "--markdown", "--fail-on", "newly-allowed", "--html", "review.html")
    assert done.exit_code == 3
    assert len(done.stdout.splitlines()) <= 60
    assert "| 1 | newly allowed | `stopped:argument_denied:pay.amount` |" in done.stdout
    assert "\\<b\\>\\|x" in done.stdout
    assert (folder / "review.html").read_text().startswith("<!doctype html>")
    said = json.loads(run(*asked, "--json").stdout)
    assert (said["runs"], said["same"], said["subsumption"]["verdict"]) == (6, 5, "wider")
    assert "--fail-on unknown>0" not in run(*asked, "--fail-on", "unknown>0").stdout
    assert refused(run("policy", "review", "git:HEAD:names.txt", "tools.yaml")).startswith("git:HEAD:names.txt: a file")
    assert "git cannot read it" in refused(run("policy", "review", "git:--help:tools.yaml", "tools.yaml"))


@pytest.mark.process
def test_the_workflow_file_makes_the_comment(kept):
    """The step of the public workflow that reviews runs as it stands: it fails on what is newly allowed."""
    folder, _ = kept
    agent = payer.make(**load_policy("tools.yaml").settings(), recorder=sql_store("sqlite:///runs.db"))
    agent.invoke({"task": "Pay 200 to acme."}, {"configurable": {"thread_id": "a"}})
    commit("tools.yaml")
    (folder / "tools.yaml").write_text(PAY.replace("max: 100", "max: 500"))
    job = YAML(typ="safe").load(ROOT / "examples" / "policy_review" / "policy-review.yml")["jobs"]["review"]
    step = next(step for step in job["steps"] if step.get("name") == "review")
    known = {"BASE": "main", "GUARDGRAPH_AUDIT": "sqlite:///runs.db", "PYTHONPATH": f"{ROOT}:{Path(__file__).parent}"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env={**os.environ, **known, "PATH": path}, check=False)
    assert done.returncode == 3
    assert "1 newly allowed" in (folder / "review.md").read_text()
    assert (folder / "review.html").exists()


def test_the_tightest_policy_lets_good_runs_end_as_they_did(kept):
    """A suggested file loosens nothing, ends good runs as they ended, says who needs a line, stops a larger call."""
    folder, recordings = kept
    good = recordings[:3]
    (folder / "good.txt").write_text("\n".join(each["run_id"] for each in good))
    asked = ("policy", "suggest", "--store", "runs.jsonl", "--good", "good.txt", "--graph", "payer:make")
    (folder / "more.jsonl").write_text(f"{{}}\n{paid()}")  # what is no run is in nobody's way
    (folder / "new.yaml").write_text(run(*asked).stdout)
    assert run(*asked, "--store", "more.jsonl").stdout == (folder / "new.yaml").read_text()
    tight = load_policy("new.yaml")
    assert f"# needed by {good[0]['run_id']}" in (folder / "new.yaml").read_text()
    found = review_policies(load_policy("tools.yaml"), tight, recordings, create=payer.make)
    assert (found.subsumption.verdict, found.same) == ("at_most", 5)
    [parted] = found.parted
    assert (parted.change, parted.runs, parted.run_id) == ("newly_refused", 1, recordings[3]["run_id"])


@each_row(
    ("arguments", "said"),
    (("git:HEAD:../x.yaml", "tools.yaml"), "git:REF:PATH"),
    (("tools.yaml", "other.yaml"), "two files of one pattern"),
    (("tools.yaml", "tools.yaml", "--fail-on", "newly-refused"), "--fail-on newly-refused: kept runs"),
    (("tools.yaml", "tools.yaml", "--json", "--markdown"), "--json, --markdown"),
    (("tools.yaml", "tools.yaml", "--html", "page.txt"), "--html: a name that ends in .html"),
)
def test_what_is_wrong_is_said_in_one_line(arguments, said, kept):
    """Bad input of the command is one line that names it, and exit code 2."""
    (kept[0] / "other.yaml").write_text("pattern: rag\n")
    assert said in refused(run("policy", "review", *arguments))


def test_a_review_that_can_judge_no_run_exceeds_what_is_asked_of_runs(kept):
    """Runs of another pattern say nothing of a policy: no limit is kept by looking at nothing."""
    (kept[0] / "rag.yaml").write_text("pattern: rag\n")
    rag = load_policy("rag.yaml")
    hostile = {**kept[1][0], "pattern": "<img src=x> [x](//evil.example)"}
    assert r"\<img src=x\> `[x](//evil.example`)" in format_review(review_policies(rag, rag, [hostile]))
    found = review_policies(rag, rag, kept[1])
    assert (found.same, sum(found.unjudged.values())) == (0, found.runs)
    assert found.list_exceeded(["unsubsumed", "newly-refused", "unknown>99%"]) == ["newly-refused", "unknown>99%"]


def test_names_of_files_are_no_policies_and_a_pattern_of_ones_own_needs_its_factory():
    """Nobody knows the factory of somebody's pattern: the error names what is required."""
    with pytest.raises(ConfigurationError, match=r"^old: a policy file, as load_policy returns it, is required"):
        review_policies("old.yaml", "new.yaml")
    own = PolicyFile("triage", ToolPolicy(), ToolBudget())
    with pytest.raises(ConfigurationError, match="create: a factory is required"):
        review_policies(own, own)
