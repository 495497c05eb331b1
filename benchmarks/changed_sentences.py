"""Is a true sentence refused once it is changed to say another thing, and does it pass said otherwise?

Sentences of data sets are changed by class: facts in them (a decade, a time, an amount of money), or what they say of
them (a negation more or less, an opposite in place of a word). The path names a file, or a folder with some: FaithBench
as a list of {source, summary, labels, ...}, FEVER-Symmetric as {rows: [[claim, [evidence, ...], supported], ...]},
HaluEval as a list of {knowledge, question, right_answer, ...}, Cranfield as {docs: {id: text}}, XQuAD as {language:
{paragraphs: {id: text}}}. The rules for negations and opposites were tuned on every second text. ``--show`` says what
was judged wrongly.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from pathlib import Path
from random import Random
from typing import Any

from measure import LOG, Figure, Tally
from sections import Meaning, Section, run_alone

from guardgraph.grounding.quotes import is_quote_in_text
from guardgraph.grounding.sentences import split_sentences
from guardgraph.guards.facts import facts_in_text, unsupported
from guardgraph.guards.turned import find_turned_sentence

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from rewrites import KINDS, Kind, Rewrite

FOUND, PLANTED = 400, 100
"""How many phrases of a class are rewritten, and how many there are at least, with those that are planted."""

_END = re.compile(r"(?<=[.!?।])\s+(?=[^\W\d_a-z])|(?<=\s\.)\s|(?<=[。！？])|\n+")
_CLAUSE = re.compile(r"[,;:]\s+|\s[-–—]\s|[，；：]")

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


def read_data(path: Path, left_out: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the names and the content of the data sets of a file or a folder, but for some names."""
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        if file.stem not in left_out:
            yield file.stem, json.loads(file.read_text(encoding="utf-8"))


def list_texts(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a data set with their languages."""
    if isinstance(data, list):
        for row in data:
            if text := row.get("source") if "summary" in row else row.get("knowledge"):
                yield "en", text
    elif "rows" in data:
        yield from (("en", " ".join(evidence)) for _, evidence, _ in data["rows"])
    elif "docs" in data:
        yield from (("en", text) for text in data["docs"].values())
    else:
        yield from ((code, text) for code, part in data.items() for text in part.get("paragraphs", {}).values())


def list_true_answers(data: Any) -> Iterator[tuple[str, str]]:
    """Yield answers that people found supported, each with its text."""
    if isinstance(data, list):
        faithful = (row for row in data if "summary" in row and not set(row["labels"]) - {"Benign"})
        yield from ((row["summary"], row["source"]) for row in faithful)
        yield from ((row["right_answer"], row["knowledge"]) for row in data if "right_answer" in row)
    elif "rows" in data:
        yield from ((claim, " ".join(evidence)) for claim, evidence, supported in data["rows"] if supported)


def measure_facts(path: Path) -> Iterator[Figure]:
    """Yield how often the guards of facts judge a rewritten sentence wrongly, by class.

    The rewrites are those of `tests/support/rewrites`: phrases of the sentences, and where there are few,
    phrases put at the end of sentences. The identity of a sentence is that it supports itself and each of its clauses.
    """
    sentences = list_sentences(path)
    clauses = [
        (clause, sentence)
        for each in sentences.values()
        for sentence in each
        for clause in (sentence, *_CLAUSE.split(sentence))
    ]
    yield from _judge_claims("facts", "identity_same", clauses, is_true=True)
    for kind in KINDS:
        if kind.language not in sentences and kind.language != "en":
            continue
        rewrites = list(rewrite_phrases(kind, sentences.get(kind.language, [])))
        same = [(claim, rewrite.source) for rewrite in rewrites for claim in rewrite.same]
        other = [(claim, rewrite.source) for rewrite in rewrites for claim in rewrite.other]
        yield from _judge_claims(kind.rule, f"{kind.name}_same", same, is_true=True)
        yield from _judge_claims(kind.rule, f"{kind.name}_other", other, is_true=False)


def _judge_claims(rule: str, name: str, claims: list[tuple[str, str]], *, is_true: bool) -> Iterator[Figure]:
    """Yield the share of claims, each with its source, that are judged wrongly, and how many there are."""
    wrong = [(claim, source) for claim, source in claims if is_supported(rule, claim, source) != is_true]
    for claim, source in wrong:
        said, meant = _cut_to_difference(claim, source)
        found = unsupported(facts_in_text(claim), facts_in_text(source)).all()
        LOG.info("%s %s: %r for %r", name, found, said, meant)
    if claims:
        yield f"facts_{name}_wrong", len(wrong) / len(claims)
        yield f"facts_{name}_cases", len(claims)


def is_supported(rule: str, claim: str, source: str) -> bool:
    """Say whether the guards accept a claim on a source."""
    if rule == "quotes":
        return is_quote_in_text(claim, source)
    return not unsupported(facts_in_text(claim), facts_in_text(source))


def list_sentences(path: Path) -> dict[str, list[str]]:
    """Return the sentences of the data sets by language, each once."""
    found: dict[str, dict[str, None]] = {}
    for _, data in read_data(path, left_out=["incidents"]):
        texts = list_texts(data)
        if "rows" in data:  # the claims of FEVER are sentences, too
            texts = (("en", text) for claim, evidence, _ in data["rows"] for text in (claim, *evidence))
        for language, text in texts:
            whole = (sentence.strip("\ufeff ") for sentence in _END.split(text))
            found.setdefault(language, {}).update(dict.fromkeys(each for each in whole if len(each) > 15))
    return {language: list(sentences) for language, sentences in found.items()}


def rewrite_phrases(kind: Kind, sentences: list[str]) -> Iterator[Rewrite]:
    """Rewrite phrases that are there, and plant some where few are."""
    random = Random(kind.name)
    shuffled = random.sample(sentences, len(sentences))
    found = list(islice((each for sentence in shuffled for each in kind.found(sentence, random)), FOUND))
    yield from found
    planted = (each for sentence in shuffled for each in kind.planted(sentence, random))
    yield from islice(planted, max(0, PLANTED - len(found)))


def _cut_to_difference(one: str, two: str) -> tuple[str, str]:
    """Return where two texts differ, with some letters around it."""
    start = _count_shared(one, two)
    end = _count_shared(one[start:][::-1], two[start:][::-1])
    said, meant = (text[max(0, start - 30) : len(text) - end + 30] for text in (one, two))
    return said, meant


def _count_shared(one: str, two: str) -> int:
    """Count the characters with which both texts begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def measure_turned(path: Path, half: str) -> Iterator[Figure]:
    """Yield how often a sentence that was turned round is accepted, and how often a true one is refused."""
    tally = Tally()
    for name, data in read_data(path, left_out=["incidents", "cranfield"]):
        random, texts = Random(name), dict.fromkeys(item for item in list_texts(data) if item[0] in _ADDED)
        chosen = {text: language for number, (language, text) in enumerate(texts) if _is_of(half, number)}
        for text, language in chosen.items():
            _judge_text(text, language, random, tally)
        for answer, text in list_true_answers(data):
            for sentence in split_sentences(answer) if text in chosen else ():
                found = find_turned_sentence(sentence, [text])
                tally.add("turned_true_answers", text, found is not None)
                if found:
                    LOG.info("true_answers: %r for %r", *found)
    yield from tally.figures(ends=("from", "to"), inside=0.9, samples=500)


def _is_of(half: str, number: int) -> bool:
    return half == "all" or (number % 2 == 0) == (half == "tuned")


def _judge_text(text: str, language: str, random: Random, tally: Tally) -> None:
    """Turn the sentences of a text round, and judge what comes of it beside the text."""
    end = "" if language == "en" else f"_{language}"
    for sentence in split_sentences(text):
        if not 40 <= len(sentence) <= 400 or sentence.endswith("?"):
            continue
        found = find_turned_sentence(say_otherwise(sentence, language, random), [text])
        tally.add(f"turned_true_sentences{end}", text, found is not None)
        if found:
            LOG.info("true_sentences: %r for %r", *found)
        for name, turned in turn_round(sentence, language):
            said = say_otherwise(turned, language, random)
            is_accepted = find_turned_sentence(said, [text]) is None
            tally.add(f"turned_{name}_accepted", text, is_accepted)
            if is_accepted:
                LOG.info("%s: %r for %r", name, said, sentence)


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


SECTIONS = (
    Section(
        "facts_rewrites",
        "The fact check on rewritten sentences",
        "Phrases of real sentences are said otherwise, by class: a decade, a range of years, a time, an amount of "
        "money, and so on. What says the same must be supported by the sentence; what says another thing must be "
        "flagged. Where sentences have few phrases of a class, some are put at their end. For the identity, every "
        "sentence must support itself and each of its clauses.",
        (
            Meaning("*_same_wrong", "Share of the claims that say the same and are flagged.", at_most=0.02),
            Meaning("*_other_wrong", "Share of the claims that say another thing and pass.", at_most=0.02),
            Meaning("*_same_cases", "Claims that say the same."),
            Meaning("*_other_cases", "Claims that say another thing."),
        ),
        data="sentences",
        missed="In German and Spanish a comma or a point may be that of a decimal or of thousands.",
        figures=measure_facts,
    ),
    Section(
        "turned",
        "The check of sentences that were turned round",
        "Sentences of texts in four languages, with a negation more or less, or an opposite in place of a word, said a "
        "little otherwise, beside their text; and true answers and sentences. The rules were tuned on the other half "
        "of the texts. Nine tenths of the shares that resamplings of the texts give lie between `_from` and `_to`.",
        (
            Meaning("*_accepted_pct", "Per cent of the sentences turned round that are accepted.", at_most=20),
            Meaning("turned_true_*_pct", "Per cent of the true ones that are refused.", at_most=0),
            Meaning("*_from", "The least of nine tenths of the resampled shares."),
            Meaning("*_to", "The largest of them."),
            Meaning("*_cases", "Sentences, or answers' sentences."),
        ),
        data="sentences",
        figures=measure_turned,
        half="kept",
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
