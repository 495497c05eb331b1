"""How steps and results of runs look to a person."""

from __future__ import annotations

import json
from functools import partial

from guardgraph.cli.runs import PlannedRun, follow_run_on_screen, is_ok_result, is_waiting_result
from guardgraph.cli.shell import Part, Screen
from guardgraph.graphs.patterns import PATTERNS, ShippedPattern
from guardgraph.plain.json import JsonObject, excerpt_value
from guardgraph.plain.secrets import mask_secrets
from guardgraph.state.outcome import Outcome

STYLES = {"propose": "yellow", "guard": "cyan", "act": "blue", "review": "bright_magenta", "terminal": "magenta"}

STEP_COLUMN, WAY_COLUMN = 26, 42  # where second columns begin: what a node decided, what a command does
EXCERPT_CHARS = 100
UNSHOWN = ("title", "link", "document_span", "sha256", "text_sha256")  # what of a source a program reads
EVIDENCE_CHARS = 600


def print_followed_run(screen: Screen, run: PlannedRun) -> JsonObject:
    """Make a run, print each step as it happens and then the result; return the result."""
    screen.print_heading(run.pattern.title)
    screen.print_text(run.asked)
    screen.print_heading("Steps")
    result = follow_run_on_screen(run, partial(print_step, screen))
    if is_waiting_result(result):
        print_waiting_run(screen, run, result)
    else:
        print_run_result(screen, run, result)
    return result


def print_step(screen: Screen, node: str, declared: JsonObject, writes: JsonObject) -> None:
    """Print what a node has just done."""
    kind = declared["kind"]
    screen.print_columns((f"{kind:<8} {node}", STYLES[kind]), describe_printed_step(declared, writes), at=STEP_COLUMN)


def describe_printed_step(declared: JsonObject, writes: JsonObject) -> str:
    """Say in one line what a node decided: a guard where the run goes, a proposer what it proposes."""
    if refusal := writes.get("refusal"):
        return f"refused: {refusal['reason']}"
    if verdict := writes.get("verdict"):
        return f"stop: {verdict['reason']}"
    if declared["kind"] == "guard":
        log = writes["log"]
        steps = [step for entry in log for step in entry.get("steps", ())] if isinstance(log, list) else []
        items = [item for trace, _ in steps for item in trace.items()]
        numbers = [f"{key} {value}" for key, value in items if type(value) in (int, float)]
        return " ".join([*([", ".join(numbers)] if numbers else []), f"-> {writes['route']}"])
    if declared["kind"] in ("propose", "review"):
        outcome = Outcome.unpacked(writes[declared["writes"][0]])
        failed = outcome.form == "failure"
        if declared["kind"] == "review":
            return f"a person: {outcome.content['reason' if failed else 'decision']}"
        shown = outcome.content["reason"] if failed else excerpt_value(outcome.content, EXCERPT_CHARS)
        return f"{outcome.about['proposer']}: {' '.join(shown.split())}"
    return str(writes.get("outcome") or writes.get("stop_reason") or "done")


def print_waiting_run(screen: Screen, run: PlannedRun, result: JsonObject) -> None:
    """Print what a run waits for: who asks, what the person is shown, and how the run goes on."""
    asked = result["waiting_for"]
    screen.print_heading("Waits for a person")
    for key, value in print_asked_call(screen, asked).items():
        screen.print_with_label({"node": "asked by"}.get(key, key), excerpt_value(value, EVIDENCE_CHARS))
    screen.print_heading("To go on")
    answer = "an answer to what is shown"
    if run.agent.frame.declarations[asked["node"]].kind == "review":
        answer = f'{{"hash": "{asked["hash"]}", "decision": "approve"}}, or "reject"'
    if run.resume is not None:
        screen.print_text(f"guardgraph review approve {result['run_id']} {run.resume}", ", or reject, edit; or resume")
    screen.print_text("Resume the run on its thread, with Command(resume=...): ", answer)
    screen.print_heading("Run")
    screen.print_with_label("phase", result["phase"])
    screen.print_with_label("run", result["run_id"])


def print_asked_call(screen: Screen, asked: JsonObject) -> JsonObject:
    """Print the calls that a person is asked about, whole, and each unsupported value; return what is left."""
    from guardgraph.state.review import describe_shown_licences  # loads Pydantic, for which help need not wait

    shown = asked.get("shown")
    licences = describe_shown_licences(shown) if isinstance(shown, dict) else {}
    if not isinstance(shown, dict) or not licences:
        return asked
    told = set[str]()
    if "licence" in licences:
        _print_call(screen, shown["call"], shown)
        told |= {"call", *(["unsupported"] if isinstance(shown.get("unsupported"), list) else [])}
    for call in shown["calls"] if "licences" in licences else ():
        _print_call(screen, call, call)
        told.add("calls")
    return {**asked, "shown": {key: value for key, value in shown.items() if key not in told}}


def _print_call(screen: Screen, call: JsonObject, told: JsonObject) -> None:
    screen.print_with_label("call", format_whole_value(call["tool"]))
    args = call["args"] if isinstance(call["args"], dict) else {"args": call["args"]}
    for name, value in args.items():
        screen.print_text(f"{format_whole_value(name)}: {format_whole_value(value)}", indent=6)
    for value in unsupported if isinstance(unsupported := told.get("unsupported"), list) else ():
        screen.print_with_label("unsupported", format_whole_value(value))


def format_whole_value(value: object) -> str:
    """Return a value as JSON on one line, which no text of it can leave."""
    return mask_secrets(json.dumps(value, ensure_ascii=False))


def print_run_result(screen: Screen, run: PlannedRun, result: JsonObject) -> None:
    """Print how a run ended: the answer and what it rests on, or the stop and what to do."""
    if is_ok_result(result):
        screen.print_heading("Answer")
        for section in result.get("sections") or [{"start": 0, "end": None}]:
            if "title" in section:
                screen.print_text((section["title"], "bold"))
            _print_answer_text(screen, result, section["start"], section["end"])
        _print_sources(screen, result)
        _print_critique(screen, result)
        _print_tool_calls(screen, result)
    else:
        from guardgraph.state.run import RECORDED  # loads Pydantic, for which help need not wait

        reason = result["stop_reason"]
        screen.print_heading(f"Stopped: {reason}")
        known = run.pattern.catalogue.find(reason)
        if known is not None:
            screen.print_text(known.meaning)
            screen.print_text("What to do: ", known.advice)
        for key, value in result.items():
            if key not in RECORDED:
                screen.print_with_label(key, excerpt_value(value, EVIDENCE_CHARS))
    screen.print_heading("Run")
    if "standalone" in (told := result.get("asked_question", {})):
        screen.print_with_label("asked", told["own"])
        screen.print_with_label("read as", told["standalone"])
    if is_ok_result(result):
        screen.print_with_label("outcome", result["outcome"], ", ", run.pattern.explain_outcome(result) or "")
        if "best_score" in result:
            screen.print_with_label("nearest", f"relevance {result['best_score']} of the best that was found")
    else:
        screen.print_with_label("phase", result["phase"])
    for codes in (step["unmeasured"] for step in result.get("trace", []) if "unmeasured" in step):
        told = f"most of the knowledge base is in {', '.join(codes)}, for which no min_chunk_score was measured"
        screen.print_with_label("relevance", f"{told}: set one of your own")
    screen.print_with_label("proposer", _format_proposers_line(run, result))
    for label, remark in run.remarks.items():
        screen.print_with_label(label, remark)
    screen.print_with_label("run", result["run_id"])


def _print_sources(screen: Screen, result: JsonObject) -> None:
    if cited := result.get("citation_details"):
        screen.print_heading("Sources")
        said = {_format_source_name(item): item.get("quote") or item.get("text") for item in result["passages"]}
        for item in cited:
            shown = {**item, "url": item["link"]} if "link" in item else item
            rest = [f"{key} {value}" for key, value in list(shown.items())[1:] if key not in UNSHOWN and value != ""]
            screen.print_text((f"{_format_source_name(item)}  ", "green"), item["title"])
            screen.print_text(", ".join(rest), indent=6)
            screen.print_text(f'"{excerpt_value(said[_format_source_name(item)], EXCERPT_CHARS)}"', indent=6)
    aggregate = result.get("aggregate", {})
    denied, failed = aggregate.get("denied_sources", []), result.get("failed_sources", [])
    dropped = [{"url": url, "reason": "no absolute URL"} for url in result.get("dropped_urls", [])]
    notes = [{"url": note["claim"], "reason": note["reason"]} for note in result.get("dropped_notes", [])]
    queries = [{"url": failed["query"], "reason": failed["reason"]} for failed in result.get("failed_queries", [])]
    if still := result.get("open"):
        screen.print_heading("Still open")
        for item in still:
            screen.print_text(item)
    if left_out := [*denied, *failed, *dropped, *notes, *queries]:
        screen.print_heading("Left out")
        for item in left_out:
            screen.print_text(str(item["url"]))
            said = {**item.get("details", {}), **({"at": led} if (led := item.get("final_url")) else {})}
            known = ", ".join(
                f"{key} {excerpt_value(value, EXCERPT_CHARS)}" for key, value in said.items() if value is not None
            )
            screen.print_text(f"{item['reason']} ({known})" if known else str(item["reason"]), indent=6)


def _print_answer_text(screen: Screen, result: JsonObject, start: int, end: int | None) -> None:
    """Print a part of an answer; behind a sentence that is unverified stands why, and what its source says."""
    from guardgraph.reporting.values import explain_unverified_sentence  # loads a parser, for which help need not wait

    text, parts = result["answer"][:end], list[Part]()
    for item in result.get("unverified", ()):
        if start <= item["start"] and item["end"] <= len(text):
            parts += [text[start : item["start"]], (text[item["start"] : item["end"]], "red")]
            parts += [(f" [{explain_unverified_sentence(item)}]", "yellow")]
            start = item["end"]
    screen.print_text(*parts, text[start:])


def _format_source_name(source: JsonObject) -> str:
    return str(next(iter(source.values())))


def _print_critique(screen: Screen, result: JsonObject) -> None:
    if "critique_decision" not in result:
        return
    screen.print_heading("Critique")
    screen.print_with_label("decision", f"{result['critique_decision']}, severity {result['severity']}")
    for risk in result["risks"]:
        screen.print_with_label("risk", f"{risk['type']}: {risk['note']}")
    for change in result["required_changes"]:
        screen.print_with_label("change", change)
    if lines := result["audit"]["diff_excerpt"]:
        screen.print_heading("Changed")
        for line in lines:
            screen.print_text((line, "green" if line.startswith("+") else "red"), hang=2)


def _print_tool_calls(screen: Screen, result: JsonObject) -> None:
    if calls := result.get("tool_calls"):
        screen.print_heading("Calls")
        for call in calls:
            screen.print_text(
                (f"{call['id']}  ", "green"), f"{call['tool']} {excerpt_value(call['args'], EXCERPT_CHARS)}"
            )
            why = [f"{name} by {source}" for name, source in call["supported_by"].items()]
            why += [f"approved by {call['approved_by']}"] if "approved_by" in call else []
            screen.print_text(", ".join([call["effect"], *why]), indent=6)
        for refused in result.get("attempts", ()):
            screen.print_with_label("refused", refused["reason"])


def _format_proposers_line(run: PlannedRun, result: JsonObject) -> str:
    from guardgraph.world.proposers import OFFLINE  # loads LangChain, for which help need not wait

    told = {item["proposer"] for item in result["history"] if "proposer" in item}
    names = ", ".join(sorted(told)) or run.model or OFFLINE
    return f"{OFFLINE}: built-in rules, no model was asked" if names == OFFLINE else names


WITH_MODEL = ("--model openai", "let a model propose; needs OPENAI_API_KEY, in the environment or in .env")
AS_JSON = ("--json", "the whole result, with trace and history")
BEYOND = (
    ("guardgraph verify", "the proof that no run can get around its guards; also for a graph of your own"),
    ("guardgraph reasons", "every reason why a run can stop"),
    ("README.md, docs/", "the Python side: five lines to embed an agent, a pattern of your own in sixty"),
)


def print_next_commands(screen: Screen, run: PlannedRun, result: JsonObject) -> None:
    """Print what to try after a run."""
    known = (f"guardgraph reasons {run.pattern.name}", "every reason why such a run can stop")
    why = [] if is_ok_result(result) or is_waiting_result(result) else [known]
    asked = [WITH_MODEL] if run.model is None else []
    _print_command_table(screen, "Next", [*why, _format_command_invitation(run.pattern), *asked, AS_JSON])


def print_commands_after_demo(screen: Screen) -> None:
    """Print where to go after the demo."""
    own = map(_format_command_invitation, PATTERNS.values())
    _print_command_table(screen, "Where to go next", [*own, WITH_MODEL, AS_JSON, *BEYOND])


def _format_command_invitation(pattern: ShippedPattern) -> tuple[str, str]:
    return f"guardgraph {pattern.command} {pattern.usage}", pattern.invitation


def _print_command_table(screen: Screen, title: str, ways: list[tuple[str, str]]) -> None:
    screen.print_heading(title)
    for command, why in ways:
        screen.print_columns((command, "bold"), why, at=WAY_COLUMN)
