"""The RAG agent's offline proposers: the question as query, and the passages at which a reader would stop."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import reduce
from itertools import chain
from textwrap import shorten
from typing import Any, Final, Literal

from guardgraph.grounding.empty import is_empty_text
from guardgraph.grounding.links import find_link_problem
from guardgraph.grounding.marks import mark_each_sentence
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, get_terms_reader, list_word_keys, read_terms
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.rag import answer as answer_guards
from guardgraph.guards.stop import Stop
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import RagBudget, RagPolicy
from guardgraph.world.call import mark_as_instant

_ENDS: Final = " \t\n?!.,;:¿¡？！。"
_EXPLETIVE: Final = re.compile(r"\bit\b[^?.]*\bto\s+\w", re.IGNORECASE)  # "How long does it take to get a refund?"


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
        return question if len(read_terms(question, language)) > 1 else whole
    rest = question.strip(_ENDS)
    lead = next((lead for lead in words["lead_ins"] if rest.lower().startswith(f"{lead} ")), "")
    rest = rest[len(lead) :].strip()
    said = list_word_keys(rest)
    if len(said) > 1 and said[0] in words["prepositions"].split():
        return f"{before.rstrip(_ENDS)} {rest}?"
    refers = not set(words["pronouns"].split()).isdisjoint(said) and not _EXPLETIVE.search(rest)
    return whole if refers or set(words["asking"].split()).isdisjoint(said) else question


_MOST_CHARS: Final = 1500  # characters after which a passage takes in no more, except code that it leads to
_MOST_PASSAGES, _MOST_ROWS = 2, 4
_SHORT_CHARS: Final = 320  # a chunk of prose up to which, in a context of such, the sentences that answer stand alone
_LEAST_COVER: Final = 0.5  # share of the question's terms that a chunk has with its headings
_LEAST_GAIN: Final = 0.2  # share of the question's weight that a further sentence has and none before it
_RANKED: Final = 20  # from which a chunk's rank is taken: what was found first is preferred a little
_LIKE, _WEAK, _PREFERRED, _RUNNER_UP = 2.5, 0.5, 1.2, 0.6
"""What headings that are the question count, and words of code; by how much a chunk with code is preferred; and how
well a row or a passage answers beside the best one at least."""
_FENCES: Final = ("```", "~~~")
_CODE_STARTS: Final = (*_FENCES, "$ ", ">>> ")
_LED: Final = ("code", "list")  # forms of blocks that need what leads to them
_FENCE: Final = re.compile(r"^ *((?:```|~~~).*?) *$", re.MULTILINE)
_ROW_GAP: Final = re.compile(r"^(\|.*)\n\n(?=\|)", re.MULTILINE)  # the blank line between two rows of a page's table
_ITEM_START: Final = re.compile(r"\n(?=[^\S\n]*(?:[-*+•]|\d{1,3}[.)])\s)")
_COLUMNS: Final = re.compile(r"=+(?: +=+)+$", re.MULTILINE)  # the line above a simple table of reStructuredText
_UNSEEN: Final = re.compile(
    r"(?:[-*•\s]*+(?:\[[^\]]*+\](?:\([^)]*+\)|\[[^\]]*+\]|:\s*+\S++)|<?https?://\S++|\([\w-]+\)=)[.,\s]*+)+"
    r"|(`{3,}|:{3,})\{.*(?:\n(?:[:.].*|\s*))*\n\1"
)
"""Links alone; and of MyST the targets of links, and directives without a text."""
_NAME: Final = re.compile(r"(?<![\w-])--?\w[\w-]*|(?<!\w)\w+(?:[_.]\w+)+")  # an option, or another name of code
NO_STATEMENT: Final = ("?", "？", "؟", ":", "：", "…", ",", "\ufffd")  # ends a line that asks, leads on or was cut off


@mark_as_instant
def plan_offline_retrieval(view: JsonObject) -> JsonObject:
    """Propose to retrieve by the question itself, or by as many of its first words as a query may have."""
    limit = view.get("max_query_chars", RagBudget.model_construct().max_query_chars)
    asked: JsonObject = {"kind": "retrieve", "query": shorten(view["question"], limit, placeholder="")}
    return {**asked, "top_k": view["top_k"]} if "top_k" in view else asked


@mark_as_instant
def write_offline_answer(view: JsonObject) -> JsonObject:
    """Propose what one or two chunks say that have most of the question, word for word, as a person would skim it."""
    chunks = [{**item, "source": "", "score": 1.0} for item in view["context_chunks"]]  # are not shown
    texts = [[*filter(None, map(_keep_inert_lines, _read_blocks(chunk["text"])))] for chunk in chunks]
    asked = Question(view["question"], [*chain(*texts)])
    sections = [_Section(asked, chunk, own) for chunk, own in zip(chunks, texts, strict=True)]
    rates = {section: section.rate * (_RANKED - rank) for rank, section in enumerate(sections) if section.rate}
    is_brief = all(section.is_short for section in rates)
    shown, answer, above = list[Any](), "", ""
    for section in sorted(rates, key=lambda section: -rates[section]):
        if len(shown) == (1 if is_brief else _MOST_PASSAGES):
            break
        heading = "" if is_brief else " > ".join(section.headings)
        passage = section.take_sentences() if is_brief else section.take_passage()
        if view.get("sentence_citations") is True:
            passage = mark_each_sentence(passage, section.chunk["doc_id"])
        longer = "\n\n".join(filter(None, [answer, f"## {heading}" if heading != above else "", passage]))
        is_near = not shown or rates[section] >= _RUNNER_UP * max(rates.values())
        if passage and is_near and _may_be_said(longer, [*shown, section.chunk], view["question"]):
            answer, shown, above = longer, [*shown, section.chunk], heading
    if not shown:
        return {"answer": "", "citations": [], "insufficient": True}
    return {"answer": answer, "citations": [chunk["doc_id"] for chunk in shown]}


def _may_be_said(answer: str, chunks: list[Any], question: str) -> bool:
    policy = RagPolicy.model_construct()  # of defaults, which are right
    try:
        read = answer_guards.read_answer(answer, [chunk["doc_id"] for chunk in chunks], chunks, must_cite=False)
        checked = answer_guards.check_answer_sentences(read, task={"question": question}, workings=[], policy=policy)
    except Stop:
        return False
    return judge_answer(checked, policy).refusal is None and not is_empty_text(answer, echoes=[question])


class Question:
    """A question as it is looked for in texts: a term weighs the more the fewer of them have it."""

    def __init__(self, question: str, texts: Collection[str]) -> None:
        self._read_terms = get_terms_reader(detect_language("\n".join(texts)[:10_000]))
        terms = self.list_terms(question)
        holders = Counter(chain(*(terms & self.list_terms(text) for text in texts)))
        weights = {term: math.log(1 + len(texts) / (holders[term] + 0.5)) for term in sorted(terms)}
        whole = sum(weights.values()) or 1.0
        self.weights = {term: weight / whole for term, weight in weights.items()}

    def list_terms(self, text: str) -> frozenset[str]:
        """Return the terms of a text, its names of code letter by letter."""
        return frozenset([*self._read_terms(text), *_NAME.findall(text)])

    def find_terms(self, text: str) -> frozenset[str]:
        """Return the terms of the question that a text has."""
        return self.list_terms(text) & self.weights.keys()

    def weigh(self, terms: frozenset[str]) -> float:
        """Return the share of the question's weight that some terms have, 0 to 1."""
        return sum(weight for term, weight in self.weights.items() if term in terms)


class _Section:
    """A chunk as it is skimmed; its rate is 0 where it does not answer."""

    def __init__(self, asked: Question, chunk: JsonObject, blocks: list[str]) -> None:
        self._asked, self.chunk, self.blocks = asked, chunk, blocks
        self.headings = [*dict.fromkeys(filter(None, [chunk["title"], *chunk["section"].split(" > ")]))]
        told = asked.list_terms("\n".join(self.headings))
        self.headed = told & asked.weights.keys()
        self.forms = [_name_block_form(block) for block in blocks]
        self.is_short = {*self.forms} <= {"text"} and len(chunk["text"]) <= _SHORT_CHARS
        own = [asked.find_terms(block.partition("\n")[2] if block.startswith(_FENCES) else block) for block in blocks]
        rows = [*zip(own, self.forms, strict=True)]
        self.rates = [self._rate(terms) * (_WEAK if form == "code" else 1.0) for terms, form in rows]
        said = self.headed.union(*(terms for terms, form in rows if form != "code"))
        coded = frozenset(chain(*own)) - said
        least = _LEAST_COVER * (0.5 if self.is_short else 1) * len(asked.weights)
        alike = 2 * len(self.headed) / max(len(told) + len(asked.weights), 1)  # the Dice coefficient of their terms
        weighed = asked.weigh(said) + _WEAK * asked.weigh(coded) + _LIKE * alike
        rate = max(self.rates, default=0.0) if len(said) + _WEAK * len(coded) >= least else 0.0
        self.rate = rate and (rate + weighed) * (_PREFERRED if "code" in self.forms else 1.0)

    def _rate(self, terms: frozenset[str]) -> float:
        """Return how well a text of some terms answers; what the headings alone have counts half."""
        return (self._asked.weigh(terms) + self._asked.weigh(terms | self.headed)) / 2

    def take_passage(self) -> str:
        """Return the blocks that are shown: from the first one, or from what leads to the best one, if that is far."""
        forms = self.forms
        blocks = [*map(self._cut_block, self.blocks, forms)]
        begin = best = max(range(len(blocks)), key=self.rates.__getitem__)
        while begin and (forms[begin] in _LED or sum(map(len, blocks[begin - 1 : best + 1])) <= _MOST_CHARS):
            begin -= 1
        taken, has_code = list[str](), False
        for block, form in zip(blocks[begin:], forms[begin:], strict=True):
            is_led = not taken or taken[-1].endswith(":") or (form == "code" and not has_code)
            if not is_led and sum(map(len, taken)) + len(block) > _MOST_CHARS:
                break
            taken.append(block)
            has_code |= form == "code"
        while taken and taken[-1].endswith(":"):
            taken.pop()
        return "\n\n".join(taken)

    def _cut_block(self, block: str, form: str) -> str:
        """Return the head of a table with the rows that answer best, and of a long list the best items."""
        if form != "table" and (form != "list" or len(block) <= _MOST_CHARS):
            return block
        rows = block.split("\n") if form == "table" else _ITEM_START.split(block)
        head = next((at for at in range(2, len(rows)) if not _has_words(rows[at - 1])), int(form == "table"))
        rates = [self._asked.weigh(self._asked.find_terms(row)) if _has_words(row) else -1.0 for row in rows[head:]]
        best = sorted(range(len(rates)), key=lambda at: (-rates[at], at))[:_MOST_ROWS]
        least = _RUNNER_UP * max(rates, default=0.0)
        return "\n".join([*rows[:head], *(rows[head + at] for at in sorted(best) if rates[at] >= least)])

    def take_sentences(self) -> str:
        """Return the sentences, each of which has something of the question that better ones lack."""
        told = [item for block in self.blocks for item in split_sentences(unwrap_text_lines(block))]
        sentences = {item: self._asked.find_terms(item) for item in told if not item.endswith(NO_STATEMENT)}
        rates = {item: self._rate(own) for item, own in sentences.items()}
        chosen, seen = set[str](), frozenset[str]()
        for item in sorted(rates, key=lambda item: -rates[item]):
            if rates[item] and (not chosen or self._asked.weigh(sentences[item] - seen) >= _LEAST_GAIN):
                chosen.add(item)
                seen |= sentences[item]
        return " ".join(item for item in sentences if item in chosen)


def _name_block_form(text: str) -> Literal["code", "table", "list", "text"]:
    if text.lstrip().startswith(_CODE_STARTS):
        return "code"
    is_barred = text.count("|") > 1 and all("|" in line for line in text.split("\n") if _has_words(line))
    if is_barred or _COLUMNS.match(text):
        return "table"
    return "list" if _ITEM_START.match(f"\n{text}") else "text"


def _has_words(line: str) -> bool:
    return any(map(str.isalnum, line))


def _keep_inert_lines(block: str) -> str:
    """Return what of a block may be shown: tags and pictures would load, run or lay out something."""
    if find_link_problem([block], [block]) is None:
        return "" if _UNSEEN.fullmatch(block) else block
    if block.startswith(_FENCES):
        return ""
    said = (sentence for line in block.split("\n") for sentence in split_sentences(line))
    return "\n".join(sentence for sentence in said if find_link_problem([sentence], [block]) is None)


def _read_blocks(text: str) -> Iterator[str]:
    """Yield what blank lines part: a paragraph, a list, a table; code between fences is whole."""
    fences = [mark[1] for mark in _FENCE.finditer(text)]
    if next((at for at, mark in enumerate(fences) if mark not in _FENCES), len(fences)) % 2:
        text = text.partition(fences[0])[2]  # it begins in code, of which another chunk has the beginning
    block, lines = "", "\n".join(map(str.rstrip, text.split("\n")))
    for part in _ROW_GAP.sub(r"\1\n", lines).split("\n\n"):
        block = f"{block}\n\n{part}" if block else part.strip("\n")
        if block and len(_FENCE.findall(block)) % 2 == 0:
            yield block
            block = ""
    if block:
        yield f"{block}\n{_FENCE.findall(block)[-1][:3]}"
