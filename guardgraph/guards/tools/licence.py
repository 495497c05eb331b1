"""The licence of a call: what must hold before a tool is called, judged where it is proposed and where it is made."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from guardgraph.grounding.links.finding import find_links
from guardgraph.guards.spending import check_spending
from guardgraph.guards.stop import MOST_NAMED, Denial, Stop, shown_name
from guardgraph.guards.tools.actions import parse_call
from guardgraph.guards.tools.schemas import drop_defaults, fill_defaults
from guardgraph.guards.tools.support import Support, is_content, is_deciding_argument, is_number
from guardgraph.guards.tools.values import list_empty, list_leaves, list_own_keys, list_property_names, write_leaf
from guardgraph.plain.hashing import canonical_json, digest
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value, walk_json
from guardgraph.plain.urls import normalise_host, parse_url_target
from guardgraph.state.review import hash_licence
from guardgraph.state.spending import Spending
from guardgraph.state.tools import (
    DECIDING,
    ArgumentRule,
    DelegationOffer,
    Effect,
    Given,
    Licence,
    MadeCall,
    ToolBudget,
    ToolCall,
    ToolCard,
    ToolPolicy,
    ToolRule,
    UnsupportedValue,
    hash_tool,
    is_under_folder,
)

_DEFAULT_PORTS: Final = {"http:": "80", "https:": "443"}
_WEB_URL: Final = re.compile(r"https?://([^/?#@%]+)(?:[/?#].*)?", re.IGNORECASE)
"""A URL of which all readers say the same host: no user, no escapes in the host, and two slashes before it."""
_HOST_AND_PORT: Final = re.compile(r"(.+):(\d{1,5})")


def check_licence(
    call: ToolCall,
    *,
    cards: Mapping[str, ToolCard],
    policy: ToolPolicy,
    budget: ToolBudget,
    given: Given,
    made: Sequence[MadeCall],
) -> Licence:
    """Judge a call, with the arguments that it would be made with."""
    tool, args, rule = call["tool"], call["args"], policy.rule_of(call["tool"])
    check_tool_lists(tool, cards=cards, policy=policy)
    check_tool_pin(cards[tool], rule)
    check_argument_rules(tool, args, rule, schema=cards[tool]["schema"])
    check_call_counts(call, made=made, policy=policy, budget=budget, schema=cards[tool]["schema"])
    supported, missing = dict[str, str](), list[UnsupportedValue]()
    if rule.acts and (support := Support(given, made, policy, cards)).has_seen_others():
        supported, missing = support.judge_arguments(args, rule, cards[tool]["schema"])
    if missing and (document := _find_delegation(call, given, made)) is not None:
        supported |= {value["argument"]: f"document {document[:12]}" for value in missing}
        missing = []
    if missing and rule.asks == "never":
        argument = shown_name(missing[0]["argument"])
        raise Stop(f"unsupported_argument:{shown_name(tool)}.{argument}", unsupported=missing)
    return Licence(
        tool=tool,
        args=args,
        effect=rule.effect,
        hash=hash_licence(tool, args),
        supported_by=supported,
        unsupported=tuple(missing),
        needs_approval=bool(missing) or rule.asks == "always",
    )


def judge_call(
    proposed: JsonValue,
    *,
    cards: Mapping[str, ToolCard],
    policy: ToolPolicy,
    budget: ToolBudget,
    given: Given,
    made: Sequence[MadeCall],
) -> Licence:
    """Judge a call as it is proposed, with the arguments that its rule forces."""
    call = parse_call(proposed, cards, {name: rule.forced for name, rule in policy.rules.items()})
    return check_licence(call, cards=cards, policy=policy, budget=budget, given=given, made=made)


def judge_calls(proposed: Iterable[JsonValue], *, made: Sequence[MadeCall], **held: Any) -> list[Licence]:
    """Judge calls in order, each after those before it, of which nobody knows yet what they bring; see `judge_call`."""
    known, licences = [*made], list[Licence]()
    for item in proposed:
        licences.append(licence := judge_call(item, made=known, **held))
        known.append(note_call(known, licence.tool, licence.args, licence.effect))
    return licences


def note_call(before: Sequence[MadeCall], tool: str, args: JsonObject, effect: Effect) -> MadeCall:
    """Return a call that is made behind others, of which nobody knows yet what it brings."""
    return MadeCall(id=f"r{len(before) + 1}", tool=tool, args=args, effect=effect, value=None)


def check_approval(licence: Licence, approvals: Collection[str]) -> None:
    """Check that a call has the approval that it needs."""
    if licence.needs_approval and licence.hash not in approvals:
        raise Stop(f"not_approved:{shown_name(licence.tool)}", details={"licence": licence.hash})


def offer_delegation(
    licences: Sequence[Licence],
    *,
    cards: Mapping[str, ToolCard],
    policy: ToolPolicy,
    given: Given,
    made: Sequence[MadeCall],
) -> DelegationOffer | None:
    """Return what a person may let one document license, so that one question is enough for several calls of a step."""
    # A document is the result of a call that reads and whose own arguments the user gave: so the task names it. A call
    # counts if it would be supported were the document part of the task, and if a person is asked for no other reason.
    waiting = [each for each in licences if each.unsupported and policy.rule_of(each.tool).asks == "unsupported"]
    if len(waiting) < 2 or waiting[0] is not licences[0]:
        return None
    best: DelegationOffer | None = None
    for document in made:
        if not _is_named_document(document, cards=cards, policy=policy, given=given):
            continue
        wider = Support(given, made, policy, cards).count_document(document)
        licensed = [
            each
            for each in waiting
            if not wider.judge_arguments(each.args, policy.rule_of(each.tool), cards[each.tool]["schema"]).missing
        ]
        is_more = len(licensed) > (1 if best is None else len(best["calls"]))
        if is_more and licensed[0] is licences[0]:
            best = _describe_offer(document, licensed)
    return best


def _is_named_document(call: MadeCall, *, cards: Mapping[str, ToolCard], policy: ToolPolicy, given: Given) -> bool:
    """Say whether a call read what the user named: its arguments stand in the task, or in a turn of theirs."""
    if call["effect"] != "read":
        return False
    rule, schema = policy.rule_of(call["tool"]), cards[call["tool"]]["schema"]
    supported, missing = Support(given, [], policy, cards).judge_arguments(call["args"], rule, schema)
    return not missing and not {"task", "history"}.isdisjoint(supported.values())


def _describe_offer(document: MadeCall, licensed: Sequence[Licence]) -> DelegationOffer:
    values = [missing["value"] for licence in licensed for missing in licence.unsupported]
    return DelegationOffer(
        document=digest(document["value"]),
        tools=[*dict.fromkeys(licence.tool for licence in licensed)],
        values=[*{canonical_json(value): value for value in values}.values()],
        brought_by=document["id"],
        calls=[ToolCall(tool=licence.tool, args=licence.args) for licence in licensed],
    )


def _find_delegation(call: ToolCall, given: Given, made: Sequence[MadeCall]) -> str | None:
    """Return the document of this run for whose sake a person let this very call be made, once for each time shown."""
    delegated = given.get("delegated", ())
    wanted = hash_licence(call["tool"], call["args"]) if delegated else ""
    documents = [
        item["document"]
        for item in delegated
        for each in item["calls"]
        if hash_licence(each["tool"], each["args"]) == wanted
    ]
    used = sum(hash_licence(each["tool"], each["args"]) == wanted for each in made) if documents else 0
    seen = {digest(each["value"]) for each in made} if documents else set()
    return next((document for document in documents[used:] if document in seen), None)


def complete_call(tool: str, args: JsonObject, rule: ToolRule, schema: JsonObject | None = None) -> ToolCall:
    """Return a call as the tool receives it, with the arguments that its rule forces and the defaults of its schema."""
    given = {**args, **rule.forced}
    return ToolCall(tool=tool, args=given if schema is None else fill_defaults(given, schema, schema))


def check_tool_lists(tool: str, *, cards: Mapping[str, ToolCard], policy: ToolPolicy) -> None:
    """Hold a tool against the lists; of one that there is not, the refusal says which there are."""
    named = shown_name(tool)
    if tool not in cards:
        there_are = ", ".join(name for name in policy.tools_policy if name in cards)
        raise Stop(f"tool_not_allowed_policy:{named}", details={"there_are": there_are[:MOST_NAMED]})
    if tool not in policy.tools_policy:
        raise Denial(f"tool_not_allowed_policy:{named}")
    if tool in policy.denied_tools or policy.rule_of(tool).asks == "refuse":
        raise Stop(f"tool_denied:{named}")
    if tool not in policy.tools_execution:
        raise Stop(f"tool_denied_execution:{named}")


def check_tool_pin(card: ToolCard, rule: ToolRule) -> None:
    """Check that a tool is the one that its rule pins."""
    if rule.pin is not None and rule.pin != (now := hash_tool(card)):
        raise Stop(f"tool_changed:{shown_name(card['name'])}", details={"pin": rule.pin, "is": now})


def list_shown_tools(cards: Mapping[str, ToolCard], policy: ToolPolicy) -> list[ToolCard]:
    """Return the tools that a model is shown: those that it may ask for, and that are as they are pinned."""
    # A description that changed after somebody read it never reaches a model.
    listed = (cards[name] for name in policy.tools_policy if name in cards)
    return [card for card in listed if (pin := policy.rule_of(card["name"]).pin) is None or pin == hash_tool(card)]


def check_argument_rules(tool: str, args: JsonObject, rule: ToolRule, *, schema: JsonObject) -> None:
    """Hold arguments against the rule of their tool."""
    # A key that the schema does not name is written by the model, as a value is: it keeps `allowed`, `hosts` and
    # `under` too, and an empty list or object keeps none of them.
    for name, value in rule.forced.items():
        if name not in args or args[name] != value:
            raise _deny_argument(tool, name, "forced", value, args.get(name))
    limited = {name: limits for name, limits in rule.arguments.items() if name in args}
    named = list_property_names(schema) if limited else frozenset[str]()
    for name, limits in limited.items():
        keys = (leaf.value for leaf in list_own_keys(args[name], name, named))
        of_places = limits.model_copy(update={"min": None, "max": None, "max_chars": None})
        judged = [(leaf.value, limits) for leaf in list_leaves(args[name])]
        judged += [(item, of_places) for item in (*keys, *(leaf.value for leaf in list_empty(args[name], name)))]
        for value, kept in judged:
            if (broken := find_broken_rule(value, kept)) is not None:
                raise _deny_argument(tool, name, broken, getattr(limits, broken), value)


def _deny_argument(tool: str, name: str, rule: str, allowed: JsonValue, given: JsonValue) -> Stop:
    details = {"rule": rule, "allowed": excerpt_value(allowed), "given": excerpt_value(given)}
    return Stop(f"argument_denied:{shown_name(tool)}.{shown_name(name)}", details=details)


def find_broken_rule(value: JsonValue, limits: ArgumentRule) -> str | None:
    """Return the name of the limit that a value does not keep, None where it keeps all."""
    if limits.allowed is not None and write_leaf(value) not in limits.allowed:
        return "allowed"
    if limits.hosts is not None and not _has_listed_host(value, limits.hosts):
        return "hosts"
    if limits.under is not None and not _lies_under(value, limits.under):
        return "under"
    if (limits.min is not None or limits.max is not None) and not is_number(value):
        return "max" if limits.min is None else "min"
    if limits.min is not None and value < limits.min:
        return "min"
    if limits.max is not None and value > limits.max:
        return "max"
    if limits.max_chars is not None and len(write_leaf(value)) > limits.max_chars:
        return "max_chars"
    return None


def _has_listed_host(value: JsonValue, hosts: Iterable[str]) -> bool:
    """Say whether a web URL, a mail address or a host has one of these hosts, and names no other."""
    # A tool reads a URL with a parser of its own, so only one that all parsers read the same has a host.
    if not isinstance(value, str) or value != value.strip():
        return False
    listed = set(map(_read_listed_host, hosts)) - {None}
    if (target := parse_url_target(value)) is not None:
        has_odd_signs = "\\" in value or not value.isprintable() or any(map(str.isspace, value))
        if has_odd_signs or (written := _WEB_URL.fullmatch(value)) is None:
            return False
        port = target.port or _DEFAULT_PORTS[target.protocol]
        is_default = port == _DEFAULT_PORTS[target.protocol]
        said = _HOST_AND_PORT.fullmatch(written[1])
        is_host = normalise_host(said[1] if said else written[1].removesuffix(":")) == target.host
        return is_host and ((target.host, port) in listed or (is_default and (target.host, "") in listed))
    if (normalise_host(value), "") in listed:
        return True
    links = find_links(value)
    return len(links) == 1 and links[0].shown == value and links[0].kind == "mail" and (links[0].host, "") in listed


def _read_listed_host(name: str) -> tuple[str, str] | None:
    """Return a host of a list and its port, which is empty where it names none."""
    named = _HOST_AND_PORT.fullmatch(name.strip())
    if (host := normalise_host(name)) is not None:
        return host, ""
    host = normalise_host(named[1]) if named else None
    return (host, str(int(named[2]))) if named and host is not None else None


def _lies_under(value: JsonValue, folders: Iterable[str]) -> bool:
    if not isinstance(value, str) or "\\" in value or "\0" in value or ".." in value.split("/"):
        return False
    path = posixpath.normpath(value)
    return any(is_under_folder(path, posixpath.normpath(folder)) for folder in folders)


def check_call_counts(
    call: ToolCall, *, made: Sequence[MadeCall], policy: ToolPolicy, budget: ToolBudget, schema: JsonObject
) -> None:
    """Check how often a call, its tool and any tool was called."""
    # Calls that read are the same where all of their arguments are; calls that write where those are that decide and
    # the content is, however they are spelled and ordered: another note makes no other payment, another body makes
    # another mail. An item that stands several times in one list of a call is as many calls.
    tool, rule = call["tool"], policy.rule_of(call["tool"])
    others = [each for each in _list_counted_calls(made, rule) if each["tool"] == tool]
    if rule.effect == "write":
        deciding = _normalise_deciding(call["args"], rule, schema)
        same = sum(_normalise_deciding(each["args"], rule, schema) == deciding for each in others)
        most = budget.max_same_call
        if (repeated := _count_repeated(deciding)) > most:
            details = {"args": excerpt_value(call["args"]), "repeated": repeated}
            raise Stop(f"loop_detected:{shown_name(tool)}", details=details)
    else:
        alike = [each for each in others if each["args"] == call["args"]]  # with 1 for true, and 1.0
        licence = hash_licence(tool, call["args"]) if alike else ""
        same = sum(hash_licence(tool, each["args"]) == licence for each in alike)
        most = budget.max_same_read
    if same >= most:
        raise Stop(f"loop_detected:{shown_name(tool)}", details={"args": excerpt_value(call["args"]), "calls": same})
    if rule.max_calls is not None and sum(each["tool"] == tool for each in made) >= rule.max_calls:
        raise Stop(f"max_calls:{shown_name(tool)}", details={"max_calls": rule.max_calls})
    check_spending(Spending(tool_calls=len(made)), Spending(tool_calls=1), budget)


def _list_counted_calls(made: Sequence[MadeCall], rule: ToolRule) -> Sequence[MadeCall]:
    """Return the calls that count: of a tool that reads, those after the last one that wrote."""
    writes = [number for number, each in enumerate(made, 1) if each["effect"] == "write"]
    return made[writes[-1] :] if writes and rule.effect == "read" else made


def _normalise_deciding(args: JsonObject, rule: ToolRule, schema: JsonObject) -> JsonValue:
    """Return the values of a call that tell it from others, in one spelling: an object of defaults alone is none."""
    counted = rule if rule.authority else rule.model_copy(update={"authority": (DECIDING,)})
    return _normalise(
        {
            name: drop_defaults({name: value}, schema, schema)
            for name, value in args.items()
            if is_deciding_argument(name, counted) or is_content(name)
        }
    )


def _normalise(value: JsonValue) -> JsonValue:
    """Return a value in one spelling: null, empty texts and the order of texts in a list say nothing."""
    # A list of one item is that item. Numbers keep their order, since a place is no set of them.
    if isinstance(value, dict):
        read = ((_fold_spelling(key), _normalise(item)) for key, item in value.items())
        return {key: item for key, item in sorted(read, key=lambda pair: pair[0]) if item not in ("", [], {})}
    if isinstance(value, list):
        items = [item for item in map(_normalise, value) if item not in ("", [], {})]
        if all(map(is_number, value)):
            return items if len(items) != 1 else items[0]
        return sorted(items, key=canonical_json) if len(items) != 1 else items[0]
    return "" if value is None else _fold_spelling(write_leaf(value))


def _count_repeated(value: JsonValue) -> int:
    most = 1
    for item in walk_json(value):
        if isinstance(item, list):
            told = (each for each in item if not isinstance(each, list) and not _is_written_number(each))
            counted = Counter(map(canonical_json, told))
            most = max(most, *counted.values(), 1)
    return most


def _is_written_number(value: JsonValue) -> bool:
    return isinstance(value, str) and (value in ("true", "false") or value.lstrip("-").replace(".", "", 1).isdecimal())


def _fold_spelling(text: str) -> str:
    """Return a text without what makes another spelling of it: compatible letters, case, blanks, marks at its ends."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(sign for sign in folded if sign.isprintable() and not sign.isspace()).strip(".,;:!?'\"")
