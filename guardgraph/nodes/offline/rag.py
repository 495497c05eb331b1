"""The RAG agent's offline proposers: the question as query, an answer from the chunks' sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from guardgraph.guards import rag as guards
from guardgraph.guards.removal import leans_on_text_before
from guardgraph.guards.stop import Stop
from guardgraph.guards.turned import check_turned_sentences
from guardgraph.languages.language import detect_language
from guardgraph.languages.sentences import split_sentences, unwrap_text_lines
from guardgraph.languages.terms import read_terms
from guardgraph.nodes.offline.prose import is_cut_off, is_fragment
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import ContextChunk, RagPolicy
from guardgraph.world.call import mark_as_instant

if TYPE_CHECKING:
    from guardgraph.guards.facts.values import Number


Wanted: TypeAlias = Literal["duration", "time", "name", "number", "value", "term", "place", "list", ""]
"""What answers a question: how long or soon something is, when it is, who it is, any number; a default or a bound,
which may be a number or a term; a term, as *which option* asks for; a path; several things; blank for the others."""

_DURATION: Final = (
    r"how (?:long|fast|quick(?:ly)?|soon)|wie (?:lange|schnell|bald)|cuánto tiempo|combien de temps"
    r"|як (?:швидко|довго)|как (?:быстро|долго|скоро)"
)
_TIME: Final = r"when|(?:what|which) (?:\w+ )?(?:year|month|day|date|time)|wann|cuándo|quand|коли|когда"
_NAME: Final = r"who(?:m|se)?|wer|wem|wen|quién(?:es)?|qui|хто|кто"

_VALUE: Final = (
    r"(?:what(?:'s| is| are| was| were)|which(?: is| are)?) (?:the |its |their )?(?:\w+ )?"
    r"(?:default|max(?:imum)?|min(?:imum)?|largest|smallest|highest|lowest|longest|shortest|most|least|range|size|port)"
)
_CODE_KINDS: Final = (
    "argument|attribute|class|command|decorator|directive|exception|field|file|flag|function|header|key|method|module"
    "|option|parameter|program|queue|setting|signal|tool|type|utility|variable"
)
_TERM: Final = rf"which|what (?:is the (?:name of the |default )?)?(?=(?:\w+ )?(?:{_CODE_KINDS})\b)"
_PLACE: Final = r"where|(?:in |to |from )?(?:which|what) (?:directory|folder|path|location)"
_LIST: Final = r"(?:what|which) are (?:the |all )?|list (?:the |all )"

_ENGLISH: Final = (
    r"how (?:many|much|long|often|fast|quick(?:ly)?|soon|far|old|big|large|high|deep|wide|tall|late|early)|when"
    r"|(?:what|which) (?:\w+ )?(?:year|month|day|date|time|percent(?:age)?|share|rate|number|price|cost|amount|limit)"
)
_GERMAN: Final = (
    r"wann|wie ?viele?[nrms]?|wie (?:lange|oft|schnell|bald|weit|alt|groß|hoch|tief|breit|spät|teuer)"
    r"|welche[mnrs]? (?:jahr|monat|tag|datum|anteil|preis|zahl)"
)
_SPANISH: Final = r"cuándo|cu[áa]nt[oa]s?|qué (?:año|mes|día|fecha|hora|porcentaje|precio|número|plazo)|qué tan"
_FRENCH: Final = r"quand|combien|quel(?:le)?s? (?:année|mois|jour|date|heure|pourcentage|prix|nombre|délai|taux|durée)"
_UKRAINIAN: Final = (
    r"коли|скільки|як (?:швидко|довго|часто|далеко)|як(?:ий|ого|ому|ої|ій|ою) (?:рік|року|році|дата|дати|відсоток)"
)
_RUSSIAN: Final = (
    r"когда|сколько|скольких|как (?:быстро|долго|часто|далеко|скоро)"
    r"|как(?:ой|ого|ом|ая|ую) (?:год|году|года|дата|дату|процент|число)"
)
_CHINESE: Final = r"多少|几|何时|什么时候|哪一?年|多久|多长|多快|多大|多高"
_HINDI: Final = r"कितन[ाेीों]+|कब"

_WORDS = re.compile(
    rf"(?<!\w)(?:{'|'.join((_ENGLISH, _GERMAN, _SPANISH, _FRENCH, _UKRAINIAN, _RUSSIAN))})(?!\w)|{_CHINESE}|{_HINDI}",
    re.IGNORECASE,
)

_KINDS: Final[dict[Wanted, re.Pattern[str]]] = {
    "duration": re.compile(rf"(?<!\w)(?:{_DURATION})(?!\w)", re.IGNORECASE),
    "time": re.compile(rf"(?<!\w)(?:{_TIME})(?!\w)", re.IGNORECASE),
    "name": re.compile(rf"(?<!\w)(?:{_NAME})(?!\w)", re.IGNORECASE),
    "number": _WORDS,
    "value": re.compile(rf"(?<!\w)(?:{_VALUE})(?!\w)", re.IGNORECASE),
    "place": re.compile(rf"(?<!\w)(?:{_PLACE})(?!\w)", re.IGNORECASE),
    "list": re.compile(rf"(?<!\w)(?:{_LIST})", re.IGNORECASE),
    "term": re.compile(rf"(?<!\w)(?:{_TERM})(?!\w)", re.IGNORECASE),
}

_DEFAULTS: Final = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_CODE_TERM: Final = re.compile(
    r"`[^`\n]+`|(?<![\w-])--?[a-z][\w-]+|\b[A-Z][A-Z0-9]*(?:[ _-][A-Z0-9]+)*\b|\b\w+(?:[_.]\w+)+\b|\b[a-z]\w*\(\)"
    r"|\b[A-Z][a-z]+[A-Z]\w*|\b[a-z]+[A-Z]\w*"
)
"""What is written as a name of code: in backticks, an option, capitals, a dotted or joined word."""


_PATH: Final = re.compile(r"(?<![\w/:.<])~?/[\w.@-]+(?:/[\w.@-]*)*|\b[A-Z]:\\\w")
"""A folder or a file of Unix or Windows."""


def find_wanted_kind(question: str) -> Wanted:
    """Say what answers a question, by its interrogative, in English or one of the languages listed here."""
    found = {kind: match.start() for kind, words in _KINDS.items() if (match := words.search(question))}
    return min(found, key=found.__getitem__, default="")


_LASTS = frozenset({"time", "calendar"})
"""Dimensions of durations: of seconds, and of months, whose length differs."""
_TIMES = frozenset({"date", "clock", "weekday", "decade"})


def score_sentence_fit(text: str, kind: Wanted, question: str) -> int:
    """Say how well a sentence fits a question, by what it says and the question does not.

    Args:
        text: the sentence.
        kind: what the question wants.
        question: the question.

    Returns:
        2 for a sentence that has what is wanted, 1 for one with a number of another kind, else 0. A duration tells
        when ("within 14 days"), and a time how long something lasts.
    """
    if kind == "name":
        return 2 if _find_unasked_names(text, question) else 0
    if kind == "place":
        return 2 if any(path[0] not in question for path in _PATH.finditer(text)) else 0
    if kind == "list":
        return 2 if "\n- " in text else 0
    if kind == "term":
        return 2 if _has_unasked_term(text, question) else 0
    new = _find_sentence_numbers(text) - _find_sentence_numbers(question) if kind else frozenset()
    if kind == "value" and not new and _DEFAULTS.search(text) and _has_unasked_term(text, question):
        return 2
    if not new:
        return 0
    return 2 if kind in ("number", "value") or any(map(_is_time_number, new)) else 1


def _has_unasked_term(text: str, question: str) -> bool:
    asked = question.casefold()
    return any(match[0].strip("`").casefold() not in asked for match in _CODE_TERM.finditer(text))


def _find_sentence_numbers(text: str) -> frozenset[Number]:
    from guardgraph.guards.facts import facts_in_text  # the largest part of an import

    return facts_in_text(text).numbers


def _find_unasked_names(text: str, question: str) -> list[str]:
    from guardgraph.guards.names import find_unsupported_names  # reads tables of languages

    return find_unsupported_names(text, cited=[question])


def _is_time_number(number: Number) -> bool:
    from guardgraph.guards.facts.values import Quantity

    return any(
        reading.unit.dimension in _LASTS if isinstance(reading, Quantity) else getattr(reading, "kind", "") in _TIMES
        for reading in number.readings
    )


QUERY_CHARS = 240
"""max_query_chars of the default budget, where the view does not say."""

_INSUFFICIENT: Final[JsonObject] = {"answer": "", "citations": [], "insufficient": True}
_RANKED: Final = 20
"""From which a chunk's rank is taken: what was found first is preferred a little."""
_PRECISION: Final = 1000
"""Weights are whole numbers, so that the order of adding changes nothing."""
_PREFERENCE: Final = 4
"""To which a fit of 0 to 2 is added: a sentence that has what is wanted counts half as much again."""
_FITS: Final = 2
"""The fit of a sentence that has what is wanted."""
_LEAST_GAIN: Final = 0.2
"""What a further sentence covers of the question at least, as a share of its weight."""
_TRIES: Final = 16
"""Sentences that are tried at most, those that the guards would refuse among them."""
_MARKER = re.compile(r"\A\s*(?:(?:[-*+•>]|#+|\(?\d{1,3}[.)])\s+)+")
_RULES: Final = " \t|:=-"
"""What a rule under a table's head, or under a heading, is made of."""
_ASKS: Final = ("?", "？", "؟")
_EMPHASIS: Final = "*_"
"""What Markdown puts around a line that it stresses."""
_LEADS: Final = (*_ASKS, ":", "：", "...", "…")
"""What a line ends with that only leads to the lines behind it, or trails off."""
_FENCES: Final = ("```", "~~~")
_PROMPT: Final = re.compile(r"\s*(?:>>>|\.\.\.(?!\w)|\$ ?[a-z])")
"""What lines of code begin with that stand without a fence."""
_LONGEST_LED: Final = 600
"""Characters of a lead-in with the list or the code that it leads to."""
_LONGEST_LABEL: Final = 80
"""Characters of a term that a paragraph explains."""
_LABEL_WORDS: Final = 4
"""Words of such a term at most where a colon ends it; more lead to what stands behind them."""
_LABEL_ENDS: Final = ">])`*\"':"
"""What a term ends with beside letters and digits; code ends otherwise."""
_POINTS: Final = re.compile(r"(?:please )?(?:see|refer to) .{1,100}\Z", re.IGNORECASE)
"""A sentence that only says where else to read."""
_CODE_LINE: Final = re.compile(r"\A(?:from \S+ )?import |\A@|\A(?:def|class|return) |\w\([^)]*['\"=]| = |[{};]")
"""A line of code, by what prose does not have: it is no term."""
_PASSAGE: Final = 600
"""Characters of the sentences that are taken together with the best one."""
_OFTEN_MORE: Final = ("value", "place")
"""Kinds where a sentence that has what is wanted may have another such thing; the next ones often say which holds."""
_SHORT_PASSAGE: Final = 320
"""Characters of such a paragraph where nothing says that its other sentences are wanted."""
_AROUND: Final = 3
"""Sentences behind the best one, or before it, that are looked at for what is wanted."""
_UNSPACED_END: Final = ("。", "！", "？", "｡")
_END: Final = (*".!?…।۔؟:;,", *(f"{mark}{close}" for mark in ".!?" for close in "\"'”’»)"))


@mark_as_instant
def plan_offline_retrieval(view: JsonObject) -> JsonObject:
    """Propose to retrieve by the question itself, or by as many of its content words as a query may have.

    Args:
        view: ``{question, available_sources}``, and the run's limits, ``{top_k, max_query_chars}``, where they are
            known.

    Returns:
        A retrieval intent that leaves the sources to the policy; it asks for `top_k` candidates.
    """
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


@dataclass(frozen=True, slots=True)
class _ChunkLine:
    """A sentence of the context."""

    rank: int
    """Its chunk's."""
    text: str
    own: frozenset[str]
    """The question's terms that it has."""
    inherited: frozenset[str]
    """Those that only the title, the section, or the question, heading or table's head before it have."""
    fit: int
    """How well it answers what the question wants."""
    at: int
    """Which of its chunk's parts it is."""
    paragraph: int
    """Which of its chunk's lines it is in."""
    label: str
    """The term, the option or the heading in the text that it says something about; blank where there is none."""


@mark_as_instant
def write_offline_answer(view: JsonObject) -> JsonObject:
    """Propose the sentences that say most about the question, word for word.

    Sentences are taken one by one, each the one that covers most of what none before it covers: a term weighs the more
    the fewer sentences of the context have it, and half where only the words above the sentence have it. Where a
    question asks how long, when, who or how much, a sentence that says so counts half as much again. A sentence that
    asks, or that the guards would refuse, is passed over. What stands under a term is said with the term.

    Args:
        view: ``{question, context_chunks}``, the chunks best first; and ``sentence_citations`` where every sentence
            must be marked with what it cites.

    Returns:
        ``{answer, citations}``; the answer reads in the chunks' order and cites exactly the chunks it takes from. Or
        ``{answer, citations, insufficient}`` where no sentence covers the question.
    """
    question: str = view["question"]
    chunks = [_parse_shown_chunk(item) for item in view["context_chunks"]]
    language = detect_language("\n".join(chunk["text"] for chunk in chunks))
    asked = frozenset(read_terms(question, language))
    lines = list(_read_context_lines(question, asked, language, chunks))
    marked = view.get("sentence_citations") is True
    chosen = _choose_answer_sentences(question, asked, chunks, lines, marked=marked)
    whole = sorted({*chosen, *_choose_passage(question, language, lines, chosen)})
    for taken in (whole, sorted(chosen), chosen[:1]):
        used = list(dict.fromkeys(lines[place].rank for place in taken))
        text = _join_answer_lines([lines[place] for place in taken], chunks if marked else None)
        if taken and _is_supported_answer(text, question, [chunks[rank] for rank in used], chunks, marked=marked):
            return {"answer": text, "citations": list(dict.fromkeys(chunks[rank]["doc_id"] for rank in used))}
    return _INSUFFICIENT


def _parse_shown_chunk(item: JsonObject) -> ContextChunk:
    """Return a chunk as the guards read it; an answerer is not shown where it comes from and how relevant it is."""
    return ContextChunk(
        doc_id=item["doc_id"],
        source="",
        title=item["title"],
        section=item["section"],
        updated_at=item["updated_at"],
        text=item["text"],
        score=1.0,
    )


def _read_context_lines(
    question: str, asked: frozenset[str], language: str, chunks: list[ContextChunk]
) -> Iterator[_ChunkLine]:
    """Read the context as what may be said alone: sentences, items, rows, and lists and code behind what leads to them.

    Lines that were broken to a width are joined before. Code without such a lead-in is passed over, and so is what is
    only a part of a sentence.
    """
    kind = find_wanted_kind(question)
    for rank, chunk in enumerate(chunks):
        above = asked.intersection(read_terms(f"{chunk['title']}\n{chunk['section']}", language))
        led: frozenset[str] = frozenset()
        heading = _read_heading_term(chunk, question) if kind == "term" else ""
        label = ""
        parts = list(_read_text_parts(unwrap_text_lines(chunk["text"])))
        for at, (part, following) in enumerate(pairwise([*parts, _TextPart("", is_item=False)])):
            text, is_header = part.text, _is_ruled_line(following.text)
            own = asked.intersection(read_terms(text, language))
            is_lead = not part.is_code and text.rstrip(_EMPHASIS).endswith(_LEADS)
            if _is_label(parts, at) and not is_fragment(text, language):
                led, label = own, text.removesuffix(":")
                continue
            if is_lead or is_header:
                led, label = own, ""
            if is_lead:
                text = _join_led_parts(part, parts[at + 1 :])
            elif (
                is_header
                or part.is_code
                or _is_ruled_line(text)
                or _is_part_cut(parts, at, language)
                or _POINTS.match(text)
            ):
                continue
            if text:
                text = _say_with_label(text, label or heading)
                fit = score_sentence_fit(text, kind, question) if own else 0
                yield _ChunkLine(rank, text, own, (above | led) - own, fit, at, part.line, label)


class _TextPart(NamedTuple):
    """A sentence, an item, a row, or a whole block of code."""

    text: str
    is_item: bool
    is_code: bool = False
    line: int = 0
    """Of the unwrapped text, where a line is a paragraph, an item or a row."""


def _read_text_parts(text: str) -> Iterator[_TextPart]:
    """Read a text as sentences, list markers taken off, and blocks of code."""
    code: list[str] = []
    fence = ""
    for number, line in enumerate(text.split("\n")):
        mark = line.strip()[:3]
        if fence or mark in _FENCES or _PROMPT.match(line):
            code.append(line.rstrip())
            fence = "" if fence and mark == fence else fence or (mark if mark in _FENCES else "")
            if fence or mark not in _FENCES:
                continue
        if code:
            yield _TextPart("\n".join(code), is_item=False, is_code=True, line=number)
            code = []
        if mark not in _FENCES:
            is_item = _MARKER.match(line) is not None
            sentences = (" ".join(_MARKER.sub("", item, count=1).split()) for item in split_sentences(line))
            yield from (_TextPart(item, is_item, line=number) for item in sentences if item)
    if code:
        yield _TextPart("\n".join(code), is_item=False, is_code=True)


def _join_led_parts(lead: _TextPart, following: list[_TextPart]) -> str:
    """Return a lead-in with the list or the code that it leads to; nothing where there is none, or a long one."""
    if lead.text.rstrip(_EMPHASIS).endswith(_ASKS) or not following:
        return ""
    if following[0].is_code:
        led = [following[0].text]
    else:
        items = [[*of] for _, of in groupby(takewhile(lambda part: part.is_item, following), key=attrgetter("line"))]
        led = [f"- {' '.join(part.text for part in item)}" for item in items]
        if len("\n".join([lead.text, *led])) > _LONGEST_LED:
            led = [f"- {item[0].text}" for item in items]
    whole = "\n".join([lead.text, *led])
    return whole if led and len(whole) <= _LONGEST_LED else ""


def _is_label(parts: list[_TextPart], at: int) -> bool:
    """Say whether a part is a line of its own, and no sentence, behind which something is said: a term, an option."""
    part = parts[at]
    return (
        not part.is_item
        and not part.is_code
        and len(part.text) <= _LONGEST_LABEL
        and (not part.text.endswith(_END) or _is_colon_label(parts, at))
        and (at == 0 or parts[at - 1].line != part.line)
        and at + 1 < len(parts)
        and parts[at + 1].line != part.line
        and not _is_ruled_line(part.text)
        and "|" not in part.text
        and ": " not in part.text
        and (part.text[-1].isalnum() or part.text[-1] in _LABEL_ENDS)
        and not part.text.isdecimal()
        and not _CODE_LINE.search(part.text)
    )


def _is_colon_label(parts: list[_TextPart], at: int) -> bool:
    """Say whether a few words with a colon stand before a paragraph, as in a list of definitions."""
    following = parts[at + 1 : at + 2]
    return (
        parts[at].text.endswith(":")
        and len(parts[at].text.split()) <= _LABEL_WORDS
        and bool(following)
        and not following[0].is_item
        and not following[0].is_code
    )


def _read_heading_term(chunk: ContextChunk, question: str) -> str:
    """Return the last heading above a chunk where it is a term, which its text often does not repeat.

    It is one word that reads like a name of code, or a name with the kind of thing that the question asks for
    (*Listen Directive*).
    """
    heading = chunk["section"].rpartition(" > ")[2]
    _, _, kind = heading.partition(" ")
    if not kind:
        return heading if not heading[:1].isupper() or _CODE_TERM.fullmatch(heading) else ""
    is_asked = re.fullmatch(_CODE_KINDS, kind, re.IGNORECASE) and kind.casefold() in question.casefold()
    return heading if is_asked else ""


def _say_with_label(text: str, label: str) -> str:
    return text if not label or label in text else f"{label}: {text}"


def _is_part_cut(parts: list[_TextPart], at: int, language: str) -> bool:
    """Say whether a part is no sentence, or goes on with a line that is none."""
    before = parts[at - 1] if at else None
    return is_fragment(parts[at].text, language) or bool(before and not before.is_item and is_cut_off(before.text))


def _is_ruled_line(line: str) -> bool:
    return len(line) > 1 and not line.strip(_RULES)


def _choose_answer_sentences(
    question: str, asked: frozenset[str], chunks: list[ContextChunk], lines: list[_ChunkLine], *, marked: bool
) -> list[int]:
    """Return the places of the sentences that answer, the best first."""
    holders = Counter(term for line in lines for term in line.own)
    weights = {term: round(_PRECISION * math.log(1 + len(lines) / (holders[term] + 0.5))) for term in asked}
    whole, open_terms = sum(weights.values()), set(asked)

    def rate_answer_sentence(place: int) -> int:
        line = lines[place]
        own = sum(weights[term] for term in line.own & open_terms)
        inherited = sum(weights[term] for term in line.inherited & open_terms)
        many = 1 + len(line.own & open_terms)
        return (2 * own + inherited) * many * (_PREFERENCE + line.fit) * (_RANKED - line.rank) if own else 0

    chosen: list[int] = []
    rest = list(range(len(lines)))
    for _ in range(min(len(rest), _TRIES)):
        best = max(rest, key=rate_answer_sentence)
        rest.remove(best)
        gain = sum(weights[term] for term in lines[best].own & open_terms)
        if not gain or (chosen and gain < _LEAST_GAIN * whole):
            break
        text = _join_answer_lines([lines[best]], chunks if marked else None)
        if any(lines[best].text in lines[place].text or lines[place].text in lines[best].text for place in chosen):
            continue
        if _is_supported_answer(text, question, [chunks[lines[best].rank]], chunks, marked=marked):
            chosen.append(best)
            open_terms -= lines[best].own
    return chosen


def _choose_passage(question: str, language: str, lines: list[_ChunkLine], chosen: list[int]) -> list[int]:
    """Return the sentences around the best one that say what that one leaves open; nothing where none does.

    A question that wants a name, a time, a number or a term is often answered by a sentence near by, which does not
    repeat its words: the sentences up to that one are taken. To any other, what goes on from the best sentence
    ("They lack ...") belongs.
    """
    kind = find_wanted_kind(question)
    if not chosen:
        return []
    best = chosen[0]
    behind, before = (list(_walk_from_line(lines, best, step)) for step in (1, -1))
    of_paragraph = [place for place in behind if lines[place].paragraph == lines[best].paragraph]
    if any(lines[place].fit == _FITS for place in chosen):
        return _limit_passage(lines, best, of_paragraph) if len(chosen) == 1 and kind in _OFTEN_MORE else []
    if not kind or kind == "list":
        return list(takewhile(lambda place: leans_on_text_before(lines[place].text, language), behind[:1]))
    for near in (behind, before):
        for count, place in enumerate(near, start=1):
            if score_sentence_fit(lines[place].text, kind, question) == _FITS:
                return near[:count]
    return of_paragraph


def _limit_passage(lines: list[_ChunkLine], best: int, places: list[int]) -> list[int]:
    """Return the first of some places, as many as make a short paragraph with the best sentence."""
    chars, taken = len(lines[best].text), list[int]()
    for place in places:
        chars += len(lines[place].text)
        if chars > _SHORT_PASSAGE:
            break
        taken.append(place)
    return taken


def _walk_from_line(lines: list[_ChunkLine], place: int, step: int) -> Iterator[int]:
    """Yield the places beside a sentence, one way, as long as they are about the same and short enough together."""
    chars = len(lines[place].text)
    for nearby in range(place + step, place + step * (_AROUND + 1), step):
        if not 0 <= nearby < len(lines):
            return
        here, last = lines[nearby], lines[nearby - step]
        chars += len(here.text)
        if (here.rank, here.at, here.label) != (last.rank, last.at + step, last.label) or chars > _PASSAGE:
            return
        yield nearby


def _is_supported_answer(
    text: str, question: str, cited: list[ContextChunk], packed: list[ContextChunk], *, marked: bool
) -> bool:
    """Say whether the guards let a text pass that cites these chunks."""
    try:
        if marked:
            text, marks = guards.read_citation_marks(text, packed)
            said = guards.read_marked_sentences(text, marks, ())
            guards.check_cited_sentences(text, said, question=question, chunks=packed, policy=RagPolicy())
        guards.check_cited_links(text, question=question, chunks=cited, policy=RagPolicy())
        guards.check_cited_numbers(text, question=question, chunks=cited)
        guards.check_cited_names(text, question=question, chunks=cited, packed=packed)
        check_turned_sentences(text, [chunk["text"] for chunk in cited], question=question)
    except Stop:
        return False
    return True


def _join_answer_lines(lines: list[_ChunkLine], marked_by: list[ContextChunk] | None) -> str:
    """Join sentences as their script does, with marks of these chunks; a line that no mark ends stays a line."""
    joined, before = "", ""
    for line in lines:
        between = "" if not before or before.endswith(_UNSPACED_END) else " " if before.endswith(_END) else "\n"
        joined += between + (
            line.text if marked_by is None else _mark_answer_sentences(line.text, marked_by[line.rank]["doc_id"])
        )
        before = line.text
    return joined


def _mark_answer_sentences(text: str, doc_id: str) -> str:
    """Mark a text behind every sentence that it may be read as, out of its context."""
    return " ".join(f"{sentence} [{doc_id}]" for sentence in split_sentences(text))
