"""The RAG agent's offline proposers: the question as query, and the passage at which a reader would stop."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import Any, Final, Literal, NamedTuple, TypeAlias

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
_SPOKEN: Final = ("text", "list")  # forms of blocks whose words are sentences
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

    def find_terms(self, text: str) -> frozenset[str]:
        """Return the terms of the question that a text has."""
        return frozenset(self.weights).intersection(read_terms(text, self.language))


_Form: TypeAlias = Literal["code", "table", "list", "text"]


class _Block(NamedTuple):
    """What stands between blank lines: a paragraph, a list, a table; code between fences is whole."""

    text: str
    form: _Form
    terms: frozenset[str]  # of the question


class _Skimmed(NamedTuple):
    """A chunk as a person skims it: its blocks that the guards let pass, and what its headings have of the question."""

    chunk: ContextChunk
    blocks: list[_Block]
    headed: frozenset[str]
    likeness: float
    """How nearly a heading is the question: the Dice coefficient of their terms, 0 to 1."""


@mark_as_instant
def write_offline_answer(view: JsonObject) -> JsonObject:
    """Propose the passage of one chunk that has most of the question, word for word, as a person would skim it."""
    chunks: list[Any] = [{**item, "source": "", "score": 1.0} for item in view["context_chunks"]]  # are not shown
    texts = [
        [said for block in _read_blocks(chunk["text"]) if (said := _keep_sayable(block, chunk))] for chunk in chunks
    ]
    question, language = view["question"], detect_language("\n".join(itertools.chain(*texts))[:10_000])
    terms = frozenset(read_terms(question, language))
    own = {text: terms.intersection(read_terms(text, language)) for text in itertools.chain(*texts)}
    holders = Counter(term for text in itertools.chain(*texts) for term in own[text])
    weights = {term: math.log(1 + sum(map(len, texts)) / (holders[term] + 0.5)) for term in terms}
    asked = _Asked(weights, language, _QUANTITY.search(question) is not None, _STEPS.match(question) is not None)
    skimmed = [
        _skim_chunk(asked, chunk, [_Block(text, _name_form(text), own[text]) for text in each])
        for chunk, each in zip(chunks, texts, strict=True)
    ]
    rated = [_rate_chunk(asked, each) * (_RANKED - rank) for rank, each in enumerate(skimmed)]
    for rank in sorted(range(len(chunks)), key=lambda rank: -rated[rank]):
        doc_id = chunks[rank]["doc_id"]
        text = _take_passage(asked, skimmed[rank]) if rated[rank] else ""
        if text and _may_be_said(text, chunks[rank], question):
            marked = _mark_sentences(text, doc_id) if view.get("sentence_citations") is True else text
            return {"answer": marked, "citations": [doc_id]}
    return _INSUFFICIENT


def _read_blocks(text: str) -> Iterator[str]:
    lines, fence = list[str](), ""
    for line in [*text.split("\n"), ""]:
        mark = line.strip()[:3]
        if line.strip() or fence:
            lines.append(line.rstrip())
            fence = ("" if mark == fence else fence or mark) if mark in _FENCES else fence
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:  # a fence that nobody closed
        yield "\n".join(lines[:-1])


def _name_form(block: str) -> _Form:
    if block.lstrip().startswith((*_FENCES, "$ ", ">>> ")):
        return "code"
    if block.count("|") > 1 and all("|" in line for line in block.split("\n")):
        return "table"
    return "list" if _MARKER.match(block) else "text"


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
    if "[" not in block or _may_be_said(block, chunk):  # which may be a mark
        return "" if _BARE_LINKS.fullmatch(block) else block
    return " ".join(said for said in split_sentences(unwrap_text_lines(block)) if _may_be_said(said, chunk))


def _skim_chunk(asked: _Asked, chunk: ContextChunk, blocks: list[_Block]) -> _Skimmed:
    path = chunk["section"].split(" > ")
    told = [frozenset(read_terms(heading, asked.language)) for heading in (chunk["title"], *path)]
    headings = [*told, told[-1].union(*told[-2:-1])] if len(path) > 1 else told
    own = asked.weights.keys()
    likeness = max(2 * len(terms & own) / (len(terms) + len(own) or 1) for terms in headings)
    return _Skimmed(chunk, blocks, frozenset(own).intersection(frozenset().union(*told)), likeness)


def _rate_chunk(asked: _Asked, given: _Skimmed) -> float:
    """Return how well a chunk answers, by its best block and as a whole, with its headings; 0 where it does not."""
    chunk, blocks, headed, likeness = given
    said = headed.union(*(block.terms for block in blocks if block.form in _SPOKEN))
    shown = frozenset[str]().union(*(block.terms for block in blocks)) - said
    least = _LEAST_COVER if len(chunk["text"]) > SHORT_CHARS else _LEAST_COVER / 2
    if len(said) + _WEAK * len(shown) < least * len(asked.weights):
        return 0.0
    best = max((_rate_block(asked, block, headed) for block in blocks), default=0.0)
    fits = asked.wants_number and any(_NUMBER.search(block.text) for block in blocks)
    shows = asked.wants_steps and any(block.form == "code" for block in blocks)
    preferred = (_FITTING if fits else 1.0) * (_PREFERRED if shows else 1.0)
    whole = asked.weigh(said) + _WEAK * asked.weigh(shown)
    return (best + whole + likeness) * preferred if best else 0.0


def _rate_block(asked: _Asked, block: _Block, headed: frozenset[str]) -> float:
    """Return what a block has of the question: words of code and of tables count less, those of headings half."""
    if not block.terms and asked.weigh(headed) < _ON_TOPIC:  # a question of a FAQ is the heading of its answer
        return 0.0
    share = asked.weigh(block.terms) * (1.0 if block.form in _SPOKEN else _WEAK)
    fits = asked.wants_number and _NUMBER.search(block.text) is not None
    return (share + asked.weigh(headed - block.terms) / 2) * (_FITTING if fits else 1.0)


def _take_passage(asked: _Asked, given: _Skimmed) -> str:
    """Return the blocks of a chunk that are shown, or the sentences of a short one."""
    chunk, blocks, headed, _ = given
    if len(chunk["text"]) <= SHORT_CHARS and all(block.form == "text" for block in blocks):
        return _take_sentences(asked, given)
    rates = [_rate_block(asked, block, headed) for block in blocks]
    first = rates.index(max(rates))
    # It begins with the best block, with what leads to it, or with its section.
    if asked.weigh(headed) >= _ON_TOPIC and blocks[0].form == "text" and blocks[first].form != "table":
        first = 0
    while first and blocks[first].form != "text":
        if blocks[first].form == "table" and not blocks[first - 1].text.endswith(":"):
            break
        first -= 1
    taken, chars = list[str](), 0
    for block in blocks[first:]:
        is_led = bool(taken) and (taken[-1].endswith(":") or block.form == "code")
        if taken and not is_led and (chars > ENOUGH_CHARS or chars + len(block.text) > PASSAGE_CHARS):
            break
        taken.append(_cut_block(asked, block))
        chars += len(taken[-1])
    while taken and taken[-1].endswith(":"):
        taken.pop()
    return "\n\n".join(taken)


def _cut_block(asked: _Asked, block: _Block) -> str:
    """Return a block that is short enough: the best rows or items, or the first sentences of a paragraph."""
    text, is_table = block.text, block.form == "table"
    if block.form == "code" or (len(text) <= PASSAGE_CHARS and not is_table):
        return text
    if block.form == "text":
        taken = ""
        for sentence in split_sentences(unwrap_text_lines(text)):
            if taken and len(taken) + len(sentence) > PASSAGE_CHARS:
                break
            taken = f"{taken} {sentence}".strip()
        return taken
    lines, rows = text.split("\n"), list[str]()
    head = 2 if is_table and len(lines) > 2 and not lines[1].strip(" |:-+=") else 0
    for line in lines[head:]:
        if rows and not is_table and not _MARKER.match(line):
            rows[-1] += f"\n{line}"
        else:
            rows.append(line)
    rates = [asked.weigh(asked.find_terms(row)) for row in rows]
    best = sorted(range(len(rows)), key=lambda at: (-rates[at], at))[:_MOST_ROWS]
    least = _RUNNER_UP * rates[best[0]]
    return "\n".join([*lines[:head], *(rows[at] for at in sorted(best) if rates[at] >= least)])


def _take_sentences(asked: _Asked, given: _Skimmed) -> str:
    """Return the sentences of a short chunk, each of which has something of the question that those before it lack."""
    said = [item for block in given.blocks for item in split_sentences(unwrap_text_lines(block.text))]
    rest = {
        at: _Block(text, _name_form(text), asked.find_terms(text))
        for at, text in enumerate(said)
        if not text.endswith(_ASKING)
    }
    chosen, left, whole = list[int](), asked, sum(asked.weights.values()) or 1
    while rest:
        rates = {at: _rate_block(left, sentence, given.headed) for at, sentence in rest.items()}
        best = max(rest, key=rates.__getitem__)
        gained = sum(left.weights.get(term, 0) for term in sorted(rest[best].terms)) / whole
        if not rates[best] or gained < (_LEAST_GAIN if chosen else 0):
            break
        chosen.append(best)
        own = rest.pop(best).terms
        left = left._replace(weights={term: weight for term, weight in left.weights.items() if term not in own})
        rest = {at: each._replace(terms=each.terms - own) for at, each in rest.items()}
    return " ".join(said[at] for at in sorted(chosen))


def _mark_sentences(text: str, doc_id: str) -> str:
    return write_marks(text, [Sentence(start, end, (doc_id,)) for start, end, *_ in find_answer_sentences(text)])
