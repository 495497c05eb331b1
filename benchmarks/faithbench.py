"""What the checks of numbers and names stop of texts that language models wrote, faithful and not.

Usage: ``python benchmarks/faithbench.py faithbench.json [all|tuned|kept] [show]``, with summaries of ten models and the
annotations of FaithBench (Bao et al. 2024) as ``[{source, summary, model, spans: [[start, end, label], ...]}, ...]``.
Prints ``name value`` lines; 95 of 100 samples of the sources lie between ``_low`` and ``_high``.
The rules were tuned on one half of the sources ("tuned"); "kept" is the other. With ``show``, lists what was refused of
the tuned half.

A text is faithful where nobody marked anything in it as unwanted or questionable; a sentence is good where nothing is
marked in it, and unfaithful where something unwanted is.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

from names import chunk_of

from guardgraph.guards import rag, removal
from guardgraph.guards.stop import Stop
from guardgraph.guards.turned import check_turned_sentences
from guardgraph.languages.language import is_lowercase_word
from guardgraph.languages.sentences import find_sentence_spans
from guardgraph.state.rag import RagPolicy

_NUMBER = re.compile(r"(?<![\w.,:/'’-])\d++(?:[.,]\d++)*+(?![\w:/'’-]|[.,]\d)")
_WRITTEN = re.compile(r"\d++(?:[.,]\d++)*+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}+(?= [a-z])")
_MARKER = re.compile(r"(?:\d{1,2}[.)]|[-*•])[ ]+")
_SUBJECT = re.compile(r"[A-Z][a-z]{2,}+(?= [a-z])")

FRAMES = (
    "According to Document 1, {}",
    "According to the provided sources, {}",
    "Based on the documents, {}",
    "Per Source 2: {}",
    "**Short Answer:** {}",
    "Please note: {}",
    "Note that {}",
    "In summary, {}",
    "### Key Points\n\n- {}",
    "**Main Finding:** {}\n\n**Next Steps:** None.",
    "Here is what the text says:\n\n1. {}",
    "Overall: {} (Source: Document 1)",
)
"""What models put around an answer and no source has."""

FALSE_SOURCES = (
    "According to Reuters, {}",
    "As reported by Bloomberg, {}",
    "According to the Lancet, {}",
    "{} (Source: Wikipedia)",
    "Forbes reports: {}",
)
"""Who did not say it."""

SHOWN = 3
"""Documents that the writer of an answer was shown, of which one is cited."""

SAMPLES = 1000


class Tally:
    """Cases of each source: how many were asked, and how many were refused or passed."""

    def __init__(self) -> None:
        self._cases: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))

    def add(self, name: str, source: str, found: bool) -> None:
        """Count one case."""
        self._cases[name][source].append(found)

    def show(self) -> None:
        """Print the share of each name, and its interval."""
        for name, by_source in self._cases.items():
            cases = list(by_source.values())
            chance = random.Random(name)
            shares = sorted(share_of(chance.choices(cases, k=len(cases))) for _ in range(SAMPLES))
            low, high = shares[SAMPLES // 40], shares[-SAMPLES // 40]
            print(f"{name}_pct {share_of(cases):.1f}\n{name}_low {low:.1f}\n{name}_high {high:.1f}")
            print(f"{name}_cases {sum(map(len, cases))}")


def share_of(cases: list[list[bool]]) -> float:
    """Return per cent of the cases of several sources."""
    return 100 * sum(map(sum, cases)) / max(1, sum(map(len, cases)))


def is_tuned(source: str) -> bool:
    """Say whether a source is of the half that the rules were tuned on."""
    return sha256(source.encode()).digest()[0] % 2 == 0


def find_refused(answer: str, source: str) -> dict[str, list[str]]:
    """Return what the two checks refuse of an answer that cites a source."""
    chunks, found = [chunk_of(source)], {}
    try:
        rag.check_cited_numbers(answer, question="", chunks=chunks, documents=SHOWN)
    except Stop as stop:
        found["numbers"] = stop.evidence["unsupported"]
    try:
        rag.check_cited_names(answer, question="", chunks=chunks, packed=chunks)
    except Stop as stop:
        found["names"] = stop.evidence["unsupported"]
    return found


def drop_refused(answer: str, source: str) -> tuple[str, list[tuple[int, int]]]:
    """Return what becomes of an answer that cites a source with ``unsupported="drop"``, and its sentences that stay."""
    chunk = chunk_of(source)
    check = rag.make_sentence_check(
        answer, None, question="", cited=[chunk], chunks=[chunk] * SHOWN, policy=RagPolicy(check_turned=False)
    )

    def judge_rest(rest: removal.Rest, citations: list[str]) -> None:
        if find_refused(rest.text, source):
            raise Stop("invalid_answer:unsupported_number")
        check_turned_sentences(rest.text, [source], question="")

    if (refused := check(0, len(answer))) is None:
        return "answered", [(0, len(answer))]
    try:
        rest, _ = removal.remove_refused(
            answer,
            refused,
            check=check,
            contradict=lambda: check_turned_sentences(answer, [source], question=""),
            judge=judge_rest,
            support=lambda rest: {chunk["doc_id"]},
            citations=[chunk["doc_id"]],
            beside="",
            cited=[source],
        )
    except Stop:
        return "stopped", []
    return "partial", [(start, end) for start, end, _ in rest.kept]


def measure_dropping(tally: Tally, row: dict) -> None:
    """Measure how a text ends with dropping, and which of its unfaithful annotations a reader still sees."""
    text, source = row["summary"], row["source"]
    ending, stays = drop_refused(text, source)
    for name in ("answered", "partial", "stopped"):
        tally.add(f"drop_{name}", source, ending == name)
    for first, last in {(first, last) for first, last, label in row["spans"] if label == "Unwanted"}:
        is_seen = any(first < end and last > start for start, end in stays)
        tally.add("unfaithful_spans_seen_with_stop", source, ending == "answered")
        tally.add("unfaithful_spans_seen_with_drop", source, is_seen)
        if ending == "partial":
            tally.add("unfaithful_spans_seen_in_partial_answers", source, is_seen)


def list_sentences(row: dict) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a summary with what its annotations make of it."""
    text = row["summary"]
    for start, end in find_sentence_spans(text):
        labels = {label for first, last, label in row["spans"] if first < end and last > start}
        kind = "good" if not labels else "unfaithful" if "Unwanted" in labels else "between"
        yield text[start:end], kind


def plant_numbers(sentence: str, source: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the class of a number and the sentence with another in its place that the source does not have."""
    known = set(_WRITTEN.findall(source)) | set(_WRITTEN.findall(sentence))
    for match in _NUMBER.finditer(sentence):
        text = match[0]
        kind, make = _choose_plant(text, chance)
        made = next((each for _ in range(20) if (each := make()) not in known), None) if kind else None
        if made:
            yield kind, sentence[: match.start()] + made + sentence[match.end() :]


def _choose_plant(text: str, chance: random.Random) -> tuple[str, Callable[[], str]]:
    if "." in text:
        digits = len(text.partition(".")[2])
        return "decimals", lambda: f"{float(text.replace(',', '')) * chance.uniform(0.5, 1.5):,.{digits}f}"
    amount = int(text.replace(",", ""))
    if len(text) == 4 and 1000 <= amount < 2100:
        return "years", lambda: str(amount + chance.choice([-1, 1]) * chance.randint(1, 10))
    if 13 <= amount < 100:
        return "from_13_to_99", lambda: str(chance.randint(13, 99))
    if amount >= 100:
        return "from_100", partial(_change_amount, text, amount, chance)
    return "", str


def _change_amount(text: str, amount: int, chance: random.Random) -> str:
    made = max(100, round(amount * chance.uniform(0.5, 1.5)))
    return f"{made:,}" if "," in text else str(made)


def measure(rows: list[dict], names: list[str], *, show: bool) -> None:
    """Measure everything on the rows."""
    tally = Tally()
    for row in rows:
        source, text = row["source"], row["summary"]
        judge = partial(find_refused, source=source)
        labels = {label for _, _, label in row["spans"]}
        if not labels & {"Unwanted", "Questionable"}:
            for check in ("numbers", "names"):
                tally.add(f"faithful_{check}", source, check in judge(text))
            tally.add("faithful_stopped", source, bool(judge(text)))
        measure_dropping(tally, row)
        before = ""
        for sentence, kind in list_sentences(row):
            # What opens with "The second" is read behind the sentence before it.
            refused = judge(sentence) and judge(f"{before} {sentence}".strip())
            before = sentence if not judge(sentence) else ""
            if kind != "between":
                tally.add(f"{kind}_refused", source, bool(refused))
            if kind == "good" and refused and show:
                print(f"GOOD {refused} | {sentence!r}")
            if kind == "good" and not refused:
                measure_good_sentence(tally, sentence, source, names)
    tally.show()


def frame_sentence(frame: str, sentence: str) -> str:
    """Put a sentence into a frame: behind a comma it goes on with a small letter."""
    said = _MARKER.sub("", sentence.strip())
    first = said.partition(" ")[0].strip(",")
    if ", {}" in frame and (is_lowercase_word(first, "en") or len(first) < 2):
        said = said[:1].lower() + said[1:]
    return frame.format(said)


def measure_good_sentence(tally: Tally, sentence: str, source: str, names: list[str]) -> None:
    """Measure what is made of a sentence that passes: wrong numbers, frames, false sources, another subject."""
    chance = random.Random(sentence)
    for kind, planted in plant_numbers(sentence, source, chance):
        tally.add(f"planted_{kind}_passed", source, not find_refused(planted, source))
    framed = frame_sentence(chance.choice(FRAMES), sentence)
    tally.add("frames_stopped", source, bool(find_refused(framed, source)))
    false = frame_sentence(chance.choice(FALSE_SOURCES), sentence)
    tally.add("false_sources_refused", source, bool(find_refused(false, source)))
    match, name = _SUBJECT.match(sentence.strip()), chance.choice(names)
    if match and name.lower() not in source.lower() and re.search(rf"(?<![.!?] )\b{match[0]}\b", source):
        made = name + sentence.strip()[match.end() :]
        tally.add("made_up_subject_accepted", source, not find_refused(made, source))


def main(path: str, which: str = "all", show: str = "") -> None:
    """Measure the chosen half."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))
    names = sorted({name for row in rows for name in _NAME.findall(row["source"])})
    if which != "all":
        rows = [row for row in rows if is_tuned(row["source"]) == (which == "tuned")]
    print(f"texts {len(rows)}")
    print(f"sources {len({row['source'] for row in rows})}")
    measure(rows, names, show=bool(show) and which == "tuned")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit("usage: python benchmarks/faithbench.py PATH_OF_FAITHBENCH_JSON [all|tuned|kept] [show]")
    main(*sys.argv[1:])
