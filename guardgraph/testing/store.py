"""What holds for every store of runs, as checks for one of your own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import wraps
from inspect import signature
from typing import Any
from uuid import UUID

from guardgraph.evidence.chain import START, content_hash, entry_hash, read_chain_entry
from guardgraph.evidence.store import RunStore, StoredRun
from guardgraph.plain.errors import InputError, StoreError
from guardgraph.plain.hashing import canonical_json, digest
from guardgraph.plain.json import copy_json
from guardgraph.state.recording import BegunRun, NoteKind, Recording, RunNote

WRITERS = 8
RUNS_OF_A_WRITER = 5
_AT = "2026-01-01T00:00:00.000000+00:00"


def check_store(make_store: Callable[[], RunStore]) -> None:
    """Hold a store against what `guardgraph.RunStore` says; under pytest, each of `STORE_CHECKS` can be a test.

    One that has `begin` is held against `guardgraph.OpenRunStore` too.

    Args:
        make_store: returns a store in which nothing was recorded yet, another one each time.

    Raises:
        AssertionError: it does not do what it says; the message has the name of the check.
    """
    run_checks(STORE_CHECKS, make_store)


def run_checks(checks: Mapping[str, Callable[[Any], None]], make: Callable[[], object]) -> None:
    """Make each check of what is made for it; a failure has the name of the check."""
    for name, check in checks.items():
        try:
            check(make())
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def require_equal(what: str, given: object, wanted: object) -> None:
    """Refuse what is not what it should be."""
    if given != wanted:
        raise AssertionError(f"{what}: {wanted!r:.500} is required; given: {given!r:.500}")


def _an_empty_store_is_empty(store: RunStore) -> None:
    require_equal("head()", store.head(), None)
    require_equal("runs()", list(store.runs()), [])
    _require_refusal(store, _make_run_id(1))


def _a_run_is_read_as_it_was_recorded(store: RunStore) -> None:
    run = _make_run(1, text="ünïcode, \u2028, \U0001f600, 0.1, 1e-7")
    given = copy_json(run)
    receipt = store.record(given)
    require_equal("what was given to record()", given, run)
    stored = store.read(run["run_id"])
    require_equal("read().recording", stored.recording, run)
    require_equal("read().run_id", stored.run_id, run["run_id"])
    kept = {"seq": receipt["seq"], "hash": receipt["hash"]}
    require_equal("read().position.receipt", stored.position.receipt, kept)
    _require_refusal(store, _make_run_id(2))


def _entries_are_chained(store: RunStore) -> None:
    receipts = [store.record(_make_run(number)) for number in range(1, 5)]
    require_equal("numbers", [receipt["seq"] for receipt in receipts], [1, 2, 3, 4])
    _require_chained_runs(list(store.runs()))
    head = store.head()
    require_equal("head().receipt", head and head.receipt, receipts[-1])


def _a_run_that_is_given_again_has_its_receipt(store: RunStore) -> None:
    first = store.record(_make_run(1))
    store.record(_make_run(2))
    require_equal("the receipt of the same run", store.record(_make_run(1)), first)
    require_equal("the numbers of runs()", [stored.position.seq for stored in store.runs()], [1, 2])


def _a_run_with_other_content_is_kept_beside_the_first(store: RunStore) -> None:
    first = store.record(_make_run(1))
    store.record(_make_run(2))
    second = store.record(_make_run(1, text="resumed"))
    require_equal("the number of the second record", second["seq"], 3)
    require_equal("read()", store.read(_make_run_id(1)).recording, _make_run(1, text="resumed"))
    require_equal("the numbers of runs(), the latest of each run", _list_numbers(store.runs()), [2, 3])
    require_equal("the receipt of the first content", store.record(_make_run(1)), first)


def _runs_are_found_by_pattern_tenant_and_time(store: RunStore) -> None:
    began = datetime.now(UTC)
    store.record(_make_run(1, pattern="rag", tenant="acme"))
    store.record(_make_run(2, pattern="research", tenant="acme"))
    store.record(_make_run(3, pattern="rag", tenant="other"))
    store.record(_make_run(4, pattern="rag"))
    hour = timedelta(hours=1)
    require_equal("runs(pattern=)", _list_numbers(store.runs(pattern="rag")), [1, 3, 4])
    require_equal("runs(tenant=)", _list_numbers(store.runs(tenant="acme")), [1, 2])
    require_equal("runs(pattern=, tenant=)", _list_numbers(store.runs(pattern="rag", tenant="acme")), [1])
    for since, name, wanted in ((began - hour, "an hour ago", [1, 2, 3, 4]), (began + hour, "in an hour", [])):
        require_equal(f"runs(since=) of {name}", _list_numbers(store.runs(since=since)), wanted)


def _runs_are_read_anew_whenever_they_are_iterated_over(store: RunStore) -> None:
    for number in range(1, 8):
        store.record(_make_run(number))
    runs = store.runs()
    require_equal("runs(), twice", _list_numbers(runs), _list_numbers(runs))


def _nobody_changes_what_is_kept(store: RunStore) -> None:
    run = _make_run(1)
    store.record(run)
    run["result"]["status"] = "changed"
    for _ in range(2):
        stored = store.read(_make_run_id(1)).recording
        require_equal("read().recording", stored, _make_run(1))
        if stored is not None:
            stored["result"]["status"] = "changed"


def _threads_write_into_one_chain(store: RunStore) -> None:
    def record_runs_in_thread(writer: int) -> list[int]:
        mine = range(writer * RUNS_OF_A_WRITER + 1, (writer + 1) * RUNS_OF_A_WRITER + 1)
        return [store.record(_make_run(number))["seq"] for number in mine]

    with ThreadPoolExecutor(WRITERS) as pool:
        numbers = [number for written in pool.map(record_runs_in_thread, range(WRITERS)) for number in written]
    require_equal("the numbers of all threads", sorted(numbers), list(range(1, WRITERS * RUNS_OF_A_WRITER + 1)))
    _require_chained_runs(list(store.runs()))


def _a_run_is_open_from_its_beginning_to_its_ending(store: Any) -> None:
    for number in (1, 2, 3):
        given = _make_beginning(number)
        store.begin(given)
        require_equal("what was given to begin()", given, _make_beginning(number))
    store.record(_make_run(2))
    left = store.open_runs()
    require_equal("open_runs()", [item.run_id for item in left], [_make_run_id(1), _make_run_id(3)])
    require_equal("open_runs()[0].begun", left[0].begun, _make_beginning(1))
    require_equal("open_runs()[0]: numbers of notes", (left[0].intents, left[0].receipts), (0, 0))
    require_equal("runs()", [item.run_id for item in store.runs()], [_make_run_id(2)])
    _require_refusal(store, _make_run_id(1))
    try:
        store.begin({**_make_beginning(2), "graph": "late"})
    except StoreError:
        return
    raise AssertionError("begin() of a run that has ended: a StoreError is required")


def _a_beginning_that_is_given_again_has_its_receipt(store: Any) -> None:
    first = store.begin(_make_beginning(1))
    store.begin(_make_beginning(2))
    require_equal("the receipt of the same beginning", store.begin(_make_beginning(1)), first)
    require_equal("the number of open runs", len(store.open_runs()), 2)


def _a_run_supersedes_the_one_before_on_its_thread(store: Any) -> None:
    places = ((1, "a", "rag"), (2, "b", "rag"), (3, "a", "rag"), (4, "a", "other"))
    for number, thread, graph in places:
        store.begin({**_make_beginning(number), "thread": thread, "graph": graph})
    for number, tenant in ((5, "acme"), (6, "globex"), (7, "acme")):  # each has a thread of this name
        store.begin({**_make_beginning(number, tenant=tenant), "thread": "a", "graph": "rag"})
    numbers = [UUID(item.run_id).int & 0xFFFF for item in store.open_runs()]
    require_equal("the open runs", numbers, [2, 3, 4, 6, 7])
    [_, close] = [read_chain_entry(text) for text in store.entries(_make_run_id(1))]
    said = [close.get(key) for key in ("kind", "how", "by")]
    require_equal("the close of the first", said, ["close", "superseded", _make_run_id(3)])


def _what_is_noted_of_a_request_is_given_back(store: Any) -> None:
    for number in (1, 2):
        store.begin(_make_beginning(number))
    noted = [_make_note(1, "intent", "a"), _make_note(1, "receipt", "b"), _make_note(1, "waiting", "ü")]
    given = (noted[0], _make_note(2, "intent", "c"), *noted[1:])
    receipts = [store.note(copy_json(note)) for note in given]
    require_equal("notes()", store.notes("request 1"), noted)
    if "after" in signature(store.notes).parameters:
        for at, receipt in enumerate(receipts):
            later = [note for note in given[at + 1 :] if note in noted]
            told = store.notes("request 1", after=receipt["seq"])
            require_equal(f"notes(after={receipt['seq']})", told, later)
    require_equal("notes() of nothing", store.notes("request 3"), [])
    counts = [(item.intents, item.receipts, item.waiting) for item in store.open_runs()]
    require_equal("open_runs(): intents, receipts, waiting", counts, [(1, 1, True), (1, 0, False)])


def _a_lost_run_is_closed(store: Any) -> None:
    store.begin(_make_beginning(1))
    store.close_run(_make_run_id(1), by="somebody", why="its process is gone")
    require_equal("open_runs()", store.open_runs(), [])
    [_, close] = [read_chain_entry(text) for text in store.entries(_make_run_id(1))]
    said = [close.get(key) for key in ("kind", "how", "by", "why")]
    require_equal("the close", said, ["close", "closed", "somebody", "its process is gone"])
    for number in (1, 2):
        try:
            store.close_run(_make_run_id(number), by="somebody", why="again")
        except InputError:
            continue
        raise AssertionError("close_run() of a run that is not open: an InputError is required")


def _beginnings_and_notes_are_chained(store: Any) -> None:
    store.begin(_make_beginning(1))
    store.note(_make_note(1, "intent", "a"))
    store.begin(_make_beginning(2))
    store.record(_make_run(1))
    texts = [text for number in (1, 2) for text in store.entries(_make_run_id(number))]
    previous = START
    for text in sorted(texts, key=lambda text: read_chain_entry(text)["seq"]):
        said = read_chain_entry(text)
        require_equal(f"entry {said['seq']}: the hash of the one before", said["previous"], previous)
        previous = entry_hash(text)
    head = store.head()
    require_equal("head()", head and (head.seq, head.hash), (4, previous))


def _where_runs_are_open(check: Callable[[Any], None]) -> Callable[[RunStore], None]:
    """Return a check of a store that keeps runs from their beginning on; one that does not, need not."""

    @wraps(check)
    def check_open_runs(store: RunStore) -> None:
        if callable(getattr(store, "begin", None)):
            check(store)

    return check_open_runs


STORE_CHECKS: dict[str, Callable[[RunStore], None]] = {
    check.__name__.strip("_"): check
    for check in (
        _an_empty_store_is_empty,
        _a_run_is_read_as_it_was_recorded,
        _entries_are_chained,
        _a_run_that_is_given_again_has_its_receipt,
        _a_run_with_other_content_is_kept_beside_the_first,
        _runs_are_found_by_pattern_tenant_and_time,
        _runs_are_read_anew_whenever_they_are_iterated_over,
        _nobody_changes_what_is_kept,
        _threads_write_into_one_chain,
        _where_runs_are_open(_a_run_is_open_from_its_beginning_to_its_ending),
        _where_runs_are_open(_a_beginning_that_is_given_again_has_its_receipt),
        _where_runs_are_open(_a_run_supersedes_the_one_before_on_its_thread),
        _where_runs_are_open(_what_is_noted_of_a_request_is_given_back),
        _where_runs_are_open(_a_lost_run_is_closed),
        _where_runs_are_open(_beginnings_and_notes_are_chained),
    )
}
"""The checks by name; each is given a store in which nothing was recorded yet."""


def _require_chained_runs(stored: list[StoredRun]) -> None:
    previous = START
    for item in stored:
        where, said = f"entry {item.position.seq}", read_chain_entry(item.entry)
        require_equal(f"{where}: position.previous", item.position.previous, previous)
        require_equal(f"{where}: position.hash", item.position.hash, entry_hash(item.entry))
        told: list[Any] = [said["seq"], said["previous"], said["at"], said.get("run_id")]
        place = item.position
        require_equal(f"{where}: what it says", told, [place.seq, place.previous, place.at, item.run_id])
        content = content_hash(item.salt or "", canonical_json(item.recording))
        require_equal(f"{where}: the hash of its content", said.get("content"), content)
        previous = item.position.hash


def _list_numbers(runs: Any) -> list[int]:
    return [stored.position.seq for stored in runs]


def _require_refusal(store: RunStore, run_id: str) -> None:
    try:
        store.read(run_id)
    except InputError:
        return
    raise AssertionError("read() of a run that is not there: an InputError is required")


def _make_run_id(number: int) -> str:
    return str(UUID(int=number, version=4))


def _make_run(number: int, *, pattern: str = "rag", tenant: str | None = None, text: str = "A question?") -> Recording:
    """Return a run that never was, but for its form."""
    caller = None if tenant is None else {"tenant": tenant, "user": f"user {number}", "groups": []}
    run_id, opening = _make_run_id(number), {"started_at": _AT, "context": None, "caller": caller}
    ending = {"run_id": run_id, "pattern": pattern, "status": "ok", "stop_reason": "success", "outcome": "answered"}
    made: Any = {
        **{"format": 1, "guardgraph": "0", "pattern": pattern, "graph": pattern, "run_id": run_id},
        "input": {"question": text, "numbers": [number, -0.5, 2**62, None, True]},
        "policy": {},
        "budget": {"max_seconds": 1.5},
        "fingerprints": {name: digest(name) for name in ("policy", "budget", "declarations", "prompts")},
        "visits": [{"node": "done", "kind": "terminal", "clock": [0.0, 0.25]}],
        "calls": [],
        "result": {**ending, "trace": [], "history": [], "timeline": []},
    }
    made["visits"][0]["opening"] = {**opening, "carried": 0.0, "resumable": False}
    recording: Recording = made
    return recording


def _make_beginning(number: int, *, tenant: str | None = None) -> BegunRun:
    """Return the beginning of a run that never was, but for its form."""
    run: Any = _make_run(number, tenant=tenant)
    same = ("format", "guardgraph", "pattern", "graph", "run_id", "input", "policy", "budget")
    hashes = {name: run["fingerprints"][name] for name in ("policy", "budget", "declarations")}
    made: Any = {key: run[key] for key in same}
    made |= {"request": f"request {number}", "thread": None, "fingerprints": hashes}
    begun: BegunRun = made | {"opening": run["visits"][0]["opening"]}
    return begun


def _make_note(number: int, kind: NoteKind, text: str) -> RunNote:
    """Return a note of a run that never was, but for its form."""
    content = {"text": text, "numbers": [number, 0.5, None]}
    return RunNote(run_id=_make_run_id(number), request=f"request {number}", kind=kind, at=_AT, content=content)
