"""Progress: what a run says of itself while it goes on, to those who ask for LangGraph's ``custom`` stream."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class Progress(TypedDict):
    """One event of a run in LangGraph's ``custom`` stream.

    It has names of the pattern and numbers, and nothing that anybody wrote: no question, proposal, source, URL or
    evidence. So it says the same to every caller, whatever they may read, and before any guard has judged.
    """

    event: Literal["began", "calling", "judged", "ended"]
    """A node begins; it calls out; a guard has decided; the run is over."""
    run_id: str
    """Empty while the run has none, which the first guard gives it."""
    pattern: str
    """The graph's name."""
    node: str
    kind: str
    """``propose``, ``act``, ``review``, ``guard`` or ``terminal``."""
    phase: str
    """Of the pattern, such as ``retrieve``; of a terminal that several phases may end in, as it declares it."""
    visit: int
    """Which node of the run this is, from 1 on."""
    calls: NotRequired[int]
    """Of ``calling``: how many calls begin at once."""
    of: NotRequired[Literal["proposer", "tool", "person"]]
    """Of ``calling``: who is called."""
    tool: NotRequired[str]
    """Of ``calling``: the tool, where the pattern has a table of tools and all calls are of this one."""
    verdict: NotRequired[Literal["pass", "again", "stop"]]
    """Of ``judged``: the run goes on, the proposer is asked again, or the run stops."""
    to: NotRequired[str]
    """Of ``judged``: the node that the run goes on with."""
    reason: NotRequired[str]
    """Of ``judged``: for what the guard refused, as the catalogue lists it: ``source_denied:<name>``, not a name."""
    status: NotRequired[Literal["ok", "stopped"]]
    """Of ``ended``: how."""
