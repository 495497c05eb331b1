"""Redaction: what a deployment does not want to keep is replaced in a recording before a store gets to see it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import RESULT_DEPTH, is_nested_too_deep, refuse_repeated_keys
from guardgraph.state.recording import (
    BegunRun,
    Fingerprints,
    RecordedAttempt,
    RecordedCall,
    RecordedVisit,
    Recording,
    RunNote,
)
from guardgraph.state.run import RECORDED, Asking, LiveReading, Ok, Opening, Switch, TimelineEntry, Unreadable

Place: TypeAlias = tuple[str | int, ...]
"""Keys and indices; in a path ``*`` stands for any one of them, ``**`` for any number."""

FORM: dict[Place, frozenset[str]] = {
    (): frozenset(Recording.__annotations__),
    ("fingerprints",): frozenset(Fingerprints.__annotations__),
    ("visits", "*"): frozenset(RecordedVisit.__annotations__),
    ("visits", "*", "opening"): frozenset(Opening.__annotations__),
    ("visits", "*", "opening", "caller"): frozenset(Asking.__annotations__),
    ("visits", "*", "live", "*"): frozenset(LiveReading.__annotations__),
    ("visits", "*", "live", "*", "switched"): frozenset(Switch.__annotations__),
    ("visits", "*", "live", "*", "unreadable"): frozenset(Unreadable.__annotations__),
    ("calls", "*"): frozenset(RecordedCall.__annotations__),
    ("calls", "*", "attempts", "*"): frozenset(RecordedAttempt.__annotations__),
    ("result",): frozenset({*RECORDED, *Ok.__annotations__}),
    ("result", "timeline", "*"): frozenset(TimelineEntry.__annotations__),
}
"""The keys that a recording has by its form: they stay."""

_KEPT: frozenset[tuple[str, ...]] = frozenset(
    (*place, name)
    for place, names in {
        (): "format guardgraph pattern graph run_id nameless redacted fingerprints public_suffixes forked_from",
        ("visits", "*"): "node kind clock shown_hash",
        ("visits", "*", "opening"): "started_at carried resumable",
        ("visits", "*", "live", "*"): "version",
        ("calls", "*"): "node visit number kind request scope prompt reply_bytes seconds askable at_once effect tool "
        "approval key unasked",
        ("calls", "*", "attempts", "*"): "waited seconds reason usage no_time",
        ("calls", "*", "outcome"): "0",
        ("result",): "run_id forked_from pattern status phase path",
        ("result", "timeline", "*"): "node kind phase elapsed_ms verdict to steps prompt usage effects",
    }.items()
    for name in names.split()
)
"""What is as it is for a recording to be one, for its picture and for its place in time: nobody's words."""
_DEEPEST = max(map(len, _KEPT))
_LISTS = (1, 2)  # how deep the indices of the form's own lists stand
_INNER_LISTS = ("live", "attempts")  # lists whose indices stand one deeper


def is_never_redacted(place: Place) -> bool:
    """Say whether what stands at a place stays as it is, whatever is to be redacted."""
    if not 0 < len(place) <= _DEEPEST:
        return False
    steps = [*map(str, place)]
    lists = {*_LISTS, 3} if steps[2:3] and steps[2] in _INNER_LISTS else {*_LISTS}
    return tuple("*" if at in lists and step.isdigit() else step for at, step in enumerate(steps)) in _KEPT


def follow_redaction_paths(paths: Iterable[Place], step: str) -> frozenset[Place]:
    """Return what is left of paths one step further; an empty one has led here, and leads on to all that is inside."""
    made: set[Place] = set()
    for path in paths:
        if not path:
            made.add(path)
        elif path[0] == "**":
            made.add(path)
            made |= follow_redaction_paths([path[1:]], step) if path[1:] else {()}
        elif path[0] in ("*", step):
            made.add(path[1:])
    return frozenset(made)


_PACKED = re.compile(r"[ \t\n\r]*[\[{]")  # how a text begins that is a list or an object as JSON


def read_packed_json(text: str) -> tuple[Any, bool] | None:
    """Return the list or object that a text is, and whether it is all of the text; None of any other text."""
    if not _PACKED.match(text):
        return None
    try:
        try:
            value, is_all = json.loads(text, object_pairs_hook=refuse_repeated_keys), True
        except ValueError:
            value, is_all = json.loads(text), False
    except (ValueError, RecursionError):
        return None
    # Deeper than anything that is recorded is a text like any other.
    return None if is_nested_too_deep(text, value, RESULT_DEPTH) else (value, is_all)


MARKER = "[redacted]"  # what stands in the place of what was redacted
SHORTEST = 4
"""Characters of a redacted text from which on it is looked for everywhere: shorter ones stand in other words."""

_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_MARKERS = re.compile(re.escape(MARKER))
FIELD_NAME = re.compile("[a-z][a-z0-9_]*")  # keys that say what something is, and nothing of what it is
HASH_NAME = re.compile("(?:.*_)?(?:hash|sha256)|request|scope|key|licence|approval")
"""Keys of what a recording itself hashes: what was asked, written, licensed and approved."""
HASH = re.compile(r"[0-9a-f]{12}|[0-9a-f]{64}")
_JUDGED_BY = {("fingerprints",), ("policy",), ("budget",)}


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is not kept; for the deployment alone: a client's regular expression could hold a run.

    Args:
        fields: paths into a recording, such as ``"input.question"`` or ``"calls.*.outcome.**.email"``: names and
            indices parted by dots, ``*`` for any one and ``**`` for any number of them. A path goes on into a text that
            is JSON, as outcomes are. All that stands there is replaced, but for keys that look like names of fields,
            and a text or a whole number of four characters or more wherever else it stands word for word.
        patterns: regular expressions; what any of them finds in a text or a key as it came is replaced, in texts that
            are JSON as well, and a whole number of four digits or more in which one finds something.

    Raises:
        ConfigurationError: a path is none, or leads to what the form of a recording needs; or an expression is none, or
            finds nothing at all in a text.
    """

    fields: Iterable[str] = ()
    patterns: Iterable[str] = ()

    def __post_init__(self) -> None:
        for name in ("fields", "patterns"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(i, str) for i in given):
                raise ConfigurationError(f"redact.{name}: a list of texts is required; given: {given!r:.80}")
            object.__setattr__(self, name, tuple(given))
        for path in self.fields:
            parts = tuple(path.split("."))
            if not all(parts) or parts[0] not in {*FORM[()], "*", "**"}:
                allowed = ", ".join(sorted(FORM[()]))
                raise ConfigurationError(
                    f"redact.fields: a path that begins with one of {allowed}; given: {path!r:.80}"
                )
            if any(is_never_redacted(parts[:count]) for count in range(1, len(parts) + 1)):
                raise ConfigurationError(f"redact.fields: a recording needs what stands there; given: {path!r:.80}")
        for pattern in self.patterns:
            try:
                finds_nothing = re.compile(pattern).search("") is not None
            except (re.error, RecursionError, OverflowError) as error:
                raise ConfigurationError(f"redact.patterns: {error}; given: {pattern!r:.80}") from None
            if finds_nothing:
                raise ConfigurationError(f"redact.patterns: it must not find an empty text; given: {pattern!r:.80}")


def redact_recording(recording: Recording, redaction: Redaction) -> Recording:
    """Return a recording without what is not to be kept; ``redacted`` says where that stood."""
    # In a run of which something was redacted, hashes of what was asked and written are zeros: a phone number is soon
    # found by its hash.
    made, places = _redact_form(recording, redaction)
    if places:
        made["redacted"] = [list(place) for place in places]
    return made  # type: ignore[no-any-return]


def redact_begun_run(begun: BegunRun, redaction: Redaction) -> BegunRun:
    """Return the beginning of a run without what is not to be kept: what a path leads to in its recording."""
    # The ids of its request and its thread stay: they are what it is found by.
    head = {key: value for key, value in begun.items() if key not in (*_FOUND_BY, "opening")}
    made, places = _redact_form({**head, "visits": [{"opening": begun["opening"]}]}, redaction)
    [visit] = made.pop("visits")
    whole: Any = {**{key: begun.get(key) for key in _FOUND_BY if key in begun}, **made, **visit}
    if places:
        whole["redacted"] = [list(place[2:] if place[0] == "visits" else place) for place in places]
    return whole  # type: ignore[no-any-return]


def redact_run_note(note: RunNote, redaction: Redaction) -> RunNote:
    """Return a note without what is not kept: a call's is redacted as a call of a recording, another as a result."""
    # The id of its request stays: it is what it is found by.
    if note["kind"] == "waiting":
        made, places = _redact_form({"result": note["content"]}, redaction)
        content, places = made["result"], [place[1:] for place in places]
    else:
        made, places = _redact_form({"calls": [note["content"]]}, redaction)
        content, places = made["calls"][0], [place[2:] for place in places]
    whole: Any = {**note, "content": content}
    if places:
        whole["redacted"] = [["content", *place] for place in places]
    return whole  # type: ignore[no-any-return]


_FOUND_BY = ("request", "thread", "forked_from")


def _redact_form(form: Any, redaction: Redaction) -> tuple[Any, list[Place]]:
    """Return a recording, or what has parts of one, without what is not to be kept, and where that stood."""
    by_fields = _RedactionPass()
    made = by_fields.redact_value(form, paths=frozenset(tuple(path.split(".")) for path in redaction.fields))
    long = sorted((text for text in by_fields.texts if len(text) >= SHORTEST), key=len, reverse=True)
    literal = [re.compile("|".join(map(re.escape, long)))] if long else []
    by_patterns = _RedactionPass([*literal, *map(re.compile, redaction.patterns)])
    made = by_patterns.redact_value(made)
    places = sorted({*by_fields.places, *by_patterns.places}, key=lambda place: [str(step) for step in place])
    if places:
        made = _zero_recorded_hashes(made, ())
        if "nameless" in made:
            made["nameless"] = [place for place in made["nameless"] if ("input", *place) not in places]
    return made, places


class _RedactionPass:
    """One way through a recording."""

    def __init__(self, finder: Iterable[re.Pattern[str]] = ()) -> None:
        self._finder = tuple(finder)
        self.places: set[Place] = set()  # where something was replaced
        self.texts: set[str] = set()  # the texts that stood where paths lead to

    def redact_value(self, value: Any, place: Place = (), paths: frozenset[Place] = frozenset()) -> Any:
        """Return what stands at a place of a recording without what is found in it, and where the paths lead to."""
        if is_never_redacted(place):
            return value
        if isinstance(value, dict):
            made: dict[str, Any] = {}
            for key, item in value.items():
                name = self._redact_key(key, place, made, is_within=() in paths)
                made[name] = self.redact_value(item, (*place, name), follow_redaction_paths(paths, key))
            return made
        if isinstance(value, list):
            return [
                self.redact_value(item, (*place, at), follow_redaction_paths(paths, str(at)))
                for at, item in enumerate(value)
            ]
        if isinstance(value, str):
            if (packed := read_packed_json(value)) is None:
                return self._redact_text(place, paths, value)
            inside, is_all = packed
            within = self.redact_value(inside, place, paths)
            if within == inside and not is_all:  # of a key that stands twice, the first value is looked at by nobody
                self._mark_redacted_place(place)
            return value if within == inside and is_all else json.dumps(within)
        if type(value) is int and len(text := str(value)) >= SHORTEST:
            return value if self._redact_text(place, paths, text) == text else MARKER
        return self._mark_redacted_place(place) if () in paths and value is not None else value

    def _redact_text(self, place: Place, paths: frozenset[Place], text: str) -> str:
        if () in paths:
            self.texts.add(text)
            return self._mark_redacted_place(place)
        made = self._mask_found_text(text)
        if made != text:
            self._mark_redacted_place(place)
        return made

    def _redact_key(self, key: str, place: Place, others: dict[str, Any], *, is_within: bool) -> str:
        """Return a key without what is found in it, unlike all before it; those of the form stay."""
        if key in FORM.get(tuple("*" if isinstance(step, int) else step for step in place), ()):
            return key
        name = free = MARKER if is_within and not FIELD_NAME.fullmatch(key) else self._mask_found_text(key)
        number = 1
        while free in others:
            number += 1
            free = f"{name} {number}"
        if name != key:
            self._mark_redacted_place((*place, free))
        return free

    def _mask_found_text(self, text: str) -> str:
        made = self._mask_pattern_finds(text)
        if "\\" not in made:
            return made
        # In a text that only looks like JSON, escapes stand for what JSON has for them.
        spelt = _ESCAPE.sub(lambda found: json.loads(f'"{found[0]}"'), made)
        spelt = spelt.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        cut = self._mask_pattern_finds(spelt)
        return made if cut == spelt else cut

    def _mask_pattern_finds(self, text: str) -> str:
        """Return a text without all that any pattern finds in it as it came; what overlaps is one find."""
        known = [found.span() for found in _MARKERS.finditer(text)]
        spans = {found.span() for pattern in self._finder for found in pattern.finditer(text)}
        made, done = "", 0
        for start, end in sorted(span for span in spans if span[0] < span[1]):
            if any(first <= start and end <= last for first, last in known):  # what was replaced already
                continue
            if start >= done:
                made += text[done:start] + MARKER
            done = max(done, end)
        return made + text[done:]

    def _mark_redacted_place(self, place: Place) -> str:
        self.places.add(place)
        return MARKER


def _zero_recorded_hashes(value: Any, place: Place) -> Any:
    """Return a value with zeros for hashes, but for those of what a run was judged by."""
    if place[:1] in _JUDGED_BY:
        return value
    if isinstance(value, dict):
        return {key: _zero_recorded_hashes(item, (*place, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_zero_recorded_hashes(item, (*place, at)) for at, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    is_named = HASH_NAME.fullmatch(str(place[-1])) or place[-2:-1] == ("licences",)
    if is_named and HASH.fullmatch(value):
        return "0" * len(value)
    if (packed := read_packed_json(value)) is None:
        return value
    made = _zero_recorded_hashes(packed[0], place)
    return value if made == packed[0] else json.dumps(made)
