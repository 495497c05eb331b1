"""Does research notice that two sources state different values, and does it take what agrees for a conflict?

Pairs of sentences that conflict, and pairs that do not, are made of the texts of a folder with data sets, always the
same ones. The sources, which are documents, are split into two halves; the rule was set on the first.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from measure import Figure, Tally
from sections import Meaning, Section, run_alone

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import read_terms
from guardgraph.guards.names import find_unsupported_names
from guardgraph.guards.research.agreement import find_conflicting_values, read_statements
from guardgraph.plain.hashing import digest

PAIRS: Final = 300
"""Of each kind."""
INSIDE: Final = 1000
"""Pairs of different sentences of one source."""
_NUMBER: Final = re.compile(r"(?<![\w.,$€£-])\d{1,4}(?![\w-]|[.,]\d)")
"""A plain number that can be exchanged for another one, and stays of its kind."""
_BOUND: Final = re.compile(
    r"\b(since|until|till|before|after|by|from|to|between|through|during|about|around|over|under|than|least|most|early"
    r"|late|nearly|almost|approximately|up|and|or)\s+(the\s+)?$",
    re.IGNORECASE,
)
_STATES: Final = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|half)\b")
_MIN_CHARS, _MAX_CHARS = 40, 240


class Pair(NamedTuple):
    """Two sentences, where they are from, and whether they conflict."""

    kind: str
    source: str
    one: str
    other: str
    conflicts: bool


class Document(NamedTuple):
    """A text and sentences in which others say the same."""

    source: str
    sentences: tuple[str, ...]
    retold: tuple[str, ...]


def read_documents(folder: Path) -> list[Document]:
    """Return the English texts of the data folder: what summaries, claims and questions were made of, with these."""
    found: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for item in _read_json(folder, "faithbench"):
        texts, retold = found[f"faithbench {digest(item['source'])[:8]}"]
        texts[:] = [_respace(item["source"])]
        retold.append(item["summary"])
    rows = _read_json(folder, "fever_symmetric")
    for claim, evidence, is_supported in rows["rows"] if rows else ():
        texts, retold = found[f"fever {digest(evidence[0])[:8]}"]
        texts[:] = [_respace(evidence[0])]
        if is_supported:
            retold.append(_respace(claim))
    for item in _read_json(folder, "halueval_qa"):
        found[f"halueval {digest(item['knowledge'])[:8]}"][0].append(re.sub(r"\.(?=[A-Z])", ". ", item["knowledge"]))
    for item in _read_json(folder, "incidents"):
        found[f"incidents {item['path']}"][0].extend(update["body"] for update in item["updates"])
    cranfield = _read_json(folder, "cranfield")
    for name, text in cranfield["docs"].items() if cranfield else ():
        found[f"cranfield {name}"][0].append(_respace(text.partition("\n")[2]))
    return [
        Document(source, tuple(_list_sentences(texts)), tuple(_list_sentences(retold)))
        for source, (texts, retold) in sorted(found.items())
    ]


def _read_json(folder: Path, name: str) -> Any:
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _respace(text: str) -> str:
    """Return a text of a corpus, whose marks stand alone, as people write it."""
    for mark, sign in (("-LRB-", "("), ("-RRB-", ")"), ("``", '"'), ("''", '"')):
        text = text.replace(mark, sign)
    text = re.sub(r"([$(]) ", r"\1", text)
    return re.sub(r" (?=[.,;:)%?!]|'s\b|n't\b)", "", text)


def _list_sentences(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for sentence in split_sentences(text):
            said = " ".join(sentence.split())
            if _MIN_CHARS <= len(said) <= _MAX_CHARS and not said.endswith((":", "?")):
                yield said


def make_pairs(documents: Sequence[Document], chance: random.Random) -> list[Pair]:
    """Return the pairs of every kind that documents give, at most `PAIRS` of each, `INSIDE` of those in one source."""
    made: dict[str, list[Pair]] = defaultdict(list)
    said_once = {name for each in documents for said in each.sentences[:3] for name in _list_names(said)}
    names = sorted(name for name in said_once if _list_names(f"{name} was there."))  # of any place, also the first
    for document in documents:
        for said in document.sentences:
            for other in _swap(said, chance):
                made["swapped"].append(Pair("swapped", document.source, said, other, True))
                if (renamed := _rename(other, names, chance)) is not None:
                    made["renamed"].append(Pair("renamed", document.source, said, renamed, False))
        for retold in document.retold:
            if (said := _find_told(retold, document.sentences)) is None:
                continue
            made["same"].append(Pair("same", document.source, said, retold, False))
            for other in chain(*(_swap(retold, chance, known=said) for _ in range(2))):
                made["paraphrased"].append(Pair("paraphrased", document.source, said, other, True))
        for at, said in enumerate(document.sentences):
            for other in document.sentences[at + 1 :]:
                if _STATES.search(said) and _STATES.search(other):
                    made["inside"].append(Pair("inside", document.source, said, other, False))
    counts = {"inside": INSIDE}
    return [
        pair
        for kind, pairs in sorted(made.items())
        for pair in chance.sample(pairs, min(counts.get(kind, PAIRS), len(pairs)))
    ]


def _list_names(text: str) -> list[str]:
    return [name for name in find_unsupported_names(text, cited=("",)) if name.isalpha() and len(name) > 3]


def _swap(said: str, chance: random.Random, known: str = "") -> Iterator[str]:
    """Yield a sentence with one number exchanged for another, of those that state something a source can deny."""
    for match in _NUMBER.finditer(said):
        before, behind = said[: match.start()], said[match.end() :]
        if _BOUND.search(before) or re.match(r"\s*(and|or|to|-|–|/)\s*\d", behind) or int(match[0]) == 0:
            continue
        if known and not re.search(rf"(?<![\w.,]){match[0]}(?!\w|[.,]\d)", known):
            continue
        other = _exchange(int(match[0]), chance)
        if not re.search(rf"(?<!\d){other}(?!\d)", f"{said} {known}"):
            yield f"{before}{other}{behind}"


def _exchange(number: int, chance: random.Random) -> int:
    """Return another number of about the same size: a year for a year, and what may be a day for a day."""
    if number <= 31:
        return number % 28 + 1
    step = chance.randint(1, 9) if 1000 <= number < 2100 else round(number * chance.uniform(0.15, 0.9))
    return number + step if chance.random() < 0.5 else number - step


def _rename(said: str, names: Sequence[str], chance: random.Random) -> str | None:
    """Return a sentence about something else: its first name is exchanged for one of another document."""
    found = sorted((said.index(name), name) for name in _list_names(said) if name in said)
    if not found:
        return None
    return re.sub(rf"\b{re.escape(found[0][1])}\b", chance.choice(names), said)


def _find_told(retold: str, sentences: Sequence[str]) -> str | None:
    """Return the sentence that another says again: one that shares its numbers, and most of its words."""
    numbers, words = {*_NUMBER.findall(retold)}, {*read_terms(retold, "en")}
    told = [
        (len(words & {*read_terms(said, "en")}), said)
        for said in sentences
        if numbers & {*_NUMBER.findall(said)} and said != retold
    ]
    best = max(told, default=None)
    return best[1] if best and best[0] >= 3 else None


def is_conflict(pair: Pair) -> bool:
    """Say whether the guard finds a conflict."""
    return any(
        find_conflicting_values(one, other) is not None
        for one in read_statements(pair.one)
        for other in read_statements(pair.other)
    )


def choose_half(documents: Sequence[Document], half: str) -> list[Document]:
    """Return the documents of a half: ``tuned``, ``kept`` or ``all``."""
    wanted = {"tuned": (0,), "kept": (1,), "all": (0, 1)}[half]
    return [each for each in documents if int(digest(each.source)[:2], 16) % 2 in wanted]


def measure_conflicts(folder: Path, half: str) -> Iterator[Figure]:
    """Yield precision and recalls, and false conflicts inside one source.

    Pairs inside one source do not count for precision, which would depend on their number.
    """
    tally = Tally()
    for pair in make_pairs(choose_half(read_documents(folder), half), random.Random(24)):
        found = is_conflict(pair)
        tally.add(f"conflicts_{pair.kind}_found", pair.source, found)
        if found and pair.kind != "inside":
            tally.add("conflicts_right", pair.source, pair.conflicts)
    yield from tally.figures()


SECTIONS = (
    Section(
        "conflicts",
        "Sources that contradict each other",
        "Pairs of English sentences from the texts of the data sets: a number exchanged (`swapped`), in a retelling by "
        "others (`paraphrased`), and what is no conflict: a retelling that says the same (`same`), another subject "
        "with another number (`renamed`), two sentences of one document (`inside`). The rule was set on the other half "
        "of the documents. 95 of 100 samples of the documents lie between low and high.",
        (
            Meaning("conflicts_right_pct", "Per cent of the conflicts found that are some, without `inside`."),
            Meaning("conflicts_*_found_pct", "Per cent of the pairs of a kind in which a conflict is found."),
            Meaning("*_cases", "Pairs."),
            Meaning("*_low", "See above."),
            Meaning("*_high", "See above."),
        ),
        figures=measure_conflicts,
        data="sentences",
        half="kept",
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
