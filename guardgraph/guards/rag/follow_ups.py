"""A question that follows a conversation: which turns are read, and what its rewriting may say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from guardgraph.grounding.names import find_unsupported_names
from guardgraph.grounding.values import Value, find_unsupported_values, scan_values
from guardgraph.guards.stop import Stop, parse_history, read_request_text, shown_name
from guardgraph.plain.json import JsonValue
from guardgraph.state.rag import RagPolicy, RagTask
from guardgraph.state.run import Turn

_MOST_COUNTED: Final = 5
"""What a question may count to without a turn that says so: "the first response", "which of the three"."""
QUESTION_CHARS: Final = 2000
"""Characters of a standalone question; one may be as long as the user's own all the same."""


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
