"""How often the guards judge a rewritten sentence wrongly: one that says the same, one that says another thing.

    python benchmarks/facts_rewrites.py PATH...            the figures of every class
    python benchmarks/facts_rewrites.py PATH... --show months    what is wrong in the classes whose names begin so

PATH is a JSON file, or a folder with them: rows [[claim, [evidence, ...], supported], ...] as in FEVER-Symmetric, docs
{id: text} as in Cranfield, a list of {knowledge, question, ...} as in HaluEval, {language: {paragraphs: {id: text}}} as
in XQuAD. The rewrites are those of tests/rewrites: phrases of the sentences, and where there are few, phrases put at
the end of sentences. `facts_<class>_same_wrong` is the share of claims that are flagged though they say the same,
`facts_<class>_other_wrong` that of claims that pass though they say another thing; the identity of a sentence is that
it supports itself and each of its clauses.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path
from random import Random
from typing import Any

from guardgraph.guards.facts import facts_in_text, unsupported
from guardgraph.guards.quotes import is_quote_in_text

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from rewrites import KINDS, Kind, Rewrite

FOUND, PLANTED = 400, 100
"""How many phrases of a class are rewritten, and how many there are at least, with those that are planted."""

_END = re.compile(r"(?<=[.!?।])\s+(?=[^\W\d_a-z])|(?<=\s\.)\s|(?<=[。！？])|\n+")
_CLAUSE = re.compile(r"[,;:]\s+|\s[-–—]\s|[，；：]")


def is_supported(rule: str, claim: str, source: str) -> bool:
    """Say whether the guards accept a claim on a source."""
    if rule == "quotes":
        return is_quote_in_text(claim, source)
    return not unsupported(facts_in_text(claim), facts_in_text(source))


def texts_of(data: Any) -> Iterator[tuple[str, str]]:
    """Take the texts of a data set with their languages."""
    if isinstance(data, list):
        yield from (("en", row["knowledge"]) for row in data)
    elif "rows" in data:
        yield from (("en", text) for claim, evidence, _ in data["rows"] for text in (claim, *evidence))
    elif "docs" in data:
        yield from (("en", text) for text in data["docs"].values())
    else:
        yield from ((code, text) for code, part in data.items() for text in part["paragraphs"].values())


def sentences_of(paths: list[Path]) -> dict[str, list[str]]:
    """Take the sentences of files by language, each once."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    found: dict[str, dict[str, None]] = {}
    for file in files:
        if file.stem == "incidents":
            continue
        for language, text in texts_of(json.loads(file.read_text(encoding="utf-8"))):
            whole = (sentence.strip("\ufeff ") for sentence in _END.split(text))
            found.setdefault(language, {}).update(dict.fromkeys(each for each in whole if len(each) > 15))
    return {language: list(sentences) for language, sentences in found.items()}


def rewrites_of(kind: Kind, sentences: list[str]) -> Iterator[Rewrite]:
    """Rewrite phrases that are there, and plant some where few are."""
    random = Random(kind.name)
    shuffled = random.sample(sentences, len(sentences))
    found = list(islice((each for sentence in shuffled for each in kind.found(sentence, random)), FOUND))
    yield from found
    planted = (each for sentence in shuffled for each in kind.planted(sentence, random))
    yield from islice(planted, max(0, PLANTED - len(found)))


def wrong_of(kind: Kind, sentences: list[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]], int, int]:
    """Judge the rewrites of a class: source and claim where it is flagged wrongly, or passes wrongly; how many."""
    flagged, passed, same, other = [], [], 0, 0
    for rewrite in rewrites_of(kind, sentences):
        same, other = same + len(rewrite.same), other + len(rewrite.other)
        flagged += [(rewrite.source, c) for c in rewrite.same if not is_supported(kind.rule, c, rewrite.source)]
        passed += [(rewrite.source, c) for c in rewrite.other if is_supported(kind.rule, c, rewrite.source)]
    return flagged, passed, same, other


def identity(sentences: dict[str, list[str]]) -> tuple[list[tuple[str, str]], int]:
    """Judge every sentence and each of its clauses by the sentence."""
    wrong, number = [], 0
    for sentence in (sentence for each in sentences.values() for sentence in each):
        clauses = [sentence, *_CLAUSE.split(sentence)]
        number += len(clauses)
        wrong += [(sentence, clause) for clause in clauses if not is_supported("facts", clause, sentence)]
    return wrong, number


def _shared(one: str, two: str) -> int:
    """Count the characters with which both texts begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def show(word: str, pairs: list[tuple[str, str]]) -> None:
    """Print what was judged wrongly, and where the claim differs."""
    for source, claim in pairs:
        start = _shared(source, claim)
        end = _shared(source[start:][::-1], claim[start:][::-1])
        said, meant = (text[max(0, start - 30) : len(text) - end + 30] for text in (claim, source))
        print(f"{word} {unsupported(facts_in_text(claim), facts_in_text(source)).all()}: {said!r} for {meant!r}")


def _print(name: str, wrong: list[tuple[str, str]], number: int) -> None:
    print(f"facts_{name}_wrong {len(wrong) / number:.4f}\nfacts_{name}_cases {number}")


def main() -> None:
    """Measure every class."""
    parser = argparse.ArgumentParser(prog="python benchmarks/facts_rewrites.py")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a data set, or a folder with some")
    parser.add_argument("--show", metavar="NAME", help="print what is wrong in the classes whose names begin so")
    given = parser.parse_args()
    sentences = sentences_of(given.paths)
    if not given.show or given.show == "identity":
        wrong, number = identity(sentences)
        _print("identity_same", wrong, number)
        show("flagged", wrong if given.show else [])
    for kind in KINDS:
        if kind.language not in sentences and kind.language != "en":
            continue
        if given.show and not kind.name.startswith(given.show):
            continue
        flagged, passed, same, other = wrong_of(kind, sentences.get(kind.language, []))
        for word, pairs, number in (("same", flagged, same), ("other", passed, other)):
            if number:
                _print(f"{kind.name}_{word}", pairs, number)
            show({"same": "flagged", "other": "passed"}[word], pairs if given.show else [])


if __name__ == "__main__":
    main()
