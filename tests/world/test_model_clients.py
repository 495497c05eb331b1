"""The HTTP clients of the models that we open: where they go, and when they end."""

import gzip
import json
import ssl
import sys
import time
import tracemalloc

import pytest
import trustme
from hanging import standing
from openai import DefaultHttpxClient
from openai_server import OpenAIServer, answer, choice, completion, drip, drip_headers, flood, payload, redirect
from rag_agents import ANSWER, INTENT, QUESTION
from runs import check_result, run
from tables import each_row

from guardgraph import RagBudget, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.world import openai_client
from guardgraph.world.openai_client import is_followed_redirect

MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


@pytest.fixture
def ask(monkeypatch):
    """Run a RAG agent whose planner is the model at a server, free of proxies from outside; return the result."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)

    def ask_server(server, mode="invoke", variables=(), **given):
        for name, value in server.environ(**dict(variables)).items():
            monkeypatch.setenv(name, value)
        agent = create_rag_agent("openai:test-model", answerer=lambda view: ANSWER, **given)
        return check_result(RAG_REASONS, run(agent, QUESTION, mode))

    return ask_server


@MODES
@pytest.mark.parametrize("code", [302, 308])
def test_a_redirect_to_another_host_is_not_followed(ask, mode, code):
    """Prompt and key go to the host that was named; the run says where it was sent, and redirects to nowhere end."""
    with OpenAIServer(answer(INTENT)) as other:
        with OpenAIServer(redirect(f"{other.url}/chat/completions", code)) as server:
            result = ask(server, mode)
        host = other.url.split("/")[2]
        assert result["stop_reason"] == "llm_bad_response"
        assert result["details"].items() >= {"cause": "redirect", "host": host, "status": code}.items()
        assert "base URL" in result["details"]["message"]
        assert (len(server.requests), other.requests) == (1, [])
    with OpenAIServer(redirect("/v1/chat/completions", 308)) as server:
        result = ask(server, mode)
    assert (result["stop_reason"], result["details"]["cause"]) == ("llm_bad_response", "redirect")
    assert len(server.requests) == 6


@each_row(
    ("here", "there", "followed"),
    ("https://a.example/v1", "https://a.example/v2?x=1", True),
    ("http://a.example/v1", "https://a.example/v1", True),
    ("https://a.example/v1", "http://a.example/v1", False),
    ("http://a.example:8080/v1", "https://a.example/v1", False),
    ("https://a.example/v1", "https://a.example.b.example/v1", False),
    ("https://a.example/v1", "https://a.example@b.example/v1", False),
    ("https://a.example/v1", "https://A.EXAMPLE/v1", True),
)
def test_where_a_redirect_may_lead(here, there, followed):
    """The same scheme, host and port, or HTTPS in place of HTTP; never down, and never without the prompt."""
    url = type(DefaultHttpxClient().base_url)
    assert [is_followed_redirect(code, url(here), url(there)) for code in (307, 308)] == [followed] * 2
    assert not any(is_followed_redirect(code, url(here), url(there)) for code in (300, 301, 302, 303))


def packed(content, encoding="gzip"):
    body = content if isinstance(content, bytes) else json.dumps(completion(choice(json.dumps(content)))).encode()
    body = gzip.compress(body) if encoding == "gzip" and not isinstance(content, bytes) else body
    return payload(200, body, content_encoding=encoding)


def too_large(result, limit):
    """Assert that a run ended for a reply that is too large, and that nothing of it is in the result."""
    assert (result["stop_reason"], len(json.dumps(result)) < 10_000) == ("llm_bad_response", True)
    assert result["details"].items() >= {"cause": "max_reply_bytes", "limit": limit}.items()


@MODES
def test_a_reply_is_refused_as_soon_as_it_is_too_large(ask, mode):
    """A server that sends without end is left after max_reply_bytes; 64 MB that are packed small are never unpacked."""
    sent = []
    with OpenAIServer(flood(b" " * 2**20, 100, sent)) as server:
        too_large(ask(server, mode, budget=RagBudget(max_reply_bytes=2 * 2**20)), 2 * 2**20)
    assert sum(sent) < 50 * 2**20
    with OpenAIServer(packed(gzip.compress(bytes(64 * 2**20), compresslevel=1))) as server:
        tracemalloc.start()
        try:
            too_large(ask(server, mode), RagBudget().max_reply_bytes)
            assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("behaviour", [packed(INTENT, "br"), packed(INTENT, "gzip, gzip"), packed(b"no gzip")])
def test_a_reply_that_cannot_be_unpacked(ask, behaviour):
    """A packing that nobody asked for, and one that is broken, is a bad response."""
    with OpenAIServer(behaviour) as server:
        result = ask(server)
    assert (result["stop_reason"], result["details"]["cause"]) == ("llm_bad_response", "content_encoding")


def is_at_work(frame):
    while frame is not None and frame.f_code.co_filename != openai_client.__file__:
        frame = frame.f_back
    return frame is not None


@pytest.mark.parametrize("behaviour", [drip(), drip_headers(), answer("{}", delay=30.0)])
def test_a_thread_that_is_left_behind_ends(ask, behaviour):
    """The run is over at its deadline, and so is the connection: a server that drips holds no thread."""
    with OpenAIServer(behaviour) as server:
        for _ in range(3):
            assert ask(server, budget=RagBudget(max_seconds=0.2), world=standing())["stop_reason"] == "llm_timeout"
        ends = time.monotonic() + 120
        while any(map(is_at_work, sys._current_frames().values())):
            assert time.monotonic() < ends
            time.sleep(0.02)


@MODES
def test_certificates_of_the_environment_count(ask, mode, tmp_path, monkeypatch):
    """SSL_CERT_FILE says whom to trust, as it does for OpenAI's own client; without it the server is nobody."""
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with OpenAIServer(answer(INTENT), tls=tls) as server:
        assert ask(server, mode)["outcome"] == "grounded_answer"
        monkeypatch.delenv("SSL_CERT_FILE")
        result = ask(server, mode)
        assert (result["stop_reason"], result["details"]["cause"]) == ("llm_timeout", "connection")
        assert len(server.requests) == 1


@MODES
def test_proxies_of_the_environment_count(ask, mode, caplog):
    """HTTP_PROXY is asked for other hosts, and NO_PROXY names those that are asked themselves; nobody warns of it."""
    with OpenAIServer(answer(INTENT)) as proxy, OpenAIServer(answer(INTENT)) as server:
        elsewhere = {"OPENAI_BASE_URL": "http://model.example/v1", "HTTP_PROXY": proxy.url.removesuffix("/v1")}
        assert ask(server, mode, elsewhere)["outcome"] == "grounded_answer"
        assert [request["path"] for request in proxy.requests] == ["http://model.example/v1/chat/completions"]
        assert ask(server, mode, {"NO_PROXY": "127.0.0.1"})["outcome"] == "grounded_answer"
        assert (len(proxy.requests), len(server.requests)) == (1, 1)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
