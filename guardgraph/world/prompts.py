"""Prompts: what models are told, in files with named fields, and what an application tells them beside.

A file has what a model is told, a line ``---``, and what it is asked, with the fields of its view.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.utils.json_schema import dereference_refs

from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import detect_language, read_terms
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.files import rewrite_file
from guardgraph.plain.json import JsonObject, JsonValue, find_json_problem

CHARACTERS: Final = "characters"  # key of a schema of ours that says how long a reply may be; no model is sent it
NUMBERED: Final = ("context_chunks", "notes", "pages")  # lists of a view whose items a model knows by their numbers
_HEAD: Final = ("title", "section")  # what stands in the first line of an item, where it has it
_DATES: Final = ("updated_at", "published_at")
"""What stands behind it in parentheses: in front, a small model takes it for the answer."""
_BODY: Final = ("text", "claim", "quote")  # what stands below, each on lines of its own


def parse_paragraphs(asked: str) -> list[tuple[Template, list[str]]]:
    """Return the paragraphs of what a model is asked, each with the names of its fields."""
    return [(Template(paragraph), list_fields(paragraph)) for paragraph in re.split(r"\n{2,}", asked.strip())]


def write_view(paragraphs: Iterable[tuple[Template, list[str]]], view: JsonObject) -> str:
    """Return what a model is asked: the input of its prompt with the view's fields in it."""
    fields, written = {name: _write_field(name, value) for name, value in view.items()}, list[str]()
    for paragraph, named in paragraphs:
        if not named or any(fields.get(name, "").strip() for name in named):
            written.append(paragraph.safe_substitute({**dict.fromkeys(named, ""), **fields}))
    return "\n\n".join(written)


def list_fields(text: str) -> list[str]:
    """Return the names of the fields of a template, in order."""
    return Template(text).get_identifiers()


def _write_field(name: str, value: JsonValue) -> str:
    if value and name in NUMBERED:
        return write_numbered(value)
    if value and name == "results":
        return _write_results(value)
    if value and name == "history":
        return "\n".join(f"{turn['role']}: {turn['content']}" for turn in value)
    if value and name == "tools":
        return "\n".join(f"- {tool['name']}: {tool['description']}\n  {json.dumps(tool['schema'])}" for tool in value)
    if value and name == "sentence_citations":
        return "[1]"
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {item}" for item in value)
    return "\n".join(_write_fields(value)) if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)


def _write_fields(value: JsonObject) -> Iterator[str]:
    """Yield the fields of an object as lines, those of an object inside, and further lines of a text, indented."""
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield f"{key}:"
            yield from (f"  {line}" for line in _write_fields(item))
        else:
            said = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            yield f"{key}: {said}".replace("\n", "\n    ")


def write_numbered(items: Sequence[JsonObject]) -> str:
    """Return the items of a list, each with its number, what it is about, and its text."""
    written = list[str]()
    for at, item in enumerate(items, 1):
        texts = {name: str(item[name]).strip() for name in (*_HEAD, *_DATES) if str(item.get(name) or "").strip()}
        about = " - ".join(dict.fromkeys(texts[name] for name in _HEAD if name in texts))
        dates = (f"({texts[name]})" for name in _DATES if name in texts)
        head = " ".join([f"[{item.get('number') or at}]", *([about] if about else []), *dates])
        said = [f'"{item[name]}"' if name == "quote" else str(item[name]) for name in _BODY if item.get(name)]
        written.append("\n".join([head, *said]))
    return "\n\n".join(written)


def _write_results(results: Sequence[JsonObject]) -> str:
    written = list[str]()
    for item in results:
        call = f"{item['id']}: {item['tool']}({json.dumps(item['args'], ensure_ascii=False)})"
        rest = {key: value for key, value in item.items() if key not in ("id", "tool", "args") and value != []}
        written.append(f"{call}\n{json.dumps(rest, ensure_ascii=False)}")
    return "\n\n".join(written)


def fit_schema(schema: JsonObject, view: Mapping[str, Any]) -> JsonObject:
    """Return a schema with what a call allows."""
    fitted: JsonObject = {}
    for key, value in schema.items():
        fits = value
        if isinstance(value, dict):
            fits = fit_schema(value, view)
        elif isinstance(value, list):
            fits = [fit_schema(item, view) if isinstance(item, dict) else item for item in value]
        elif isinstance(value, str) and value.startswith(("$", "#", "@")) and key not in ("title", "description"):
            fits = _find_allowed(key, value, view)
        if fits is not None and key != CHARACTERS and not (key == "enum" and fits == []):
            fitted[key] = fits
    return fitted


def _find_allowed(key: str, name: str, view: Mapping[str, Any]) -> Any:
    """Return what a call allows for a keyword that names it, None where it says nothing."""
    given = view.get(name[1:])
    if given is None or name[0] == "$":
        return given
    if name[0] == "@":
        return [_write_call_form(tool) for tool in given] or None
    return len(given) if key in ("minItems", "maxItems", "maximum") else [*range(1, len(given) + 1)]


def _write_call_form(tool: JsonObject) -> JsonObject:
    """Return the schema of a call of one tool: its name, and its own arguments with their types."""
    name = {"type": "string", "enum": [tool["name"]]}
    properties = {"tool": name, "args": inline_definitions(tool["schema"])}
    return {"type": "object", "properties": properties, "required": ["tool", "args"], "additionalProperties": False}


def inline_definitions(schema: JsonObject) -> JsonObject:
    """Return the schema of a tool's arguments with what it refers to in its place."""
    plain = dereference_refs(schema) if "$ref" in json.dumps(schema) else schema
    return {"type": "object", **{key: value for key, value in plain.items() if key != "$defs"}}


MOST_TOLD: Final = 3
"""Texts of a refused proposal of which a model that is asked again is told what the sources say, and places of each."""
_PLACED: Final = ("findings", "context_doc_ids")
"""Evidence that says where things stand by signs and ids, which no model is shown."""


def write_refusal(template: str, refused: JsonObject, shown: JsonObject) -> str:
    """Return what a model is told that is asked again: what the sources say of its words, else why, with evidence."""
    why = str(refused.get("why") or refused["reason"])
    evidence = {name: item for name, item in (refused.get("evidence") or {}).items() if name not in _PLACED}
    if said := [f"{name.replace('_', ' ')}: {json.dumps(item, ensure_ascii=False)}" for name, item in evidence.items()]:
        why += f" ({'; '.join(said)})"
    items: Sequence[Any] = next((value for name in NUMBERED if isinstance(value := shown.get(name), list)), [])
    told = [*_list_corrections(refused, items)] or [why]
    if not refused["reason"].startswith("llm_") and (nearest := find_nearest_sentence(shown)):
        told.append(f"Nearest to the question, a source says: {json.dumps(nearest['text'], ensure_ascii=False)}")
    return write_view(parse_paragraphs(template), {"why": " ".join(told), "question": shown.get("question")})


def find_nearest_sentence(shown: JsonObject) -> JsonObject | None:
    """Return the sentence, or numbered item, of what a model is shown that shares most rare words with its question."""
    question = shown.get("question")
    items: Sequence[Any] = next((value for name in NUMBERED if isinstance(value := shown.get(name), list)), [])
    if not isinstance(question, str):
        return None
    language = detect_language(question)
    wanted, found = frozenset(read_terms(question, language)), list[tuple[frozenset[str], JsonObject]]()
    for number, item in enumerate(items, 1):
        head = " ".join(str(item.get(name) or "") for name in _HEAD)
        for text in (item[name] for name in _BODY if isinstance(item.get(name), str)):
            for said in _list_sentences(text):
                shared = wanted & frozenset(read_terms(f"{head}. {said}", language))
                found += [(shared, {"number": number, "text": said})] * bool(shared)
    spread = Counter(word for shared, _ in found for word in shared)
    return max(found, key=lambda it: sum(1 / spread[word] for word in it[0]), default=(None, None))[1]


def _list_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, and of its tables each row with what its columns are called."""
    columns = list[str]()
    for said in split_sentences(unwrap_text_lines(text)):
        cells = [cell.strip() for cell in said.strip("|").split("|")] if said.startswith("|") else []
        if columns and cells and any(cell.strip("-: ") for cell in cells):
            yield "; ".join(f"{column}: {cell}" for column, cell in zip(columns, cells, strict=False))
        elif not cells:
            yield " ".join(said.split())
        columns = columns or cells if cells else []


def _list_corrections(refused: JsonObject, items: Sequence[JsonObject]) -> Iterator[str]:
    """Yield a sentence on each text that no source bears out: what they say in its place, or where they have it."""
    evidence = refused.get("evidence") or {}
    texts, findings = evidence.get("unsupported"), evidence.get("findings") or ()
    if not items or not isinstance(texts, list):
        return
    told = {finding["text"]: finding["told"] for finding in findings if isinstance(finding.get("told"), str)}
    for text in [text for text in texts if isinstance(text, str)][:MOST_TOLD]:
        quoted = json.dumps(text, ensure_ascii=False)
        held = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
        numbered = enumerate((json.dumps(item, ensure_ascii=False) for item in items), 1)
        at = [f"[{number}]" for number, shown in numbered if held.search(shown)]
        if text in told:
            yield f"It is not {quoted}: the source says {json.dumps(told[text], ensure_ascii=False)}."
        elif at:
            yield f"{quoted} stands in {' and '.join(at[:MOST_TOLD])}: cite it there."
        else:
            yield f"No source has {quoted}."


PromptFiles: TypeAlias = "str | Path | Mapping[str, str]"  # A folder of prompts, or their texts by name

_PARTED: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
FEWEST_TOKENS: Final = 2000  # that any reply may have, for what a model thinks in front of it
LONGEST_TURN: Final = 4000  # characters of a refused proposal that its model is shown


@dataclass(frozen=True)
class Prompt:
    """What a model is told before it proposes, and the form of its proposal."""

    name: str
    text: str  # the system message; it states the form too, for models that cannot be held to a schema
    schema: JsonObject
    """JSON schema of the proposal; values that a call's view decides stand there by name, see `fit_schema`."""
    asked: str = ""  # the message behind it, with the fields of the view; where it is blank, the view is shown as JSON
    as_text: Prompt | None = None  # what a model is told that is to write a text in place of JSON
    as_calls: Prompt | None = None  # what a model is told that calls tools in its provider's own form
    limits: Mapping[str, Any] | None = None  # what the schema may name beside the view; the view's own come first

    @cached_property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of all of it: which version of the prompt was used."""
        told = [self.text, self.asked, json.dumps(self.schema, sort_keys=True)]
        others = [other.hash for other in (self.as_text, self.as_calls) if other is not None]
        return sha256("\n".join([*told, *others]).encode()).hexdigest()[:12]

    @cached_property
    def paragraphs(self) -> list[tuple[Template, list[str]]]:
        """The paragraphs of `asked`, each with the names of its fields."""
        return parse_paragraphs(self.asked)

    def fit(self, view: JsonObject) -> JsonObject:
        """Return the schema of a proposal that fits a view."""
        return fit_schema(self.schema, {**(self.limits or {}), **view})

    def count_output_tokens(self, view: JsonObject) -> int | None:
        """Return how many tokens a reply to a view may have where no budget says it; None where none is too many."""
        known = {**(self.limits or {}), **view}
        told = self.schema.get(CHARACTERS)
        characters = known.get(told[1:]) if isinstance(told, str) else told
        return FEWEST_TOKENS + characters // 2 if isinstance(characters, int) else None

    def write_messages(self, view: JsonObject) -> list[BaseMessage]:
        """Return what a model is sent for a view."""
        return [kind(text) for kind, text in self.write_turns(view)]

    def write_turns(self, view: JsonObject) -> list[tuple[type[BaseMessage], str]]:
        """Return whose turns are sent with which texts; where it is asked again, its proposal as its turn, and why."""
        shown = {name: value for name, value in view.items() if name != "refused"}
        refused = view.get("refused")
        if isinstance(refused, dict) and not self.schema and (nearest := find_nearest_sentence(shown)):
            name = next(name for name in NUMBERED if shown.get(name))
            return self.write_turns({**shown, name: [nearest]})
        asked = write_view(self.paragraphs, shown) if self.asked else json.dumps(shown, ensure_ascii=False)
        turns: list[tuple[type[BaseMessage], str]] = [(SystemMessage, self.text), (HumanMessage, asked)]
        if not isinstance(refused, dict):
            return turns
        said = refused.get("proposal")
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        if text.strip() and said is not None:
            turns.append((AIMessage, text if len(text) <= LONGEST_TURN else f"{text[:LONGEST_TURN]}..."))
        return [*turns, (HumanMessage, write_refusal(read_prompt_part("asked_again"), refused, shown))]


def load_prompt(name: str, limits: Mapping[str, object], own: Mapping[str, str] | None = None) -> Prompt:
    """Read one of the prompts that stand in files beside the nodes."""
    schema = json.loads((_get_prompt_folder() / f"{name}.schema.json").read_text(encoding="utf-8"))
    prompt = _parse_prompt(name, schema, limits, own or {})
    ways = [way for way in ("as_text", "as_calls") if (_get_prompt_folder() / f"{name}_{way}.md").is_file()]
    others = {way: _parse_prompt(f"{name}_{way}", {}, limits, own or {}) for way in ways}
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
    files_there = sorted(item.name for item in _get_prompt_folder().iterdir() if item.name.endswith(".md"))
    names = [name.removesuffix(".md") for name in files_there if name not in ("asked_again.md", "instructions.md")]
    return tuple(name for name in names if name.startswith(f"{pattern}_" if pattern else ""))


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
    try:
        if there := next((path for path in written if path.exists()), None):
            raise ConfigurationError(f"prompts: a folder without {there.name} is required; given: {str(folder)!r:.80}")
        folder.mkdir(parents=True, exist_ok=True)
        for path in written:
            rewrite_file(path, f"{read_prompt_part(path.stem)}\n")
    except OSError as error:
        raise ConfigurationError(f"prompts: cannot be written to {str(folder)!r:.80}: {error.strerror}") from None
    return written


def _read_prompt_folder(given: object) -> dict[str, str]:
    try:
        found = sorted(Path(given).glob("*.md"))  # type: ignore[arg-type]
        texts = {path.stem: path.read_text(encoding="utf-8") for path in found}
    except (TypeError, OSError, UnicodeDecodeError) as error:
        required = "a folder of files, or texts by name"
        raise ConfigurationError(f"prompts: {required}; given: {given!r:.80} ({error})") from None
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


LONGEST_INSTRUCTIONS = 8000  # characters of an application's instructions; they stand in every call of those that write


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
