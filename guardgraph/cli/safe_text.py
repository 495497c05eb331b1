"""Text of models, pages and files made safe to show: no terminal control sequences, nothing invisible."""

from __future__ import annotations

from guardgraph.plain.letters import escaped, is_harmless, is_odd

__all__ = ["one_line", "plain"]


def plain(text: str) -> str:
    r"""Return a text in which whatever could steer a terminal, or hide, stands as its escape, such as ``\x1b``.

    Line ends stay; other white space becomes blanks.
    """
    return text if is_harmless(text) else "".join(map(_shown, text))


def one_line(text: str) -> str:
    """Return a text like `plain`, on one line; what stood on several is parted by semicolons."""
    return plain("; ".join(line for line in text.splitlines() if line.strip()))


def _shown(letter: str) -> str:
    if letter.isspace():
        return letter if letter == "\n" else " "
    return escaped(letter) if is_odd(letter) else letter
