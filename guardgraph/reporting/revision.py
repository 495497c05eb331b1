"""What a revision changed: the audit's measures, and the two texts side by side with every word that differs marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from guardgraph.reporting.elements import Child, Html, tag
from guardgraph.reporting.reading import Reading
from guardgraph.reporting.values import facts, named, passage
from guardgraph.state.run import AUDITED

__all__ = ["marked", "revision"]

COMPARED = 1000
"""Words up to which two texts are compared word by word: a second, however they repeat themselves."""

WORD = re.compile(r"\s*\S+|\s+")


def revision(reading: Reading) -> Html | None:
    """Return the change that a run made to its draft, None for a run without an audit of it."""
    whole = reading.run.get("audit")
    audit = {key: item for key, item in whole.items() if key not in AUDITED} if isinstance(whole, dict) else {}
    if not audit:
        return None
    measures = {key: item for key, item in audit.items() if key != "diff_excerpt"}
    lines = audit.get("diff_excerpt")
    shown = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return tag(
        "div",
        _texts(reading),
        tag("ul", map(_line, lines), class_="diff") if shown and lines else None,
        facts(((key, named(item)) for key, item in (measures if shown else audit).items()), "facts inline"),
        class_="card",
    )


def _line(line: str) -> Html:
    return tag("li", tag("bdi", line), class_="gone" if line.startswith("-") else "come")


def _texts(reading: Reading) -> Child:
    drafts = [step["draft"] for step in reading.steps("history") if isinstance(step.get("draft"), str)]
    answer = reading.run.get("answer")
    if not drafts or not isinstance(answer, str) or drafts[-1] == answer:
        return None
    before, after = marked(drafts[-1], answer)
    return tag("div", _side("Draft", before), _side("Final text", after), class_="sides")


def _side(name: str, text: Child) -> Html:
    return tag("div", tag("h3", name), text)


def marked(before: str, after: str) -> tuple[Html, Html]:
    """Return two texts with what only one of them has in ``del`` and ``ins``; very long ones come unmarked."""
    old, new = WORD.findall(before), WORD.findall(after)
    if max(len(old), len(new)) > COMPARED:
        return passage(before), passage(after)
    went: list[Child] = []
    came: list[Child] = []
    for how, start, end, first, last in SequenceMatcher(None, old, new).get_opcodes():
        gone, come = "".join(old[start:end]), "".join(new[first:last])
        went.append(gone if how == "equal" or not gone else tag("del", gone))
        came.append(come if how == "equal" or not come else tag("ins", come))
    return tag("div", went, class_="text", dir="auto"), tag("div", came, class_="text", dir="auto")
