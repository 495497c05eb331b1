"""Markdown of texts that somebody else wrote: nothing in it is markup, and no address becomes a link."""

from __future__ import annotations

import re
from typing import Final

from guardgraph.plain.letters import escape_odd_letters

_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>|~&$#]")
"""What Markdown reads as markup anywhere in a line."""
_BEGINNING: Final = re.compile(r"\d{1,9}[.)](?=\s|$)|[-+=:]")
"""What makes a list, a rule or a heading of a line that begins so."""
_BLANKS: Final = re.compile(r"([\s|]+)")
_ADDRESS: Final = re.compile(r"://|@|www\.|[^\W_][.\u3002\uff0e\uff61][^\W\d_]{2}", re.IGNORECASE)
"""What some readers of Markdown make a link of by themselves, or a message to somebody."""
_AROUND: Final = "()\"'“”‘’«».,;:!?"  # what may stand around an address


def escape_markdown(text: str) -> str:
    """Return a text as Markdown; its lines stay, but for blanks at the beginning of all but the first."""
    first, *others = escape_markdown_words(text).split("\n")
    return "\n".join(map(protect_markdown_line, [first, *(line.lstrip() for line in others)]))


def escape_markdown_line(text: object) -> str:
    """Return a text as one line of Markdown."""
    return escape_markdown(" ".join(str(text).split()))


def protect_markdown_line(line: str) -> str:
    """Return an escaped line that begins with text, whatever it begins with."""
    begun = _BEGINNING.match(line)
    return f"{line[: begun.end() - 1]}\\{line[begun.end() - 1 :]}" if begun else line


def escape_markdown_words(text: str) -> str:
    """Return a part of a line as Markdown, addresses as code."""
    shown = escape_odd_letters(text.replace("\r\n", "\n"))
    return "".join(
        _format_address(part) if _ADDRESS.search(part) else escape_markdown_signs(part) for part in _BLANKS.split(shown)
    )


def escape_markdown_signs(text: str) -> str:
    """Return a word without an address as Markdown."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _format_address(text: str) -> str:
    """Return a word with an address in it, which stands as code, and what stands around it."""
    core = text.strip(_AROUND)
    before, _, after = text.partition(core)
    return f"{escape_markdown_signs(before)}{format_markdown_code(core)}{escape_markdown_signs(after)}"


def format_markdown_code(text: str) -> str:
    """Return a text as code, in which nothing is markup; between two cells of a table it stands as well."""
    shown = escape_odd_letters("%20".join(text.split())).replace("|", "%7C")
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{blank}{shown}{blank}{ticks}" if shown else ""
