"""What supports a value of a call: where it stands in what was given, in a trusted field, or in the tool's rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from guardgraph.grounding.languages import LANGUAGES, list_hand_words
from guardgraph.grounding.links import LinkSupport, read_known_links, read_link_support
from guardgraph.grounding.links.finding import Link, find_links, list_licensed_links
from guardgraph.grounding.links.spelling import list_readings
from guardgraph.grounding.values import Value, scan_values
from guardgraph.guards.tools import values
from guardgraph.guards.tools.amounts import (
    is_code,
    is_id_name,
    is_number_of,
    licenses_moment,
    licenses_number,
    list_amounts,
)
from guardgraph.guards.tools.reading import is_denied, is_named_place, read_values
from guardgraph.guards.tools.schemas import is_same_json, list_default_paths
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.tools import DECIDING, Given, MadeCall, Sighting, ToolCard, ToolPolicy, ToolRule, UnsupportedValue

_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|(?<!\w)'([^'\n]{1,300})'(?!\w)|`([^`\n]{1,300})`"
    r"|“([^“”\n]{1,300})”|„([^„“\n]{1,300})“|«([^«»\n]{1,300})»"
)


_CODE_DIGITS: Final = 5
"""Digits from which on a number that counts nothing is a code: no day, no year, and seldom a count."""


class Source:
    """Something that may license values."""

    def __init__(self, name: str, value: JsonValue, is_text: bool, keys: Sequence[str] = ()) -> None:
        self.name, self.value, self.keys = name, value, tuple(keys)
        is_read = isinstance(value, str)
        self.words = value if is_read and is_text else ""
        """The text whose words license; "" where it has none."""
        self.leading = value if is_read and (is_text or values.is_single_value(value)) else ""
        """The text whose links and accounts license."""

    @cached_property
    def folded(self) -> values.FoldedText:
        """The words as they are looked for."""
        return values.fold_text(self.words)

    @cached_property
    def wholes(self) -> frozenset[str]:
        """What stands in it as a whole: itself, and what its writer put in quotation marks."""
        if not isinstance(self.value, str):
            return frozenset()
        text = values.compose_letters(self.value).strip()
        words = values.compose_letters(self.words)
        quoted, denied = set[str](), set[str]()
        for match in _QUOTED.finditer(words):
            said = denied if is_denied(words, match.start()) else quoted
            said.update(part.strip() for part in match.groups() if part)
        return frozenset({text, *(quoted - denied)})

    def has_words(self, wanted: values.FoldedText) -> bool:
        """Say whether it has words one after another, whole, and denies them nowhere: "Write to Ada. No, not Ada"."""
        return bool(self._find_undenied_words(wanted))

    def _find_undenied_words(self, wanted: values.FoldedText) -> list[int]:
        places = [*self.folded.find_words(wanted)]
        return [] if any(is_denied(self.folded.written, at) for at in places) else places

    def has_iban(self, iban: str) -> bool:
        """Say whether it has an IBAN, however it is grouped, and denies it nowhere."""
        wanted = values.squeeze_account(iban)
        spelled = {each for each in values.find_accounts(self.leading) if values.squeeze_account(each) == wanted}
        return bool(spelled) and (not self.words or all(self.has_words(values.fold_text(each)) for each in spelled))

    def has_code(self, code: values.FoldedText, key: str) -> bool:
        """Say whether it has a text of digits that is no count, day or year: "zip 19122" for `zip`, a bare 80280."""
        text, length = self.folded.written, len(code.written)
        if any(is_named_place(text, at, at + length, key) for at in self._find_undenied_words(code)):
            return True
        may_be_code = len(code.written) >= _CODE_DIGITS and not is_id_name(key)
        return may_be_code and any(is_code(each, code.written) for each in self.typed_values)

    @cached_property
    def typed_values(self) -> tuple[Value, ...]:
        """The typed values of the words."""
        return read_values(self.words) if self.words else ()

    @cached_property
    def links(self) -> LinkSupport:
        """The links, by where they lead."""
        return read_link_support(self.leading)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts of links, mail addresses aside."""
        readings = list_readings(self.leading) if self.leading else ()
        links = (link for reading in readings for link in list_licensed_links(reading))
        return frozenset(link.host for link in links if link.host and link.kind != "mail")

    @cached_property
    def urls(self) -> frozenset[str]:
        """The URLs as they are written."""
        readings = list_readings(self.leading) if self.leading else ()
        links = (link for reading in readings for link in list_licensed_links(reading))
        return frozenset(url for link in links for url in values.list_written_urls(link))

    @cached_property
    def accounts(self) -> frozenset[str]:
        """The account numbers, without what they are grouped by."""
        return frozenset(map(values.squeeze_account, values.find_accounts(self.leading)))


@remember_by_text(texts=256, chars=50_000)
def _read_text_source(text: str, name: str, is_text: bool, keys: tuple[str, ...]) -> Source:
    return Source(name, text, is_text, keys)


def read_source(name: str, value: JsonValue, is_text: bool, keys: Sequence[str] = ()) -> Source:
    """Return a source; a text is read once for all the calls of a run, wherever they are judged."""
    if type(value) is str:
        return _read_text_source(value, name, is_text, tuple(keys))
    return Source(name, value, is_text, keys)


def list_given_sources(given: Given) -> Iterator[Source]:
    """Yield what was given: the task, the user's turns, and what is known of the caller."""
    yield read_source("task", given["task"], True)
    yield from (read_source("history", turn["content"], True) for turn in given["history"] if turn["role"] == "user")
    yield from (read_source("caller", leaf.value, False, leaf.keys) for leaf in values.list_leaves(given.get("caller")))


# A value that decides what a call does has to come from somebody who may decide: from whoever gave the task, from the
# deployment, or from a field that the tool's owner sets. Texts of others, such as a page or a letter, license nothing.


_WORDS: Final[dict[str, Any]] = load_word_lists("tools")
_TEXTS: Final = frozenset(_WORDS["texts"].split())  # names of arguments that are free texts
_CONTENTS: Final = frozenset(_WORDS["contents"].split())  # names of those that are what is written or sent

_FEWEST_DIGITS: Final = 7  # digits from which on a text of digits alone is no count, day or year
_ENDS: Final = ("task", "history", "caller", "rule", "default", "known_links")  # what was given: there a chain ends
CHAIN_CHARS: Final = 200  # characters of a chain that a licence names
MOST_SHOWN: Final = 5  # sightings and other candidates that an unsupported value shows
MOST_LOOKED_FOR: Final = 100  # unsupported values of a call that are looked for in results; a person reads no more


@cache
def _list_plain_words() -> frozenset[str]:
    """Return words that stand in any text, so that they name nothing: "all", "it", "the"."""
    joining = frozenset().union(*(list_hand_words(each, "function_words") for each in LANGUAGES))
    return joining | frozenset(_WORDS["wholes"].split())


def _says_something(value: JsonValue) -> bool:
    return not (value is None or isinstance(value, bool)) and value != ""


def _may_license(call: MadeCall, policy: ToolPolicy) -> bool:
    """Say whether a result has trusted fields; a failure that a tool reports has none."""
    return bool(policy.rule_of(call["tool"]).trusted) and not call.get("failed")


def _list_result_leaves(call: MadeCall) -> Iterator[values.Leaf]:
    return values.list_leaves(values.read_result(call["value"]))


class _Judged(NamedTuple):
    supported: dict[str, str]
    missing: list[UnsupportedValue]


class Support:
    """What licenses the values of the calls of one step."""

    # Trust follows the chain: a trusted field licenses where the call that brought it was supported itself, by what was
    # given, by the rule, or by a trusted field of a call of which that holds too; or where a person approved that call.
    # Else a text of others may have chosen what was asked for, and its fields are data like the rest.

    def __init__(
        self, given: Given, made: Sequence[MadeCall], policy: ToolPolicy, cards: Mapping[str, ToolCard]
    ) -> None:
        self._given, self._made, self._policy = given, made, policy
        self._known = read_known_links(policy.known_links)
        self._sources = [source for source in list_given_sources(given) if _says_something(source.value)]
        self._asked_for: dict[str, UnsupportedValue] = {}
        """Of a call whose trusted fields license nothing: the value of it that nothing supports."""
        for call in made:
            if _may_license(call, policy):
                self._follow_chain(call, cards)

    def _follow_chain(self, call: MadeCall, cards: Mapping[str, ToolCard]) -> None:
        rule = self._policy.rule_of(call["tool"])
        schema = cards[call["tool"]]["schema"] if call["tool"] in cards else {}
        supported, missing = self.judge_arguments(call["args"], rule, schema)
        if missing and "approved_by" not in call:
            before = {other["id"] for other in self._made[: self._made.index(call)]}
            seen = [at for at in missing[0]["seen"] if at["call"] in before]
            self._asked_for[call["id"]] = {**missing[0], "seen": seen}
            return
        links = [name for name in dict.fromkeys(supported.values()) if name not in _ENDS]
        came_from = ["approval"] if missing else links
        chain = f" ← {', '.join(came_from)}"[:CHAIN_CHARS] if came_from else ""
        for leaf in _list_result_leaves(call):
            if values.is_trusted_leaf(leaf, rule.trusted) and _says_something(leaf.value):
                name = f"{call['id']} {leaf.path}".rstrip() + chain
                self._sources.append(read_source(name, leaf.value, values.is_single_value(leaf.value), leaf.keys))

    @property
    def texts(self) -> list[str]:
        """The texts that license: what was given, and trusted fields."""
        return [source.value for source in self._sources if isinstance(source.value, str)]

    def count_document(self, document: MadeCall) -> Support:
        """Return what would license were the result of a call a part of the task."""
        wider = copy(self)
        found = (
            read_source(f"{document['id']} {leaf.path}".rstrip(), leaf.value, True, leaf.keys)
            for leaf in _list_result_leaves(document)
        )
        wider._sources = [*self._sources, *(source for source in found if _says_something(source.value))]
        return wider

    def has_seen_others(self) -> bool:
        """Say whether the model was shown anything that others wrote: from then on its calls need support."""
        # Keys of results count as values do: the model reads them too, and who fills a field may have chosen them. A
        # trusted field that holds several words counts too. Nobody knows who chose them: on a server where everybody
        # may name a channel, its name can be a message.
        if self._given.get("is_foreign") or any(turn["role"] != "user" for turn in self._given["history"]):
            return True
        return any(map(self._has_words_of_others, self._made))

    def _has_words_of_others(self, call: MadeCall) -> bool:
        result = values.read_result(call["value"])
        is_open = _may_license(call, self._policy) and call["id"] not in self._asked_for
        trusted = self._policy.rule_of(call["tool"]).trusted if is_open else ()
        return any(
            key.value and not values.is_trusted_key(key.keys, trusted) for key in values.list_keys(result)
        ) or any(
            _says_something(leaf.value)
            and not (values.is_trusted_leaf(leaf, trusted) and values.is_single_value(leaf.value))
            for leaf in values.list_leaves(result)
        )

    def judge_arguments(self, args: JsonObject, rule: ToolRule, schema: JsonObject) -> _Judged:
        """Return what supports each value of a call's arguments, by its place, and the values without support."""
        judged = _Judged({}, [])
        properties, named = schema.get("properties"), values.list_property_names(schema)
        for name, value in args.items():
            own = properties.get(name) if isinstance(properties, dict) else None
            if name not in named and name not in rule.forced and name not in rule.arguments:
                key = [values.Leaf(f"{name} (key)", (), name)]
                if schema.get("patternProperties") or schema.get("additionalProperties"):
                    self._judge_deciding(key, None, judged)
                else:  # names of a schema that says nothing of them are the description's
                    self._judge_text(key, judged)
            if name in rule.forced:
                judged.supported[name] = "rule"
                continue
            leaves = _sort_leaves(name, value, own if isinstance(own, dict) else {}, rule, schema)
            judged.supported.update(dict.fromkeys(leaves.defaults, "default"))
            self._judge_deciding(leaves.deciding, _list_licensed(name, rule), judged)
            self._judge_text(leaves.texts, judged)
        return judged

    def _judge_deciding(self, leaves: Iterable[values.Leaf], listed: Collection[str] | None, judged: _Judged) -> None:
        for leaf in leaves:
            if listed is not None and not values.is_container(leaf.value) and values.write_leaf(leaf.value) in listed:
                judged.supported[leaf.path] = "rule"
            elif (source := self.find_source(leaf.value, leaf.keys)) is not None:
                judged.supported[leaf.path] = source
            else:
                self._add_unsupported(leaf.path, leaf.value, leaf.keys, judged)

    def _judge_text(self, leaves: Iterable[values.Leaf], judged: _Judged) -> None:
        """Judge what leads somewhere in a free text: links, addresses, account numbers."""
        for leaf in leaves:
            text = values.write_leaf(leaf.value) if is_number(leaf.value) else leaf.value
            for part in values.list_leading_parts(text) if isinstance(text, str) else ():
                if (source := self._find_leading_part(part)) is None:
                    self._add_unsupported(leaf.path, part, (), judged)
                else:
                    judged.supported[f"{leaf.path}: {part}"] = source

    def find_source(self, value: JsonValue, keys: Sequence[str]) -> str | None:
        """Return the name of what licenses a value, None where nothing does."""
        if isinstance(value, str):
            return self._find_text(value.strip(), keys[-1] if keys else "")
        return self._find_number(value, keys[-1] if keys else "") if is_number(value) else None

    def _find_text(self, value: str, key: str = "") -> str | None:
        if not value:
            return None
        if (name := self._find_whole(values.compose_letters(value))) is not None:
            return name
        if (link := values.read_whole_link(value)) is not None:
            if link.kind == "host":  # that of a mail address is not named by it
                return self._find(lambda source: link.host in source.hosts)
            return self._find_written_url(link) if link.kind == "url" else self._find_link(link)
        if values.is_moment(value):
            if not values.has_seconds(value):
                return self._find(lambda source: licenses_moment(source.typed_values, value, key))
        elif not any(letter.isalpha() for letter in value) and sum(map(str.isdecimal, value)) < _FEWEST_DIGITS:
            code = values.fold_text(value)
            return self._find(lambda source: source.has_code(code, key))
        if not value.isprintable():  # a line break or a sign that nobody sees can do something; it counts as it is
            exact = values.FoldedText(value, value)
            return self._find(
                lambda source: any(True for _ in values.FoldedText(source.words, source.words).find_words(exact))
            )
        if values.is_iban(value):
            return self._find(lambda source: source.has_iban(value))
        if _list_plain_words().issuperset(value.casefold().split()):
            return None
        wanted = values.fold_text(value)
        return self._find(lambda source: source.has_words(wanted))

    def _find(self, licenses: Callable[[Source], bool]) -> str | None:
        return next((source.name for source in self._sources if licenses(source)), None)

    def _find_whole(self, value: str) -> str | None:
        return self._find(lambda source: value in source.wholes)

    def _find_leading_part(self, part: str) -> str | None:
        """Return what licenses a part of a free text: there a link may be known, and counts by where it leads."""
        link = values.read_whole_link(part)
        if link is not None and self._known.names_link(link):
            return "known_links"
        in_text = None if link is None else self._find_link(link)
        return in_text or self._find_text(part) or self._find_account(part)

    def _find_written_url(self, link: Link) -> str | None:
        """Return what has a URL as it is written: a parameter or a fragment more can carry something out."""
        written = values.list_written_urls(link)
        return self._find(lambda source: not source.urls.isdisjoint(written))

    def _find_link(self, link: Link) -> str | None:
        return self._find(lambda source: source.links.names_link(link))

    def _find_number(self, value: JsonValue, key: str) -> str | None:
        numbers = (source for source in self._sources if is_number(source.value))
        own = next((each for each in numbers if is_number_of(each.keys, each.value, value, key)), None)
        if own is not None:
            return own.name
        if is_id_name(key) and (name := self._find_whole(values.write_leaf(value))) is not None:
            return name
        return self._find(lambda source: licenses_number(source.typed_values, value, key))

    def _find_account(self, part: str) -> str | None:
        squeezed = values.squeeze_account(part)
        return self._find(lambda source: squeezed in source.accounts)

    @cached_property
    def _found(self) -> list[tuple[Sighting, JsonValue, frozenset[float]]]:
        """What results have: where, the leaf, and the amounts that its text says."""
        return [
            (Sighting(call=call["id"], tool=call["tool"], path=leaf.path), leaf.value, read_amounts(leaf.value))
            for call in self._made
            for leaf in _list_result_leaves(call)
        ]

    def _add_unsupported(self, path: str, value: JsonValue, keys: Sequence[str], judged: _Judged) -> None:
        if len(judged.missing) < MOST_LOOKED_FOR:
            judged.missing.append(self._describe_unsupported(path, value, keys))
        else:
            judged.missing.append(UnsupportedValue(argument=path, value=value, seen=[], instead=[]))

    def _describe_unsupported(self, path: str, value: JsonValue, keys: Sequence[str]) -> UnsupportedValue:
        seen = [at for at, leaf, amounts in self._found if _has_value(leaf, amounts, value)]
        instead = dict.fromkeys(each for each in self._list_candidates(value, keys) if each != value)
        described = UnsupportedValue(
            argument=path, value=value, seen=seen[:MOST_SHOWN], instead=[*instead][:MOST_SHOWN]
        )
        if (at := next((at for at in seen if at["call"] in self._asked_for), None)) is not None:
            described["chain"] = self._describe_chain(value, at)
        return described

    def _describe_chain(self, value: JsonValue, at: Sighting) -> str:
        chain = f"{excerpt_value(value, 80)} ← {at['tool']} {at['call']}"
        asked = self._asked_for[at["call"]]
        whose = f"a text of {asked['seen'][0]['call']}" if asked["seen"] else "the model alone"
        return f"{chain}, asked for {asked['argument']} {excerpt_value(asked['value'], 80)} by {whose}"

    def _list_candidates(self, value: JsonValue, keys: Sequence[str]) -> Iterator[JsonValue]:
        """Yield licensed values of the kind of one that is not: what else may have been meant."""
        texts = [source.words for source in self._sources if source.words]
        if is_number(value):
            yield from list_amounts(source.typed_values for source in self._sources)
            return
        if not isinstance(value, str):
            return
        if (link := values.read_whole_link(value)) is not None:
            yield from (each.shown for text in texts for each in find_links(text) if each.kind == link.kind)
        elif values.find_accounts(value):
            yield from (each for text in texts for each in values.find_accounts(text))
        elif values.is_moment(value):
            yield from (match[0] for text in texts for match in values.ISO_MOMENT.finditer(text))
        else:
            wanted = values.list_name_parts(keys[-1])[-1:] if keys else []
            named = (source for source in self._sources if source.keys and isinstance(source.value, str))
            yield from (source.value for source in named if values.list_name_parts(source.keys[-1])[-1:] == wanted)


class _Leaves(NamedTuple):
    defaults: list[str]  # places of values that are plain defaults
    deciding: list[values.Leaf]
    texts: list[values.Leaf]


def _sort_leaves(name: str, value: JsonValue, own: JsonObject, rule: ToolRule, schema: JsonObject) -> _Leaves:
    """Return the leaves of an argument whose own schema is given, and the keys in it that a model wrote."""
    defaults = [*list_default_paths({name: value}, {"properties": {name: own}}, schema)]
    is_text = not is_deciding_argument(name, rule)
    value = values.read_result(value) if is_text else value
    covered = tuple(f"{path}{sign}" for path in defaults for sign in ("\0", ".", "["))
    leaves = [leaf for leaf in values.list_leaves(value, name) if not f"{leaf.path}\0".startswith(covered)]
    if is_text:
        texts = [leaf for leaf in leaves if _is_free_leaf(leaf, rule)]
        deciding = [leaf for leaf in leaves if leaf not in texts]
        return _Leaves(defaults, deciding, [*texts, *values.list_own_keys(value, name, frozenset())])
    empty = [leaf for leaf in values.list_empty(value, name) if not f"{leaf.path}\0".startswith(covered)]
    keys = values.list_own_keys(value, name, values.list_property_names(schema))
    return _Leaves(defaults, [*leaves, *empty, *keys], [])


def _list_licensed(name: str, rule: ToolRule) -> Collection[str] | None:
    limits = rule.arguments.get(name)
    return limits.allowed if limits is not None and limits.licenses else None


def is_deciding_argument(name: str, rule: ToolRule) -> bool:
    """Say whether an argument decides what a call does: the rule names it, or it is no free text by its name."""
    if name in rule.authority:
        return True
    return DECIDING in rule.authority and not is_free_text(name)


def _is_free_leaf(leaf: values.Leaf, rule: ToolRule) -> bool:
    """Say whether a leaf under the name of a free text is one: a text, and below an object under such a name itself."""
    # Recipients, amounts and flags below an object decide, whatever the object is called.
    if leaf.value is None or DECIDING not in rule.authority:
        return True
    return isinstance(leaf.value, str) and is_free_text(leaf.keys[-1])


def is_content(name: str) -> bool:
    """Say whether an argument is what is written or sent, by its name: ``body``, and no ``note`` beside it."""
    return name.lower() in _CONTENTS or values.list_name_parts(name)[-1:] == ["body"]


def is_free_text(name: str) -> bool:
    """Say whether an argument is a text for readers, by its name: ``body``, ``commit_message``."""
    parts = values.list_name_parts(name)
    return bool(parts) and (parts[-1] in _TEXTS or name.lower() in _TEXTS)


def is_number(value: JsonValue) -> bool:
    """Say whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_amounts(leaf: JsonValue) -> frozenset[float]:
    """Return the amounts that a text says; none of anything else."""
    read = scan_values(leaf) if isinstance(leaf, str) else ()
    return frozenset(amount for value in read for amount in value.said or value.amounts)


def _has_value(leaf: JsonValue, amounts: frozenset[float], value: JsonValue) -> bool:
    if isinstance(leaf, str):
        return values.write_leaf(value) in leaf or (is_number(value) and value in amounts)
    return is_same_json(leaf, value)
