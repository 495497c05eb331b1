"""Effects: a write is made once, whatever ends the process, whoever resumes the run, and however it is asked for."""

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from threading import Barrier, Event

import pytest
from effect_runs import Moments, Setup, attempt, check_payments, open_saver, survive
from hanging import hang, released, standing
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from payment_pattern import BATCHES, Bank, FileRecorder, In, open_bank, payments
from runs import THREAD, on_thread, run
from tool_pattern import READ, STOLEN, TASK, Desk, Killed, approving, check_review, desk_graph, planning

import guardgraph.grammar as gg
from guardgraph import InputError, LiveWorld, replay, sql_store
from guardgraph.testing import InMemoryRecorder, ScriptedClock

ASKED = {"batches": BATCHES}
nobody_hangs_on = pytest.fixture(autouse=True)(released)
bank = pytest.fixture(open_bank)


@pytest.mark.process
def test_a_kill_at_any_moment_doubles_no_payment(tmp_path):
    """No payment is made twice between receipt and checkpoint; from the intent to the receipt nobody knows."""
    seen = []
    while True:
        setup = Setup(tmp_path / str(len(seen)))
        setup.folder.mkdir()
        if attempt(setup, len(seen) + 1) is not None:
            break
        paid = setup.bank.amounts
        seen.append((paid, check_payments(setup, attempt(setup))))
    unknown = [paid for paid, reason in seen if reason != "success"]
    assert unknown == [[], [], [30], [30], [30], [30], [30, 40], [30, 40]]
    assert [[30, 40], "success"] in [list(item) for item in seen]


WAYS = {
    **{durability: {"durability": durability} for durability in ("sync", "async", "exit")},
    "awaited": {"mode": "ainvoke", "durability": "exit"},
    "inside": {"inside": True},
    "inside async": {"inside": True, "durability": "async"},
    "inside exit": {"inside": True, "durability": "exit", "recorder": "file"},
    "recorder": {"saver": None, "recorder": "file"},
    "both": {"recorder": "file", "durability": "async"},
}


@pytest.mark.process
@pytest.mark.parametrize("way", WAYS)
def test_however_a_run_is_made_no_kill_doubles_a_payment(way, tmp_path):
    """A client or a graph around may ask for any durability, and a recorder may be all that keeps anything."""
    for number, last in enumerate(random.Random(way).sample(range(8, 40), 3)):
        setup = Setup(tmp_path / str(number), **WAYS[way])
        setup.folder.mkdir()
        check_payments(setup, survive(setup, [last]))


def _die_in(bank, at):
    """Return a tool that ends the run in the middle of a payment, once."""
    left = [at]

    def pay(request, idempotency_key):
        receipt = bank.pay(request, idempotency_key)
        if left and request["amount"] == left[0]:
            raise Killed(left.pop())
        return receipt

    return pay


def _resume(bank, at, pay=None, config=THREAD, recorder=None, late=None, **how):
    """Return the result of a run that was killed in a payment, and goes on with what is given here."""
    keeping = {"checkpointer": InMemorySaver(), "recorder": recorder}
    with pytest.raises(Killed):
        payments(_die_in(bank, at), **keeping).invoke(ASKED, config)
    return payments(pay or bank.pay, **{**keeping, "recorder": late or recorder}, **how).invoke(None, config)


def test_a_kill_during_a_write_ends_as_effect_unknown(bank):
    """Nobody knows whether the bank went on; the details have the key to ask it by."""
    result = _resume(bank, 30)
    assert (result["stop_reason"], result["phase"], result["path"][-1]) == ("effect_unknown:pay", "pay", "stop_effect")
    kept = result["details"]["kept"]
    assert (kept["tool"], kept["node"], kept["visit"], kept["number"]) == ("pay", "pay", 1, 1)
    assert result["details"]["key"] == kept["key"] == bank.lines[0]["key"]
    assert bank.amounts == [30, 40]


def test_what_came_of_a_write_is_found_out_by_its_key(bank, tmp_path):
    """An idempotent tool is called again with it; `reconcile` is asked by it, and its outcome is the receipt."""
    result = _resume(bank, 40, bank.pay_once, idempotent=True)
    assert (result["stop_reason"], bank.amounts) == ("success", [30, 40, 50])
    other = Bank(tmp_path / "other.txt")
    recorder, asked = InMemoryRecorder(), on_thread(request_key="r1")
    result = _resume(other, 40, config=asked, recorder=recorder, reconcile=other.reconcile)
    assert (result["stop_reason"], other.amounts) == ("success", [30, 40, 50])
    assert result["payments"] == ["paid 30", "paid 40", "paid 50"]
    again = payments(other.pay, recorder=recorder).invoke(ASKED, asked)
    assert (again["payments"], other.amounts) == (result["payments"], [30, 40, 50])


@pytest.mark.parametrize(
    ("said", "why"), [(None, None), (OSError("x"), "x"), (7, "reconcile: an Outcome or None is required; given: int")]
)
def test_where_reconcile_does_not_know_nobody_knows(said, why, bank):
    """None, an error and what is no outcome leave the write unknown; the details say which."""

    def reconcile(key):
        if isinstance(said, Exception):
            raise said
        return said

    result = _resume(bank, 30, reconcile=reconcile)
    assert (result["stop_reason"], bank.amounts.count(30)) == ("effect_unknown:pay", 1)
    told = result["details"].get("reconcile")
    assert (told and told["details"]["message"]) == why


def _pay_once(bank, amount, tool="pay"):
    """Return a body that makes one payment, whatever is asked for."""

    def body(state, run):
        [outcome] = yield [gg.Call("tool", bank.pay, {"amount": amount}, effect="write", tool=tool)]
        return {"raw_payments": [outcome.packed()]}

    return body


@pytest.mark.parametrize(("at", "amount", "cause"), [(30, 31, "another_request"), (40, 30, "not_asked_again")])
def test_a_node_does_not_go_on_past_a_write_that_nobody_knows_of(at, amount, cause, bank):
    """What is asked for now may be another request, or less than before: what was begun is no secret, and unknown."""
    recorder = InMemoryRecorder()
    given = {"body": _pay_once(bank, amount), "recorder": recorder}
    result = _resume(bank, at, **given)
    assert (result["stop_reason"], result["details"]["cause"]) == ("effect_unknown:pay", cause)
    assert bank.amounts == [30, 40][: at // 10 - 2]
    assert replay(payments(bank.pay, **given), json.loads(json.dumps(recorder.runs[0]))) == result


def test_a_write_that_outlasts_its_time_is_unknown(bank):
    """It may still be at work, so the run does not say that its time was spent before."""
    result = payments(hang, checkpointer=InMemorySaver(), seconds=0.2, world=standing()).invoke(ASKED, THREAD)
    assert (result["stop_reason"], result["details"]["limit"]) == ("effect_unknown:pay", "max_seconds")


def test_a_write_for_which_no_time_is_left_is_not_made(bank):
    """The one before it used it up; its key is on record, as of any write."""
    clock, recorder = ScriptedClock(), InMemoryRecorder()

    def slow(request, idempotency_key):
        clock.advance(60)
        return bank.pay(request, idempotency_key)

    result = payments(slow, world=LiveWorld(clock=clock), recorder=recorder).invoke(ASKED)
    made, late = (call["key"] for call in recorder.runs[0]["calls"])
    assert (result["stop_reason"], bank.amounts) == ("max_seconds", [30])
    assert made == bank.lines[0]["key"] != late


def test_what_a_world_raises_of_a_write_is_raised_again_wherever_it_is_asked_for(bank):
    class Broken(LiveWorld):
        def perform(self, asked, seconds):
            raise BrokenPipeError("a defect")

    recorder, told = InMemoryRecorder(), {"type": "BrokenPipeError", "message": "a defect"}
    for world in (Broken(), LiveWorld()):
        result = payments(bank.pay, recorder=recorder, world=world).invoke(ASKED, on_thread(request_key="r1"))
        assert (result["stop_reason"], bank.amounts) == ("guard_error:pay", [])
        assert told.items() <= result["details"].items()


def test_a_tool_that_asks_a_person_is_called_again(bank):
    """An interrupt inside a write is no doubt: the tool stopped before it acted, and says so."""

    def asking(request, idempotency_key):
        interrupt(f"Pay {request['amount']}?")
        return bank.pay(request, idempotency_key)

    graph = payments(asking, checkpointer=InMemorySaver(), recorder=InMemoryRecorder())
    assert (graph.invoke({"batches": [[30]]}, THREAD)["status"], bank.amounts) == ("waiting", [])
    assert (graph.invoke(Command(resume="yes"), THREAD)["stop_reason"], bank.amounts) == ("success", [30])


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_without_anything_that_keeps_it_no_write_is_made(mode, bank):
    class Endings:
        def record(self, run):
            pass

    for recorder in (None, Endings()):
        result = run(payments(bank.pay, recorder=recorder), ASKED, mode)
        assert (result["stop_reason"], result["path"][-1]) == ("effect_unrecordable:pay", "stop_effect")
    assert bank.amounts == []


@pytest.mark.unreplayable(reason="nobody recorded that notes could not be read")
def test_a_recorder_or_a_checkpointer_that_fails_keeps_back_the_write(bank, tmp_path):
    def fail(note):
        raise OSError("no space left on device")

    class Away(InMemorySaver):
        kind = "claim"

        def put_writes(self, config, writes, task_id, task_path=""):
            if writes[0][0].startswith("guardgraph:") and writes[0][1]["kind"] == self.kind:
                raise ConnectionError("the database is away")
            super().put_writes(config, writes, task_id, task_path)

    (later := Away()).kind, (full := InMemoryRecorder()).note = "intent", fail
    full, both = {"recorder": full}, {"recorder": full, "checkpointer": InMemorySaver()}
    away = [({"checkpointer": saver}, "ConnectionError") for saver in (Away(), later)]
    for keeping, error in ((full, "OSError"), (both, "OSError"), *away):
        result = payments(bank.pay, **keeping).invoke(ASKED, THREAD)
        [why] = [result["details"][name] for name in ("recorder", "checkpointer") if name in result["details"]]
        assert (result["stop_reason"], why["type"]) == ("effect_unrecordable:pay", error)
    for notes in (lambda request: 1 / 0, lambda request, after: 1 / 0):
        (recorder := InMemoryRecorder()).notes = notes
        late = _resume(Bank(tmp_path / "other.txt"), 30, late=recorder)
        assert (late["stop_reason"], late["path"][-3:-1]) == ("guard_error:pay", ["pay", "payment_guard"])
        result = payments(bank.pay, recorder=recorder).invoke(ASKED)
        assert (result["stop_reason"], result["details"]["cause"]) == ("effect_unknown:pay", "unreadable")
    assert bank.amounts == []


def test_a_graph_around_that_keeps_its_steps_at_its_end_keeps_no_write(bank):
    """A resume would not come back to the graph inside, so its checkpoint is no place for an intent."""
    around = StateGraph(In)
    results = []
    around.add_node("inside", lambda state: results.append(payments(bank.pay).invoke(state)))
    around.add_edge(START, "inside")
    graph = around.compile(checkpointer=InMemorySaver())
    graph.invoke(ASKED, THREAD, durability="exit")
    graph.invoke(ASKED, on_thread(thread_id="2"), durability="async")
    assert [result["stop_reason"] for result in results] == ["effect_unrecordable:pay", "success"]
    assert bank.amounts == [30, 40, 50]


def test_the_same_request_goes_on_or_returns_its_result(bank):
    """A client that got no answer asks again by the same request_key: open, ended or with another input."""
    saver, hers = InMemorySaver(), {"context": {"caller": {"user": "ann"}}}
    with pytest.raises(Killed):
        payments(_die_in(bank, 40), checkpointer=saver).invoke(ASKED, on_thread(request_key="r1"), **hers)
    graph = payments(bank.pay_once, checkpointer=saver, idempotent=True)
    first = graph.invoke(ASKED, on_thread(request_key="r1"), **hers)
    again = graph.invoke(ASKED, on_thread(request_key="r1"), **hers)
    assert (first["stop_reason"], again["run_id"], bank.amounts) == ("success", first["run_id"], [30, 40, 50])
    with pytest.raises(InputError, match="request_key: one for every input"):
        graph.invoke({"batches": [[7]]}, on_thread(request_key="r1"))
    assert graph.invoke({"batches": [[7]]}, on_thread(request_key="r2"))["run_id"] != first["run_id"]
    assert bank.amounts == [30, 40, 50, 7]


def test_the_same_request_on_another_thread_finds_the_receipts_that_a_recorder_keeps(bank):
    graph = payments(bank.pay, checkpointer=InMemorySaver(), recorder=InMemoryRecorder())
    for thread in ("1", "2"):
        result = graph.invoke(ASKED, on_thread(thread_id=thread, request_key="r1"))
        assert (result["stop_reason"], bank.amounts) == ("success", [30, 40, 50])
    graph.invoke(ASKED, on_thread(thread_id="3", request_key="r2"))
    assert bank.amounts == [30, 40, 50] * 2


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", ["Runnable", "tool"])
def test_tools_of_langchain_find_the_key_in_their_configuration(kind, mode, bank):
    seen = []

    def pay(amount: int, config: RunnableConfig) -> str:
        """Pay."""
        seen.append(config["configurable"]["idempotency_key"])
        assert "thread_id" in config["configurable"]
        return bank.pay({"amount": amount}, seen[-1])

    recorder = InMemoryRecorder()
    target = tool(pay) if kind == "tool" else RunnableLambda(lambda request, config: pay(request["amount"], config))
    result = run(payments(target, checkpointer=InMemorySaver(), recorder=recorder), ASKED, mode, config=THREAD)
    keys = [write["key"] for line in result["timeline"] for write in line.get("effects", ())]
    assert keys == seen == [call["key"] for call in recorder.runs[0]["calls"]]
    assert (result["stop_reason"], len({*keys})) == ("success", 3)


@pytest.mark.parametrize("kept", ["file", "store"])
def test_two_who_resume_at_once_pay_once(kept, bank, tmp_path):
    """Both keep their intent before they look, so one of them sees the other's: with a recorder, on any thread."""
    file = tmp_path / "runs"
    recorder = FileRecorder(file) if kept == "file" else sql_store(f"sqlite:///{file}", timeout=60)
    results = []

    def ask(pay):
        return payments(pay, recorder=recorder).invoke({"batches": [[30]]}, on_thread(request_key="r1"))["stop_reason"]

    def slow(request, idempotency_key):
        if not results:
            results.append(None)
            results.append(ask(bank.pay))
        return bank.pay(request, idempotency_key)

    assert (ask(slow), results[1], bank.amounts) == ("success", "effect_unknown:pay", [30])


def _open_saver(place, folder, opened):
    """Open a checkpointer of one place, as another process would."""
    saver = open_saver(Setup(folder, saver=place), Moments(0))
    opened.callback(saver.conn.close)
    return saver


def _wait_for_approval(saver, thread, desk):
    config = {"configurable": {"thread_id": thread}}
    return config, approving(desk_graph(planning([READ], [STOLEN]), desk, checkpointer=saver).invoke(TASK, config))


@pytest.mark.unreplayable
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_one_approval_pays_once_however_many_resume_at_once(kind, new_postgres, tmp_path):
    """With a checkpointer alone: 0.9 paid up to six times, as each kept its intent beside a checkpoint of its own."""
    place = new_postgres() if kind == "postgres" else kind
    for number in range(4):
        desk, all_here, shared = Desk(), Barrier(6), InMemorySaver()
        with ExitStack() as opened:
            savers = [shared if kind == "memory" else _open_saver(place, tmp_path, opened) for _ in range(6)]
            config, answer = _wait_for_approval(savers[0], f"{kind}{number}", desk)

            def resume(graph, config=config, answer=answer, all_here=all_here):
                all_here.wait(60)
                return graph.invoke(answer, config)["stop_reason"]

            graphs = [desk_graph(planning(), desk, checkpointer=saver) for saver in savers]
            with ThreadPoolExecutor(6) as pool:
                reasons = Counter(pool.map(resume, graphs))
        assert desk.made.count(STOLEN) <= 1
        assert reasons["effect_unknown:send_money"] + reasons["success"] == 6, reasons
        assert (reasons["success"] > 0) <= (desk.made.count(STOLEN) == 1)


@pytest.mark.unreplayable
@pytest.mark.parametrize("died", [False, True])
def test_whoever_resumed_earlier_and_comes_later_pays_nothing(died):
    """They are given what the other one paid, or nobody knows: the run began at one place, where both look."""
    saver, desk, checked, paid = InMemorySaver(), Desk(), Event(), Event()
    config, answer = _wait_for_approval(saver, "1", desk)

    def wait_for_the_other(state, run):
        checked.set()
        assert paid.wait(60)
        return check_review(state, run)

    late = desk_graph(planning(), desk, bodies={"review_guard": wait_for_the_other}, checkpointer=saver)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(late.invoke, answer, config)
        assert checked.wait(60)
        with suppress(Killed):
            other = Desk(made=desk.made, dies_at=2 if died else None)
            desk_graph(planning(), other, checkpointer=saver).invoke(answer, config)
        paid.set()
        reason = second.result(60)["stop_reason"]
    assert (desk.made.count(STOLEN), reason) == (1, "effect_unknown:send_money" if died else "success")


@pytest.mark.parametrize(("effects", "tool"), [(None, "pay"), (["pay"], "steal")])
def test_a_write_that_its_node_does_not_declare_closes_the_run(effects, tool, bank):
    body, declared = _pay_once(bank, 30, tool), "none" if effects is None else "pay"
    result = payments(bank.pay, body=body, effects=effects, checkpointer=InMemorySaver()).invoke(ASKED, THREAD)
    assert (result["stop_reason"], bank.amounts) == ("guard_error:pay", [])
    assert f"yielded a write by '{tool}'; declared effects: {declared}" in result["details"]["message"]


def _pay_what_was_read(bank, state, run):
    page = yield gg.Call("tool", lambda request: 1_000_000, {"url": "https://shop.example"})
    outcome = yield gg.Call("tool", bank.pay, {"amount": page.content}, effect="write", tool="pay")
    return {"raw_payments": [outcome.packed()]}


def _change_behind(bank, state, run):
    """Have a tool write into what stands within the next request."""
    request = {"amount": 30, "to": {}}

    def pay(asked, idempotency_key):
        return bank.pay({"amount": asked["to"].get("amount", 30)}, idempotency_key)

    page = gg.Call("tool", lambda asked: request["to"].update(amount=1_000_000), {"url": "https://shop.example"})
    _, outcome = yield [page, gg.Call("tool", pay, request, effect="write", tool="pay")]
    return {"raw_payments": [outcome.packed()]}


def _share_scope(bank, state, run):
    request = {"amount": 30}
    page = gg.Call("tool", lambda asked: request.update(amount=1_000_000), {"url": "https://shop.example"})
    _, outcome = yield [page, gg.Call("tool", bank.pay, {}, scope=request, effect="write", tool="pay")]
    return {"raw_payments": [outcome.packed()]}


def _grow_group(bank, state, run):
    group = []
    make = partial(gg.Call, "tool", bank.pay, effect="write", tool="pay")
    group += [gg.Call("tool", lambda asked: group.append(make({"amount": 1_000_000})), {}), make({"amount": 30})]
    outcomes = yield group
    return {"raw_payments": [outcomes[1].packed()]}


def _ask_at_the_end(bank, state, run):
    """Ask once more when the body is closed."""
    page = None
    try:
        page = yield gg.Call("tool", lambda asked: 1_000_000, {"url": "https://shop.example"})
        raise ValueError(page.content)
    finally:
        yield gg.Call("tool", bank.pay, {"amount": page.content}, effect="write", tool="pay")


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("leak", [_pay_what_was_read, _change_behind, _share_scope, _grow_group, _ask_at_the_end])
def test_nothing_that_a_call_brought_reaches_a_later_call_of_its_visit(leak, mode, bank):
    """Neither by another round nor by what stands in a request that was yielded: what is asked is fixed before."""
    recorder = InMemoryRecorder()
    graph = payments(bank.pay, body=partial(leak, bank), checkpointer=InMemorySaver(), recorder=recorder)
    run(graph, {"batches": [[30]]}, mode, config=THREAD)
    assert bank.amounts in ([], [30])
    asked = {call["request"] for call in recorder.runs[0]["calls"] if call.get("effect") == "write"}
    assert len(asked) == len(bank.amounts)


def test_a_request_key_is_its_callers_own(bank):
    """Who names another caller's key is given no receipt of that one: both payments are made, by two keys."""
    recorder = InMemoryRecorder()
    graph = payments(bank.pay, recorder=recorder)
    for user in ("ann", "bob", "ann"):
        context = {"caller": {"tenant": "acme", "user": user}}
        assert graph.invoke(ASKED, {"configurable": {"request_key": "r1"}}, context=context)["status"] == "ok"
    assert bank.amounts == [30, 40, 50] * 2
    assert len({call["key"] for item in recorder.runs for call in item["calls"] if "key" in call}) == 6
