"""The one place from which pages are dialled: a name is looked up once, its addresses are judged, one is dialled."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import resources
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

import httpcore2

from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.scopes import is_public_name
from guardgraph.plain.secrets import mask_secrets
from guardgraph.plain.urls import parse_url
from guardgraph.web.limits import Meter
from guardgraph.world.deadline import run_in_call_thread

# `ipaddress.is_global` is not asked: it takes `::127.0.0.1`, `64:ff9b::7f00:1`, `fec0::1`, `192.88.99.1`, `3fff::1`,
# `5f00::1` and multicast for global, and differs between versions of Python.
Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


@cache
def list_reserved_networks() -> tuple[tuple[Network, str], ...]:
    """Return networks whose addresses are nobody's on the public internet, each with its use."""
    text = (resources.files("guardgraph.web") / "not_public.txt").read_text(encoding="utf-8")
    rows = (line.partition(" ") for line in text.splitlines() if not line.startswith("#"))
    return tuple((ip_network(network), use) for network, _, use in rows)


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
    found, required = list[Network](), "allowed_addresses: a network is required, such as '127.0.0.0/8'"
    for each in given:
        if not isinstance(each, str | IPv4Network | IPv6Network | IPv4Address | IPv6Address):
            raise ConfigurationError(f"{required}; given: {each!r:.80}")
        try:
            found.append(ip_network(each))
        except ValueError as error:
            raise ConfigurationError(f"{required}; {error}") from None
    return tuple(found)


def _find_address_use(address: Address) -> str | None:
    for network, use in list_reserved_networks():
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


Place: TypeAlias = tuple[str, int]  # an address and a port

Resolve: TypeAlias = Callable[[str, int], Place | Sequence[Place]]
"""Where a host and a port are to be found: an address and a port, or several."""

MOST_DIALLED = 4  # addresses of one name that are tried, one after another


class Backend(httpcore2.NetworkBackend):
    """Dials for one page."""

    def __init__(self, resolve: Resolve | None, allowed: tuple[Network, ...], meter: Meter) -> None:
        self._resolve = resolve or _resolve_by_system
        self._allowed, self._meter = allowed, meter

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        """Connect to one of a host's addresses; what is passed in vain is the interface's."""
        began = time.monotonic()
        places = self._check_host_addresses(host, self._resolve_host(host, port, began))[:MOST_DIALLED]
        if not places:
            raise ReadFailure("connection", {"host": host, "cause": "the name has no address"})
        for number, (address, at) in enumerate(places):
            left = self._meter.check_seconds_left("max_connect_seconds", began)
            try:
                return Stream(_dial_address(address, at, left / (len(places) - number)), self._meter, began)
            except OSError as error:
                failed = error
        self._meter.check_seconds_left("max_connect_seconds", began)
        raise ReadFailure("connection", {"host": host, "cause": _format_socket_error(failed)}) from failed

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        """Refuse: no page is read from a file of this machine."""
        raise ReadFailure("address_denied", {"cause": "a socket of this machine"})

    def _resolve_host(self, host: str, port: int, began: float) -> list[tuple[Address, int]]:
        literal = parse_ip_address(host)
        if literal is not None:
            return [(literal, port)]
        try:
            left = self._meter.check_seconds_left("max_connect_seconds", began)
            found = run_in_call_thread(partial(self._resolve, host, port)).result(timeout=left)
        except TimeoutError:
            raise self._meter.make_timeout_failure("max_connect_seconds") from None
        except (OSError, ValueError, LookupError) as error:
            raise ReadFailure("connection", {"host": host, "cause": _format_socket_error(error)}) from error
        return _parse_resolved_addresses(found)

    def _check_host_addresses(self, host: str, places: list[tuple[Address, int]]) -> list[tuple[Address, int]]:
        for address, _ in places:
            if (use := explain_denied_address(address, self._allowed)) is not None:
                raise ReadFailure("address_denied", {"host": host, "address": str(address), "cause": use})
        return places


class Proxy(NamedTuple):
    """A proxy of the company, through which all pages are read; it looks names up in our place."""

    url: httpcore2.URL
    authorization: tuple[bytes, bytes] | None  # user and password

    def check_host(self, host: str, allowed: Iterable[Network] = ()) -> None:
        """Refuse a host that the proxy might find inside the house, since nobody here sees its address."""
        literal = parse_ip_address(host)
        if literal is not None:
            if not any(literal in network for network in allowed):
                raise ReadFailure("address_denied", {"host": host, "cause": "an address, where a proxy is used"})
        elif not is_public_name(host):
            raise ReadFailure("address_denied", {"host": host, "cause": "no name of the public internet"})


def parse_proxy(given: object) -> Proxy:
    """Read `proxy`."""
    parsed = parse_url(given) if isinstance(given, str) else None
    if parsed is None or parsed.protocol != "http:" or parsed.pathname != "/" or parsed.search or parsed.hash:
        shown = mask_secrets(given) if isinstance(given, str) else repr(given)
        required = "a URL such as 'http://proxy.example.com:3128' is required"
        raise ConfigurationError(f"proxy: {required}; given: {shown:.80}")
    host, port = parsed.hostname.removeprefix("[").removesuffix("]"), int(parsed.port or 80)
    url = httpcore2.URL(scheme=b"http", host=host.encode(), port=port, target=b"/")
    user = (unquote_to_bytes(parsed.username), unquote_to_bytes(parsed.password))
    return Proxy(url, user if any(user) else None)


class ProxyBackend(Backend):
    """Dials a proxy for one page: a deployment named it, so its address is not judged."""

    def __init__(self, meter: Meter) -> None:
        super().__init__(None, (), meter)

    def _check_host_addresses(self, host: str, places: list[tuple[Address, int]]) -> list[tuple[Address, int]]:
        return places


class Stream(httpcore2.NetworkStream):
    """A connection whose bytes and seconds count, whatever comes over it."""

    def __init__(self, connected: socket.socket, meter: Meter, began: float) -> None:
        self._socket, self._meter, self._began = connected, meter, began
        self._asked: float | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what came, b"" at the end."""
        with self._map_socket_errors("max_first_byte_seconds" if self._asked is not None else None, self._asked or 0.0):
            data = self._socket.recv(max_bytes)
        self._asked = None
        self._meter.count_wire_bytes(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        try:
            with self._map_socket_errors():
                self._socket.sendall(buffer)
        except ReadFailure as failure:
            if failure.reason != "connection":
                raise
            raise httpcore2.WriteError(str(failure)) from failure  # the answer may stand there already: it is read then
        finally:
            self._asked = time.monotonic()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """Return the same connection behind TLS, once the server has proved that it is the host."""
        try:
            with self._map_socket_errors("max_connect_seconds", self._began, host=server_hostname):
                # An end that is not the server's own "close" may be anybody's, who would cut a page short.
                wrapped = ssl_context.wrap_socket(
                    self._socket, server_hostname=server_hostname, suppress_ragged_eofs=False
                )
        except ReadFailure:
            self.close()
            raise
        return Stream(wrapped, self._meter, self._began)

    def get_extra_info(self, info: str) -> Any:
        """Return nothing: connections are not used again, so nobody has to look at one."""
        return None

    @contextmanager
    def _map_socket_errors(self, name: str | None = None, since: float = 0.0, **about: Any) -> Iterator[None]:
        """Allow a step its time, and raise what a socket raises as a `ReadFailure`."""
        try:
            self._socket.settimeout(self._meter.check_seconds_left(name, since))
            yield
        except TimeoutError:
            self._meter.check_seconds_left(name, since)  # says which time is up
            raise self._meter.make_timeout_failure(name) from None
        except (OSError, ValueError) as error:
            reason = "tls" if about and isinstance(error, ssl.SSLError | ValueError) else "connection"
            raise ReadFailure(reason, {**about, "cause": _format_socket_error(error)}) from error


def _dial_address(address: Address, port: int, seconds: float) -> socket.socket:
    connected = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)
    try:
        connected.settimeout(seconds)
        connected.connect((str(address), port))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connected.close()
        raise
    return connected


def _resolve_by_system(host: str, port: int) -> list[Place]:
    # As bytes, since a text would be encoded once more, by older rules than those of URLs.
    found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
    return [(str(place[0]), int(place[1])) for *_, place in found]


def _parse_resolved_addresses(found: object) -> list[tuple[Address, int]]:
    pairs = [found] if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str) else found
    places = []
    for pair in pairs if isinstance(pairs, list | tuple) else [pairs]:
        match pair:
            case [str(text), int(port)] if (address := parse_ip_address(text)) is not None and 0 < port < 65536:
                places.append((address, port))
            case _:
                raise ConfigurationError(f"resolve: an address and a port are required; given: {pair!r:.80}")
    return places


def _format_socket_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
