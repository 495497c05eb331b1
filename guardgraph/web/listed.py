"""A search in a file of URLs: what is read is what stands there."""

from __future__ import annotations

import os
from pathlib import Path

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.instant import instant
from guardgraph.tools.tool import Tool

__all__ = ["listed_search"]

MOST_BYTES = 1_000_000
"""Of the file."""


def listed_search(file: str | os.PathLike[str]) -> Tool:
    """Return a search for `create_research_agent` that finds the URLs in a file, whatever is asked.

    Args:
        file: a URL a line, the best first; blank lines, and lines that begin with ``#``, are left out. It is read now.

    Returns:
        ``{"query": str, "max_results": int}`` -> at most `max_results` hits ``{url}``.

    Raises:
        ConfigurationError: the file cannot be read as UTF-8 text, is larger than `MOST_BYTES`, or has no URL.
    """
    if not isinstance(file, str | os.PathLike):
        raise ConfigurationError(f"file: the path of a file of URLs is required; given: {file!r:.80}")
    given = os.fspath(file)
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(MOST_BYTES + 1)
        lines = [line.strip() for line in text.decode("utf-8-sig").splitlines()]
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"file {given!r:.200}: cannot be read as UTF-8 text: {error}") from error
    urls = [line for line in lines if line and not line.startswith("#")]
    if not urls or len(text) > MOST_BYTES:
        found = "none" if not urls else "more"
        raise ConfigurationError(
            f"file {given!r:.200}: URLs in at most {MOST_BYTES} bytes are required; given: {found}"
        )

    @instant
    def search(request: JsonObject) -> list[JsonObject]:
        return [{"url": url} for url in urls[: request["max_results"]]]

    return search
