"""What LangSmith's tracing sends when it is switched on, as docs/security.md says: to a server on 127.0.0.1."""

import json
import os
import subprocess
import sys

import pytest
from docs_parts import ROOT
from web_server import WebServer, answer

pytestmark = pytest.mark.process

RUN = """
from langchain_core.tracers.langchain import wait_for_all_tracers
from guardgraph import create_rag_agent
from guardgraph.testing import ScriptedChatModel

plan = {"kind": "retrieve", "query": "P1 response target secret-of-the-plan"}
model = ScriptedChatModel(plan, {"answer": "secret-of-the-reply", "citations": ["none"]})
context = {"caller": {"tenant": "secret-tenant", "user": "secret-user"}}
result = create_rag_agent(model).invoke({"question": "secret-question?"}, context=context)
wait_for_all_tracers()
print(result["stop_reason"])
"""
SECRETS = ("secret-question", "secret-tenant", "secret-user", "secret-of-the-plan", "secret-of-the-reply")


@pytest.fixture
def sent_with():
    """Run an agent in a process with these variables; return what was posted to the server of traces."""
    server = WebServer({"/info": answer("{}"), "/runs/multipart": answer("{}")})

    def run(**variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LANGSMITH_", "LANGCHAIN_"))}
        given = {"LANGSMITH_ENDPOINT": f"http://127.0.0.1:{server.ports[80]}", "LANGSMITH_API_KEY": "a-key"}
        given |= {"LANGSMITH_DISABLE_RUN_COMPRESSION": "true", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", RUN]
        environment = {**kept, **given, **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.stdout == "invalid_answer:citations_out_of_context\n", done.stderr
        sent = zip(server.log, server.bodies, strict=True)
        return [(asked, body.decode("utf-8", "replace")) for asked, body in sent if body]

    with server:
        yield run


def test_tracing_sends_inputs_callers_replies_and_nodes(sent_with):
    """All that a run was given, was told and decided leaves the process, a refused reply too."""
    sent = sent_with(LANGSMITH_TRACING="true")
    assert {url.rpartition("/runs")[2] for url, _ in sent} == {"/multipart"}
    text = "".join(body for _, body in sent)
    assert [secret for secret in SECRETS if secret not in text] == []
    assert json.dumps("answer_guard") in text


def test_nothing_is_sent_without_tracing(sent_with):
    assert sent_with() == []


def test_inputs_and_outputs_can_be_hidden(sent_with):
    """LangSmith's own switches leave the names of nodes, and what the metadata says."""
    sent = sent_with(LANGSMITH_TRACING="true", LANGSMITH_HIDE_INPUTS="true", LANGSMITH_HIDE_OUTPUTS="true")
    text = "".join(body for _, body in sent)
    assert [secret for secret in SECRETS if secret in text] == []
    assert json.dumps("answer_guard") in text
