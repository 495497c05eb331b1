"""A graph by its name, `module:factory`: what a user's factory is given, and how a name that leads to none is told."""

import pytest
from tables import each_row
from ticket_pattern import triage

from guardgraph import ConfigurationError, LiveWorld, create_rag_agent
from guardgraph.graphs.loading import is_factory_setting, load_named_graph, load_named_world

HERE, GRAPH, WORLD = "test_named_graphs", triage(), LiveWorld()


def make(policy=None, **more):
    print("noise of a factory")
    return triage(policy=policy, **more)


def misspell():
    return create_rag_agent(recoder=None)


def test_a_factory_is_given_its_settings_and_prints_beside_the_output(capsys):
    """A setting that is None is not given; a name may be that of a graph, or lead into what a module has."""
    policy = GRAPH.frame.policy.model_copy(update={"labels": ("spam",)})
    assert load_named_graph(f"{HERE}:make", "--graph", policy=policy, recorder=None).frame.policy == policy
    assert capsys.readouterr() == ("", "noise of a factory\n")
    assert load_named_graph(f"{HERE}:GRAPH", "--graph", policy=None) is GRAPH
    assert load_named_graph(f"{HERE}:GRAPH.frame.policy", "--graph") is GRAPH.frame.policy
    assert load_named_graph("asyncio:sleep", "--graph", delay=0).cr_frame is None  # Python need not complain of it
    assert load_named_world(f"{HERE}:WORLD", "--world") is WORLD
    takes = {(f"{HERE}:make", "policy"): True, (f"{HERE}:make", "other"): True, (f"{HERE}:GRAPH", "policy"): False}
    takes |= {("ticket_pattern:pattern", "policy"): True, (f"{HERE}:misspell", "policy"): False}
    takes |= {("builtins:len", "obj"): False}  # which it takes by its place alone
    assert {given: is_factory_setting(given[0], "--graph", given[1]) for given in takes} == takes
    with pytest.raises(ConfigurationError, match=rf"^--world '{HERE}:GRAPH': world: an object with .* is required"):
        load_named_world(f"{HERE}:GRAPH", "--world")


@each_row(
    ("name", "message"),
    *((name, "module:factory is required, such as my_agents.triage:create; ") for name in ("rag", "rag:", ":rag")),
    ("nobody_has_this:create", "'nobody_has_this:create': ModuleNotFoundError: No module named 'nobody_has_this'$"),
    (f"{HERE}:misspell", rf"TypeError: .* \({HERE}\.py:{misspell.__code__.co_firstlineno + 1}\)$"),
    (f"{HERE}:GRAPH", "a factory is required that takes policy$"),
)
def test_a_name_that_leads_to_no_graph_is_told(name, message):
    """With the option that named it; of what a factory raises, with the place in the user's own code."""
    with pytest.raises(ConfigurationError, match=f"^--graph.*{message}"):
        load_named_graph(name, "--graph", **({"policy": 1} if name.endswith("GRAPH") else {}))
    with pytest.raises(ConfigurationError, match=r"^policy: "):  # which says it well enough
        load_named_graph("guardgraph:create_rag_agent", "--graph", policy=1)
