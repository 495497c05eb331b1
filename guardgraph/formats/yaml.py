"""YAML files of settings: what they say, with the line of every value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from guardgraph.plain.errors import ConfigurationError

MAX_BYTES = 1_000_000  # bytes that a file may have
MAX_VALUES = 50_000  # values that a file may have, each counted as often as it is named
MAX_LEVELS = 16  # levels of nesting, and parts of a key
SHOWN_FINDINGS = 20  # lines that an error has at most

Place: TypeAlias = "tuple[int | str, ...]"  # keys and indices that lead to a value


class WrongText(ValueError):
    """A text that cannot be read."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class SettingsDocument:
    """What a file says."""

    file: str
    value: Any
    lines: dict[Place, int]  # where keys and items stand, from 1 on

    def error(self, found: Iterable[tuple[Place, str]]) -> ConfigurationError:
        """Return what says in a line for every finding where it is and what is wrong."""
        said = [self._format_finding(place, why) for place, why in found]
        more = [f"{self.file}: and {len(said) - SHOWN_FINDINGS} more"] if len(said) > SHOWN_FINDINGS else []
        return ConfigurationError("\n".join([*said[:SHOWN_FINDINGS], *more]))

    def _format_finding(self, place: Sequence[int | str], why: str) -> str:
        known = next((place[:size] for size in range(len(place), 0, -1) if place[:size] in self.lines), ())
        field = ".".join(map(_show_key, place))
        return f"{self.file}:{self.lines.get(tuple(known), 1)}: {f'{field}: ' if field else ''}{why}"


def _show_key(part: int | str) -> str:
    """Return a key as a message can show it, on one line."""
    said = str(part)
    return (said if said.isprintable() else repr(said)[1:-1])[:80]


def read_settings_text(path: str | Path) -> str:
    """Return the text of a file."""
    try:
        file = Path(path)
        if file.exists() and not file.is_file():
            raise WrongText("a file is required")
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise WrongText(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise error if isinstance(error, WrongText) else WrongText(f"cannot be read: {error}") from None
    if len(content) > MAX_BYTES:
        raise WrongText(f"at most {MAX_BYTES} bytes are allowed")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongText(f"UTF-8 text is required; given: the byte 0x{content[error.start]:02x}", line) from None


NULL = frozenset({"", "~", "null", "Null", "NULL"})
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
NUMBER = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
"""What a text without quotes means, by the core schema (https://yaml.org/spec/1.2.2/#103-core-schema)."""
NAMED = re.compile(r"\.(inf|nan)", re.IGNORECASE)
DIGITS = 400  # digits of a number that anybody can have meant


def parse_yaml(text: str) -> tuple[Any, dict[Place, int]]:
    """Return the value of a YAML text, None of an empty one, and the lines of its keys and items, from 1 on."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = _YamlReader(YAML(typ="safe", pure=True).parse(text))
    try:
        return reader.read_yaml_document(), reader.lines
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise WrongText(f"not YAML: {said:.200}", None if mark is None else mark.line + 1) from None
    except YAMLError as error:
        raise WrongText(f"not YAML: {' '.join(str(error).split()):.200}") from None


class _YamlReader:
    """Reads a value from the events of a parser, whose marks say where each part of it stands."""

    # Nothing is made before it is counted: a text of a few lines can name lists of lists of lists.

    def __init__(self, events: Iterator[Any]) -> None:
        self.lines: dict[Place, int] = {}
        self._events = events
        self._named: dict[str, tuple[Any, int]] = {}  # values by their anchors, and of how many each is made
        self._count = 0

    def read_yaml_document(self) -> Any:
        value, documents = None, 0
        for event in self._events:
            kind, line = type(event).__name__, event.start_mark.line + 1
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise WrongText("one document is required; given: another one", line)
                if event.version not in (None, (1, 2)):
                    raise WrongText(f"YAML 1.2 is required; given: {'.'.join(map(str, event.version))}", line)
            elif kind not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                value, _ = self._read_yaml_node(event, ())
        return value

    def _read_yaml_node(self, event: Any, place: Place) -> tuple[Any, int]:
        """Return the value that begins with an event, and of how many values it is made."""
        kind, line = type(event).__name__, event.start_mark.line + 1
        if kind == "AliasEvent":
            if event.anchor not in self._named:
                said = f"a name of something that stands whole above it is required; given: {'*' + event.anchor!r:.80}"
                raise WrongText(said, line)
            self._count_yaml_values(self._named[event.anchor][1], line)
            return self._named[event.anchor]
        _refuse_yaml_tag(event, line)
        self._count_yaml_values(1, line)
        if kind == "ScalarEvent":
            made = (_parse_plain_scalar(event.value, line) if event.implicit[0] else _join_surrogates(event.value)), 1
        else:
            if len(place) == MAX_LEVELS:
                raise WrongText(f"at most {MAX_LEVELS} levels of nesting are allowed", line)
            self._named.pop(event.anchor, None)  # it does not stand whole before its end
            made = self._read_yaml_mapping(place) if kind == "MappingStartEvent" else self._read_yaml_list(place)
        if event.anchor is not None:
            self._named[event.anchor] = made
        return made

    def _read_yaml_list(self, place: Place) -> tuple[list[Any], int]:
        items: list[Any] = []
        size = 1
        for event in self._events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            at = (*place, len(items))
            self.lines[at] = event.start_mark.line + 1
            item, inner = self._read_yaml_node(event, at)
            items.append(item)
            size += inner
        return items, size

    def _read_yaml_mapping(self, place: Place) -> tuple[dict[str, Any], int]:
        made: dict[str, Any] = {}
        size = 1
        for event in self._events:
            kind, line = type(event).__name__, event.start_mark.line + 1
            if kind == "MappingEndEvent":
                break
            if kind != "ScalarEvent":
                raise WrongText("a text is required as a key; given: a list or a mapping", line)
            _refuse_yaml_tag(event, line)
            key = _join_surrogates(event.value)
            at = (*place, key)
            if key in made:
                named = ".".join(map(str, at))
                raise WrongText(f"{named!r:.80}: given twice, first in line {self.lines[at]}", line)
            self.lines[at] = line
            made[key], inner = self._read_yaml_node(next(self._events), at)
            size += inner
        return made, size

    def _count_yaml_values(self, count: int, line: int) -> None:
        self._count += count
        if self._count > MAX_VALUES:
            raise WrongText(f"at most {MAX_VALUES} values are allowed, each as often as it is named", line)


def _refuse_yaml_tag(event: Any, line: int) -> None:
    if event.tag is not None:
        raise WrongText(f"plain values without tags are required; given: {event.tag!r:.80}", line)


def _join_surrogates(text: str) -> str:
    """Join halves of characters, as JSON escapes them, which YAML includes."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _parse_plain_scalar(text: str, line: int) -> Any:
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


ENDINGS = (".yaml", ".yml")  # how the names of such files end; a text of JSON is one of YAML, too
