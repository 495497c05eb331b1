"""Values of calls, results and texts: their forms and their places."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from guardgraph.grounding.links.finding import Link, find_links, trim_url
from guardgraph.grounding.links.spelling import list_readings
from guardgraph.plain.conversion import parse_expected_failure
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, parse_json
from guardgraph.plain.letters import is_unspaced_letter
from guardgraph.plain.urls import parse_url
from guardgraph.state.outcome import Outcome
from guardgraph.state.tools import DECIDING, REPORTED

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
ISO_MOMENT = re.compile(
    r"(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}(?::\d{2})?)"
)
"""A date, a time of day, or both, as arguments have them (ISO 8601)."""
_DATE = re.compile(
    r"(?<!\w)(?<!\d[-./ ])(?:(?P<year>\d{4})[-./](?P<two>\d{1,2})[-./](?P<three>\d{1,2})"
    r"|(?P<one>\d{1,2})[-./](?P<middle>\d{1,2})[-./](?P<last>\d{4}))(?![-./]\d)(?!\w)"
)
_YEARS: Final = range(1900, 2101)  # years that dates of tasks and letters have
_ACCOUNTS = re.compile(
    r"(?<!\w)(?:[A-Z]{2}\d{2}(?:[\W_]{0,3}[A-Z0-9]{4}){2,7}(?:[\W_]{0,3}[A-Z0-9]{1,3})?"
    r"|\+?\(?\d(?:[ \-./()]{0,2}\d){7,}|\d{4,}(?:[\W_]{1,4}\d{4,}){2,}(?:[\W_]{1,4}\d{1,3})?"
    r"|(?=\w*\d)(?=\w*[A-Za-z])\w{16,})(?!\w)"
)
"""An IBAN, a number of eight digits or more such as a telephone's or a card's, a long key of letters and digits."""
_DASHES = re.compile("[\u2010-\u2015\u2043\u2212]")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{8,31}")
_NUMBERED_LINK = re.compile(
    r"(?<![\w.])(?:(?:https?|wss?|ftp):[/\\]*[\d\[][^\s<>\"'`]*|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?[/?#][^\s<>\"'`]*)",
    re.IGNORECASE,
)
"""A link to a host that is a number, with or without slashes, as browsers open it too."""
_OPAQUE_LINK = re.compile(
    r"(?<![\w.+-])(?:data:[\w.+-]*/?[\w.+-]*(?:;[\w.+=-]*)*,[^\s<>\"'`]*|(?:javascript|vbscript|blob|intent):[^\s<>\"'`]+)",
    re.IGNORECASE,
)
"""A link without a host, which is opened all the same: what it opens or runs stands in itself."""
_SIGNS = re.compile(r"[\W_]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
_MOST_UNSPACED: Final = 12  # letters that one value may have in a script without blanks
_MOST_JOINED: Final = 3  # parts that one value may have that signs join, where two of them are words
_BLANKS = re.compile(r"\s+")
_LETTER_AND_MARKS = re.compile(r"\w[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u3099\u309a]*|.", re.DOTALL)
"""A letter with the marks that follow it."""
_JOINING: Final = "-./@:_+\\'’"  # signs that make one word of what stands on both sides
_STEPS: Final = "/\\~"  # signs of a path


def is_single_value(value: JsonValue) -> bool:
    """Say whether a leaf is one value, such as an id, a moment, a link or an account, and no text of several words."""
    # Words that signs, small letters after capitals or letters nobody sees join are words, and a script without blanks
    # says a sentence in a few letters.
    if not isinstance(value, str):
        return True
    text = value.strip()
    if is_moment(text) or ((link := read_whole_link(text)) is not None and link.kind in ("url", "mail")):
        return True
    if _IBAN.fullmatch(_SIGNS.sub("", text)):
        return is_iban(text)
    if len(text.split()) > 1:
        return find_accounts(text) == [text] and not any(map(str.isalpha, text))
    if len(text) > _MOST_UNSPACED and any(map(is_unspaced_letter, text)):
        return False
    parts = _SIGNS.split(text) if _SIGNS.search(text) else list_name_parts(text)
    words = [part for part in parts if len(part) > 1 and part.isalpha() and not _HEX.fullmatch(part)]
    return len(parts) <= _MOST_JOINED or len(words) < 2


def is_iban(text: str) -> bool:
    """Say whether a text is an IBAN whose check digits fit it (ISO 13616), however it is grouped."""
    iban = _SIGNS.sub("", text)
    digits = "".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4]) if _IBAN.fullmatch(iban) else "0"
    return int(digits) % 97 == 1


def read_whole_link(value: str) -> Link | None:
    """Return the URL, host or mail address that a text is as a whole, None where it is none."""
    found = find_links(value)
    return found[0] if len(found) == 1 and found[0].shown == value else None


def list_written_urls(link: Link) -> list[str]:
    """Return a URL as browsers write it, query and fragment included; without a scheme it may be either of the web."""
    if link.kind != "url":
        return []
    shown = link.shown.removeprefix("//")
    is_whole = "://" in shown and link.shown == shown
    parsed = map(parse_url, [shown] if is_whole else [f"https://{shown}", f"http://{shown}"])
    return [url.href for url in parsed if url is not None]


def list_leading_parts(text: str) -> list[str]:
    """Return what leads somewhere in a text: URLs of any kind, hosts, mail addresses, account and telephone numbers."""
    readings = list_readings(text)
    links = [link.shown for reading in readings for link in find_links(reading)]
    patterns = (_NUMBERED_LINK, _OPAQUE_LINK)
    others = [trim_url(match[0]) for reading in readings for each in patterns for match in each.finditer(reading)]
    return [*dict.fromkeys((*links, *others, *find_accounts(text)))]


def find_accounts(text: str) -> list[str]:
    """Return what looks like an account in any reading of a text: an IBAN, a number of many digits, a long key."""
    plain = (_DASHES.sub("-", _DATE.sub(_read_date, reading)) for reading in list_readings(text))
    found = (match[0] for reading in plain for match in _ACCOUNTS.finditer(reading))
    return [*dict.fromkeys(account for account in found if not _are_years(account))]


def _read_date(match: re.Match[str]) -> str:
    """Return a word for a date that there is, and anything else as it stands."""
    year = int(match["year"] or match["last"])
    days = (match["two"], match["three"]) if match["year"] else (match["one"], match["middle"])
    is_day = any(_is_day(year, int(month), int(day)) for month, day in (days, days[::-1]))
    return " date " if year in _YEARS and is_day else match[0]


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _are_years(account: str) -> bool:
    groups = _SIGNS.split(account)
    return len(groups) > 2 and all(len(group) == 4 and group.isdecimal() and int(group) in _YEARS for group in groups)


def squeeze_account(part: str) -> str:
    """Return an account number without what it is grouped by."""
    return _SIGNS.sub("", part).casefold()


def is_moment(value: str) -> bool:
    """Say whether a text is a date, a time of day or both, and one that there is."""
    if not ISO_MOMENT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value if "-" in value else f"2000-01-01 {value}")
    except ValueError:
        return False
    return True


def has_seconds(moment: str) -> bool:
    """Say whether a moment has a time that is no whole minute: texts seldom say one, and it counts as it is written."""
    time = moment[11:] or moment
    return time[5:6] == ":" and time[6:8] != "00"


class FoldedText(NamedTuple):
    """A text in which words are looked for."""

    written: str
    folded: str  # without regard to case

    def find_words(self, wanted: FoldedText) -> Iterator[int]:
        """Yield where a text has words one after another, whole."""
        # Their case counts where one of them has a digit, and in a path.
        is_exact = any(sign.isdecimal() or sign in _STEPS for sign in wanted.written)
        text, words = (self.written, wanted.written) if is_exact else (self.folded, wanted.folded)
        at = text.find(words)
        while at >= 0:
            if _is_word_edge(text, at - 1, -1) and _is_word_edge(text, at + len(words), 1):
                yield at
            at = text.find(words, at + 1)


def fold_text(text: str) -> FoldedText:
    """Return a text with its blanks and letters in one form; a letter that only looks like another one stays itself."""
    written = _BLANKS.sub(" ", compose_letters(text))
    return FoldedText(written, written.lower() if written.isascii() else "".join(map(_fold_case, written)))


def compose_letters(text: str) -> str:
    """Return a text with its marks joined to their letters; signs such as that of Kelvin become no letter."""
    if unicodedata.is_normalized("NFC", text):
        return text
    return "".join(
        part if len(part) == 1 and len(unicodedata.normalize("NFC", part)) == 1 else unicodedata.normalize("NFC", part)
        for part in _LETTER_AND_MARKS.findall(text)
    )


def _fold_case(letter: str) -> str:
    """Return a capital letter as the small one whose capital it is, and anything else as it is."""
    lower = letter.lower()
    return lower if lower.upper() == letter else letter


def _is_word_edge(text: str, at: int, step: int) -> bool:
    """Say whether a word may end before a character, seen from within the word."""
    if not 0 <= at < len(text) or is_unspaced_letter(text[at]):
        return True
    beyond = at + step
    joined = text[at] in _JOINING and 0 <= beyond < len(text) and text[beyond].isalnum()
    joined |= step < 0 and text[at] in _STEPS + "."  # a part of a path, the name of a hidden file
    return not (text[at].isalnum() or text[at] == "_" or joined)


def list_name_parts(name: str) -> list[str]:
    """Return the words that a name is made of, in small letters: ``fileId`` is file and id."""
    return [part.lower() for part in _PART.findall(name)]


class Leaf(NamedTuple):
    """A value that holds no other, and where it stands."""

    path: str
    keys: tuple[str, ...]  # the keys on the way; items of lists have none
    value: JsonValue


def list_leaves(value: JsonValue, path: str = "") -> Iterator[Leaf]:
    """Yield the leaves of a JSON value in order, without recursion, since it may be nested deeper than the stack."""
    rest: list[Leaf] = [Leaf(path, (path,) if path else (), value)]
    while rest:
        at, keys, item = rest.pop()
        if isinstance(item, dict):
            inner = [Leaf(f"{at}.{key}" if at else key, (*keys, key), child) for key, child in item.items()]
            rest += reversed(inner)
        elif isinstance(item, list):
            rest += reversed([Leaf(f"{at}[{number}]", keys, child) for number, child in enumerate(item)])
        else:
            yield Leaf(at, keys, item)


def is_trusted_leaf(leaf: Leaf, trusted: Iterable[str]) -> bool:
    """Say whether a leaf of a result stands in a field that may license arguments."""
    return any(_matches_path(leaf.keys, tuple(path.split("."))) for path in trusted)


def _matches_path(keys: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if path[-1] == DECIDING and all(name in (DECIDING, key) for name, key in zip(path[:-1], keys, strict=False)):
        return len(keys) >= len(path) - 1
    return len(keys) == len(path) and all(name in (DECIDING, key) for name, key in zip(path, keys, strict=True))


def is_trusted_key(keys: tuple[str, ...], trusted: Iterable[str]) -> bool:
    """Say whether a path of trusted fields names the last of some keys, or leaves it open and it is one value."""
    return any(_names_key(keys, tuple(path.split("."))) for path in trusted)


def _names_key(keys: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if path[-1] == DECIDING:
        path += (DECIDING,) * (len(keys) - len(path))
    names = path[: len(keys)]
    is_on_path = len(names) == len(keys) and all(name in (DECIDING, key) for name, key in zip(names, keys, strict=True))
    return is_on_path and (names[-1] != DECIDING or is_single_value(keys[-1]))


def read_result(value: JsonValue) -> JsonValue:
    """Return what a tool brought as its fields: a text that is a JSON object or list counts as that."""
    # One in which a key stands twice is a text: the model reads both values, and its fields would have one.
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            parse_json(value, keys_once=True)
            return parse_json(value, exact_numbers=True)
        except NotJson:
            return value
    return value


_BLOCKS: Final = ("image", "image_url", "audio", "input_audio", "video", "file", "document", "media", "resource")
"""Types of blocks of content that are no text."""


def describe_media(value: JsonValue) -> JsonValue:
    """Return what a tool brought with its pictures, files and sounds as lines: kind, size and hash."""
    if not (isinstance(value, list) and value and all(map(_is_block, value))):
        return value
    if all(block["type"] == "text" for block in value):
        return value
    return "\n".join(block["text"] if block["type"] == "text" else _describe_block(block) for block in value)


def _is_block(item: JsonValue) -> bool:
    if not isinstance(item, dict):
        return False
    return item.get("type") in _BLOCKS or (item.get("type") == "text" and isinstance(item.get("text"), str))


def _describe_block(block: JsonObject) -> str:
    block = {key: item for key, item in block.items() if key != "id"}  # which adapters draw, each time another
    kinds = (leaf.value for leaf in list_leaves(block) if leaf.keys[-1] in ("mime_type", "mimeType", "format"))
    kind = next(kinds, None)
    size = sum(len(leaf.value) for leaf in list_leaves(block) if isinstance(leaf.value, str))
    shown = f"{block['type']} {kind}" if isinstance(kind, str) and kind.isprintable() else block["type"]
    return f"[{shown:.80}, {size} characters of data, sha256 {digest(block)[:12]}]"


def read_outcome(outcome: Outcome) -> tuple[JsonValue, bool]:
    """Return what a call of a tool brought, as the model is shown it, and whether it is a failure that it reported."""
    if outcome.form != "failure":
        return describe_media(outcome.content), False
    match parse_expected_failure(outcome.content):
        case (reason, {"message": str(message)}) if reason == REPORTED:
            return message, True
    return None, False


def list_property_names(schema: JsonValue) -> frozenset[str]:
    """Return the names of properties anywhere in a schema: keys of arguments that the tool's owner set."""
    names, rest = set[str](), [schema]
    while rest:
        item = rest.pop()
        if isinstance(item, Mapping):
            properties = item.get("properties")
            names.update(properties if isinstance(properties, Mapping) else ())
            rest += item.values()
        elif isinstance(item, list):
            rest += item
    return frozenset(names)


def list_keys(value: JsonValue, name: str = "") -> Iterator[Leaf]:
    """Yield the keys of a value, each as a leaf that says itself, with the keys on the way and itself."""
    rest: list[Leaf] = [Leaf(name, (name,) if name else (), value)]
    while rest:
        at, keys, item = rest.pop()
        if isinstance(item, dict):
            below = [Leaf(f"{at}.{key}" if at else key, (*keys, key), child) for key, child in item.items()]
            yield from (Leaf(f"{leaf.path} (key)", leaf.keys, leaf.keys[-1]) for leaf in below)
            rest += below
        elif isinstance(item, list):
            rest += [Leaf(f"{at}[{number}]", keys, child) for number, child in enumerate(item)]


def list_own_keys(value: JsonValue, name: str, named: frozenset[str]) -> Iterator[Leaf]:
    """Yield keys inside an argument that no schema has: they are written by the model, as values are."""
    yield from (Leaf(key.path, (), key.value) for key in list_keys(value, name) if key.value not in named)


def is_container(value: JsonValue) -> bool:
    """Say whether a value may hold others."""
    return isinstance(value, dict | list)


def list_empty(value: JsonValue, name: str) -> Iterator[Leaf]:
    """Yield the empty lists and objects of an argument: that there is nothing can decide too, as with all members."""
    rest = [(name, value)]
    while rest:
        at, item = rest.pop()
        if is_container(item) and not item:
            yield Leaf(at, (), item)
        elif isinstance(item, dict):
            rest += [(f"{at}.{key}", child) for key, child in item.items()]
        elif isinstance(item, list):
            rest += [(f"{at}[{number}]", child) for number, child in enumerate(item)]


def write_leaf(value: JsonValue) -> str:
    """Return a leaf as the text by which a rule allows it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
