"""The switch of a live policy: its file says whether agents are on, who said so, and why."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from guardgraph.formats.yaml import ENDINGS, WrongText, parse_yaml, read_settings_text
from guardgraph.graphs.running.live_policy import LONGEST_SAID, SWITCHED
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.files import rewrite_file
from guardgraph.plain.json import JsonObject, find_json_problem

ENABLED: Final = "enabled"
_OURS = re.compile(rf"""^["']?({ENABLED}|{SWITCHED})["']?[ \t]*:""")
"""How a line begins that a switch replaces, with the indented lines behind it."""


def switch_live_policy(file: str | Path, *, on: bool, by: str, why: str) -> JsonObject:
    """Switch the agents of a live policy on or off, and return what its file says now.

    Lists, comments and order of the file stay. It is replaced as a whole, so that no agent reads half of it. A file
    that is not there is made.

    Args:
        file: ends in .yaml or .yml.
        on: whether the agents are on.
        by: who says so.
        why: why.

    Raises:
        ConfigurationError: an argument is wrong, or the file cannot be read, changed or written.
    """
    if not isinstance(file, str | Path):
        raise ConfigurationError(f"file: a file's name is required; given: {file!r:.80}")
    path = Path(file)
    if not isinstance(on, bool):
        raise ConfigurationError(f"on: True or False is required; given: {on!r:.80}")
    if path.suffix.lower() not in ENDINGS:
        raise ConfigurationError(f"{str(file)!r:.200}: a file that ends in .yaml or .yml is required")
    for name, given in {"by": by, "why": why}.items():
        is_text = isinstance(given, str) and find_json_problem(given) is None
        if not is_text or not given.strip() or len(given) > LONGEST_SAID:
            allowed = f"a text that is not blank, of at most {LONGEST_SAID} characters"
            raise ConfigurationError(f"{name}: {allowed}; given: {given!r:.80}")
    at = datetime.now(UTC).isoformat(timespec="seconds")
    said: JsonObject = {ENABLED: on, SWITCHED: {"by": by.strip(), "why": why.strip(), "at": at}}
    try:
        text = read_settings_text(path) if path.exists() else ""
        before = parse_yaml(text)[0] or {}
        texts = {name: json.dumps(text, ensure_ascii=False) for name, text in said[SWITCHED].items()}
        switched = ", ".join(f"{name}: {text}" for name, text in texts.items())
        changed = f"{ENABLED}: {json.dumps(said[ENABLED])}\n{SWITCHED}: {{{switched}}}\n" + _drop_switch(text)
        expected = {**before, **said} if isinstance(before, dict) else None
        if expected is None or parse_yaml(changed)[0] != expected:
            raise ConfigurationError(f"{str(file)!r:.200}: fields at the left edge are required, a line for each")
        rewrite_file(path, changed)
    except OSError as error:
        raise ConfigurationError(f"{str(file)!r:.200}: cannot be written: {error.strerror}") from None
    except WrongText as error:
        raise ConfigurationError(f"{str(file)!r:.200}: {error}") from None
    return expected


def _drop_switch(text: str) -> str:
    kept: list[str] = []
    is_ours = False
    for line in text.splitlines(keepends=True):
        is_ours = bool(_OURS.match(line)) or (is_ours and line[:1] in (" ", "\t"))
        if not is_ours:
            kept.append(line)
    return "".join(kept)
