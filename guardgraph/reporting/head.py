"""The head of a page: how the run ended and why, or what it waits for, and what there is to know of it as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.plain.json import JsonObject
from guardgraph.reporting.decisions import find_stopping_entries, render_refused_proposal
from guardgraph.reporting.document import Child, Html, make_tag
from guardgraph.reporting.reading import RunReading, TimelineRow
from guardgraph.reporting.values import format_duration, render_facts, render_inline, render_name, render_value


def render_waiting_sections(reading: RunReading) -> Iterator[tuple[str, Html]]:
    """Yield sections with their titles, for a run that waits."""
    asked = reading.pending_request
    if asked is None:
        return
    yield "Shown to the person", make_tag("div", render_value(asked.get("shown")), class_="card")
    yield "How to go on", make_tag("div", render_facts(_list_waiting_facts(asked)), class_="card")


def _list_waiting_facts(asked: JsonObject) -> Iterator[tuple[str, Child]]:
    if "problem" in asked:
        yield "last answer", render_inline(asked["problem"])
    yield "asked by", make_tag("code", render_inline(asked.get("node")))
    yield "hash", make_tag("code", render_inline(asked.get("hash")))
    for key, label in (
        ("changed", "not as before"),
        ("expires_at", "stands until"),
        ("licence", "licence of the call"),
        ("licences", "licences of the calls"),
    ):
        if key in asked:
            yield label, render_inline(asked[key])
    answer = make_tag("code", '{"hash": …, "decision": "approve" | "reject"}')
    yield "answer", make_tag("p", "Resume the run on its thread with the hash and a decision: ", answer)


NAME_CHARS = 80
"""Characters of a name in a title."""
REFUSED = "Proposed and refused; none of it was used:"
BADGES = {"ok": ("ok", "✓ ok"), "stopped": ("stop", "✕ stopped"), "waiting": ("wait", "… waiting")}
"""How a run stands, as a class of the style sheet and as a person reads it."""


def describe_kind_of_run(reading: RunReading) -> str:
    """Return what was run, as a person says it."""
    if reading.matching_pattern is not None:
        return f"{reading.matching_pattern.title} run"
    called = reading.graph.name if reading.graph else reading.pattern_name
    return f"Run of {called[:NAME_CHARS]}" if called else "Run"


def make_page_title(reading: RunReading) -> str:
    """Return what a browser shows of the page in its tabs."""
    return f"{describe_kind_of_run(reading)}, {reading.taken.way_status}: {reading.taken.ending_label[:NAME_CHARS]}"


def render_page_head(reading: RunReading) -> Html:
    """Return the head."""
    look, words = BADGES[reading.taken.way_status]
    asked = list(_list_question_facts(reading))
    return make_tag(
        "header",
        make_tag("p", describe_kind_of_run(reading), class_="kicker"),
        make_tag("h1", make_tag("span", words, class_=f"badge {look}"), " ", render_name(reading.taken.ending_label)),
        _render_ending_meaning(reading),
        _render_stop_explanation(reading) if reading.taken.way_status == "stopped" else None,
        render_facts(asked, "facts asked") if asked else None,
        render_facts(_list_head_facts(reading), "facts told"),
        class_=f"ended {look}",
    )


def _render_ending_meaning(reading: RunReading) -> Child:
    if reading.pending_request is not None:
        return make_tag("p", "The run waits until a person has decided on what it shows.", class_="lead")
    if reading.taken.is_ok_way:
        known = reading.matching_pattern.explain_outcome(reading.run) if reading.matching_pattern else None
        return make_tag("p", f"{known[0].upper()}{known[1:]}.", class_="lead") if known else None
    reason = reading.stop_reason_entry
    if reason is None:
        return None
    return [
        make_tag("p", reason.meaning, class_="lead"),
        make_tag(
            "p",
            make_tag("strong", "What to do: "),
            reason.advice,
            " ",
            make_tag("a", "See it in the run", href="#stop"),
        ),
    ]


def _render_stop_explanation(reading: RunReading) -> Html:
    """Return who stopped the run, the evidence, and what was refused with the words marked that were the reason."""
    guard, asked = find_stopping_entries(reading)
    proposal = render_refused_proposal(reading)
    said_twice = asked.told["proposal"] if proposal and asked else None
    evidence = {key: item for key, item in reading.result_content.items() if said_twice is None or item != said_twice}
    return make_tag(
        "div",
        _render_stopping_guard(guard) if guard else None,
        render_facts((key, render_value(item)) for key, item in evidence.items()) if evidence else None,
        make_tag("div", make_tag("p", REFUSED, class_="label"), proposal, class_="refused") if proposal else None,
        class_="why",
    )


def _render_stopping_guard(guard: TimelineRow) -> Html:
    where = f", in the phase {guard.phase}." if guard.phase else "."
    return make_tag("p", "Stopped by ", make_tag("span", render_name(guard.node), class_="node"), where)


def _list_question_facts(reading: RunReading) -> Iterator[tuple[str, Child]]:
    told = reading.run.get("asked_question")
    if isinstance(told, dict) and isinstance(told.get("own"), str):
        yield "asked", render_inline(told["own"])
        if isinstance(told.get("standalone"), str):
            yield "read as", render_inline(told["standalone"])
        if reading.asked is not None and reading.asked not in (told["own"], {"question": told["own"]}):
            yield "given", render_value(reading.asked)
    elif reading.asked is not None:
        yield "asked", render_value(reading.asked)
    elif (query := _find_search_query(reading)) is not None:
        yield "searched for", render_inline(query)


def _list_head_facts(reading: RunReading) -> Iterator[tuple[str, Child]]:
    run = reading.run
    for key in ("stop_reason", "phase", "outcome"):
        if key in run:
            yield key, make_tag("code", render_name(run[key]) if isinstance(run[key], str) else render_value(run[key]))
    if reading.pending_request is None:  # which has no times yet
        yield "active time", format_duration(reading.total_active_ms)
    if proposers := _list_proposer_names(reading):
        yield "proposed by", render_inline(", ".join(proposers))
    yield from _list_usage_facts(reading)
    if "run_id" in run:
        yield "run_id", make_tag("code", render_inline(run["run_id"]))
    if (place := reading.position) is not None:
        yield "in the chain", make_tag("code", f"{place.seq}:{place.hash}")
        yield "recorded at", place.at


def _find_search_query(reading: RunReading) -> str | None:
    """Return what a run searched for, where its result does not say what was asked."""
    queries = (step.get("query") for step in reading.list_result_steps("trace"))
    return next((query for query in queries if isinstance(query, str) and query), None)


def _list_proposer_names(reading: RunReading) -> list[str]:
    told = [entry.told for entry in reading.entries] + reading.list_result_steps("history")
    return list(dict.fromkeys(who for item in told if isinstance(who := item.get("proposer"), str)))


def _list_usage_facts(reading: RunReading) -> Iterator[tuple[str, Child]]:
    """Yield what the calls of a run used up: as its result says it, else the tokens that its models said."""
    told = reading.run.get("usage")
    usage = told if isinstance(told, dict) else {"tokens": _sum_tokens_of_run(reading)}
    for key, label in (("calls", "calls of models"), ("tool_calls", "calls of tools"), ("tokens", "tokens")):
        if isinstance(count := usage.get(key), int) and count:
            is_estimate = key == "tokens" and usage.get("estimated")
            yield label, f"{count:,}{' (partly estimated)' if is_estimate else ''}"
    if isinstance(cost := usage.get("cost"), int | float) and cost:
        yield "cost", f"{cost:.9f}".rstrip("0").rstrip(".")


def _sum_tokens_of_run(reading: RunReading) -> int:
    usages = [entry.told.get("usage") for entry in reading.entries]
    totals = [usage.get("total_tokens") for usage in usages if isinstance(usage, dict)]
    return sum(total for total in totals if isinstance(total, int))
