"""Text of models, pages and files made safe to show: no terminal control sequences, nothing invisible."""

from __future__ import annotations

from guardgraph.plain.letters import escape_letter, is_harmless_text, is_odd_letter


def escape_for_terminal(text: str) -> str:
    r"""Return a text in which whatever could steer a terminal, or hide, stands as its escape, such as ``\x1b``.

    Line ends stay; other white space becomes blanks.
    """
    return text if is_harmless_text(text) else "".join(map(_escape_terminal_letter, text))


def escape_to_one_line(text: str) -> str:
    """Return a text like `escape_for_terminal`, on one line; what stood on several is parted by semicolons."""
    return escape_for_terminal("; ".join(line for line in text.splitlines() if line.strip()))


def _escape_terminal_letter(letter: str) -> str:
    if letter.isspace():
        return letter if letter == "\n" else " "
    return escape_letter(letter) if is_odd_letter(letter) else letter
