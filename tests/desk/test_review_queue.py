"""The queue of runs that wait: what it lists, who may decide, that one decision counts, and the commands for it."""

import json
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from cli_runs import run
from langgraph.checkpoint.memory import InMemorySaver
from office_agents import Office
from queued_runs import begin_critique, begin_payment, critique_agent, queue_of, staff, tool_agent
from self_critique_cases import DRAFT, REVISED, WAIT, agent
from stored_runs import make_file_url, make_url, new_database
from tables import each_row

from guardgraph import Caller, ConfigurationError, InputError, sql_store
from guardgraph.desk.queue import AlreadyDecided, AnotherQuestion
from guardgraph.state.recording import RunNote

database = pytest.fixture(new_database)
url = pytest.fixture(make_file_url)
each = pytest.fixture(params=["sqlite", "postgres"])(make_url)


def test_a_run_waits_in_the_queue_until_somebody_decides(tmp_path, each):
    """The store says what is asked, who began it and on which thread; the decision resumes it and empties it."""
    graph = critique_agent(tmp_path, each)
    run_id = begin_critique(graph, context={"caller": Caller(user="ada", tenant="acme")})
    [waiting] = queue_of(each).list_waiting()
    assert (waiting.run_id, waiting.starter, waiting.tenant) == (run_id, "ada", "acme")
    assert (waiting.begun["thread"], waiting.edits, waiting.editable) == ("1", ["draft"], DRAFT)
    result = queue_of(each, graph).decide(run_id, "edit", by="bob", edited=REVISED, comment="softer")
    assert (result["outcome"], result["answer"]) == ("edited_by_person", REVISED)
    assert queue_of(each).list_waiting() == []
    [line] = [line for line in sql_store(each).read(run_id).recording["result"]["timeline"] if line["kind"] == "review"]
    assert (line["answer"]["by"], line["answer"]["comment"]) == ("bob", "softer")
    assert sql_store(each).verify().ok


def test_whoever_comes_second_is_told_who_decided(tmp_path, each):
    """After the end and while another one decides, it is said by whom; nothing is decided twice."""
    graph = critique_agent(tmp_path, each)
    run_id = begin_critique(graph)
    queue_of(each, graph).decide(run_id, "approve", by="ada")
    with pytest.raises(AlreadyDecided, match=r"already decided: approve by ada; it ended as approved_by_person"):
        queue_of(each, graph).decide(run_id, "reject", by="bob")
    with pytest.raises(AlreadyDecided, match="approve by ada"):
        queue_of(each).read(run_id)


def pay(number, queue):
    """Approve a payment in a thread of its own; return what came of it."""
    try:
        if not (listed := queue.list_waiting()):
            return "nothing waits any more, already decided by p"
        return queue.decide(listed[0].run_id, "approve", by=f"p{number}")["status"]
    except InputError as error:
        return str(error)


OFFICES = [Office() for _ in range(8)]


def test_of_eight_at_once_one_decides(tmp_path, each):
    """Eight people approve one payment at once, each with a graph of their own: one gets through, it is paid once."""
    for office in OFFICES:
        office.made.clear()
    begin_payment(tool_agent(tmp_path, each))
    queues = [queue_of(each, tool_agent(tmp_path, each, office=office)) for office in OFFICES]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(pay, range(8), queues))
    assert sum(len(office.writes) for office in OFFICES) == 1
    assert told.count("ok") == 1
    assert [said for said in told if "already decided by p" not in said and "approve by p" not in said] == ["ok"]


def decide_in_process(folder, url, run_id, by, gate, told):
    """Decide in another process, when all are ready."""
    queue = queue_of(url, critique_agent(folder, url))
    gate.wait(60)
    try:
        told.put(queue.decide(run_id, "approve", by=by)["outcome"])
    except InputError as error:
        told.put(type(error).__name__)


def test_of_two_processes_one_decides(tmp_path, url):
    """The decision is noted in the store before the run goes on, so it counts between processes."""
    run_id = begin_critique(critique_agent(tmp_path, url))
    spawn = multiprocessing.get_context("spawn")
    gate, told = spawn.Barrier(2), spawn.Queue()
    made = [spawn.Process(target=decide_in_process, args=(tmp_path, url, run_id, by, gate, told)) for by in "ab"]
    for process in made:
        process.start()
    said = sorted(told.get(timeout=120) for _ in made)
    for process in made:
        process.join(60)
    assert said == ["AlreadyDecided", "approved_by_person"]


def note_decision(url, waiting, at):
    """Note that somebody is about to decide."""
    content = {"attempt": str(uuid4()), "hash": waiting.question["hash"], "decision": "approve", "by": "gone"}
    where = {"run_id": waiting.run_id, "request": waiting.begun["request"], "at": at.isoformat()}
    sql_store(url).note(RunNote(**where, kind="decision", content=content))


def test_a_decision_that_came_to_nothing_lapses(tmp_path, url):
    """Who died before the run went on holds it for the run's time and a minute; it is listed meanwhile."""
    graph = critique_agent(tmp_path, url)
    run_id = begin_critique(graph)
    [waiting] = queue_of(url).list_waiting()
    note_decision(url, waiting, datetime.now(UTC))
    assert queue_of(url).read(run_id).deciding["by"] == "gone"
    with pytest.raises(AlreadyDecided, match="already decided by gone: approve"):
        queue_of(url, graph).decide(run_id, "approve", by="ada")
    other = critique_agent(tmp_path, url)
    run_id = begin_critique(other, "2")
    late = next(item for item in queue_of(url).list_waiting() if item.run_id == run_id)
    note_decision(url, late, datetime.now(UTC) - timedelta(seconds=181))
    assert queue_of(url, other).decide(run_id, "approve", by="ada")["status"] == "ok"


def test_an_answer_that_does_not_count_leaves_the_run_for_the_next(tmp_path, url):
    """Four eyes, unknown people and refused edits: the run waits on, with the reason, and somebody else decides."""
    policy = {**WAIT, "four_eyes": True, "reviewer_roles": ("comms",)}
    graph = critique_agent(tmp_path, url, policy=policy, reviewers=staff)
    run_id = begin_critique(graph, context={"caller": Caller(user="ada")})
    queue = queue_of(url, graph)
    assert queue.read(run_id).rules == {"four_eyes": True, "reviewer_roles": ["comms"]}
    for by, said in (("ada", "four_eyes"), ("guest", "they know nobody")):
        assert said in queue.decide(run_id, "approve", by=by)["waiting_for"]["problem"]
    refused = queue.decide(run_id, "edit", by="bob", edited=f"{DRAFT} 31 failed.")
    assert "no_new_facts" in refused["waiting_for"]["problem"]
    assert "no_new_facts" in queue.read(run_id).question["problem"]
    assert queue.decide(run_id, "approve", by="bob")["outcome"] == "approved_by_person"


def test_a_stale_question_is_refused_by_its_hash(tmp_path, url):
    """Whoever looked at another question is told; under other settings the run asks anew and says what changed."""
    run_id = begin_critique(critique_agent(tmp_path, url))
    other = critique_agent(tmp_path, url, policy={**WAIT, "known_regions": ["Nordland"]})
    queue = queue_of(url, other)
    seen = queue.read(run_id).question["hash"]
    again = queue.decide(run_id, "approve", by="ada", hash=seen)
    assert (again["status"], queue.read(run_id).question["changed"]) == ("waiting", ["settings"])
    with pytest.raises(AnotherQuestion, match="look again"):
        queue.decide(run_id, "approve", by="ada", hash=seen)
    with pytest.raises(InputError, match="8 digits"):
        queue.decide(run_id, "approve", by="ada", hash=seen[:3])
    assert queue.decide(run_id, "approve", by="ada", hash=queue.read(run_id).question["hash"][:8])["status"] == "ok"


def test_what_is_missing_is_said(tmp_path, url):
    """No graph, no checkpointer, no recorder, another graph, a checkpointer without the thread, no such run."""
    graph = critique_agent(tmp_path, url)
    run_id = begin_critique(graph)
    with pytest.raises(ConfigurationError, match="one with a checkpointer is required"):
        queue_of(url).decide(run_id, "approve", by="ada")
    with pytest.raises(ConfigurationError, match="one with a checkpointer is required"):
        queue_of(url, agent())
    with pytest.raises(ConfigurationError, match="recorder is the store"):
        queue_of(url, agent(checkpointer=InMemorySaver()))
    with pytest.raises(InputError, match=r"the run is of self_critique \(self_critique\); given: tools \(tools\)"):
        queue_of(url, tool_agent(tmp_path, url)).decide(run_id, "approve", by="ada")
    elsewhere = critique_agent(tmp_path, url, checkpointer=InMemorySaver())
    with pytest.raises(InputError, match="the graph's has no such thread"):
        queue_of(url, elsewhere).decide(run_id, "approve", by="ada")
    with pytest.raises(InputError, match="the store has no such run"):
        queue_of(url, graph).decide("nobody", "approve", by="ada")


POLICY = """
pattern: tools
policy:
  rules:
    list_files: {effect: read, trusted: ["*"]}
    read_file: {effect: read}
    send_money: {approve: unsupported}
"""


@pytest.fixture
def office(tmp_path, monkeypatch, url):
    """A folder with a policy, and an environment that names store and checkpoints."""
    (tmp_path / "tools.yaml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("GUARDGRAPH_AUDIT", url)
    monkeypatch.setenv("GUARDGRAPH_CHECKPOINTS", f"sqlite:///{tmp_path}/threads.db")
    return tmp_path


def listed():
    return json.loads(run("review", "list", "--json").stdout)


TOOLS = ("--graph", "tools", "--policy", "tools.yaml")
FACTORY = ("--graph", "queued_runs:critique_agent")


def test_a_command_waits_and_another_one_goes_on(office):
    """`guardgraph tools` exits with 4 and says how to go on; show shows it whole, approve ends it with 0."""
    begun = run("tools", "--policy", "tools.yaml")
    assert begun.exit_code == 4
    assert "guardgraph review approve" in begun.stdout
    assert os.stat(office / "threads.db").st_mode & 0o077 == 0
    [row] = listed()
    assert (row["graph"], row["node"], row["edits"]) == ("tools", "approve", ["call", "args"])
    shown = " ".join(run("review", "show", row["run_id"]).stdout.split())
    said = ('call "send_money"', "unsupported", '"amount": 1450', row["hash"], "call.args may be edited", "may decide")
    assert [words for words in said if words not in shown] == []
    done = run("review", "approve", row["run_id"], "--by", "ada", *TOOLS, "--hash", row["hash"][:10])
    assert (done.exit_code, "Sent: 1450" in done.stdout) == (0, True)
    again = run("review", "reject", row["run_id"], "--by", "bob", *TOOLS)
    assert again.exit_code == 2
    assert "already decided: approve by ada" in again.stderr
    assert run("review", "list").stdout.strip() == "nothing waits"


def test_a_switch_holds_for_who_decides_by_a_command(office):
    """What `--live` began goes on by the command that is printed: while the agent is off, an approval pays nothing."""

    def switch(position):
        told = run("policy", "switch", position, "live.yaml", "--by", "ada", "--why", "wrong prices")
        assert told.exit_code == 0

    switch("on")
    begun = run("tools", "--policy", "tools.yaml", "--live", "live.yaml")
    [row] = listed()
    decide = ("review", "approve", row["run_id"], "--by", "WHO", *TOOLS, "--live", "live.yaml")
    assert f"guardgraph {' '.join(decide)}" in " ".join(begun.stdout.split())
    switch("off")
    held = run(*decide)
    assert (held.exit_code, "wrong prices" in held.stdout, "Sent: 1450" in held.stdout) == (4, True, False)
    switch("on")
    done = run(*decide)
    assert (done.exit_code, "Sent: 1450" in done.stdout) == (0, True), done.stderr


def test_a_brief_of_high_risk_waits_for_another_command(office):
    policy = "pattern: research\npolicy: {high_risk_terms: [payments]}\n"
    (office / "research.yaml").write_text(policy, encoding="utf-8")
    assert run("research", "--policy", "research.yaml").exit_code == 4
    [row] = listed()
    done = run("review", "approve", row["run_id"], "--by", "ada", "--graph", "research", "--policy", "research.yaml")
    assert (done.exit_code, "grounded_research_answer" in done.stdout) == (0, True), done.stderr


def test_an_edit_is_read_from_a_file(office):
    """Arguments as JSON; what a guard refuses leaves the run waiting with exit code 4, what passes is done."""
    assert run("tools", "--policy", "tools.yaml", "--json").exit_code == 4
    [row] = listed()
    for text, said in (('{"to": "B", "amount": "all"}', "invalid_action:schema"), ('{"to": "B", "amount": 2}', "")):
        (office / "args.json").write_text(text, encoding="utf-8")
        done = run("review", "edit", row["run_id"], "args.json", "--by", "ada", *TOOLS)
        assert (done.exit_code, "problem" in done.stdout) == (4, said != "")  # the bill is not paid: it is asked again
        assert said in done.stdout
    [asked] = listed()
    assert (asked["run_id"], "changed" in asked, asked["hash"] == row["hash"]) == (row["run_id"], False, False)
    done = run("review", "approve", row["run_id"], "--by", "ada", *TOOLS)
    assert done.exit_code == 0, done.stdout


@each_row(
    ("arguments", "said"),
    (("review", "approve", "x", "--by", " ", *TOOLS), "--user: a name that is not blank"),
    (("review", "approve", "x", "--by", "ada", "--graph", "nobody"), "--graph: rag, research, critique, tools"),
    (("review", "approve", "x", "--by", "ada", *TOOLS), "run 'x': the store has no such run"),
    (("review", "approve", "x", "--by", "ada", *FACTORY, "--model", "m"), "--model: a factory"),
    (("review", "approve", "x", "--by", "ada", *FACTORY, "--live", "l.yaml"), "--live: a factory"),
    (("research", "x", "--urls", "u", "--allow", "a.test", "--store", "sqlite:///r.db"), "--store, --checkpoints"),
    (("tools", "--checkpoints", "sqlite:////no/such/folder/x.db"), "--checkpoints: cannot be opened"),
)
def test_what_is_wrong_is_said_in_one_line(office, url, arguments, said):
    sql_store(url).open()
    told = run(*arguments)
    assert (told.exit_code, len(told.stderr.splitlines())) == (2, 1)
    assert said in told.stderr
