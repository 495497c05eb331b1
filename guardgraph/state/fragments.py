"""Links that open a page at a text: text fragments, https://wicg.github.io/scroll-to-text-fragment/."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

__all__ = ["link_to_text"]

WHOLE_CHARS: Final = 120
"""Characters up to which a text stands in its link as a whole; a longer one is named by its ends."""
END_WORDS: Final = 6
"""Words of each end."""


def link_to_text(url: str, text: str) -> str:
    """Return a URL at which a browser opens a page and marks a text, where the page still has it.

    A text of one block stands there as a whole, a long one by its first and last words; so does one of several blocks,
    since a browser looks for a whole text in one block only.

    Args:
        url: of the page; a fragment that it has is kept.
        text: as the page shows it, one line for a block.
    """
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return url
    words = " ".join(map(" ".join, lines))
    if len(lines) == 1 and (len(words) <= WHOLE_CHARS or len(lines[0]) <= 2 * END_WORDS):
        ends = [words]
    else:
        ends = [" ".join(lines[0][:END_WORDS]), " ".join(lines[-1][-END_WORDS:])]
    mark = "" if "#" in url else "#"
    return f"{url}{mark}:~:text={','.join(map(_encoded, ends))}"


def _encoded(text: str) -> str:
    # A dash, a comma and an ampersand part a fragment; `quote` leaves the dash.
    return quote(text.encode("utf-8", "replace"), safe="").replace("-", "%2D")
