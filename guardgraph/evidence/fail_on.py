"""Limits on what a what-if may find, for CI: ``stopped>ok:0``, ``unknown:10%``, ``unreplayable:changed:0``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from guardgraph.evidence.judged import WhatIf
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.replay.whatif import REFUSED, AgainKind, Ending, Unreplayable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.catalogue import Catalogue

FORM = "OLD>NEW:MOST, CLASS:MOST or unreplayable:WHY:MOST"
"""How a limit is written."""

STATUSES = ("ok", "stopped", REFUSED)
ANY = "*"
_CLASSES: dict[str, AgainKind] = {
    **{kind: kind for kind in get_args(AgainKind)},
    **{f"unreplayable:{why}": "unreplayable" for why in get_args(Unreplayable)},
}
_MOST = re.compile(r"([0-9]{1,12})(%?)")


@dataclass(frozen=True, slots=True)
class FailOn:
    """How many runs may change in one way, or fall in one class."""

    text: str
    """As it was written."""
    kind: AgainKind
    old: str
    new: str
    most: int
    in_percent: bool
    """Whether `most` is a percentage of all runs."""
    why: str = ANY
    """Why runs of the class are in it."""

    def count_what_if_runs(self, judged: WhatIf) -> int:
        """Return how many runs it is about."""
        rows = (row for row in judged.rows if row.kind == self.kind)
        if self.kind != "changed":
            return sum(self.why in (ANY, row.reason) for row in rows)
        return sum(_is_ending_called(row.old, self.old) and _is_ending_called(row.new, self.new) for row in rows)

    def is_exceeded(self, judged: WhatIf) -> bool:
        """Say whether there are more than there may be."""
        found = self.count_what_if_runs(judged)
        return found * 100 > self.most * len(judged.rows) if self.in_percent else found > self.most


def parse_fail_on(text: str, catalogue: Catalogue) -> FailOn:
    """Read a limit.

    Args:
        text: ``OLD>NEW:MOST``, ``CLASS:MOST`` or ``unreplayable:WHY:MOST``. OLD and NEW are ``ok``, ``stopped``,
            ``refused`` or ``*`` for any; behind a colon there may be an outcome or a stop reason, of which the
            beginning up to a colon is enough: ``ok:clarify``, ``stopped:invalid_answer``. They are about changed runs.
            CLASS is a class of runs. WHY is erased, redacted, changed, newer or damaged. MOST is a whole number, or a
            percentage of all runs.
        catalogue: of the candidate, which knows the stop reasons.

    Raises:
        ConfigurationError: it is no such limit; the message says what is wrong and what is allowed.
    """
    wanted, _, limit = text.rpartition(":")
    most = _MOST.fullmatch(limit)
    if most is None:
        raise _make_fail_on_error(text, f"a whole number or a percentage behind the last colon; given: {limit!r:.40}")
    number, in_percent = int(most[1]), bool(most[2])
    old, arrow, new = wanted.partition(">")
    if not arrow:
        if wanted not in _CLASSES:
            classes, why = ", ".join(get_args(AgainKind)), ", ".join(get_args(Unreplayable))
            raise _make_fail_on_error(
                text, f"{FORM}, with a class of {classes}, or why of {why}; given: {wanted!r:.40}"
            )
        return FailOn(text, _CLASSES[wanted], ANY, ANY, number, in_percent, wanted.partition(":")[2] or ANY)
    for name in (old, new):
        _check_ending_name(text, name, catalogue)
    return FailOn(text, "changed", old, new, number, in_percent)


def _check_ending_name(text: str, name: str, catalogue: Catalogue) -> None:
    status, colon, rest = name.partition(":")
    if name != ANY and (status not in STATUSES or (colon and not rest)):
        allowed = f"{', '.join(STATUSES)}, ok:OUTCOME, stopped:REASON or {ANY}"
        raise _make_fail_on_error(text, f"endings called {allowed}; given: {name!r:.40}")
    shipped = PATTERNS.get(catalogue.pattern)  # of one of your own nobody knows the outcomes
    if status == "ok" and rest and shipped is not None and rest not in shipped.outcomes:
        raise _make_fail_on_error(
            text, f"an outcome of {catalogue.pattern}: {', '.join(shipped.outcomes)}; given: {rest!r:.40}"
        )
    stems = {reason.reason.partition(":")[0] for reason in catalogue}
    if status == "stopped" and rest and rest not in stems and catalogue.find(rest) is None:
        raise _make_fail_on_error(text, f"a stop reason of {catalogue.pattern}; given: {rest!r:.40}")


def _is_ending_called(ending: Ending | None, name: str) -> bool:
    return ending is not None and (name == ANY or f"{ending}:".startswith(f"{name}:"))


def _make_fail_on_error(text: str, required: str) -> ConfigurationError:
    return ConfigurationError(f"--fail-on {text!r:.80}: required: {required}")
