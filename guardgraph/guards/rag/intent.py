"""What may be asked for: a question and its follow-ups, then a retrieval by the policy list and the execution list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Final

from guardgraph.grounding.names import find_unsupported_names
from guardgraph.grounding.values import Value, find_unsupported_values, scan_values
from guardgraph.guards.stop import MOST_NAMED, Denial, Stop, parse_history, read_request_text, shown_name
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.rag import Intent, RagPolicy, RagTask
from guardgraph.state.run import Turn

_MOST_COUNTED: Final = 5
"""What a question may count to without a turn that says so: "the first response", "which of the three"."""
QUESTION_CHARS: Final = 2000  # characters of a standalone question; one may be as long as the user's own all the same


def parse_rag_request(
    question: JsonValue, history: JsonValue = None, *, max_turns: int = 0, max_chars: int = 0
) -> RagTask:
    """Parse the input of a run."""
    task = RagTask(question=read_request_text("question", question))
    turns = parse_history(history)
    if kept := _choose_newest_turns(turns, max_turns, max_chars):
        task["history"] = kept
        if len(kept) < len(turns):
            task["turns_left_out"] = len(turns) - len(kept)
    return task


def _choose_newest_turns(turns: list[Turn], most: int, chars: int) -> list[Turn]:
    newest = turns[::-1][:most]
    lengths = [len(turn["content"]) for turn in newest]
    fitting = takewhile(lambda place: sum(lengths[: place + 1]) <= chars, range(len(newest)))
    return [newest[place] for place in fitting][::-1]


def read_standalone_question(task: RagTask) -> str:
    """Return the question as planner and answerer are shown it."""
    return task.get("standalone", task["question"])


def read_user_words(task: RagTask) -> str:
    """Return all that the user said: it licenses what an answer says, as a question does."""
    said = [turn["content"] for turn in task.get("history", ()) if turn["role"] == "user"]
    return "\n".join([*said, task["question"]])


def check_standalone_question(text: str, *, task: RagTask, policy: RagPolicy) -> None:
    """Refuse a standalone question that says what the conversation does not."""
    from guardgraph.guards.links import check_links  # reads Markdown and the list of public suffixes

    if len(text) > max(QUESTION_CHARS, len(task["question"])):
        raise Stop("invalid_question:too_long", details={"max_chars": QUESTION_CHARS, "chars": len(text)})
    known = policy.known_names
    check_links([text], "invalid_question", cited=[read_user_words(task)], policy=policy, known_names=known)
    said = [*(turn["content"] for turn in task.get("history", ())), task["question"]]
    if policy.check_values and (values := list(_list_unsaid_values(text, said))):
        raise Stop("invalid_question:unsupported_number", unsupported=[*dict.fromkeys(map(shown_name, values))])
    if policy.check_names and (names := find_unsupported_names(text, said, known)):
        raise Stop("invalid_question:unsupported_name", unsupported=list(map(shown_name, names)))


def _list_unsaid_values(text: str, said: list[str]) -> Iterator[str]:
    """Yield the values of a question that no turn has, but for small numbers in one word, which only count."""
    small = {value.text for value in scan_values(text) if value.text.isalpha() and _counts_few(value)}
    yield from (value for value in find_unsupported_values(text, said) if value not in small)


def _counts_few(value: Value) -> bool:
    return value.is_small and min(value.amounts) <= _MOST_COUNTED


DEFAULT_TOP_K = 4  # candidates asked for when an intent does not say


def parse_intent(
    raw: JsonValue, *, allowed_sources: Collection[str], max_top_k: int, other_sources: Collection[str] = ()
) -> Intent:
    """Parse a proposed retrieval intent against the policy list; `other_sources` are those that other lists name."""
    if not isinstance(raw, dict):
        raise Stop("invalid_intent:not_object")
    if raw.get("kind") != "retrieve":
        raise Stop("invalid_intent:kind")
    query = raw.get("query")
    if not isinstance(query, str) or not query.strip():
        raise Stop("invalid_intent:query")
    top_k = raw.get("top_k", min(DEFAULT_TOP_K, max_top_k))
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= max_top_k:
        raise Stop("invalid_intent:top_k")
    intent = Intent(kind="retrieve", query=query.strip(), top_k=top_k)
    if raw.get("sources") is not None:
        intent["sources"] = _parse_intent_sources(raw["sources"], allowed_sources, other_sources)
    return intent


def _parse_intent_sources(raw: JsonValue, allowed: Collection[str], others: Collection[str]) -> list[str]:
    if not isinstance(raw, list) or not raw:
        raise Stop("invalid_intent:sources")
    names = set(allowed)
    return list(dict.fromkeys(_parse_intent_source(item, names, others) for item in raw))


def _parse_intent_source(item: JsonValue, allowed: Collection[str], others: Collection[str]) -> str:
    if not isinstance(item, str) or not item.strip():
        raise Stop("invalid_intent:source_item")
    name = item.strip()
    if name in allowed:
        return name
    reason = f"invalid_intent:source_not_allowed:{shown_name(name)}"
    if name in others:
        raise Denial(reason)
    raise Stop(reason, details={"there_are": ", ".join(sorted(allowed))[:MOST_NAMED]})


def check_sources_switched_on(held: Collection[str], policy: RagPolicy) -> None:
    """Stop a run that holds something of a source which is denied, or not on both lists now."""
    check_denied_sources(held, denied=policy.denied_sources)
    lists = [set(getattr(policy, name)) for name in RagPolicy.filled if name in policy.model_fields_set]
    if lists:
        check_allowed_sources(held, allowed=set.intersection(*lists))


def parse_source_names(raw: JsonValue) -> list[str]:
    """Parse the names of sources that a knowledge base lists."""
    if not isinstance(raw, list) or not all(isinstance(name, str) and name.strip() for name in raw):
        details: JsonObject = {"allowed": "a list of names of sources", "given": excerpt_value(raw)}
        raise Stop("tool_invalid_output:retrieve", details=details)
    return sorted({*raw})


def check_intent_execution(
    intent: Intent,
    *,
    policy: Sequence[str],
    execution: Collection[str],
    denied: Collection[str] = (),
    max_query_chars: int,
) -> list[str]:
    """Hold a valid intent against what the runtime will do now."""
    if len(intent["query"]) > max_query_chars:
        raise Stop("invalid_intent:query_too_long")
    both = sorted((set(policy) & set(execution)) - set(denied))
    if "sources" not in intent:
        return both
    requested = sorted(intent["sources"])
    check_denied_sources(requested, denied=denied)
    check_allowed_sources(requested, allowed=both)
    return requested


def check_denied_sources(sources: Collection[str], *, denied: Collection[str]) -> None:
    """Refuse a source that is denied."""
    for name in sorted({*sources}.intersection(denied)):
        raise Stop(f"source_denied_listed:{shown_name(name)}")


def check_allowed_sources(sources: Collection[str], *, allowed: Collection[str]) -> None:
    """Refuse a source that is not switched on."""
    names = set(allowed)
    for name in sorted(sources):
        if name not in names:
            raise Stop(f"source_denied:{shown_name(name)}")
