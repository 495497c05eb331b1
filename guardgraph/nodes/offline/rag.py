"""The RAG agent's offline proposers: the question as query, and the passages at which a reader would stop."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

from guardgraph.grounding.empty import is_empty_text
from guardgraph.grounding.marks import mark_each_sentence
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, get_terms_reader, list_word_keys, read_terms
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.links import has_supported_links
from guardgraph.guards.rag import answer as answer_guards
from guardgraph.guards.stop import Stop
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import RagBudget, RagPolicy
from guardgraph.world.call import mark_as_instant

_ENDS: Final = " \t\n?!.,;:¿¡？！。"
_EXPLETIVE: Final = re.compile(r"\bit\b[^?.]*\bto\s+\w", re.IGNORECASE)
"""English alone: "it" that stands for what follows ("How long does it take to get a refund?")."""
_FEWEST_TERMS: Final = 2  # terms that a question has which stands alone, in a language without a list of words that ask


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


PASSAGE_CHARS: Final = 1200  # characters after which a passage takes in no more, except code that it leads to
_ENOUGH_CHARS, _NEAR_CHARS = 400, 300
"""Up to which a passage takes in more, however long that is, and begins where its section does."""
_MOST_PASSAGES, _MOST_ROWS = 2, 4
_SHORT_CHARS: Final = 320  # a chunk of prose up to which, in a context of such, the sentences that answer stand alone
_LEAST_COVER, _ON_TOPIC = 0.5, 0.5
"""What a chunk with its headings has of the question's terms at least, words of code half; and what headings have of
a question whose answer begins where the section does."""
_LEAST_GAIN: Final = 0.2
"""What a further sentence has of the question that none before it has, as a share of its weight."""
_RANKED: Final = 20  # from which a chunk's rank is taken: what was found first is preferred a little
_LIKE, _WEAK, _PREFERRED, _FITTING, _RUNNER_UP = 1.5, 0.5, 1.2, 1.5, 0.6
"""What a heading that is the question counts, and words of code; by how much a chunk with code, and a number for a
quantity, is preferred; and how well a row or a passage answers beside the best one at least."""
_FENCES: Final = ("```", "~~~")
_FENCE: Final = re.compile(r"^ *((?:```|~~~).*?) *$", re.MULTILINE)
_ROW_GAP: Final = re.compile(r"^(\|.*)\n\n(?=\|)", re.MULTILINE)  # the blank line between two rows of a page's table
_COLUMNS: Final = re.compile(r"=+(?: +=+)+$", re.MULTILINE)  # the line above a simple table of reStructuredText
_MARKER: Final = re.compile(r"[^\S\n]*(?:[-*+•]|\d{1,3}[.)])\s")
_ITEM_START: Final = re.compile(rf"\n(?={_MARKER.pattern})")
_UNSEEN: Final = re.compile(
    r"(?:[-*•\s]*(?:\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\]|:\s*\S+)|<?https?://\S+>?|\([\w-]+\)=)[.,\s]*)++"
    r"|(`{3,}|:{3,})\{.*(?:\n(?:[:.].*|\s*))*\n\1"
)
"""Links alone; and of MyST the targets of links, and directives without a text."""
_NAME: Final = re.compile(r"(?<![\w-])--?\w[\w-]*|(?<!\w)\w+(?:[_.]\w+)+")
"""A name of code, which a text has letter by letter or not at all: an option, or one with an underscore or a point."""
_NUMBER: Final = re.compile(r"(?<!\w)\d|[一二三四五六七八九十百千]")
_NO_STATEMENT: Final = ("?", "？", "؟", ":")
_QUANTITY: Final = re.compile(
    r"\bhow (?:long|many|much|fast|often|soon|quickly)\b|\bwhen\b|\bwann\b|\bwie (?:lange|viele?|oft|schnell)\b|\bcuánt"
    r"|\bcuándo\b|\bcombien\b|\bquand\b|\bскільки\b|\bколи\b|\bсколько\b|\bкогда\b|多少|几",
    re.IGNORECASE,
)
"""Questions that a number answers, in the languages of the tables."""


@mark_as_instant
def plan_offline_retrieval(view: JsonObject) -> JsonObject:
    """Propose to retrieve by the question itself, or by as many of its content words as a query may have."""
    query = " ".join(view["question"].split())
    limit = view.get("max_query_chars", RagBudget.model_construct().max_query_chars)
    if len(query) > limit:
        words = [word for word in query.split() if read_terms(word, detect_language(query))] or query.split()
        query = " ".join(words)[: limit + 1].rpartition(" ")[0] or words[0][:limit]
    asked: JsonObject = {"kind": "retrieve", "query": query}
    return {**asked, "top_k": view["top_k"]} if "top_k" in view else asked


class _Asked(NamedTuple):
    """A question as it is looked for."""

    weights: dict[str, float]  # its terms; one weighs the more the fewer blocks of the context have it
    read_terms: Callable[[str], tuple[str, ...]]
    wants_number: bool

    def weigh(self, terms: frozenset[str]) -> float:
        """Return the share of the question's weight that some of its terms have, 0 to 1."""
        return sum(self.weights.get(term, 0) for term in sorted(terms)) / (sum(self.weights.values()) or 1)

    def find_terms(self, text: str) -> frozenset[str]:
        """Return the terms of the question that a text has."""
        return frozenset(self.weights).intersection([*self.read_terms(text), *_NAME.findall(text)])


class _PassageBlock(NamedTuple):
    """What blank lines part: a paragraph, a list, a table; code between fences is whole."""

    text: str
    form: Literal["code", "table", "list", "text"]
    terms: frozenset[str]  # what it has of the question
    rate: float  # how well it answers, a table by its best row


class _Section(NamedTuple):
    """A chunk as it is skimmed."""

    chunk: Any
    headings: list[str]  # the title and the headings above it, each once
    headed: frozenset[str]  # what these have of the question
    blocks: list[_PassageBlock]
    is_short: bool  # whether it is some sentences of prose


@mark_as_instant
def write_offline_answer(view: JsonObject) -> JsonObject:
    """Propose what one or two chunks say that have most of the question, word for word, as a person would skim it."""
    chunks = [{**item, "source": "", "score": 1.0} for item in view["context_chunks"]]  # are not shown
    texts = [
        [text for block in _read_blocks(chunk["text"]) if (text := _keep_inert_lines(block, chunk))] for chunk in chunks
    ]
    asked = _read_question(view["question"], list(chain(*texts)))
    sections = [_read_section(asked, chunk, own) for chunk, own in zip(chunks, texts, strict=True)]
    rates = [_rate_section(asked, section) * (_RANKED - rank) for rank, section in enumerate(sections)]
    is_brief = all(section.is_short for section in sections)
    shown, answer, above = list[Any](), "", ""
    for rank in sorted(range(len(sections)), key=lambda rank: -rates[rank]):
        if not rates[rank] or len(shown) == (1 if is_brief else _MOST_PASSAGES):
            break
        if shown and rates[rank] < _RUNNER_UP * max(rates):
            break
        chunk, heading = chunks[rank], "" if is_brief else " > ".join(sections[rank].headings)
        passage = (_take_sentences if is_brief else _take_passage)(asked, sections[rank])
        if view.get("sentence_citations") is True:
            passage = mark_each_sentence(passage, chunk["doc_id"])
        parts = [answer, f"## {heading}" if heading != above else "", passage]
        longer = "\n\n".join(filter(None, parts))
        if passage and _may_be_said(longer, [*shown, chunk], view["question"]):
            answer, shown, above = longer, [*shown, chunk], heading
    return {"answer": answer, "citations": [chunk["doc_id"] for chunk in shown]} if shown else _INSUFFICIENT


_INSUFFICIENT: Final[JsonObject] = {"answer": "", "citations": [], "insufficient": True}


def _may_be_said(answer: str, chunks: list[Any], question: str) -> bool:
    """Say whether the guards let an answer pass that cites chunks."""
    policy = RagPolicy.model_construct()  # of defaults, which are right
    try:
        read = answer_guards.read_answer(answer, [chunk["doc_id"] for chunk in chunks], chunks, must_cite=False)
        checked = answer_guards.check_answer_sentences(read, task={"question": question}, workings=[], policy=policy)
    except Stop:
        return False
    return judge_answer(checked, policy).refusal is None and not is_empty_text(answer, echoes=[question])


def _read_question(question: str, blocks: Sequence[str]) -> _Asked:
    read = get_terms_reader(detect_language("\n".join(blocks)[:10_000]))
    terms = {*read(question), *_NAME.findall(question)}
    holders = Counter(term for block in blocks for term in terms.intersection([*read(block), *_NAME.findall(block)]))
    weights = {term: math.log(1 + len(blocks) / (holders[term] + 0.5)) for term in terms}
    return _Asked(weights, read, _QUANTITY.search(question) is not None)


def _read_section(asked: _Asked, chunk: JsonObject, texts: list[str]) -> _Section:
    headings = [*dict.fromkeys(filter(None, [chunk["title"], *chunk["section"].split(" > ")]))]
    headed = asked.find_terms("\n".join(headings))
    blocks = [_read_block(asked, text, headed) for text in texts]
    is_prose = all(block.form == "text" for block in blocks)
    return _Section(chunk, headings, headed, blocks, is_prose and len(chunk["text"]) <= _SHORT_CHARS)


def _read_block(asked: _Asked, text: str, headed: frozenset[str]) -> _PassageBlock:
    form = _name_block_form(text)
    own = asked.find_terms(text.partition("\n")[2] if text.startswith(_FENCES) else text)
    best = max(map(asked.find_terms, text.split("\n")), key=asked.weigh) if form == "table" else own
    return _PassageBlock(text, form, own, _rate_passage(asked, text, best, headed) * (_WEAK if form == "code" else 1.0))


def _keep_inert_lines(block: str, chunk: JsonObject) -> str:
    """Return what of a block may be shown: tags and pictures would load, run or lay out something."""

    def is_inert(text: str) -> bool:
        marked = "<" in text or "![" in text
        return not marked or has_supported_links(text, cited=(chunk["text"],), policy=RagPolicy())

    if is_inert(block):
        return "" if _UNSEEN.fullmatch(block) else block
    if block.startswith(_FENCES):
        return ""
    lines = (
        line if is_inert(line) else " ".join(filter(is_inert, split_sentences(line))) for line in block.split("\n")
    )
    return "\n".join(filter(None, lines))


def _read_blocks(text: str) -> Iterator[str]:
    fences = [mark[1] for mark in _FENCE.finditer(text)]
    if next((at for at, mark in enumerate(fences) if mark not in _FENCES), len(fences)) % 2:
        text = text.partition(fences[0])[2]  # it begins in code, of which another chunk has the beginning
    lines, fence = list[str](), ""
    for line in _ROW_GAP.sub(r"\1\n", text).split("\n"):
        if lines and not line.strip() and not fence:
            yield "\n".join(lines)
            lines = []
        elif line.strip() or fence:
            lines.append(line.rstrip())
        if (mark := line.strip()[:3]) in _FENCES:
            fence = "" if mark == fence else fence or mark
    if lines:
        yield "\n".join([*lines, *filter(None, [fence])])


def _rate_section(asked: _Asked, section: _Section) -> float:
    """Return how well a chunk answers, by its best block and as a whole, with its headings; 0 where it does not."""
    said = section.headed.union(*(block.terms for block in section.blocks if block.form != "code"))
    coded = frozenset[str]().union(*(block.terms for block in section.blocks)) - said
    least = _LEAST_COVER / 2 if section.is_short else _LEAST_COVER
    best = max((block.rate for block in section.blocks), default=0.0)
    if not best or len(said) + _WEAK * len(coded) < least * len(asked.weights):
        return 0.0
    lines = [*section.headings[-1:], " ".join(section.headings)]
    told = [{*asked.read_terms(line), *_NAME.findall(line)} for line in lines]
    # How nearly a heading is the question: the Dice coefficient of their terms.
    alike = max(2 * len(terms & section.headed) / (len(terms) + len(asked.weights)) for terms in told)
    fits = asked.wants_number and any(_NUMBER.search(block.text) for block in section.blocks)
    shows = any(block.form == "code" for block in section.blocks)
    preferred = (_FITTING if fits else 1.0) * (_PREFERRED if shows else 1.0)
    return (best + asked.weigh(said) + _WEAK * asked.weigh(coded) + _LIKE * alike) * preferred


def _rate_passage(asked: _Asked, text: str, own: frozenset[str], headed: frozenset[str]) -> float:
    """Return what a block or a sentence has of the question; what its headings have counts half."""
    if not own and asked.weigh(headed) < _ON_TOPIC:  # a question of a FAQ is the heading of its answer
        return 0.0
    fits = asked.wants_number and _NUMBER.search(text)
    return (asked.weigh(own) + asked.weigh(headed - own) / 2) * (_FITTING if fits else 1.0)


def _take_passage(asked: _Asked, section: _Section) -> str:
    """Return the blocks of a chunk that are shown: from the best one, what leads to it, or where its section begins."""
    blocks = section.blocks
    best = max(range(len(blocks)), key=lambda at: blocks[at].rate)
    is_near = sum(len(block.text) for block in blocks[:best]) <= _NEAR_CHARS
    if blocks[best].form != "table" and (is_near or asked.weigh(section.headed) >= _ON_TOPIC):
        best = 0
    while best and (blocks[best].form in ("code", "list") or blocks[best - 1].text.endswith(":")):
        best -= 1
    taken, chars, has_code = list[str](), 0, False
    for block in blocks[best:]:
        is_led = bool(taken) and (taken[-1].endswith(":") or (block.form == "code" and not has_code))
        if chars > _ENOUGH_CHARS and not is_led and chars + len(block.text) > PASSAGE_CHARS:
            break
        taken.append(_cut_block(asked, block))
        chars, has_code = chars + len(taken[-1]), has_code or block.form == "code"
    while taken and taken[-1].endswith(":"):
        taken.pop()
    return "\n\n".join(taken)


def _name_block_form(text: str) -> Literal["code", "table", "list", "text"]:
    if text.lstrip().startswith((*_FENCES, "$ ", ">>> ")):
        return "code"
    is_barred = text.count("|") > 1 and all("|" in line for line in text.split("\n") if _has_words(line))
    if is_barred or _COLUMNS.match(text):
        return "table"
    return "list" if _MARKER.match(text) else "text"


def _has_words(line: str) -> bool:
    return any(map(str.isalnum, line))


def _cut_block(asked: _Asked, block: _PassageBlock) -> str:
    """Return a block that is short enough: its head with the best rows or items, or the first of its sentences."""
    if block.form == "code" or (len(block.text) <= PASSAGE_CHARS and block.form != "table"):
        return block.text
    if block.form == "table":
        rows, said = block.text.split("\n"), [_has_words(line) for line in block.text.split("\n")]
        head = next((at + 1 for at in range(1, len(rows)) if not said[at] and any(said[:at])), 1)
    else:
        rows, head = _ITEM_START.split(block.text), int(block.form != "list")
    if len(rows) == 1:
        sentences = unwrap_text_lines(block.text)[:PASSAGE_CHARS].rpartition(". ")[0]
        return f"{sentences}." if sentences else block.text[:PASSAGE_CHARS].rpartition("\n")[0]
    rates = [asked.weigh(asked.find_terms(row)) if _has_words(row) else -1.0 for row in rows[head:]]
    best = sorted(range(len(rates)), key=lambda at: (-rates[at], at))[:_MOST_ROWS]
    least = _RUNNER_UP * max(rates, default=0.0)
    return "\n".join([*rows[:head], *(rows[head + at] for at in sorted(best) if rates[at] >= least)])


def _take_sentences(asked: _Asked, section: _Section) -> str:
    """Return the sentences of a short chunk, each of which has something of the question that better ones lack."""
    told = [item for block in section.blocks for item in split_sentences(unwrap_text_lines(block.text))]
    sentences = [(item, asked.find_terms(item)) for item in told if not item.endswith(_NO_STATEMENT)]
    rates = [_rate_passage(asked, *sentence, section.headed) for sentence in sentences]
    chosen, seen = set[int](), frozenset[str]()
    for at in sorted(range(len(sentences)), key=lambda at: -rates[at]):
        own = sentences[at][1]
        if rates[at] and (not chosen or asked.weigh(own - seen) >= _LEAST_GAIN):
            chosen.add(at)
            seen |= own
    return " ".join(sentences[at][0] for at in sorted(chosen))
