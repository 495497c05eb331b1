"""The pages of the desk: who is there, what waits, one question with its forms. No script, nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

from guardgraph.desk.queue import WaitingRun
from guardgraph.plain.json import excerpt_value
from guardgraph.reporting.document import Child, Html, join_html, make_tag, render_footer, render_html_document
from guardgraph.reporting.values import render_facts, render_value

STYLE = """
header.desk { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; margin-top: 1.25rem; }
header.desk form { margin-left: auto; display: flex; gap: .75rem; align-items: baseline; }
.waits { list-style: none; padding: 0; display: grid; gap: .75rem; }
.waits h2 { margin: 0 0 .5rem; }
.card + p { margin-top: .75rem; }
form.decide { display: grid; gap: .75rem; }
.choices { display: flex; flex-wrap: wrap; gap: .75rem; }
label { display: grid; gap: .3rem; font-weight: 600; }
input:not([type=hidden]), textarea { font: inherit; color: var(--ink); background: var(--paper); width: 100%;
  border: 1px solid var(--muted); border-radius: 6px; padding: .55rem .7rem; }
textarea { font-weight: 400; min-height: 11rem; font-family: var(--mono); font-size: .9em; resize: vertical; }
button { font: inherit; font-weight: 600; padding: .6rem 1.1rem; border-radius: 6px; cursor: pointer;
  color: var(--ink); background: var(--paper); border: 1px solid var(--muted); min-height: 2.75rem;
  white-space: nowrap; }
button.yes { background: var(--ok); color: var(--ok_ink); border-color: var(--ok-line); }
button.no { background: var(--stop); color: var(--stop_ink); border-color: var(--stopped); }
a:focus-visible, button:focus-visible, input:focus-visible, textarea:focus-visible, summary:focus-visible {
  outline: 3px solid var(--act-line); outline-offset: 2px; }
.told { border-left: 4px solid var(--review-line); }
"""

LISTED = 160
"""Characters of what is asked, in the list of what waits."""

CSRF = "csrf"
"""The field of every form that only a page of this desk can fill."""


def render_desk_page(title: str, who: str | None, csrf: str | None, *content: Child) -> str:
    """Return a page of the desk.

    Args:
        title: of the page.
        who: the person who is signed in.
        csrf: what their forms carry.
        content: below the head.
    """
    out = None
    if who is not None and csrf is not None:
        out = make_tag(
            "form",
            make_tag("span", who),
            _hide(CSRF, csrf),
            make_tag("button", "Sign out", type="submit"),
            method="post",
            action="/sign-out",
        )
    head = make_tag("header", make_tag("a", "What waits", href="/"), out, class_="desk")
    body = make_tag("main", make_tag("h1", title), *content)
    style = make_tag("style", Html(STYLE))
    return render_html_document(title, style, head, body, render_footer("the store of runs"), has_forms=True)


def render_sign_in(csrf: str, *, with_token: bool, problem: str = "") -> str:
    """Return the page on which a person says who they are: by their token, or, on this machine alone, by their name."""
    label, name, kind = ("Your token", "token", "password") if with_token else ("Your name", "name", "text")
    field = make_tag(
        "input", id="who", name=name, type=kind, required="", autofocus="", maxlength="200", autocomplete="off"
    )
    form = make_tag(
        "form",
        _hide(CSRF, csrf),
        make_tag("label", label, field, for_="who"),
        make_tag("div", make_tag("button", "Sign in", type="submit", class_="yes"), class_="choices"),
        method="post",
        action="/sign-in",
        class_="decide card",
    )
    return render_desk_page("Sign in", None, None, _tell(problem), form)


def render_waiting_list(runs: list[WaitingRun], who: str, csrf: str) -> str:
    """Return the page of what waits."""
    items = [make_tag("li", _render_list_item(run), class_="card") for run in runs]
    shown = make_tag("ul", items, class_="waits") if items else make_tag("p", "Nothing waits.", class_="lead")
    return render_desk_page("What waits", who, csrf, shown)


def _render_list_item(run: WaitingRun) -> Html:
    asked = run.question
    facts: list[tuple[str, Child]] = [
        ("asks", excerpt_value(asked.get("shown"), LISTED)),
        ("waits since", _write_moment(run.at)),
        ("at", str(asked.get("node", "its own code"))),
    ]
    facts += [("begun by", run.starter)] if run.starter is not None else []
    facts += [("stands until", _write_moment(str(asked["expires_at"])))] if "expires_at" in asked else []
    facts += [("deciding", str(run.deciding.get("by")))] if run.deciding is not None else []
    link = make_tag("a", f"{run.begun['graph']}: {run.run_id}", href=name_run_address(run.run_id))
    return join_html(make_tag("h2", link), render_facts(facts))


def render_question_page(run: WaitingRun, who: str, csrf: str) -> str:
    """Return the page of one question, with the forms to decide about it."""
    asked = run.question
    told = [_tell(str(asked["problem"]))] if "problem" in asked else []
    if "changed" in asked:
        told.append(_tell(f"It is not what was asked before: {', '.join(map(str, asked['changed']))} changed."))
    if run.deciding is not None:
        told.append(_tell(f"{run.deciding.get('by')} is deciding: {run.deciding.get('decision')}."))
    forms = list(_render_forms(run, csrf)) if run.is_review and run.deciding is None else []
    more = make_tag("p", make_tag("a", "The whole run", href=f"{name_run_address(run.run_id)}/report"))
    shown = make_tag("div", render_value(asked.get("shown")), class_="card")
    facts = make_tag("div", render_facts(list(_list_facts(run))), class_="card")
    parts = (*told, make_tag("h2", "Shown to you"), shown, make_tag("h2", "Known of it"), facts, more, *forms)
    return render_desk_page(f"{run.begun['graph']} asks", who, csrf, *parts)


def _list_facts(run: WaitingRun) -> Iterator[tuple[str, Child]]:
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


def _render_forms(run: WaitingRun, csrf: str) -> Iterator[Html]:
    hidden = (_hide(CSRF, csrf), _hide("hash", str(run.question.get("hash"))))
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
    return render_desk_page(title, who, csrf, _tell(said), *more)


def name_run_address(run_id: str) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run_id, safe='')}"


def _write_moment(at: str) -> str:
    """Return a moment of a recording, which is in UTC, as a person reads it."""
    return f"{at[:19].replace('T', ' ')} UTC"


def _tell(said: str) -> Child:
    return make_tag("p", said, class_="card told", role="status") if said else None


def _hide(name: str, value: str) -> Html:
    return make_tag("input", type="hidden", name=name, value=value)
