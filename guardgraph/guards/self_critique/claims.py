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

from guardgraph.grounding.sentences import count_stated_clauses, split_sentences, unwrap_text_lines
from guardgraph.grounding.words import list_word_keys, split_words
from guardgraph.guards.self_critique.request import IGNORED_KEYS
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue, walk_json
from guardgraph.plain.letters import normalise_to_nfkc, read_as_latin
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.self_critique import SHIPPED_PACKS, ClaimPack

_DATA: Final = Path(__file__).parents[1] / "data" / "claims"
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>)\]]+", re.IGNORECASE)
_BREAK = re.compile(r"[,;:()\[\]{}—–，、；：|*\n]|(?<!\w)-+(?!\w)|--")
_SHORT = {"ll": "will", "ve": "have", "re": "are", "d": "would", "m": "am"}
_SHORTENED = re.compile(r"(?<=\w)['’ʼ＇](ll|ve|re|d|m)\b", re.IGNORECASE)
_ITEM = re.compile(r"\{[^{}]*\}|[^|?{}]+")
_PLAIN_WORDS = re.compile(r"(?<![^\s^])[^\s^|?{}#*…$]+(?:\s+[^\s^|?{}#*…$]+)*(?!\S)")
_SIGNS: Final = {"…": r"(?:\w+ ){0,6}?", "*": r"\w+ ", "*?": r"(?:\w+ )?", "$": r"(?:\Z|(?<!.))"}
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
    reach: int  # words of a clause with which it may say that it is an aim


def restricted_claims(text: str, packs: Sequence[Pack] = SHIPPED_PACKS) -> list[str]:
    """Name the restricted claims that a text makes."""
    return list(dict.fromkeys(claim.said for claim in _find_claims(text, tuple(packs))))


def forbidden_claims(
    text: str, context: JsonObject, *, avoid_absolute_guarantees: bool, packs: Sequence[Pack] = SHIPPED_PACKS
) -> list[str]:
    """Name the restricted claims that a text makes and may not make."""
    made = _find_claims(text, tuple(packs))
    named = {_get_claim_pack(pack).name: pack for pack in packs}
    licensed = {
        (name, is_plan)
        for name, is_plan in {(claim.pack, claim.is_plan) for claim in made}
        if is_licensed(named[name], context, avoid_absolute_guarantees=avoid_absolute_guarantees, is_plan=is_plan)
    }
    return list(dict.fromkeys(claim.said for claim in made if (claim.pack, claim.is_plan) not in licensed))


def is_licensed(pack: Pack, context: JsonObject, *, avoid_absolute_guarantees: bool, is_plan: bool = False) -> bool:
    """Say whether a context licenses the claims of a pack; that something will be licenses only that it will."""
    read = _get_claim_pack(pack)
    incident = context.get("incident")
    status = incident.get("status") if isinstance(incident, dict) else None
    if (" ".join(list_word_keys(status)) if isinstance(status, str) else "") in read.statuses:
        return True
    if avoid_absolute_guarantees or not read.by_context:
        return False
    told = (claim for text in list_context_texts(context, IGNORED_KEYS) for claim in _find_claims(text, (pack,)))
    return any(is_plan or not claim.is_plan for claim in told)


def list_context_texts(context: JsonValue, ignored: Sequence[str] = ()) -> Iterator[str]:
    """Return every text of a context, of any depth, but for what stands under ignored keys."""
    return (value for value in walk_json(context, ignored) if isinstance(value, str))


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
    said = list[str]()
    for phrase in phrases:
        read = _PLAIN_WORDS.sub(lambda plain: _read_said(plain[0]), phrase)
        if not read.strip(" ^"):
            raise ConfigurationError(f"policy.claims: {phrase!r:.80} alone claims nothing; say what it is about, too")
        before, _, claim = read.rpartition("^")
        said.append(f"{_compile_claim_words(before, words)}({_compile_claim_words(claim, words)})")
    return re.compile(rf"(?<!\w)(?={'|'.join(said)})" if said else r"(?!)")


def _compile_claim_words(said: str, words: dict[str, list[str]]) -> str:
    compiled = list[str]()
    for word in said.split():
        named = (words[item[1:-1]] if item[0] == "{" else [item] for item in _ITEM.findall(word))
        either = "|".join(_NUMBER if each == "#" else re.escape(_read_said(each)) for some in named for each in some)
        compiled.append(_SIGNS.get(word) or f"(?:(?:{either}) )" + ("?" if word.endswith("?") else ""))
    return "".join(compiled)


class _Clause(NamedTuple):
    """What is said between two breaks of a sentence."""

    words: tuple[str, ...]
    is_waiting: bool  # whether a condition before it goes on: *once it is fixed and the service is back*
    is_conditional: bool  # whether a clause before it begins with a condition, for which a plain future waits


class _Claim(NamedTuple):
    pack: str
    said: str
    is_plan: bool  # whether it says what will be


def _find_claims(text: str, packs: tuple[Pack, ...]) -> list[_Claim]:
    read = [_get_claim_pack(pack) for pack in packs]
    clauses = _split_clauses_once(text)
    return [claim for clause in clauses for pack in read for claim in _find_clause_claims(clause, pack)]


@remember_by_text(texts=64, chars=1000)
def _split_clauses_once(text: str) -> tuple[_Clause, ...]:
    return tuple(_split_clauses(text))


def _split_clauses(text: str) -> Iterator[_Clause]:
    """Yield the clauses that are no questions."""
    for sentence in split_sentences(unwrap_text_lines(_spell_signs(_URL.sub(" ", text)))):
        clauses = [clause for clause in _split_sentence_clauses(sentence) if clause.words]
        yield from clauses[: count_stated_clauses(sentence, [clause.words for clause in clauses])]


def _split_sentence_clauses(sentence: str) -> Iterator[_Clause]:
    sets, is_conditional = _load_reading().sets, False
    for part in _BREAK.split(read_as_latin(sentence)):
        words = _spell_out(part)
        start, is_waiting = 0, False
        for at, word in enumerate(words):
            before = words[max(start, at - _LOOKBACK) : at]
            joins = word in sets["joins"] and _begins_clause(before, words[at + 1 : at + 4])
            if joins or word in sets["splits"]:
                yield _Clause(tuple(words[start:at]), is_waiting, is_conditional)
                is_waiting = joins and (is_waiting or _is_waited_for(before))
                start = at + 1
        yield _Clause(tuple(words[start:]), is_waiting, is_conditional)
        is_conditional = is_conditional or (not sets["conditions"].isdisjoint(words[:1]) and not _is_time(words))


def _begins_clause(before: Sequence[str], after: Sequence[str]) -> bool:
    """Say whether what follows *and* has its own subject: *the node*, or *payments are* where a verb came before."""
    sets = _load_reading().sets
    verbs = sets["auxiliaries"]
    was_told = not (verbs | sets["persons"]).isdisjoint(before)
    return (was_told and not verbs.isdisjoint(after[1:])) or not sets["starters"].isdisjoint(after[:1])


def _spell_signs(text: str) -> str:
    told = normalise_to_nfkc(text).replace("%", " percent ")
    return _SHORTENED.sub(lambda short: f" {_SHORT[short[1].lower()]}", told)


@lru_cache(maxsize=4096)
def _read_said(plain: str) -> str:
    """Return words of a phrase as they are read in a text."""
    return " ".join(_spell_out(read_as_latin(_spell_signs(plain))))


def _spell_out(text: str) -> list[str]:
    """Return words with the set phrases that the rules know as one word, and without *no doubt* and the like."""
    reading = _load_reading()
    said = "".join(
        f"{word[:-2]} not " if word[:-2] in reading.sets["auxiliaries"] and word.endswith("nt") else f"{word} "
        for word in (word.key for word in split_words(text))
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
        given["reach"],
    )


@lru_cache(maxsize=4096)
def _find_clause_claims(clause: _Clause, pack: _Pack) -> tuple[_Claim, ...]:
    said = "".join(f"{word} " for word in clause.words)
    excepted = [match.span(match.lastindex or 0) for match in pack.exceptions.finditer(said)]
    claims, place, last = list[_Claim](), (0, 0), 0
    spans = sorted(match.span(match.lastindex or 0) for match in pack.phrases.finditer(said))
    for start, end in dict(spans).items():  # of those that begin at one place the longest
        if start == end:
            continue  # the words of a phrase may all be absent
        at = place[1] + said.count(" ", place[0], start)
        place = (start, at)
        is_excepted = any(first <= start < after for first, after in excepted[:_MOST_EXCEPTIONS])
        if start >= last and not is_excepted and not _is_unclaimed(clause, at):
            claims.append(_Claim(pack.name, said[start:end].strip(), _is_plan(clause, at)))
            last = end
    return tuple(claims)


def _is_unclaimed(clause: _Clause, at: int) -> bool:
    """Say whether what is said from a word on is denied, aimed at, waited for or unreal."""
    before, head = clause.words[max(0, at - _LOOKBACK) : at], clause.words[: min(at, _LOOKBACK)]
    return (
        clause.is_waiting
        or _is_denied(before)
        or _has_other_subject(head)
        or _is_aimed_at(before, head)
        or _is_waited_for(before, clause.words[at])
        or _is_conditional(clause, at)
    )


def _is_denied(before: Sequence[str]) -> bool:
    """Say whether the verb group right before a claim denies it or a part of it, or what reports it does."""
    sets = _load_reading().sets
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        if word in sets["negations"] or word in sets["parts"]:
            return True
        if word in sets["unreal"]:
            return not (word == "should" and "now" in before[at:])
        if word in sets["moving"] and sets["joins"].isdisjoint(before[at:]):
            return True  # "is coming back online", but not "got it going and fixed it"
        if word == "to":
            if not at or before[at - 1] not in sets["factive"]:
                return True
            continue
        if word in sets["group"] or word in sets["factive"] or word.endswith("ly"):
            continue
        if not word.endswith("ed") or not sets["auxiliaries"].isdisjoint(before[at:]):
            break  # "those that could not be served are restored" has two verbs
    said = [at for at, word in enumerate(before) if word in sets["reporting"]]
    return bool(said) and not sets["negations"].isdisjoint(before[: said[-1]])


def _has_other_subject(words: Sequence[str]) -> bool:
    """Say whether a clause begins with nobody and nothing, or with a part, for which its verb is told."""
    sets = _load_reading().sets
    named = (at for at in range(2, len(words)) if words[at] in sets["definite"] and words[at - 1] not in sets["links"])
    if any(not sets["auxiliaries"].isdisjoint(words[at:]) for at in named):
        return False  # "much to our relief the node was restored" has a subject of its own
    if not sets["negated_subjects"].isdisjoint(words[:1]) and sets["conditions"].isdisjoint(words):
        return True
    parts = (at for at, word in enumerate(words[:_HEAD]) if word in sets["part_subjects"])
    return any(not _is_of_noun(words, at) and sets["times"].isdisjoint(words[at + 1 : at + 2]) for at in parts)


def _is_of_noun(words: Sequence[str], at: int) -> bool:
    """Say whether a word tells which thing is meant: *the third outage*."""
    sets = _load_reading().sets
    return not sets["definite"].isdisjoint(words[max(0, at - 1) : at])


def _is_aimed_at(before: Sequence[str], words: Sequence[str]) -> bool:
    """Say whether the clause begins with an aim, or something is *to get* or *have* it so."""
    reading = _load_reading()
    sets = reading.sets
    for at, word in enumerate(words[: reading.reach]):
        is_of_noun = _is_of_noun(words, at) and sets["links"].isdisjoint(words[at + 1 : at + 2])
        if word in sets["aims"] and not is_of_noun and sets["telling"].isdisjoint(words[at + 1 : at + 4]):
            return True
    caused = (at for at, word in enumerate(before) if at and word in sets["causing"])
    infinitives = (at - 1 for at in caused if before[at - 1] == "to")
    return any(not at or before[at - 1] not in sets["factive"] for at in infinitives)


def _is_waited_for(before: Sequence[str], claim: str = "") -> bool:
    """Say whether a condition holds for a claim, or goes on, and is not told as past: *once it was fixed* is."""
    reading = _load_reading()
    sets = reading.sets
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        is_far = claim and word in sets["near_conditions"] and len(before) - at >= reading.reach
        is_time = word in sets["openers"] and (not at or (not claim and _is_time(before[at:])))
        if word not in sets["conditions"] or is_time or is_far:
            continue  # "after lunch the outage is over" begins with a time
        since = before[at + 1 :]
        subject = next((each for each in reversed(since) if not each.endswith("ly")), "the")
        is_active = sets["auxiliaries"].isdisjoint(since) and subject not in sets["group"] | sets["definite"]
        is_past = (claim.endswith("ed") and is_active) or not sets["past"].isdisjoint(since)
        if word in sets["open_conditions"] or not is_past:
            return True
    return False


def _is_time(words: Sequence[str]) -> bool:
    """Say whether words begin with a time and not with a condition: *after lunch*, not *after it is fixed*."""
    sets = _load_reading().sets
    return not sets["openers"].isdisjoint(words[:1]) and sets["auxiliaries"].isdisjoint(words)


def _is_conditional(clause: _Clause, at: int) -> bool:
    """Say whether a plain future waits for a condition: *will be fixed if the patch works*."""
    conditions = _load_reading().sets["conditions"]
    is_open = clause.is_conditional or not conditions.isdisjoint(clause.words[at + 1 : at + _LOOKBACK])
    return is_open and _is_plan(clause, at)


def _is_plan(clause: _Clause, at: int) -> bool:
    return "will" in clause.words[max(0, at - 3) : at + 1]
