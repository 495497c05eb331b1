"""The desk in a real browser and by raw HTTP: people who decide, who come second, who are attacked, on any screen."""

import json
import re
import subprocess
import sys
import threading
import time
from urllib.parse import urlencode

import httpx
import pytest
import uvicorn
from langgraph.types import Command
from loopback import find_free_port
from office_agents import READ, Office, calls
from queued_runs import HOSTILE, begin_critique, begin_payment, critique_agent, queue_of, tool_agent
from self_critique_cases import DRAFT, REVISED, THREAD
from stored_runs import make_file_url

from guardgraph import ConfigurationError, sql_store
from guardgraph.desk.app import Desk
from guardgraph.grammar import Identity

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

url = pytest.fixture(make_file_url)
TOKENS = {"a-long-token-of-ada": "ada", "a-long-token-of-bob": "bob"}


class Served:
    """A desk on a port of the loopback, until it is closed."""

    def __init__(self, queue, **given):
        self.port = find_free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        app = Desk(queue, origins=[self.origin], **given).make_app()
        how = {"host": "127.0.0.1", "port": self.port, "log_level": "error", "lifespan": "off", "ws": "none"}
        self._server = uvicorn.Server(uvicorn.Config(app, **how))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        for _ in range(200):
            if self._server.started:
                return
            time.sleep(0.05)
        raise TimeoutError("the desk did not begin")

    def close(self):
        self._server.should_exit = True
        self._thread.join(20)

    def ask(self, method, path, *, body=None, host=None, **headers):
        """Make a request by hand; return the status, the headers and the text."""
        given = {"Host": host or f"127.0.0.1:{self.port}", **{name.replace("_", "-"): v for name, v in headers.items()}}
        if body is not None:
            given = {"Content-Type": "application/x-www-form-urlencoded", **given}
        data = urlencode(body).encode() if isinstance(body, dict) else body
        reply = httpx.request(method, self.origin + path, headers=given, content=data, trust_env=False, timeout=30)
        return reply.status_code, reply.headers, reply.text

    def sign_in(self, **form):
        """Sign in by hand; return the cookie."""
        _, headers, page = self.ask("GET", "/sign-in")
        visitor = headers["set-cookie"].partition(";")[0]
        sent = {"csrf": csrf_of(page), **(form or {"name": "mallory"})}
        code, headers, _ = self.ask("POST", "/sign-in", body=sent, Cookie=visitor, Origin=self.origin)
        return (code, None) if code != 303 else (code, headers["set-cookie"].partition(";")[0])


def csrf_of(page):
    return re.search(r'name="csrf" value="([0-9a-f]{64})"', page)[1]


@pytest.fixture
def serve():
    """Return a function that serves a queue."""
    served = []

    def _serve(queue, **given):
        served.append(Served(queue, **given))
        return served[-1]

    yield _serve
    for desk in served:
        desk.close()


@pytest.fixture
def person(browser):
    """Return a function that signs somebody in at a desk, in a browser of their own."""

    def _person(desk, name):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.heard = []
        for event in ("request", "console", "dialog", "pageerror", "popup"):
            page.on(event, lambda what, event=event: page.heard.append((event, getattr(what, "url", str(what)))))
        page.goto(f"{desk.origin}/sign-in")
        page.fill("#who", name)
        page.press("#who", "Enter")
        page.wait_for_url(f"{desk.origin}/")
        return page

    return _person


@pytest.fixture
def waiting(tmp_path, url, serve):
    graph = critique_agent(tmp_path, url)
    run_id = begin_critique(graph)
    return serve(queue_of(url, graph)), run_id


def result_of(url, run_id):
    return sql_store(url).read(run_id).recording["result"]


def test_two_people_at_once(waiting, person, url):
    """Both look at the same question; the first one decides, the second one is told by whom, and nothing is redone."""
    desk, run_id = waiting
    ada, bob = person(desk, "ada"), person(desk, "bob")
    for page in (ada, bob):
        page.click(f"text={run_id}")
    ada.click("text=Approve")
    assert ada.locator("h1").inner_text() == "Decided"
    bob.click("text=Reject")
    assert bob.locator("h1").inner_text() == "Already decided"
    assert "already decided: approve by ada; it ended as approved_by_person" in bob.locator("main").inner_text()
    assert result_of(url, run_id)["outcome"] == "approved_by_person"
    bob.click("text=The whole run")
    assert "approved_by_person" in bob.content()
    ada.goto(desk.origin)
    assert "Nothing waits." in ada.locator("main").inner_text()


def test_a_text_is_edited_and_a_wrong_one_is_explained(waiting, person, url):
    """What the guard refuses stands on the page with its reason, and the run still waits; the next text passes."""
    desk, run_id = waiting
    page = person(desk, "ada")
    page.goto(f"{desk.origin}/runs/{run_id}")
    assert page.input_value("textarea") == DRAFT
    page.fill("textarea", f"{DRAFT} 31 servers failed.")
    page.click("text=Send this instead")
    assert "patch_violation:no_new_facts" in page.locator(".told").first.inner_text()
    page.fill("textarea", REVISED)
    page.click("text=Send this instead")
    assert page.locator("h1").inner_text() == "Decided"
    assert result_of(url, run_id)["answer"] == REVISED


def test_a_stale_tab_decides_nothing(tmp_path, url, serve, person):
    """A question that changed since it was looked at is asked anew: the old page says so, with a way to the new one."""
    run_id = begin_critique(critique_agent(tmp_path, url))
    other = critique_agent(tmp_path, url, policy={"escalation": "wait", "known_regions": ["Nordland"]})
    desk = serve(queue_of(url, other))
    page, tab = person(desk, "ada"), person(desk, "bob")
    for each in (page, tab):
        each.goto(f"{desk.origin}/runs/{run_id}")
    page.click("text=Approve")
    assert "settings changed" in page.locator("main").inner_text()
    tab.click("text=Approve")
    assert tab.locator("h1").inner_text() == "It asks something else by now"
    assert queue_of(url).read(run_id).run_id == run_id
    page.click("text=Approve")
    assert page.locator("h1").inner_text() == "Decided"


def hostile_run(tmp_path, url):
    args = {"to": f"{HOSTILE} {'long' * 300}", "amount": 900}
    steps = (calls(READ), calls({"tool": "send_money", "args": args}))
    graph = tool_agent(tmp_path, url, office=Office({"id": "b7", "text": HOSTILE}), steps=steps)
    return graph, begin_payment(graph), args


def test_markup_of_a_model_stays_text(tmp_path, url, serve, person):
    """Scripts, images and links that models wrote are shown as written: nothing runs, nothing is asked for, no link."""
    graph, run_id, args = hostile_run(tmp_path, url)
    desk = serve(queue_of(url, graph))
    page = person(desk, "<b>ada</b>")
    for path in ("/", f"/runs/{run_id}", f"/runs/{run_id}/report"):
        page.goto(desk.origin + path)
        assert page.title() != "owned"
        assert page.locator("script, img, a[href^='javascript'], a[href*='evil']").count() == 0
        assert [what for what in page.heard if what[0] != "request"] == []
        assert all(what[1].startswith(desk.origin) for what in page.heard)
    page.goto(f"{desk.origin}/runs/{run_id}")
    assert HOSTILE in page.locator("main").inner_text()
    assert json.loads(page.input_value("textarea")) == args
    assert "<b>ada</b>" in page.locator("header").inner_text()


def test_the_keyboard_suffices(waiting, person, url):
    """Tab leads to every control in order, each shows that it has the focus, and Enter decides."""
    desk, run_id = waiting
    page = person(desk, "ada")

    def press_tab():
        page.keyboard.press("Tab")
        return page.evaluate("document.activeElement.textContent || document.activeElement.name")

    assert any(run_id in press_tab() for _ in range(4))
    page.keyboard.press("Enter")
    page.wait_for_url(f"{desk.origin}/runs/{run_id}")
    for name in ("What waits", "Sign out", "The whole run", "comment", "Approve", "Reject"):
        assert press_tab() == name
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Decided")
    assert result_of(url, run_id)["stop_reason"] == "review_rejected"


def test_arguments_of_a_call_are_edited_as_json(tmp_path, url, serve, person):
    graph = tool_agent(tmp_path, url)
    run_id = begin_payment(graph)
    desk = serve(queue_of(url, graph))
    page = person(desk, "ada")
    for args, said in (("{not json", "JSON is required"), ('{"to": "Mallory", "amount": 3}', "Decided")):
        page.goto(f"{desk.origin}/runs/{run_id}")
        page.fill("textarea", args)
        page.click("text=Send this instead")
        assert said in page.locator("main").inner_text()
    assert result_of(url, run_id)["tool_calls"][1]["args"] == {"to": "Mallory", "amount": 3}


def test_reviewers_and_four_eyes_hold_at_the_desk(tmp_path, url, serve, person):
    """Who is signed in is the caller whom the reviewers are asked about; who may not decide reads why."""

    def staff(answer, caller):
        return None if caller.user == "guest" else Identity(caller.user)

    policy = {"escalation": "wait", "four_eyes": True}
    graph = critique_agent(tmp_path, url, policy=policy, reviewers=staff)
    run_id = begin_critique(graph, context={"caller": {"user": "ada"}})
    desk = serve(queue_of(url, graph), tokens=TOKENS)
    ada, bob = person(desk, "a-long-token-of-ada"), person(desk, "a-long-token-of-bob")
    ada.goto(f"{desk.origin}/runs/{run_id}")
    ada.click("text=Approve")
    assert "four_eyes: somebody else than who began the run" in ada.locator("main").inner_text()
    bob.goto(f"{desk.origin}/runs/{run_id}")
    bob.click("text=Approve")
    assert bob.locator("h1").inner_text() == "Decided"
    [line] = [line for line in result_of(url, run_id)["timeline"] if line["kind"] == "review"]
    assert line["reviewer"]["name"] == "bob"


def test_nobody_decides_from_elsewhere(waiting):
    """Another host, another origin, none, a form without its token or with another's: refused, and the run waits on."""
    desk, run_id = waiting
    _, cookie = desk.sign_in()
    _, _, page = desk.ask("GET", f"/runs/{run_id}", Cookie=cookie)
    good = {"csrf": csrf_of(page), "hash": re.search(r'name="hash" value="(\w+)"', page)[1], "decision": "approve"}
    _, other = desk.sign_in(name="other")
    theirs = csrf_of(desk.ask("GET", "/", Cookie=other)[2])
    path, origin = f"/runs/{run_id}", desk.origin
    attacks = {
        421: [
            {"host": "evil.test", "Origin": "http://evil.test"},
            {"host": f"evil.test:{desk.port}", "Origin": origin},
            {"host": f"localhost:{desk.port}", "Origin": f"http://localhost:{desk.port}"},
        ],
        403: [
            *({"Origin": said} for said in ("http://evil.test", "null", f"{origin}.evil.test")),
            {},
            {"Origin": origin, "body": {**good, "csrf": ""}},
            {"Origin": origin, "body": {**good, "csrf": theirs}},
            {"Origin": origin, "body": b"x" * (2**21 + 1)},
        ],
        415: [{"Origin": origin, "Content_Type": "text/plain"}],
        405: [{"method": "PUT", "Origin": origin}],
        303: [{"Origin": origin, "Cookie": "desk=1.6d.0000"}, {"Origin": origin, "Cookie": ""}],
    }
    for code, several in attacks.items():
        for given in several:
            sent = {"Cookie": cookie, "body": good, **given}
            assert desk.ask(sent.pop("method", "POST"), path, **sent)[0] == code, given
    assert desk.ask("GET", path, Cookie=cookie, host="evil.test")[0] == 421
    assert desk.ask("GET", path)[1]["location"] == "/sign-in"
    assert "Approve" in desk.ask("GET", path, Cookie=cookie)[2]
    assert desk.ask("POST", path, Cookie=cookie, Origin=origin, body=good)[0] == 303
    assert "Decided" in desk.ask("GET", path, Cookie=cookie)[2]


def test_pages_are_kept_and_framed_by_nobody(waiting):
    """No cache, no frame, no sniffing, no script; the cookie is for this site and no script alone."""
    desk, _ = waiting
    code, headers, page = desk.ask("GET", "/sign-in")
    assert (code, headers["x-frame-options"], headers["cache-control"]) == (200, "DENY", "no-store")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=strict" in headers["set-cookie"]
    assert "default-src &#x27;none&#x27;" in page
    assert "script" not in page.replace("description", "")


def test_with_tokens_nobody_signs_in_by_a_name(waiting, tmp_path, url, serve):
    """A token says who it is; a wrong one, a name or none is nobody, and a short one is refused at the start."""
    graph = critique_agent(tmp_path, url)
    desk = serve(queue_of(url, graph), tokens=TOKENS)
    for form in ({"name": "ada"}, {"token": "a-long-token-of-eve"}, {"token": ""}):
        assert desk.sign_in(**form) == (403, None)
    code, cookie = desk.sign_in(token="a-long-token-of-bob")
    assert code == 303
    assert ">bob<" in desk.ask("GET", "/", Cookie=cookie)[2]
    with pytest.raises(ConfigurationError, match="16 characters"):
        Desk(queue_of(url, graph), origins=["http://127.0.0.1:1"], tokens={"short": "ada"})
    with pytest.raises(ConfigurationError, match="origin"):
        Desk(queue_of(url, graph), origins=["http://127.0.0.1:1/path"])


def test_a_run_that_somebody_resumed_elsewhere_is_not_decided_again(waiting, tmp_path, url):
    desk, run_id = waiting
    asked = queue_of(url).read(run_id).question
    critique_agent(tmp_path, url).invoke(Command(resume={"hash": asked["hash"], "decision": "approve"}), THREAD)
    _, cookie = desk.sign_in()
    code, _, page = desk.ask("GET", f"/runs/{run_id}", Cookie=cookie)
    assert (code, "already decided: approve by somebody" in page) == (200, True)


def test_the_command_serves_the_desk(url, tmp_path):
    """`guardgraph review desk` listens on the loopback and answers; it ends when it is told to."""
    sql_store(url).open()
    port = find_free_port()
    given = ["--graph", "tools", "--store", url, "--checkpoints", f"sqlite:///{tmp_path}/t.db", "--port", str(port)]
    command = [sys.executable, "-m", "guardgraph", "review", "desk", *given]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().strip() == f"the desk: http://127.0.0.1:{port}/"
            for _ in range(200):
                try:
                    reply = httpx.get(f"http://127.0.0.1:{port}/sign-in", trust_env=False, timeout=30)
                    break
                except httpx.ConnectError:
                    time.sleep(0.05)
            assert (reply.status_code, "Your name" in reply.text) == (200, True)
        finally:
            process.terminate()
            process.communicate(timeout=30)
