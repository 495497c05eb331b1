"""Who asks: a caller is strict, nothing tightens it, and the server's user becomes one."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from runs import BOTH, THREAD, on_thread, run
from tables import each_row
from ticket_pattern import TICKET, triage

from guardgraph import Caller, ConfigurationError, InputError, RagContext, ResearchContext
from guardgraph.grammar import Pass
from guardgraph.state.context import build_server_caller
from guardgraph.testing import InMemoryRecorder

ADA = Caller(tenant="acme", user="ada", groups=("press", "ops"))
FIELDS = {"identity": "ada", "tenant": "acme", "groups": ["press", "ops", "press"], "permissions": ["read"]}
NOBODY = {"identity": "", "is_authenticated": False, "display_name": ""}
"""The user of a server without authentication."""
UNREAD = [
    *({"tenant": tenant} for tenant in (None, 5, ["acme"], {"name": "acme"}, b"acme", True)),
    *({"groups": groups} for groups in (None, (), "press", {"press"}, ["press", 5], {"press": 1}, [["press"]], 5)),
]
SERVED = {"assistant_id": "a-1", "graph_id": "triage"}
"""What LangGraph's server puts into the configuration of a client's run."""


class Attributes:
    """A user whose fields are attributes, as an auth handler may return one."""

    def __init__(self, fields=()):
        vars(self).update(fields)


class Proxy:
    """What LangGraph's server makes of a user: its own properties, and the wrapped object's by `__getattr__`."""

    def __init__(self, user):
        self._user = user

    @property
    def identity(self):
        return self._user.identity

    def __getattr__(self, name):
        return getattr(self._user, name)

    def __getitem__(self, key):
        return {"identity": self.identity}[key]


@pytest.mark.parametrize("make", [dict, Attributes, lambda fields: Proxy(Attributes(fields))])
def test_a_user_of_the_server_is_a_caller(make):
    """By attributes or keys; a tenant that is no text is none, and so are groups that are no list of texts."""
    assert build_server_caller(make(FIELDS)) == ADA
    for fields in ({}, *UNREAD):
        assert build_server_caller(make({"identity": "ada", **fields})) == Caller(user="ada"), fields
    for fields in ({"identity": "a\x00"}, {**FIELDS, "tenant": "\ud800"}, {**FIELDS, "groups": ["\x00"]}):
        with pytest.raises(ConfigurationError, match=r"^user\.(user|tenant|groups): a text that can be stored is "):
            build_server_caller(make(fields))


@each_row("user", None, NOBODY, Attributes(NOBODY), {}, {"identity": ""}, object(), "ada", 5)
def test_nobody_is_no_caller(user):
    assert build_server_caller(user) is None


@each_row(
    ("fields", "problem"),
    ({"user": 5}, "user: a text is required; given: 5"),
    ({"tenant": "a\x00"}, "tenant: a text that can be stored is required, not "),
    ({"groups": "press"}, "groups: a list of strings is required; given: 'press'"),
    ({"groups": ["press", 5]}, "groups: a text is required; given: list"),
    ({"role": "admin"}, "role: no such setting; given: 'admin'"),
)
def test_a_caller_takes_texts_only(fields, problem):
    """Nothing is coerced; the error at the door names the field and what is allowed."""
    with pytest.raises(ConfigurationError) as raised:
        triage().invoke(TICKET, context={"caller": fields})
    assert str(raised.value).startswith(f"context.caller.{problem}")


def test_a_graph_inside_another_one_is_asked_by_the_same_caller():
    assert RagContext.within({"caller": {"user": "ada"}, "theirs": 1}).caller == Caller(user="ada")
    assert RagContext.within(ResearchContext()) is None
    for context in (ResearchContext(caller=ADA), RagContext(caller=ADA)):
        assert RagContext.within(context) == RagContext(caller=ADA)
    inner = triage(recorder=(kept := InMemoryRecorder()))
    parent = StateGraph(dict, context_schema=ResearchContext).add_node("node", inner).add_edge(START, "node").compile()
    parent.invoke(TICKET, context=ResearchContext(caller=ADA))
    assert kept.runs[0]["visits"][0]["opening"]["context"] == {"caller": ADA.model_dump(mode="json")}
    with pytest.raises(ConfigurationError, match=r"^context\.caller\.user: a text is required; given: 5$"):
        RagContext.within({"caller": {"user": 5}})


def asked_by(config):
    """Make a run and return who asked, as its first guard saw it and as the recording keeps it."""
    seen, recorder = [], InMemoryRecorder()

    def check(state, run):
        seen.append(run.caller)
        return Pass({"task": state["ticket"]})

    triage(bodies={"request_guard": check}, recorder=recorder).invoke(TICKET, {"configurable": config})
    return seen[0], recorder.runs[0]["visits"][0]["opening"]


def test_on_a_server_whoever_is_signed_in_asks():
    """The user that the server found is the caller, and the recording says so."""
    caller, opening = asked_by({**SERVED, "langgraph_auth_user": Attributes(FIELDS)})
    assert caller == ADA
    assert opening["caller"] == {"tenant": "acme", "user": "ada", "groups": ["press", "ops"]}
    assert asked_by({**SERVED, "langgraph_auth_user": NOBODY})[0] is None
    assert asked_by(SERVED)[0] is None


@pytest.mark.parametrize("mode", BOTH)
def test_a_result_is_for_the_caller_it_was_made_for(mode):
    """Of a thread whose run is over, the same caller gets it again, its groups in any order; another one an error."""
    graph = triage(checkpointer=InMemorySaver())
    made = graph.invoke(TICKET, THREAD, context={"caller": ADA})
    for context in (None, {"caller": {"user": "ada"}}, {"caller": ADA.model_copy(update={"groups": ("ops",)})}):
        with pytest.raises(InputError, match=r"^thread_id: the run of this thread is over, and was made for another"):
            run(graph, None, mode, config=THREAD, context=context)
    context = {"caller": {"tenant": "acme", "user": "ada", "groups": ["ops", "press"]}}
    served = on_thread(**SERVED, langgraph_auth_user=Attributes(FIELDS))
    assert graph.invoke(None, THREAD, context=context) == graph.invoke(None, served) == made
    nobodys = graph.invoke(TICKET, THREAD)
    assert graph.invoke(None, THREAD, context=context) == nobodys


@pytest.mark.paired
@pytest.mark.parametrize("caller", [ADA, {"user": "root"}])
@pytest.mark.parametrize("mode", BOTH)
def test_a_client_of_a_server_cannot_say_who_asks(mode, caller):
    """A caller in a client's context is refused, whatever else its configuration claims, by a graph inside as well."""
    for more in ({}, {"__pregel_task_id": "x"}, {"__pregel_read": "x"}, {"langgraph_auth_user": Attributes(FIELDS)}):
        with pytest.raises(ConfigurationError, match=r"^context\.caller: on a server it is whoever is signed in"):
            run(triage(), TICKET, mode, config={"configurable": {**SERVED, **more}}, context={"caller": caller})
    parent = StateGraph(dict, context_schema=dict).add_node("node", triage()).add_edge(START, "node").compile()
    result = parent.invoke(TICKET, {"configurable": SERVED}, context={"caller": {"user": "root"}})
    assert result["stop_reason"] == "guard_error:request_guard"
    assert result["details"]["message"].startswith("context.caller: on a server")
