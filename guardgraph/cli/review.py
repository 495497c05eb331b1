"""`guardgraph review`: the runs that wait for a person, and what the person decides."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NoReturn
from urllib.parse import urlsplit

from guardgraph.cli import audit, inputs, views
from guardgraph.cli.making import exit_after_runs, spread_options
from guardgraph.cli.options import Json, Run, Store, argument, option
from guardgraph.cli.shell import Screen, make_command_group, print_json
from guardgraph.cli.waiting import AgentOptions
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, excerpt_value, parse_json

if TYPE_CHECKING:
    from guardgraph.desk.queue import ReviewQueue, WaitingRun

app = make_command_group("List the runs of a store that wait for a person, and decide about them.")


@app.command(name="list")
def list_(store: Store = None, as_json: Json = False) -> None:
    """List the runs that wait: since when, what is asked, until when, and who is about to answer."""
    from guardgraph.desk.queue import ReviewQueue  # loads LangGraph, for which help need not wait

    waiting = ReviewQueue(audit.open_store_option(store)).list_waiting()
    if as_json:
        print_json([make_waiting_row(run) for run in waiting])
        return
    screen = Screen()
    for run in waiting:
        asked = run.question
        line = f"{run.at[:19]}  {run.run_id}  {run.begun['graph']}: {asked.get('node', 'its own question')}"
        if "expires_at" in asked:
            line += f", {'expired' if is_question_expired(run) else 'until'} {asked['expires_at'][:19]}"
        if run.starter is not None:
            line += f", begun by {run.starter}"
        if run.deciding is not None:
            line += f", {run.deciding.get('by')} is deciding"
        screen.print_text(line, indent=0, hang=2)
    if not waiting:
        screen.print_text("nothing waits", indent=0)


@app.command()
def show(run: Run, store: Store = None, as_json: Json = False) -> None:
    """Show what a run asks: the call or the text, its hash, until when it stands, and who may decide."""
    from guardgraph.desk.queue import ReviewQueue  # loads LangGraph, for which help need not wait

    waiting = ReviewQueue(audit.open_store_option(store)).read(run)
    if as_json:
        print_json({**make_waiting_row(waiting), "begun": waiting.begun, "waiting": waiting.shown})
    else:
        print_question(Screen(), waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOptions:
    """Who decides, about which question, and what is kept with it."""

    by: Annotated[str, option("--by WHO", "Who decides; it stays in the record.")]
    hash: Annotated[str | None, option("--hash HASH", "Of the question that you looked at.")] = None
    group: Annotated[list[str] | None, option("--group GROUP", "A group of who decides.")] = None
    context: Annotated[str | None, option("--context FILE", "Under which it goes on; as it began if left out.")] = None
    comment: Annotated[str, option("--comment TEXT", "Kept with the decision.")] = ""


@app.command()
@spread_options
def approve(run: Run, *, said: DecisionOptions, options: AgentOptions, as_json: Json = False) -> None:
    """Approve what a run shows, and go on with it; exit code 4 if it waits again."""
    _decide_and_exit(open_review_queue(options), run, "approve", said, as_json=as_json)


@app.command()
@spread_options
def reject(run: Run, *, said: DecisionOptions, options: AgentOptions, as_json: Json = False) -> None:
    """Reject what a run shows, which ends it; exit code 3."""
    _decide_and_exit(open_review_queue(options), run, "reject", said, as_json=as_json)


@app.command()
@spread_options
def edit(
    run: Run,
    file: Annotated[str, argument("FILE", "The edited text, or edited arguments as JSON; - reads a pipe.")],
    *,
    said: DecisionOptions,
    options: AgentOptions,
    as_json: Json = False,
) -> None:
    """Put another text or other arguments in place of what a run shows; guards judge them as any proposal."""
    queue = open_review_queue(options)
    waiting = queue.read(run)
    if not waiting.edits:
        raise ConfigurationError(f"edit: run {run:.80} asks for a yes or a no, with nothing to edit in its question")
    is_text = isinstance(waiting.editable, str)
    try:
        text = inputs.read_option_bytes("FILE", file, MOST_BYTES).decode("utf-8-sig")
        edited: JsonValue = text.rstrip("\n") if is_text else parse_json(text, keys_once=True)
    except (UnicodeError, NotJson) as error:
        wanted = "UTF-8 text" if is_text else "JSON"
        raise ConfigurationError(f"FILE: {wanted} is required, such as was shown: {error}") from error
    _decide_and_exit(queue, run, "edit", said, as_json=as_json, edited=edited)


MOST_BYTES = 2**20  # bytes of an edited text


def make_waiting_row(run: WaitingRun) -> JsonObject:
    """Return what a list says of a run that waits."""
    asked = run.question
    row: JsonObject = {"run_id": run.run_id, "pattern": run.begun["pattern"], "graph": run.begun["graph"], "at": run.at}
    row |= {"thread": run.begun["thread"], "node": asked.get("node"), "hash": asked.get("hash"), "edits": run.edits}
    row |= {key: asked[key] for key in ("expires_at", "changed", "instead_of", "problem") if key in asked}
    row |= {"begun_by": run.starter, "tenant": run.tenant, "rules": run.rules}
    return row if run.deciding is None else {**row, "deciding": run.deciding}


def is_question_expired(run: WaitingRun) -> bool:
    """Say whether an answer comes too late: the run then ends as ``review_expired``, whatever is decided."""
    until = run.question.get("expires_at")
    return isinstance(until, str) and datetime.fromisoformat(until) < datetime.now(UTC)


def print_question(screen: Screen, run: WaitingRun) -> None:
    """Print what a run asks, whole, and who may decide."""
    asked = run.question
    screen.print_with_label("run", run.run_id, f", {run.begun['graph']}, guardgraph {run.begun['guardgraph']}")
    screen.print_with_label("waits", f"since {run.at[:19]}, at {asked.get('node', 'a node')}")
    left = views.print_asked_call(screen, asked)
    shown = left.get("shown")
    for key, value in (shown if isinstance(shown, dict) else {"shown": shown}).items():
        said = value if isinstance(value, str) else views.format_whole_value(value)
        screen.print_with_label(str(key), said)
    screen.print_with_label("hash", str(asked.get("hash", "none")))
    if run.edits:
        screen.print_with_label("edit", f"{'.'.join(run.edits)} may be edited")
    if "expires_at" in asked:
        told = ", which is over: any answer ends the run" if is_question_expired(run) else ""
        screen.print_with_label("until", f"{asked['expires_at'][:19]}{told}")
    if "changed" in asked:
        changed = ", ".join(map(str, asked["changed"]))
        screen.print_with_label("changed", f"{changed}, since {str(asked.get('instead_of'))[:8]}")
    if "problem" in asked:
        screen.print_with_label("problem", str(asked["problem"]))
    roles, rules = run.rules.get("reviewer_roles"), run.rules
    who = f"who has {', '.join(roles)}" if roles else "whom the graph's reviewers know, or anybody where it has none"
    but = f"; not {run.starter or 'who began it'}" if rules.get("four_eyes") else ""
    screen.print_with_label("may decide", f"{who}{but}")
    if run.deciding is not None:
        screen.print_with_label("deciding", f"{run.deciding.get('by')}: {run.deciding.get('decision')}")


def open_review_queue(options: AgentOptions) -> ReviewQueue:
    """Return the queue of a store with the agent that goes on with its runs."""
    from guardgraph.desk.queue import ReviewQueue  # loads LangGraph, for which help need not wait

    opened = audit.open_store_option(options.store)
    return ReviewQueue(opened, options.load_agent(opened))


def _decide_and_exit(
    queue: ReviewQueue, run: str, decision: str, said: DecisionOptions, *, as_json: bool, edited: JsonValue = None
) -> NoReturn:
    """Decide, print what came of it, and exit as a command that made the run would."""
    inputs.parse_caller_options(None, said.by, said.group)
    within = None if said.context is None else inputs.read_json_option("--context", said.context)
    given: dict[str, Any] = {"by": said.by, "hash": said.hash, "comment": said.comment, "groups": said.group or ()}
    result = queue.decide(run, decision, edited=edited, context=within, **given)
    screen = Screen()
    if as_json:
        print_json(result)
    elif result.get("status") == "waiting":
        screen.print_text("The run waits again.", indent=0)
        print_question(screen, queue.read(result["run_id"]))
    else:
        screen.print_with_label("run", result["run_id"])
        screen.print_with_label("ended", ", ".join(filter(None, (result["stop_reason"], result.get("outcome")))))
        if "answer" in result:
            screen.print_with_label("answer", str(result["answer"]))
        if "details" in result:
            screen.print_with_label("details", excerpt_value(result["details"], views.EVIDENCE_CHARS))
    exit_after_runs(result)


LOOPBACK = ("127.0.0.1", "::1", "localhost")


@app.command()
@spread_options
def desk(
    *,
    options: AgentOptions,
    host: Annotated[str, option("--host HOST", "Where it listens.")] = "127.0.0.1",
    port: Annotated[int, option("--port PORT", "On which port.", min=1, max=65535)] = 8765,
    tokens: Annotated[str | None, option("--tokens FILE", "Who may sign in: NAME TOKEN in each line.")] = None,
    origin: Annotated[str | None, option("--origin URL", "Under which browsers reach it, where that differs.")] = None,
) -> None:
    """Open the queue in a browser: what waits, a run's page, approve, edit, reject; on this machine by default."""
    people = None if tokens is None else parse_tokens_file(inputs.read_option_bytes("--tokens", tokens, MOST_BYTES))
    if host not in LOOPBACK and (people is None or origin is None):
        raise ConfigurationError(f"--host {host!r:.80}: beyond this machine --tokens and --origin are required")
    try:
        import uvicorn

        from guardgraph.desk.app import Desk, normalise_origin
    except ImportError as error:
        raise ConfigurationError(f"desk: {explain_extra('desk')} ({error})") from error
    if origin is not None and urlsplit(normalise_origin(origin)).hostname not in LOOPBACK and people is None:
        raise ConfigurationError(f"--origin {origin!r:.80}: beyond this machine --tokens is required")
    queue = open_review_queue(options)
    own = [f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    made = Desk(queue, origins=own if origin is None else [origin], tokens=people)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except (OSError, TypeError, ValueError) as error:  # a name may hold what none that is looked up has
        said = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"--host {host!r:.80} --port {port}: cannot listen there: {said}") from None
    Screen().print_text(f"the desk: {origin or own[0]}/", indent=0)
    config = uvicorn.Config(made.make_app(), log_level="warning", server_header=False, access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


def parse_tokens_file(given: bytes) -> dict[str, str]:
    """Return people by their tokens."""
    try:
        lines = given.decode("utf-8-sig").splitlines()
    except ValueError as error:
        raise ConfigurationError(f"--tokens: UTF-8 text is required: {error}") from None
    people: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, _, token = line.strip().rpartition(" ")
        if not name.strip() or token in people:
            raise ConfigurationError(f"--tokens: line {number}: NAME TOKEN is required, each token once")
        people[token] = name.strip()
    if not people:
        raise ConfigurationError("--tokens: NAME TOKEN in each line is required; given: none")
    return people
