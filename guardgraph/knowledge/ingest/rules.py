"""The rules of a folder: ``access.yaml`` says who may read what stands beside and below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from guardgraph.formats.settings_file import Place, WrongText, parse_yaml, text_of
from guardgraph.knowledge.ingest.lookalikes import is_like_rule_file
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import find_json_problem
from guardgraph.state.context import PUBLIC, TENANT, normalize_document_access
from guardgraph.tools.folder import FoundFile, LeftOut, Unread, format_file_path


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

    given: tuple[str, ...] | None
    """The readers that hold above the root; None where nobody gave any."""
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
        value, lines = parse_yaml(text_of(Path(file.path)))
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
        raise WrongText(
            f"readers: {', '.join(added):.200}: a rule adds no readers to those above it, "
            f"{', '.join(above) or 'nobody':.200}",
            line,
        )
    return readers
