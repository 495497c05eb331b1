"""What supports a value of a call: where it stands in what was given, in a trusted field, or in the tool's own rule.

A value that decides what a call does has to come from somebody who may decide: from whoever gave the task, from the
deployment, or from a field that the tool's owner sets. Texts of others, such as a page or a letter, license nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple

from guardgraph.guards.facts import Facts, facts_in_text, unsupported
from guardgraph.guards.facts.references import Meaning, read_json_number, read_number_meaning
from guardgraph.guards.facts.values import BARE, RATIO, Amount, Label, Named, Number, Quantity
from guardgraph.guards.links import LinkSupport, read_known_links, read_link_support
from guardgraph.guards.links.finding import Link, find_links, list_licensed_links
from guardgraph.guards.links.spelling import list_readings
from guardgraph.guards.tools.leaves import (
    Leaf,
    is_container,
    is_trusted_key,
    is_trusted_leaf,
    list_empty,
    list_keys,
    list_leaves,
    list_own_keys,
    list_property_names,
    read_result,
    write_leaf,
)
from guardgraph.guards.tools.values import (
    ISO_MOMENT,
    FoldedText,
    find_accounts,
    fold_text,
    is_moment,
    is_single_value,
    list_leading_parts,
    list_written_urls,
    read_whole_link,
    split_name_parts,
    squeeze_account,
)
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.letters import normalise_to_nfc
from guardgraph.state.tools import DECIDING, Given, MadeCall, Sighting, ToolPolicy, ToolRule, UnsupportedValue

_WORDS: Final[dict[str, Any]] = load_word_lists("tools")
_TEXTS: Final = frozenset(_WORDS["texts"].split())
"""Names of arguments that are free texts."""
_CONTENTS: Final = frozenset(_WORDS["contents"].split())
"""Names of those that are what is written or sent."""

_IDS: Final = frozenset({"id", "number", "no", "code", "ref", "ticket"})
"""Last words of the names of arguments whose numbers count nothing."""

_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|(?<!\w)'([^'\n]{1,300})'(?!\w)|`([^`\n]{1,300})`"
    r"|“([^“”\n]{1,300})”|„([^„“\n]{1,300})“|«([^«»\n]{1,300})»"
)
_AMOUNTS: Final = (Quantity, Label, Named)
_FEWEST_DIGITS: Final = 7
"""Digits from which on a text of digits alone is no count, day or year."""
MOST_SHOWN: Final = 5
"""Sightings and other candidates that an unsupported value shows."""
MOST_LOOKED_FOR: Final = 100
"""Unsupported values of a call that are looked for in results; a person reads no more."""


def has_seen_others(given: Given, made: Iterable[MadeCall], policy: ToolPolicy) -> bool:
    """Say whether the model was shown anything that others wrote: from then on its calls need support.

    Keys of results count as values do: the model reads them too, and who fills a field may have chosen them.
    A trusted field that holds several words counts too. Nobody knows who chose them: on a server where everybody may
    name a channel, its name can be a message.
    """
    if any(turn["role"] != "user" for turn in given["history"]):
        return True
    for call in made:
        trusted, result = policy.rule_of(call["tool"]).trusted, read_result(call["value"])
        if any(key.value and not is_trusted_key(key.keys, trusted) for key in list_keys(result)):
            return True
        if any(
            _says_something(leaf.value) and not (is_trusted_leaf(leaf, trusted) and is_single_value(leaf.value))
            for leaf in list_leaves(result)
        ):
            return True
    return False


def _says_something(value: JsonValue) -> bool:
    return not (value is None or isinstance(value, bool)) and value != ""


def _list_result_leaves(call: MadeCall) -> Iterator[Leaf]:
    return list_leaves(read_result(call["value"]))


class Source(NamedTuple):
    """Something that may license values."""

    name: str
    """As a licence names it."""
    value: JsonValue
    is_text: bool
    """Whether its words license, and not only itself as a whole."""
    keys: tuple[str, ...] = ()


def list_sources(given: Given, made: Iterable[MadeCall], policy: ToolPolicy) -> Iterator[Source]:
    """Yield what may license values of any call: what was given, and the trusted fields of results."""
    yield Source("task", given["task"], True)
    yield from (Source("history", turn["content"], True) for turn in given["history"] if turn["role"] == "user")
    yield from (Source("caller", leaf.value, False, leaf.keys) for leaf in list_leaves(given.get("caller")))
    for call in made:
        trusted = policy.rule_of(call["tool"]).trusted
        for leaf in _list_result_leaves(call) if trusted else ():
            if is_trusted_leaf(leaf, trusted):
                yield Source(f"{call['id']} {leaf.path}".rstrip(), leaf.value, is_single_value(leaf.value), leaf.keys)


class _Judged(NamedTuple):
    """What became of the values of a call, by their places."""

    supported: dict[str, str]
    missing: list[UnsupportedValue]


def list_delegated_sources(given: Given, made: Iterable[MadeCall], tool: str) -> Iterator[Source]:
    """Yield what may license values of calls of one tool: what a person approved of documents that were seen.

    A value counts as a whole; a document that no call of this run brought licenses nothing.
    """
    delegated = [item for item in given.get("delegated", ()) if tool in item["tools"]]
    seen = {digest(call["value"]) for call in made} if delegated else set()
    for item in delegated:
        if item["document"] in seen:
            yield from (Source(f"document {item['document'][:12]}", value, False) for value in item["values"])


class Support:
    """What licenses the values of the calls of one step.

    Args:
        given: what whoever runs the agent gave.
        made: the calls that were made in this run.
        policy: the run's.
        tool: the tool that is called.
        document: a call whose result counts like the task: what would be supported if it did?
    """

    def __init__(
        self,
        given: Given,
        made: Sequence[MadeCall],
        policy: ToolPolicy,
        tool: str = "",
        document: MadeCall | None = None,
    ) -> None:
        sources = [*list_sources(given, made, policy), *list_delegated_sources(given, made, tool)]
        if document is not None:
            found = _list_result_leaves(document)
            sources += [Source(f"{document['id']} {leaf.path}".rstrip(), leaf.value, True, leaf.keys) for leaf in found]
        self._sources = [source for source in sources if _says_something(source.value)]
        self._made = made
        self._known = read_known_links(policy.known_links)

    def judge_arguments(self, args: JsonObject, rule: ToolRule, schema: JsonObject) -> _Judged:
        """Return what supports each value of a call's arguments, by its place, and the values without support."""
        judged = _Judged({}, [])
        properties, named = schema.get("properties"), list_property_names(schema)
        for name, value in args.items():
            own = properties.get(name) if isinstance(properties, dict) else None
            if name not in named and name not in rule.forced and name not in rule.arguments:
                key = [Leaf(f"{name} (key)", (), name)]
                if schema.get("patternProperties") or schema.get("additionalProperties"):
                    self._judge_deciding(key, None, judged)
                else:  # names of a schema that says nothing of them are the description's
                    self._judge_text(key, judged)
            if (
                isinstance(own, dict)
                and "default" in own
                and _is_same_json(own["default"], value)
                and (not is_deciding_argument(name, rule) or _is_plain_default(own, schema))
            ):
                judged.supported[name] = "default"
            elif name in rule.forced:
                judged.supported[name] = "rule"
            elif is_deciding_argument(name, rule):
                limits = rule.arguments.get(name)
                listed = limits.allowed if limits is not None and limits.licenses else None
                leaves = (*list_leaves(value, name), *list_empty(value, name), *list_own_keys(value, name, named))
                self._judge_deciding(leaves, listed, judged)
            else:
                self._judge_text((*list_leaves(value, name), *list_own_keys(value, name, frozenset())), judged)
        return judged

    def _judge_deciding(self, leaves: Iterable[Leaf], listed: Collection[str] | None, judged: _Judged) -> None:
        for leaf in leaves:
            if listed is not None and not is_container(leaf.value) and write_leaf(leaf.value) in listed:
                judged.supported[leaf.path] = "rule"
            elif (source := self.find_source(leaf.value, leaf.keys)) is not None:
                judged.supported[leaf.path] = source
            else:
                self._add_unsupported(leaf.path, leaf.value, leaf.keys, judged)

    def _judge_text(self, leaves: Iterable[Leaf], judged: _Judged) -> None:
        """Judge what leads somewhere in a free text: links, addresses, account numbers."""
        for leaf in leaves:
            text = write_leaf(leaf.value) if is_number(leaf.value) else leaf.value
            for part in list_leading_parts(text) if isinstance(text, str) else ():
                if (source := self._find_leading_part(part)) is None:
                    self._add_unsupported(leaf.path, part, (), judged)
                else:
                    judged.supported[f"{leaf.path}: {part}"] = source

    def find_source(self, value: JsonValue, keys: Sequence[str]) -> str | None:
        """Return the name of what licenses a value, None where nothing does.

        Args:
            value: a leaf.
            keys: the keys on the way to it, by which a number may have a unit.
        """
        if isinstance(value, str):
            return self._find_text(value.strip())
        return self._find_number(value, keys[-1] if keys else "") if is_number(value) else None

    def _find_text(self, value: str) -> str | None:
        if not value:
            return None
        if (name := self._whole_texts.get(normalise_to_nfc(value))) is not None:
            return name
        if (link := read_whole_link(value)) is not None:
            return self._find_written_url(link) if link.kind == "url" else self._find_link(link)
        if is_moment(value) and (claimed := facts_in_text(value)).numbers:
            return self._find_facts(claimed, self._facts)
        if not any(letter.isalpha() for letter in value) and sum(map(str.isdecimal, value)) < _FEWEST_DIGITS:
            return None
        if not value.isprintable():  # a line break or a sign that nobody sees can do something; it counts as it is
            exact = FoldedText(value, value)
            return next((name for name, text in self._texts if FoldedText(text, text).has_words(exact)), None)
        wanted = fold_text(value)
        return next((name for name, text in self._folded if text.has_words(wanted)), None)

    def _find_leading_part(self, part: str) -> str | None:
        """Return what licenses a part of a free text: there a link may be known, and counts by where it leads."""
        link = read_whole_link(part)
        if link is not None and self._known.names_link(link):
            return "known_links"
        in_text = None if link is None else self._find_link(link)
        return in_text or self._find_text(part) or self._find_account(part)

    def _find_written_url(self, link: Link) -> str | None:
        """Return what has a URL as it is written: a parameter or a fragment more can carry something out."""
        written = list_written_urls(link)
        return next((name for name, urls in self._urls if not urls.isdisjoint(written)), None)

    def _find_link(self, link: Link) -> str | None:
        return next((name for name, support in self._links if support.names_link(link)), None)

    def _find_number(self, value: JsonValue, key: str) -> str | None:
        same = (each for each in self._sources if is_number(each.value) and each.value == value)
        if (source := next(same, None)) is not None:
            return source.name
        if (parts := _list_name_parts(key))[-1:] and parts[-1] in _IDS:
            return self._whole_texts.get(write_leaf(value)) or self._find_id(value, frozenset(parts) | _IDS)
        meaning = read_number_meaning(key)
        number = read_json_number(value, meaning)
        if number is None:
            return None
        if any(isinstance(said, Label) for said in number.readings):
            return self._find_facts(Facts(numbers=frozenset([number])), self._amounts)
        has_unit = any(isinstance(said, Quantity) and said.unit != BARE for said in number.readings)
        known = (
            (name, replace(facts, numbers=frozenset(map(_read_as_written, _select_amounts(facts, value, meaning)))))
            for name, facts in (self._facts if has_unit else self._amounts)
        )
        return self._find_facts(Facts(numbers=frozenset([number])), known)

    def _find_id(self, value: JsonValue, names: frozenset[str]) -> str | None:
        """Return the text that has a number alone or behind a name of its kind: one of euros or of files is no id."""
        for name, facts in self._amounts:
            for said in (number.readings[0] for number in facts.numbers):
                if isinstance(said, Quantity):
                    is_bare = said.unit == BARE and said.per is None and not (said.counted or said.bound)
                    is_id = is_bare and said.amount == value
                elif isinstance(said, Label):
                    is_id = said.amount == value and said.of in names
                else:
                    is_id = isinstance(said, Named) and said.number == value and said.name in names
                if is_id:
                    return name
        return None

    def _find_facts(self, claimed: Facts, known: Iterable[tuple[str, Facts]]) -> str | None:
        return next((name for name, facts in known if not unsupported(claimed, facts)), None)

    def _find_account(self, part: str) -> str | None:
        return next((name for name, known in self._accounts if squeeze_account(part) in known), None)

    @cached_property
    def _texts(self) -> list[tuple[str, str]]:
        """The texts whose words license."""
        return [(each.name, each.value) for each in self._sources if each.is_text and isinstance(each.value, str)]

    @cached_property
    def _folded(self) -> list[tuple[str, FoldedText]]:
        return [(name, fold_text(text)) for name, text in self._texts]

    @cached_property
    def _found(self) -> list[tuple[Sighting, JsonValue, frozenset[Amount]]]:
        """What results have: where, the leaf, and the amounts that its text says."""
        return [
            (Sighting(call=call["id"], tool=call["tool"], path=leaf.path), leaf.value, read_amounts(leaf.value))
            for call in self._made
            for leaf in _list_result_leaves(call)
        ]

    @cached_property
    def _given_amounts(self) -> list[str]:
        """Numbers that license numbers, as they are written."""
        numbers = (number for _, facts in self._amounts for number in facts.numbers)
        return sorted({number.shown for number in numbers if isinstance(number.readings[0], Quantity)})

    @cached_property
    def _whole_texts(self) -> dict[str, str]:
        """What stands in a source as a whole: itself, and what its writer put in quotation marks."""
        found = dict[str, str]()
        for source in self._sources:
            if isinstance(source.value, str):
                text = normalise_to_nfc(source.value).strip()
                quoted = _QUOTED.finditer(text) if source.is_text else ()
                for whole in (text, *(part.strip() for match in quoted for part in match.groups() if part)):
                    found.setdefault(whole, source.name)
        return found

    @cached_property
    def _facts(self) -> list[tuple[str, Facts]]:
        return [(name, facts_in_text(text)) for name, text in self._texts]

    @cached_property
    def _amounts(self) -> list[tuple[str, Facts]]:
        """The numbers that license numbers: a year of a date is none, and no hour."""
        return [
            (name, Facts(numbers=frozenset(each for each in facts.numbers if isinstance(each.readings[0], _AMOUNTS))))
            for name, facts in self._facts
        ]

    @cached_property
    def _links(self) -> list[tuple[str, LinkSupport]]:
        return [(name, read_link_support(text)) for name, text in self._leading_texts]

    @cached_property
    def _urls(self) -> list[tuple[str, frozenset[str]]]:
        return [
            (
                name,
                frozenset(
                    url
                    for reading in list_readings(text)
                    for link in list_licensed_links(reading)
                    for url in list_written_urls(link)
                ),
            )
            for name, text in self._leading_texts
        ]

    @cached_property
    def _accounts(self) -> list[tuple[str, frozenset[str]]]:
        return [(name, frozenset(map(squeeze_account, find_accounts(text)))) for name, text in self._leading_texts]

    @cached_property
    def _leading_texts(self) -> list[tuple[str, str]]:
        """The texts whose links and accounts license: of what counts as a whole, what is one value."""
        return [
            (each.name, each.value)
            for each in self._sources
            if isinstance(each.value, str) and (each.is_text or is_single_value(each.value))
        ]

    def _add_unsupported(self, path: str, value: JsonValue, keys: Sequence[str], judged: _Judged) -> None:
        if len(judged.missing) < MOST_LOOKED_FOR:
            judged.missing.append(self._describe_unsupported(path, value, keys))
        else:
            judged.missing.append(UnsupportedValue(argument=path, value=value, seen=[], instead=[]))

    def _describe_unsupported(self, path: str, value: JsonValue, keys: Sequence[str]) -> UnsupportedValue:
        seen = (at for at, leaf, amounts in self._found if _has_value(leaf, amounts, value))
        instead = dict.fromkeys(each for each in self._list_candidates(value, keys) if each != value)
        return UnsupportedValue(
            argument=path, value=value, seen=[*islice(seen, MOST_SHOWN)], instead=[*instead][:MOST_SHOWN]
        )

    def _list_candidates(self, value: JsonValue, keys: Sequence[str]) -> Iterator[JsonValue]:
        """Yield licensed values of the kind of one that is not: what else may have been meant."""
        texts = [text for _, text in self._texts]
        if is_number(value):
            yield from self._given_amounts
            return
        if not isinstance(value, str):
            return
        if (link := read_whole_link(value)) is not None:
            yield from (each.shown for text in texts for each in find_links(text) if each.kind == link.kind)
        elif find_accounts(value):
            yield from (each for text in texts for each in find_accounts(text))
        elif is_moment(value):
            yield from (match[0] for text in texts for match in ISO_MOMENT.finditer(text))
        else:
            wanted = _list_name_parts(keys[-1])[-1:] if keys else []
            named = (source for source in self._sources if source.keys and isinstance(source.value, str))
            yield from (source.value for source in named if _list_name_parts(source.keys[-1])[-1:] == wanted)


def is_deciding_argument(name: str, rule: ToolRule) -> bool:
    """Say whether an argument decides what a call does: the rule names it, or it is no free text by its name."""
    if name in rule.authority:
        return True
    return DECIDING in rule.authority and not is_free_text(name)


def is_content(name: str) -> bool:
    """Say whether an argument is what is written or sent, by its name: ``body``, and no ``note`` beside it."""
    return name.lower() in _CONTENTS or _list_name_parts(name)[-1:] == ["body"]


def is_free_text(name: str) -> bool:
    """Say whether an argument is a text for readers, by its name: ``body``, ``commit_message``."""
    parts = _list_name_parts(name)
    return bool(parts) and (parts[-1] in _TEXTS or name.lower() in _TEXTS)


def _list_name_parts(name: str) -> list[str]:
    return [part.lower() for part in split_name_parts(name)]


def _select_amounts(facts: Facts, value: Any, meaning: Meaning) -> Iterator[Number]:
    return (each for each in facts.numbers if _is_amount(each, value, meaning))


def _read_as_written(number: Number) -> Number:
    """Return a number with one reading of its separators: ``1,250`` is no 1.25, though some write it so.

    An answer may mean either; what a call does may not hang on it.
    """
    first = number.readings[0]
    if not isinstance(first, Quantity):
        return number
    others = (said for said in number.readings if isinstance(said, Quantity) and said.unit == first.unit)
    unsure = {said for said in others if said.amount != first.amount}
    return number._replace(readings=tuple(said for said in number.readings if said not in unsure))


def _is_amount(number: Number, value: Any, meaning: Meaning) -> bool:
    """Say whether a number of a text may be an amount: no label, of its sign, a share only where it is meant."""
    said = number.readings[0]
    if isinstance(said, Quantity):
        return (said.amount < 0) == (value < 0) and (meaning.unit != BARE or said.unit.dimension != RATIO)
    return not isinstance(said, Label)


def is_number(value: JsonValue) -> bool:
    """Say whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_same_json(one: JsonValue, other: JsonValue) -> bool:
    return type(one) is type(other) and bool(one == other)


def read_amounts(leaf: JsonValue) -> frozenset[Amount]:
    """Return the amounts that a text says; none of anything else."""
    read = (number.readings[0] for number in facts_in_text(leaf).numbers) if isinstance(leaf, str) else ()
    return frozenset(said.amount for said in read if isinstance(said, Quantity))


def _has_value(leaf: JsonValue, amounts: frozenset[Amount], value: JsonValue) -> bool:
    if isinstance(leaf, str):
        return write_leaf(value) in leaf or (is_number(value) and value in amounts)
    return _is_same_json(leaf, value)


def _is_plain_default(own: JsonObject, schema: JsonObject) -> bool:
    """Say whether a default of a schema names nobody: no text, but for one of those that the schema counts up."""
    default = own["default"]
    if isinstance(default, str) and default:
        return _counts_up(own, default, schema)
    return not (is_container(default) and default)


def _counts_up(own: JsonValue, value: str, schema: JsonObject) -> bool:
    """Say whether a schema, or one that it is made of, lists a value."""
    rest, defined = [own], schema.get("$defs")
    names = dict(defined) if isinstance(defined, dict) else {}
    while rest:
        item = rest.pop()
        if not isinstance(item, dict):
            continue
        listed = item.get("enum")
        if item.get("const") == value or (isinstance(listed, list) and value in listed):
            return True
        for kind in ("anyOf", "oneOf", "allOf"):
            rest += each if isinstance(each := item.get(kind), list) else []
        rest.append(names.pop(str(item.get("$ref")).removeprefix("#/$defs/"), None))  # each once, so it ends
    return False
