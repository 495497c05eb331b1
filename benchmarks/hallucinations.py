"""How many made-up statements do the guards refuse, and how many true ones, on data sets that others published?

- FaithBench (Bao et al. 2024): summaries of ten models with what people marked in them, ``[{source, summary, model,
  spans: [[start, end, label], ...]}, ...]``, and for verifiers what two judges said of each text: ``gpt_4o``, 1 for
  faithful and 0 for not, and ``hhem``, the score of a cross-encoder. A text is faithful where nobody marked anything in
  it as unwanted or questionable; a sentence is good where nothing is marked in it, and unfaithful where something
  unwanted is. The rules were tuned on one half of the sources; ``--show`` lists what was refused of that half.
- HaluEval (Li et al. 2023, MIT licence): ``[{knowledge, question, right_answer, hallucinated_answer}, ...]``. The
  knowledge is the cited text. Many answers are one name: the first word of a sentence is not checked.
- FEVER-Symmetric (Schuster et al. 2019, CC BY-SA 3.0): ``{"rows": [[claim, [evidence, ...], supported], ...]}``.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from langchain_core.cross_encoders import BaseCrossEncoder
from measure import LOG, Figure, Tally
from sections import Meaning, Section, run_alone

from guardgraph import RagPolicy, create_rag_agent
from guardgraph.grounding.sentences import find_sentence_spans
from guardgraph.grounding.words import is_lowercase_word
from guardgraph.guards import rag, removal
from guardgraph.guards.facts import Facts, facts_in_text, unsupported_of_answer
from guardgraph.guards.stop import Stop
from guardgraph.guards.turned import check_turned_sentences

_NUMBER = re.compile(r"(?<![\w.,:/'’-])\d++(?:[.,]\d++)*+(?![\w:/'’-]|[.,]\d)")
_WRITTEN = re.compile(r"\d++(?:[.,]\d++)*+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}+(?= [a-z])")
_MARKER = re.compile(r"^(?:\d{1,2}[.)]|[-*•])[ ]+")
_CLAIM_WORD = re.compile(r"\w+")
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

ON_LISTS = {"allowed_sources_policy": ["news"], "allowed_sources_execution": ["news"]}
UNSUPPORTED = "invalid_answer:unsupported_claim"

_TOKEN = re.compile(r"\b\d[\d,.]*\b")

Row = dict[str, Any]


def chunk_of(text: str) -> dict[str, Any]:
    """Return a text as a chunk of a context."""
    return {"doc_id": "a", "source": "", "title": "", "section": "", "updated_at": "", "text": text, "score": 1.0}


def find_refused(answer: str, texts: Sequence[str], *, question: str = "", documents: int = 0) -> dict[str, list[str]]:
    """Return what the checks of numbers and names refuse of an answer that cites all texts."""
    chunks, found = [*map(chunk_of, texts)], {}
    try:
        rag.check_cited_numbers(answer, question=question, chunks=chunks, documents=documents)
    except Stop as stop:
        found["numbers"] = stop.evidence["unsupported"]
    try:
        rag.check_cited_names(answer, question=question, chunks=chunks, packed=chunks)
    except Stop as stop:
        found["names"] = stop.evidence["unsupported"]
    return found


def measure_answers(path: Path) -> Iterator[Figure]:
    """Yield how many right and made-up answers of HaluEval the checks of names and numbers refuse."""
    pairs = json.loads(path.read_text(encoding="utf-8"))
    yield "pairs", len(pairs)
    for kind in ("right", "hallucinated"):
        found = [
            set(find_refused(pair[f"{kind}_answer"], [pair["knowledge"]], question=pair["question"])) for pair in pairs
        ]
        for name, which in (("numbers", {"numbers"}), ("names", {"names"}), ("flagged", {"numbers", "names"})):
            yield f"{kind}_{name}_pct", 100 * sum(bool(each & which) for each in found) / len(pairs)


def measure_claims(path: Path) -> Iterator[Figure]:
    """Yield how many true and false claims of FEVER the number check flags, beside a rule that compares tokens."""
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    found = [row for row in rows if facts_in_text(row[0]).numbers]
    tokens = [row for row in rows if _TOKEN.search(row[0])]
    for prefix, chosen in (("", found), ("token_", tokens)):
        for supported, word in ((False, "false"), (True, "true")):
            claims = [row for row in chosen if row[2] is supported]
            yield f"{prefix}claims_{word}", len(claims)
            for name, rule in (("flagged", is_flagged_by_facts), ("baseline_flagged", is_flagged_by_tokens)):
                yield f"{prefix}{name}_{word}_pct", 100 * sum(rule(row[0], row[1]) for row in claims) / len(claims)


def is_flagged_by_facts(claim: str, evidence: list[str]) -> bool:
    """Apply the rule of the guards for answers: a fact of the claim that the evidence neither says nor comes to."""
    licence = Facts()
    for sentence in evidence:
        licence |= facts_in_text(sentence)
    return bool(unsupported_of_answer(claim, licence, texts=evidence))


def is_flagged_by_tokens(claim: str, evidence: list[str]) -> bool:
    """Apply the baseline: a token of digits in the claim that the evidence does not have."""
    return bool(set(_TOKEN.findall(claim)) - set(_TOKEN.findall(" ".join(evidence))))


def measure_summaries(path: Path, half: str) -> Iterator[Figure]:
    """Yield what the checks stop of a half of FaithBench, as it stands and with sentences that were changed."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    names = sorted({name for row in rows for name in _NAME.findall(row["source"])})
    if half != "all":
        rows = [row for row in rows if is_tuned(row["source"]) == (half == "tuned")]
    tally = Tally()
    for row in rows:
        _judge_summary(tally, row, names)
    yield "texts", len(rows)
    yield "sources", len({row["source"] for row in rows})
    yield from tally.figures()


def is_tuned(source: str) -> bool:
    """Say whether a source is of the half that the rules were tuned on."""
    return sha256(source.encode()).digest()[0] % 2 == 0


def _judge_summary(tally: Tally, row: Row, names: list[str]) -> None:
    source, text = row["source"], row["summary"]
    judge = partial(find_refused, texts=[source], documents=SHOWN)
    if not list_labels(row) & {"Unwanted", "Questionable"}:
        for check in ("numbers", "names"):
            tally.add(f"faithful_{check}", source, check in judge(text))
        tally.add("faithful_stopped", source, bool(judge(text)))
    _judge_dropping(tally, row)
    before = ""
    for sentence, kind in list_sentences(row):
        # What opens with "The second" is read behind the sentence before it.
        refused = judge(sentence) and judge(f"{before} {sentence}".strip())
        before = sentence if not judge(sentence) else ""
        if kind != "between":
            tally.add(f"{kind}_refused", source, bool(refused))
        if kind == "good" and refused and is_tuned(source):
            LOG.info("GOOD %s | %r", refused, sentence)
        if kind == "good" and not refused:
            _judge_good_sentence(tally, sentence, source, names)


def list_labels(row: Row) -> set[str]:
    """Return how anything in a summary is marked."""
    return {label for _, _, label in row["spans"]}


def drop_refused(answer: str, source: str) -> tuple[str, list[tuple[int, int]]]:
    """Return what becomes of an answer that cites a source with ``unsupported="drop"``, and its sentences that stay."""
    chunk = chunk_of(source)
    check = rag.make_sentence_check(
        answer, None, question="", cited=[chunk], chunks=[chunk] * SHOWN, policy=RagPolicy(check_turned=False)
    )

    def judge_rest(rest: removal.Rest, citations: list[str]) -> None:
        if find_refused(rest.text, [source], documents=SHOWN):
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


def _judge_dropping(tally: Tally, row: Row) -> None:
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


def list_sentences(row: Row) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a summary with what its annotations make of it."""
    text = row["summary"]
    for start, end in find_sentence_spans(text):
        labels = {label for first, last, label in row["spans"] if first < end and last > start}
        kind = "good" if not labels else "unfaithful" if "Unwanted" in labels else "between"
        yield text[start:end], kind


def plant_numbers(sentence: str, source: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the class of a number and the sentence with another in its place that the source does not have."""
    known = {_read_written(each) for each in (*_WRITTEN.findall(source), *_WRITTEN.findall(sentence))}
    for match in _NUMBER.finditer(sentence):
        text = match[0]
        kind, make = _choose_plant(text, chance)
        made = next((each for _ in range(20) if _read_written(each := make()) not in known), None) if kind else None
        if made:
            yield kind, sentence[: match.start()] + made + sentence[match.end() :]


def _read_written(text: str) -> str:
    """Return a number so that two that are equal are the same: 6.0 is 6, and no other number than a source's 6."""
    digits = text.replace(",", "")
    return digits.rstrip("0").rstrip(".") if digits.count(".") == 1 else digits


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


def frame_sentence(frame: str, sentence: str) -> str:
    """Put a sentence into a frame: behind a comma it goes on with a small letter."""
    said = _MARKER.sub("", sentence.strip(), count=1)
    first = said.partition(" ")[0].strip(",")
    if ", {}" in frame and (is_lowercase_word(first, "en") or len(first) < 2):
        said = said[:1].lower() + said[1:]
    return frame.format(said)


def _judge_good_sentence(tally: Tally, sentence: str, source: str, names: list[str]) -> None:
    """Measure what is made of a sentence that passes: wrong numbers, frames, false sources, another subject."""
    chance, judge = random.Random(sentence), partial(find_refused, texts=[source], documents=SHOWN)
    for kind, planted in plant_numbers(sentence, source, chance):
        tally.add(f"planted_{kind}_passed", source, not judge(planted))
    framed = frame_sentence(chance.choice(FRAMES), sentence)
    tally.add("frames_stopped", source, bool(judge(framed)))
    false = frame_sentence(chance.choice(FALSE_SOURCES), sentence)
    tally.add("false_sources_refused", source, bool(judge(false)))
    match, name = _SUBJECT.match(sentence.strip()), chance.choice(names)
    if match and name.lower() not in source.lower() and re.search(rf"(?<![.!?] )\b{match[0]}\b", source):
        made = name + sentence.strip()[match.end() :]
        tally.add("made_up_subject_accepted", source, not judge(made))


def judge_by_annotations(row: Row, view: Row) -> Row:
    """Return what the people who read a summary say of its claims.

    A claim is a sentence without the marks of lists, behind the labels that introduce it, so its words are looked for.
    """
    text, at, judged = row["summary"], 0, []
    for item in view["claims"]:
        places = []
        for word in _CLAIM_WORD.findall(item["claim"]):
            if (place := text.find(word, at)) >= 0:
                places.append(place)
                at = place + len(word)
        start = places[0] if places else at
        unwanted = any(label == "Unwanted" and first < at and last > start for first, last, label in row["spans"])
        judged.append({"number": item["number"], "supported": not unwanted})
    return {"claims": judged}


def judge_by_model(row: Row, view: Row) -> Row:
    """Return what GPT-4o says of the whole text, for each claim."""
    return {"claims": [{"number": item["number"], "supported": row["gpt_4o"] == 1} for item in view["claims"]]}


class RecordedEncoder(BaseCrossEncoder):
    """A cross-encoder that scores every claim as HHEM scored the whole text."""

    def __init__(self, row: Row) -> None:
        self._score = row["hhem"]

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """Score pairs of evidence and claim."""
        return [self._score] * len(text_pairs)


def answer_with_verifier(row: Row, verifier, *, checks: bool) -> Row:
    """Return the result of a RAG agent that answers with a summary of its one document."""
    document = {**chunk_of(row["source"]), "source": "news"}
    agent = create_rag_agent(
        planner=lambda view: {"kind": "retrieve", "query": "news"},
        answerer=lambda view: {"answer": row["summary"], "citations": ["a"]},
        retriever=lambda request: [document],
        verifier=verifier,
        policy=RagPolicy(**ON_LISTS, check_numbers=checks, check_names=checks, check_turned=checks),
    )
    return agent.invoke({"question": "What is new?"})


def measure_verifier(path: Path) -> Iterator[Figure]:
    """Yield what a verifier adds to the rules on FaithBench: the most that it can, and what recorded judges do.

    Each text is the answer of a RAG agent to whose one document it cites. The oracle finds a sentence unsupported where
    people marked something in it as unwanted: what it does not refuse, no verifier could make the agent refuse. The
    judges say the same of every sentence of a text.
    """
    rows = json.loads(path.read_text(encoding="utf-8"))
    tally = Tally()
    for row in rows:
        _judge_sentences(tally, row)
        labels = list_labels(row)
        kind = "unfaithful" if "Unwanted" in labels else "faithful" if "Questionable" not in labels else ""
        verifiers = {
            "by_rules": None,
            "with_oracle": partial(judge_by_annotations, row),
            "with_gpt_4o": partial(judge_by_model, row),
            "with_hhem": RecordedEncoder(row),
        }
        for name, verifier in verifiers.items() if kind else ():
            result = answer_with_verifier(row, verifier, checks=True)
            tally.add(f"{kind}_texts_stopped_{name}", row["source"], result["status"] == "stopped")
    yield "texts", len(rows)
    yield "sources", len({row["source"] for row in rows})
    yield from tally.figures()


def _judge_sentences(tally: Tally, row: Row) -> None:
    source = row["source"]
    alone = answer_with_verifier(row, partial(judge_by_annotations, row), checks=False)
    refused = alone.get("unsupported", []) if alone["stop_reason"] == UNSUPPORTED else []
    for sentence, kind in list_sentences(row):
        if kind != "between":
            by_rule = bool(find_refused(sentence, [source], documents=SHOWN))
            by_verifier = any(_is_claim_of(item, sentence) for item in refused)
            tally.add(f"{kind}_refused_by_rules", source, by_rule)
            tally.add(f"{kind}_refused_with_oracle", source, by_rule or by_verifier)


def _is_claim_of(claim: str, sentence: str) -> bool:
    """Say whether a claim that was shown is a sentence of an answer, and not one that it only introduces."""
    said = sentence.strip().strip("*#: ")
    if claim.startswith(f"{said}: "):
        return False
    return sentence[:200].strip() in claim or said[:200] in claim or claim in sentence


SECTIONS = (
    Section(
        "facts_fever",
        "The number check on FEVER-Symmetric",
        "How many claims the number check flags of those that their evidence refutes (false) and supports (true), "
        "beside a rule that compares tokens of digits. A false claim whose numbers are right is none that it "
        "could flag.",
        (
            Meaning("token_claims_*", "Claims with a token of digits."),
            Meaning("claims_*", "Claims in which guardgraph finds a number."),
            Meaning("*baseline_flagged_*", "Per cent of these claims that the token rule flags."),
            Meaning("flagged_false_pct", "Per cent of the false claims that the number check flags.", at_least=78),
            Meaning("flagged_true_pct", "Per cent of the true claims that it flags.", at_most=10),
            Meaning("*flagged_*", "Per cent of these claims that the number check flags."),
        ),
        data="fever",
        figures=measure_claims,
    ),
    Section(
        "names",
        "The checks of names and numbers on HaluEval",
        "How many answers to questions the two checks refuse, right ones and made-up ones, with the text that the "
        "right answer comes from. A made-up answer that names only what the text and the question name is none that "
        "they could refuse.",
        (
            Meaning("pairs", "Questions, each with a right and a made-up answer."),
            Meaning("right_flagged_pct", "Per cent of the right answers that either check refuses.", at_most=1),
            Meaning("hallucinated_flagged_pct", "Per cent of the made-up answers that one refuses.", at_least=42),
            Meaning("*_numbers_pct", "Per cent that the check of numbers refuses."),
            Meaning("*_names_pct", "Per cent that the check of names refuses."),
        ),
        data="halueval",
        figures=measure_answers,
    ),
    Section(
        "faithbench",
        "The checks of names and numbers on what models write",
        "Summaries of ten models that people read (FaithBench): how many the two checks stop though nothing in them is "
        "marked, and how many marked sentences they refuse; with wrong numbers planted, in frames, with a false source "
        "and with a made-up subject. 95 of 100 samples of the sources lie between low and high.",
        (
            Meaning("faithful_stopped_pct", "Per cent of the faithful texts that are stopped.", at_most=15),
            Meaning("good_refused_pct", "Per cent of the sentences without a mark.", at_most=4),
            Meaning("unfaithful_refused_pct", "Per cent of the sentences with something unwanted.", at_least=13),
            Meaning("planted_*_passed_pct", "Per cent of the wrong numbers of a kind that pass.", at_most=5),
            Meaning("frames_stopped_pct", "Per cent of good sentences in a frame.", at_most=1),
            Meaning("false_sources_refused_pct", "Per cent of good sentences that name a false source.", at_least=95),
            Meaning("made_up_subject_accepted_pct", "Per cent of sentences about a made-up name.", at_most=55),
            Meaning("faithful_*_pct", "Per cent of the faithful texts that one of the checks stops."),
            Meaning("drop_*_pct", "Per cent of the texts that end so where refused sentences are taken out."),
            Meaning("unfaithful_spans_seen_*_pct", "Per cent of the unwanted annotations that a reader still sees."),
            Meaning("*_cases", "Texts, sentences or annotations."),
            Meaning("*_low", "See above."),
            Meaning("*_high", "See above."),
            Meaning("texts", "Texts."),
            Meaning("sources", "What they are summaries of."),
        ),
        data="faithbench",
        figures=measure_summaries,
        half="all",
    ),
    Section(
        "verifier",
        "A verifier behind the rules",
        "The same summaries as answers of a RAG agent: how many sentences and texts stop with the rules alone, with an "
        "oracle as verifier that knows the marks (the most that any verifier can reach), and with what GPT-4o and the "
        "cross-encoder HHEM said of each text.",
        (
            Meaning(
                "unfaithful_refused_with_oracle_pct", "Per cent of the sentences with something unwanted.", at_least=25
            ),
            Meaning("good_refused_with_oracle_pct", "Per cent of the sentences without a mark.", at_most=4),
            Meaning("*_pct", "Per cent that stop."),
            Meaning("*_cases", "Texts or sentences."),
            Meaning("*_low", "See above."),
            Meaning("*_high", "See above."),
            Meaning("texts", "Texts."),
            Meaning("sources", "What they are summaries of."),
        ),
        data="faithbench",
        figures=measure_verifier,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
