"""The incident of a context, whatever its fields are called and wherever it stands: short texts and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

from guardgraph.grounding.words import list_word_keys, split_words
from guardgraph.nodes.offline.prose import read_prose_line, read_prose_sentences
from guardgraph.plain.json import JsonObject, JsonValue

_SHORT_CHARS = 120
"""A longer text is no part of a sentence."""
_MOST_ITEMS = 200
"""How many objects are looked through, and how many items of a list are read."""
_MOST_DEPTH = 4
"""How deep in lists and objects the text of an update may stand."""
_FEWEST_WORDS = 3
"""A text without a name that says so is a message if it has as many words; shorter ones are labels."""

_NUMBERS = ("incident_id", "id")
_TITLES = ("title", "headline", "name", "subject")
_STATES = ("status", "current_status", "state")
_ENDS = ("resolved_when", "resolved_at", "ended_at", "end_time", "closed_at", "completed_at")
_PLANS = ("approved_actions", "next_actions")
_FLAGS = ("resolved", "is_resolved")
_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<minute>\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?", re.ASCII
)
"""A point of time (ISO 8601)."""
_UTC = ("Z", "+00:00", "-00:00", "+0000", "-0000")
_STORIES = ("summary", "description", "what_happened", "message", "body", "text", "details", "report", "overview")
_UPDATES = ("updates", "incident_updates", "timeline", "history", "messages")
_AFFECTED = ("affected", "affected_services", "affected_components", "components", "services")
_TIMES = ("at", "time", "timestamp", "date", "created_at", "updated_at", "display_at")
_MARKS = frozenset({"title", "status", "current_status", *_STORIES, *_UPDATES})
"""What an object has that is an incident."""

PLACED = frozenset(
    {
        *(*_NUMBERS, *_TITLES, *_STATES, *_ENDS, *_FLAGS, *_STORIES, *_UPDATES, *_AFFECTED, *_TIMES),
        *("region", "severity", "report_date", *_PLANS),
        *("eta", "eta_minutes", "eta_hours", "eta_days"),
    }
)
"""Fields that have a place of their own in an update, or none."""

_CLOSED = frozenset({"resolved", "closed", "recovered", "completed", "fixed", "postmortem"})


class IncidentRecord:
    """What a context says about its incident."""

    def __init__(self, fields: JsonObject) -> None:
        self.fields = fields
        """The incident's own fields and those around it."""

    @cached_property
    def incident_number(self) -> str:
        """The incident's id."""
        return self._read_short_field(_NUMBERS)

    @cached_property
    def incident_title(self) -> str:
        """What the incident is called."""
        return self._read_short_field(_TITLES)

    @cached_property
    def incident_status(self) -> str:
        """The incident's status in plain words, else that of its latest update."""
        known = next((said for name in _STATES if (said := _describe_incident_status(self.fields.get(name)))), "")
        updates = [] if known else self._updates_by_time
        latest = updates[-1] if updates else None
        said = _describe_incident_status(latest.get("status")) if isinstance(latest, dict) else known
        return said.replace("_", " ")

    @cached_property
    def is_closed_incident(self) -> bool:
        """Whether the status says that the incident is over, or where there is none, another field."""
        if status := self.incident_status:
            return " ".join(list_word_keys(status)) in _CLOSED
        return bool(self._read_short_field(_ENDS)) or self._has_flag_value(True, "true", "yes")

    @cached_property
    def is_open_incident(self) -> bool:
        """Whether the context says in so many words that the incident is not over."""
        return self._has_flag_value(False, "false", "no")

    @cached_property
    def has_next_actions(self) -> bool:
        """Whether the context says what is done next."""
        return any(read_short_texts(self.fields.get(name)) for name in _PLANS)

    @cached_property
    def names_of_affected(self) -> list[str]:
        """What is affected, by name."""
        named = (_list_incident_names(self.fields.get(field)) for field in _AFFECTED)
        return list(dict.fromkeys(chain.from_iterable(named)))

    def read_summary_sentences(self) -> Iterator[str]:
        """Yield the sentences of the summary, else those of the first update."""
        messages = next((said for name in _STORIES if (said := _list_update_messages(self.fields.get(name)))), None)
        return _read_message_sentences(
            messages if messages is not None else _list_update_messages(next(iter(self._updates_by_time), None))
        )

    def read_latest_update(self) -> Iterator[str]:
        """Yield the sentences of the latest update."""
        return _read_message_sentences(_list_update_messages(next(reversed(self._updates_by_time), None)))

    def list_end_times(self) -> list[str]:
        """Return when the incident ended, in words that a person reads first: day and minute, then as written."""
        end = self._read_short_field(_ENDS)
        moment = _MOMENT.fullmatch(end)
        if not moment:
            return [end] if end else []
        minute = f"{moment['day']} {moment['minute']}"
        return [*([f"{minute} UTC"] if moment["zone"] in _UTC else []), minute, end]

    def _has_flag_value(self, *values: JsonValue) -> bool:
        return any(self.fields.get(name) in values for name in _FLAGS if name in self.fields)

    def _read_short_field(self, names: Sequence[str]) -> str:
        return next((said for name in names if (said := read_short_text(self.fields.get(name)))), "")

    @cached_property
    def _updates_by_time(self) -> list[JsonValue]:
        """Return the updates in the order of their times where each has one, else as they stand."""
        value = next((value for name in _UPDATES if (value := self.fields.get(name))), None)
        if isinstance(value, dict) and not any(name in value for name in _STORIES):
            value = list(value.values())
        items = [
            item
            for item in (value if isinstance(value, list) else [value])[:_MOST_ITEMS]
            if _list_update_messages(item)
        ]
        times = [_read_update_time(item) for item in items]
        return [items[at] for at in sorted(range(len(items)), key=times.__getitem__)] if all(times) else items


def read_incident_record(context: JsonObject) -> IncidentRecord:
    """Return the incident of a context.

    Args:
        context: the incident context; the incident stands under ``incident``, in the context itself or in an
            object inside it.
    """
    incident = context.get("incident")
    around = {name: value for name, value in context.items() if name != "incident" or not isinstance(incident, dict)}
    fields = around | incident if isinstance(incident, dict) else around
    return IncidentRecord(fields if not _MARKS.isdisjoint(fields) else fields | _find_inner_incident(fields))


def _find_inner_incident(fields: JsonObject) -> JsonObject:
    """Return the first object inside that looks like an incident, breadth first."""
    unread = [value for name, value in fields.items() if name not in ("policy_hints", "limits")]
    for at in range(_MOST_ITEMS):
        item = unread[at] if at < len(unread) else None
        if isinstance(item, dict):
            if not _MARKS.isdisjoint(item):
                return item
            unread += item.values()
    return {}


def read_short_text(value: JsonValue) -> str:
    """Return a text of a sentence's length without markup and full stop, blank for anything else."""
    text = read_prose_line(value) if isinstance(value, str) else ""
    return text if len(text) <= _SHORT_CHARS else ""


def read_short_texts(value: JsonValue) -> list[str]:
    """Return the short texts of a value that is one or a list of them."""
    return [text for text in map(read_short_text, value if isinstance(value, list) else [value]) if text]


def _describe_incident_status(value: JsonValue) -> str:
    """Return a status: a text, or the longest text of a list or an object."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return max(map(read_short_text, inner), key=len, default="")


def _list_incident_names(value: JsonValue) -> list[str]:
    """Return the names of a text, of an object or of each item of a list."""
    items = value[:_MOST_ITEMS] if isinstance(value, list) else [value]
    named = (_read_incident_name(item) if isinstance(item, dict) else read_short_text(item) for item in items)
    return [name for name in named if name]


def _read_incident_name(value: JsonObject) -> str:
    return next((said for name in _TITLES if (said := read_short_text(value.get(name)))), "")


def _list_update_messages(value: JsonValue, depth: int = _MOST_DEPTH) -> list[str]:
    """Return the texts of a field that are messages: an object's by name, else its longest."""
    if isinstance(value, str):
        return [value] if split_words(value[:_SHORT_CHARS]) else []
    if depth and isinstance(value, list):
        return [said for item in value[:_MOST_ITEMS] for said in _list_update_messages(item, depth - 1)]
    if not depth or not isinstance(value, dict):
        return []
    for name in _STORIES:
        if said := _list_update_messages(value.get(name), depth - 1):
            return said
    texts = [text for text in value.values() if isinstance(text, str)]
    longest = max(texts, key=len, default="")
    return [longest] if len(split_words(longest[:_SHORT_CHARS])) >= _FEWEST_WORDS else []


def _read_message_sentences(messages: Sequence[str]) -> Iterator[str]:
    return chain.from_iterable(map(read_prose_sentences, messages))


def _read_update_time(item: JsonValue) -> str:
    """Return an update's time, blank where it has none that sorts as a text (ISO 8601)."""
    times = [item.get(name) for name in _TIMES] if isinstance(item, dict) else []
    return next((time for time in times if isinstance(time, str) and time[:4].isdecimal() and time[4:5] == "-"), "")
