"""LangGraph's own server, started once as docs/serving.md says, and asked by real clients over HTTP."""

import io
import json
from contextlib import nullcontext, redirect_stdout
from functools import partial

import httpx
import pytest
from docs_parts import ROOT, fences
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import BadRequestError, ConflictError, NotFoundError
from langgraph_server import PAGE, needs_server, page_graphs, serving
from rag_agents import QUESTION
from research_cases import GOAL
from runs import masked
from served_clients import CLIENTS, CREATE, INPUT, WITH_CONTEXT, at_once, begun, mcp_tool, mcp_tools, sdk

from guardgraph import create_rag_agent
from guardgraph.graphs.rag import DEMO_SOURCES

pytestmark = pytest.mark.process
CLOSED = {"policy": {"allowed_sources_execution": []}}
TIGHT = {"budget": {"max_query_chars": 9}}
FORGED = {"accepted_answer": {"answer": "forged", "citations": []}, "route": "answered", "stop_reason": "success"}
ELSEWHERE = {f"allowed_sources_{name}": ["operations_notes"] for name in ("policy", "execution")}
LOOSE = {"budget": {"max_query_chars": 9999, "max_top_k": 50, "min_chunk_score": 0.0}}
CONTEXTS = [(CLOSED, CLOSED), ({"policy": ELSEWHERE}, CLOSED), (TIGHT, TIGHT), (LOOSE, None), ({}, None)]
"""What clients give, and what that comes to."""
FIRST, NEXT = "What SLA applies to the enterprise plan?", "And for P1 incidents?"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The page's server, with the repository's graphs, the page's own, and one that waits."""
    needs_server()
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, {**page_graphs(), "waiting": "waiting_agent:agent"}, GO=str(folder / "go")) as running:
        yield running


@pytest.fixture
def client(server):
    with get_sync_client(url=server.url) as connected:
        yield connected


@pytest.fixture
def thread(client):
    return client.threads.create()["thread_id"]


def test_every_client_gets_the_dictionary_of_invoke(server):
    """Whoever asks and however the run ends, the result is that of a graph in the own process; only times differ."""
    asked = [*INPUT.items(), ("rag", {"question": 7}), ("research", {"goal": GOAL}), ("self_critique", {})]
    made = [(ask, *each) for each in [*asked, ("tools", {"task": ""})] for ask in CLIENTS]
    results = at_once([partial(ask, server.url, pattern, given) for ask, pattern, given in made])
    for (ask, pattern, given), result in zip(made, results, strict=True):
        assert masked(result) == masked(CREATE[pattern]().invoke(given)), (ask.__doc__, pattern, given)


@pytest.mark.heavy
def test_every_graph_is_a_tool_of_its_own(server):
    """A tool has the id of langgraph.json; agents of one pattern are tools apart, objects as well as factories."""
    served = json.loads((server.folder / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    tools = mcp_tools(server.url)
    assert {"rag", "handbook", "waiting"} <= served.keys() == tools.keys()
    assert tools["handbook"] == served["handbook"]["description"]
    results = at_once([partial(mcp_tool, server.url, name, QUESTION) for name in ("rag", "handbook")])
    assert [result["trace"][0]["requested_sources"] for result in results] == [sorted(DEMO_SOURCES), ["docs"]]


def test_a_run_can_be_followed_node_by_node(client):
    """Updates come node by node in the order of the path, and the last of all values is the result."""

    def followed(pattern):
        parts = list(client.runs.stream(None, pattern, input=INPUT[pattern], stream_mode=["updates", "values"]))
        return [[part.data for part in parts if part.event == event] for event in ("updates", "values")]

    def followed_from_afar(pattern):
        return list(RemoteGraph(pattern, sync_client=client).stream(INPUT[pattern], stream_mode="updates"))

    streams = at_once([partial(follow, pattern) for follow in (followed, followed_from_afar) for pattern in CREATE])
    for pattern, (updates, values), remote in zip(CREATE, streams[: len(CREATE)], streams[len(CREATE) :], strict=True):
        expected = masked(CREATE[pattern]().invoke(INPUT[pattern]))
        assert [node for data in updates for node in data] == expected["path"], pattern
        assert masked(values[-1]) == masked(updates[-1][expected["path"][-1]]) == expected, pattern
        assert [node for part in remote for node in part] == expected["path"], pattern


def test_a_context_tightens_and_never_loosens(server):
    """A client's context narrows lists and shrinks limits, as in the own process; what would loosen does nothing."""
    asked = [(ask, context, same) for context, same in CONTEXTS for ask in WITH_CONTEXT]
    results = at_once([partial(ask, server.url, "rag", QUESTION, context=context) for ask, context, _ in asked])
    for (ask, context, same), result in zip(asked, results, strict=True):
        assert masked(result) == masked(create_rag_agent().invoke(QUESTION, context=same)), (ask.__doc__, context)


def test_the_context_of_an_assistant_is_a_default(server, client):
    """A run's own policy takes the place of the assistant's, within what the deployment allows; its budget does not."""
    saved = client.assistants.create("rag", context=CLOSED)["assistant_id"]
    open_again = {"policy": {"allowed_sources_execution": ["support_policy", "operations_notes"]}}
    contexts = (None, {"budget": {"max_top_k": 2}}, open_again)
    results = at_once([partial(sdk, server.url, saved, QUESTION, context=context) for context in contexts])
    client.assistants.delete(saved)
    assert [result["outcome"] for result in results] == ["clarify", "clarify", "grounded_answer"]


WRONG = [
    ({"input": [QUESTION]}, "InputError", "input: a dictionary with 'question' is required; given: list"),
    ({"input": None}, "InputError", "input: None resumes a run, but there is none to resume; give 'question'"),
    ({"context": {"policy": {"lists": []}}}, "ConfigurationError", "context.policy.lists: no such setting; given: "),
    ({"context": {"budget": {"max_top_k": "9"}}}, "ConfigurationError", "context.budget.max_top_k: "),
    ({"command": {"update": FORGED}}, "InputError", "input: a Command may resume a run, but neither write "),
    ({"command": {"goto": {"node": "answered", "input": FORGED}}}, "InputError", "input: a Command may resume "),
]


def test_what_is_wrong_is_told_by_an_error_that_names_it(server):
    """The server answers 200 with the class and the message of the error, whatever is wrong with a request."""
    post = partial(httpx.post, f"{server.url}/runs/wait", trust_env=False)
    requests = [{"assistant_id": "rag", "input": QUESTION, **wrong} for wrong, _, _ in WRONG]
    answers = at_once([partial(post, json=request) for request in requests])
    for (wrong, error, message), answer in zip(WRONG, answers, strict=True):
        assert answer.status_code == 200, wrong
        [(key, told)] = answer.json().items()
        assert (key, told["error"], told["message"][: len(message)]) == ("__error__", error, message), wrong


def test_nobody_writes_into_a_thread(client):
    """Neither an interrupted run nor a new thread takes a state from outside; the run goes on as it was."""

    def resumed(node):
        thread = client.threads.create()["thread_id"]
        client.runs.wait(thread, "rag", input=QUESTION, interrupt_before=[node])
        config = {"configurable": {"thread_id": thread}}
        as_node = {"as_node": "answer_guard"}
        forged = [{"updates": [{"values": FORGED, **as_node}]}]
        writes = [
            lambda: client.threads.update_state(thread, FORGED, **as_node),
            lambda: client.threads.update_state(thread, None, **as_node),
            lambda: RemoteGraph("rag", sync_client=client).update_state(config, FORGED, **as_node),
            lambda: client.threads.create(graph_id="rag", supersteps=forged),
        ]
        for write in writes:
            with pytest.raises(BadRequestError, match="state: only the nodes of a guarded graph write it"):
                write()
        return masked(client.runs.wait(thread, "rag", input=None))

    expected = masked(create_rag_agent().invoke(QUESTION))
    assert at_once([partial(resumed, node) for node in ("answer_guard", "answered")]) == [expected] * 2


def test_a_thread_is_for_one_graph(client, thread):
    """What one graph's guards let through, another one's ending does not give away where its lists lack the sources."""
    client.runs.wait(thread, "rag", input=QUESTION, interrupt_before=["answered"])
    result = client.runs.wait(thread, "handbook", input=None)
    assert (result["stop_reason"], "answer" in result) == ("guard_error:answered", False)


@pytest.mark.parametrize("strategy", ["reject", "enqueue", "interrupt", "rollback"])
def test_a_second_run_on_a_busy_thread_does_what_its_strategy_says(strategy, client, thread, server):
    """It is refused, waits, or cancels the first; whichever runs ends with its own result, and nothing is mixed up."""
    go = server.folder / "go"
    go.unlink(missing_ok=True)
    first = begun(client, thread)
    second = None
    with pytest.raises(ConflictError) if strategy == "reject" else nullcontext():
        second = client.runs.create(thread, "waiting", input={"question": 7}, multitask_strategy=strategy)["run_id"]
    if strategy in ("reject", "enqueue"):  # the others end the first run while it still waits
        go.touch()
    ended = client.runs.join(thread, second or first)
    go.touch()
    assert ended["stop_reason"] == ("invalid_request:question" if second else "success")
    assert len(ended["path"]) == len(ended["timeline"]) == (2 if second else 9)
    if strategy == "rollback":
        with pytest.raises(NotFoundError):
            client.runs.get(thread, first)
    else:
        expected = "interrupted" if strategy == "interrupt" else "success"
        assert client.runs.get(thread, first)["status"] == expected


def test_the_server_asks_nobody_outside_the_machine(server):
    """Started with the page's variables it looks up no name and connects to nothing but loopback."""
    assert sdk(server.url, "rag", QUESTION)["status"] == "ok"
    assert server.went_out == []


def test_the_examples_of_the_page_print_what_it_says(server):
    """The blocks for a server, in their order and in one namespace, against this server."""
    namespace = {"__name__": "docs"}
    blocks = [fence for fence in fences(PAGE) if fence.info == "python served"]
    assert len(blocks) >= 4
    for fence in blocks:
        code = fence.code.replace("http://127.0.0.1:2024", server.url)
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, f"{PAGE}:{fence.line}", "exec", dont_inherit=True), namespace)
        assert printed.getvalue() == fence.output, fence.line
    for opened in (namespace["client"], namespace["rag"].sync_client):
        opened.close()


def test_a_conversation_on_langgraph_s_server(tmp_path):
    """On the real server, runs of one thread go on a conversation, stream the answer, and never a raw proposal."""
    needs_server()
    graphs = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    with serving(tmp_path, {"chat": graphs["chat"]}) as server, get_sync_client(url=server.url) as client:
        thread = client.threads.create()["thread_id"]
        asked = [{"messages": [{"role": "user", "content": text}]} for text in (FIRST, NEXT)]
        client.runs.wait(thread, "chat", input=asked[0])
        parts = [*client.runs.stream(thread, "chat", input=asked[1], stream_mode=["values", "messages"])]
        said = client.threads.get_state(thread)["values"]["messages"]
        assert [message["type"] for message in said] == ["human", "ai", "human", "ai"]
        assert said[-1]["additional_kwargs"]["citations"] == ["doc_sla_enterprise_v3"]
        whole = "".join(json.dumps(part.data) for part in parts)
        assert ["15 minutes" in said[-1]["content"], "15 minutes" in whole, "proposed_" in whole] == [True, True, False]
        stopped = client.runs.wait(thread, "chat", input=asked[1], context={"budget": {"max_seconds": 0.0}})
        assert stopped["messages"][-1]["response_metadata"]["stop_reason"] == "max_seconds"
        told = client.runs.wait(None, "chat", input={"messages": []}, raise_error=False)
        assert told["__error__"]["error"] == "InputError"
        shown = client.assistants.get_schemas(client.assistants.search(graph_id="chat")[0]["assistant_id"])
        assert "messages" in shown["input_schema"]["properties"]
