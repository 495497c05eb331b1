"""What a text of a record says, as plain sentences: without markup, and without pointers to links and files.

Records are written in Markdown, in HTML or by hand. Headings, tables and code are left out; a list follows the words
that introduce it. All rules are linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Final
from unicodedata import east_asian_width

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import DEFAULT_LANGUAGE, load_function_words, normalise_spaces, split_words

ENDS = ".!?…。！？।"
"""What a sentence ends with."""

_READ_CHARS = 20_000
"""How much of a text is read: many times what an update has room for."""
_WRAPPED_CHARS = 50
"""A line of so many characters goes on in the next one; a shorter one ends a statement."""
_FEWEST_WORDS, _HEADED_WORDS = 8, 5
"""How many words a sentence has beside its link if it does more than point to it; fewer where a colon parts them."""
_MOST_NAMED = 5
"""How many items of a list are named before *and others*."""
_LINK_CHARS = 100
"""A longer link is no reading matter, and neither is the sentence around it."""
_ITEM_WORDS = 12
"""An item with more words is a statement, not a part of a list in a sentence."""

_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n(?:[^\n]{0,400}\n){0,60}?---[ \t]*\n")
_HIDDEN = re.compile(
    r"<(script|style|pre|h[1-6])\b[^<>]{0,400}>[^<]{0,2000}</\1\s*>|<!--[^>]{0,2000}-->", re.IGNORECASE
)
_ITEM_TAG = re.compile(r"<li\b[^<>]{0,400}>", re.IGNORECASE)
_BLOCK_TAG = re.compile(r"</?(?:p|br|div|li|[uo]l|t[rdh]|table|section|article|header)\b[^<>]{0,400}>", re.IGNORECASE)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)?[\w@-][\w.@-]{0,200}\.[^\s<>]{1,400})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,400}>|-->")

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|##|\||[=*_-]{3,}[ \t]*$|\[[^\[\]]{0,200}\][ \t]*$|\*\*[^*]{1,100}\*\*:?[ \t]*$)"
)
"""A line that is a heading, a rule, a row of a table or a label in brackets or bold print."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•–][ \t]*(?=[^\W_]|[\"'`*_(\[])|\d{1,3}[.)][ \t]+)")
_QUOTED = re.compile(r"(?:[ \t]{0,9}>){1,9}")

_IMAGE = re.compile(r"!\[[^\[\]]{0,400}\]\([^()\s]{0,800}\)")
_LINK = re.compile(r"\[([^\[\]]{1,400})\]\((?:[^()\s]|\([^()\s]{0,200}\)){1,800}(?: \"[^\"]{0,200}\")?\)")
_STARS = re.compile(r"(?<![\w*\\])(\*{1,3})(?=\S)([^*\n]{1,400}?)(?<=[^\s\\])\1(?![\w*])")
_UNDERLINES = re.compile(r"(?<![\w\\])(_{1,3})(?=\S)([^\n_]{1,400}?)(?<=\S)\1(?!\w)")
_MARKS = re.compile(r"\*\*|~~|`|\\(?=[*_`#\[\]()<>~.!-])")

_BRACKETED = re.compile(r"\s?\([^()]{0,1000}\)")
_HOME = re.compile(r"https?://([\w-][\w.-]{0,200}\w)/?(?=[\s,;:.)]*(?:\s|$))")
_WIDE_END = re.compile(r"(?<=[。！？।])(?=[^\s\"')\]])")

_FILE = r"(?:mdx?|rst|adoc|txt|log|csv|json|ya?ml|toml|ini|cfg|conf|sql|sh|lock|tf|xml|html?)"
_CODE = r"(?:py|js|tsx?|jsx?|go|rb|java|kt|rs|c|cpp|h|cs|php|ipynb|exe|dll|so|jar|zip|gz|png|jpe?g|svg|pdf)"
_PATH = re.compile(
    r"(?<![\w:.@-])[a-zA-Z]:\\\S"
    r"|(?<![\w/:.@-])(?:~|\.{1,2})/[\w.@-]"
    r"|(?<![\w/:.@-])/(?:var|etc|opt|home|usr|srv|tmp|root|mnt|proc|dev|data|app|Users)/[\w.@-]"
    rf"|[\w@-]{{1,100}}\.(?:{_FILE})\b(?![.-]\w)"
    rf"|[/\\][\w@-]{{1,100}}\.{_CODE}\b(?![.-]\w)"
)
"""An absolute path (the directories of the Filesystem Hierarchy Standard), or a name that ends like a file's."""


def read_prose_sentences(text: str) -> Iterator[str]:
    """Yield what a text says, sentence by sentence.

    Args:
        text: Markdown, HTML or plain text, of any length; only its beginning is read.

    Yields:
        Whole sentences in the text's order, each on one line and with an end mark. Left out are headings, tables,
        code, sentences that only point to a link, and those that name a file.
    """
    for statement in _read_prose_statements(_strip_prose_tags(text[:_READ_CHARS])):
        for sentence in split_sentences(_WIDE_END.sub("\n", _strip_prose_marks(statement))):
            said = _drop_pointing_link(sentence).strip(" ,;:–—-")
            if split_words(said) and not has_file_path(said):
                yield add_end_mark(capitalise_sentence(said))


def read_prose_line(text: str) -> str:
    """Return a short text, such as a title, without its markup and full stop; blank if it names a file."""
    said = _drop_pointing_link(normalise_spaces(_strip_prose_marks(_strip_prose_tags(text[:_READ_CHARS])))).lstrip("# ")
    return "" if has_file_path(said) else said.rstrip(".!")


def has_file_path(text: str) -> bool:
    """Say whether a text names a file."""
    return _PATH.search(text) is not None


def add_end_mark(text: str) -> str:
    """Return a text with an end mark."""
    if not text or text.rstrip("\"')]”’»")[-1:] in tuple(ENDS):
        return text
    return text + ("。" if east_asian_width(text[-1]) in "WF" else ".")


def capitalise_sentence(text: str) -> str:
    """Return a text that begins with a capital, unless it begins with a name such as *ci.example.org*."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def join_prose_list(items: Sequence[str]) -> str:
    """Return items as one list: *a, b and c*."""
    *most, last = items
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last


def _strip_prose_tags(text: str) -> str:
    text = _FRONT_MATTER.sub("", text, count=1) if text.lstrip().startswith("---") else text
    if "<" in text or "-->" in text:
        text = _ITEM_TAG.sub("\n- ", _HIDDEN.sub("\n", text))
        text = _TAG.sub("", _AUTOLINK.sub(r"\1", _BLOCK_TAG.sub("\n", text)))
    return unescape(text)


def _strip_prose_marks(text: str) -> str:
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = _UNDERLINES.sub(r"\2", _STARS.sub(r"\2", text))
    return _MARKS.sub("", text)


def _read_prose_statements(text: str) -> Iterator[str]:
    """Yield the paragraphs and items of a text, wrapped lines joined."""
    reader = _ProseReader()
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield from reader.take_text_line(_QUOTED.sub("", line))
    yield from reader.finish_statements()


class _ProseReader:
    """Reads lines: what is said so far, and the items of the list that it introduces."""

    def __init__(self) -> None:
        self._said = ""
        self._items: list[str] = []
        self._is_item = self._wraps = self._paused = False

    def take_text_line(self, line: str) -> list[str]:
        """Read a line and return the statements that are complete with it."""
        item = _ITEM.match(line) if not _STARS.match(line.lstrip()) else None
        plain = line[item.end() :].strip() if item else line.strip()
        done: list[str] = []
        if not plain:
            self._paused = True
        elif _HEADING.match(line) or _LINK.fullmatch(plain):
            done = self.finish_statements()
        elif item and self._is_introduction():
            self._items.append(plain)
        elif self._is_continued_by(plain) and not item:
            self._append_to_statement(plain)
        else:
            done = self.finish_statements()
            self._said, self._is_item = plain, item is not None
        if plain:
            self._paused = False
            self._wraps = len(line) >= _WRAPPED_CHARS or plain.endswith(",")
        return done

    def finish_statements(self) -> list[str]:
        """Return the statements that wait for nothing more."""
        said, items = self._said, self._items
        self._said, self._items = "", []
        if not items:
            return [said] if said and not said.endswith(":") else []
        if any(len(item.split()) > _ITEM_WORDS or item.endswith(tuple(ENDS)) for item in items):
            return items
        named = items if len(items) <= _MOST_NAMED + 1 else [*items[:_MOST_NAMED], "others"]
        return [f"{said.removesuffix(':')}: {join_prose_list([item.rstrip(',;') for item in named])}"]

    def _is_introduction(self) -> bool:
        return self._said.endswith(":") or (bool(self._said) and not self._is_item and self._said[-1] not in ENDS)

    def _is_continued_by(self, plain: str) -> bool:
        latest = self._items[-1] if self._items else self._said
        if not latest or self._paused or latest.endswith(":"):
            return False
        return self._wraps or (plain[0].islower() and not latest.endswith(tuple(ENDS)))

    def _append_to_statement(self, plain: str) -> None:
        if self._items:
            self._items[-1] += f" {plain}"
        else:
            self._said += f" {plain}"


def _drop_pointing_link(sentence: str) -> str:
    """Return a sentence as it is, without the link that it ends with, or blank if it only points to one."""
    said = _BRACKETED.sub(lambda match: "" if "://" in match[0] else match[0], normalise_spaces(sentence))
    said = _HOME.sub(r"\1", said)
    parts = said.split(" ")
    others = [part for part in parts if "://" not in part]
    if len(others) == len(parts):
        return said
    if max(map(len, parts)) > _LINK_CHARS:
        return ""
    if parts[-1] not in others and others[-1:] and others[-1].endswith((":", "-", "–", "—")):
        return " ".join(others) if len(others) >= _HEADED_WORDS else ""
    return said if len(others) >= _FEWEST_WORDS else ""


_NO_SENTENCE: Final = re.compile(r"\[[^\]]+\]:\s|\.\. |:[\w-]+:(?:\s|$)|!\[|\[!\[|<[a-z/!?]")
"""How a line begins that says nothing: the target of a link, a directive, a field, an image, a tag."""
_BARE_LINK: Final = re.compile(r"(?:\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|<?https?://\S+>?|`?`[^`]*`?`_*)[.\s]*")
_CUT: Final = (",", ";", "(", "[", "{", "&", "=", "\\")
"""What ends a line that goes on elsewhere."""


def is_fragment(text: str, language: str) -> bool:
    """Say whether a line is no sentence: a directive, the target of a link, a link alone, or cut off.

    Args:
        text: the line, without a list marker.
        language: of its text, "" where nothing tells.
    """
    if _NO_SENTENCE.match(text) or _BARE_LINK.fullmatch(text) or is_cut_off(text):
        return True
    last = text.split()[-1:]
    return bool(last) and last[0].islower() and last[0] in load_function_words(language or DEFAULT_LANGUAGE)


def is_cut_off(text: str) -> bool:
    """Say whether a line goes on elsewhere, by what it ends with."""
    return text.endswith(_CUT)
