"""How often a sentence that was turned round is accepted, and how often a true one is refused.

    python benchmarks/turned.py PATH...                      the figures of every class
    python benchmarks/turned.py PATH... --show may_will      what is wrong in the classes whose names begin so

PATH is a file, or a folder with some: FaithBench as a list of {source, summary, labels, ...}, FEVER-Symmetric as {rows:
[[claim, [evidence, ...], supported], ...]}, HaluEval as a list of {knowledge, ...}, XQuAD as {language: {paragraphs:
{id: text}}}. Sentences of the texts are turned round by class, said a little otherwise, and held against their text.
The true ones are summaries that nobody objected to, supported claims, and sentences of the texts said a little
otherwise. The rules were tuned on every second source; the figures are of the others (`--half tuned` shows those).
`_from` and `_to` hold nine tenths of the shares that 500 resamplings of the sources give.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Any

from guardgraph.guards.turned import find_turned_sentence
from guardgraph.languages.sentences import split_sentences

Judged = dict[str, list[list[bool]]]
"""By class: for every source, what was judged wrongly."""

_SWAPS = {
    "before_after": "before/after, prior to/after",
    "rose_fell": "increased/decreased, increase/decrease, rose/fell, rising/falling, won/lost, grew/shrank, more/less, "
    "higher/lower, gained/lost, largest/smallest, first/last, above/below, most/least, opened/closed",
    "may_will": "may/will, might/will, could/will",
    "all_none": "all/none of, every/no, always/never, because of/despite",
    "de": "vor/nach, mehr/weniger, erste/letzte, kann/wird, stieg/fiel, größte/kleinste",
    "es": "antes/después, más/menos, primera/última, puede/debe, mayor/menor",
    "ru": "до/после, больше/меньше, более/менее, может/должен, первый/последний",
}
_ADDED = {
    "en": (r"\b(is|was|are|were|has|have|had|will|can|could|would|should|does|did)\b(?! not|n't| no\b)", r"\1 not"),
    "de": (r"\b(ist|war|wird|wurde|wurden|hat|hatte|kann|sind)\b(?! nicht|[,.;])", r"\1 nicht"),
    "es": (r"(?<!no )\b(es|fue|era|son|fueron|ha|puede|está|tiene|tuvo)\b", r"no \1"),
    "ru": (r"(?<!не )\b(был|была|было|были|может|является|стал|стала|имеет)\b", r"не \1"),
}
"""Behind which words a negation is put, or before which."""
_REMOVED = {
    "en": r"(?<=\w)(?: not| never|n't)\b(?! only| just)",
    "de": r" nicht\b(?! nur)",
    "es": r"\bno (?!solo|sólo|obstante|[^.]*\b(?:ning|nad|ni\b|nunca))",
    "ru": r"\bне (?!только|просто|[^.]*\bни)",
}
_FRAMES = {
    "en": "According to the document",
    "de": "Laut Dokument",
    "es": "Según el documento",
    "ru": "Согласно документу",
}


def turn_round(sentence: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield a sentence turned round, with the class of the turn."""
    end = "" if language == "en" else f"_{language}"
    pattern, put = _ADDED[language]
    if (added := re.sub(pattern, put, sentence, count=1)) != sentence:
        yield f"negation_added{end}", added
    if len(re.findall(_REMOVED[language], sentence)) == 1:
        yield f"negation_removed{end}", re.sub(_REMOVED[language], "", sentence)
    for name in ("before_after", "rose_fell", "may_will", "all_none") if language == "en" else (language,):
        for pair in (tuple(words.split("/")) for words in _SWAPS[name].split(", ")):
            for one, other in (pair, pair[::-1]):
                if len(re.findall(rf"\b{one}\b", sentence)) == 1 and not re.search(rf"\b{other}\b", sentence):
                    yield f"opposites{end}" if end else name, re.sub(rf"\b{one}\b", other, sentence)


def say_otherwise(sentence: str, language: str, random: Random) -> str:
    """Return a sentence as a model may repeat it: a frame before it, an aside or its last words left out."""
    said = re.sub(r"\s*\([^()]*\)", "", sentence)
    kind = random.randrange(4)
    if kind == 1:
        return f"{_FRAMES[language]}, {said[0].lower() if said[:2].istitle() else said[0]}{said[1:]}"
    if kind == 2:
        parts = said.split(", ")
        return ", ".join(parts[:-1]) + "." if len(parts) > 2 and len(parts[-1]) < len(said) / 6 else said
    if kind == 3:
        return re.sub(r"\b(also|however|additionally|very|really|currently|auch|también|также)\b ?", "", said)
    return said


def list_texts(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a data set with their languages."""
    if isinstance(data, list):
        for row in data:
            if text := row.get("source") if "summary" in row else row.get("knowledge"):
                yield "en", text
    elif "rows" in data:
        yield from (("en", " ".join(evidence)) for _, evidence, _ in data["rows"])
    else:
        yield from (
            (code, text) for code in data if code in _ADDED for text in data[code].get("paragraphs", {}).values()
        )


def list_true_answers(data: Any) -> Iterator[tuple[str, str]]:
    """Yield answers that people found supported, each with its text."""
    if isinstance(data, list):
        faithful = (row for row in data if "summary" in row and not set(row["labels"]) - {"Benign"})
        yield from ((row["summary"], row["source"]) for row in faithful)
        yield from ((row["right_answer"], row["knowledge"]) for row in data if "right_answer" in row)
    elif "rows" in data:
        yield from ((claim, " ".join(evidence)) for claim, evidence, supported in data["rows"] if supported)


def judge(files: list[Path], half: int, on_wrong: Callable[[str, str, str], None]) -> Judged:
    """Judge the sentences of every second source."""
    judged: Judged = defaultdict(list)
    for file in files:
        data, random = json.loads(file.read_text(encoding="utf-8")), Random(file.stem)
        for number, (language, text) in enumerate(dict.fromkeys(list_texts(data))):
            if number % 2 == half:
                judge_text(text, language, random, judged, on_wrong)
        sources = {text: number for number, text in enumerate(dict.fromkeys(text for _, text in list_texts(data)))}
        for answer, text in list_true_answers(data):
            if sources[text] % 2 == half:
                found = [find_turned_sentence(sentence, [text]) for sentence in split_sentences(answer)]
                judged["true_answers"].append([item is not None for item in found])
                for item in filter(None, found):
                    on_wrong("true_answers", *item)
    return judged


def judge_text(
    text: str, language: str, random: Random, judged: Judged, on_wrong: Callable[[str, str, str], None]
) -> None:
    """Turn the sentences of a text round, and judge what comes of it beside the text."""
    wrong: dict[str, list[bool]] = defaultdict(list)
    for sentence in split_sentences(text):
        if not 40 <= len(sentence) <= 400 or sentence.endswith("?"):
            continue
        same = say_otherwise(sentence, language, random)
        found = find_turned_sentence(same, [text])
        wrong["true_sentences" if language == "en" else f"true_sentences_{language}"].append(found is not None)
        if found:
            on_wrong("true_sentences", *found)
        for name, turned in turn_round(sentence, language):
            said = say_otherwise(turned, language, random)
            accepted = find_turned_sentence(said, [text]) is None
            wrong[f"{name}_accepted"].append(accepted)
            if accepted:
                on_wrong(name, said, sentence)
    for name, found_wrong in wrong.items():
        judged[name].append(found_wrong)


def print_figures(judged: Judged) -> None:
    """Print the share of every class with its interval."""
    random = Random(1)
    for name, sources in sorted(judged.items()):
        cases = sum(map(len, sources))
        if not cases:
            continue
        shares = sorted(_measure_share(random.choices(sources, k=len(sources))) for _ in range(500))
        print(f"turned_{name}_pct {_measure_share(sources):.2f}")
        print(f"turned_{name}_from {shares[25]:.2f}\nturned_{name}_to {shares[-26]:.2f}\nturned_{name}_cases {cases}")


def _measure_share(sources: list[list[bool]]) -> float:
    cases = sum(map(len, sources))
    return 100 * sum(map(sum, sources)) / cases if cases else 0.0


def main() -> None:
    """Measure every class."""
    parser = argparse.ArgumentParser(prog="python benchmarks/turned.py")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a data set, or a folder with some")
    parser.add_argument("--half", choices=("tuned", "other"), default="other", help="which half of the sources")
    parser.add_argument("--show", metavar="NAME", help="print what is wrong in the classes whose names begin so")
    given = parser.parse_args()
    files = [file for path in given.paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    chosen = [file for file in files if file.stem not in ("incidents", "cranfield")]

    def show(name: str, said: str, source: str) -> None:
        if given.show and name.startswith(given.show):
            alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, source, strict=False)))
            print(f"{name} at {alike}: {said!r} for {source!r}")

    print_figures(judge(chosen, 0 if given.half == "tuned" else 1, show))


if __name__ == "__main__":
    main()
