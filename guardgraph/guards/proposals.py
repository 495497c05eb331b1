"""What guards make of the outcome of a call: a proposal, what a tool found or a person said, or the stop that it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from guardgraph.grounding.sentences import find_sentence_spans
from guardgraph.grounding.words import list_word_keys
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, excerpt_value, parse_json
from guardgraph.state.catalogue import EFFECT_UNKNOWN, EFFECT_UNRECORDABLE
from guardgraph.state.outcome import Outcome

SHORTEST_FENCE = 3  # backticks or tildes that make a fence, by CommonMark

_THOUGHT = re.compile(
    r"(?:</think(?:ing)?[ \t]*>|</thought[ \t]*>|\[/think\]|<\|channel\|>final[^<]{0,40}<\|message\|>)\s*",
    re.IGNORECASE,
)
"""What ends what open models think before they reply; what begins it may stand in their prompt."""
_REPLY_MARKS: Final = ("{", "[", "`", "~")  # what an object, a list or a fence begins with
_ENDS: Final = re.compile(r"(?:<\|(?:return|end|im_end|eot_id)\|>\s*)+\Z")
"""What some servers leave behind a reply, of the marks by which a model ends it."""
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)', re.DOTALL)
_LENIENT_FORMS: Final = ("json", "none", "text", "calls")
"""Forms in which a model was asked that no schema held: there may be words around its object."""
AS_TEXT: Final = "text"  # form of a reply that was asked for as a text, in place of JSON
_MOST_READINGS: Final = 16
"""Ends of thinking behind which a reply is looked for, so that a hostile text takes no longer than another one."""


class Proposal(NamedTuple):
    """A proposal that arrived: a value nobody has validated, and where it came from."""

    value: JsonValue
    text: str | None  # the model's own text; None when a Runnable returned the value
    about: JsonObject
    problem: str = ""  # what makes the text no JSON, "" where it is JSON or there is none

    @property
    def unreadable(self) -> bool:
        """Whether the text is no JSON."""
        return bool(self.problem)

    @property
    def raw(self) -> JsonValue:
        """What stops show as evidence: the value, or the text where it is no JSON."""
        return self.text if self.unreadable else self.value


def proposal(packed: str) -> Proposal:
    """Read what a propose node wrote; a text that is no JSON, plain or in one Markdown fence, has the value None.

    Raises:
        Stop: the model failed (``llm_…``).
    """
    outcome = Outcome.unpacked(packed)
    if outcome.form == "failure":
        raise Stop(outcome.content["reason"], details=outcome.content["details"])
    if outcome.form == "value":
        return Proposal(outcome.content, None, outcome.about)
    try:
        is_lenient = outcome.about.get("form") in _LENIENT_FORMS
        return Proposal(_parse_proposal_json(outcome.content, is_lenient), outcome.content, outcome.about)
    except NotJson as error:
        return Proposal(None, outcome.content, outcome.about, str(error) or "no JSON")


def _parse_proposal_json(text: str, is_lenient: bool) -> JsonValue:
    """Return the JSON that a model's text is, or the object inside the one Markdown fence that it is."""
    try:
        return _parse_model_reply(text)
    except NotJson as error:
        problem = error
    text = _ENDS.sub("", text)
    ends = [match.end() for match in _THOUGHT.finditer(text)]
    places = [at for at in ends if at == ends[-1] or text.startswith(_REPLY_MARKS, at)]
    for at in places[: -_MOST_READINGS - 1 : -1]:
        try:
            return _parse_model_reply(text[at:])
        except NotJson as error:
            problem = error
    if is_lenient and (found := _find_last_object(text[ends[-1] if ends else 0 :])) is not None:
        return found
    raise problem


def read_text_reply(given: Proposal) -> str | None:
    """Return the text of a model that was asked for one in place of JSON, None of any other proposal."""
    if given.text is None or given.about.get("form") != AS_TEXT or isinstance(given.value, dict):
        return None
    text = _THOUGHT.split(_ENDS.sub("", given.text))[-1].strip()
    text = _unwrap_proposal_fence(text) or text
    lines, known = list[str](), set[str]()
    for line in text.splitlines():
        item = line[mark.end() :] if (mark := _LISTED.match(line)) else line
        if not item.startswith(_ASKED) and _is_new_text(item, known):
            lines.append(line[: len(line) - len(item)].lstrip("[").replace("]", ".") + _drop_repeated_sentences(item))
    kept = "\n".join(lines).strip()
    return kept or text.replace(_ASKED, "", 1).strip()


_LISTED = re.compile(r"\W*\d{1,3}[.)\]]\s+")  # what stands in front of an item of a list


_ASKED = "Question:"
"""What the line with the question begins with in what a model is asked; it may go on with that line."""


def _drop_repeated_sentences(line: str) -> str:
    known, spans = set[str](), find_sentence_spans(line)
    again = [(start, end) for start, end in spans if not _is_new_text(line[start:end], known)]
    for start, end in reversed(again):
        line = line[:start].rstrip() + line[end:]
    return line


def _is_new_text(text: str, known: set[str]) -> bool:
    """Say whether words do not stand in what is known, and take them down there; what has no word is always new."""
    words = " ".join(list_word_keys(text))
    is_new = not words or words not in known
    known.add(words)
    return is_new


def _find_last_object(text: str) -> JsonObject | None:
    mended = _STRING.sub(lambda match: re.sub(r"[\n\r\t]", _escape_control_character, match[0]), text)
    decoder, last, at = json.JSONDecoder(), None, mended.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            break
        try:
            _, end = decoder.raw_decode(mended, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            last = mended[at:end]
        at = mended.find("{", end)
    try:
        value = None if last is None else parse_json(last, exact_numbers=True)
    except NotJson:
        return None
    return value if isinstance(value, dict) else None


_MOST_OBJECTS: Final = 64
"""Braces at which an object is looked for, so that a hostile text takes no longer than another one."""


def _escape_control_character(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def _parse_model_reply(text: str) -> JsonValue:
    """Return the JSON that a text is, or the object inside the one Markdown fence that it is; else raise `NotJson`."""
    if (inside := _unwrap_proposal_fence(text)) is None:
        return parse_json(text, exact_numbers=True)
    if not isinstance(value := parse_json(inside, exact_numbers=True), dict):
        raise NotJson("no object in the fence")
    return value


def _unwrap_proposal_fence(text: str) -> str | None:
    """Return what stands inside a Markdown fence, None where the text is not one fence from beginning to end."""
    opening, _, rest = text.strip().partition("\n")
    inside, _, closing = rest.rpartition("\n")
    mark = opening[:1]
    length = len(opening) - len(opening.lstrip(mark))
    is_opened = mark in ("`", "~") and length >= SHORTEST_FENCE and "`" not in opening[length:]
    is_closed = len(closing.strip()) >= length and not closing.strip().strip(mark)
    return inside if is_opened and is_closed else None


def proposed_object(packed: str, read_text: Callable[[str], JsonValue] | None = None) -> Proposal:
    """Read a proposal whose fields a guard judges with the pattern's own reasons.

    Args:
        packed: what a propose node wrote.
        read_text: what makes the object of a reply that was asked for as a text and is none.

    Raises:
        Stop: ``llm_invalid_json`` for a model's text that is no JSON object, other ``llm_…`` when it failed.
    """
    given = proposal(packed)
    if read_text is not None and (text := read_text_reply(given)) is not None:
        given = given._replace(value=read_text(text), problem="")
    if given.text is not None and not isinstance(given.value, dict):
        raise Stop("llm_invalid_json", details={"text": excerpt_value(given.text)})
    return given


def proposed_text(packed: str, name: str, lists: tuple[str, ...] = ()) -> Proposal:
    """Read a proposal that carries a text, as an answer, a draft and a revision do.

    A value that a Runnable returned passes as it is: the pattern's own guard judges it.

    Args:
        packed: what a propose node wrote.
        name: the field that holds the text.
        lists: fields that hold lists of strings.

    Raises:
        Stop: ``llm_invalid_json``, ``llm_invalid_schema``, ``llm_empty``, or other ``llm_…`` when the model failed.
    """
    given = proposed_object(packed, lambda text: {name: text})
    if given.text is not None:
        check_proposed_text(given.value, name, lists)
    return given


def check_proposed_text(value: JsonValue, name: str, lists: tuple[str, ...] = ()) -> None:
    """Check that a value is an object with a text under `name` and lists of strings under `lists`."""
    fields = value if isinstance(value, dict) else {}
    wrong = [] if isinstance(fields.get(name), str) else [name]
    wrong += [key for key in lists if not _is_proposed_list(fields.get(key))]
    if wrong:
        raise Stop("llm_invalid_schema", details={"fields": wrong, "given": excerpt_value(value)})
    if not fields[name].strip():
        raise Stop("llm_empty", details={"field": name})


def _is_proposed_list(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def found(packed: str, tool: str) -> JsonValue:
    """Read what a tool returned, as an act node wrote it.

    Raises:
        Stop: ``tool_invalid_output:<tool>`` when it raised or broke its contract, ``max_seconds`` when it outlasted the
            run's time, ``tool_unavailable:<tool>`` or ``tool_circuit_open:<tool>`` when it was not called; of a write
            ``effect_unknown:<tool>`` and ``effect_unrecordable:<tool>``.
    """
    outcome = Outcome.unpacked(packed)
    if outcome.form != "failure":
        return outcome.content
    raise build_tool_stop(outcome, tool)


def build_tool_stop(outcome: Outcome, tool: str) -> Stop:
    """Return the stop that a tool's failure is; see `found`."""
    reason, details = outcome.content["reason"], outcome.content["details"]
    if reason.partition(":")[0] in (EFFECT_UNKNOWN, EFFECT_UNRECORDABLE):
        return Stop(reason, details=details)
    named = {"max_seconds": reason, **{name: f"{name}:{tool}" for name in ("tool_unavailable", "tool_circuit_open")}}
    return Stop(named.get(reason, f"tool_invalid_output:{tool}"), details=details)


def reviewed(packed: str) -> JsonObject:
    """Return the whole answer of a person who approved: the hash of what was shown, the decision, and what they added.

    A guard that has a way on after a no unpacks the `Outcome` itself.

    Raises:
        Stop: ``review_unavailable``, ``review_expired`` or ``review_rejected``; details say why.
        NotJson: no person's answer was packed there.
    """
    outcome = Outcome.unpacked(packed)
    if outcome.form == "failure":
        raise Stop(outcome.content["reason"], details=outcome.content["details"])
    if not isinstance(outcome.content, dict):
        raise NotJson("not what a person answered")
    return outcome.content


def read_reviewer(packed: str) -> JsonObject:
    """Return who answered: ``{"status": "verified", "name": …, "roles": […]}``, or ``{"status": "unverified"}``.

    It is unverified where the graph has no reviewers, or nobody answered.
    """
    reviewer = Outcome.unpacked(packed).about.get("reviewer")
    return reviewer if isinstance(reviewer, dict) else {"status": "unverified"}
