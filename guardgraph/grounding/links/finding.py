"""Finding links: every URL, host and mail address that a reading of a text has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from guardgraph.grounding.links.hosts import AROUND, LONGEST_HOST, cut_to_host, is_file_or_attribute, is_registrable
from guardgraph.plain.urls import normalise_host, parse_url_target

Kind: TypeAlias = Literal["url", "host", "mail", "target"]


class Link(NamedTuple):
    """Something that leads somewhere."""

    kind: Kind
    """A URL, a bare host, a mail address, or a target of a link that is none of these, such as a relative one."""
    identities: tuple[str, ...]
    """The spellings under which it counts as itself: of a URL without a scheme there are two."""
    host: str  # as URLs carry it; blank where there is none
    shown: str  # as it stands in the text


_LABEL: Final = (
    r"[^\s\x00-,./:-@\[-^`{-\x9f\xa1-\xbf\xd7\xf7\u2000-\u206f\u2190-\u23ff\u2500-\u25ff\u3000-\u303f\u30fb"
    r"\uff00-\uffef\ufffc\ufffd]"
)
"""What can stand in a label of a host; browsers open hosts with nearly any letter, and emoji too."""
_RUN: Final = r"[^\s<>\"'`\\\[\]{}|^\x00-\x1f\u2018-\u201f\u3000-\u303f]"
"""What can stand in a URL before it ends in a text."""

_SLASHES = re.compile(rf"/{{2,}}(?P<rest>(?:\[[0-9A-Fa-f:.%]{{2,60}}\])?(?:(?!\#){_RUN})*(?:\#(?:(?!//){_RUN})*)?)")
"""A fragment is no part of an identity, so another URL in one is a link of its own."""
_SCHEME = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9+.\-]*):$")
_ANY_SLASHES: Final = frozenset({"ftp", "http", "https", "ws", "wss"})
"""Schemes before a host in which any number of slashes counts as two."""
_AT = re.compile(rf"@(?P<host>{_LABEL}++(?:\.{_LABEL}++)*|\[[0-9A-Fa-f:.]{{2,60}}\])")
_LOCAL = re.compile(r"[^\s@<>()\[\],;:\"'`\\/=?&|{}]+$")
_DOTTED = re.compile(
    rf"(?<!{_LABEL})(?P<host>{_LABEL}++(?:\.{_LABEL}++)+)(?P<rest>\.?(?::\d{{1,5}}(?!\d))?(?:[/?#]{_RUN}*+)?)"
)
_AUTHORITY = re.compile(r"[^/?#]*")
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_PORT = re.compile(r":\d")

_LONGEST_SCHEME: Final = 32
_LONGEST_LOCAL: Final = 64  # characters of what stands before the sign of a mail address (RFC 5321)
_SPACE: Final = " "


def find_links(reading: str) -> list[Link]:
    """Find the URLs, mail addresses and hosts of a reading, in time that grows with its length and no faster."""
    return [*_scan_links_of_reading(reading, generous=False)]


def list_licensed_links(reading: str) -> list[Link]:
    """Find whatever of a cited text could be a link: any dotted word too, since it may be written so again."""
    return [*_scan_links_of_reading(reading, generous=True)]


def _scan_links_of_reading(reading: str, *, generous: bool) -> Iterator[Link]:
    rest = reading
    for scan in (_scan_urls, _scan_mail_addresses):
        found = [*scan(rest)]
        yield from (link for link, _, _ in found)
        spans = [(start, end) for _, start, end in found]
        parts, at = [], 0
        for start, end in spans:
            parts += [rest[at:start], _SPACE * (end - max(start, at))]
            at = end
        rest = "".join([*parts, rest[at:]])
    yield from _scan_dotted_words(rest, generous=generous)


def _scan_urls(text: str) -> Iterator[tuple[Link, int, int]]:
    """Yield what has two slashes before a host; of what has no scheme, only what a host could follow."""
    for match in _SLASHES.finditer(text):
        start, rest = match.start(), trim_url(match["rest"])
        before = _SCHEME.search(text[max(0, start - _LONGEST_SCHEME) : start])
        if before is not None:
            slashes = "//" if before["name"].lower() in _ANY_SLASHES else text[start : match.start("rest")]
            url = f"{before[0]}{slashes}{rest}"
            yield make_url(url, url), start - len(before[0]), match.start("rest") + len(rest)
        elif (host := _read_authority_host(rest)) is not None:
            schemes = ("https", "http")
            known = [target for scheme in schemes if (target := parse_url_target(f"{scheme}://{rest}")) is not None]
            identities = tuple(target.identity for target in known)
            yield Link("url", identities, host, f"//{rest}"), start, match.start("rest") + len(rest)


def make_url(url: str, shown: str) -> Link:
    """Return the link that an absolute URL is, also one that no browser could open."""
    known = parse_url_target(url)
    return Link("url", (url if known is None else known.identity,), "" if known is None else known.host, shown)


def _read_authority_host(rest: str) -> str | None:
    """Return the host of what follows two slashes in a text, where it can only be one."""
    authority = _AUTHORITY.match(rest)
    known = parse_url_target(f"https://{authority[0] if authority else ''}")
    if known is None or ("." not in known.host.strip(".") and not known.host.startswith("[")):
        return None
    return known.host if known.host[0] in "[0123456789" or is_registrable(known.host.rstrip(".")) else None


def trim_url(run: str) -> str:
    """Return a run of letters without what ends a sentence, an emphasis or a bracket behind a URL."""
    end, left = len(run), run.count("(") - run.count(")")
    while end and (run[end - 1] in ".,;:!?*_~\u2026" or (run[end - 1] == ")" and left < 0)):
        end -= 1
        left += run[end] == ")"
    return run[:end]


def _scan_mail_addresses(text: str) -> Iterator[tuple[Link, int, int]]:
    end = 0
    for match in _AT.finditer(text):
        at = match.start()
        local = _LOCAL.search(text[max(end, at - _LONGEST_LOCAL) : at])
        host = match["host"].rstrip("-_")
        if local is None or not (name := local[0].lstrip("*_~.!#$%^+-")):
            continue
        if (link := make_mail(name, cut_to_host(host) if "." in host else host)) is not None and "." in link.host:
            yield link, at - len(name), (end := match.end())


def make_mail(name: str, host: str) -> Link | None:
    """Return the link that a mail address is, None where its host is none, such as a version."""
    known = host if host.startswith("[") else normalise_host(host)
    if known is None or known.rpartition(".")[2].isdigit() or len(known.rpartition(".")[2]) < 2:
        return None
    return Link("mail", (f"{name.lower()}@{known}",), known, f"{name}@{host}")


def _scan_dotted_words(text: str, *, generous: bool) -> Iterator[Link]:
    for match in _DOTTED.finditer(text):
        written = match["host"]
        if len(written) > LONGEST_HOST:
            continue
        host = cut_to_host(written)
        rest = trim_url(match["rest"]) if written.rstrip("-_").endswith(host) else ""
        known = normalise_host(host)
        if known is None:
            continue
        if _IPV4.fullmatch(known):  # a browser takes "1.5" for one too
            if not generous and not (_IPV4.fullmatch(host) and _PORT.match(rest)):
                continue
        elif not (generous or is_registrable(known)):
            continue
        start, end = match.span("host")
        before, following = text[max(0, start - AROUND) : start], text[end : end + AROUND]
        if rest.startswith("#") and is_file_or_attribute(host, ""):  # a place in a file
            rest = ""
        if rest.strip("."):
            target = parse_url_target(f"https://{host}{rest}")
            if target is not None:
                plain = f"http{target.identity.removeprefix('https')}"
                yield Link("url", (target.identity, plain), known, f"{host}{rest}")
            if target is None or generous:
                yield Link("host", (known,), known, host)
        elif generous or host.lower().startswith("www.") or not is_file_or_attribute(host, following, before):
            yield Link("host", (known,), known, host)
