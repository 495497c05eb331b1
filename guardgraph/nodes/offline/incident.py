"""What an incident context says, as sentences for customers: its facts alone, however odd its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from guardgraph.guards.wording import normalised
from guardgraph.state.json import JsonObject, JsonValue

__all__ = ["actions", "estimate_line", "incident_of", "opening_line", "section_line", "short_text"]

_TEXT_CHARS = 120
_LEAST, _MOST_MINUTES = 1e-6, 1e6
_MEASURED = re.compile(r"[a-z]+(?:_[a-z]+)*_(pct|rate)")
_IMPACTS = {
    "affected_checkout_pct": "{}% of checkouts are affected",
    "failed_payment_rate": "{}% of payments are failing",
}


def short_text(value: JsonValue) -> str:
    """Return a text of a sentence's length without its full stop, blank for anything else."""
    text = normalised(value).rstrip(".!") if isinstance(value, str) else ""
    return text if len(text) <= _TEXT_CHARS else ""


def incident_of(context: JsonObject) -> JsonObject:
    """Return the incident of a context, or the context itself where it holds no other."""
    incident = context.get("incident")
    return incident if isinstance(incident, dict) else context


def opening_line(context: JsonObject) -> str:
    """Say for whom the update is, what it is about and as of when."""
    incident = incident_of(context)
    region, number = short_text(context.get("region")), short_text(incident.get("incident_id"))
    severity, date = short_text(incident.get("severity")), short_text(context.get("report_date"))
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
    minutes = _number(incident_of(context).get("eta_minutes"), _MOST_MINUTES)
    unit = "minute" if minutes == "1" else "minutes"
    return f"Estimated time to recovery: {minutes} {unit}" if minutes else ""


def section_line(name: str, context: JsonObject, max_chars: int) -> str:
    """Return one section of an update in at most `max_chars` characters.

    Args:
        name: ``current_status``, ``customer_impact``, ``next_actions``, or a key of the context or of its
            incident that holds a text.
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
    status = incident.get("status") if name == "current_status" else None
    said = short_text(status) or short_text(incident.get(name)) or short_text(context.get(name))
    return f"{normalised(name.replace('_', ' ')).capitalize()}:", [said] if said else []


def actions(context: JsonObject) -> list[str]:
    """Return the approved actions, to follow "we will"."""
    given = context.get("approved_actions")
    texts = map(short_text, given if isinstance(given, list) else [])
    return [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in texts if text]


def _impacts(incident: JsonObject) -> list[str]:
    impacts = []
    for key, value in incident.items():
        match = _MEASURED.fullmatch(key)
        scale = 100 if match and match[1] == "rate" else 1
        number = _number(value, 100 / scale, scale) if match and len(key) <= _TEXT_CHARS else ""
        if match and number:
            label = key.removesuffix(f"_{match[1]}").replace("_", " ")
            impacts.append(_IMPACTS.get(key, f"{label} {{}}%").format(number))
    return impacts


def _number(value: JsonValue, most: float, scale: int = 1) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _LEAST <= value <= most:
        return ""
    return f"{(Decimal(str(value)) * scale).normalize():f}"


def _listed(items: Iterable[str]) -> str:
    *most, last = items
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last
