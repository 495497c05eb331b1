"""What is taken out of an answer together with its refused sentences, so that what is left says what it said before.

With a sentence goes the whole list, table, code or procedure that it stands in, with its lead-in; what follows and
leans on it; and what stands before it that it restricts. Where the opening sentence, a negation or a limit would go,
nothing is taken out, and neither is from an answer in a language without word lists. Only words are read: where they
leave a doubt, more is taken out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Final, NamedTuple

from guardgraph.grounding.languages import list_hand_words
from guardgraph.grounding.quotes import find_quoting_sentences
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, load_function_words, read_terms
from guardgraph.guards.blocks import BlockKind, parse_blocks
from guardgraph.guards.facts.words import MONTHS, SMALL
from guardgraph.guards.stop import Stop
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject, excerpt_value
from guardgraph.plain.letters import normalise_to_nfkc

RemovedText = JsonObject

REMOVABLE: Final = frozenset({"invalid_answer:unsupported_number", "invalid_answer:unsupported_name"})
"""The refusals after which the rest of an answer may stand."""
SENTENCE_CHARS: Final = 280
"""Characters of a refused sentence that the evidence shows."""
_MOST_ROUNDS: Final = 12
"""How often what goes may draw more after it; an answer that hangs together beyond that is kept whole."""
_OPENING_WORDS: Final = 7
"""Words in which a sentence says what it goes on from."""
_LEAST_OPENING: Final = 3
"""Words behind which a comma does not yet end that: "Previously, they ..."."""
_NOUN_WORDS: Final = 2
"""Words behind an article that may be its noun, with what stands before it."""


class Rest(NamedTuple):
    """An answer without what was taken out of it."""

    text: str
    removed: list[RemovedText]
    kept: list[tuple[int, int, int]]
    """The sentences that are left, each ``(start, end)`` in the answer, and where it begins in the text."""

    def find_place(self, start: int) -> int | None:
        """Return where a place of the answer is in the text that is left, None where it was taken out."""
        at = bisect_right(self.kept, start, key=itemgetter(0)) - 1
        if at < 0 or start >= self.kept[at][1]:
            return None
        first, _, made = self.kept[at]
        return made + start - first


class KeptWhole(Exception):
    """Nothing can be taken out of an answer without a change of what the rest says; the message says why."""


# An answer's parts


class _AnswerSentence(NamedTuple):
    """A sentence of an answer, as it is read for what it leans on."""

    start: int
    end: int
    block: int
    words: tuple[str, ...]
    """In lower case; a comma or colon is a word of its own."""
    opening: frozenset[str]
    """The stems of the content words in which it says what it goes on from."""
    terms: frozenset[str]
    """Those of all its content words."""
    names: frozenset[str]
    """Those that are written with a capital inside it."""
    short: frozenset[str]
    """The short forms among them, such as IS: they say nothing to who was not told what they stand for."""


_TOKEN: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*|[,:;?]")
_INITIAL: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]\.$")
_NAME: Final = re.compile(r"(?<=[^\W_][ ,(])[ (\"']*([^\W\d_]*[A-ZÄÖÜА-ЯЁІЇЄҐ][\w-]*)")
_SHORT_FORM: Final = re.compile(r"\b[A-Z]{2,}\b")
_CONTRACTED: Final = re.compile(r"n['’]t\b", re.IGNORECASE)


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(_CONTRACTED.sub(" not", normalise_to_nfkc(text)).lower()))


def _join_initials(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sentences of which none ends in an initial, as of J.R.R. Tolkien: in doubt it is no end."""
    joined = list[tuple[int, int]]()
    for start, end in spans:
        if (
            joined
            and _INITIAL.search(text, max(joined[-1][1] - 4, 0), joined[-1][1])
            and "\n" not in text[joined[-1][1] : start]
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


class _ParsedAnswer:
    """An answer with its parts, and what is to go of it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.blocks = parse_blocks(text)
        self.lists = _load_lists(language)
        self.language = language
        self.sentences = [self._read_sentence(start, end, block) for start, end, block in self._place_sentences()]
        self.by_block: dict[int, list[int]] = {}
        for at, sentence in enumerate(self.sentences):
            self.by_block.setdefault(sentence.block, []).append(at)
        self.gone: dict[int, int] = {}
        """The sentences that go, each with the refused one for which it goes."""

    def _place_sentences(self) -> Iterator[tuple[int, int, int]]:
        block = 0
        for start, end in _join_initials(self.text, find_quoting_sentences(self.text)):
            while block < len(self.blocks) - 1 and self.blocks[block].end <= start:
                block += 1
            if end > self.blocks[block].end:
                raise KeptWhole("a sentence runs over the end of its paragraph")
            yield start, end, block

    def _read_sentence(self, start: int, end: int, block: int) -> _AnswerSentence:
        said = self.text[start:end]
        words = _split_words(said)
        parts = (
            " ".join(_list_opening(words)),
            said,
            " ".join(_NAME.findall(said)),
            " ".join(_SHORT_FORM.findall(said)),
        )
        opening, terms, names, short = (frozenset(read_terms(part, self.language)) for part in parts)
        return _AnswerSentence(start, end, block, words, opening, terms, names, short & terms)

    def kind_of(self, at: int) -> BlockKind:
        """Return the kind of the block that a sentence stands in."""
        return self.blocks[self.sentences[at].block].kind

    def ends_with(self, at: int, marks: str) -> bool:
        """Say whether a sentence ends with one of some marks, those of Markdown aside."""
        sentence = self.sentences[at]
        return self.text[sentence.start : sentence.end].rstrip("*_ ")[-1:] in tuple(marks)

    def find_gone(self, places: Iterable[int]) -> int | None:
        """Return the first of some sentences that goes."""
        return next((at for at in places if at in self.gone), None)

    def take(self, places: Iterable[int], cause: int) -> None:
        """Let sentences go, for the one that another goes for."""
        for at in places:
            self.gone.setdefault(at, self.gone[cause])


# What hangs together


class _Lists(NamedTuple):
    """Word lists of a language; a phrase is its words."""

    leaning: frozenset[tuple[str, ...]]
    echoes: frozenset[tuple[str, ...]]
    restricting: frozenset[tuple[str, ...]]
    aside: frozenset[tuple[str, ...]]
    limits: frozenset[tuple[str, ...]]
    bounds: frozenset[tuple[str, ...]]
    """Words before an amount or a date that make a limit of it: *under 14*, *until 9 May*."""
    spans: frozenset[tuple[str, ...]]
    """Those that make one of what is to be done, and a fact of what is so: *send it within 30 days*."""
    stating: frozenset[tuple[str, ...]]
    """Verbs that state what is so: *is answered within 4 hours*."""
    idle: frozenset[tuple[str, ...]]
    steps: frozenset[tuple[str, ...]]
    announcing: frozenset[tuple[str, ...]]
    definite: frozenset[tuple[str, ...]]
    adding: frozenset[tuple[str, ...]]
    complements: frozenset[tuple[str, ...]]
    plain: frozenset[str]


@cache
def _load_lists(language: str) -> _Lists:
    own, opposites = load_word_lists("removal")[language], load_word_lists("opposites")[language]
    read = {name: _read_phrases(own[name]) for name in _Lists._fields if name in own}
    plain = list_hand_words("en", "stop_words") if language == DEFAULT_LANGUAGE else load_function_words(language)
    limits = read.pop("limits") | _read_phrases(opposites["denials"])
    idle = frozenset(phrase for phrase in _read_phrases(opposites["idle"]) if phrase[-1] != ",")
    return _Lists(**read, limits=limits, idle=idle, plain=plain)


def _read_phrases(lines: Iterable[str]) -> frozenset[tuple[str, ...]]:
    phrases = (phrase for line in lines for phrase in line.split(" | "))
    return frozenset(_split_words(phrase) for phrase in phrases if phrase[-1].isalnum() or phrase[-1] == ",")


def _count_phrase_words(words: Sequence[str], at: int, phrases: frozenset[tuple[str, ...]]) -> int:
    """Return how many words at a place are a phrase of a list, the longest; 0 where none begins there."""
    return next((length for length in range(4, 0, -1) if tuple(words[at : at + length]) in phrases), 0)


def _has_phrase(words: Sequence[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    return any(_count_phrase_words(words, at, phrases) for at in range(len(words)))


def _list_opening(words: Sequence[str]) -> list[str]:
    """Return the words in which a sentence says what it goes on from: seven at most, up to the comma behind four."""
    opening = list[str]()
    for word in words:
        if word not in ",:;?":
            opening.append(word)
        elif len(opening) > _LEAST_OPENING:
            break
        if len(opening) == _OPENING_WORDS:
            break
    return opening


def _leans(sentence: _AnswerSentence, lists: _Lists) -> bool:
    """Say whether a sentence begins with a pronoun, a connective or another word that stands for what was said."""
    if not sentence.words:
        return False
    opens = any(_count_phrase_words(sentence.words, 0, phrases) for phrases in (lists.leaning, lists.restricting))
    comma = sentence.words.index(",") + 1 if "," in sentence.words else len(sentence.words)
    begun = (_list_opening(sentence.words), sentence.words[comma : comma + 2])  # "Despite the fall, he ..."
    return opens or any(_has_phrase(words, lists.echoes) for words in begun)


def leans_on_text_before(text: str, language: str) -> bool:
    """Say whether a sentence begins with a pronoun, a connective or what restricts, so that it goes on from another.

    Args:
        text: the sentence.
        language: an ISO 639-1 code; of one without word lists none does.
    """
    if language not in load_word_lists("removal"):
        return False
    lists, words = _load_lists(language), _split_words(text)
    return any(_count_phrase_words(words, 0, phrases) for phrases in (lists.leaning, lists.restricting))


def _restricts(sentence: _AnswerSentence, lists: _Lists) -> bool:
    """Say whether a sentence restricts what stands before it: *however*, *but*, *unless*, *note*."""
    words = sentence.words
    if _count_phrase_words(words, 0, lists.restricting):
        return True
    return any(word == "," and _count_phrase_words(words, at + 1, lists.aside) for at, word in enumerate(words))


def _negates_or_limits(sentence: _AnswerSentence, lists: _Lists) -> bool:
    """Say whether a sentence denies or limits something; what restricts the one before it goes together with that."""
    at = _count_phrase_words(sentence.words, 0, lists.restricting)
    bounding = lists.bounds if _has_phrase(sentence.words, lists.stating) else lists.bounds | lists.spans
    while at < len(sentence.words):
        if idle := _count_phrase_words(sentence.words, at, lists.idle):
            at += idle
        elif _count_phrase_words(sentence.words, at, lists.limits) or _bounds_amount(sentence.words, at, bounding):
            return True
        else:
            at += 1
    return False


def _bounds_amount(words: Sequence[str], at: int, bounding: frozenset[tuple[str, ...]]) -> bool:
    """Say whether a limit of an amount, an age or a time begins at a word: *under the age of 14*, *until 9 May*."""
    length = _count_phrase_words(words, at, bounding)
    behind = words[at + length : at + length + _BOUNDED] if length else ()
    return any(word[0].isdecimal() or word in SMALL or word in MONTHS for word in behind)


_BOUNDED: Final = 4
"""Words behind a word of a limit among which its amount stands."""


def _list_definite_nouns(sentence: _AnswerSentence, answer: _ParsedAnswer) -> Iterator[frozenset[str]]:
    """Yield the stems of the definite nouns of a sentence, but for those that say themselves what they are of."""
    lists, words = answer.lists, sentence.words
    for at, word in enumerate(words):
        if (word,) not in lists.definite:
            continue
        noun = list(
            takewhile(lambda each: each not in lists.plain and each[0].isalnum(), words[at + 1 : at + 1 + _NOUN_WORDS])
        )
        behind = words[at + 1 + len(noun) : at + 2 + len(noun)]
        if noun and behind not in lists.complements:
            yield frozenset(read_terms(" ".join(noun), answer.language))


def _take_whole_blocks(answer: _ParsedAnswer) -> None:
    """A list, a table and code go as a whole, with their lead-in; without a lead-in, so does what it announces."""
    for block, places in answer.by_block.items():
        lead = _find_lead_in(answer, block, places[0])
        if answer.blocks[block].kind in ("paragraph", "heading"):
            _take_announced(answer, places, lead)
            continue
        whole = places if lead is None else [lead, *places]
        if (cause := answer.find_gone(whole)) is not None:
            answer.take(whole, cause)


def _take_announced(answer: _ParsedAnswer, places: Sequence[int], lead: int | None) -> None:
    """In a paragraph, what a colon announces goes with its lead-in, and the lead-in with what comes first."""
    announced = list[int]()
    for at in places:
        words = answer.sentences[at].words
        told = words[: words.index(":")] if ":" in words else ()
        if announced or answer.ends_with(at, ":：") or _has_phrase(told, answer.lists.announcing):
            announced.append(at)
    if (cause := answer.find_gone(announced)) is not None:
        answer.take(announced, cause)
    if lead is not None and (cause := answer.find_gone([lead, places[0]])) is not None:
        answer.take([lead, *places], cause)


def _find_lead_in(answer: _ParsedAnswer, block: int, first: int) -> int | None:
    """Return the sentence that announces a block: by a colon; a list also by its words, or from the line before."""
    at = first - 1
    if at < 0 or answer.kind_of(at) != "paragraph" or answer.sentences[at].block != block - 1:
        return None
    if answer.ends_with(at, ":："):
        return at
    if answer.blocks[block].kind in ("paragraph", "heading"):
        return None
    is_near = answer.text[answer.sentences[at].end : answer.blocks[block].start].count("\n") == 1
    return at if is_near or _has_phrase(answer.sentences[at].words, answer.lists.announcing) else None


def _take_steps(answer: _ParsedAnswer) -> None:
    """Steps that a paragraph tells one after another go as a whole, with the sentence that announces them."""
    for places in answer.by_block.values():
        steps = [at for at in places if _count_phrase_words(answer.sentences[at].words, 0, answer.lists.steps)]
        told = range(steps[0], steps[-1] + 1) if len(steps) > 1 else ()
        if (cause := answer.find_gone(told)) is None:
            continue
        answer.take(told, cause)
        before = steps[0] - 1
        if before in places and _has_phrase(answer.sentences[before].words, answer.lists.announcing):
            answer.take([before], cause)


def _take_followers(answer: _ParsedAnswer, beside: frozenset[str]) -> None:
    """What follows goes if it leans on what went, or on a noun, a name or a short form that only that introduced."""
    said, went, named = set(beside), dict[str, int](), dict[str, int]()
    just: int | None = None  # the sentence before, where it goes
    in_block: int | None = None  # the last one in the same block that goes
    for at, sentence in enumerate(answer.sentences):
        if at > 0 and sentence.block != answer.sentences[at - 1].block:
            in_block = None
        cause = in_block if just is None else just
        if at not in answer.gone and went:
            nouns = list(_list_definite_nouns(sentence, answer))
            of_went = {term for noun in nouns for term in noun if term in went}
            is_next = just is not None and answer.sentences[just].block == sentence.block
            of_named = sentence.opening | sentence.short if cause is not None else sentence.short
            introduced = (of_went | (of_named & named.keys())) - said
            if cause is not None and _leans_on_what_went(sentence, nouns, answer.lists, said, is_next=is_next):
                answer.take([at], cause)
            elif introduced:
                answer.take([at], min(went[term] for term in introduced))
        just = at if at in answer.gone else None
        in_block = in_block if just is None else just
        if just is None:
            said |= sentence.terms
        else:
            went |= {term: at for term in sentence.terms if term not in went}
            named |= dict.fromkeys(sentence.names, at)


def _leans_on_what_went(
    sentence: _AnswerSentence, nouns: Iterable[frozenset[str]], lists: _Lists, said: set[str], *, is_next: bool
) -> bool:
    """Say whether a sentence behind what went leans on it; right behind it, any *also* and unknown *the ...* does."""
    if _leans(sentence, lists):
        return True
    return is_next and (_has_phrase(sentence.words, lists.adding) or any(noun.isdisjoint(said) for noun in nouns))


def _take_restricted(answer: _ParsedAnswer) -> None:
    """What stands before a sentence that restricts it goes, with what that leans on; so does an answered question."""
    behind = None
    for at in range(len(answer.sentences) - 1, -1, -1):
        sentence = answer.sentences[at]
        if behind is not None:
            answer.take([at], behind)
        leads = at in answer.gone and (
            _restricts(sentence, answer.lists)
            or (behind is not None and _leans(sentence, answer.lists))
            or (at > 0 and sentence.block == answer.sentences[at - 1].block and answer.ends_with(at - 1, "?？؟"))
        )
        behind = at if leads else None


def _take_headings(answer: _ParsedAnswer) -> None:
    """A heading goes whose whole section went."""
    below: list[int] = []
    for at in range(len(answer.sentences) - 1, -1, -1):
        if answer.kind_of(at) != "heading":
            below.append(at)
            continue
        if below and all(each in answer.gone for each in below):
            answer.take([at], below[-1])
        below = []


def _spread_removal(answer: _ParsedAnswer, beside: frozenset[str]) -> None:
    for _ in range(_MOST_ROUNDS):
        before = len(answer.gone)
        _take_whole_blocks(answer)
        _take_steps(answer)
        _take_restricted(answer)
        _take_followers(answer, beside)
        _take_headings(answer)
        if len(answer.gone) == before:
            return
    raise KeptWhole("too much of it hangs together")


def _check_removal(answer: _ParsedAnswer) -> None:
    headed = takewhile(
        lambda at: answer.kind_of(at) == "heading" or answer.ends_with(at, ":："), range(len(answer.sentences))
    )
    opening = range(len(list(headed)) + 1)  # what announces the first sentence goes on with it
    if answer.find_gone(opening) is not None:
        raise KeptWhole("its opening sentence would go")
    if any(_negates_or_limits(answer.sentences[at], answer.lists) for at in answer.gone):
        raise KeptWhole("a negation or a limit would go")


# Taking out


def take_out_refused(
    text: str, refuse: Callable[[int, int], Stop | None], *, beside: str = "", cited: Iterable[str] = ()
) -> Rest:
    """Take the sentences out of an answer that a check refuses, with all that hangs on them.

    A sentence that passes together with the one before it is not refused: "The second is ..." is read so. Whether the
    rest passes as a whole is for the caller to judge.

    Args:
        text: the answer.
        refuse: returns why ``text[start:end]`` is refused, None where it passes.
        beside: what the reader knows, too: the question.
        cited: the texts that it cites; they help to tell its language.

    Raises:
        KeptWhole: nothing can be taken out, or what is left would not say what it said.
    """
    language = _tell_answer_language(text, "\n".join([*cited, beside]))
    if language not in load_word_lists("removal"):
        raise KeptWhole(f"there are no word lists for its language, {language}")
    answer = _ParsedAnswer(text, language)
    refused: dict[int, Stop] = {}
    for at, sentence in enumerate(answer.sentences):
        stop = refuse(sentence.start, sentence.end)
        is_read_alone = at == 0 or at - 1 in refused
        if stop is not None and (is_read_alone or refuse(answer.sentences[at - 1].start, sentence.end) is not None):
            refused[at] = stop
    if not refused:
        raise KeptWhole("no sentence of it is refused by itself")
    answer.gone.update(zip(refused, refused, strict=True))
    _spread_removal(answer, frozenset(read_terms(beside, language)))
    _check_removal(answer)
    return _cut_out(answer, refused)


def _tell_answer_language(text: str, sources: str) -> str:
    """Return the language of an answer: that of its sources, unless it has more function words of another."""
    own, theirs = detect_language(text), detect_language(sources)
    words = set(_split_words(text))
    ours, others = (len(words & load_function_words(language)) for language in (own, theirs))
    return (theirs if theirs and others >= ours else own) or DEFAULT_LANGUAGE


def remove_refused(
    text: str,
    refused: Stop,
    *,
    check: Callable[[int, int], Stop | None],
    contradict: Callable[[], object],
    judge: Callable[[Rest, Sequence[str]], object],
    support: Callable[[Rest], Collection[str]],
    citations: Sequence[str],
    beside: str,
    cited: Iterable[str] = (),
) -> tuple[Rest, list[str]]:
    """Take out of an answer what it is refused for, judge the rest as a whole, and keep the citations of that.

    A citation stays where a sentence that is left rests on it, and where the rest does not pass without it.

    Args:
        text: the answer.
        refused: why it is refused as a whole.
        check: returns why ``text[start:end]`` is refused, None where it passes.
        contradict: raises a `Stop` where the whole answer contradicts what it cites.
        judge: raises a `Stop` where the rest does not pass with some citations.
        support: returns the citations that the sentences of the rest share the most words with, or name themselves.
        citations: of the whole answer.
        beside: what the reader knows, too: the question.
        cited: the texts that it cites.

    Raises:
        Stop: the refusal, where it is none of numbers or names, or where the answer is kept whole; then
            ``details.kept_whole`` says why.
    """
    if refused.reason not in REMOVABLE:
        raise refused
    try:
        _pass_or_keep_whole(contradict, "a sentence contradicts its source")
        rest = take_out_refused(text, check, beside=beside, cited=cited)
        kept, needed = list(citations), support(rest)
        for each in citations:
            others = [other for other in kept if other != each]
            if each not in needed and (not others or _passes(partial(judge, rest, others))):
                kept = others
        if not kept:
            raise KeptWhole("no citation would be left")
        _pass_or_keep_whole(partial(judge, rest, kept), "the rest is refused, too")
    except KeptWhole as why:
        details = refused.evidence.get("details")
        told = details if isinstance(details, dict) else {}
        raise Stop(refused.reason, **{**refused.evidence, "details": {**told, "kept_whole": str(why)}}) from None
    return rest, kept


def describe_removed(removed: Iterable[RemovedText]) -> list[JsonObject]:
    """Return what history keeps of what was taken out: how it begins, and why."""
    return [{"text": excerpt_value(item["text"], SENTENCE_CHARS), "reason": item["reason"]} for item in removed]


def _pass_or_keep_whole(judge: Callable[[], object], why: str) -> None:
    if not _passes(judge):
        raise KeptWhole(why)


def _passes(judge: Callable[[], object]) -> bool:
    try:
        judge()
    except Stop:
        return False
    return True


def _cut_out(answer: _ParsedAnswer, refused: Mapping[int, Stop]) -> Rest:
    """Cut what goes, with the blanks around it, and say of each part why."""
    text, left, removed = answer.text, list[str](), list[RemovedText]()
    cuts, at = list[tuple[int, int]](), 0
    for run in _list_runs(answer):
        start, end = _find_cut(answer, run[0], run[-1])
        if not _is_balanced(text[start:end]):
            raise KeptWhole("brackets or marks open in what would go and close in what would stay")
        cuts.append((start, end))
        left.append(text[at:start])
        removed += _describe_run(answer, refused, run, sum(map(len, left)))
        at = end
    rest = "".join([*left, text[at:]]).rstrip()
    for item in removed:
        item["at"] = min(item["at"], len(rest))
    return Rest(rest, removed, list(_map_kept_sentences(answer, cuts)))


def _list_runs(answer: _ParsedAnswer) -> Iterator[list[int]]:
    """Yield the sentences that go and stand one behind the other."""
    run = list[int]()
    for at in sorted(answer.gone):
        if run and at > run[-1] + 1:
            yield run
            run = []
        run.append(at)
    if run:
        yield run


def _find_cut(answer: _ParsedAnswer, first: int, last: int) -> tuple[int, int]:
    """Return where to cut: behind what stays in the paragraph, up to what stays in it, else whole blocks."""
    head, tail = answer.sentences[first], answer.sentences[last]
    opens = first == answer.by_block[head.block][0]
    closes = last == answer.by_block[tail.block][-1]
    if not closes:
        return (answer.blocks[head.block].start if opens else head.start), answer.sentences[last + 1].start
    if not opens:
        return answer.sentences[first - 1].end, answer.blocks[tail.block].end
    behind = answer.blocks[tail.block + 1].start if tail.block + 1 < len(answer.blocks) else len(answer.text)
    return answer.blocks[head.block].start, behind


_PAIRS: Final = ("()", "[]", "“”", "«»", "{}")
_TWICE: Final = ("**", "`", '"', "__")


def _is_balanced(text: str) -> bool:
    """Say whether what brackets, quotes and marks of Markdown open in a text is closed in it."""
    pairs = all(text.count(one) == text.count(other) for one, other in _PAIRS)
    return pairs and all(text.count(mark) % 2 == 0 for mark in _TWICE)


def _describe_run(
    answer: _ParsedAnswer, refused: Mapping[int, Stop], run: Sequence[int], at: int
) -> Iterator[RemovedText]:
    """Yield what goes, a part for each sentence that was refused: with it stands what goes for it."""
    for cause, places in groupby(run, key=answer.gone.__getitem__):
        part = list(places)
        first, last = answer.sentences[part[0]], answer.sentences[part[-1]]
        is_first, is_last = part[0] == answer.by_block[first.block][0], part[-1] == answer.by_block[last.block][-1]
        start = answer.blocks[first.block].start if is_first else first.start
        end = answer.blocks[last.block].end if is_last else last.end
        stop, sentence = refused[cause], answer.sentences[cause]
        shown = excerpt_value(answer.text[sentence.start : sentence.end], SENTENCE_CHARS)
        evidence = {**stop.evidence, "sentence": shown}
        yield {"text": answer.text[start:end], "reason": stop.reason, "evidence": evidence, "at": at}


def _map_kept_sentences(answer: _ParsedAnswer, cuts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    number = cut = 0
    for at, sentence in enumerate(answer.sentences):
        while number < len(cuts) and cuts[number][1] <= sentence.start:
            cut += cuts[number][1] - cuts[number][0]
            number += 1
        if at not in answer.gone:
            yield sentence.start, sentence.end, sentence.start - cut
