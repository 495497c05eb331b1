"""Licensing: a call by name is held against lists, rules, budgets, support and approvals where it is performed.

The pattern's guards judge it before, for the sake of whoever proposed it. Here nobody relies on that: what a licence
needs is read from channels that no body writes but the entry guard's, and from the record of what was called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from guardgraph.graphs.declaring import INPUT, RECORD_PREFIX
from guardgraph.graphs.running.frame import GrammarBreach, Part, check_run_enabled
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Run
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, copy_json, find_json_problem
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall
from guardgraph.state.review import hash_licence, list_bound_licences, name_reviewer
from guardgraph.state.run import Turn
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.state.tools import Effect, Given, Licence, MadeCall, ToolCall, ToolPolicy
from guardgraph.world.call import Asked, Call, ToolTable


class SwitchedMeanwhile(Exception):
    """A call that was licensed may not be made any longer, since what stood before it took time."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.reason)
        self.stop = stop


@dataclass(frozen=True, slots=True)
class LicensedCall:
    """A call that may be performed."""

    call: Call
    licence: str | None = None  # of a call by name: the SHA-256 of its tool and arguments
    approval: str | None = None  # of one that a person had to approve: the approval that it uses up


def license_calls(
    part: Part, group: Sequence[Call], state: JsonObject, run: Run[Any, Any], made: Sequence[RecordedCall]
) -> list[LicensedCall]:
    """Return calls that are made at once, if each of them has a licence; none is made otherwise."""
    table = part.frame.table
    assert table is not None
    check_run_enabled(run, part.declaration.phase)
    from guardgraph.guards.tools.licence import (  # no other reads them
        check_approval,
        check_licence,
        complete_call,
        note_call,
    )

    records = [*_list_recorded_calls(state), *made]
    calls = list(_read_made_calls(records))
    approvals = _find_unused_approvals(records)
    written = Given(task=state[table.task], history=[] if table.history is None else state.get(table.history) or [])
    given = keep_recorded(written, state.get(INPUT) or {})
    if run.caller is not None:
        given["caller"] = run.caller.model_dump(mode="json")
    if delegated := [about["delegation"] for about in _list_approvals(records) if "delegation" in about]:
        given["delegated"] = delegated
    licensed: list[LicensedCall] = []
    for call in group:
        named = _read_named_call(part, call)
        schema = table.cards[named["tool"]]["schema"]
        proposed = complete_call(**named, rule=run.policy.rule_of(named["tool"]), schema=schema)
        try:
            licence = check_licence(
                proposed, cards=table.cards, policy=run.policy, budget=run.budget, given=given, made=calls
            )
            check_approval(licence, [approved for _, approved in approvals])
        except Stop as refused:
            raise _refuse_call(part, proposed["tool"], refused) from None
        taken = next((item for item in approvals if item[1] == licence.hash), None)
        if taken is None:
            approval = None
        else:
            approvals.remove(taken)
            approval = taken[0]
        licensed.append(LicensedCall(_resolve_call(call, licence, table, run.policy), licence.hash, approval))
        calls.append(note_call(calls, licence.tool, licence.args, licence.effect))
    return licensed


def check_call_meanwhile(part: Part, asked: Asked, run: Run[Any, Any]) -> None:
    """Hold a call once more against switch and lists, after calls that were made before it."""
    try:
        check_run_enabled(run, part.declaration.phase)
        if part.frame.table is not None and asked.licence is not None:
            from guardgraph.guards.tools.licence import check_tool_lists  # which no other pattern reads

            try:
                check_tool_lists(asked.call.tool, cards=part.frame.table.cards, policy=run.policy)
            except Stop as refused:
                raise _refuse_call(part, asked.call.tool, refused) from None
    except Stop as stop:
        raise SwitchedMeanwhile(stop) from None


def check_context_tools(policy: ToolPolicy | None, table: ToolTable) -> None:
    """Check that what a context denies or rules is a tool of the table; of another name it would tighten nothing."""
    for field in ("denied_tools", "rules") if policy is not None else ():
        for name in getattr(policy, field):
            if (said := explain_unknown_name(name, [*table.tools])) is not None:
                raise ConfigurationError(f"context.policy.{field}: {said}")


def _read_named_call(part: Part, call: Call) -> ToolCall:
    declared = part.declaration.tools
    if not isinstance(call.target, str):
        raise GrammarBreach("yielded a Call that holds a function; where tools have names, a body calls them by name")
    if call.target not in declared:
        raise GrammarBreach(f"called {call.target!r:.80}; declared calls: {', '.join(declared) or 'none'}")
    if not isinstance(call.request, dict) or (problem := find_json_problem(call.request)) is not None:
        given = problem if isinstance(call.request, dict) else f"a {type(call.request).__name__}"
        raise GrammarBreach(f"called {call.target:.80} with {given}; arguments are an object of plain JSON")
    return ToolCall(tool=call.target, args=copy_json(call.request))


def _resolve_call(call: Call, licence: Licence, table: ToolTable, policy: ToolPolicy) -> Call:
    """Return a call with the function of the table, as its rule has it: what the body says of it counts for nothing."""
    tool = table.tools[licence.tool]
    return replace(
        call,
        target=tool.target,
        request=licence.args,
        scope={},
        effect=licence.effect,
        tool=licence.tool,
        idempotent=policy.rule_of(licence.tool).idempotent,
        reconcile=tool.reconcile,
    )


def _list_recorded_calls(state: JsonObject) -> list[RecordedCall]:
    visits = [record for name, kept in state.items() if name.startswith(RECORD_PREFIX) for record in kept or ()]
    return [call for record in sorted(visits, key=lambda record: record["at"]) for call in record["calls"]]


def _read_made_calls(records: Iterable[RecordedCall]) -> Iterator[MadeCall]:
    """Yield the calls of tools with what they brought; one that failed brought nothing but what it reports."""
    from guardgraph.guards.tools.values import read_outcome  # which no other pattern reads

    for number, call in enumerate((call for call in records if "args" in call), 1):
        value, failed = read_outcome(Outcome.unpacked(call["outcome"]))
        effect: Effect = "write" if "effect" in call else "read"
        made = MadeCall(id=f"r{number}", tool=call["tool"], args=call["args"], effect=effect, value=value)
        if failed:
            made["failed"] = True
        if "approval" in call:
            made["approved_by"] = call["approval"]
        yield made


CALLS_KEY: Final = "tool_calls"  # key of a result under which a pattern with a table says what was called


def list_called_tools(state: JsonObject) -> list[JsonObject]:
    """Return every call of a tool that a run made, without what it brought."""
    calls = _list_recorded_calls(state)
    records = [call for call in calls if "args" in call]
    approvers = {about["approval"]: name_reviewer(about["reviewer"]) for about in _list_approvals(calls)}
    return [
        {
            **{key: value for key, value in made.items() if key not in ("value", "approved_by")},
            **({"failed": True} if Outcome.unpacked(record["outcome"]).form == "failure" else {}),
            **({"approved_by": approvers[made["approved_by"]]} if "approved_by" in made else {}),
        }
        for made, record in zip(_read_made_calls(records), records, strict=True)
    ]


def _list_approvals(records: Iterable[RecordedCall]) -> list[JsonObject]:
    """Return what is kept about the questions of this run that a person approved; see `bind_decision`."""
    answers = [Outcome.unpacked(call["outcome"]) for call in records if call["kind"] == "person"]
    return [answer.about for answer in answers if answer.form == "value" and "approval" in answer.about]


def _find_unused_approvals(records: Sequence[RecordedCall]) -> list[tuple[str, str]]:
    """Return the licences that a person approved and that no call has used, each with its approval."""
    left = [
        (about["approval"], licence) for about in _list_approvals(records) for licence in list_bound_licences(about)
    ]
    for call in records:
        if "approval" in call and (used := (call["approval"], hash_licence(call["tool"], call["args"]))) in left:
            left.remove(used)
    return left


def keep_recorded(written: Given, recorded: JsonObject) -> Given:
    """Return what was given as far as it stands word for word in the recorded input: bodies wrote the channels."""
    texts, turns = set[str](), list[Turn]()
    rest: list[Any] = [recorded]
    while rest:
        match rest.pop():
            case str(text):
                texts.add(text.strip())
            case {"role": str(role), "content": str(content)}:
                turns.append({"role": role, "content": content.strip()})  # type: ignore[typeddict-item]
            case dict(fields):
                rest += fields.values()
            case list(items):
                rest += items
    task = written["task"] if written["task"].strip() in texts else ""
    told = [turn if turn in turns else Turn(role="assistant", content=turn["content"]) for turn in written["history"]]
    left = [turn for turn in turns if turn["role"] != "user" and turn not in told]
    return Given(task=task, history=[*told, *left])


def _refuse_call(part: Part, tool: str, refused: Stop) -> Stop:
    """Return a refusal as the guard behind the node carries it out: evidence that has no key of its own is details."""
    shown = {key: value for key, value in refused.evidence.items() if key in part.frame.evidence}
    other = {key: value for key, value in refused.evidence.items() if key not in shown}
    details = shown.get("details")
    told: JsonObject = {"tool": tool, **(details if isinstance(details, dict) else {}), **other}
    return Stop(refused.reason, **{**shown, "details": told, "phase": part.declaration.phase})
