"""Tool agents whose process dies at random moments: real tools that write into a file, which outlives the process."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from effect_runs import Moments, dying_saver, run_in_process
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from payment_pattern import FileRecorder

from guardgraph import ToolPolicy, ToolRule, create_tool_agent

TASKS = ("Send 30 euros to Ada Byron, and pay what bill b7 asks for.", "Send 30 euros to Ada Byron, and pay the bill.")
"""One names the document, which one question lets license all payments; of the other one question shows them."""
READ = {"tool": "read_bill", "args": {"id": "b7"}}
PAYEES = ("Ines Brand", "Jon Falk", "Kim Sato", "Lena Voss")


@dataclass(frozen=True)
class KilledRun:
    """A run of a tool agent, and where what outlives it stands.

    Args:
        folder: for the files of its saver, its recorder and its tools.
        seed: of the bill, the steps and how checkpoints are written.
    """

    folder: Path
    seed: int

    @property
    def due(self) -> list[dict[str, Any]]:
        """The payments that the bill asks for."""
        chance = random.Random(self.seed)
        payees = chance.sample(PAYEES, chance.randint(1, 4))
        return [{"to": to, "amount": 310 + 10 * at} for at, to in enumerate(payees)]

    @property
    def steps(self) -> list[list[dict[str, Any]]]:
        """The calls that the model proposes, step by step."""
        chance = random.Random(self.seed + 1)
        pays = [{"tool": "send_money", "args": args} for args in self.due]
        task = {"tool": "send_money", "args": {"to": "Ada Byron", "amount": 30}}
        if chance.random() < 0.5:
            return [[READ], [*pays, task]]
        at = chance.randint(0, len(pays))
        return [[READ, task], *([part] for part in pays[:at]), *([pays[at:]] if pays[at:] else [])]

    @property
    def task(self) -> dict[str, str]:
        """What is asked for."""
        return {"task": TASKS[self.seed // 2 % 2]}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What was paid, in its order."""
        file = self.folder / "paid.txt"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def recorder(self) -> FileRecorder:
        """What keeps its runs and what they began to do."""
        return FileRecorder(self.folder / "runs.txt", lambda: None)

    def plan(self, view: Any) -> Any:
        """Propose the step that follows what was done; it says the same in whichever process it is asked."""
        done = len(view["results"])
        for step in self.steps:
            if done <= 0:
                return {"calls": step}
            done -= len(step)
        return {"answer": "All is paid."}

    @contextmanager
    def agent(self, moment: Any = lambda: None) -> Any:
        """Yield its agent."""
        text = " and ".join(f"{each['amount']} to {each['to']}" for each in self.due)

        def read_bill(id: str) -> str:
            """Read a bill."""
            return f"Please pay {text}."

        def send_money(to: str, amount: float, *, idempotency_key: str) -> str:
            """Send euros to somebody."""
            moment()
            with open(self.folder / "paid.txt", "a", encoding="utf-8") as lines:
                lines.write(json.dumps({"to": to, "amount": amount, "key": idempotency_key}) + "\n")
            moment()
            return "sent"

        file = self.folder / "checkpoints.db"
        with closing(sqlite3.connect(file, check_same_thread=False, timeout=60)) as connection:
            connection.execute("PRAGMA synchronous=OFF")  # a killed process loses nothing by it; power does
            yield create_tool_agent(
                tools=[read_bill, send_money],
                planner=self.plan,
                policy=ToolPolicy(rules={"read_bill": ToolRule(effect="read")}),
                checkpointer=dying_saver(SqliteSaver, moment)(connection),
                recorder=FileRecorder(self.folder / "runs.txt", moment) if self.seed % 2 else None,
            )

    def ask(self, moment: Any = lambda: None) -> Any:
        """Ask as a client does that may have asked before, and approves all; return the result."""
        config = {"configurable": {"thread_id": "1", "request_key": "r1"}}
        options = {"durability": ("sync", "async", "exit")[self.seed % 3]}
        with self.agent(moment) as agent:
            result = agent.invoke(self.task, config, **options)
            while result["status"] == "waiting":
                told = {"hash": result["waiting_for"]["hash"], "decision": "approve"}
                result = agent.invoke(Command(resume=told), config, **options)
        return result


def _work(pipe: Any, run: KilledRun, last: int) -> None:
    moments = Moments(last)
    result = run.ask(moments)
    moments.last = 0
    pipe.send(json.loads(json.dumps(result)))
    pipe.close()


def survive_kills(run: KilledRun, kills: list[int]) -> tuple[Any, int]:
    """Ask until somebody lives to tell, and return the result and how many were killed."""
    for died, last in enumerate(kills):
        if (result := run_in_process(_work, run, last)) is not None:
            return result, died
    return run.ask(), len(kills)


def check_paid_once(run: KilledRun, result: Any) -> str:
    """Assert that nothing was paid twice or unseen, and all if the run ended well; return how it ended."""
    paid = Counter((line["to"], line["amount"]) for line in run.lines)
    assert set(paid.values()) <= {1}, paid
    keys = Counter(line["key"] for line in run.lines)
    assert set(keys.values()) <= {1}, keys
    told = {effect["key"] for item in result["timeline"] for effect in item.get("effects", ())}
    assert keys.keys() <= told, (keys, told, result["stop_reason"])
    if run.seed % 2:
        noted = {note["content"]["key"] for note in run.recorder.told("note") if note["kind"] == "intent"}
        assert keys.keys() <= noted, (keys, noted)
    if result["stop_reason"] == "success":
        assert paid.keys() == {("Ada Byron", 30), *((each["to"], each["amount"]) for each in run.due)}
    return str(result["stop_reason"])
