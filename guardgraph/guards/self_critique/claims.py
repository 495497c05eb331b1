"""Claims that a text may not make lightly: packs of phrases, and the one matcher that reads them.

A phrase makes its claim unless its clause denies it, aims at it, waits for it or asks: *has not yet been resolved*, *to
get it resolved*, *until it is resolved*, *is it resolved?* Where the rules are in doubt, the claim counts. The words by
which they tell stand in the data, and so does what licenses the claims of a pack. Only English is looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import list_word_keys, split_words
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.letters import normalise_to_nfkc, read_as_latin
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.self_critique import SHIPPED_PACKS, ClaimPack

_DATA: Final = Path(__file__).parents[1] / "data" / "claims"
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>)\]]+", re.IGNORECASE)
_BREAK = re.compile(r"[,;:()\[\]{}—–，、；：|*\n]|(?<!\w)-+(?!\w)|--")
_SHORT = {"ll": "will", "ve": "have", "re": "are", "d": "would", "m": "am"}
_SHORTENED = re.compile(r"(?<=\w)['’ʼ＇](ll|ve|re|d|m)\b", re.IGNORECASE)
_ITEM = re.compile(r"\{\w+\}|[^|?{}]+")
_SIGNS: Final = {"…": r"(?:\w+ ){0,6}?", "*": r"\w+ ", "*?": r"(?:\w+ )?", "$": "$"}
_NUMBER: Final = r"\d[^ ]*"

_LOOKBACK: Final = 40  # words beside a claim that are looked at, so that a text takes linear time
_HEAD: Final = 3  # words with which a clause begins, its subject among them
_MOST_EXCEPTIONS: Final = 50

Pack: TypeAlias = str | ClaimPack  # the name of a shipped pack, or a pack


class _Pack(NamedTuple):
    name: str
    phrases: re.Pattern[str]
    exceptions: re.Pattern[str]
    statuses: frozenset[str]
    by_context: bool


class _Reading(NamedTuple):
    """How a clause is told that does not make the claim."""

    sets: dict[str, frozenset[str]]
    spelled: tuple[tuple[re.Pattern[str], str], ...]
    reach: int
    condition_reach: int


def restricted_claims(text: str, packs: Sequence[Pack] = SHIPPED_PACKS) -> list[str]:
    """Name the restricted claims that a text makes."""
    return list(dict.fromkeys(said for _, said in _find_claims(text, tuple(packs))))


def forbidden_claims(
    text: str, context: JsonObject, *, avoid_absolute_guarantees: bool, packs: Sequence[Pack] = SHIPPED_PACKS
) -> list[str]:
    """Name the restricted claims that a text makes and may not make."""
    made = _find_claims(text, tuple(packs))
    licensed = {
        _get_claim_pack(pack).name
        for pack in packs
        if made and is_licensed(pack, context, avoid_absolute_guarantees=avoid_absolute_guarantees)
    }
    return list(dict.fromkeys(said for pack, said in made if pack not in licensed))


def is_licensed(pack: Pack, context: JsonObject, *, avoid_absolute_guarantees: bool) -> bool:
    """Say whether a context licenses the claims of a pack."""
    read = _get_claim_pack(pack)
    incident = context.get("incident")
    status = incident.get("status") if isinstance(incident, dict) else None
    if (" ".join(list_word_keys(status)) if isinstance(status, str) else "") in read.statuses:
        return True
    if avoid_absolute_guarantees or not read.by_context:
        return False
    said = [value for key, value in context.items() if key != "policy_hints"]
    return any(_find_claims(text, (pack,)) for text in list_context_texts(said))


def list_context_texts(values: Iterable[JsonValue]) -> Iterator[str]:
    """Yield every text of JSON values, of any depth."""
    unread = [*values]
    while unread:
        value = unread.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            unread.extend(value.values() if isinstance(value, dict) else value)


def _get_claim_pack(pack: Pack) -> _Pack:
    return _load_claim_pack(pack) if isinstance(pack, str) else _make_claim_pack(canonical_json(pack))


@cache
def _load_claim_pack(name: str) -> _Pack:
    return _make_claim_pack((_DATA / f"{name}.json").read_text("utf-8"))


@lru_cache(maxsize=64)
def _make_claim_pack(text: str) -> _Pack:
    given: ClaimPack = json.loads(text)
    words = {name: said.split() for name, said in given.get("words", {}).items()}
    return _Pack(
        given["name"],
        _compile_claim_phrases(given["phrases"], words),
        _compile_claim_phrases(given.get("exceptions", ()), words),
        frozenset(" ".join(list_word_keys(status)) for status in given.get("licensed_by_statuses", ())),
        given.get("licensed_by_context", False),
    )


def _compile_claim_phrases(phrases: Iterable[str], words: dict[str, list[str]]) -> re.Pattern[str]:
    """Return an expression for clauses: words, each with a blank behind it. What is claimed is in a group."""
    said = [_compile_claim_phrase(phrase, words) for phrase in phrases]
    return re.compile(rf"(?<!\w)(?={'|'.join(said)})" if said else r"(?!)")


def _compile_claim_phrase(phrase: str, words: dict[str, list[str]]) -> str:
    before, _, claim = phrase.rpartition("^")
    return f"{_compile_claim_words(before, words)}(?:(?P<>{_compile_claim_words(claim, words)}))".replace("(?P<>", "(")


def _compile_claim_words(said: str, words: dict[str, list[str]]) -> str:
    compiled = list[str]()
    for word in said.split():
        named = (words[item[1:-1]] if item[0] == "{" else [item] for item in _ITEM.findall(word))
        either = "|".join(_NUMBER if each == "#" else re.escape(each) for some in named for each in some)
        compiled.append(_SIGNS.get(word) or f"(?:(?:{either}) )" + ("?" if word.endswith("?") else ""))
    return "".join(compiled)


class _Clause(NamedTuple):
    """What is said between two breaks of a sentence."""

    words: tuple[str, ...]
    is_waiting: bool  # whether a condition before it goes on: *once it is fixed and the service is back*
    is_conditional: bool  # whether a clause before it begins with a condition, for which a plain future waits


def _find_claims(text: str, packs: tuple[Pack, ...]) -> list[tuple[str, str]]:
    read = [_get_claim_pack(pack) for pack in packs]
    clauses = _split_clauses_once(text)
    return [(pack.name, claim) for clause in clauses for pack in read for claim in _find_clause_claims(clause, pack)]


@remember_by_text(texts=64, chars=1000)
def _split_clauses_once(text: str) -> tuple[_Clause, ...]:
    return tuple(_split_clauses(text))


def _split_clauses(text: str) -> Iterator[_Clause]:
    """Yield the clauses of the sentences that are no questions."""
    told = normalise_to_nfkc(_URL.sub(" ", text)).replace("%", " percent ")
    for sentence in split_sentences(unwrap_text_lines(_SHORTENED.sub(_spell_short, told))):
        if sentence.rstrip("\"'”’»)]*_ ").endswith(("?", "？")):
            continue
        is_conditional = False
        for part in _BREAK.split(read_as_latin(sentence)):
            words = _spell_out([word.key for word in split_words(part)])
            sets, start, is_waiting = _load_reading().sets, 0, False
            for at, word in enumerate(words):
                joins = word in sets["joins"] and at + 1 < len(words) and words[at + 1] in sets["starters"]
                if joins or word in sets["splits"]:
                    yield _Clause(tuple(words[start:at]), is_waiting, is_conditional)
                    is_waiting = joins and (is_waiting or not sets["conditions"].isdisjoint(words[start:at]))
                    start = at + 1
            yield _Clause(tuple(words[start:]), is_waiting, is_conditional)
            is_conditional = is_conditional or not _load_reading().sets["conditions"].isdisjoint(words[:1])


def _spell_short(short: re.Match[str]) -> str:
    return f" {_SHORT[short[1].lower()]}"


def _spell_out(words: list[str]) -> list[str]:
    """Return words with the set phrases that the rules know as one word, and without *no doubt* and the like."""
    reading = _load_reading()
    said = "".join(
        f"{word[:-2]} not " if word[:-2] in reading.sets["denied"] and word.endswith("nt") else f"{word} "
        for word in words
    )
    for pattern, spelled in reading.spelled:
        said = pattern.sub(spelled, said)
    return said.split()


def read_word_set(name: str) -> frozenset[str]:
    """Return one of the sets of words by which sentences are told, such as ``hedges``."""
    return _load_reading().sets[name]


@cache
def _load_reading() -> _Reading:
    given = json.loads((_DATA / "reading.json").read_text("utf-8"))
    spelled = {**dict.fromkeys(given["harmless"].split("|"), ""), **given["spelled"]}
    return _Reading(
        {name: frozenset(said.split()) for name, said in given.items() if isinstance(said, str)},
        tuple((re.compile(rf"(?<!\w){re.escape(said)} "), f"{short} ".lstrip()) for said, short in spelled.items()),
        given["aim_reach"],
        given["condition_reach"],
    )


@lru_cache(maxsize=4096)
def _find_clause_claims(clause: _Clause, pack: _Pack) -> tuple[str, ...]:
    said = "".join(f"{word} " for word in clause.words)
    excepted = [match.span(match.lastindex or 0) for match in pack.exceptions.finditer(said)]
    claims, place, last = list[str](), (0, 0), 0
    spans = sorted(match.span(match.lastindex or 0) for match in pack.phrases.finditer(said))
    for start, end in dict(spans).items():  # of those that begin at one place the longest
        at = place[1] + said.count(" ", place[0], start)
        place = (start, at)
        is_excepted = any(first <= start < after for first, after in excepted[:_MOST_EXCEPTIONS])
        if start >= last and not is_excepted and not _is_unclaimed(clause, at):
            claims.append(said[start:end].strip())
            last = end
    return tuple(claims)


def _is_unclaimed(clause: _Clause, at: int) -> bool:
    """Say whether what is said from a word on is denied, aimed at, waited for or unreal."""
    before = clause.words[max(0, at - _LOOKBACK) : at]
    return (
        clause.is_waiting
        or _is_denied(before, clause.words[: min(at, _HEAD)])
        or _is_aimed_at(before, clause.words[: min(at, _load_reading().reach)])
        or _is_waited_for(before)
        or _is_conditional(clause, at)
    )


def _is_denied(before: Sequence[str], head: Sequence[str]) -> bool:
    """Say whether the verb group right before a claim denies it, or a part of it, or the clause's subject does."""
    sets = _load_reading().sets
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        if word in sets["negations"] or word in sets["parts"]:
            return True
        if word in sets["unreal"]:
            return not (word == "should" and "now" in before[at:])
        if word in sets["infinitives"]:
            if not at or before[at - 1] not in sets["factive"]:
                return True
            continue
        if word not in sets["group"] and word not in sets["factive"] and not word.endswith(("ly", "ed")):
            break
    if not sets["negated_subjects"].isdisjoint(head[:1]) or not sets["part_subjects"].isdisjoint(head):
        return True
    said = [at for at, word in enumerate(before) if word in sets["reporting"]]
    return bool(said) and not sets["negations"].isdisjoint(before[: said[-1]])


def _is_aimed_at(before: Sequence[str], head: Sequence[str]) -> bool:
    """Say whether the clause begins with an aim, or something is *to get* or *have* it so."""
    sets = _load_reading().sets
    if not sets["aims"].isdisjoint(head):
        return True
    caused = (at for at, word in enumerate(before) if at and word in sets["causing"])
    infinitives = (at - 1 for at in caused if before[at - 1] in sets["infinitives"])
    return any(not at or before[at - 1] not in sets["factive"] for at in infinitives)


def _is_waited_for(before: Sequence[str]) -> bool:
    """Say whether a condition stands before a claim that is not told as past: *once it was resolved* is."""
    reading = _load_reading()
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        if word not in reading.sets["conditions"] or (not at and word in reading.sets["openers"]):
            continue  # "after lunch the outage is over" begins with a time
        is_open = word in reading.sets["open_conditions"] or reading.sets["past"].isdisjoint(before[at:])
        is_near = word not in reading.sets["near_conditions"] or len(before) - at <= reading.condition_reach
        if is_open and is_near:
            return True
    return False


def _is_conditional(clause: _Clause, at: int) -> bool:
    """Say whether a plain future waits for a condition: *will be fixed if the patch works*."""
    conditions = _load_reading().sets["conditions"]
    is_future = "will" in clause.words[max(0, at - 3) : at + 1]
    return is_future and (clause.is_conditional or not conditions.isdisjoint(clause.words[at + 1 : at + _LOOKBACK]))
