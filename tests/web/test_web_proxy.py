"""A proxy of the company: it looks names up, and what might lie inside the house is refused before it is asked."""

import socket
import threading
from contextlib import closing, suppress

import pytest
from loopback import LoopbackServer
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, answer, redirect

from guardgraph import ConfigurationError, ReadFailure, web_reader
from guardgraph.plain.scopes import is_public_name

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

SAYS = "Refunds take 14 days for all who ask."


class ProxyServer(LoopbackServer):
    """A proxy on loopback that leads every host to one server; its log has what it was asked first."""

    def __init__(self, ports, *, refuses=False):
        super().__init__(None)
        self.ports, self.refuses, self.log = ports, refuses, []
        self.url = f"http://user:pass%20word@127.0.0.1:{self.bound[0]}"

    def _serve(self, connection, context):
        with closing(connection):
            head = b""
            while b"\r\n\r\n" not in head and (data := connection.recv(65_536)):
                head += data
            self.log.append(head.decode())
            method, target, _ = head.split(b" ", 2)
            if self.refuses:
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                return
            is_tunnel = method == b"CONNECT"
            with socket.socket() as server:
                server.connect(("127.0.0.1", self.ports[443 if is_tunnel else 80]))
                if is_tunnel:
                    connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    server.sendall(head.replace(target, b"/" + target.split(b"/", 3)[3], 1))
                back = threading.Thread(target=self._pump, args=(server, connection), daemon=True)
                back.start()
                self._pump(connection, server)
                back.join(5)

    @staticmethod
    def _pump(source, target):
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def read_page(proxy, url, **given):
    """Read a page through the proxy."""
    hosts = ["docs.example.com", "10.0.0.7", "localhost", "wiki.internal", "printer", "[::1]", "2130706433"]
    reader = web_reader(proxy=proxy.url, robots=False, **given)
    return reader({"url": url, "hosts": [*hosts, "169.254.169.254", "127.0.0.1"], "limits": {}})


@pytest.mark.process
def test_a_page_is_read_through_the_proxy_or_a_tunnel():
    """The name goes to the proxy as it is, with the proxy's user; behind a tunnel, too, the server proves who it is."""
    with WebServer({"/a": answer(SAYS)}, names=["docs.example.com"]) as server, ProxyServer(server.ports) as proxy:
        assert read_page(proxy, "http://docs.example.com/a")["body"] == SAYS
        assert proxy.log[0].startswith("GET http://docs.example.com/a HTTP/1.1\r\n")
        assert "Proxy-Authorization: Basic dXNlcjpwYXNzIHdvcmQ=" in proxy.log[0]
        assert read_page(proxy, "https://docs.example.com/a", ssl_context=server.trusting)["body"] == SAYS
        assert proxy.log[1].startswith("CONNECT docs.example.com:443 ")
        assert "/a" not in proxy.log[1]
        with pytest.raises(ReadFailure, match="tls"):
            read_page(proxy, "https://docs.example.com/a")


@pytest.mark.parametrize("host", ["169.254.169.254", "[::1]", "2130706433", "localhost", "wiki.internal", "printer"])
def test_addresses_and_private_names_are_refused_before_the_proxy_is_asked(host):
    with WebServer({"/a": redirect(f"http://{host}/secret")}) as server, ProxyServer(server.ports) as proxy:
        for url in (f"http://{host}/secret", "http://docs.example.com/a"):
            with pytest.raises(ReadFailure) as raised:
                read_page(proxy, url)
            assert raised.value.reason in {"address_denied", "redirect_denied"}
        assert all("secret" not in asked and host not in asked for asked in proxy.log)
        assert len(proxy.log) == 1


def test_a_proxy_that_refuses_is_a_failure():
    with WebServer(names=["docs.example.com"]) as server, ProxyServer(server.ports, refuses=True) as proxy:
        for url, reason in (("https://docs.example.com/a", "connection"), ("http://docs.example.com/a", "http_status")):
            with pytest.raises(ReadFailure) as raised:
                read_page(proxy, url)
            assert raised.value.reason == reason
            assert "pass" not in str(raised.value.details)


@pytest.mark.parametrize("given", ["proxy:3128", "socks5://a.example:1", "http://u:hidden1@a.example/path", 7, ""])
def test_what_is_no_proxy_is_refused(given):
    with pytest.raises(ConfigurationError, match="proxy: a URL") as raised:
        web_reader(proxy=given)
    assert "hidden1" not in str(raised.value)


def test_names_are_looked_up_by_the_proxy_alone():
    """A resolver beside it is a mistake; the proxies of the environment are not used without it."""
    with pytest.raises(ConfigurationError, match="resolve, proxy: not both"):
        web_reader(proxy="http://a.example:1", resolve=lambda host, port: (LOOPBACK[0], port))
    names = ("docs.example.com", "example.co.uk.", "localhost", "wiki.internal", "co.uk")
    assert [name for name in names if is_public_name(name)] == ["docs.example.com", "example.co.uk."]
