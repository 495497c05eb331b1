"""How what an application adds to a shipped pattern stands in its diagram: behind the guard of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.runnables import Runnable

from guardgraph.graphs.grammar import Pattern
from guardgraph.guards.support import share_evidence
from guardgraph.nodes import own_guards
from guardgraph.nodes.body import Body
from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.langchain.judges import LangChainVerifier, is_cross_encoder
from guardgraph.world.call import Outside
from guardgraph.world.chat_models import ChatModel, is_chat_model
from guardgraph.world.named_models import prepare_chat_model
from guardgraph.world.prompts import load_prompt
from guardgraph.world.proposers import ModelProposer, Proposer, name_call_target

if TYPE_CHECKING:
    from langchain_core.cross_encoders import BaseCrossEncoder

Verifier: TypeAlias = "Outside | ChatModel | BaseCrossEncoder | str"  # who may be a verifier
VERIFY, SUPPORT_GUARD = "verify_answer", "support_guard"  # the nodes of a verifier: it proposes, and the guard refuses


def choose_verifier(given: Verifier | None) -> Proposer | None:
    """Return the verifier that a factory was given, None for none."""
    if given is None:
        return None
    if isinstance(given, str) or is_chat_model(given):
        try:
            named = prepare_chat_model(given)
        except ConfigurationError as error:
            raise ConfigurationError(f"verifier: {error}") from None
        prompt = load_prompt("verify_claims", {})
        asked = ModelProposer(named, prompt, show=share_evidence)
        return Proposer(asked, {"proposer": asked.get_name(), "prompt": f"{prompt.name}@{prompt.hash}"})
    target = LangChainVerifier(given) if is_cross_encoder(given) else given
    if isinstance(target, Runnable) or callable(target):
        return Proposer(target, {"proposer": name_call_target(target)})
    allowed = "a chat model, its name, a cross-encoder of LangChain's, a Runnable or a function of one dictionary"
    raise ConfigurationError(f"verifier: {allowed}; given: {type(given).__name__}")


def declare_answer_guard(
    p: Pattern[Any, Any, Any],
    name: str,
    body: Body,
    answer: own_guards.GuardedAnswer,
    *,
    to: Sequence[str],
    again: Sequence[str] = (),
    guards: Sequence[own_guards.AnswerGuard] = (),
    verifier: Proposer | None = None,
) -> None:
    """Declare the guard of an answer, and what an application adds between it and the good endings."""
    ends, judged = answer.ends, [] if verifier is None else [VERIFY, SUPPORT_GUARD]
    chain = [guard.node_name for guard in guards]
    _check_guard_names(p, chain, {name, *to, *ends, *judged})
    behind = [*chain, *judged]
    ways = dict.fromkeys(ends, behind[0]) if behind else {}
    led = dict.fromkeys(ways.get(way, way) for way in to)
    p.guard(name, own_guards.lead_guard(body, ways), to=[*led], again=again)
    for at, guard in enumerate(guards, 1):
        asked = answer.proposer if any(reason.again for reason in guard.reasons) else ()
        judge = own_guards.make_own_guard_node(guard, answer, is_last=not behind[at:])
        p.guard(guard.node_name, judge, to=behind[at : at + 1] or ends, again=asked)
    if verifier is not None:
        p.propose(VERIFY, own_guards.make_verify_node(verifier, answer), to=SUPPORT_GUARD)
        p.guard(SUPPORT_GUARD, own_guards.make_support_guard_node(answer), to=ends, again=VERIFY)


def _check_guard_names(p: Pattern[Any, Any, Any], chain: Sequence[str], taken: set[str]) -> None:
    known = {*taken, *p.declarations, *(way for item in p.declarations.values() for way in item.to)}
    for at, name in enumerate(chain):
        if name in {*known, *chain[:at]} or name.startswith("stop_"):
            raise ConfigurationError(f"guards[{at}].name: a name of its own is required; {name!r:.80} is another node")
