"""How much that is false does the checker of texts stop, and how much that is true, on public sets?

Usage: ``python benchmarks/truth.py --data FOLDER [--languages FILE] [--half tuning|reporting] [--peers] [--show]``

The folder has a file ``SET.jsonl`` for each set; each line has ``set, id, group, question, texts, answer, label``
(good, bad or mixed) and ``spans`` ([start, end, kind] of what people marked as wrong). Groups share a source. A fixed
half of them, by a hash, is for tuning, the other for reporting. Stopped wrongly is the share of what is good, caught
that of what is bad; with `_doubtful`, what is doubtful counts as stopped too. Intervals are of 95 per cent, by
resampling groups.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from guardgraph.grounding.check import CheckedText, Source, check_text
from guardgraph.grounding.scanning import parse_digits
from guardgraph.grounding.values import SMALL, Value, find_support, scan_values

STOPPING: Final = ("contradicted", "unsupported")
BY_SENTENCE: Final = ("faithbench", "ragtruth", "boxscores")
"""Sets in which people marked places."""
RESAMPLES: Final = 400
SEED: Final = 36
SMALL_WORDS: Final = "two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - read as words
DERIVED: Final = 100
"""Worked-out answers for which a working is made."""
OPERATIONS: Final = {"+": "-", "-": "+", "*": "/", "/": "*", "* 100 /": "+"}
"""What a working does, and what a wrong one does in its place."""

Item = dict[str, Any]


class Judged(NamedTuple):
    """A text or a sentence that a checker judged."""

    group: str
    is_bad: bool
    is_stopped: bool
    is_doubted: bool


Judge = Callable[[Item], tuple[bool, bool]]


def is_for_tuning(group: str) -> bool:
    """Say whether a group is in the half that rules may be tuned on."""
    return int(sha256(f"truth:{group}".encode()).hexdigest(), 16) % 2 == 0


def read_items(folder: Path) -> dict[str, list[Item]]:
    """Return the items of each set, by its name."""
    return {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
    }


def check_item(item: Item, **more: Any) -> CheckedText:
    """Hold an answer against its texts."""
    sources = [Source(str(number), text) for number, text in enumerate(item["texts"])]
    return check_text(item["answer"], sources, question=item["question"], **more)


def judge_texts(items: Iterable[Item]) -> list[Judged]:
    """Judge whole answers; those that are neither good nor bad are left out."""
    judged = list[Judged]()
    for item in items:
        if item["label"] in ("good", "bad"):
            verdict = check_item(item).verdict
            stopped = verdict in STOPPING
            judged.append(Judged(item["group"], item["label"] == "bad", stopped, stopped or verdict == "doubtful"))
    return judged


def judge_sentences(items: Iterable[Item], *, show: bool = False) -> list[Judged]:
    """Judge sentences: one is bad where a marked place is in it."""
    judged = list[Judged]()
    for item in items:
        for sentence in check_item(item).sentences:
            is_bad = any(start < sentence.end and end > sentence.start for start, end, *_ in item["spans"])
            stopped = sentence.verdict in STOPPING
            judged.append(Judged(item["group"], is_bad, stopped, stopped or sentence.verdict == "doubtful"))
            if show and stopped and not is_bad:
                found = [(each.rule, each.text, each.told) for each in sentence.findings if each.verdict in STOPPING]
                print("#", item["set"], item["id"], found, sentence.text.replace("\n", " ")[:200])
    return judged


def measure_share(judged: Sequence[Judged], *, bad: bool, doubted: bool) -> tuple[float, float, float] | None:
    """Return per cent stopped of what is bad or good, with the ends of its interval; None where there is nothing."""
    by_group: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each in judged:
        if each.is_bad == bad:
            by_group[each.group][0] += each.is_doubted if doubted else each.is_stopped
            by_group[each.group][1] += 1
    counts = list(by_group.values())
    if not counts:
        return None
    chance = random.Random(SEED)
    shares = sorted(_divide(chance.choices(counts, k=len(counts))) for _ in range(RESAMPLES))
    return _divide(counts), shares[RESAMPLES // 40], shares[-RESAMPLES // 40]


def _divide(counts: Sequence[Sequence[int]]) -> float:
    return 100 * sum(stopped for stopped, _ in counts) / max(sum(count for _, count in counts), 1)


def print_figure(name: str, value: float, ends: Sequence[float] = ()) -> None:
    """Print a figure as the other benchmarks do."""
    between = f"  # {ends[0]:.1f}–{ends[1]:.1f}" if ends else ""
    print(f"{name} {value:.1f}{between}", flush=True)


def print_shares(name: str, judged: Sequence[Judged], other: Sequence[Judged] = ()) -> None:
    """Print what was stopped wrongly and caught, and the gap to another half."""
    for bad, what in ((False, "stopped_wrongly"), (True, "caught")):
        for doubted, with_what in ((False, ""), (True, "_doubtful")):
            if (found := measure_share(judged, bad=bad, doubted=doubted)) is not None:
                print_figure(f"{name}_{what}{with_what}_pct", found[0], found[1:])
                beside = measure_share(other, bad=bad, doubted=doubted)
                if beside is not None:
                    print_figure(f"{name}_{what}{with_what}_gap_points", found[0] - beside[0])


# ---- numbers that are planted


def list_planted(items: Iterable[Item]) -> Iterator[tuple[str, Item, int, int]]:
    """Yield good answers in which one stated number is another one: its class, the answer, where it stands."""
    chance = random.Random(SEED)
    for item in items:
        told = [value for text in (*item["texts"], item["question"]) for value in scan_values(text)]
        for value in scan_values(item["answer"]):
            if (kind := find_planted_class(value, told)) and find_support(value, told):
                wrong = plant_number(value, kind, told, chance)
                answer = item["answer"][: value.start] + wrong + item["answer"][value.end :]
                yield kind, {**item, "answer": answer}, value.start, value.start + len(wrong)


def find_planted_class(value: Value, told: Sequence[Value]) -> str:
    """Return the class of a number of an answer; nothing for one that is left alone."""
    digits = re.fullmatch(r"\D{0,4}([\d,]*\d(?:\.\d+)?)\D*", value.text)
    if value.text.lower() in SMALL_WORDS:
        counted = any(value.nouns & each.nouns and set(value.amounts) & set(each.amounts) for each in told)
        return "small_words" if counted else ""
    if value.kind not in ("number", "quantity", "percent", "money") or not digits:
        return ""
    amount = parse_digits(digits[1], ".")[0]
    if "." in digits[1]:
        return "decimals"
    if value.is_year:
        return "years"
    return "hundreds" if amount >= 100 else "tens" if amount > 12 else ""


def plant_number(value: Value, kind: str, told: Sequence[Value], chance: random.Random) -> str:
    """Return a value as it is written with another number that no text has, in any unit: 60 minutes is an hour."""
    if kind == "small_words":
        return chance.choice([word for word in SMALL_WORDS if word != value.text.lower()])
    stated = {amount for each in told for amount in (*each.amounts, *each.said)}
    stated |= {float(part) for each in told for date in each.dates for part in date}
    written = re.search(r"[\d,]*\d(?:\.\d+)?", value.text)
    digits = written[0] if written else value.text
    for _ in range(100):
        places = [place for place, sign in enumerate(digits) if sign.isdecimal()]
        place = chance.choice(places[-2:] if kind == "years" else places)
        sign = chance.choice([each for each in "123456789" if each != digits[place]])
        wrong = digits[:place] + sign + digits[place + 1 :]
        amount, written_anew = parse_digits(wrong, ".")[0], value.text.replace(digits, wrong, 1)
        meant = {other for each in scan_values(written_anew) for other in each.amounts}
        if not stated & {amount, *meant} and (amount > SMALL or "." in wrong):
            return written_anew
    return value.text.replace(digits, f"9{digits}", 1)


def print_planted(items: Sequence[Item]) -> None:
    """Print how many planted numbers pass, by class."""
    passed, seen = defaultdict(int), defaultdict(int)  # type: ignore[var-annotated]
    for kind, item, start, end in list_planted(items):
        findings = check_item(item).findings
        is_caught = any(each.start < end and each.end > start and each.verdict in STOPPING for each in findings)
        passed[kind] += not is_caught
        seen[kind] += 1
    for kind, count in sorted(seen.items()):
        print_figure(f"planted_{kind}_pass_pct", 100 * passed[kind] / count)
        print_figure(f"planted_{kind}_cases", count)


# ---- workings


def list_worked_out(items: Iterable[Item]) -> Iterator[tuple[Item, Value, str, float, float]]:
    """Yield right answers with a number that two numbers of the texts give: the number, the operation, the two."""
    for item in items:
        told = [value for text in (*item["texts"], item["question"]) for value in scan_values(text)]
        numbers = list(dict.fromkeys(value.said[0] for value in told if value.said and value.said[0]))
        for value in scan_values(item["answer"]) if item["label"] == "good" else ():
            if not value.said or value.is_small or find_support(value, told):
                continue
            pairs = ((a, b, sign) for sign in OPERATIONS for a in numbers for b in numbers if a != b)
            fit = next(((a, b, sign) for a, b, sign in pairs if _gives(a, b, sign, value)), None)
            if fit is not None:
                yield item, value, fit[2], fit[0], fit[1]


def work_out(one: float, sign: str, two: float) -> float:
    """Return the result of an operation; ``* 100 /`` is a share in per cent."""
    return {"+": one + two, "-": one - two, "*": one * two, "/": one / two, "* 100 /": one * 100 / two}[sign]


def _gives(one: float, two: float, sign: str, value: Value) -> bool:
    result = work_out(one, sign, two)
    written = re.search(r"[\d,]*\d(?:\.\d+)?", value.text)
    decimals = len(written[0].partition(".")[2]) if written else 0
    return abs(two) != 1 and abs(result - value.said[0]) <= 0.5 * 10.0**-decimals and result > 0


def print_workings(items: Sequence[Item]) -> None:
    """Print how many of worked-out answers pass with a right working, and with a wrong one."""
    passed, seen = defaultdict(int), 0  # type: ignore[var-annotated]
    for item, value, sign, one, two in list_worked_out(items):
        if seen == DERIVED:
            break
        seen += 1
        written = re.search(r"[\d,]*\d(?:\.\d+)?", value.text)
        said = written[0] if written else value.text
        other = OPERATIONS[sign]
        beside = one + 0.37 * abs(two) + 11.3
        made = work_out(beside, sign, two)
        wrong = f"{value.said[0] * 1.37 + 15.31:.2f}"
        for name, working, result in (
            ("right", f"{one:.10g} {sign} {two:.10g} = {said}", said),
            ("wrong_operand", f"{beside:.10g} {sign} {two:.10g} = {made:.2f}", f"{made:.2f}"),
            ("wrong_operation", f"{one:.10g} {other} {two:.10g} = {said}", said),
            ("wrong_result", f"{one:.10g} {sign} {two:.10g} = {wrong}", wrong),
        ):
            text = value.text.replace(said, result, 1)
            answer = item["answer"][: value.start] + text + item["answer"][value.end :]
            findings = check_item({**item, "answer": answer}, workings=[working]).findings
            here = (each for each in findings if value.start <= each.start < value.start + len(text))
            passed[name] += not any(each.verdict in STOPPING for each in here)
    for name, count in passed.items():
        print_figure(f"workings_{name}_pass", count)
    print_figure("workings_cases", seen)


# ---- languages


def print_languages(path: Path) -> None:
    """Print how many true answers are stopped in each language, and how many with a changed value pass."""
    chance = random.Random(SEED)
    for language, made in json.loads(path.read_text("utf-8")).items():
        counts = [0, 0, 0, 0]
        for asked in made["questions"]:
            sources = [Source("p", made["paragraphs"][asked["paragraph"]])]
            said = f"{asked['question']} {asked['answer']}."
            counts[0] += check_text(said, sources, question=asked["question"]).verdict in STOPPING
            counts[1] += 1
            values = [value for value in scan_values(asked["answer"], language) if not value.is_small]
            told = scan_values(sources[0].text, language)
            digits = re.search(r"\d[\d.,]*", values[0].text) if values else None
            if values and digits:
                wrong = plant_number(values[0], "", told, chance)
                changed = asked["answer"].replace(values[0].text, wrong, 1)
                counts[2] += (
                    check_text(f"{asked['question']} {changed}.", sources, question=asked["question"]).verdict
                    not in STOPPING
                )
                counts[3] += 1
        print_figure(f"{language}_true_stopped_pct", 100 * counts[0] / counts[1])
        print_figure(f"{language}_changed_pass_pct", 100 * counts[2] / max(counts[3], 1))
        print_figure(f"{language}_changed_cases", counts[3])


# ---- cost and peers


def print_cost(items: Sequence[Item]) -> None:
    """Print the median milliseconds of a check of five sentences over five passages, first seen and seen before.

    Of processor time. No passage was seen before: each group is asked once, with passages of another one that is not.
    """
    first, again = list[float](), list[float]()
    groups = list({item["group"]: item for item in items}.values())
    for item, other in zip(groups[::2], groups[1::2], strict=False):
        ends = [match.end() for match in re.finditer(r"[.!?](?=\s)", item["answer"])][4:5] or [len(item["answer"])]
        texts = [*item["texts"], *other["texts"]][:5]
        short = {**item, "answer": item["answer"][: ends[0]], "texts": texts}
        for times in (first, again):
            begin = time.process_time()
            check_item(short)
            times.append(1000 * (time.process_time() - begin))
    for name, times in (("first_seen", first), ("seen_before", again)):
        half = sorted(times[len(times) // 4 :])
        print(f"check_{name}_p50_ms {half[len(half) // 2]:.2f}", flush=True)


def list_peers() -> Iterator[tuple[str, Callable[[Item], bool]]]:
    """Yield the checkers of others that are installed, each as a function that says whether it stops an answer."""
    try:
        import corroborate  # type: ignore[import-not-found]
    except ImportError:
        pass
    else:
        yield (
            "corroborate",
            lambda item: not corroborate.check_answer(item["question"], item["texts"], item["answer"]).ok(),
        )
    try:
        import grounded  # type: ignore[import-not-found]
    except ImportError:
        return

    def stops_by_grounded(item: Item) -> bool:
        with TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{number}.txt" for number in range(len(item["texts"]))]
            for path, text in zip(paths, item["texts"], strict=True):
                path.write_text(text or " ", "utf-8")
            return not grounded.check(item["answer"], [str(path) for path in paths]).passed

    yield "grounded_check", stops_by_grounded


def print_peers(name: str, items: Sequence[Item]) -> None:
    """Print what checkers of others stop of the same texts."""
    for peer, stops in list_peers():
        labelled = [item for item in items if item["label"] in ("good", "bad")]
        judged = [
            Judged(item["group"], item["label"] == "bad", stop, stop) for item in labelled for stop in [stops(item)]
        ]
        for bad, what in ((False, "stopped_wrongly"), (True, "caught")):
            if (found := measure_share(judged, bad=bad, doubted=False)) is not None:
                print_figure(f"{name}_texts_{peer}_{what}_pct", found[0], found[1:])


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure the checker of texts on public sets.")
    parser.add_argument("--data", type=Path, required=True, help="a folder with a file SET.jsonl for each set")
    parser.add_argument("--languages", type=Path, help="questions in several languages, as JSON")
    parser.add_argument("--half", choices=("tuning", "reporting"), default="reporting", help="which half is measured")
    parser.add_argument("--sets", nargs="*", help="these sets alone")
    parser.add_argument("--peers", action="store_true", help="measure corroborate and grounded-check, too")
    parser.add_argument("--show", action="store_true", help="print what is stopped wrongly, of the tuning half alone")
    given = parser.parse_args()
    sets, is_tuning = read_items(given.data), given.half == "tuning"
    every = list[Item]()
    for name in given.sets or sets:
        items = [item for item in sets[name] if is_for_tuning(item["group"]) == is_tuning]
        other = [item for item in sets[name] if is_for_tuning(item["group"]) != is_tuning]
        if name == "derived":
            print_workings(sets[name])
            continue
        every += [item for item in items if item["label"] == "good"]
        if name == "ragtruth":
            print_cost(sets[name])  # before anything else has read them
        if name != "boxscores":  # where every text has something wrong
            print_shares(f"{name}_texts", judge_texts(items), judge_texts(other))
        if name in BY_SENTENCE:
            show = given.show and is_tuning
            print_shares(f"{name}_sentences", judge_sentences(items, show=show), judge_sentences(other))
        if given.peers:
            print_peers(name, items)
    print_planted(every)
    if given.languages:
        print_languages(given.languages)


if __name__ == "__main__":
    main()
