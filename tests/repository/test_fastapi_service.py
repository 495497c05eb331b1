"""The FastAPI recipe, in a real uvicorn process: progress, waiting runs, clients that go away, and the end."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest
from docs_parts import ROOT
from loopback import find_free_port

from guardgraph import sql_store

pytestmark = pytest.mark.process

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

ADA, GUEST, EVE = ({"authorization": f"Bearer {token}"} for token in ("a1", "g1", "e1"))
PAY = {"task": "Send 30 euros to Ada."}
DOUBTFUL = {"task": "Send 30 euros to whom you like."}


class Desk:
    """The service at work."""

    def __init__(self, process, url, folder):
        self.process, self.url, self.folder = process, url, folder

    @property
    def acts(self):
        acts = self.folder / "acts"
        return acts.read_text().splitlines() if acts.exists() else []

    @property
    def log(self):
        return (self.folder / "log").read_text()

    def store(self):
        return sql_store(f"sqlite:///{self.folder / 'runs.db'}")

    def follow(self, path, given, headers=ADA):
        return httpx.stream("POST", self.url + path, json=given, headers=headers, trust_env=False, timeout=60)

    def ask(self, path, given, headers=ADA):
        with self.follow(path, given, headers) as response:
            assert response.status_code == 200, response.read()
            return response.headers["x-thread"], list(events(response))


def events(response):
    """Yield the events of a response."""
    kind = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


@contextmanager
def desk(folder, seconds="0", grace="30"):
    """Yield the service in a process of its own."""
    port = find_free_port()
    folders = ("", "examples/service", "tests/repository", "tests/support")
    path = os.pathsep.join(str(ROOT / name) for name in folders)
    given = {"PYTHONPATH": path, "DESK_FOLDER": str(folder), "DESK_SECONDS": seconds}
    given["DESK_TOKENS"] = json.dumps({"a1": "ada", "g1": "guest", "e1": "eve"})
    given["DESK_REVIEWERS"] = json.dumps(["guest"])
    line = [sys.executable, "-m", "uvicorn", "served_desk:app", "--port", str(port)]
    line += ["--timeout-graceful-shutdown", grace]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(line, cwd=folder, env={**os.environ, **given}, stdout=log, stderr=log)
        made = Desk(process, f"http://127.0.0.1:{port}", folder)
        try:
            wait_for(lambda: process.poll() is not None or is_up(made.url))
            yield made
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(timeout=30)


def is_up(url):
    try:
        return httpx.get(f"{url}/health", trust_env=False).is_success
    except httpx.TransportError:
        return False


def wait_for(holds, seconds=120):
    """Wait until something holds."""
    for _ in range(seconds * 20):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to hold in time")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    with desk(tmp_path_factory.mktemp("desk")) as made:
        yield made


def test_a_run_tells_its_progress_and_its_result(quick):
    """Progress comes before the result, which is the one that `invoke` returns; the store has the run once."""
    _, told = quick.ask("/runs", PAY)
    assert [kind for kind, _ in told[:-1]] == ["progress"] * (len(told) - 1)
    kind, result = told[-1]
    assert (kind, result["stop_reason"], result["answer"]) == ("result", "success", "It is sent.")
    assert told[0][1]["node"] == result["path"][0]
    assert [run.run_id for run in quick.store().runs()].count(result["run_id"]) == 1


def test_a_run_waits_for_whoever_is_signed_in(quick):
    """A guest's yes leaves a doubtful call waiting, who knows its id alone sees nothing, who may answer ends it."""
    thread, told = quick.ask("/runs", DOUBTFUL)
    kind, shown = told[-1]
    assert (kind, quick.acts.count("ends Mallory")) == ("waiting", 0)
    answer = {"hash": shown["hash"], "decision": "approve"}
    _, refused = quick.ask(f"/runs/{thread}/answer", answer, GUEST)
    assert (refused[-1][0], "answer" in refused[-1][1]["problem"]) == ("waiting", True)
    unseen = httpx.post(f"{quick.url}/runs/{thread}/answer", json=answer, headers=EVE, trust_env=False)
    assert (unseen.status_code, "Mallory" in unseen.text) == (404, False)
    _, ended = quick.ask(f"/runs/{thread}/answer", {**answer, "hash": refused[-1][1]["hash"]})
    assert (ended[-1][0], ended[-1][1]["stop_reason"]) == ("result", "success")
    reviewers = [line["reviewer"] for line in ended[-1][1]["timeline"] if "reviewer" in line]
    assert reviewers == [{"status": "verified", "name": "ada", "roles": []}]
    assert quick.acts.count("ends Mallory") == 1


def test_bad_requests_are_refused_with_a_text(quick):
    def nested(name, levels):
        return b'{"%s": %s%s}' % (name, b"[" * levels, b"]" * levels)

    for path, content, headers, status, says in (
        ("/runs", b"{", ADA, 422, "body: a JSON object is required"),
        ("/runs", b'{"task": 7}', ADA, 422, "invalid_request:task"),
        ("/runs", nested(b"task", 50_000), ADA, 422, "body: a JSON object is required"),
        ("/runs", nested(b"task", 500), ADA, 422, "invalid_request:task"),
        ("/runs/nobody/answer", nested(b"hash", 50_000), ADA, 422, "body: a JSON object"),
        ("/runs", b'{"task": "x"}', {}, 401, "authorization"),
        ("/runs/nobody/answer", b"{}", ADA, 404, "thread: one whose run waits is required"),
    ):
        came = httpx.post(quick.url + path, content=content, headers=headers, trust_env=False)
        assert (came.status_code, says in came.text) == (status, True), came.text
        assert "Traceback" not in came.text + quick.log


def leave_at_write(made, given=PAY):
    """Begin a run and return its id and its response's events when the write begins."""
    response = made.follow("/runs", given)
    opened = response.__enter__()
    told = events(opened)
    for _, event in told:
        if event["event"] == "calling" and event["of"] == "tool":
            return event["run_id"], response, told
    raise AssertionError("no tool was called")


def test_runs_end_before_the_server_does(tmp_path):
    """At SIGTERM a run that is at work ends, its client gets the result, and the process ends with 0."""
    with desk(tmp_path, seconds="1") as made:
        run_id, response, told = leave_at_write(made)
        made.process.send_signal(signal.SIGTERM)
        *_, (kind, result) = told
        response.__exit__(None, None, None)
        assert (kind, result["run_id"], result["stop_reason"]) == ("result", run_id, "success")
        made.process.wait(timeout=60)
        assert made.acts == ["begins Ada", "ends Ada"]
        assert made.store().open_runs() == []


@pytest.mark.parametrize("leaver", ["the client", "the server"])
def test_whoever_goes_away_loses_no_write(tmp_path, leaver):
    """A client that goes, or a server that may wait no longer: the write that was at work ends and is noted, nothing
    comes after it, and the run is closed on record.
    """
    seconds = "1" if leaver == "the client" else "4"
    with desk(tmp_path, seconds=seconds, grace="1") as made:
        run_id, response, _ = leave_at_write(made)
        if leaver == "the server":
            made.process.send_signal(signal.SIGTERM)
            made.process.wait(timeout=60)
        response.__exit__(None, None, None)
        wait_for(lambda: made.acts and not made.store().open_runs())
        assert made.acts == ["begins Ada", "ends Ada"]
        store = made.store()
        assert (store.verify().ok, run_id in [run.run_id for run in store.runs()]) == (True, False)
        assert len(store.entries(run_id)) >= 2
        assert "Traceback" not in made.log or leaver == "the server"
