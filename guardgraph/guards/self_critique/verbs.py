"""Whether a claim stands: read from its verb outwards.

The verb group of a claim is what stands right before it (*has not yet been*). A claim falls when that very group
is negated, partial, in progress or unreal, or when its clause is what an aim, an expectation, a condition or a
denied statement is about. Nothing else in a sentence changes anything. Every reading looks at a bounded number
of words, so a text takes linear time.
"""

from __future__ import annotations

from typing import NamedTuple

from guardgraph.guards.self_critique import grammar
from guardgraph.guards.self_critique.spoken import BREAK, COMMA, NO_LONGER, PERCENT, PURPOSE, read_word_after

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
        unreal = self.words & grammar.UNREAL and not (self.words & grammar.REGARDED and "can" in self.words)
        return self.is_infinitive or bool(unreal or self.words & (grammar.DENIALS | grammar.PARTIAL | grammar.PROGRESS))

    @property
    def is_future(self) -> bool:
        """Whether it is a plain future."""
        return bool(self.words & {"will", "shall"})

    @property
    def is_past(self) -> bool:
        """Whether it tells what was."""
        return bool(self.words & {"was", "were", "had", "did"})

    @property
    def has_being_verb(self) -> bool:
        """Whether it has a form of *be* or *have*."""
        return bool(self.words & grammar.BEING)

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
            if place == 0 or tokens[place - 1] not in grammar.FACTIVE:
                return VerbGroup(place, frozenset(tokens[place + 1 : at]), is_infinitive=True)
            place -= 2
        elif _belongs_to_verb_group(token, tokens[place - 1] if place else ""):
            place -= 1
        elif token == COMMA and (opening := _find_parenthesis_start(tokens, place)):
            place = opening - 1
        elif token in ("and", "or", "nor") and place and grammar.is_past_participle(tokens[place - 1]):
            place -= 2
        else:
            break
    return VerbGroup(place + 1, frozenset(tokens[place + 1 : at]), is_infinitive=False)


def _belongs_to_verb_group(token: str, before: str) -> bool:
    is_adverb = token.endswith("ly") and len(token) > 4 and token not in grammar.EXPECTING
    return token in grammar.IN_GROUP or is_adverb or (token == "as" and before in grammar.REGARDED)


def _find_parenthesis_start(tokens: list[str], closing: int) -> int:
    """Return where a short parenthesis begins that stands inside a verb group: *cannot, at this time, ...*."""
    for opening in range(closing - 2, max(0, closing - 7), -1):
        if tokens[opening] == COMMA:
            return opening if tokens[opening - 1] in grammar.FINITE | grammar.DENIALS else 0
    return 0


def is_claim_made(tokens: list[str], at: int, end: int, *, group: VerbGroup | None = None) -> bool:
    """Say whether a claim is made, and not denied, hoped for or waited for.

    Args:
        tokens: a sentence of `split_claim_sentences`.
        at: where the claim begins.
        end: where it ends.
        group: its verb group, where that is not simply what stands before it.
    """
    group = group or _read_causative_verb(tokens, read_verb_group(tokens, at))
    if group.is_infinitive:
        return _is_claim_held_true(tokens, group.start)
    if group.is_open or _is_claim_called_wrong(tokens, end):
        return False
    if group.is_future and (
        _has_condition_after_claim(tokens, end) or _has_condition_before_claim(tokens, group.start)
    ):
        return False
    return not _is_claim_governed(tokens, group.start, is_past=group.is_past or not group.words)


def _read_causative_verb(tokens: list[str], group: VerbGroup) -> VerbGroup:
    """Go on to the verb of *get*, *have* or *bring it resolved*, where the claim has none of its own."""
    if group.words & grammar.FINITE or group.is_infinitive:
        return group
    for place in range(group.start - 1, max(-1, group.start - 6), -1):
        token = tokens[place]
        if token in grammar.CAUSING:
            return VerbGroup(place, frozenset({"being"}), is_infinitive=False)
        if token in grammar.CAUSE and tokens[place + 1] not in ("we", "i", "they"):
            outer = read_verb_group(tokens, place)
            is_bare = token != "have" and not outer.words & (grammar.FINITE | grammar.FACTIVE)
            return outer._replace(words=outer.words | group.words, is_infinitive=outer.is_infinitive or is_bare)
        if not (grammar.is_content_word(token) or token in grammar.STARTERS | grammar.PREPOSITIONS):
            return group
    return group


def _is_claim_held_true(tokens: list[str], start: int) -> bool:
    """Say whether an infinitive is what somebody holds: *we consider the incident to be resolved*."""
    for place in range(start - 1, max(-1, start - 8), -1):
        if tokens[place] in (COMMA, BREAK) or tokens[place] in grammar.FINITE | grammar.EXPECTING:
            return False
        if tokens[place] in grammar.HOLDING:
            return not _is_saying_denied(tokens, place) and not read_verb_group(tokens, place).is_open
    return False


def _is_claim_called_wrong(tokens: list[str], end: int) -> bool:
    """Say whether what was said is taken back: *reports that it is over are wrong*."""
    following = tokens[end : end + 4]
    return following[:1] in (["is"], ["are"], ["was"], ["were"]) and not grammar.WRONG.isdisjoint(following)


def _has_condition_after_claim(tokens: list[str], end: int) -> bool:
    """Say whether a condition follows: *will be closed once the tests have passed*."""
    for place in range(end, min(len(tokens), end + 10)):
        token = tokens[place]
        if token in (BREAK, "and", "but"):
            return False
        if token in grammar.AWAITED:
            follows = read_word_after(tokens, place)
            return follows != "you" and not (token == "after" and follows[0].isdigit())
    return False


def _has_condition_before_claim(tokens: list[str], start: int) -> bool:
    """Say whether a condition comes first: *once the tests have passed, it will be closed*."""
    comma = next((place for place in range(start - 1, max(0, start - 9), -1) if tokens[place] == COMMA), 0)
    for opening in range(comma - 1, max(0, comma - _REACH) - 1, -1):
        if tokens[opening] in (COMMA, BREAK):
            return False
        token, before = tokens[opening], tokens[opening - 1] if opening else BREAK
        if token in grammar.CONDITIONS or (token in grammar.INVERTED and before in (COMMA, BREAK)):
            said = tokens[opening + 1 : comma]
            about_reader = not {"you", "your"}.isdisjoint(said[:2])
            is_moment = token in grammar.MOMENTS and grammar.FINITE.isdisjoint(said)
            return not (about_reader or is_moment or {"was", "were"} & set(said))
    return False


def _is_claim_governed(tokens: list[str], start: int, *, is_past: bool) -> bool:
    """Say whether the clause of a claim hangs on something that makes it none."""
    clause = _Clause()
    for place in range(start - 1, max(-1, start - _REACH), -1):
        token, before, after = tokens[place], tokens[place - 1] if place else "", tokens[place + 1]
        if token in (COMMA, BREAK, "as") or token in grammar.TURNS:
            return False
        if token in ("should", "had") and before in (COMMA, BREAK, ""):
            return True
        if token in grammar.CONDITIONS:
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
        elif token in grammar.FINITE and not clause.is_nested:
            return False
        clause.phrases += _starts_noun_phrase(token, before)
    return False


def _is_condition_of_claim(tokens: list[str], place: int, start: int, clause: _Clause, *, is_past: bool) -> bool:
    """Say whether the condition at a place is that of the claim, and not of something else in the sentence."""
    token = tokens[place]
    is_past = is_past and not clause.is_regarded
    starts = clause.phrases + (place + 1 < start and tokens[place + 1] not in grammar.STARTERS)
    starts += token in grammar.MOMENTS and _ends_in_two_nouns(tokens, start)
    return starts <= 1 and (token in grammar.ALWAYS_OPEN or not is_past or place + 1 == start)


def _ends_in_two_nouns(tokens: list[str], end: int) -> bool:
    """Say whether a subject may begin with the last word: *after a restart payments have recovered*."""
    last = tokens[end - 1]
    is_bare = last.endswith("s") or last == "service"
    return end > 1 and is_bare and grammar.is_content_word(last) and grammar.is_content_word(tokens[end - 2])


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
    is_need = token in ("need", "needs") and after in grammar.STARTERS
    is_wish = clause.is_told and token in ("want", "wants", "wish")
    if is_need or (token in grammar.EXPECTING and not _is_expecting_adjective(before, token, after) and not is_wish):
        return clause.phrases <= 1
    if token in grammar.SAYING:
        if clause.phrases <= 1 and _is_saying_denied(tokens, place):
            return True
        clause.phrases, clause.is_nested, clause.is_told = 0, True, True
        clause.is_regarded = not token.endswith("ed")
    elif clause.is_nested:
        return None
    elif token in grammar.FINITE:
        return False
    elif _is_partial_subject(before, token, after):
        return True
    return None


def _is_expecting_adjective(before: str, token: str, after: str) -> bool:
    """Say whether *expected* or *planned* belongs to a noun: *expected downtime is over*, *as expected*."""
    opens = before in ("", COMMA, BREAK, "our", "this") and token.endswith("ed")
    return before in ("as", "the", "an") or (opens and grammar.is_content_word(after))


def _starts_noun_phrase(token: str, before: str) -> bool:
    starts = token in grammar.STARTERS or token[0].isdigit()
    return starts and before not in grammar.PREPOSITIONS and before not in grammar.STARTERS and token != "that"


def _is_partial_subject(before: str, token: str, after: str) -> bool:
    if token == "not":
        return after in grammar.WHOLE
    if token in ("first", "only"):
        return after not in ("time", "after", "then", "when", "once")
    if token == "half" and after in ("a", "an"):
        return False
    is_share = token in grammar.PART_OF or (token == PERCENT and before != "100")
    return token in grammar.NOT_ALL or (is_share and after == "of")


def _is_saying_denied(tokens: list[str], at: int) -> bool:
    """Say whether a word of saying is itself denied: *we cannot confirm that ...*, *it is too early to say ...*."""
    if tokens[at] in ("ensure", "see") and tokens[at - 1 : at] == ["to"]:
        return True
    group = read_verb_group(tokens, at)
    if group.words & (grammar.DENIALS | {"would", "might", "may", "no", NO_LONGER}):
        return True
    before = tokens[max(0, group.start - (6 if group.is_infinitive else 2)) : group.start]
    if group.is_infinitive and not grammar.DENIALS.isdisjoint(before):
        return True
    if group.is_infinitive and "no" in before and not {"reason", "grounds", "basis", "position"}.isdisjoint(before):
        return True
    return not grammar.WRONG.isdisjoint(before) or before[-1:] in (["nobody"], ["none"], ["nothing"], ["no"])
