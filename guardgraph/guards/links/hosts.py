"""Hosts: what is one, which name nobody, and which dotted words are none."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Any, Final

from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.letters import is_unspaced_letter
from guardgraph.plain.memory import remember_by_text
from guardgraph.plain.scopes import load_public_suffixes
from guardgraph.plain.urls import normalise_host

_NAMES: Final = 2048
LONGEST_HOST: Final = 255
"""Characters that a host may have (RFC 1035, section 2.3.4); what is longer leads nowhere."""

_GOES_ON = re.compile(r"\s+\S|,")
_CALLED = re.compile(r"\(|\s*=")


@cache
def list_words(name: str) -> frozenset[str]:
    """Return one of the lists of `data/links.json`."""
    return frozenset(load_word_lists("links")[name])


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
    return tuple(map(ip_network, load_word_lists("links")["addresses"]))


def cut_to_host(word: str) -> str:
    """Return what of a dotted word can be a host, as it is written.

    Letters of scripts without blanks before Latin ones are words of the text, and so is whatever stands behind the
    letters of a Latin suffix: ``evil.comを``.
    """
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


def is_file_or_attribute(host: str, following: str) -> bool:
    """Say whether a dotted word without scheme, port and path is a file, an attribute or the end of a sentence.

    Args:
        host: as it is written.
        following: what stands behind it, at least two characters where there are as many.
    """
    labels = host.split(".")
    last = labels[-1].lower()
    if last in list_words("endings"):
        return True
    if _CALLED.match(following):
        return last not in list_words("generic")
    if len(labels) > 2 or not labels[-1].istitle():
        return False
    if len(labels[0]) == 1 and not labels[0].isascii():  # "г.Москва": a town behind its abbreviation
        return True
    if not _GOES_ON.match(following):
        return False
    return last in list_words("words") or labels[0].lower() in list_words("abbreviations")
