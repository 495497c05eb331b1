"""What an incident context says, as sentences for customers: its facts alone, however odd its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from guardgraph.guards.facts import DEFAULT_IGNORED
from guardgraph.guards.wording import normalised
from guardgraph.state.json import JsonObject, JsonValue

__all__ = [
    "actions",
    "current_status",
    "estimate_line",
    "opening_line",
    "other_facts",
    "section_line",
]

_TEXT_CHARS, _LABEL_CHARS = 120, 60
_LEAST, _MOST = 1e-6, 1e6
_NUMBER = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_-]+")

_TIMES = ("minutes", "hours", "days")
_UNITS = {"pct": "%", "percent": "%", "seconds": " seconds", **{unit: f" {unit}" for unit in _TIMES}}
_SHARES = {"pct": 1, "percent": 1, "rate": 100}
"""How the names of shares end, with the factor that makes them per cent."""
_STATES = {"affected": "are affected", "impacted": "are affected", "failed": "are failing", "delayed": "are delayed"}

_PLACED = frozenset(
    {
        *("incident_id", "id", "region", "severity", "report_date", "status", "current_status"),
        *("approved_actions", "next_actions", "eta", *(f"eta_{unit}" for unit in _TIMES)),
    }
)
"""What the other sentences tell."""


def opening_line(context: JsonObject) -> str:
    """Say for whom the update is, what it is about and as of when."""
    incident = _incident(context)
    region = _listed(_texts(incident.get("region")), _TEXT_CHARS)
    number = _text(incident.get("incident_id")) or _text(incident.get("id"))
    severity, date = _text(incident.get("severity")), _text(incident.get("report_date"))
    return "".join(
        [
            "This is an update",
            f" for our {region} customers" if region else "",
            f" on incident {number}" if number else " on the current incident",
            f" (severity {severity})" if severity else "",
            f" as of {date}" if date else "",
        ]
    )


def estimate_line(context: JsonObject) -> str:
    """Say how long recovery is estimated to take; blank where the context does not."""
    incident = _incident(context)
    measured = (_measured([unit], incident.get(f"eta_{unit}")) for unit in _TIMES)
    said = next(filter(None, measured), _text(incident.get("eta")))
    return f"Estimated time to recovery: {said}" if said else ""


def current_status(context: JsonObject) -> str:
    """Return the incident's status in plain words."""
    return _text(_incident(context).get("status")).replace("_", " ")


def actions(context: JsonObject) -> list[str]:
    """Return the approved actions, to follow "we will"."""
    texts = _texts(context.get("approved_actions"))
    return [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in texts]


def section_line(name: str, context: JsonObject, max_chars: int) -> str:
    """Return one section of an update in at most `max_chars` characters.

    Args:
        name: ``current_status``, ``customer_impact``, ``next_actions``, or a key of the context or of its
            incident that holds a text or several.
        context: the incident context.
        max_chars: how long the line may be; of several actions or impacts the first that fit are named.

    Returns:
        The line without a final full stop, blank where the context has nothing to say.
    """
    lead, items = _section(name, context)
    said = _listed(items, max_chars - len(lead) - 1)
    return f"{lead} {said}" if said else ""


def _section(name: str, context: JsonObject) -> tuple[str, list[str]]:
    incident = _incident(context)
    if name == "customer_impact" and (impacts := _impacts(incident)):
        return "Customer impact:", impacts
    if name == "next_actions" and (planned := actions(context)):
        return "Next actions: we will", planned
    status = current_status(context) if name == "current_status" else ""
    return f"{_capital(' '.join(_words(name)))}:", [status] if status else _texts(incident.get(name))


def other_facts(context: JsonObject, max_chars: int) -> list[str]:
    """Return what no other line tells, each fact under its name: *Affected regions: EU and UK*.

    Args:
        context: the incident context.
        max_chars: how long the lines may be together; one that does not fit is left out.
    """
    unplaced = {name: value for name, value in _incident(context).items() if name not in _PLACED}
    lines: list[str] = []
    for words, value in _leaves(unplaced):
        label, said = _fact(words, value, max_chars)
        line = f"{_capital(label)}: {said}"
        if said and len(line) <= max_chars:
            lines.append(line)
            max_chars -= len(line)
    return lines


def _incident(context: JsonObject) -> JsonObject:
    """Return the incident's own fields and those around it as one object."""
    incident = context.get("incident")
    if not isinstance(incident, dict):
        return context
    return {name: value for name, value in context.items() if name != "incident"} | incident


def _impacts(incident: JsonObject) -> list[str]:
    shares = filter(None, (_share(_words(name), value) for name, value in incident.items()))
    return [*shares, *_texts(incident.get("customer_impact")), *_texts(incident.get("impact"))]


def _share(words: Sequence[str], value: JsonValue) -> str:
    """Say how much of something is affected, blank for all else: *27% of checkouts are affected*."""
    scale = _SHARES.get(words[-1], 0) if words else 0
    number = _number(value, 100 / scale, scale) if scale else ""
    states = [word for word in words if word in _STATES]
    things = " ".join(word for word in words[:-1] if word not in _STATES)
    if not number:
        return ""
    if states and things:
        return f"{number}% of {things.removesuffix('s')}s {_STATES[states[0]]}"
    return " ".join([*(word for word in words if word not in _UNITS), f"{number}%"])


def _fact(words: Sequence[str], value: JsonValue, max_chars: int) -> tuple[str, str]:
    """Return a fact as its label and what it says, blank where that is nothing for a text."""
    if measured := _measured(words, value):
        return " ".join([word for word in words if word not in _UNITS] or words), measured
    said = normalised(value).rstrip(".!") if isinstance(value, str) else _listed(_texts(value), max_chars)
    return " ".join(words), said


def _leaves(value: JsonObject) -> Iterator[tuple[list[str], JsonValue]]:
    """Yield what an object holds at any depth, with the words of its path; what has no name is left out."""
    unread: list[tuple[list[str], JsonValue]] = [([], value)]
    while unread:
        words, item = unread.pop()
        if isinstance(item, dict):
            told = ((words + _words(name), child) for name, child in item.items() if name not in DEFAULT_IGNORED)
            unread += reversed([(path, child) for path, child in told if 0 < len(" ".join(path)) <= _LABEL_CHARS])
        elif isinstance(item, list) and any(isinstance(child, dict | list) for child in item):
            unread += [(words, child) for child in reversed(item)]
        else:
            yield words, item


def _words(name: str) -> list[str]:
    parts = _BETWEEN_WORDS.split(name) if len(name) <= _LABEL_CHARS else []
    return [part if part.isupper() else part.lower() for part in parts if part]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _measured(words: Sequence[str], value: JsonValue) -> str:
    """Return a number with the unit that its name ends with."""
    number, unit = _number(value, _MOST), _UNITS.get(words[-1], "")
    return number and number + (unit.removesuffix("s") if number == "1" else unit)


def _number(value: JsonValue, most: float, scale: int = 1) -> str:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _LEAST <= value <= most:
        return ""
    return f"{(Decimal(str(value)) * scale).normalize():f}"


def _text(value: JsonValue) -> str:
    """Return a text of a sentence's length without its full stop, blank for anything else."""
    text = normalised(value).rstrip(".!") if isinstance(value, str) else ""
    return text if len(text) <= _TEXT_CHARS else ""


def _texts(value: JsonValue) -> list[str]:
    return [text for text in map(_text, value if isinstance(value, list) else [value]) if text]


def _listed(items: Sequence[str], max_chars: int) -> str:
    """Return the first items that fit as one list."""
    for count in range(min(len(items), max_chars), 0, -1):
        *most, last = items[:count]
        said = f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last
        if len(said) <= max_chars:
            return said
    return ""
