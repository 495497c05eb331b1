"""What grounding says of a text, as states and results keep it, and the settings of what becomes of it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from guardgraph.state.settings import Allowlist, Check, MinFloat, Names, TextPolicy
from guardgraph.state.tightening import Tightens, union_of

Verdict: TypeAlias = Literal["contradicted", "unsupported", "doubtful"]
"""What is refused or marked: the sources say another value of the same thing, none says it, or it is in doubt."""


class FoundIssue(TypedDict):
    """Something in a text that its sources contradict, do not have, or leave in doubt."""

    rule: str  # ``value``, ``count``, ``bound``, ``name``, ``link``, ``opposite`` or ``cover``
    verdict: Verdict
    text: str
    start: int  # where it stands in the text, in characters
    end: int
    source: NotRequired[str]  # the id of the source that says something else
    source_start: NotRequired[int]
    source_end: NotRequired[int]
    told: NotRequired[str]  # what that source says instead


class UnverifiedSentence(TypedDict):
    """A sentence of an answer that is given although its sources do not bear it out."""

    start: int  # where it stands in the answer, in characters
    end: int
    text: str
    verdict: Verdict
    findings: list[FoundIssue]


def _find_pattern_problem(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"a regular expression is required ({error}); given: {pattern!r:.80}"
    return None


LabelPatterns: TypeAlias = Annotated[Names, union_of(_find_pattern_problem)]
"""Regular expressions of labels; a longer list catches more, so both lists hold."""

OnUnsupported: TypeAlias = Annotated[Literal["stop", "mark"], Tightens.ordered("mark", "stop")]
"""What becomes of sentences that are contradicted or unsupported; "stop" holds if either says so."""

OnDoubt: TypeAlias = Annotated[Literal["ignore", "mark", "stop"], Tightens.ordered("ignore", "mark", "stop")]
"""What becomes of sentences that are doubtful; the later of "ignore", "mark" and "stop" holds."""


class GroundedPolicy(TextPolicy):
    """What the policies of patterns have in which a text is held against sources; see docs/grounding.md."""

    check_values: Check = True
    """Numbers, dates, prices and other values of a text must stand in its sources, or come of a working."""
    check_names: Check = True
    """Names of a text must stand in its sources, or be known."""
    check_opposites: Check = True
    """A sentence that says the opposite of a source, almost in its words, is doubtful."""
    check_cover: Check = True
    """A sentence whose words are not what the sources speak of is doubtful."""
    min_cover: Annotated[MinFloat, Field(ge=0, le=1)] = 0.35
    """The share of a sentence's words, 0 to 1, that its sources have; with less it is doubtful."""
    known_names: Allowlist = ()
    """Names that any text may say, such as the deployment's own."""
    label_patterns: LabelPatterns = ()
    """Regular expressions of the application's own labels, such as severities, ids and regions: each must stand in the
    sources as it is written."""


class AnswerPolicy(GroundedPolicy):
    """What the policies of patterns have that end with an answer."""

    on_unsupported: OnUnsupported = "stop"
    """What becomes of an answer with contradicted or unsupported sentences when no attempt is left: "stop" ends the
    run, "mark" gives the whole answer and says which they are."""
    on_doubt: OnDoubt = "mark"
    """What becomes of sentences that are doubtful: "ignore", "mark", after one more attempt, or "stop"."""
