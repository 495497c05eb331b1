"""Whether an answer rests on what was given and found, and what a model is shown of what was found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

from guardgraph.grounding.check import Checks, Source, check_text
from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.links import may_have_links
from guardgraph.grounding.links.finding import find_links
from guardgraph.grounding.links.spelling import find_hidden_signs, list_readings
from guardgraph.grounding.sentences import find_sentence_spans, split_sentences
from guardgraph.guards.links import check_links
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.guards.support import Claim, find_claim_sentences
from guardgraph.guards.tools.support import Support
from guardgraph.guards.tools.values import read_result
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
