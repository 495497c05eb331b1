"""Prompts: what models are told, in files with named fields, and what an application tells them beside.

A file has what a model is told, a line ``---``, and what it is asked, with the fields of its view.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.world.views import CHARACTERS, fit_schema, list_fields, write_refusal, write_view

PromptFiles: TypeAlias = "str | Path | Mapping[str, str]"  # A folder of prompts, or their texts by name

_PARTED: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
FEWEST_TOKENS: Final = 2000
"""That any reply may have, for what a model thinks in front of it."""
LONGEST_TURN: Final = 4000
"""Characters of a refused proposal that its model is shown."""


@dataclass(frozen=True)
class Prompt:
    """What a model is told before it proposes, and the form of its proposal."""

    name: str
    text: str
    """The system message; it states the form too, for models that cannot be held to a schema."""
    schema: JsonObject
    """JSON schema of the proposal; values that a call's view decides stand there by name, see `fit_schema`."""
    asked: str = ""
    """The message behind it, with the fields of the view; where it is blank, the view is shown as JSON."""
    as_text: Prompt | None = None
    """What a model is told that is to write a text in place of JSON."""
    as_calls: Prompt | None = None
    """What a model is told that calls tools in its provider's own form."""
    limits: Mapping[str, Any] | None = None
    """What the schema may name beside the view; the view's own come first."""

    @cached_property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of all of it: which version of the prompt was used."""
        told = [self.text, self.asked, json.dumps(self.schema, sort_keys=True)]
        others = [other.hash for other in (self.as_text, self.as_calls) if other is not None]
        return sha256("\n".join([*told, *others]).encode()).hexdigest()[:12]

    def fit(self, view: JsonObject) -> JsonObject:
        """Return the schema of a proposal that fits a view."""
        fitted: JsonObject = fit_schema(self.schema, {**(self.limits or {}), **view})
        return fitted

    def count_output_tokens(self, view: JsonObject) -> int | None:
        """Return how many tokens a reply to a view may have where no budget says it; None where none is too many."""
        known = {**(self.limits or {}), **view}
        told = self.schema.get(CHARACTERS)
        characters = known.get(told[1:]) if isinstance(told, str) else told
        return FEWEST_TOKENS + characters // 2 if isinstance(characters, int) else None

    def write_messages(self, view: JsonObject) -> list[BaseMessage]:
        """Return what a model is sent for a view; where it is asked again, its proposal as its turn, and why."""
        shown = {name: value for name, value in view.items() if name != "refused"}
        asked = write_view(self.asked, shown) if self.asked else json.dumps(shown, ensure_ascii=False)
        messages: list[BaseMessage] = [SystemMessage(self.text), HumanMessage(asked)]
        if not isinstance(refused := view.get("refused"), dict):
            return messages
        told = write_refusal(read_prompt_part("asked_again"), refused, shown)
        return [*messages, *_list_earlier_turn(refused), HumanMessage(told)]


def _list_earlier_turn(refused: JsonObject) -> list[BaseMessage]:
    """Return what a model proposed before, as its turn; nothing where it proposed nothing."""
    said = refused.get("proposal")
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    cut = text if len(text) <= LONGEST_TURN else f"{text[:LONGEST_TURN]}..."
    return [AIMessage(cut)] if text.strip() and said is not None else []


def load_prompt(name: str, limits: Mapping[str, object], own: Mapping[str, str] | None = None) -> Prompt:
    """Read one of the prompts that stand in files beside the nodes."""
    schema = json.loads((_get_prompt_folder() / f"{name}.schema.json").read_text(encoding="utf-8"))
    prompt = _parse_prompt(name, schema, limits, own or {})
    others = {
        way: _parse_prompt(f"{name}_{way}", {}, limits, own or {})
        for way in ("as_text", "as_calls")
        if (_get_prompt_folder() / f"{name}_{way}.md").is_file()
    }
    return replace(prompt, **others)  # type: ignore[arg-type]


def _parse_prompt(name: str, schema: JsonObject, limits: Mapping[str, object], own: Mapping[str, str]) -> Prompt:
    told, asked = split_prompt(own.get(name) or read_prompt_part(name))
    return Prompt(name, Template(told).substitute(limits), schema, asked, limits=dict(limits))


def split_prompt(text: str) -> tuple[str, str]:
    """Return what a model is told and what it is asked, the latter blank where the file has no line ``---``."""
    told, *asked = _PARTED.split(text, maxsplit=1)
    return told.strip(), asked[0].strip() if asked else ""


def _get_prompt_folder() -> Any:
    return files("guardgraph.nodes") / "prompts"


@cache
def read_prompt_part(name: str) -> str:
    """Return the text of one of our files."""
    text: str = (_get_prompt_folder() / f"{name}.md").read_text(encoding="utf-8")
    return text.strip()


@cache
def list_prompt_names(pattern: str = "") -> tuple[str, ...]:
    """Return the names of our prompts, all of them or those of one pattern, such as ``"rag"``."""
    names = sorted(
        item.name.removesuffix(".md") for item in _get_prompt_folder().iterdir() if item.name.endswith(".md")
    )
    parts = ("asked_again", "instructions")
    return tuple(name for name in names if name not in parts and name.startswith(f"{pattern}_" if pattern else ""))


@cache
def list_prompt_texts() -> tuple[str, ...]:
    """Return what our prompts tell models: a text that says it back says nothing. Examples and fields are left out."""
    told = [split_prompt(read_prompt_part(name))[0] for name in (*list_prompt_names(), "asked_again", "instructions")]
    return tuple(re.sub(r"`[^`]*`|\$\w+|^Example\b.*\Z", "", text, flags=re.MULTILINE | re.DOTALL) for text in told)


def read_own_prompts(given: PromptFiles | None, pattern: str) -> Mapping[str, str]:
    """Return prompts of an application's own by name."""
    if given is None:
        return {}
    own = dict(given) if isinstance(given, Mapping) else _read_prompt_folder(given)
    known = list_prompt_names(pattern)
    for name, text in own.items():
        if name not in known:
            raise ConfigurationError(f"prompts: one of {', '.join(known)} is required; given: {name!r:.80}")
        _check_prompt_fields(name, text)
    return own


def write_prompts(folder: Path, pattern: str) -> list[Path]:
    """Write the prompts of a pattern into a folder, as `read_own_prompts` reads them."""
    written = [folder / f"{name}.md" for name in list_prompt_names(pattern)]
    if there := next((path for path in written if path.exists()), None):
        raise ConfigurationError(f"prompts: a folder without {there.name} is required; given: {str(folder)!r:.80}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in written:
            path.write_text(f"{read_prompt_part(path.stem)}\n", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"prompts: cannot be written to {str(folder)!r:.80}: {error.strerror}") from None
    return written


def _read_prompt_folder(given: object) -> dict[str, str]:
    try:
        found = sorted(Path(given).glob("*.md"))  # type: ignore[arg-type]
        texts = {path.stem: path.read_text(encoding="utf-8") for path in found}
    except (TypeError, OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"prompts: a folder of files, or texts by name; given: {given!r:.80} ({error})"
        ) from None
    if not texts:
        raise ConfigurationError(f"prompts: a folder with files NAME.md is required; given: {str(given)!r:.80}")
    return texts


def _check_prompt_fields(name: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(f"prompts.{name}: a text that is not blank is required; given: {text!r:.80}")
    ours, theirs = split_prompt(read_prompt_part(name)), split_prompt(text)
    wanted, given = ({*list_fields(asked)} for _, asked in (ours, theirs))
    for field in sorted(wanted - given):
        raise ConfigurationError(f"prompts.{name}: the field ${field} is missing behind the line ---")
    others = (given - wanted) | ({*list_fields(theirs[0])} - {*list_fields(ours[0])})
    for field in sorted(others):
        raise ConfigurationError(f"prompts.{name}: there is no field ${field}; fields: {', '.join(sorted(wanted))}")


def get_again_prompt_name() -> str:
    """Return name and hash, ``name@hash``, of what a model is told beside its prompt when it is asked again."""
    return f"asked_again@{sha256(read_prompt_part('asked_again').encode()).hexdigest()[:12]}"


LONGEST_INSTRUCTIONS = 8000
"""Characters of an application's instructions; they stand in every call of those that write."""


def add_prompt_instructions(prompt: Prompt, instructions: str) -> Prompt:
    """Return a prompt that tells a model an application's instructions too; its hash counts them."""
    as_text, as_calls = (
        None if other is None else add_prompt_instructions(other, instructions)
        for other in (prompt.as_text, prompt.as_calls)
    )
    told = f"{prompt.text}\n\n{read_prompt_part('instructions')}\n\n{instructions}"
    return replace(prompt, text=told, as_text=as_text, as_calls=as_calls)


def validate_instructions(given: object) -> str | None:
    """Return an application's instructions, stripped, None for none."""
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_INSTRUCTIONS:
        allowed = f"a text that is not blank, of at most {LONGEST_INSTRUCTIONS} characters, is required"
        size = f" ({len(given)} characters)" if isinstance(given, str) else ""
        raise ConfigurationError(f"instructions: {allowed}; given: {given!r:.80}{size}")
    if (problem := find_json_problem(given)) is not None:
        raise ConfigurationError(f"instructions: a text that can be stored is required, not {problem}")
    return given.strip()
