"""The request: where every run begins, and what it may do at this moment, its hints and both lists considered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from guardgraph.guards import research as guards
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.urls import allowed_hosts
from guardgraph.nodes.body import Pass, Run, declares
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import ResearchBudget, ResearchPolicy, ResearchState, ResearchTask, Sources

__all__ = ["ResearchRun", "check_request", "limit", "lists", "reader_scope", "regions", "usable_sources"]

ResearchRun = Run[ResearchPolicy, ResearchBudget]

PAGE_LIMITS = ("max_page_seconds", "max_wire_bytes", "max_page_bytes")
"""What a reader is told of the budget."""


@declares(writes=["task"])
def check_request(state: JsonObject, run: ResearchRun) -> Pass:
    """Parse the input; its hints must be readable before anything is run."""
    task = guards.parse_research_request(state.get("goal"), state.get("request"))
    lists(task, run)
    return Pass({"task": task})


def usable_sources(
    names: Iterable[str], state: ResearchState, run: ResearchRun, *, led_to: Mapping[str, str] | None = None
) -> tuple[list[str], Sources]:
    """Return the URLs that may be used now, also where their pages were in the end; and what became of the sources."""
    return guards.usable_sources(names, state["accepted_sources"], **lists(state["task"], run), led_to=led_to or {})


def reader_scope(task: ResearchTask, run: ResearchRun) -> JsonObject:
    """Return where a reader may go at this moment: the hosts on both lists, and the caps of a page."""
    return {
        "hosts": allowed_hosts(**lists(task, run)),
        "limits": {name: getattr(run.budget, name) for name in PAGE_LIMITS},
    }


def limit(name: str, task: ResearchTask, run: ResearchRun) -> int:
    """Return one of the limits that a request's hints may tighten."""
    return guards.research_limit(name, task["policy_hints"].get(name), allowed=getattr(run.budget, name))


def regions(run: ResearchRun) -> tuple[str, ...]:
    """Return the regions that count as facts."""
    return (*DEFAULT_REGIONS, *run.policy.known_regions)


def lists(task: ResearchTask, run: ResearchRun) -> dict[str, list[str]]:
    """Return both domain lists as they are at this moment, narrowed by the request's hints."""
    hints, policy = task["policy_hints"], run.policy
    narrowed = guards.narrowed_domains
    return {
        "policy": narrowed(hints, "allowed_domains_policy", policy.allowed_domains_policy),
        "execution": narrowed(hints, "allowed_domains_execution", policy.allowed_domains_execution),
    }
