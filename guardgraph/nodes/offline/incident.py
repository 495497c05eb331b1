"""What an incident context says, as sentences for customers: its facts alone, however odd its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from guardgraph.guards.facts import DEFAULT_IGNORED
from guardgraph.guards.wording import normalised
from guardgraph.state.json import JsonObject, JsonValue

__all__ = [
    "actions",
    "current_status",
    "estimate_line",
    "incident_of",
    "opening_line",
    "other_facts",
    "section_line",
    "short_text",
]

_TEXT_CHARS, _LABEL_CHARS = 120, 60
_LEAST, _MOST = 1e-6, 1e6
_PLAIN_NUMBER = re.compile(r"\d{1,7}(?:\.\d{1,6})?")
_NAME_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_-]+")

_TIMES = ("seconds", "minutes", "hours", "days")
_UNITS = {"pct": "%", "percent": "%", "ms": " ms", **{unit: f" {unit}" for unit in _TIMES}}
_SHARES = {"pct": 1, "percent": 1, "rate": 100}
"""What a share of something ends with, and the factor that makes it per cent."""
_STATES = {"affected": "are affected", "impacted": "are affected", "failed": "are failing", "delayed": "are delayed"}

_PLACED = frozenset(
    {
        *("incident", "incident_id", "id", "region", "severity", "report_date", "status", "current_status"),
        *("customer_impact", "impact", "approved_actions", "next_actions", "eta", *(f"eta_{unit}" for unit in _TIMES)),
        *DEFAULT_IGNORED,
    }
)
"""Keys whose facts have a sentence of their own, and those that hold none."""


def short_text(value: JsonValue) -> str:
    """Return a text of a sentence's length without its full stop, blank for anything else."""
    return _text(value, _TEXT_CHARS)


def incident_of(context: JsonObject) -> JsonObject:
    """Return what a context says of its incident: the incident's own fields before the context's."""
    incident = context.get("incident")
    return {**context, **incident} if isinstance(incident, dict) else context


def opening_line(context: JsonObject) -> str:
    """Say for whom the update is, what it is about and as of when."""
    incident = incident_of(context)
    region = _listed(_texts(incident.get("region")))
    number = short_text(incident.get("incident_id")) or short_text(incident.get("id"))
    severity, date = short_text(incident.get("severity")), short_text(incident.get("report_date"))
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
    incident = incident_of(context)
    keys = ("eta", *(f"eta_{unit}" for unit in _TIMES))
    said = next((said for key in keys if (said := _said(key, incident.get(key), _TEXT_CHARS))), "")
    return f"Estimated time to recovery: {said}" if said else ""


def current_status(context: JsonObject) -> str:
    """Return the incident's status in plain words."""
    return short_text(incident_of(context).get("status")).replace("_", " ")


def section_line(name: str, context: JsonObject, max_chars: int) -> str:
    """Return one section of an update in at most `max_chars` characters.

    Args:
        name: ``current_status``, ``customer_impact``, ``next_actions``, or a key of the context or of its
            incident that holds texts.
        context: the incident context.
        max_chars: how long the line may be; of several actions or impacts the first that fit are named.

    Returns:
        The line without a final full stop, blank where the context has nothing to say.
    """
    lead, items = _section(name, context)
    lines = (f"{lead} {_listed(items[:count])}" for count in range(len(items), 0, -1))
    return next((line for line in lines if len(line) <= max_chars), "")


def _section(name: str, context: JsonObject) -> tuple[str, list[str]]:
    incident = incident_of(context)
    if name == "customer_impact" and (impacts := _impacts(incident)):
        return "Customer impact:", impacts
    if name == "next_actions" and (planned := actions(context)):
        return "Next actions: we will", planned
    status = current_status(context) if name == "current_status" else ""
    return _label(name), [status] if status else _texts(incident.get(name))


def other_facts(context: JsonObject, max_chars: int) -> list[str]:
    """Return what has no section of its own, each fact under its name: *Affected regions: EU and UK*.

    Args:
        context: the incident context.
        max_chars: how long the lines may be together; a longer one is left out.
    """
    incident = incident_of(context)
    lines = []
    for name, value in _leaves({key: value for key, value in incident.items() if key not in _PLACED}):
        said = _said(name, value, max_chars)
        line = f"{_label(name, value)} {said}"
        if said and len(line) <= max_chars:
            lines.append(line)
            max_chars -= len(line)
    return lines


def actions(context: JsonObject) -> list[str]:
    """Return the approved actions, to follow "we will"."""
    texts = _texts(context.get("approved_actions"))
    return [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in texts]


def _impacts(incident: JsonObject) -> list[str]:
    told = incident.get("customer_impact") or incident.get("impact")
    impacts = [_share(name, value) for name, value in incident.items()]
    if isinstance(told, dict):
        impacts += [_share(name, value) or _fact(name, value) for name, value in _leaves(told)]
    return [impact for impact in impacts if impact] or _texts(told)


def _share(name: str, value: JsonValue) -> str:
    """Say how much of something is affected, or how many: *27% of checkouts are affected*; blank for all else."""
    words = _words(name)
    scale = _SHARES.get(words[-1], 0) if words else 0
    number = _number(value, 100 / scale, scale) if scale else _number(value, _MOST)
    states = [word for word in words if word in _STATES]
    if not number or not (scale or states):
        return ""
    things = " ".join(word for word in words if word not in states and word not in _SHARES)
    if not states or not things:
        return f"{' '.join(word for word in words if word not in _UNITS)} {number}%"
    things += "" if things.endswith("s") else "s"
    return f"{number}% of {things} {_STATES[states[0]]}" if scale else f"{number} {things} {_STATES[states[0]]}"
