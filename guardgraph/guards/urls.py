"""Whether a URL may be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.plain.scopes import make_scope_set, meet_scopes
from guardgraph.plain.urls import parse_url_target

SHOWN_URL_CHARS = 200  # characters of a dropped URL that a result repeats
MOST_HITS = 1000  # hits that are looked through for such as count, where a search finds more than it was asked for


def count_every_hit(url: object) -> bool:
    """Say that a hit counts, whatever it is."""
    return True


def cut_found_urls(
    urls: Sequence[JsonValue], *, max_hits: int, is_counted: Callable[[object], bool] = count_every_hit
) -> list[JsonValue]:
    """Keep the hits up to the last one that was asked for; what does not count takes no place."""
    kept: list[JsonValue] = []
    counted = 0
    for url in urls[: max(max_hits, MOST_HITS)]:
        if counted >= max_hits:
            break
        counted += is_counted(url)
        kept.append(url)
    return kept


def dedupe_found_urls(
    urls: Sequence[object], *, max_urls: int, is_counted: Callable[[object], bool] = count_every_hit
) -> tuple[dict[str, str], list[str]]:
    """Keep every URL once."""
    targets = [(url, parse_url_target(url) if isinstance(url, str) else None) for url in urls]
    spelled: dict[str, str] = {}
    counted = 0
    for _, known in targets:
        if known is None or known.identity in spelled or max_urls < 1:
            continue
        if is_counted(known.identity):
            counted += 1
            if counted > max_urls:
                continue
        spelled[known.identity] = known.serialised
    return spelled, [excerpt_value(url, SHOWN_URL_CHARS) for url, known in targets if known is None]


def is_url_allowed(
    url: object, *, policy: Collection[str], execution: Collection[str], denied: Collection[str] = ()
) -> bool:
    """Say whether the lists allow what a search found; what is no URL, no list allows."""
    return isinstance(url, str) and explain_url_denial(url, policy=policy, execution=execution, denied=denied) is None


def explain_url_denial(
    url: str, *, policy: Collection[str], execution: Collection[str], denied: Collection[str] = ()
) -> str | None:
    """Say why a URL may not be read."""
    known = parse_url_target(url)
    if known is None or known.protocol not in {"http:", "https:"}:
        return "source_denied_scheme"
    if known.userinfo:
        return "source_denied_userinfo"
    if known.port:
        return "source_denied_port"
    if make_scope_set(tuple(denied)).denies_host(known.host):
        return "source_denied_listed"
    if not make_scope_set(tuple(policy)).has_host(known.host):
        return "source_denied_policy"
    if not make_scope_set(tuple(execution)).has_host(known.host):
        return "source_denied_execution"
    return None


def list_allowed_hosts(
    *, policy: Collection[str], execution: Collection[str], denied: Collection[str] = ()
) -> list[str]:
    """Return entries of the hosts that both lists allow, without those that are denied as a whole; sorted."""
    met, refused = meet_scopes(tuple(policy), tuple(execution)), make_scope_set(tuple(denied))
    return sorted({scope.entry for scope in make_scope_set(met).scopes if not refused.denies_scope(scope)})


def make_host_scope(
    *, policy: Collection[str], execution: Collection[str], denied: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return where a reader may go: `hosts`, and what is `denied` within wider ones of them, where anything is."""
    hosts = list_allowed_hosts(policy=policy, execution=execution, denied=denied)
    refused = make_scope_set(tuple(denied))
    within = {inner.entry for scope in make_scope_set(tuple(hosts)).scopes for inner in refused.list_within(scope)}
    return {"hosts": hosts, **({"denied": sorted(within)} if within else {})}
