"""YAML 1.2 as plain values: the core schema, no tags, no key twice, and no more values than were meant.

ruamel.yaml parses; what its events become is decided here, so that nothing is constructed that JSON does not have.
"""

from __future__ import annotations

import re
from typing import Any

from guardgraph.tools.settings_file.document import MAX_LEVELS, MAX_VALUES, Place, WrongText

__all__ = ["parse_yaml"]

NULL = frozenset({"", "~", "null", "Null", "NULL"})
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
NUMBER = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
"""What a text without quotes means, by the core schema (https://yaml.org/spec/1.2.2/#103-core-schema)."""
NAMED = re.compile(r"\.(inf|nan)", re.IGNORECASE)
DIGITS = 400
"""Digits of a number that anybody can have meant."""


def parse_yaml(text: str) -> tuple[Any, dict[Place, int]]:
    """Return the value of a YAML text, None of an empty one, and the lines of its keys and items, from 1 on.

    Raises:
        WrongText: it is no YAML, has tags, several documents, a key twice, or more values or levels than allowed.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    built = _Builder()
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            built.take(event)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise WrongText(f"not YAML: {said:.200}", None if mark is None else mark.line + 1) from None
    except YAMLError as error:
        raise WrongText(f"not YAML: {' '.join(str(error).split()):.200}") from None
    return built.value, built.lines


class _Open:
    """A list or mapping whose end has not been read."""

    __slots__ = ("anchor", "key", "place", "size", "value")

    def __init__(self, value: Any, place: Place, anchor: str | None) -> None:
        self.value = value
        self.place = place
        self.anchor = anchor
        self.key: str | None = None
        """Of a mapping the key whose value comes next."""
        self.size = 1


class _Builder:
    """Makes values of the events of a parser, one by one."""

    def __init__(self) -> None:
        self.value: Any = None
        self.lines: dict[Place, int] = {}
        self._open: list[_Open] = []
        self._named: dict[str, tuple[Any, int]] = {}
        """Values by their anchors, and of how many each is made."""
        self._documents = 0
        self._count = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "DocumentStartEvent":
            self._begin(event, line)
        elif kind == "AliasEvent":
            self._put_alias(event.anchor, line)
        elif kind == "ScalarEvent":
            self._check_tag(event, line)
            self._put_scalar(event, line)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._check_tag(event, line)
            self._enter({} if kind == "MappingStartEvent" else [], event.anchor, line)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._leave()

    def _begin(self, event: Any, line: int) -> None:
        self._documents += 1
        if self._documents > 1:
            raise WrongText("one document is required; given: another one", line)
        if event.version not in (None, (1, 2)):
            raise WrongText(f"YAML 1.2 is required; given: {'.'.join(map(str, event.version))}", line)

    def _check_tag(self, event: Any, line: int) -> None:
        if event.tag is not None:
            raise WrongText(f"plain values without tags are required; given: {event.tag!r:.80}", line)

    def _put_alias(self, name: str, line: int) -> None:
        if name not in self._named:
            raise WrongText(
                f"a name of something that stands whole above it is required; given: {'*' + name!r:.80}", line
            )
        value, size = self._named[name]
        self._put(value, size, line)

    def _put_scalar(self, event: Any, line: int) -> None:
        holder = self._open[-1] if self._open else None
        if holder is not None and isinstance(holder.value, dict) and holder.key is None:
            self._put_key(holder, _whole(event.value), line)
            return
        value = _meant(event.value, line) if event.implicit[0] else _whole(event.value)
        if event.anchor is not None:
            self._named[event.anchor] = (value, 1)
        self._put(value, 1, line)

    def _put_key(self, holder: _Open, key: str, line: int) -> None:
        if key in holder.value:
            before = self.lines[(*holder.place, key)]
            raise WrongText(
                f"{'.'.join(map(str, (*holder.place, key)))!r:.80}: given twice, first in line {before}", line
            )
        holder.key = key
        holder.value[key] = None
        self.lines[(*holder.place, key)] = line

    def _enter(self, value: Any, anchor: str | None, line: int) -> None:
        if len(self._open) == MAX_LEVELS:
            raise WrongText(f"at most {MAX_LEVELS} levels of nesting are allowed", line)
        place = self._place(line)
        self._put(value, 1, line)
        self._open.append(_Open(value, place, anchor))
        if anchor is not None:
            self._named.pop(anchor, None)

    def _leave(self) -> None:
        done = self._open.pop()
        if done.anchor is not None:
            self._named[done.anchor] = (done.value, done.size)
        if self._open:
            self._open[-1].size += done.size - 1  # it counted as one when it began

    def _place(self, line: int) -> Place:
        if not self._open:
            return ()
        holder = self._open[-1]
        if isinstance(holder.value, list):
            return (*holder.place, len(holder.value))
        if holder.key is None:
            raise WrongText("a text is required as a key; given: a list or a mapping", line)
        return (*holder.place, holder.key)

    def _put(self, value: Any, size: int, line: int) -> None:
        self._count += size
        if self._count > MAX_VALUES:
            raise WrongText(f"at most {MAX_VALUES} values are allowed, each as often as it is named", line)
        place = self._place(line)
        if not self._open:
            self.value = value
            return
        holder = self._open[-1]
        holder.size += size
        if isinstance(holder.value, list):
            self.lines[place] = line
            holder.value.append(value)
        else:
            holder.value[holder.key], holder.key = value, None


def _whole(text: str) -> str:
    """Join halves of characters, as JSON escapes them, which YAML includes."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _meant(text: str, line: int) -> Any:
    if text in NULL:
        return None
    if text in TRUTH:
        return TRUTH[text]
    is_integer = INTEGER.fullmatch(text) is not None
    if not is_integer and NUMBER.fullmatch(text) is None:
        return text
    if len(text) > DIGITS:
        raise WrongText(f"a number of at most {DIGITS} digits is required; given: {len(text)}", line)
    if is_integer:
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    return float(NAMED.sub(lambda name: name[1].lower(), text))
