"""How an update is read: sentences as spoken words, verb groups, and whether what is said is claimed.

The verb group of a claim is what stands right before it (*has not yet been*). A claim falls when that very group is
negated, partial, in progress or unreal, or when its clause is what an aim, an expectation, a condition or a denied
statement is about. Nothing else in a sentence changes anything. Every reading looks at a bounded number of words, so a
text takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from guardgraph.grounding.words import Word, split_words
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.letters import LOOKALIKES

# Classes of words


def split_claim_words(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


def read_claim_words(module: str, name: str) -> frozenset[str]:
    """Return a list of words that is too long to stand in code, from the file of such lists."""
    return split_claim_words(" ".join(load_word_lists("claims")[module][name]))


def read_claim_phrases(module: str, name: str) -> list[tuple[str, ...]]:
    """Return a list of phrases, such as the forms of a verb, as `read_claim_words` does."""
    lines = load_word_lists("claims")[module][name]
    return [tuple(phrase.split()) for line in lines for phrase in line.split("|")]


FINITE = read_claim_words("reading", "finite")
"""Auxiliaries: a clause that has one has its verb."""

BEING = read_claim_words("reading", "being")
_COPULAS = read_claim_words("reading", "copulas")
DENIALS = read_claim_words("reading", "denials")
PARTIAL = read_claim_words("reading", "partial")
PROGRESS = read_claim_words("reading", "progress")
UNREAL = read_claim_words("reading", "unreal")
REGARDED = read_claim_words("reading", "regarded")
_ADVERBS = read_claim_words("reading", "adverbs")
IN_GROUP = FINITE | _COPULAS | DENIALS | PARTIAL | PROGRESS | UNREAL | REGARDED | _ADVERBS
"""What a verb group is made of, adverbs in *-ly* beside."""

_MAYBE = UNREAL - {"should"}
"""Beside these not even *should now* tells how it is."""

FACTIVE = read_claim_words("reading", "factive")
"""Before *to* these leave a claim what it is: *we were able to fix it*, *it is known to be resolved*."""

CONDITIONS = read_claim_words("reading", "conditions")
ALWAYS_OPEN = read_claim_words("reading", "always_open")
"""Conditions that stay open in the past tense, too; *once it was resolved* tells what happened."""
MOMENTS = read_claim_words("reading", "moments")
INVERTED = read_claim_words("reading", "inverted")
"""At the beginning of a clause these are conditions, too: *should the fix work, ...*."""
AWAITED = CONDITIONS - read_claim_words("reading", "awaited")
"""After a plain future these make it wait."""

EXPECTING = read_claim_words("reading", "expecting")
"""What comes after these is hoped for, aimed at, or not yet known."""

SAYING = read_claim_words("reading", "saying")
_SAID = frozenset({"said", "told", "wrote", "showed", "claimed", "stated"})
HOLDING = read_claim_words("reading", "holding")
WRONG = read_claim_words("reading", "wrong")
NOT_ALL = read_claim_words("reading", "not_all")
"""Subjects that deny a claim, or make it one of a part."""
WHOLE = read_claim_words("reading", "whole")
PART_OF = read_claim_words("reading", "part_of")
STARTERS = read_claim_words("reading", "starters")
"""A noun phrase begins with one of these, with a number or with nothing."""
PREPOSITIONS = read_claim_words("reading", "prepositions")
TURNS = read_claim_words("reading", "turns")
"""Words that open a statement of their own."""
CAUSE = read_claim_words("reading", "cause")
CAUSING = read_claim_words("reading", "causing")
_PARTICIPLES = read_claim_words("reading", "participles")
_PRESENT_IN_ED = frozenset({"succeed", "proceed", "exceed", "speed"})
_CLOSED = (
    IN_GROUP | PREPOSITIONS | TURNS | CONDITIONS | STARTERS | split_claim_words("and or nor without please as , |")
)


def is_content_word(token: str) -> bool:
    """Say whether a token is a noun, an adjective or the like: none of the closed classes."""
    return bool(token) and token not in _CLOSED and not token.endswith("ly")


def is_past_participle(token: str) -> bool:
    """Say whether a token looks like a past participle."""
    return token in _PARTICIPLES or (token.endswith("ed") and len(token) > 4 and token not in _PRESENT_IN_ED)


RETURNING = read_claim_words("reading", "returning")
"""What a trouble does that was gone, *but* ..."""
_FAILING_AGAIN = read_claim_words("reading", "failing_again")
_STILL_BAD = read_claim_words("reading", "still_bad")
"""What is *still* so has not ended."""
_WHOLE_SUBJECTS = read_claim_words("closures", "trouble") | {"everything", "all"}
"""That one of these ended is claimed, whatever is told of a service beside it."""


# Sentences

COMMA, BREAK, PERCENT = ",", "|", "%"
"""Tokens that are no words; `BREAK` stands for a colon, semicolon, bracket or dash."""

NO_LONGER, PURPOSE = "no-longer", "so-that"
"""What *no longer* and *so that* are read as."""

_SAID_SHORTER: dict[str, list[str]] = load_word_lists("claims")["reading"]["shorter"]
"""Phrases, and the one word that each is read as."""

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>)\]]+", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>)\]]+", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…。！？]|\n\s*\n")
_BREAKS = re.compile(r"[;:()\[\]{}—–；：]|\s-+\s|--|\n\s*[-*]")
_COMMAS = re.compile("[,，、]")
_PERCENT_SIGNS = re.compile("[%％]")
_APOSTROPHE = re.compile("['’ʼ＇]")

_ENDINGS = {"ll": "will", "ve": "have", "re": "are", "d": "would", "m": "am"}
_NOT = {f"{verb}nt": verb for verb in read_claim_words("reading", "denied_short")} | {
    "cant": "can",
    "cannot": "can",
    "wont": "will",
    "shant": "shall",
    "aint": "is",
}
_IS_SHORTENED = read_claim_words("reading", "is_shortened")
"""Before *'s* these are subjects; elsewhere it is a possessive."""


def split_claim_sentences(text: str) -> Iterator[list[str]]:
    """Read a text as sentences.

    Args:
        text: any text. Letters of other scripts count as the Latin ones they look like.

    Yields:
        The tokens of each sentence: words in lower case with contractions spelled out (*won't* is *will not*),
        and `COMMA`, `BREAK` and `PERCENT`. A URL is one word, whatever it spells.
    """
    text = _URL.sub("url", text)
    said: list[str] = []
    end = 0
    for word in split_words(text):
        gap = text[end : word.start]
        end = word.end
        if gap != " ":
            if _PERCENT_SIGNS.search(gap):
                said.append(PERCENT)
            if said and _SENTENCE_END.search(gap):
                yield _shorten_claim_phrases(said)
                said = []
            elif said and (_BREAKS.search(gap) or _COMMAS.search(gap)):
                said.append(BREAK if _BREAKS.search(gap) else COMMA)
        said += _spell_out_contraction(text, word)
    if _PERCENT_SIGNS.search(text, end):
        said.append(PERCENT)
    if said:
        yield _shorten_claim_phrases(said)


def read_word_after(tokens: list[str], at: int) -> str:
    """Return the token after a place, `BREAK` at the end."""
    return tokens[at + 1] if at + 1 < len(tokens) else BREAK


def read_word_before(tokens: list[str], at: int) -> str:
    """Return the token before a place, `BREAK` at the start."""
    return tokens[at - 1] if at else BREAK


def read_words_around(tokens: list[str], at: int, *, before: int = 12, after: int = 5) -> list[str]:
    """Return the words around a place, up to the next stops.

    Args:
        tokens: a sentence.
        at: the place.
        before: how many words before it at most.
        after: how many from it on at most.
    """
    start = end = at
    while start > max(0, at - before) and tokens[start - 1] not in (COMMA, BREAK):
        start -= 1
    while end < min(len(tokens), at + after) and tokens[end] not in (COMMA, BREAK):
        end += 1
    return tokens[start:end]


def _spell_out_contraction(text: str, word: Word) -> tuple[str, ...]:
    key = word.key if word.key.isascii() else word.key.translate(LOOKALIKES)
    if key in _NOT:
        return (_NOT[key], "not")
    if key == "percent":
        return (PERCENT,)
    if len(key) == word.end - word.start:
        return (key,)
    *head, ending = _APOSTROPHE.split(text[word.start : word.end].lower())
    if head and ending in _ENDINGS:
        return ("".join(head), _ENDINGS[ending])
    if head and ending == "s":
        return (key[:-1], "is") if key[:-1] in _IS_SHORTENED else (key[:-1],)
    return (key,)


def _shorten_claim_phrases(said: list[str]) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(said):
        phrase, short = next(
            (
                found
                for found in _index_shorter_phrases().get(said[at], ())
                if tuple(said[at : at + len(found[0])]) == found[0]
            ),
            ((said[at],), said[at]),
        )
        tokens.append(short)
        at += len(phrase)
    return tokens


@cache
def _index_shorter_phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the phrases and what they are read as, the longest first, by their first words."""
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for short, lines in _SAID_SHORTER.items():
        for phrase in (said for line in lines for said in line.split(" | ")):
            said = tuple(phrase.split())
            table.setdefault(said[0], []).append((said, short))
    for found in table.values():
        found.sort(key=lambda item: -len(item[0]))
    return table


# Verb groups, and claims

_REACH = 24
"""How many words before a claim can govern it."""


class VerbGroup(NamedTuple):
    """What stands right before a claim and belongs to its verb."""

    start: int
    words: frozenset[str]
    is_infinitive: bool

    @property
    def is_open(self) -> bool:
        """Whether it says that the claim is not so, or not yet, or not all of it."""
        if self.is_future and "only" in self.words:
            return True
        is_stated = (self.words & REGARDED and "can" in self.words) or (self.is_promised and not self.words & _MAYBE)
        unreal = self.words & UNREAL and not is_stated
        return self.is_infinitive or bool(unreal or self.words & (DENIALS | PARTIAL | PROGRESS))

    @property
    def is_future(self) -> bool:
        """Whether it is a plain future, or promised as one."""
        return bool(self.words & {"will", "shall"}) or self.is_promised

    @property
    def is_promised(self) -> bool:
        """Whether it tells readers how it is by now: *should now work*, *should no longer fail*."""
        return "should" in self.words and not self.words.isdisjoint(("now", NO_LONGER))

    @property
    def is_past(self) -> bool:
        """Whether it tells what was."""
        return bool(self.words & {"was", "were", "had", "did"})

    @property
    def has_being_verb(self) -> bool:
        """Whether it has a form of *be* or *have*."""
        return bool(self.words & BEING)

    def drop_words(self, *said: str) -> VerbGroup:
        """Return it without some words."""
        return self._replace(words=self.words.difference(said))


def read_verb_group(tokens: list[str], at: int) -> VerbGroup:
    """Read the verb group before a claim.

    Args:
        tokens: a sentence of `split_claim_sentences`.
        at: where the claim begins.
    """
    place = at - 1
    while place >= max(0, at - _REACH):
        token = tokens[place]
        if token == "to" and not tokens[place + 1][0].isdigit():
            if place == 0 or tokens[place - 1] not in FACTIVE:
                return VerbGroup(place, frozenset(tokens[place + 1 : at]), is_infinitive=True)
            place -= 2
        elif _belongs_to_verb_group(token, tokens[place - 1] if place else ""):
            place -= 1
        elif token == COMMA and (opening := _find_parenthesis_start(tokens, place)):
            place = opening - 1
        elif token in ("and", "or", "nor") and place and is_past_participle(tokens[place - 1]):
            place -= 2
        else:
            break
    return VerbGroup(place + 1, frozenset(tokens[place + 1 : at]), is_infinitive=False)


def _belongs_to_verb_group(token: str, before: str) -> bool:
    is_adverb = token.endswith("ly") and len(token) > 4 and token not in EXPECTING
    return token in IN_GROUP or is_adverb or (token == "as" and before in REGARDED)


def _find_parenthesis_start(tokens: list[str], closing: int) -> int:
    """Return where a short parenthesis begins that stands inside a verb group: *cannot, at this time, ...*."""
    for opening in range(closing - 2, max(0, closing - 7), -1):
        if tokens[opening] == COMMA:
            return opening if tokens[opening - 1] in FINITE | DENIALS else 0
    return 0


def is_claim_made(tokens: list[str], at: int, end: int, *, group: VerbGroup | None = None) -> bool:
    """Say whether a claim is made, and not denied, hoped for or waited for.

    Args:
        tokens: a sentence of `split_claim_sentences`.
        at: where the claim begins.
        end: where it ends.
        group: its verb group, where that is not simply what stands before it.
    """
    group = group or read_causative_verb(tokens, read_verb_group(tokens, at))
    if group.is_infinitive:
        return _is_claim_held_true(tokens, group.start)
    if group.is_open or _is_claim_called_wrong(tokens, end):
        return False
    if group.is_future and (
        _has_condition_after_claim(tokens, end) or _has_condition_before_claim(tokens, group.start)
    ):
        return False
    return not _is_claim_governed(tokens, group.start, is_past=group.is_past or not group.words)


def read_causative_verb(tokens: list[str], group: VerbGroup) -> VerbGroup:
    """Go on to the verb of *get*, *have* or *bring it resolved*, where the claim has none of its own."""
    if group.words & FINITE or group.is_infinitive:
        return group
    for place in range(group.start - 1, max(-1, group.start - 6), -1):
        token = tokens[place]
        if token in CAUSING:
            return VerbGroup(place, frozenset({"being"}), is_infinitive=False)
        if token in CAUSE and tokens[place + 1] not in ("we", "i", "they"):
            outer = read_verb_group(tokens, place)
            is_bare = token != "have" and not outer.words & (FINITE | FACTIVE)
            return outer._replace(words=outer.words | group.words, is_infinitive=outer.is_infinitive or is_bare)
        if not (is_content_word(token) or token in STARTERS | PREPOSITIONS):
            return group
    return group


def _is_claim_held_true(tokens: list[str], start: int) -> bool:
    """Say whether an infinitive is what somebody holds: *we consider the incident to be resolved*."""
    for place in range(start - 1, max(-1, start - 8), -1):
        if tokens[place] in (COMMA, BREAK) or tokens[place] in FINITE | EXPECTING:
            return False
        if tokens[place] in HOLDING:
            return not _is_saying_denied(tokens, place) and not read_verb_group(tokens, place).is_open
    return False


def _is_claim_called_wrong(tokens: list[str], end: int) -> bool:
    """Say whether what was said is taken back: *reports that it is over are wrong*."""
    following = tokens[end : end + 4]
    if following[:1] in (["is"], ["are"], ["was"], ["were"]) and not WRONG.isdisjoint(following):
        return True
    proof = next((at for at in range(end, min(len(tokens), end + 8)) if tokens[at] in ("proved", "turned")), None)
    return proof is not None and not WRONG.isdisjoint(tokens[proof + 1 : proof + 5])


def _has_condition_after_claim(tokens: list[str], end: int) -> bool:
    """Say whether a condition follows: *will be closed once the tests have passed*."""
    for place in range(end, min(len(tokens), end + 10)):
        token = tokens[place]
        if token in (BREAK, "and", "but"):
            return False
        if token in AWAITED:
            follows = read_word_after(tokens, place)
            is_at_work = follows.endswith("ing") and tokens[place + 2 : place + 3] != []
            if token in ("when", "while") and is_at_work and tokens[place + 2] in STARTERS | PREPOSITIONS:
                return False  # *when loading the page* says where, and waits for nothing
            return follows != "you" and not (token == "after" and follows[0].isdigit())
    return False


def _has_condition_before_claim(tokens: list[str], start: int) -> bool:
    """Say whether a condition comes first: *once the tests have passed, it will be closed*."""
    comma = next((place for place in range(start - 1, max(0, start - 9), -1) if tokens[place] == COMMA), 0)
    for opening in range(comma - 1, max(0, comma - _REACH) - 1, -1):
        if tokens[opening] in (COMMA, BREAK):
            return False
        token, before = tokens[opening], tokens[opening - 1] if opening else BREAK
        if token in CONDITIONS or (token in INVERTED and before in (COMMA, BREAK)):
            said = tokens[opening + 1 : comma]
            about_reader = not {"you", "your"}.isdisjoint(said[:2])
            is_moment = token in MOMENTS and FINITE.isdisjoint(said)
            return not (about_reader or is_moment or {"was", "were"} & set(said))
    return False


def _is_claim_governed(tokens: list[str], start: int, *, is_past: bool) -> bool:
    """Say whether the clause of a claim hangs on something that makes it none."""
    clause = _Clause()
    for place in range(start - 1, max(-1, start - _REACH), -1):
        token, before, after = tokens[place], tokens[place - 1] if place else "", tokens[place + 1]
        if token in (COMMA, BREAK, "as") or token in TURNS:
            return False
        if token in ("should", "had") and before in (COMMA, BREAK, ""):
            return True
        if token in CONDITIONS:
            return _is_condition_of_claim(tokens, place, start, clause, is_past=is_past)
        if token == PURPOSE:
            return True
        if token in ("and", "or"):
            clause.is_joined = clause.is_joined or place + 1 < start
        elif token in ("that", "which", "who"):
            clause = _Clause(is_nested=True)
        elif not clause.is_joined:
            if (verdict := _judge_governing_word(tokens, place, clause, before, after)) is not None:
                return verdict
        elif token in FINITE and not clause.is_nested:
            return False
        clause.phrases += _starts_noun_phrase(token, before)
    return False


def _is_condition_of_claim(tokens: list[str], place: int, start: int, clause: _Clause, *, is_past: bool) -> bool:
    """Say whether the condition at a place is that of the claim, and not of something else in the sentence."""
    token = tokens[place]
    is_past = is_past and not clause.is_regarded
    starts = clause.phrases + (place + 1 < start and tokens[place + 1] not in STARTERS)
    starts += token in MOMENTS and _ends_in_two_nouns(tokens, start)
    return starts <= 1 and (token in ALWAYS_OPEN or not is_past or place + 1 == start)


def _ends_in_two_nouns(tokens: list[str], end: int) -> bool:
    """Say whether a subject may begin with the last word: *after a restart payments have recovered*."""
    last = tokens[end - 1]
    is_bare = last.endswith("s") or last == "service"
    return end > 1 and is_bare and is_content_word(last) and is_content_word(tokens[end - 2])


class _Clause:
    """What is known of a clause that is read from its verb to its beginning."""

    def __init__(self, *, is_nested: bool = False) -> None:
        self.phrases = 0
        """How many noun phrases begin in it."""
        self.is_joined = False
        """Whether an *and* has been passed that may open a clause of its own."""
        self.is_told = False
        """Whether somebody says it, and does not deny it."""
        self.is_regarded = False
        """Whether somebody will say it, as in *before we call it resolved*."""
        self.is_nested = is_nested
        """Whether it is the object of another clause."""


def _judge_governing_word(tokens: list[str], place: int, clause: _Clause, before: str, after: str) -> bool | None:
    """Say what a word before a claim does to it; None where reading goes on."""
    token = tokens[place]
    is_need = token in ("need", "needs") and after in STARTERS
    is_wish = clause.is_told and token in ("want", "wants", "wish")
    if is_need or (token in EXPECTING and not _is_expecting_adjective(before, token, after) and not is_wish):
        return clause.phrases <= 1
    if token in SAYING:
        if clause.phrases <= 1 and _is_saying_denied(tokens, place):
            return True
        clause.phrases, clause.is_nested, clause.is_told = 0, True, True
        clause.is_regarded = not token.endswith("ed")
    elif clause.is_nested:
        return None
    elif token in FINITE:
        return False
    elif _is_partial_subject(before, token, after):
        return True
    return None


def _is_expecting_adjective(before: str, token: str, after: str) -> bool:
    """Say whether *expected* or *planned* belongs to a noun: *expected downtime is over*, *as expected*."""
    opens = before in ("", COMMA, BREAK, "our", "this") and token.endswith("ed")
    return before in ("as", "the", "an") or (opens and is_content_word(after))


def _starts_noun_phrase(token: str, before: str) -> bool:
    starts = token in STARTERS or token[0].isdigit()
    return starts and before not in PREPOSITIONS and before not in STARTERS and token != "that"


def _is_partial_subject(before: str, token: str, after: str) -> bool:
    if token == "not":
        return after in WHOLE
    if token in ("first", "only"):
        return after not in ("time", "after", "then", "when", "once")
    if token == "half" and after in ("a", "an"):
        return False
    is_share = token in PART_OF or (token == PERCENT and before != "100")
    return token in NOT_ALL or (is_share and after == "of")


def _is_saying_denied(tokens: list[str], at: int) -> bool:
    """Say whether a word of saying is itself denied: *we cannot confirm that ...*, *it is too early to say ...*."""
    if tokens[at] in ("ensure", "see") and tokens[at - 1 : at] == ["to"]:
        return True
    group = read_verb_group(tokens, at)
    if tokens[at] in _SAID and ("still" in group.words or read_word_before(tokens, group.start) == "you"):
        return True  # a page that *still said so* was wrong, and *you wrote that* is said to deny it
    if group.words & (DENIALS | {"would", "might", "may", "no", NO_LONGER}):
        return True
    before = tokens[max(0, group.start - (6 if group.is_infinitive else 2)) : group.start]
    if group.is_infinitive and not DENIALS.isdisjoint(before):
        return True
    if group.is_infinitive and "no" in before and not {"reason", "grounds", "basis", "position"}.isdisjoint(before):
        return True
    return not WRONG.isdisjoint(before) or before[-1:] in (["nobody"], ["none"], ["nothing"], ["no"])


# Phrases and clauses around a claim

STOPS = (COMMA, BREAK)
"""What ends every phrase."""
Reader = Callable[[list[str], int], str | None]
"""Reads a sentence at the place of a word, and names the closure that it finds there."""

_PARTS = frozenset({"some", "most", "many", "several", "half"})
_OPENS = TURNS | CONDITIONS | {"and", "or"}


def combine_claim_readers(*readers: Reader) -> Reader:
    """Return a reader that finds what the first of these finds."""
    return lambda tokens, at: next((name for reader in readers if (name := reader(tokens, at))), None)


def is_closure_made(tokens: list[str], at: int, end: int | None = None, *, group: VerbGroup | None = None) -> bool:
    """Say whether a closure is made, and of all that it is said of.

    Args:
        tokens: a sentence of `split_claim_sentences`.
        at: where the closure begins.
        end: where it ends, after its first word where none is given.
        group: its verb group, where that is not simply what stands before it.
    """
    end = end or at + 1
    if _is_partial_closure(tokens, at) or _is_taken_back(tokens, at, end):
        return False
    if read_word_before(tokens, read_verb_group(tokens, at).start) == "what":
        return False  # *what was fixed* names a thing and claims nothing of it
    return is_claim_made(tokens, at, end, group=group)


def _is_taken_back(tokens: list[str], at: int, end: int) -> bool:
    """Say whether the sentence goes on to say that the trouble is there: *but it is back*, *but writes still fail*."""
    following = tokens[end : end + 16]
    turn = next((place for place, token in enumerate(following) if token in ("but", "yet", "however")), None)
    said = following[turn + 1 : turn + 9] if turn is not None else []
    came = next((place for place, token in enumerate(said) if token in RETURNING), None)
    other = said[1] if said[:1] == ["not"] and said[1:] else ""
    if other in PREPOSITIONS or (is_content_word(other) and not is_past_participle(other)):
        return True  # *loads fine from here but not from there*, *restored reads but not writes*
    again = next((place for place, token in enumerate(following) if token == "again"), 0)
    if any(pair in (("and", word) for word in ("returned", "reappeared", "recurred")) for pair in pairwise(following)):
        return "to" not in following
    if {"and", "then", "before", "but", "yet"} & {*following[:again]} and not _FAILING_AGAIN.isdisjoint(
        following[:again]
    ):
        return True
    if came is not None and said[came + 1 : came + 2] not in (["to"], ["online"], ["up"], ["in"]):
        return True
    if turn is None and _WHOLE_SUBJECTS.isdisjoint(read_clause_before(tokens, at)):
        turn = next((place for place, token in enumerate(following) if token in _CONTRASTS), None)
    return turn is not None and _is_trouble_left(following[turn + 1 :])


def _is_trouble_left(said: list[str]) -> bool:
    """Say whether a clause tells of a trouble: *writes still fail*, *it lags behind*, *only logins fail*."""
    if not UNREAL.isdisjoint(said) and "still" not in said:
        return False
    if said[:1] in (["lags"], ["lag"]):
        return True
    if said[:1] == ["only"]:
        return not _STILL_BAD.isdisjoint(said[1:5])
    mark = next((place for place, token in enumerate(said) if token in _LEFT), None)
    if mark is None or not _HEDGES.isdisjoint(said[:mark]):
        return False
    after = said[mark + 1 : mark + 4]
    is_seen = after[:1] in (["see"], ["seeing"], ["get"], ["getting"]) and not _WHOLE_SUBJECTS.isdisjoint(after)
    can_not = after[:2] == ["can", "not"] and after[2:] not in (["say"], ["tell"], ["explain"], ["rule"])
    return is_seen or can_not or not _STILL_BAD.isdisjoint(after)


_CONTRASTS = frozenset({COMMA, BREAK, "while", "whereas", "although", "though"})
_LEFT = frozenset({"still", "stay", "stays", "remain", "remains"})
_HEDGES = frozenset({"some", "few", "may", "might", "if", "could"})
"""Beside these what is left may be nothing."""


def _is_partial_closure(tokens: list[str], at: int) -> bool:
    """Say whether it is said of a part: *restored for some customers*, *recovered in part*."""
    following = read_words_around(tokens, at, before=0, after=8)
    if following[1:2] in (["partly"], ["partially"], ["some"], ["few"], ["briefly"], ["momentarily"]):
        return True
    if following[1:3] in (["a", "few"], ["part", "of"], ["so", "far"]):
        return True
    if any(pair == (PERCENT, "of") for pair in pairwise(following)) and "100" not in following:
        return True
    if following[2:3] in (["of"], ["percent"]) and following[1][0].isdigit() and following[1] != "100":
        return True
    share = [token for token in following[1:5] if token not in ("the", "a", "about", "around", "roughly", "nearly")]
    if share and (share[0] in PART_OF or share[0] == "most") and "of" in share[1:3]:
        return True
    parts = [token for before, token in pairwise(following) if token in _PARTS and before in PREPOSITIONS]
    return bool(parts) and not (parts == ["half"] and {"past", "an"} & set(following))


def is_claim_predicate(tokens: list[str], at: int) -> bool:
    """Say whether something is said to be so: *is stable*, *all systems operational*, *is the outage over*."""
    follows, is_said = read_word_after(tokens, at), read_verb_group(tokens, at).has_being_verb
    if is_content_word(follows) or (follows in FINITE and not is_said):
        return False
    around = read_words_around(tokens, at, after=1)
    if is_said or around[:1] in (["is"], ["are"]):
        return True
    is_short = len(around) <= 5 and FINITE.isdisjoint(around) and around[0] != "with"
    return is_short and not {"the", "a", "an", "our", "for", "of", "in", "to", "and"} & set(around[-2:])


def read_clause_before(tokens: list[str], at: int, reach: int = 10) -> list[str]:
    """Return the words of a clause that stand before a place, `reach` of them at most."""
    start = at
    while start > max(0, at - reach) and tokens[start - 1] not in STOPS and tokens[start - 1] not in _OPENS:
        start -= 1
    return tokens[start:at]


def read_clause_after(tokens: list[str], at: int, reach: int = 8) -> list[str]:
    """Return the words of a clause that stand after a place, `reach` of them at most."""
    end = at + 1
    while end < min(len(tokens), at + 1 + reach) and tokens[end] not in STOPS and tokens[end] not in _OPENS:
        end += 1
    return tokens[at + 1 : end]
