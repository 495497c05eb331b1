"""A guarded agent behind FastAPI: progress as server-sent events, reviews by whoever is signed in, a clean shutdown.

    pip install "guardgraph[audit]" fastapi uvicorn langgraph-checkpoint-sqlite
    DESK_FOLDER=/data DESK_TOKENS='{"t0ken": "ada"}' uvicorn fastapi_service:app --timeout-graceful-shutdown 30

- ``POST /runs`` with ``{"task": ...}``: server-sent events `progress`, then one
  `result` or `waiting`; 422 for bad input.
- ``POST /runs/{thread}/answer`` with ``{"hash", "decision"}``: the same, of the run that goes on; 404 where none waits,
  or where it waits for others: whoever asked may answer, and the users of ``DESK_REVIEWERS='["rita"]'``.
- ``GET /health``: 200 while the process lives. ``GET /ready``: 200 while runs are taken and the
  store answers, else 503.

A client that goes away leaves its run at the end of the node that is at work: no write is cut off, and the run is
closed in the store, by whom and why. So is one that is still going on when the server has to end.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from guardgraph import Caller, ConfigurationError, GuardedGraph, InputError, StoreError, create_tool_agent, sql_store

GRACE = 20.0
"""Seconds in which runs may end when the server has to."""


class Runs:
    """The runs of one agent that are at work in this process.

    Args:
        agent: with a checkpointer and a store.
        store: its recorder.
    """

    def __init__(self, agent: GuardedGraph, store: Any) -> None:
        self.agent, self.store = agent, store
        self.tasks = set[asyncio.Task[None]]()
        self.leaving = asyncio.Event()

    def begin(self, given: Any, thread: str, user: str) -> Following:
        """Let a run begin, or go on with an answer, in a task of its own, and return what follows it."""
        following = Following(thread)
        task = asyncio.create_task(self._run(given, user, following))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return following

    async def _run(self, given: Any, user: str, following: Following) -> None:
        run_id, config = "", {"configurable": {"thread_id": following.thread}}
        stream = self.agent.astream(
            given, config, context={"caller": {"user": user}}, stream_mode=["custom", "updates"]
        )
        try:
            async for mode, part in stream:
                if mode == "custom":
                    run_id = part["run_id"] or run_id
                    following.events.put_nowait(("progress", part))
                    continue
                [(node, written)] = part.items()
                if node == "__interrupt__":
                    following.events.put_nowait(("waiting", written[0].value))
                elif isinstance(written, dict) and "stop_reason" in written:
                    following.events.put_nowait(("result", written))
                elif following.gone.is_set() or self.leaving.is_set():
                    await stream.aclose()  # between two nodes: nothing is at work
                    why = "the server ended" if self.leaving.is_set() else "the client went away"
                    await asyncio.to_thread(self.store.close_run, run_id, by=user, why=why)
                    following.events.put_nowait(("closed", {"run_id": run_id, "why": why}))
                    return
        except Exception as error:  # noqa: BLE001 - whoever follows the run is told
            following.events.put_nowait(("error", error))

    async def end(self) -> None:
        """Let runs end, or leave them on record at the end of the node that is at work."""
        self.leaving.set()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=GRACE)


class Following:
    """What a client follows of a run: its events, and whether the client is gone.

    Args:
        thread: of the run.
    """

    LAST = ("result", "waiting", "closed", "error")

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self.events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.gone = asyncio.Event()

    async def look_ahead(self) -> list[tuple[str, Any]]:
        """Return the first events, until it is known whether the input was let in.

        Raises:
            HTTPException: it was not.
            Exception: as the agent.
        """
        seen = [await self.events.get()]
        while not (seen[-1][0] in self.LAST or seen[-1][1]["event"] == "judged"):
            seen.append(await self.events.get())
        if seen[-1][0] == "error":
            raise seen[-1][1]
        if seen[-1][0] == "progress" and seen[-1][1]["verdict"] == "stop":
            while seen[-1][0] not in self.LAST:
                seen.append(await self.events.get())
            if str(seen[-1][1].get("stop_reason")).startswith("invalid_request"):
                raise HTTPException(422, {"error": seen[-1][1]["stop_reason"], "details": seen[-1][1].get("details")})
        return seen

    async def write_events(self, seen: list[tuple[str, Any]]) -> AsyncIterator[str]:
        """Yield server-sent events; whoever stops reading them is gone."""
        try:
            for event in seen:
                yield _format_event(*event)
            kind = seen[-1][0]
            while kind not in self.LAST:
                kind, content = await self.events.get()
                yield _format_event(kind, content)
        finally:
            self.gone.set()


def _format_event(kind: str, content: Any) -> str:
    told = {"error": str(content)} if isinstance(content, Exception) else content
    return f"event: {kind}\ndata: {json.dumps(told)}\n\n"


async def _sign_in(request: Request) -> str:
    """Return the user whose token the request has; put your own way to know people here."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    user = request.app.state.tokens.get(token) if scheme.lower() == "bearer" else None
    if user is None:
        raise HTTPException(401, {"error": "authorization: a Bearer token that is known is required"})
    return str(user)


async def _may_answer(state: Any, thread: str, user: str) -> bool:
    """Say whether a user may see the run that waits on a thread, and decide: who knows its id is not enough."""
    begun = [run.begun for run in await asyncio.to_thread(state.store.open_runs) if run.waiting and run.begun]
    openings = [run["opening"] for run in begun if run["thread"] == thread]
    callers = [opening["caller"] or opening["context"].get("caller") or {} for opening in openings]
    return user in state.reviewers or any(caller.get("user") == user for caller in callers)


def _read_reviewer(answer: dict[str, Any], caller: Caller | None) -> str | None:
    """Return who answers: whoever is signed in, whatever the answer says."""
    return None if caller is None else caller.user


def create_agent(store: Any, checkpointer: Any) -> GuardedGraph:
    """Return the agent that is served; put your own here."""
    return create_tool_agent(checkpointer=checkpointer, recorder=store, reviewers=_read_reviewer)


@asynccontextmanager
async def _open(app: FastAPI) -> AsyncIterator[None]:
    folder = Path(os.environ.get("DESK_FOLDER", "."))
    app.state.tokens = json.loads(os.environ.get("DESK_TOKENS", "{}"))
    app.state.reviewers = json.loads(os.environ.get("DESK_REVIEWERS", "[]"))
    app.state.store = store = sql_store(f"sqlite:///{folder / 'runs.db'}")
    store.open()
    async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.db")) as checkpointer:
        app.state.runs = Runs(app.state.create(store, checkpointer), store)
        yield
        await app.state.runs.end()
    store.close()


async def _refuse(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 422)


async def _read_body(request: Request) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):  # of JSON that is nested too deep
        if isinstance(given := json.loads(await request.body()), dict):
            return given
    raise HTTPException(422, {"error": "body: a JSON object is required"})


def create_app(create: Any = create_agent) -> FastAPI:
    """Return the service of an agent.

    Args:
        create: makes the agent of a store and a checkpointer.
    """
    app = FastAPI(lifespan=_open)
    app.state.create = create
    app.add_exception_handler(InputError, _refuse)
    app.add_exception_handler(ConfigurationError, _refuse)

    @app.post("/runs")
    async def begin(request: Request, user: str = Depends(_sign_in)) -> StreamingResponse:
        return await _follow(app.state.runs.begin(await _read_body(request), uuid4().hex, user))

    @app.post("/runs/{thread}/answer")
    async def answer(thread: str, request: Request, user: str = Depends(_sign_in)) -> StreamingResponse:
        given = await _read_body(request)
        state = await app.state.runs.agent.aget_state({"configurable": {"thread_id": thread}})
        if not state.interrupts or not await _may_answer(app.state, thread, user):
            raise HTTPException(404, {"error": f"thread: one whose run waits is required; given: {thread!r:.80}"})
        return await _follow(app.state.runs.begin(Command(resume=given), thread, user))

    @app.get("/health")
    async def health() -> dict[str, bool]:
        return {"ok": True}

    @app.get("/ready")
    async def ready() -> dict[str, bool]:
        try:
            await asyncio.to_thread(app.state.store.head)
        except StoreError as error:
            raise HTTPException(503, {"error": str(error)}) from None
        if app.state.runs.leaving.is_set():
            raise HTTPException(503, {"error": "the server is about to end"})
        return {"ready": True}

    return app


async def _follow(following: Following) -> StreamingResponse:
    """Answer with the events of a run, once its input was let in."""
    try:
        seen = await following.look_ahead()
    except BaseException:
        following.gone.set()
        raise
    headers = {"x-thread": following.thread, "cache-control": "no-store"}
    return StreamingResponse(following.write_events(seen), media_type="text/event-stream", headers=headers)


app = create_app()
