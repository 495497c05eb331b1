"""Hosts: what is one, which name nobody, and which dotted words are none."""

from __future__ import annotations

import json
import re
from functools import cache
from ipaddress import ip_address, ip_network
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

from guardgraph.plain.letters import is_unspaced_letter
from guardgraph.plain.memory import remember_by_text
from guardgraph.plain.scopes import load_public_suffixes
from guardgraph.plain.urls import normalise_host

_NAMES: Final = 2048
LONGEST_HOST: Final = 255  # characters that a host may have (RFC 1035, section 2.3.4); what is longer leads nowhere

_GOES_ON = re.compile(r"\s+\S|,")
_CALLED = re.compile(r"\(|\s*=")

AROUND: Final = 64  # letters before a dotted word, and behind it, that tell a host from a file
_CLAUSE_END = re.compile(r"[.!?;]\s|\n\s*\n|\u2026")
_WORD = re.compile(r"\w+")


@cache
def _load_words() -> Any:
    return json.loads((Path(__file__).parent / "words.json").read_text("utf-8"))


@cache
def list_words(name: str) -> frozenset[str]:
    """Return one of the lists of `data/links.json`."""
    return frozenset(_load_words()[name])


@remember_by_text(texts=_NAMES, chars=LONGEST_HOST)
def is_public_suffix(name: str) -> bool:
    """Say whether anybody may register names directly under a name, such as ``com`` or ``co.uk``."""
    host = normalise_host(name)
    return host is not None and load_public_suffixes(private=False).publicsuffix(host) == host


@remember_by_text(texts=_NAMES, chars=LONGEST_HOST)
def is_registrable(host: str) -> bool:
    """Say whether a host, as URLs carry it, stands under a public suffix and could be somebody's."""
    registered = load_public_suffixes(private=False).privatesuffix(host)
    return registered is not None and "_" not in registered


@remember_by_text(texts=_NAMES, chars=LONGEST_HOST)
def is_documentation_host(host: str) -> bool:
    """Say whether a host names nobody: it is kept for examples, tests and this machine."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        labels = host.rstrip(".").split(".")
        return any(".".join(labels[at:]) in list_words("documentation") for at in range(len(labels)))
    return any(address in network for network in _list_networks() if network.version == address.version)


@cache
def _list_networks() -> tuple[Any, ...]:
    return tuple(map(ip_network, _load_words()["addresses"]))


def cut_to_host(word: str) -> str:
    """Return what of a dotted word can be a host, as it is written."""
    labels = word.strip("-_").split(".")
    if word.isascii():
        return ".".join(labels)
    first = labels[0]
    start = next((at for at in range(len(first), 0, -1) if is_unspaced_letter(first[at - 1])), 0)
    if start < len(first) and first[start].isascii():
        labels[0] = first[start:]
    last = labels[-1]
    end = next((at for at, letter in enumerate(last) if not letter.isascii()), len(last))
    if end:
        labels[-1] = last[:end]
    return ".".join(labels)


def is_file_or_attribute(host: str, following: str, before: str = "") -> bool:
    """Say whether a dotted word without scheme, port and path is a file, an attribute or the end of a sentence."""
    labels = host.split(".")
    last = labels[-1].lower()
    if last in list_words("endings"):
        around = [text.replace(host, " ") for text in (before, following)]  # "link.md" does not say that one goes there
        return not (_is_formed_as_host(labels) or (not _CALLED.match(following) and _is_gone_to(*around)))
    if _CALLED.match(following):
        return last not in list_words("generic")
    if len(labels) > 2 or not labels[-1].istitle():
        return False
    if len(labels[0]) == 1 and not labels[0].isascii():  # "г.Москва": a town behind its abbreviation
        return True
    if not _GOES_ON.match(following):
        return False
    return last in list_words("words") or labels[0].lower() in list_words("abbreviations")


@remember_by_text(texts=_NAMES, chars=LONGEST_HOST)
def _stands_under_platform(host: str) -> bool:
    """Say whether a host stands under a public suffix of two labels or more, such as ``web.app`` or ``co.rs``."""
    known = normalise_host(host)
    return known is not None and "." in (load_public_suffixes(private=True).publicsuffix(known) or "")


def _is_formed_as_host(labels: list[str]) -> bool:
    """Say whether labels, the last of which may end a file, are those of a host by their form."""
    host = ".".join(labels)
    if not host.isascii() or _stands_under_platform(host):
        return True
    if len(labels) < 3:
        return False
    if labels[-2].lower() in list_words("generic"):
        return True
    is_plain = "_" not in host and (host.islower() or host.isupper()) and not any(map(str.isdigit, labels))
    return is_plain and labels[-1].lower() not in list_words("members")


def _is_gone_to(before: str, following: str) -> bool:
    """Say whether the clause around a dotted word makes it a place that somebody goes to, and no path has it."""
    if before.endswith(("/", "\\")):
        return False
    before = _CLAUSE_END.split(before)[-1].casefold()
    following = _CLAUSE_END.split(following)[0].casefold()
    words = _WORD.findall(before)
    if words and words[-1] in list_words("leading"):
        return True
    said = [words, _WORD.findall(following)]
    pairs = [" ".join(pair) for part in said for pair in pairwise(part)]
    return not list_words("going").isdisjoint([*chain.from_iterable(said), *pairs])
