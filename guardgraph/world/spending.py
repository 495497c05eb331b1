"""What a call may use up, before it is made, and what it used up and is kept of it, once it is over.

The tokens of a text are estimated by its bytes, with a factor for each script: tokenizers write a word of English with
one token and a letter of Thai with one or two. The estimate is meant to be too high rather than too low, since what is
reserved has to suffice. A model's own count holds wherever it says one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final, NamedTuple

from langchain_core.runnables import Runnable, RunnableLambda

from guardgraph.plain.json import JsonObject, JsonValue, copy_json, make_storable_json
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedAttempt, RecordedCall
from guardgraph.state.spending import (
    BUDGET_REASONS,
    COST_DIGITS,
    NOTHING,
    CallUsage,
    Price,
    Spending,
    compute_token_cost,
    count_usage,
    find_overspent_limit,
)
from guardgraph.world.call import Asked, Call, Performed, is_instant_target, is_said_of_target
from guardgraph.world.live import limit_call_reply
from guardgraph.world.proposers import ModelProposer, can_be_asked_again

_OVERHEAD: Final = 24  # tokens of a call beside its texts: what marks its messages and its schema


_LETTERS, _OTHERS, _MIXED = 2.8, 1.5, 0.5
"""Bytes of ASCII for a token: of small letters and blanks, and of marks and capitals; tokens for each place where a
letter stands beside a digit, as in a hash. A digit is one: some tokenizers (Qwen, Gemma) take each by itself."""

_SCRIPTS: Final = tuple(
    (re.compile(first), tokens)
    for first, tokens in (
        (rb"[\xc2\xc3]", 1.5),  # Latin letters with marks, of western Europe
        (rb"[\xc4-\xcc]", 2.2),  # other Latin letters with marks, and signs that stand over letters
        (rb"[\xcd-\xcf]", 1.35),  # Greek
        (rb"[\xd0-\xd3]", 1.0),  # Cyrillic
        (rb"\xd4|\xd5|\xd6[\x80-\x8f]", 2.2),  # Armenian
        (rb"\xd6[\x90-\xbf]|\xd7", 1.3),  # Hebrew
        (rb"[\xd8-\xdb]", 1.4),  # Arabic, Persian, Urdu
        (rb"[\xdc-\xdf]", 2.0),
        (rb"\xe0[\xa4\xa5\xb8\xb9]", 2.0),  # Devanagari, Thai
        (rb"\xe0[\xa6\xa7\xae\xaf\xb6\xb7]", 2.2),  # Bengali, Tamil, Sinhala
        (rb"\xe0[\xb0-\xb5]", 2.5),  # Telugu, Kannada, Malayalam
        (rb"\xe0[\xa0-\xa3\xa8-\xad\xba-\xbf]", 3.2),  # Gurmukhi, Gujarati, Odia, Lao, Tibetan
        (rb"\xe1[\x80-\x83\xb8-\xbf]", 2.2),  # Burmese, Georgian, Vietnamese letters
        (rb"\xe1[\x84-\xb7]", 3.2),  # Ethiopic, Khmer
        (rb"\xe2", 2.0),  # marks and symbols
        (rb"\xe3", 1.5),  # Japanese syllables
        (rb"[\xe4-\xe9]", 1.9),  # Chinese characters
        (rb"[\xea-\xed]", 1.75),  # Korean
        (rb"[\xee\xef]", 2.0),  # wide letters and signs of the East
        (rb"[\xf0-\xf7]", 3.0),  # rare signs, emoji
    )
)
"""Tokens of a letter, by the first bytes of its UTF-8, which tell its script.

They were fitted to six tokenizers (those of GPT-4o, GPT-3.5, Llama 3, Qwen 3, Gemma 3, and the one that Anthropic
published), so that the one that needs most tokens for a script is covered: see docs/budgets.md. For a script that a
tokenizer knows well the estimate is two to three times too high.
"""

_KINDS: Final = bytes.maketrans(
    f"{ascii_lowercase}{ascii_uppercase}{digits}".encode(), b"a" * 26 + b"A" * 26 + b"0" * 10
)
"""Makes one sign of all small letters, one of all capitals, and one of all digits."""
_MIXED_PLACES: Final = (b"a0", b"0a", b"A0", b"0A")


def estimate_tokens(*texts: str) -> int:
    """Return how many tokens texts have at most, by their bytes and scripts."""
    return int(sum(map(_estimate_text, texts))) + 1


@remember_by_text(texts=64, chars=20_000)  # prompts and schemas are the same again and again
def _estimate_text(text: str) -> float:
    raw = text.encode("utf-8", "surrogatepass")
    kinds, ascii_bytes = raw.translate(_KINDS), len(text.encode("ascii", "ignore"))
    small, numbers = sum(map(kinds.count, (b"a", b" ", b"\n"))), kinds.count(b"0")
    tokens = small / _LETTERS + numbers + (ascii_bytes - small - numbers) / _OTHERS
    if numbers:
        tokens += sum(map(kinds.count, _MIXED_PLACES)) * _MIXED
    if ascii_bytes < len(raw):
        tokens += sum(len(first.findall(raw)) * each for first, each in _SCRIPTS)
    return tokens


def is_model_call(call: Call) -> bool:
    """Say whether a call asks a model, so that it counts as one and uses up tokens."""
    if call.kind != "proposer" or is_instant_target(call.target):
        return False
    if is_said_of_target(call.target, "asks_model"):
        return True
    is_rule = not isinstance(call.target, Runnable) or isinstance(call.target, RunnableLambda)
    return not is_rule and getattr(call.target, "asks_model", None) is not False


def reserve_call(
    call: Call, bound: int | None, prices: Mapping[str, Price], recorded: CallUsage | None = None
) -> Spending:
    """Return what is reserved for a call; nothing for one that is not counted."""
    if call.kind == "tool":
        return Spending(tool_calls=1)
    if not is_model_call(call):
        return NOTHING
    shown = _estimate_input(call) if recorded is None else max(recorded["reserved"] - recorded.get("bound", 0), 0)
    cost = compute_token_cost(_find_price(call.about, prices), shown, bound or 0)
    return Spending(llm_calls=1, tokens=shown + (bound or 0), cost=cost)


def _estimate_input(call: Call) -> int:
    if isinstance(call.target, ModelProposer):
        return estimate_tokens(*call.target.list_sent_texts(call.shown)) + _OVERHEAD
    try:
        text = json.dumps(call.shown, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # a body may show what is no JSON
        text = json.dumps(make_storable_json(call.shown), ensure_ascii=False)
    return estimate_tokens(text) + _OVERHEAD


def _find_price(about: JsonObject, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of whoever replied: by the name that history knows, else by the one that its provider says."""
    names = (about.get(name) for name in ("proposer", "model"))
    return next((prices[name] for name in names if isinstance(name, str) and name in prices), None)


def settle_call(asked: Asked, performed: Performed) -> CallUsage | None:
    """Return what a model's call used up, all of its attempts together; None of a call that counts no tokens."""
    outcome, attempts = performed.outcome, performed.attempts
    said = read_told_usage(outcome)
    if not asked.reserved.llm_calls and said is None:
        return None
    usage = CallUsage(reserved=asked.reserved.tokens, tokens=0)
    if asked.max_output_tokens is not None:
        usage["bound"] = asked.max_output_tokens
    counted = _settle_attempts(asked, attempts[:-1])
    if not _is_unmade_outcome(outcome):
        counted.append(_settle_reply(asked, outcome, said, sum(used.tokens for used in counted)))
    usage["tokens"] = sum(used.tokens for used in counted)
    if any(used.is_estimate for used in counted):
        usage["estimated"] = True
    elif counted:
        usage["input_tokens"] = sum(used.shown for used in counted)
        usage["output_tokens"] = sum(used.written for used in counted)
    costs = [used.cost for used in counted if used.cost is not None]
    if len(costs) == len(counted):
        usage["cost"] = round(sum(costs), COST_DIGITS)
    return usage


class _Used(NamedTuple):
    shown: int
    written: int
    cost: float | None
    is_estimate: bool

    @property
    def tokens(self) -> int:
        return self.shown + self.written


def _settle_reply(asked: Asked, outcome: Outcome, said: tuple[int, int] | None, earlier: int) -> _Used:
    shown, written = said or (asked.reserved.tokens - (asked.max_output_tokens or 0), asked.max_output_tokens)
    if written is None:
        written = _estimate_reply(asked, outcome, shown + earlier)
    price = _find_price({**asked.call.about, **outcome.about}, asked.prices)
    return _Used(shown, written, compute_token_cost(price, shown, written), said is None)


def refuse_attempt(
    asked: Asked, attempts: Sequence[RecordedAttempt], reserved: Spending
) -> tuple[str, JsonObject] | None:
    """Return why another attempt of a call is not made, as the run's budget has no room for it; None where it has."""
    used = asked.spent
    for settled in _settle_attempts(asked, attempts):
        used += Spending(tokens=settled.tokens, cost=settled.cost)
    return find_overspent_limit(used, reserved, asked.limits)


def _settle_attempts(asked: Asked, attempts: Sequence[RecordedAttempt]) -> list[_Used]:
    """Return what each attempt before the last used up; one that says nothing counts as much as was reserved."""
    settled, bound = list[_Used](), asked.max_output_tokens or 0
    for attempt in attempts:
        if not _is_unmade_reason(attempt.get("reason")):
            said = _read_token_counts(attempt.get("usage"))
            shown, written = (asked.reserved.tokens - bound, bound) if said is None else said
            named: JsonObject = {"proposer": attempt["model"]} if "model" in attempt else {}
            cost = compute_token_cost(_find_price({**asked.call.about, **named}, asked.prices), shown, written)
            settled.append(_Used(shown, written, cost, said is None))
    return settled


def _estimate_reply(asked: Asked, outcome: Outcome, shown: int) -> int:
    """Return the tokens that a model may have written, by what came of it."""
    if outcome.form == "failure":  # also where a run that is decided again cuts off what was recorded
        return 0
    if asked.recorded is not None and asked.recorded.get("estimated"):
        return max(asked.recorded["tokens"] - shown, 0)
    content: JsonValue = outcome.content
    return estimate_tokens(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))


def read_told_usage(outcome: Outcome) -> tuple[int, int] | None:
    """Return the tokens that a model says it was shown and that it wrote; None where it does not say them."""
    details = outcome.content.get("details") if outcome.form == "failure" else None
    told = outcome.about.get("usage") or (details.get("usage") if isinstance(details, dict) else None)
    return None if told is None else _read_token_counts(told)


def _read_token_counts(told: object) -> tuple[int, int] | None:
    if not isinstance(told, dict):
        return None
    shown, written, total = (
        count if isinstance(count := told.get(name), int) and count >= 0 else None
        for name in ("input_tokens", "output_tokens", "total_tokens")
    )
    if total is None and (shown is None or written is None):
        return None
    if not total and not shown and not written:  # servers that do not count say so
        return None
    total = max(total or 0, (shown or 0) + (written or 0))
    shown = total - written if shown is None and written is not None else shown or 0
    return shown, total - shown


_UNMADE: Final = (*BUDGET_REASONS, "llm_circuit_open", "tool_circuit_open")
"""Reasons of the outcomes of calls that were not made: a budget or a circuit kept them back."""


def is_unmade_call(performed: Performed) -> bool:
    """Say whether no attempt of a call was made, so that it counts for nothing."""
    attempts = performed.attempts[:-1]
    return _is_unmade_outcome(performed.outcome) and all(_is_unmade_reason(item.get("reason")) for item in attempts)


def _is_unmade_outcome(outcome: Outcome) -> bool:
    return outcome.form == "failure" and _is_unmade_reason(outcome.content["reason"])


def _is_unmade_reason(reason: object) -> bool:
    return isinstance(reason, str) and reason.partition(":")[0] in _UNMADE


def record_call(asked: Asked, performed: Performed) -> tuple[RecordedCall, Outcome]:
    """Return a call as it is kept, and its outcome as a replay will see it: as plain JSON."""
    performed = limit_call_reply(asked, performed)
    came, about = performed.outcome, asked.call.about
    packed, outcome = performed.packed or came.packed(), came if performed.packed else came.settled()
    record = RecordedCall(
        node=asked.node, visit=asked.visit, number=asked.number, kind=asked.call.kind,
        request=asked.request, outcome=packed, seconds=performed.seconds,
    )  # fmt: skip
    if (at_once := asked.at_once if performed.at_once is None else performed.at_once) > 1:
        record["at_once"] = at_once
    if asked.scope is not None:
        record["scope"] = asked.scope
    if isinstance(proposer := about.get("proposer"), str):
        record["proposer"] = proposer
    if isinstance(prompt := about.get("prompt"), str):
        record["prompt"] = prompt
    if asked.call.kind == "proposer":
        is_askable = can_be_asked_again(asked.call.target) if performed.askable is None else performed.askable
        is_cut_off = "truncated" in performed.outcome.about  # it would be once more
        record |= {"askable": True} if is_askable and not is_cut_off else {}
    if asked.call.kind != "person" and performed.reply_bytes is not None:
        record["reply_bytes"] = performed.reply_bytes
    if performed.attempts:
        record["attempts"] = [*performed.attempts]
    if (usage := settle_call(asked, performed)) is not None:
        record["usage"] = usage
    if came.form == "failure" and is_unmade_call(performed):
        record["unmade"] = True
    if asked.licence is not None:
        record["tool"], record["args"] = asked.call.tool, copy_json(asked.call.request)
    if asked.approval is not None:
        record["approval"] = asked.approval
    if asked.call.effect == "write":
        record["effect"], record["tool"] = "write", asked.call.tool
        if performed.key is not None:
            record["key"] = performed.key
    return record, outcome


def count_call(asked: Asked, performed: Performed) -> Spending:
    """Return what a call that is over counts for."""
    if is_unmade_call(performed):
        return NOTHING
    return count_usage(settle_call(asked, performed), is_tool=asked.call.kind == "tool")
