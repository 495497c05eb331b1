"""The lines of an update: what an incident context says and supports, in words for customers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain

from guardgraph.guards import self_critique as guards
from guardgraph.guards.facts import DEFAULT_IGNORED, facts_in_json, facts_in_text, unsupported
from guardgraph.guards.links import has_supported_links
from guardgraph.guards.self_critique.claims import list_context_texts
from guardgraph.nodes.offline.prose import add_end_mark, capitalise_sentence, join_prose_list, read_prose_sentences
from guardgraph.nodes.offline.record import PLACED, read_incident_record, read_short_text, read_short_texts
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.self_critique import SelfCritiquePolicy


class Allowed:
    """What may be said by the rules of the guards, for one context."""

    def __init__(self, context: JsonObject) -> None:
        hints = context.get("policy_hints")
        strictly = isinstance(hints, dict) and hints.get("avoid_absolute_guarantees") is True
        self._facts = facts_in_json(context)
        self._texts = [*list_context_texts(context.values())]
        self._context, self._strictly = context, strictly

    def is_allowed_text(self, text: str) -> bool:
        """Say whether a text may stand in an update as a sentence or several."""
        text = add_end_mark(text)  # as a critic reads it in the update, so that what the guards found out is remembered
        return (
            has_supported_links(text, cited=self._texts, policy=SelfCritiquePolicy())
            and not unsupported(facts_in_text(text), self._facts)
            and not self.list_forbidden_claims(text)
        )

    def find_allowed_text(self, texts: Iterable[str]) -> str:
        """Return the first text that may stand in an update, blank if none may."""
        return next((text for text in texts if text and self.is_allowed_text(text)), "")

    def list_forbidden_claims(self, text: str) -> list[str]:
        """Name the restricted claims of a text that nothing in the context licenses."""
        return guards.forbidden_claims(text, self._context, avoid_absolute_guarantees=self._strictly)


NO_STATUS = "Current status: not given in our records"
"""The status of an incident whose context names none."""

_LIST_CHARS, _LABEL_CHARS, _TOLD_CHARS = 120, 60, 300
_MOST_AFFECTED = 6
"""How many affected things are named before *and others*."""
_LEAST, _MOST = 1e-6, 1e6
_NUMBER = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_-]+")
_PRIVATE = frozenset({"internal", "private", "secret", "token", "password"})
"""Words in the name of a field that is nobody's business."""

_NEXT = "we will share confirmed details as soon as we have them"
_NONE_LISTED = "none are listed in our records"
_CURRENT, _AFFECTED = "the current incident", "Affected:"

_TIMES = ("minutes", "hours", "days")
_UNITS = {"pct": "%", "percent": "%", "seconds": " seconds", **{unit: f" {unit}" for unit in _TIMES}}
_SHARES = {"pct": 1, "percent": 1, "rate": 100}
"""How the names of shares end, with the factor that makes them per cent."""
_STATES = {"affected": "are affected", "impacted": "are affected", "failed": "are failing", "delayed": "are delayed"}


class Lines:
    """The lines of an update on the incident of one context, each without its full stop and blank if there is none.

    A line may name only what the context supports and claim only what it licenses; what may not be said is left out.
    """

    def __init__(self, context: JsonObject) -> None:
        self.record = read_incident_record(context)
        self.allowed = Allowed(context)
        self.context = context
        self._fields = self.record.fields

    def write_opening_line(self) -> str:
        """Say for whom the update is, what it is about and as of when."""
        record, fields = self.record, self._fields
        region = _fit_item_list(read_short_texts(fields.get("region")), _LIST_CHARS)
        severity, date = read_short_text(fields.get("severity")), read_short_text(fields.get("report_date"))
        number = f"incident {record.incident_number}" if record.incident_number else ""
        title = f"“{record.incident_title}”" if record.incident_title else ""
        subject = f"{number}, {title}" if number else f"the incident {title}"
        return self.allowed.find_allowed_text(
            "".join(
                [
                    "This is an update",
                    f" for our {whom} customers" if whom else "",
                    f" on {what}",
                    f" (severity {level})" if level else "",
                    f" as of {when}" if when else "",
                ]
            )
            for whom, what, level, when in (
                (region, subject if title else number or _CURRENT, severity, date),
                (region, number or _CURRENT, severity, date),
                ("", _CURRENT, "", ""),
            )
        )

    def write_section_line(self, name: str, max_chars: int) -> str:
        """Return one section of the update.

        Args:
            name: ``current_status``, ``customer_impact``, ``next_actions``, or a key of the context or of its
                incident that holds a text or several.
            max_chars: how long the line may be; of several actions or impacts the first that fit are named.
        """
        if name == "current_status" and (status := self.allowed.find_allowed_text(self._try_status_lines())):
            return status if len(status) <= max_chars else ""
        lead, items = self._find_section_texts(name)
        said = _fit_item_list(items, max_chars - len(lead) - 1, others="others" if lead == _AFFECTED else "")
        return self.allowed.find_allowed_text([f"{lead} {said}" if said else ""])

    def write_affected_line(self, max_chars: int) -> str:
        """Name what is affected."""
        said = _fit_item_list(self.record.names_of_affected, max_chars - len(_AFFECTED) - 1, others="others")
        return self.allowed.find_allowed_text([f"{_AFFECTED} {said}" if said else ""])

    def write_estimate_line(self) -> str:
        """Say how long recovery is estimated to take."""
        measured = (_format_field_with_unit([unit], self._fields.get(f"eta_{unit}")) for unit in _TIMES)
        said = next(filter(None, measured), read_short_text(self._fields.get("eta")))
        return self.allowed.find_allowed_text([f"Estimated time to recovery: {said}" if said else ""])

    @cached_property
    def next_action_texts(self) -> list[str]:
        """Return the approved actions, to follow "we will"."""
        texts = read_short_texts(self.context.get("approved_actions"))
        return [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in texts]

    def write_other_facts(self, max_chars: int) -> list[str]:
        """Return what no other line tells, each fact under its name: *Affected regions: EU and UK*.

        Args:
            max_chars: how long the lines may be together; one that does not fit is left out.
        """
        unplaced = {name: value for name, value in self._fields.items() if name not in PLACED}
        lines: list[str] = []
        for words, value in _walk_incident_fields(unplaced):
            label, said = _describe_incident_fact(words, value, max_chars)
            line = f"{capitalise_sentence(label)}: {said}"
            if said and len(line) <= max_chars and self.allowed.is_allowed_text(line):
                lines.append(line)
                max_chars -= len(line)
        return lines

    def _try_status_lines(self) -> Iterator[str]:
        """Yield ways to say the status, each claiming less than the one before: at last, only what is not said."""
        if status := self.record.incident_status:
            yield f"Current status: {status}"
            if self.allowed.list_forbidden_claims(status):
                yield f"Current status: our records give it as {status}"
                yield f"Current status: we cannot yet confirm that it is {status}, as our records say"
                yield "Current status: the one in our records is not yet confirmed"
        elif self.record.is_open_incident:
            yield "Current status: not resolved"
        elif ends := self.record.list_end_times():
            yield from (f"Current status: our records give the end as {end}" for end in ends)
            yield from (f"Current status: the latest time in our records is {end}" for end in ends)

    def _find_section_texts(self, name: str) -> tuple[str, list[str]]:
        if name == "customer_impact":
            impacts = _list_impact_texts(self._fields)
            return ("Customer impact:", impacts) if impacts else (_AFFECTED, self.record.names_of_affected)
        if name == "next_actions" and (planned := self.next_action_texts):
            return "Next actions: we will", planned
        texts = read_short_texts(self._fields.get(name))
        if name == "next_actions" and not texts:
            texts = [_NONE_LISTED if self.record.is_closed_incident else _NEXT]
        return f"{capitalise_sentence(' '.join(_split_field_name(name)))}:", texts


def _list_impact_texts(incident: JsonObject) -> list[str]:
    shares = filter(
        None, (_describe_affected_share(_split_field_name(name), value) for name, value in incident.items())
    )
    told = (incident.get(name) for name in ("customer_impact", "impact"))
    texts = (
        read_short_texts(text) or [_fit_whole_sentences(text, _TOLD_CHARS) if isinstance(text, str) else ""]
        for text in told
    )
    return [*shares, *filter(None, chain.from_iterable(texts))]


def _describe_affected_share(words: Sequence[str], value: JsonValue) -> str:
    """Say how much of something is affected, blank for all else: *27% of checkouts are affected*."""
    scale = _SHARES.get(words[-1], 0) if words else 0
    number = _format_incident_number(value, 100 / scale, scale) if scale else ""
    states = [word for word in words if word in _STATES]
    things = " ".join(word for word in words[:-1] if word not in _STATES)
    if not number:
        return ""
    if states and things:
        return f"{number}% of {things.removesuffix('s')}s {_STATES[states[0]]}"
    return " ".join([*(word for word in words if word not in _UNITS), f"{number}%"])


def _describe_incident_fact(words: Sequence[str], value: JsonValue, max_chars: int) -> tuple[str, str]:
    """Return a fact as its label and what it says, blank where that is nothing for a text."""
    if measured := _format_field_with_unit(words, value):
        return " ".join([word for word in words if word not in _UNITS] or words), measured
    said = _fit_item_list(read_short_texts(value), max_chars) or (
        _fit_whole_sentences(value, max_chars) if isinstance(value, str) else ""
    )
    return " ".join(words), said


def _walk_incident_fields(value: JsonObject) -> Iterator[tuple[list[str], JsonValue]]:
    """Yield what an object holds at any depth, with the words of its path; what has no name is left out."""
    unread: list[tuple[list[str], JsonValue]] = [([], value)]
    while unread:
        words, item = unread.pop()
        if isinstance(item, dict):
            told = (
                (words + _split_field_name(name), child) for name, child in item.items() if not _is_private_field(name)
            )
            unread += reversed([(path, child) for path, child in told if 0 < len(" ".join(path)) <= _LABEL_CHARS])
        elif isinstance(item, list) and any(isinstance(child, dict | list) for child in item):
            unread += [(words, child) for child in reversed(item)]
        else:
            yield words, item


def _is_private_field(name: str) -> bool:
    return name in DEFAULT_IGNORED or name.startswith("_") or not _PRIVATE.isdisjoint(_split_field_name(name))


def _split_field_name(name: str) -> list[str]:
    parts = _BETWEEN_WORDS.split(name) if len(name) <= _LABEL_CHARS else []
    return [part if part.isupper() else part.lower() for part in parts if part]


def _format_field_with_unit(words: Sequence[str], value: JsonValue) -> str:
    """Return a number with the unit that its name ends with."""
    number, unit = _format_incident_number(value, _MOST), _UNITS.get(words[-1], "")
    return number and number + (unit.removesuffix("s") if number == "1" else unit)


def _format_incident_number(value: JsonValue, most: float, scale: int = 1) -> str:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _LEAST <= value <= most:
        return ""
    return f"{(Decimal(str(value)) * scale).normalize():f}"


def _fit_whole_sentences(text: str, max_chars: int) -> str:
    """Return as many sentences of a text as fit, without the last full stop."""
    said = ""
    for sentence in read_prose_sentences(text):
        if len(said) + len(sentence) >= max_chars:
            break
        said = f"{said} {sentence}".strip()
    return said.rstrip(".!")


def _fit_item_list(items: Sequence[str], max_chars: int, *, others: str = "") -> str:
    """Return the first items that fit as one list, with a word for the others where some are left out."""
    most = min(len(items), max_chars, _MOST_AFFECTED if others else len(items))
    for count in range(most, 0, -1):
        said = join_prose_list([*items[:count], others] if others and count < len(items) else items[:count])
        if len(said) <= max_chars:
            return said
    return ""
