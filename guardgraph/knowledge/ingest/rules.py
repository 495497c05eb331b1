"""The rules of a folder: ``access.yaml`` says who may read what stands beside and below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from guardgraph.formats.yaml import Place, WrongText, parse_yaml, read_settings_text
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import find_json_problem
from guardgraph.plain.letters import read_as_latin
from guardgraph.state.context import PUBLIC, TENANT, normalize_document_access
from guardgraph.tools.folder import FoundFile, LeftOut, Unread, format_file_path

# Somebody who writes `access.yaml.bak`, `reader:` or `readers:` with a Cyrillic letter means to keep others out, and a
# rule that is not read keeps no one out. So such a name is an error, and no one reads the document that it concerns
# until it is mended.
RULES_VERSION: Final = 3
"""Of what is read as a rule of a document's own. Where it changes, documents are read again that did not change."""

READERS: Final = "readers"  # the field that names who may read a document

_SLIPS: Final = frozenset(
    {READERS[:at] + READERS[at + 1 :] for at in range(len(READERS))}
    | {READERS[:at] + READERS[at + 1] + READERS[at] + READERS[at + 2 :] for at in range(len(READERS) - 1)}
)
"""The field with a letter left out, or two of its letters exchanged."""
_MEANT: Final = _SLIPS | {"access", "accesslist", "acl", "allowedreaders", "readerlist", "readerslist", READERS}
"""Fields, as letters only, by which people mean to say who may read."""

_PROSE: Final = ("access", "acl")  # words with which a text may begin that has no front matter
_RULE = re.compile(r"[^a-z]*access[^a-z]*(?:copy[^a-z]*)?\.ya?ml(?![a-z])")
_SIDECAR = re.compile(r"\.meta[^a-z]*\.(?:ya?ml|json|toml)(?![a-z])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")
_KEY = re.compile(r"(?:^|[{,?])[ \t\"'\-]*([^\s\"':={},?#\[\]][^\"':={},?#\[\]\n]{0,40}?)[\"']?\s*[:=：]", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[+([^\]\n]{1,40})\]", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*([^\w\s#<])\1{2,}[ \t]*\w*[ \t]*$")
_ASIDE = re.compile(r"\s+|<!--.*?(?:-->|\Z)|(?:#|%|//)[^\n]*", re.DOTALL)
"""What may stand before the block that somebody means: blanks and comments, YAML's too."""
_PAIR = re.compile(r"[ \t]*+[\"'?]?[ \t]*+[^\s:][^:\n]{0,40}:(?:\s|$)|[ \t]+\S|-[ \t]|:[ \t]|[ \t]*$")
_MOST_LINES: Final = 200  # of a block that has no end
_LONGEST_FENCE: Final = 200
_MOST_BLOCKS: Final = 8  # between fences at the top of a text
_META = re.compile(r"<meta\b", re.IGNORECASE)
_TAG_END = re.compile(r"(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_TAG_NAME = re.compile(r"(?:name|property|itemprop)\s*=\s*[\"']?\s*([^\"'>\s]+)", re.IGNORECASE)
_LONGEST_TAG: Final = 4_000
_MOST_TAGS: Final = 10_000
_FIELD = re.compile(r"[ \t]*:([^:\n]{1,60}):")
_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\.[ \t]+meta[ \t]*::([^\n]*(?:\n|\Z)(?:[ \t]*\n|\1[ \t]+[^\n]*(?:\n|\Z))*)",
    re.IGNORECASE | re.MULTILINE,
)


def is_like_readers(name: str) -> bool:
    """Say whether a field's name may be meant to say who reads: as it is, misspelled, or in letters that look alike."""
    letters = "".join(filter(str.isalpha, read_as_latin(name)))
    slips = (letters[:at] + letters[at + 1 :] for at in range(len(letters)) if len(letters) == len(READERS) + 1)
    return letters in _MEANT or READERS in slips


def is_like_rule_file(name: str) -> bool:
    """Say whether a file's name may be meant as ``access.yaml``."""
    return _RULE.match(read_as_latin(_strip_unseen(name))) is not None


def find_sidecar_stem(name: str) -> str | None:
    """Return what a name says that stands beside a document, of which document; None where it is no such name."""
    seen = _strip_unseen(name)
    ending = _SIDECAR.search(read_as_latin(seen))
    return None if ending is None else seen[: ending.start()]


def _strip_unseen(name: str) -> str:
    return name if name.isprintable() else "".join(filter(str.isprintable, name))


def list_like_keys(block: str) -> list[str]:
    """Return the keys of a block that may be meant to say who reads, in whatever format it is."""
    plain = _ESCAPE.sub(lambda code: chr(min(int(code[1] or code[2] or code[3], 16), 0x10FFFF)), block)
    return [found[1].strip() for of in (_KEY, _TABLE) for found in of.finditer(plain) if is_like_readers(found[1])]


def list_nested_keys(value: object) -> Iterator[str]:
    """Yield the keys of a mapping, and those of what is in it."""
    if isinstance(value, dict):
        for key, held in value.items():
            yield str(key)
            yield from list_nested_keys(held)
    elif isinstance(value, list):
        for item in value:
            yield from list_nested_keys(item)


def list_meant_keys(text: str) -> list[str]:
    """Return the keys at the top of a text that may be meant to say who reads, where no front matter stands there."""
    at = 0
    for _ in range(_MOST_BLOCKS):
        while aside := _ASIDE.match(text, at):
            at = aside.end()
        lines = text[at:].split("\n", _MOST_LINES)[:_MOST_LINES]
        if not (fence := _FENCE.match(lines[0][:_LONGEST_FENCE])):
            return _list_unfenced_keys(lines, has_heading="#" in text[:at])
        ends = (number for number, line in enumerate(lines[1:], 1) if line.strip()[:2] in (2 * fence[1], ".."))
        end = next(ends, len(lines))
        if (keys := list_like_keys("\n".join(lines[1:end]))) or end == len(lines):
            return keys
        at += sum(len(line) + 1 for line in lines[: end + 1])
    return []


def _list_unfenced_keys(lines: list[str], *, has_heading: bool) -> list[str]:
    if lines[0].lstrip()[:1] in ("{", "["):
        return list_like_keys(_cut_object("\n".join(lines)))
    if has_heading:  # a heading, and below it a text
        return []
    size = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    keys = list_like_keys("\n".join(lines[:size])) if all(map(_PAIR.match, lines[:size])) else []
    return [key for key in keys if read_as_latin(key) not in _PROSE]


def list_like_metas(page: str) -> list[str]:
    """Return the names of a page's ``<meta>`` that may be meant to say who reads; quotes may be left open."""
    page, found = page.replace("\0", ""), list[str]()
    for number, tag in enumerate(_META.finditer(page)):
        if number == _MOST_TAGS:
            return [*found, "<meta>"]  # nobody writes so many, and each takes time to be looked at
        rest = page[tag.end() : tag.end() + _LONGEST_TAG]
        whole = _TAG_END.match(rest)
        names = _TAG_NAME.findall(rest[: whole.end()] if whole else rest)
        found += [name for name in map(unescape, names) if is_like_readers(name)]
    return found


def list_like_fields(text: str) -> list[str]:
    """Return the names of reStructuredText's fields that may be meant to say who reads."""
    names, lines = list[str](), [*text.split("\n"), ""]
    for line, below in pairwise(lines):
        if field := _FIELD.match(line):
            names.append(field[1])
        elif line[:1].isalnum() and not (below.strip() and not any(map(str.isalnum, below))):
            break
    for directive in _DIRECTIVE.finditer(text):
        names += [field[1].rpartition("=")[2] for line in directive[2].split("\n") if (field := _FIELD.match(line))]
    return [name for name in names if is_like_readers(name)]


def _cut_object(text: str) -> str:
    """Return the object or the list that a text begins with; all of it where that has no end."""
    depth, is_quoted, before = 0, False, ""
    for at, letter in enumerate(text):
        if letter == '"' and before != "\\":
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (letter in "{[") - (letter in "}]")
            if depth == 0:
                return text[: at + 1]
        before = letter
    return text


def read_access_list(value: object) -> tuple[str, ...]:
    """Return a list of readers in its normal form."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"a list of public, tenant, user:ID or group:ID is required; given: {value!r:.80}")
    for reader in value:
        if isinstance(reader, str) and (problem := find_json_problem(reader)) is not None:
            raise ValueError(f"a reader without {problem} is required; given: {reader!r:.80}")
        if isinstance(reader, str) and (own := reader.partition(":")[2]) != own.strip():  # nobody is called so
            raise ValueError(f"an ID without blanks around it is required; given: {reader!r:.80}")
    return normalize_document_access(None, value).readers


def is_within_readers(reader: str, readers: Sequence[str]) -> bool:
    """Say whether whoever a reader stands for is sure to be among others: nobody knows who is in a group."""
    return reader in readers or PUBLIC in readers or (reader != PUBLIC and TENANT in readers)


def list_readers_beyond(readers: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the readers that are not within the others."""
    return [reader for reader in readers if not is_within_readers(reader, others)]


RULES: Final = "access.yaml"


class Rules(NamedTuple):
    """Who may read what of a folder."""

    given: tuple[str, ...] | None  # the readers that hold above the root; None where nobody gave any
    rules: Mapping[tuple[str, ...], tuple[str, ...]]
    """The readers of each folder with a rule, by its path under the root."""

    def readers_of(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Return who may read what stands at a path: the readers of the nearest rule above; without one, nobody."""
        return self.above(parts) or ()

    def above(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the readers of the nearest rule in a folder above a path, None where there is none."""
        folders = (parts[:size] for size in range(len(parts) - 1, -1, -1))
        return next((self.rules[folder] for folder in folders if folder in self.rules), self.given)


def read_folder_rules(
    files: Iterable[FoundFile], not_read: Iterable[LeftOut | Unread], given: tuple[str, ...] | None
) -> Rules:
    """Read the rules of a folder."""
    # The nearest rule above a document holds. The highest one on its way, that which was given or else the first from
    # the root on, says who may read; those below it narrow.
    for item in not_read:
        name = item.name.rpartition("/")[2]
        if not is_like_rule_file(name):
            continue
        if isinstance(item, Unread):
            raise ConfigurationError(f"{item.name}: {item.reason}")
        if name != RULES:
            raise ConfigurationError(_find_misnamed_rules(item.name))
        raise ConfigurationError(f"{item.name}: a rule that is a file of its own is required; given: {item.reason}")
    rules = Rules(given, {})
    found = dict[tuple[str, ...], tuple[str, ...]]()
    for file in sorted((file for file in files if is_like_rule_file(file.parts[-1])), key=lambda file: len(file.parts)):
        rules = Rules(given, found)
        found[file.parts[:-1]] = _read_rule_readers(file, rules.above(file.parts))
    return rules._replace(rules=found)


def _read_rule_readers(file: FoundFile, above: tuple[str, ...] | None) -> tuple[str, ...]:
    shown = format_file_path(file.parts)
    if file.parts[-1] != RULES:
        raise ConfigurationError(_find_misnamed_rules(shown))
    try:
        value, lines = parse_yaml(read_settings_text(Path(file.path)))
        return _read_access_rule(value, lines, above, is_root=len(file.parts) == 1)
    except WrongText as error:
        where = shown if error.line is None else f"{shown}:{error.line}"
        raise ConfigurationError(f"{where}: {error}") from None


def _find_misnamed_rules(shown: str) -> str:
    return f"{shown}: a rule is named {RULES}; rename it, so that nobody takes it for one"


def _read_access_rule(
    value: Any, lines: dict[Place, int], above: tuple[str, ...] | None, *, is_root: bool
) -> tuple[str, ...]:
    if not isinstance(value, dict):
        raise WrongText(f"a mapping with the field readers is required; given: {type(value).__name__}", 1)
    for field in value:
        if field != "readers":
            raise WrongText(f"{field!r:.80}: no such field; readers is allowed", lines.get((field,)))
    if not value:
        raise WrongText("a mapping with the field readers is required; given: an empty one", 1)
    line = lines.get(("readers",))
    try:
        readers = read_access_list(value["readers"])
    except ValueError as error:
        raise WrongText(f"readers: {error}", line) from None
    if PUBLIC in readers and not is_root:
        raise WrongText("readers: public is allowed in the rule of the root only, and where the folder is added", line)
    if above is not None and (added := list_readers_beyond(readers, above)):
        why = f"a rule adds no readers to those above it, {', '.join(above) or 'nobody':.200}"
        raise WrongText(f"readers: {', '.join(added):.200}: {why}", line)
    return readers
