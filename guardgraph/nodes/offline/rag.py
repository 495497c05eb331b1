"""The RAG agent's offline proposers: the question as query, and the passage at which a reader would stop."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from guardgraph.grounding.marks import Sentence, find_answer_sentences, write_marks
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, list_word_keys, read_terms
from guardgraph.guards import rag as guards
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.stop import Stop
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import ContextChunk, RagPolicy
from guardgraph.world.call import mark_as_instant

_ENDS: Final = " \t\n?!.,;:¿¡？！。"
_EXPLETIVE: Final = re.compile(r"\bit\b[^?.]*\bto\s+\w", re.IGNORECASE)
"""English alone: "it" that stands for what follows ("How long does it take to get a refund?")."""
_FEWEST_TERMS: Final = 2
"""Terms that a question has which stands alone, in a language without a list of words that ask."""


@mark_as_instant
def condense_offline_question(view: JsonObject) -> JsonObject:
    """Propose the question so that it is understood without the conversation."""
    turns = [turn["content"] for turn in view["history"] if turn["role"] == "user"]
    return {"question": reduce(_follow_question, [*turns, view["question"]])}


def _follow_question(before: str, question: str) -> str:
    language = detect_language(f"{before}\n{question}") or DEFAULT_LANGUAGE
    words: dict[str, Any] | None = load_word_lists("follow_ups").get(language)
    whole = f"{question.rstrip(_ENDS)} ({before.strip(_ENDS)})?"
    if words is None:
        return question if len(read_terms(question, language)) >= _FEWEST_TERMS else whole
    rest = question.strip(_ENDS)
    lead = next((lead for lead in words["lead_ins"] if rest.lower().startswith(f"{lead} ")), "")
    rest = rest[len(lead) :].strip()
    said = list_word_keys(rest)
    if said[:1] and said[0] in words["prepositions"].split() and len(said) > 1:
        return f"{before.rstrip(_ENDS)} {rest}?"
    refers = not set(words["pronouns"].split()).isdisjoint(said) and not _EXPLETIVE.search(rest)
    return whole if refers or set(words["asking"].split()).isdisjoint(said) else question


QUERY_CHARS: Final = 240
"""max_query_chars of the default budget, where the view does not say."""
SHORT_CHARS: Final = 320
"""A chunk up to which the sentences that answer stand alone; of a longer one a passage is shown."""
PASSAGE_CHARS: Final = 700
"""Characters after which a passage takes in no more."""
ENOUGH_CHARS: Final = 300
"""Characters from which on a passage has to say more of the question to take in more."""

_INSUFFICIENT: Final[JsonObject] = {"answer": "", "citations": [], "insufficient": True}
_LEAST_COVER: Final = 0.5
"""What a chunk with its headings has of the question's terms at least, words of code and tables half; half of that
where it is short."""
_LEAST_GAIN: Final = 0.2
"""What a further sentence has of the question that none before it has, as a share of its weight."""
_ON_TOPIC: Final = 0.5
"""What headings have of a question, likewise, whose answer begins where the section does."""
_RANKED: Final = 20
"""From which a chunk's rank is taken: what was found first is preferred a little."""
_WEAK, _PREFERRED, _FITTING, _RUNNER_UP = 0.5, 1.2, 1.5, 0.6
"""What words of code and tables count; by how much code for steps, and a number for a quantity, is preferred; and how
well a row answers beside the best one at least."""
_MOST_ROWS: Final = 4
_FENCES: Final = ("```", "~~~")
_NUMBER: Final = re.compile(r"(?<!\w)\d|[一二三四五六七八九十百千]")
_ASKING: Final = ("?", "？", "؟")
_STEPS: Final = re.compile(r"how (?:do|can|should|to)\b|wie (?:kann|muss)\b|cómo\b|comment\b|как\b|як\b", re.IGNORECASE)
_MARKER: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_BARE_LINKS: Final = re.compile(r"(?:[-*•\s]*(?:\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\]|:\s*\S+)|<?https?://\S+>?)[.,\s]*)++")
_QUANTITY: Final = re.compile(
    r"\bhow (?:long|many|much|fast|often|soon|quickly)\b|\bwhen\b|\bwann\b|\bwie (?:lange|viele?|oft|schnell)\b|\bcuánt"
    r"|\bcuándo\b|\bcombien\b|\bquand\b|\bскільки\b|\bколи\b|\bсколько\b|\bкогда\b|多少|几",
    re.IGNORECASE,
)
"""Questions that a number answers, in the languages of the tables."""


@mark_as_instant
def plan_offline_retrieval(view: JsonObject) -> JsonObject:
    """Propose to retrieve by the question itself, or by as many of its content words as a query may have."""
    query, limit = " ".join(view["question"].split()), view.get("max_query_chars", QUERY_CHARS)
    if len(query) > limit:
        words = [word for word in query.split() if read_terms(word, detect_language(query))] or query.split()
        query = words[0][:limit]
        for word in words[1:]:
            if len(query) + 1 + len(word) > limit:
                break
            query = f"{query} {word}"
    asked: JsonObject = {"kind": "retrieve", "query": query}
    return {**asked, "top_k": view["top_k"]} if "top_k" in view else asked


class _Asked(NamedTuple):
    """A question as it is looked for."""

    weights: dict[str, float]
    """Its terms; one weighs the more the fewer blocks of the context have it."""
    language: str
    wants_number: bool
    wants_steps: bool

    def weigh(self, terms: frozenset[str]) -> float:
        """Return the share of the question's weight that some of its terms have, 0 to 1."""
        return sum(self.weights.get(term, 0) for term in sorted(terms)) / (sum(self.weights.values()) or 1)

    def share(self, whole: _Asked) -> float:
        """Return what is left of a question as a share of its whole weight."""
        return sum(self.weights.values()) / (sum(whole.weights.values()) or 1)

    def find_terms(self, text: str) -> frozenset[str]:
        """Return the terms of the question that a text has."""
        return frozenset(self.weights).intersection(read_terms(text, self.language))


@mark_as_instant
def write_offline_answer(view: JsonObject) -> JsonObject:
    """Propose the passage of one chunk that has most of the question, word for word, as a person would skim it."""
    chunks: list[Any] = [{**item, "source": "", "score": 1.0} for item in view["context_chunks"]]  # are not shown
    blocks = [
        [said for block in _read_blocks(chunk["text"]) if (said := _keep_sayable(block, chunk))] for chunk in chunks
    ]
    asked = _read_question(view["question"], [block for each in blocks for block in each])
    rated = [
        _rate_chunk(asked, chunk, each) * (_RANKED - rank)
        for rank, (chunk, each) in enumerate(zip(chunks, blocks, strict=True))
    ]
    for rank in sorted(range(len(chunks)), key=lambda rank: -rated[rank]):
        doc_id = chunks[rank]["doc_id"]
        text = _take_passage(asked, chunks[rank], blocks[rank]) if rated[rank] else ""
        if text and _may_be_said(text, chunks[rank], view["question"]):
            marked = _mark_sentences(text, doc_id) if view.get("sentence_citations") is True else text
            return {"answer": marked, "citations": [doc_id]}
    return _INSUFFICIENT


def _read_question(question: str, blocks: Sequence[str]) -> _Asked:
    language = detect_language("\n".join(blocks)[:10_000])
    terms = frozenset(read_terms(question, language))
    holders = Counter(term for block in blocks for term in terms.intersection(read_terms(block, language)))
    weights = {term: math.log(1 + len(blocks) / (holders[term] + 0.5)) for term in terms}
    return _Asked(weights, language, _QUANTITY.search(question) is not None, _STEPS.match(question) is not None)


def _read_blocks(text: str) -> Iterator[str]:
    """Yield what blank lines part: paragraphs, lists, tables; code between fences is whole."""
    lines, fence = list[str](), ""
    for line in text.split("\n"):
        mark = line.strip()[:3]
        if not line.strip() and not fence:
            if lines:
                yield "\n".join(lines)
            lines = []
            continue
        lines.append(line.rstrip())
        if mark in _FENCES:
            fence = "" if mark == fence else fence or mark
    if lines:
        yield "\n".join(lines)


def _may_be_said(text: str, chunk: ContextChunk, question: str | None = None) -> bool:
    """Say whether the guards let a text pass that cites its chunk: its form, or, as an answer to a question, all."""
    try:
        read = guards.read_answer(text, [chunk["doc_id"]], [chunk], must_cite=False)
        if question is None:
            return True
        checked = guards.check_answer_sentences(read, task={"question": question}, workings=[], policy=RagPolicy())
    except Stop:
        return False
    return judge_answer(checked, RagPolicy()).refusal is None


def _keep_sayable(block: str, chunk: ContextChunk) -> str:
    """Return a block, or else those of its sentences that the guards let pass."""
    if _may_be_said(block, chunk):
        return "" if _BARE_LINKS.fullmatch(block) else block
    return " ".join(said for said in split_sentences(unwrap_text_lines(block)) if _may_be_said(said, chunk))


def _rate_chunk(asked: _Asked, chunk: ContextChunk, blocks: Sequence[str]) -> float:
    """Return how well a chunk answers, by its best block and as a whole, with its headings; 0 where it does not."""
    headed = asked.find_terms(_read_headings(chunk))
    said = headed | asked.find_terms(
        "\n".join(block for block in blocks if not _is_code(block) and not _is_table(block))
    )
    shown = asked.find_terms("\n".join(blocks)) - said
    whole = asked.weigh(said) + _WEAK * asked.weigh(shown)
    least = _LEAST_COVER if len(chunk["text"]) > SHORT_CHARS else _LEAST_COVER / 2
    if len(said) + _WEAK * len(shown) < least * len(asked.weights):
        return 0.0
    best = max((_rate_block(asked, block, headed) for block in blocks), default=0.0)
    fits = asked.wants_number and any(map(_NUMBER.search, blocks))
    shows = asked.wants_steps and any(map(_is_code, blocks))
    preferred = (_FITTING if fits else 1.0) * (_PREFERRED if shows else 1.0)
    return (best + whole + _rate_headings(asked, chunk)) * preferred if best else 0.0


def _rate_headings(asked: _Asked, chunk: ContextChunk) -> float:
    """Return how nearly a heading above a chunk is the question: the Dice coefficient of their terms, 0 to 1."""
    path = chunk["section"].split(" > ")
    told = [frozenset(read_terms(heading, asked.language)) for heading in (*path, " ".join(path[-2:]), chunk["title"])]
    return max(2 * len(terms & asked.weights.keys()) / (len(terms) + len(asked.weights) or 1) for terms in told)


def _read_headings(chunk: ContextChunk) -> str:
    return f"{chunk['title']}\n{chunk['section']}"


def _rate_block(asked: _Asked, block: str, headed: frozenset[str]) -> float:
    """Return what a block has of the question: words of code and of tables count less, those of headings half."""
    own = asked.find_terms(block)
    share = asked.weigh(own) * (_WEAK if _is_code(block) or _is_table(block) else 1.0)
    fits = asked.wants_number and _NUMBER.search(block) is not None
    is_answer = bool(own) or asked.weigh(headed) >= _ON_TOPIC  # a question of a FAQ is the heading of its answer
    return (share + asked.weigh(headed - own) / 2) * (_FITTING if fits else 1.0) if is_answer else 0.0


def _take_passage(asked: _Asked, chunk: ContextChunk, blocks: Sequence[str]) -> str:
    """Return the blocks of a chunk that are shown, or the sentences of a short one."""
    if len(chunk["text"]) <= SHORT_CHARS and not any(map(_is_structured, blocks)):
        return _take_sentences(asked, chunk, [unwrap_text_lines(block) for block in blocks])
    taken, chars = list[str](), 0
    for block in blocks[_find_beginning(asked, chunk, blocks) :]:
        is_led = bool(taken) and (taken[-1].endswith(":") or _is_code(block))
        if taken and not is_led and (chars > ENOUGH_CHARS or chars + len(block) > PASSAGE_CHARS):
            break
        taken.append(_cut_block(asked, block))
        chars += len(taken[-1])
    while taken and taken[-1].endswith(":"):
        taken.pop()
    return "\n\n".join(taken)


def _find_beginning(asked: _Asked, chunk: ContextChunk, blocks: Sequence[str]) -> int:
    """Return where a passage begins: with the best block, with what leads to it, or with its section."""
    headed = asked.find_terms(_read_headings(chunk))
    rates = [_rate_block(asked, block, headed) for block in blocks]
    best = rates.index(max(rates))
    if asked.weigh(headed) >= _ON_TOPIC and not _is_structured(blocks[0]) and not _is_table(blocks[best]):
        return 0
    while best and _is_structured(blocks[best]) and (not _is_table(blocks[best]) or blocks[best - 1].endswith(":")):
        best -= 1
    return best


def _is_structured(block: str) -> bool:
    return _is_code(block) or _is_table(block) or _MARKER.match(block) is not None


def _is_code(block: str) -> bool:
    return block.lstrip().startswith((*_FENCES, "$ ", ">>> "))


def _is_table(block: str) -> bool:
    return block.count("|") > 1 and all("|" in line for line in block.split("\n"))


def _cut_block(asked: _Asked, block: str) -> str:
    """Return a block that is short enough: the best rows or items, or the first sentences of a paragraph."""
    if _is_code(block) or (len(block) <= PASSAGE_CHARS and not _is_table(block)):
        return block
    if _is_structured(block):
        return _cut_rows(asked, block)
    taken = ""
    for sentence in split_sentences(unwrap_text_lines(block)):
        if taken and len(taken) + len(sentence) > PASSAGE_CHARS:
            break
        taken = f"{taken} {sentence}".strip()
    return taken


def _cut_rows(asked: _Asked, block: str) -> str:
    """Return the rows of a table, behind its head, or the items of a list that have most of the question."""
    lines = block.split("\n")
    head = 2 if _is_table(block) and len(lines) > 2 and not lines[1].strip(" |:-+=") else 0
    rows = list[str]()
    for line in lines[head:]:
        if rows and not _is_table(block) and not _MARKER.match(line):
            rows[-1] += f"\n{line}"
        else:
            rows.append(line)
    rates = [asked.weigh(asked.find_terms(row)) for row in rows]
    best = sorted(range(len(rows)), key=lambda at: (-rates[at], at))[:_MOST_ROWS]
    least = _RUNNER_UP * rates[best[0]]
    return "\n".join([*lines[:head], *(rows[at] for at in sorted(best) if rates[at] >= least)])


def _take_sentences(asked: _Asked, chunk: ContextChunk, blocks: Sequence[str]) -> str:
    """Return the sentences of a short chunk, each of which has something of the question that those before it lack."""
    sentences = [item for block in blocks for item in split_sentences(block) if not item.endswith(_ASKING)]
    headed, chosen, left = asked.find_terms(_read_headings(chunk)), set[int](), asked
    while len(chosen) < len(sentences):
        rest = [at for at in range(len(sentences)) if at not in chosen]
        rates = {at: _rate_block(left, sentences[at], headed) for at in rest}
        best = max(rest, key=rates.__getitem__)
        own = left.find_terms(sentences[best])
        if not rates[best] or left.weigh(own) * left.share(asked) < (_LEAST_GAIN if chosen else 0):
            break
        chosen.add(best)
        left = left._replace(weights={term: weight for term, weight in left.weights.items() if term not in own})
    return " ".join(sentences[at] for at in sorted(chosen))


def _mark_sentences(text: str, doc_id: str) -> str:
    return write_marks(text, [Sentence(start, end, (doc_id,)) for start, end, *_ in find_answer_sentences(text)])
