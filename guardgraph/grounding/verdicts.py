"""What follows from the verdicts on a text's sentences: whether it is refused, for which reason, and what is marked.

Agents, the middleware and `check_answer` decide by these same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from guardgraph.grounding.check import CheckedSentence, CheckedText, Finding

WORST_FIRST: Final = ("contradicted", "unsupported", "doubtful")
"""The verdicts after which a sentence may be refused or marked."""


class Decision(NamedTuple):
    """What becomes of a text."""

    reason: str
    """``active_markup``, ``unsupported_link``, ``contradicts_source``, ``unsupported_number``, ``unsupported_name`` or
    ``doubtful``: what its writer is asked again for; "" where nothing is refused or marked."""
    stops: bool
    """Whether it is refused where nobody is asked again; else it goes on with its marks."""
    findings: tuple[Finding, ...]
    """Those of the sentences that the reason is about."""
    unsupported: tuple[str, ...]
    """What of the text the reason is about."""
    marked: tuple[CheckedSentence, ...]
    """The sentences that are marked where the text goes on."""


def decide(checked: CheckedText, *, on_unsupported: str, on_doubt: str) -> Decision:
    """Say what becomes of a text whose sentences were held against their sources."""
    if links := tuple(finding for finding in checked.findings if finding.rule == "link"):
        return Decision(links[0].told, True, links, tuple(dict.fromkeys(each.text for each in links)), ())
    ways: Mapping[str, str] = {"contradicted": on_unsupported, "unsupported": on_unsupported, "doubtful": on_doubt}
    found = [item for item in checked.sentences if ways.get(item.verdict, "ignore") != "ignore"]
    stops = any(ways[item.verdict] == "stop" for item in found)
    counted = [item for item in found if not stops or ways[item.verdict] == "stop"]
    if not counted:
        return Decision("", False, (), (), ())
    findings = tuple(each for item in counted for each in item.findings if ways.get(each.verdict, "ignore") != "ignore")
    worst = min(findings, key=lambda finding: WORST_FIRST.index(finding.verdict))
    is_doubt = worst.verdict == "doubtful"
    about = tuple(dict.fromkeys(each.text for each in findings if is_doubt or each.verdict != "doubtful"))
    marked = tuple(item for item in found if ways[item.verdict] == "mark")
    return Decision(_name_reason(worst), stops, findings, about, marked)


def _name_reason(finding: Finding) -> str:
    if finding.verdict == "unsupported":
        return "unsupported_name" if finding.rule == "name" else "unsupported_number"
    return "contradicts_source" if finding.verdict == "contradicted" else "doubtful"
