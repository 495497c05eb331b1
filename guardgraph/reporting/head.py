"""The head of a page: how the run ended and why, or what it waits for, and what there is to know of it as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.plain.json import JsonObject
from guardgraph.reporting.decisions import refused, stopping
from guardgraph.reporting.document import Child, Html, tag
from guardgraph.reporting.reading import Entry, Reading
from guardgraph.reporting.values import duration, facts, name, named, value

__all__ = ["head", "kind_of_run", "title", "waiting"]


def waiting(reading: Reading) -> Iterator[tuple[str, Html]]:
    """Yield sections with their titles, for a run that waits."""
    asked = reading.waiting_for
    if asked is None:
        return
    yield "Shown to the person", tag("div", value(asked.get("shown")), class_="card")
    yield "How to go on", tag("div", facts(_told(asked)), class_="card")


def _told(asked: JsonObject) -> Iterator[tuple[str, Child]]:
    if "problem" in asked:
        yield "last answer", named(asked["problem"])
    yield "asked by", tag("code", named(asked.get("node")))
    yield "hash", tag("code", named(asked.get("hash")))
    answer = tag("code", '{"hash": …, "decision": "approve" | "reject"}')
    yield "answer", tag("p", "Resume the run on its thread with the hash and a decision: ", answer)


NAME_CHARS = 80
"""Characters of a name in a title."""
REFUSED = "Proposed and refused; none of it was used:"
BADGES = {"ok": ("ok", "✓ ok"), "stopped": ("stop", "✕ stopped"), "waiting": ("wait", "… waiting")}
"""How a run stands, as a class of the style sheet and as a person reads it."""


def kind_of_run(reading: Reading) -> str:
    """Return what was run, as a person says it."""
    if reading.shipped is not None:
        return f"{reading.shipped.title} run"
    called = reading.graph.name if reading.graph else reading.pattern
    return f"Run of {called[:NAME_CHARS]}" if called else "Run"


def title(reading: Reading) -> str:
    """Return what a browser shows of the page in its tabs."""
    return f"{kind_of_run(reading)}, {reading.taken.status}: {reading.taken.ending[:NAME_CHARS]}"


def head(reading: Reading) -> Html:
    """Return the head."""
    look, words = BADGES[reading.taken.status]
    asked = list(_asked(reading))
    return tag(
        "header",
        tag("p", kind_of_run(reading), class_="kicker"),
        tag("h1", tag("span", words, class_=f"badge {look}"), " ", name(reading.taken.ending)),
        _meaning(reading),
        _why(reading) if reading.taken.status == "stopped" else None,
        facts(asked, "facts asked") if asked else None,
        facts(_facts(reading), "facts told"),
        class_=f"ended {look}",
    )


def _meaning(reading: Reading) -> Child:
    if reading.waiting_for is not None:
        return tag("p", "The run waits until a person has decided on what it shows.", class_="lead")
    if reading.taken.ok:
        known = reading.shipped.explain_outcome(reading.run) if reading.shipped else None
        return tag("p", f"{known[0].upper()}{known[1:]}.", class_="lead") if known else None
    reason = reading.reason
    if reason is None:
        return None
    return [
        tag("p", reason.meaning, class_="lead"),
        tag("p", tag("strong", "What to do: "), reason.advice, " ", tag("a", "See it in the run", href="#stop")),
    ]


def _why(reading: Reading) -> Html:
    """Return who stopped the run, the evidence, and what was refused with the words marked that were the reason."""
    guard, asked = stopping(reading)
    proposal = refused(reading)
    said_twice = asked.told["proposal"] if proposal and asked else None
    evidence = {key: item for key, item in reading.content.items() if said_twice is None or item != said_twice}
    return tag(
        "div",
        _stopped_by(guard) if guard else None,
        facts((key, value(item)) for key, item in evidence.items()) if evidence else None,
        tag("div", tag("p", REFUSED, class_="label"), proposal, class_="refused") if proposal else None,
        class_="why",
    )


def _stopped_by(guard: Entry) -> Html:
    where = f", in the phase {guard.phase}." if guard.phase else "."
    return tag("p", "Stopped by ", tag("span", name(guard.node), class_="node"), where)


def _asked(reading: Reading) -> Iterator[tuple[str, Child]]:
    if reading.asked is not None:
        yield "asked", value(reading.asked)
    elif (query := _query(reading)) is not None:
        yield "searched for", named(query)


def _facts(reading: Reading) -> Iterator[tuple[str, Child]]:
    run = reading.run
    for key in ("stop_reason", "phase", "outcome"):
        if key in run:
            yield key, tag("code", name(run[key]) if isinstance(run[key], str) else value(run[key]))
    if reading.waiting_for is None:  # which has no times yet
        yield "active time", duration(reading.active_ms)
    if proposers := _proposers(reading):
        yield "proposed by", named(", ".join(proposers))
    if tokens := _tokens(reading):
        yield "tokens", f"{tokens:,}"
    if "run_id" in run:
        yield "run_id", tag("code", named(run["run_id"]))
    if (place := reading.position) is not None:
        yield "in the chain", tag("code", f"{place.seq}:{place.hash}")
        yield "recorded at", place.at


def _query(reading: Reading) -> str | None:
    """Return what a run searched for: the question itself is not part of a result."""
    queries = (step.get("query") for step in reading.steps("trace"))
    return next((query for query in queries if isinstance(query, str) and query), None)


def _proposers(reading: Reading) -> list[str]:
    told = [entry.told for entry in reading.entries] + reading.steps("history")
    return list(dict.fromkeys(who for item in told if isinstance(who := item.get("proposer"), str)))


def _tokens(reading: Reading) -> int:
    usages = [entry.told.get("usage") for entry in reading.entries]
    totals = [usage.get("total_tokens") for usage in usages if isinstance(usage, dict)]
    return sum(total for total in totals if isinstance(total, int))
