"""The desk: a small web application over the queue, for people who decide.

Nothing is trusted of a request but what this desk signed: the host must be one of its own (no name of a stranger that
was led here by DNS), a form must come from its own pages (origin and a token of the session), and whoever decides is
signed in.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import resources
from typing import Any, TypeAlias
from urllib.parse import parse_qs, quote, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from guardgraph.desk.queue import AlreadyDecided, AnotherQuestion, NoSuchRun, ReviewQueue, WaitingRun
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, InputError, StoreError
from guardgraph.plain.json import JsonValue, NotJson, excerpt_value, find_json_problem, parse_json
from guardgraph.reporting.document import Child, Html, make_tag, render_footer, render_html_document
from guardgraph.reporting.page import report
from guardgraph.reporting.values import render_facts, render_value

LISTED = 160  # characters of what is asked, in the list of what waits

CSRF = "csrf"  # the field of every form that only a page of this desk can fill


def render_desk_page(title: str, who: str | None, csrf: str | None, *content: Child) -> str:
    """Return a page of the desk for a person who is signed in, whose forms carry a token, or for nobody."""
    out = None
    if who is not None and csrf is not None:
        leave = make_tag("button", "Sign out", type="submit")
        out = make_tag("form", make_tag("span", who), _hide_field(CSRF, csrf), leave, method="post", action="/sign-out")
    head = make_tag("header", make_tag("a", "What waits", href="/"), out, class_="desk")
    body = make_tag("main", make_tag("h1", title), *content)
    sheet = (resources.files("guardgraph.desk") / "desk.css").read_text(encoding="utf-8")
    style = make_tag("style", Html(f"\n{sheet}"))
    return render_html_document(title, style, head, body, render_footer("the store of runs"), has_forms=True)


def render_sign_in(csrf: str, *, with_token: bool, problem: str = "") -> str:
    """Return the page on which a person says who they are: by their token, or, on this machine alone, by their name."""
    label, name, kind = ("Your token", "token", "password") if with_token else ("Your name", "name", "text")
    how = {"required": "", "autofocus": "", "maxlength": "200", "autocomplete": "off"}
    field = make_tag("label", label, make_tag("input", id="who", name=name, type=kind, **how), for_="who")
    yes = make_tag("div", make_tag("button", "Sign in", type="submit", class_="yes"), class_="choices")
    form = make_tag("form", _hide_field(CSRF, csrf), field, yes, method="post", action="/sign-in", class_="decide card")
    return render_desk_page("Sign in", None, None, _make_notice(problem), form)


def render_waiting_list(runs: list[WaitingRun], who: str, csrf: str) -> str:
    """Return the page of what waits."""
    items = []
    for run in runs:
        asked = run.question
        facts: list[tuple[str, Child]] = [("asks", excerpt_value(asked.get("shown"), LISTED))]
        facts += [("waits since", _write_moment(run.at)), ("at", str(asked.get("node", "its own code")))]
        facts += [("begun by", run.starter)] if run.starter is not None else []
        facts += [("stands until", _write_moment(str(asked["expires_at"])))] if "expires_at" in asked else []
        facts += [("deciding", str(run.deciding.get("by")))] if run.deciding is not None else []
        link = make_tag("a", f"{run.begun['graph']}: {run.run_id}", href=name_run_address(run.run_id))
        items.append(make_tag("li", make_tag("h2", link), render_facts(facts), class_="card"))
    shown = make_tag("ul", items, class_="waits") if items else make_tag("p", "Nothing waits.", class_="lead")
    return render_desk_page("What waits", who, csrf, shown)


def render_question_page(run: WaitingRun, who: str, csrf: str) -> str:
    """Return the page of one question, with the forms to decide about it."""
    asked = run.question
    told = [_make_notice(str(asked["problem"]))] if "problem" in asked else []
    if "changed" in asked:
        told.append(_make_notice(f"It is not what was asked before: {', '.join(map(str, asked['changed']))} changed."))
    if run.deciding is not None:
        told.append(_make_notice(f"{run.deciding.get('by')} is deciding: {run.deciding.get('decision')}."))
    forms = list(_render_decision_forms(run, csrf)) if run.is_review and run.deciding is None else []
    more = make_tag("p", make_tag("a", "The whole run", href=f"{name_run_address(run.run_id)}/report"))
    shown = make_tag("div", render_value(asked.get("shown")), class_="card")
    facts = make_tag("div", render_facts(list(_list_question_facts(run))), class_="card")
    parts = (*told, make_tag("h2", "Shown to you"), shown, make_tag("h2", "Known of it"), facts, more, *forms)
    return render_desk_page(f"{run.begun['graph']} asks", who, csrf, *parts)


def _list_question_facts(run: WaitingRun) -> Iterator[tuple[str, Child]]:
    asked = run.question
    yield "run", make_tag("code", run.run_id)
    yield "hash", make_tag("code", str(asked.get("hash", "none")))
    yield "waits since", _write_moment(run.at)
    if "expires_at" in asked:
        yield "stands until", _write_moment(str(asked["expires_at"]))
    if run.starter is not None:
        yield "begun by", run.starter
    if run.rules:
        yield "may decide", render_value(run.rules)


def _render_decision_forms(run: WaitingRun, csrf: str) -> Iterator[Html]:
    hidden = (_hide_field(CSRF, csrf), _hide_field("hash", str(run.question.get("hash"))))
    action = name_run_address(run.run_id)
    comment = make_tag("label", "Comment, kept with the decision", make_tag("input", name="comment", maxlength="1000"))
    yes = make_tag("button", "Approve", type="submit", name="decision", value="approve", class_="yes")
    no = make_tag("button", "Reject", type="submit", name="decision", value="reject", class_="no")
    choices = make_tag("div", yes, no, class_="choices")
    yield make_tag("h2", "Decide")
    yield make_tag("form", *hidden, comment, choices, method="post", action=action, class_="decide card")
    if run.edits:
        value = run.editable
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        area = make_tag("textarea", "\n", text, name="edited", spellcheck="false")
        label = make_tag("label", f"Instead of {'.'.join(run.edits)}", area)
        button = make_tag("button", "Send this instead", type="submit", name="decision", value="edit")
        edit = make_tag("div", button, class_="choices")
        yield make_tag("h2", "Edit")
        yield make_tag("form", *hidden, label, edit, method="post", action=action, class_="decide card")


def render_message(title: str, said: str, who: str | None, csrf: str | None, run_id: str | None = None) -> str:
    """Return a page that says what came of something."""
    more: list[Child] = []
    if run_id is not None:
        more = [make_tag("p", make_tag("a", "The whole run", href=f"{name_run_address(run_id)}/report"))]
    return render_desk_page(title, who, csrf, _make_notice(said), *more)


def name_run_address(run_id: str) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run_id, safe='')}"


def _write_moment(at: str) -> str:
    """Return a moment of a recording, which is in UTC, as a person reads it."""
    return f"{at[:19].replace('T', ' ')} UTC"


def _make_notice(said: str) -> Child:
    return make_tag("p", said, class_="card told", role="status") if said else None


def _hide_field(name: str, value: str) -> Html:
    return make_tag("input", type="hidden", name=name, value=value)


LONGEST_BODY = 2**21  # bytes of a form
SESSION_SECONDS = 12 * 3600
SHORTEST_TOKEN = 16  # characters of a token
SESSION, ANONYMOUS = "desk", "desk_visitor"  # cookies: of who is signed in, and of who is about to be

Answer: TypeAlias = Callable[[Request, str], Awaitable[Response]]  # answers a request of a person who is signed in

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",  # the rest stands in each page, with the hashes of its styles
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_TITLES = {
    AlreadyDecided: ("Already decided", 409),
    AnotherQuestion: ("It asks something else by now", 409),
    StoreError: ("The store cannot be reached", 503),
    NoSuchRun: ("No such run", 404),
}


class Desk:
    """What a desk serves.

    Args:
        queue: of runs that wait, with the graph that goes on with them.
        origins: under which browsers reach it, such as ``http://127.0.0.1:8765``.
        tokens: people by their tokens; None where everybody who reaches it may say a name, which is for one machine.
    """

    def __init__(self, queue: ReviewQueue, *, origins: Sequence[str], tokens: Mapping[str, str] | None = None) -> None:
        if (shortest := min(map(len, tokens or {}), default=SHORTEST_TOKEN)) < SHORTEST_TOKEN:
            allowed = f"at least {SHORTEST_TOKEN} characters each"
            raise ConfigurationError(f"tokens: {allowed} are required; given: {shortest}")
        self.queue = queue
        self._origins = {normalise_origin(origin) for origin in origins}
        self._hosts = {urlsplit(origin).netloc.lower() for origin in self._origins}
        self._is_secure = all(origin.startswith("https://") for origin in self._origins)
        self._tokens = None if tokens is None else {_hash_desk_token(token): name for token, name in tokens.items()}
        self._secret = secrets.token_bytes(32)  # of this process: who restarts it signs everybody out

    def make_app(self) -> Any:
        """Return it as an ASGI application."""
        return Starlette(
            routes=[
                Route("/", self._admit_signed_in(self.show_waiting_list)),
                Route("/sign-in", self.show_sign_in),
                Route("/sign-in", self.sign_in, methods=["POST"]),
                Route("/sign-out", self._admit_signed_in(self.sign_out), methods=["POST"]),
                Route("/runs/{run_id}", self._admit_signed_in(self.show_run)),
                Route("/runs/{run_id}", self._admit_signed_in(self.receive_decision), methods=["POST"]),
                Route("/runs/{run_id}/report", self._admit_signed_in(self.show_run_report)),
            ]
        )

    async def show_sign_in(self, request: Request) -> Response:
        """Ask who is there."""
        if (refused := self._refuse_foreign_request(request)) is not None:
            return refused
        visitor = request.cookies.get(ANONYMOUS) or secrets.token_urlsafe(16)
        page = render_sign_in(self._make_csrf(visitor), with_token=self._tokens is not None)
        return self._set_cookie(_make_page_response(page), ANONYMOUS, visitor)

    async def sign_in(self, request: Request) -> Response:
        """Sign a person in."""
        if (refused := self._refuse_foreign_request(request)) is not None:
            return refused
        form = await _read_form(request)
        visitor = request.cookies.get(ANONYMOUS, "")
        if not visitor or not self._is_csrf(form, visitor):
            return _refuse_with(403, "The form is not one of this desk, or it is too old. Open the desk again.")
        who, by_token = form.get("name", "").strip(), self._tokens is not None
        is_name = 0 < len(who) <= 200 and find_json_problem(who) is None and who.isprintable()
        if self._tokens is not None:
            who = self._tokens.get(_hash_desk_token(form.get("token", "")), "")
        if not who or not (by_token or is_name):
            page = render_sign_in(self._make_csrf(visitor), with_token=by_token, problem="Nobody is known by that.")
            return _make_page_response(page, 403)
        session = self._sign_session(f"{int(time.time())}.{who.encode().hex()}")
        return self._set_cookie(RedirectResponse("/", 303, HEADERS), SESSION, session)

    async def sign_out(self, request: Request, who: str) -> Response:
        """Forget who is there."""
        gone = RedirectResponse("/sign-in", 303, HEADERS)
        gone.delete_cookie(SESSION)
        return gone

    async def show_waiting_list(self, request: Request, who: str) -> Response:
        """Show what waits."""
        waiting = await run_in_threadpool(self.queue.list_waiting)
        return _make_page_response(render_waiting_list(waiting, who, self._make_csrf(request.cookies[SESSION])))

    async def show_run(self, request: Request, who: str) -> Response:
        """Show what a run asks."""
        run_id, csrf = request.path_params["run_id"], self._make_csrf(request.cookies[SESSION])
        try:
            waiting = await run_in_threadpool(self.queue.read, run_id)
        except AlreadyDecided as error:
            return _make_page_response(render_message("Decided", str(error), who, csrf, run_id))
        return _make_page_response(render_question_page(waiting, who, csrf))

    async def show_run_report(self, request: Request, who: str) -> Response:
        """Show the page of a run, as far as it went."""
        return _make_page_response(await run_in_threadpool(self._render_report, request.path_params["run_id"]))

    def _render_report(self, run_id: str) -> str:
        try:
            waiting = self.queue.read(run_id)
        except AlreadyDecided:
            return report(self.queue.store.read(run_id), self.queue.graph).html
        return report(waiting.shown, self.queue.graph, asked=waiting.begun["input"]).html

    async def receive_decision(self, request: Request, who: str) -> Response:
        """Decide, and go on with the run."""
        run_id = request.path_params["run_id"]
        await run_in_threadpool(self._carry_out_decision, run_id, request.state.form, who)
        return RedirectResponse(name_run_address(run_id), 303, HEADERS)

    def _carry_out_decision(self, run_id: str, form: Mapping[str, str], who: str) -> None:
        decision, hash = form.get("decision", ""), form.get("hash", "")
        if decision not in ("approve", "edit", "reject"):
            raise InputError(f"decision: approve, edit or reject is required; given: {decision!r:.80}")
        waiting = self.queue.read(run_id)
        edited: JsonValue = form.get("edited", "").replace("\r\n", "\n")
        if decision == "edit" and not isinstance(waiting.editable, str):
            try:
                edited = parse_json(str(edited), keys_once=True)
            except NotJson as error:
                raise InputError(f"edited: JSON is required, such as was shown: {error}") from None
        self.queue.decide(run_id, decision, by=who, hash=hash, edited=edited, comment=form.get("comment", "").strip())

    def _explain_error(self, error: GuardgraphError, request: Request, who: str) -> Response:
        """Say what went wrong: another one was quicker, the question is another one, or there is no such run."""
        known = [said for kind, said in _TITLES.items() if isinstance(error, kind)]
        title, code = known[0] if known else ("It cannot be done", 400)
        run_id = request.path_params.get("run_id") if code == 409 else None
        csrf = self._make_csrf(request.cookies[SESSION])
        return _make_page_response(render_message(title, str(error), who, csrf, run_id), code)

    def _refuse_foreign_request(self, request: Request) -> Response | None:
        """Refuse what comes by another name, or from a page of somebody else."""
        if request.headers.get("host", "").lower() not in self._hosts:
            return _refuse_with(421, "This desk is not reached by that name.")
        if request.method != "POST":
            return None
        origin = request.headers.get("origin")
        if origin is None or origin.lower() not in self._origins:
            return _refuse_with(403, "The form is not one of this desk.")
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
            return _refuse_with(415, "A form is required.")
        return None

    def _admit_signed_in(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers those who are signed in, of forms those that came from this desk."""

        async def answer_admitted(request: Request) -> Response:
            if (refused := self._refuse_foreign_request(request)) is not None:
                return refused
            if (who := self._read_session(request.cookies.get(SESSION, ""))) is None:
                return RedirectResponse("/sign-in", 303, HEADERS)
            if request.method == "POST":
                request.state.form = await _read_form(request)
                if not self._is_csrf(request.state.form, request.cookies[SESSION]):
                    return _refuse_with(403, "The form is not one of this desk, or it is too old. Open the run again.")
            try:
                return await answer(request, who)
            except GuardgraphError as error:
                return self._explain_error(error, request, who)

        return answer_admitted

    def _sign_session(self, text: str) -> str:
        return f"{text}.{hmac.new(self._secret, text.encode(), sha256).hexdigest()}"

    def _read_session(self, cookie: str) -> str | None:
        text, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(self._sign_session(text).rpartition(".")[2].encode(), signature.encode()):
            return None
        at, _, who = text.partition(".")
        return bytes.fromhex(who).decode() if time.time() - int(at) < SESSION_SECONDS else None

    def _make_csrf(self, session: str) -> str:
        return hmac.new(self._secret, b"csrf:" + session.encode(), sha256).hexdigest()

    def _is_csrf(self, form: Mapping[str, str], session: str) -> bool:
        return hmac.compare_digest(form.get(CSRF, "").encode(), self._make_csrf(session).encode())

    def _set_cookie(self, response: Response, name: str, value: str) -> Response:
        response.set_cookie(name, value, httponly=True, samesite="strict", secure=self._is_secure, path="/")
        return response


def normalise_origin(origin: str) -> str:
    """Return an origin as browsers send it."""
    try:
        parts = urlsplit(origin)
    except ValueError:  # brackets that hold no address
        parts = urlsplit("")
    is_more = bool(parts.path.strip("/") or parts.query or parts.username)
    if parts.scheme not in ("http", "https") or not parts.netloc or is_more:
        raise ConfigurationError(f"origin: http(s)://HOST[:PORT] is required; given: {origin!r:.80}")
    default = {"http": ":80", "https": ":443"}[parts.scheme]  # no browser names it
    return f"{parts.scheme}://{parts.netloc.removesuffix(default)}".lower()


def _hash_desk_token(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _make_page_response(page: str, code: int = 200) -> Response:
    return HTMLResponse(page, code, HEADERS)


def _refuse_with(code: int, said: str) -> Response:
    return PlainTextResponse(said, code, HEADERS)


async def _read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form, each once; nothing of one that is too large."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_BODY:
                return {}
    except ClientDisconnect:
        return {}
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}
