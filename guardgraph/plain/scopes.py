"""Scopes: which hosts an entry of a list means.

An entry is a host and means that host alone; ``domain:example.com`` means the registrable domain with every host under
it; ``suffix:gov`` means every host under a public suffix. `EVERYWHERE` means every host; nobody writes it into a list,
and the guards have it where a policy is open. Source: the Public Suffix List
(https://publicsuffix.org/list), as the package publicsuffixlist brings it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from ipaddress import ip_address
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from guardgraph.plain.memory import remember_by_text
from guardgraph.plain.urls import find_host_problem, normalise_host, parse_url

Reach: TypeAlias = Literal["host", "domain", "suffix", "every"]

EVERYWHERE: Final = "*"  # the entry that means every host
DOMAIN: Final = "domain:"
SUFFIX: Final = "suffix:"
_KNOWN: Final = 4096
_CHARS: Final = 300


@cache
def load_public_suffixes(*, private: bool) -> Any:
    """Return the Public Suffix List; an ending that it does not have is a suffix where `private` ones are."""
    from publicsuffixlist import PublicSuffixList  # reads 16,000 lines

    return PublicSuffixList(accept_unknown=private, only_icann=not private)


@cache
def read_public_suffixes_version() -> str:
    """Return the version of the Public Suffix List that is installed."""
    from importlib.metadata import version

    return version("publicsuffixlist")


@remember_by_text(texts=_KNOWN, chars=_CHARS)
def find_registrable_domain(host: str) -> str | None:
    """Return the domain that somebody registered for a host, such as ``example.com``."""
    return _find_private_suffix(host, private=True)


def is_public_name(host: str) -> bool:
    """Say whether a host is a name under a suffix of the public internet, and no ``localhost`` or ``wiki.internal``."""
    return _find_private_suffix(host, private=False) is not None


def _find_private_suffix(host: str, *, private: bool) -> str | None:
    name = host.rstrip(".")
    is_name = name and not _is_ip_address(name) and "" not in name.split(".")
    return load_public_suffixes(private=private).privatesuffix(name) if is_name else None


class HostScope(NamedTuple):
    """What one entry of a list means."""

    reach: Reach
    name: str  # as URLs carry it

    @property
    def entry(self) -> str:
        """The entry in its normal form."""
        return self.name if self.reach in ("host", "every") else f"{self.reach}:{self.name}"


@remember_by_text(texts=_KNOWN, chars=_CHARS)
def parse_scope(entry: str) -> HostScope | None:
    """Return what an entry means; None for what can mean nothing, such as ``domain:com``."""
    if entry == EVERYWHERE:
        return HostScope("every", EVERYWHERE)
    reach, name = _split_scope_entry(entry)
    if reach is None:
        host = normalise_host(name)
        return None if host is None else HostScope("host", host)
    host = normalise_host(name) if find_host_problem(name) is None else None
    if host is None:
        return None
    is_registrable = not host.endswith(".") and find_registrable_domain(host) == host
    return HostScope(reach, host) if (is_registrable if reach == "domain" else _is_public_suffix(host)) else None


def find_scope_problem(entry: str) -> str | None:
    """Say what keeps a text from being an entry of a list, None where it is one; blanks around it do not count."""
    reach, name = _split_scope_entry(entry)
    if reach is None:
        if name == EVERYWHERE:
            return f"no entry means every host; a policy that allows it says open: true; given: {entry!r:.80}"
        if find_host_problem(name) is None:
            return None
        required = "a host, domain:NAME or suffix:NAME is required, without scheme, user, port, path or wildcard"
        meant = parse_url(name if "://" in name else f"https://{name.removeprefix('*.')}")
    else:
        if parse_scope(entry) is not None:
            return None
        example = "a registrable domain, such as example.com," if reach == "domain" else "a public suffix, such as gov,"
        required, meant = f"{example} is required behind {reach}:", parse_url(f"https://{name}")
    hint = _guess_scope_entry(meant.hostname, is_host=reach is None and "*" not in name) if meant is not None else None
    return f"{required}; given: {entry!r:.80}" + (f"; did you mean {hint!r:.80}?" if hint else "")


def _split_scope_entry(entry: str) -> tuple[Literal["domain", "suffix"] | None, str]:
    given = entry.strip()
    if given.startswith(DOMAIN):
        return "domain", given.removeprefix(DOMAIN).strip()
    if given.startswith(SUFFIX):
        return "suffix", given.removeprefix(SUFFIX).strip()
    return None, given


def _guess_scope_entry(host: str, *, is_host: bool) -> str | None:
    if is_host:
        return host if find_host_problem(host) is None else None
    if domain := find_registrable_domain(host):
        return f"{DOMAIN}{domain}"
    return f"{SUFFIX}{host}" if _is_public_suffix(host) else None


class ScopeSet:
    """The scopes of a list, for questions about many hosts. What is no entry means nothing."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.scopes = tuple(dict.fromkeys(scope for entry in entries if (scope := parse_scope(entry)) is not None))
        self._hosts = frozenset(scope.name for scope in self.scopes if scope.reach == "host")
        self._bare_hosts = frozenset(name.rstrip(".") for name in self._hosts)
        self._domains = frozenset(scope.name for scope in self.scopes if scope.reach == "domain")
        self._suffixes = frozenset(scope.name for scope in self.scopes if scope.reach == "suffix")
        self.has_every_host = any(scope.reach == "every" for scope in self.scopes)

    def has_host(self, host: str) -> bool:
        """Say whether an entry means a host, as URLs carry it; ``example.com.`` is another than ``example.com``."""
        return self.has_every_host or host in self._hosts or (not host.endswith(".") and self._has_wider_scope(host))

    def denies_host(self, host: str) -> bool:
        """Say whether an entry denies a host; unlike where hosts are allowed, points at its end change nothing."""
        bare = host.rstrip(".")
        return self.has_every_host or bare in self._bare_hosts or self._has_wider_scope(bare)

    def denies_scope(self, scope: HostScope) -> bool:
        """Say whether entries deny all that a scope means."""
        return self.denies_host(scope.name) if scope.reach == "host" else self.covers(scope)

    def covers(self, scope: HostScope) -> bool:
        """Say whether one entry means all that a scope does."""
        if self.has_every_host or scope.reach == "every":
            return self.has_every_host
        if scope.reach == "host":
            return self.has_host(scope.name)
        if scope.reach == "domain":
            return self._has_wider_scope(scope.name)
        return any(name in self._suffixes for name in _list_endings(scope.name))

    def list_within(self, scope: HostScope) -> list[HostScope]:
        """Return the entries that mean a part of what a scope does, in their order."""
        if scope.reach == "every":
            return [inner for inner in self.scopes if inner != scope]
        around = ScopeSet((scope.entry,))
        return [inner for inner in self._by_ending.get(scope.name, ()) if inner != scope and around.covers(inner)]

    @cached_property
    def _by_ending(self) -> dict[str, list[HostScope]]:
        """The scopes by whatever their names end with: two long lists meet without holding each entry against each."""
        found: dict[str, list[HostScope]] = {}
        for scope in self.scopes:
            for ending in _list_endings(scope.name):
                found.setdefault(ending, []).append(scope)
        return found

    def _has_wider_scope(self, host: str) -> bool:
        if self._domains and find_registrable_domain(host) in self._domains:
            return True
        if not self._suffixes or _is_ip_address(host):
            return False
        return any(name in self._suffixes for name in _list_endings(host))


@lru_cache(maxsize=64)
def make_scope_set(entries: tuple[str, ...]) -> ScopeSet:
    """Return the scopes of a list; the last ones are kept, since every guard of a run asks them."""
    return ScopeSet(entries)


def meet_scopes(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Return entries for the hosts that both lists mean."""
    other = make_scope_set(theirs)
    met: dict[str, None] = {}
    for entry in ours:
        scope = parse_scope(entry)
        if scope is not None and other.covers(scope):
            met[entry] = None
        elif scope is not None and scope.reach != "host":
            met |= {inner.entry: None for inner in other.list_within(scope)}
    return tuple(met)


def unite_scopes(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Return entries for the hosts that either list means: ours, and those of theirs that mean more."""
    known = make_scope_set(ours)
    more = (entry for entry in theirs if (scope := parse_scope(entry)) is None or not known.covers(scope))
    return tuple(dict.fromkeys((*ours, *more)))


def _list_endings(host: str) -> Iterator[str]:
    """Yield a name and what it ends with, label by label."""
    labels = host.split(".")
    return (".".join(labels[at:]) for at in range(len(labels)))


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _is_public_suffix(host: str) -> bool:
    is_name = not host.endswith(".") and not _is_ip_address(host)
    return is_name and bool(load_public_suffixes(private=True).publicsuffix(host) == host)
