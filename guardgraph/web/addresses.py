"""Which addresses belong to the public internet, so that a page may be read from them."""

# `ipaddress.is_global` is not asked: it takes `::127.0.0.1`, `64:ff9b::7f00:1`, `fec0::1`, `192.88.99.1`, `3fff::1`,
# `5f00::1` and multicast for global, and differs between versions of Python.

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from guardgraph.plain.errors import ConfigurationError

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

NOT_PUBLIC: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), use)
    for network, use in (
        # https://www.iana.org/assignments/iana-ipv4-special-registry, of 2025-10: what is not globally reachable, and
        # the parts of 192.0.0.0/24 that are but serve no pages
        ("0.0.0.0/8", "this network (RFC 791)"),
        ("10.0.0.0/8", "private use (RFC 1918)"),
        ("100.64.0.0/10", "shared address space (RFC 6598)"),
        ("127.0.0.0/8", "loopback (RFC 1122)"),
        ("169.254.0.0/16", "link-local (RFC 3927)"),
        ("172.16.0.0/12", "private use (RFC 1918)"),
        ("192.0.0.0/24", "IETF protocol assignments (RFC 6890)"),
        ("192.0.2.0/24", "documentation (RFC 5737)"),
        ("192.88.99.0/24", "6to4 relays, withdrawn (RFC 7526)"),
        ("192.168.0.0/16", "private use (RFC 1918)"),
        ("198.18.0.0/15", "benchmarking (RFC 2544)"),
        ("198.51.100.0/24", "documentation (RFC 5737)"),
        ("203.0.113.0/24", "documentation (RFC 5737)"),
        ("255.255.255.255/32", "limited broadcast (RFC 919)"),
        ("240.0.0.0/4", "reserved (RFC 1112)"),
        # https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
        ("168.63.129.16/32", "wire server of Azure's machines (Microsoft Learn)"),
        # https://www.iana.org/assignments/multicast-addresses
        ("224.0.0.0/4", "multicast (RFC 5771)"),
        # https://www.iana.org/assignments/iana-ipv6-special-registry, of 2025-10: as above; 2001::/23 has parts that
        # are reachable and serve no pages
        ("::/128", "unspecified (RFC 4291)"),
        ("::1/128", "loopback (RFC 4291)"),
        ("::ffff:0:0/96", "IPv4-mapped (RFC 4291)"),
        ("::/96", "IPv4-compatible, withdrawn (RFC 4291)"),
        ("64:ff9b:1::/48", "translation of local use (RFC 8215)"),
        ("100::/64", "discarded (RFC 6666)"),
        ("100:0:0:1::/64", "dummy prefix (RFC 9780)"),
        ("2001::/32", "Teredo (RFC 4380)"),
        ("2001::/23", "IETF protocol assignments (RFC 2928)"),
        ("2001:db8::/32", "documentation (RFC 3849)"),
        ("2002::/16", "6to4 (RFC 3056)"),
        ("3fff::/20", "documentation (RFC 9637)"),
        ("5f00::/16", "segment routing (RFC 9602)"),
        ("fc00::/7", "unique-local (RFC 4193)"),
        ("fe80::/10", "link-local (RFC 4291)"),
        # https://www.iana.org/assignments/ipv6-address-space
        ("fec0::/10", "site-local, withdrawn (RFC 3879)"),
        ("ff00::/8", "multicast (RFC 4291)"),
    )
)
"""Networks whose addresses are nobody's on the public internet, each with its use and where that stands."""

GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All that IANA gives out of IPv6 (https://www.iana.org/assignments/ipv6-address-space)."""

NAT64 = IPv6Network("64:ff9b::/96")
"""IPv6 addresses that stand for IPv4 ones (RFC 6052): public if the IPv4 address inside is public."""

_MAPPED, _COMPATIBLE = IPv6Network("::ffff:0:0/96"), IPv6Network("::/96")
_TEREDO, _SIX_TO_FOUR = IPv6Network("2001::/32"), IPv6Network("2002::/16")
_LOW = 0xFFFF_FFFF


def explain_denied_address(address: Address, allowed: Iterable[Network] = ()) -> str | None:
    """Say why no page may be read from an address."""
    # An IPv4 address inside of an IPv6 address is judged too, and has to be public or allowed by itself.
    allowed = tuple(allowed)
    for judged in (address, *_list_embedded_addresses(address)):
        use = _find_address_use(judged)
        if use is not None and not any(judged in network for network in allowed):
            return use if judged == address else f"{judged}: {use}"
    return None


def parse_ip_address(text: str) -> Address | None:
    """Read an address as URLs and resolvers write it, in brackets or not; None for a name."""
    try:
        return ip_address(text[1:-1] if text.startswith("[") and text.endswith("]") else text)
    except ValueError:
        return None


def parse_allowed_addresses(given: object) -> tuple[Network, ...]:
    """Read `allowed_addresses`."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ConfigurationError(f"allowed_addresses: a list of networks is required; given: {given!r:.80}")
    return tuple(map(_parse_allowed_network, given))


def _parse_allowed_network(given: object) -> Network:
    try:
        if isinstance(given, str | IPv4Network | IPv6Network | IPv4Address | IPv6Address):
            return ip_network(given)
    except ValueError as error:
        raise ConfigurationError(f"allowed_addresses: a network is required, such as '127.0.0.0/8'; {error}") from None
    raise ConfigurationError(f"allowed_addresses: a network is required, such as '127.0.0.0/8'; given: {given!r:.80}")


def _find_address_use(address: Address) -> str | None:
    for network, use in NOT_PUBLIC:
        if address in network:
            return use
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST and address not in NAT64:
        return "not given out (IANA, Internet Protocol Version 6 Address Space)"
    return None


def _list_embedded_addresses(address: Address) -> Iterator[IPv4Address]:
    if isinstance(address, IPv4Address):
        return
    bits = int(address)
    if address in _MAPPED or address in _COMPATIBLE or address in NAT64:
        yield IPv4Address(bits & _LOW)
    elif address in _SIX_TO_FOUR:
        yield IPv4Address(bits >> 80 & _LOW)
    elif address in _TEREDO:
        yield IPv4Address(bits >> 64 & _LOW)
        yield IPv4Address(~bits & _LOW)  # the client's, with its bits turned (RFC 4380, 4)
