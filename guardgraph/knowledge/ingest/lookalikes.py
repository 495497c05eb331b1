"""What looks like a rule and is none: names of files, and names of fields at the top of a document."""

# Somebody who writes `access.yaml.bak`, `reader:` or `readers:` with a Cyrillic letter means to keep others out, and a
# rule that is not read keeps no one out. So such a name is an error, and no one reads the document that it concerns
# until it is mended.

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from typing import Final

from guardgraph.plain.letters import read_as_latin

RULES_VERSION: Final = 2
"""Of what is read as a rule of a document's own. Where it changes, documents are read again that did not change."""

READERS: Final = "readers"
"""The field that names who may read a document."""

_SLIPS: Final = frozenset(
    {READERS[:at] + READERS[at + 1 :] for at in range(len(READERS))}
    | {READERS[:at] + READERS[at + 1] + READERS[at] + READERS[at + 2 :] for at in range(len(READERS) - 1)}
)
"""The field with a letter left out, or two of its letters exchanged."""
_MEANT: Final = _SLIPS | {"access", "accesslist", "acl", "allowedreaders", "readerlist", "readerslist", READERS}
"""Fields, as letters only, by which people mean to say who may read."""

_PROSE: Final = ("access", "acl")
"""Words with which a text may begin that has no front matter."""

_RULE = re.compile(r"[^a-z]*access[^a-z]*(?:copy[^a-z]*)?\.ya?ml(?![a-z])")
_SIDECAR = re.compile(r"\.meta[^a-z]*\.(?:ya?ml|json|toml)(?![a-z])")

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")
_KEY = re.compile(r"(?:^|[{,?])[ \t\"'\-]*([^\s\"':={},?#\[\]][^\"':={},?#\[\]\n]{0,40}?)[\"']?\s*[:=：]", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[+([^\]\n]{1,40})\]", re.MULTILINE)

_FENCE = re.compile(r"[ \t]*([^\w\s#<])\1{2,}[ \t]*\w*[ \t]*$")
_ASIDE = re.compile(r"\s+|<!--.*?(?:-->|\Z)|(?:#|%|//)[^\n]*", re.DOTALL)
"""What may stand before the block that somebody means: blanks and comments, YAML's too."""
_PAIR = re.compile(r"[ \t]*+[\"'?]?[ \t]*+[^\s:][^:\n]{0,40}:(?:\s|$)|[ \t]+\S|-[ \t]|:[ \t]|[ \t]*$")
_MOST_LINES: Final = 200
"""Of a block that has no end."""
_LONGEST_FENCE: Final = 200
_MOST_BLOCKS: Final = 8
"""Between fences at the top of a text."""

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
