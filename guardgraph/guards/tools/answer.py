"""Whether an answer rests on what was given and found, and what a model is shown of what was found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Final

from guardgraph.grounding.check import Checks, Source, check_text
from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.links import may_have_links
from guardgraph.grounding.links.finding import find_links
from guardgraph.grounding.links.spelling import find_hidden_signs, list_readings
from guardgraph.grounding.sentences import find_sentence_spans, split_sentences
from guardgraph.grounding.words import find_verb_stem, load_negations, stem
from guardgraph.guards.links import check_links
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.guards.support import Claim, find_claim_sentences
from guardgraph.guards.tools.support import Support
from guardgraph.guards.tools.values import read_result, split_name_parts
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject
from guardgraph.state.tools import Given, MadeCall, ToolCard, ToolPolicy

_LINK = re.compile(
    r"!?\[([^\[\]]*)\]\((<[^<>]*>|[^()\s]*+)[^()]*+\)|<([a-z][a-z0-9+.-]*:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>", re.I
)
"""Links as Markdown has them: with a label, or between angle brackets."""


def show_results(made: Iterable[MadeCall], policy: ToolPolicy, max_chars: int) -> list[JsonObject]:
    """Return calls that were made with what they brought, as a model sees them; a reported failure as an `error`."""
    shown = []
    for call in made:
        entry: JsonObject = {"id": call["id"], "tool": call["tool"], "args": call["args"]}
        entry |= {"error": True} if call.get("failed") else {}
        entry["trusted_fields"] = [] if call.get("failed") else list(policy.rule_of(call["tool"]).trusted)
        value = call["value"]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) > max_chars:
            entry |= {"result": text[:max_chars], "left_out_chars": len(text) - max_chars}
        else:
            entry["result"] = value
        shown.append(entry)
    return shown


def parse_answer(answer: str, *, max_chars: int) -> str:
    """Return an answer, stripped."""
    if not answer.strip():
        raise Stop("invalid_answer:empty")
    if len(answer.strip()) > max_chars:
        raise Stop("invalid_answer:too_long", details={"chars": len(answer.strip()), "max_answer_chars": max_chars})
    return answer.strip()


def is_declining(answer: str) -> bool:
    """Say whether an answer says in its first sentence that the task is not done."""
    return _compile_declining().search(next(iter(split_sentences(answer)), answer)) is not None


@cache
def _compile_declining() -> re.Pattern[str]:
    words = [re.escape(word) for listed in load_word_lists("tools")["declining"].values() for word in listed]
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


def settle_answer_links(
    answer: str, *, given: Given, made: Sequence[MadeCall], policy: ToolPolicy, cards: Mapping[str, ToolCard]
) -> tuple[str, list[str]]:
    """Check the links of an answer, and take those out of use that only results have."""
    if not may_have_links(answer) and not find_hidden_signs(answer):
        return answer, []
    trusted = Support(given, made, policy, cards).texts
    trusted += [turn["content"] for turn in given["history"]]
    others = [*list_result_texts(made)]
    check = partial(check_links, family="invalid_answer", policy=policy, known_names=policy.known_names)
    check([answer], cited=[*trusted, *others])
    try:
        check([answer], cited=trusted)
    except Stop:
        return _disarm_links(_LINK.sub(_spell_out_link, answer), partial(check, cited=trusted))
    return answer, []


def _spell_out_link(match: re.Match[str]) -> str:
    label, target, bare = match.groups()
    return bare if bare else f"{label} ({(target or '').strip('<>')})"


def _disarm_links(answer: str, check: Callable[[list[str]], None]) -> tuple[str, list[str]]:
    """Spell links so that nobody can follow them, unless what was given has them."""
    untrusted = []
    rest = answer
    for link in dict.fromkeys(link for reading in list_readings(answer) for link in find_links(reading)):
        try:
            check([link.shown])
        except Stop:
            untrusted.append(link.shown)
    for shown in sorted(untrusted, key=len, reverse=True):
        rest = rest.replace(shown, " ")
        answer = answer.replace(shown, disarm_link(shown))
    check([rest])
    return answer, untrusted


def disarm_link(shown: str) -> str:
    """Return a URL, host or mail address spelled so that no program makes a link of it."""
    return shown.replace("://", "[:]//").replace(".", "[.]").replace("@", "[@]")


def check_answer_values(
    answer: str, *, given: Given, made: Sequence[MadeCall], policy: ToolPolicy, workings: Sequence[str] = ()
) -> None:
    """Check that the answer's values and names are in the task, the history, or in what was called and found."""
    turns = [turn["content"] for turn in given["history"]]
    sources = [Source(call["id"], "\n".join(list_result_texts([call]))) for call in made]
    checked = check_text(
        answer,
        [*sources, *(Source(f"turn {number}", turn) for number, turn in enumerate(turns))] or [Source("task", "")],
        question=given["task"],
        turns=turns,
        known_names=[*policy.known_names, *(call["tool"] for call in made)],
        workings=workings,
        checks=Checks(
            values=policy.check_values,
            names=policy.check_names,
            opposites=False,
            cover=False,
            links=False,
            places=False,
        ),
    )
    found: dict[str, list[str]] = {"unsupported_number": [], "unsupported_name": []}
    for finding in checked.findings:
        if finding.verdict in ("contradicted", "unsupported") and finding.rule != "link":
            found["unsupported_name" if finding.rule == "name" else "unsupported_number"].append(finding.text)
    for reason, texts in found.items():
        if texts:
            raise Stop(f"invalid_answer:{reason}", unsupported=sorted({shown_name(text) for text in texts}))


def list_answer_claims(answer: str, *, given: Given, results: Sequence[JsonObject]) -> list[Claim]:
    """Return the sentences of an answer for a verifier: each rests on the task, and on all that the model was shown."""
    spans = [span for span in find_sentence_spans(answer) if any(map(str.isalnum, answer[slice(*span)]))]
    said = find_claim_sentences(answer, spans[1:] if is_declining(answer) else spans)
    turns = [turn["content"] for turn in given["history"]]
    evidence = "\n\n".join([given["task"], *turns, *map(_write_shown_call, results)])
    return [Claim(claim=sentence, evidence=evidence) for sentence, _ in said]


def _write_shown_call(shown: JsonObject) -> str:
    result, args = shown["result"], json.dumps(shown["args"], ensure_ascii=False)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return f"{shown['tool']} {args}:\n{text}"


def list_result_texts(made: Iterable[MadeCall]) -> Iterator[str]:
    """Yield the texts of what was called and found, each number with its key."""
    for call in made:
        yield from filter(None, (write_json_text(value) for value in (call["args"], read_result(call["value"]))))


# An answer that says "I sent the mail" while no mail was sent is worse than one that declines. English alone is read:
# names and descriptions of tools are English, whatever the language of the task.


_CLAUSE = re.compile(
    r"[,;:()\n]|\s[-–—]\s|\b(?:but|because|(?-i:since(?! [A-Z\d]))|although|though|so that)\b", re.IGNORECASE
)
_WORD = re.compile(r"\w[\w']*")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|`[^`\n]*`")
_YEAR = re.compile(r"(?:19|20)\d\d")
_HEADLINE: Final = 4
"""Words of a clause that says it without a verb of its own: "Event created"."""
_MOST_BETWEEN: Final = 6
"""Words between I or an auxiliary and what was done."""


def check_claimed_actions(
    answer: str, *, made: Sequence[MadeCall], cards: Mapping[str, ToolCard], policy: ToolPolicy
) -> None:
    """Check that what an answer says was done, in the first person or the passive, some call of the run did."""
    writing = {name: card for name, card in cards.items() if policy.rule_of(name).effect == "write"}
    actions = {verb for card in writing.values() for verb in _list_verbs(card)}
    done = [call for call in made if not call.get("failed")]
    actions -= {verb for call in done if call["tool"] in cards for verb in _list_verbs(cards[call["tool"]])}
    has_written = any(call["effect"] == "write" for call in done)
    if not actions:
        return
    reported = {word for call in made for word in _WORD.findall(write_json_text(read_result(call["value"])).casefold())}
    for sentence in split_sentences(_QUOTED.sub(" ", answer)):
        if sentence.rstrip().endswith("?"):
            continue
        for at, part in enumerate(_CLAUSE.split(sentence)):
            words = _WORD.findall(part.casefold().replace("’", "'"))
            if _has_claim(words, actions, reported, has_written=has_written, is_first=at == 0):
                performed = [call["tool"] for call in done if call["effect"] == "write"]
                raise Stop("invalid_answer:action_not_done", claimed=sentence.strip()[:300], performed=performed)


def _list_verbs(card: ToolCard) -> set[str]:
    """Return the stems of what a tool does: the parts of its name, and the first word of its description."""
    first = _WORD.findall(card["description"])[:1]
    parts = [part.casefold() for part in (*split_name_parts(card["name"]), *first)]
    said = [*parts, *(part.removesuffix("ment") for part in parts)]  # who schedules a payment pays
    return {_stem_verb(part) for part in said if part.isalpha() and len(part) > 2}


@cache
def _stem_verb(word: str) -> str:
    return _load_irregular().get(word, find_verb_stem(stem(word)))


@cache
def _load_irregular() -> Mapping[str, str]:
    """Return the past forms of irregular verbs, each with the stem of its verb."""
    said: Mapping[str, str] = load_word_lists("tools")["irregular"]
    return {form: find_verb_stem(stem(verb)) for verb, forms in said.items() for form in forms.split()}


@cache
def _load_claiming(name: str) -> frozenset[str]:
    return frozenset(load_word_lists("tools")["claiming"][name].split())


def _has_claim(
    words: Sequence[str], actions: Collection[str], reported: Collection[str], *, has_written: bool, is_first: bool
) -> bool:
    """Say whether a clause says that an action was done."""
    for at, word in enumerate(words):
        is_closing = word in _load_claiming("closing")
        if not (is_closing or _is_past(word)) or _is_of_others(words[at:]) or _is_habit(words, at):
            continue
        is_closing = is_closing and not has_written
        others = [other for other in words if other != word]
        names_action = is_closing and any(other.startswith(tuple(actions)) for other in others)
        if not (_stem_verb(word) in actions or names_action):
            continue
        before = words[:at]
        if _is_open(before):
            continue
        is_headline = at == len(words) - 1 and at < _HEADLINE and _load_claiming("bound").isdisjoint(words)
        opens = (
            is_first
            and _load_claiming("helpers").isdisjoint(words[at:])
            and all(each.endswith("ly") or each in _load_claiming("openings") for each in before)
        )
        is_report = word in reported or _is_report(word, words, before, reported)
        if _is_told_by_itself(before) or (not is_report and (_is_passive(before) or is_headline or opens)):
            return True
    return False


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in _load_irregular()


def _is_habit(words: Sequence[str], at: int) -> bool:
    """Say whether a passive of the present tells how things are: each time, to a degree, since before."""
    before = words[:at]
    is_present = not {"is", "are"}.isdisjoint(before) and {"been", "now"}.isdisjoint(before)
    return is_present and (before[-1] in ("already", "fully") or not {"each", "every"}.isdisjoint(words[at:]))


def _is_report(word: str, words: Sequence[str], before: Sequence[str], reported: Collection[str]) -> bool:
    """Say whether a simple past tells of an earlier day, or of what results speak of."""
    if {"was", "were"}.isdisjoint(before) or not {"been", "have", "has"}.isdisjoint(before):
        return False
    is_dated = any(each in _load_claiming("times") or _YEAR.fullmatch(each) for each in words)
    return is_dated or _stem_verb(word) in {_stem_verb(each) for each in reported}


def _is_of_others(words: Sequence[str]) -> bool:
    """Say whether what follows a past form makes it a rule, a plan, or what somebody else did."""
    by = next((words[at + 1] for at, word in enumerate(words[:-1]) if word == "by"), None)
    return (by is not None and by not in ("me", "us")) or not _load_claiming("later").isdisjoint(words)


def _is_open(before: Sequence[str]) -> bool:
    """Say whether what stands before a past form denies it, asks for it, or leaves it open."""
    aimed = any(pair in pairwise(before) for pair in (("to", "be"), ("to", "have"), ("to", "get")))
    denied = not load_negations().isdisjoint(before) or any(each.endswith("n't") for each in before)
    return aimed or denied or not _load_claiming("open").isdisjoint(before)


def _is_told_by_itself(before: Sequence[str]) -> bool:
    """Say whether I or we stand before a past form, with no other subject and no passive in between."""
    near = before[-_MOST_BETWEEN - 2 :]
    person = next((at for at in range(len(near) - 1, -1, -1) if near[at] in _load_claiming("persons")), None)
    return person is not None and _load_claiming("others").isdisjoint(near[person + 1 :])


def _is_passive(before: Sequence[str]) -> bool:
    """Say whether an auxiliary stands before a past form, with adverbs alone in between."""
    at = next((at for at in range(len(before) - 1, -1, -1) if before[at] in _load_claiming("helpers")), None)
    if at is None or "that" in before[:at]:
        return False
    between = before[at + 1 :]
    return all(word.endswith("ly") or word in _load_claiming("adverbs") or _is_past(word) for word in between)
