"""The guard of links: what a model wrote has no active markup, and no link that nothing supports."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from guardgraph.grounding.links import find_link_problem
from guardgraph.guards.stop import Stop
from guardgraph.state.settings import TextPolicy


def check_links(
    texts: Iterable[str],
    family: str,
    *,
    cited: Iterable[str],
    policy: TextPolicy | None,
    known_names: Collection[str] = (),
) -> None:
    """Refuse texts with active markup, or with a link that nothing supports."""
    if policy is None:
        return
    problem = find_link_problem(
        texts, cited, known_links=policy.known_links, markup=policy.markup, known_names=known_names
    )
    if problem is not None:
        raise Stop(f"{family}:{problem.kind}", unsupported=problem.shown)


def has_supported_links(text: str, *, cited: Iterable[str], policy: TextPolicy) -> bool:
    """Say whether `check_links` lets a text pass."""
    return find_link_problem([text], cited, known_links=policy.known_links, markup=policy.markup) is None
