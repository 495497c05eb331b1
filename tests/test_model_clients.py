"""The HTTP clients of the models that we open: where they go, and when they end."""

from __future__ import annotations

import pytest
from openai import DefaultHttpxClient
from openai_server import OpenAIServer, answer, redirect
from rag_agents import ANSWER, INTENT, QUESTION
from runs import check_result, run

from guardgraph import create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.world.client import is_followed

MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


@pytest.fixture
def environ(monkeypatch):
    """Return a function that sets the process's environment, free of proxies from outside."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)

    def set_variables(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_variables


def asked(mode="invoke", **kwargs):
    """Run a RAG agent whose planner is the model of the environment, and return the checked result."""
    agent = create_rag_agent("openai:test-model", answerer=lambda view: ANSWER, **kwargs)
    return check_result(RAG_REASONS, run(agent, QUESTION, mode))


@MODES
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_not_followed(environ, mode, code):
    """The prompt and the key go to the host that the deployment named; the run says where it was sent."""
    with OpenAIServer(answer(INTENT)) as other:
        with OpenAIServer(redirect(f"{other.url}/chat/completions", code)) as server:
            environ(server.environ())
            result = asked(mode)
        host = other.url.split("/")[2]
        assert result["stop_reason"] == "llm_bad_response"
        assert result["details"].items() >= {"cause": "redirect", "host": host, "status": code}.items()
        assert "base URL" in result["details"]["message"]
        assert (len(server.requests), other.requests) == (1, [])


def test_another_name_of_the_same_machine_is_another_host(environ):
    """Hosts are compared as they are named."""
    with OpenAIServer(redirect("http://localhost:1/v1/chat/completions")) as server:
        environ(server.environ())
        assert asked()["details"]["host"] == "localhost:1"


@MODES
def test_a_redirect_on_the_same_host_is_followed(environ, mode):
    """A server may move its endpoint; the same request is sent there, once."""
    with OpenAIServer(redirect("/v2/chat/completions"), answer(INTENT)) as server:
        environ(server.environ())
        assert asked(mode)["outcome"] == "grounded_answer"
    first, second = server.requests
    assert (first["path"], second["path"]) == ("/v1/chat/completions", "/v2/chat/completions")
    assert first["body"] == second["body"]


@MODES
def test_redirects_that_lead_nowhere_end(environ, mode):
    """A circle is left after a few rounds."""
    with OpenAIServer(redirect("/v1/chat/completions", 308)) as server:
        environ(server.environ())
        result = asked(mode)
    assert (result["stop_reason"], result["details"]["cause"]) == ("llm_bad_response", "redirect")
    assert len(server.requests) == 6


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/v1", "ftp://127.0.0.1/v1", "//example.com/v1", "http://["])
def test_no_redirect_leads_to_a_connection_elsewhere(environ, location):
    """Another port, another scheme, no scheme, no address at all: nothing is asked there."""
    with OpenAIServer(redirect(location)) as server:
        environ(server.environ())
        assert asked()["stop_reason"] in ("llm_bad_response", "llm_timeout")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("here", "there", "followed"),
    [
        ("https://a.example/v1", "https://a.example/v2?x=1", True),
        ("https://a.example/v1", "https://a.example:443/v1", True),
        ("http://a.example/v1", "https://a.example/v1", True),
        ("https://a.example/v1", "http://a.example/v1", False),
        ("http://a.example:8080/v1", "https://a.example/v1", False),
        ("https://a.example/v1", "https://a.example:8443/v1", False),
        ("https://a.example/v1", "https://b.example/v1", False),
        ("https://a.example/v1", "https://a.example.b.example/v1", False),
        ("https://a.example/v1", "https://a.example@b.example/v1", False),
        ("https://a.example/v1", "https://A.EXAMPLE/v1", True),
    ],
)
def test_where_a_redirect_may_lead(here, there, followed):
    """The same scheme, host and port, or HTTPS in place of HTTP; never down, and never without the prompt."""
    url = type(DefaultHttpxClient().base_url)
    assert [is_followed(code, url(here), url(there)) for code in (307, 308)] == [followed] * 2
    assert not any(is_followed(code, url(here), url(there)) for code in (300, 301, 302, 303))
