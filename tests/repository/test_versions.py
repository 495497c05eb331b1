"""What another format is: what was kept is read in its own, and refused in one line in any other."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from langgraph._internal import _constants
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import _CHANNEL_BRANCH_TO, CompiledStateGraph
from rag_agents import POLICY, QUESTION, agent

from guardgraph import InputError, create_rag_agent, replay
from guardgraph.graphs.running import langgraph as names
from guardgraph.plain.version import parse_version
from guardgraph.testing import InMemoryRecorder


def test_a_version_is_read_by_its_numbers():
    """What is no version has none, and one that is marked as made before a release counts as that release."""
    huge = f"0.{'9' * 5000}.1"
    versions = {"0.6.0": (0, 6, 0), "0.7rc1": (0, 7), "0.7.0.dev3": (0, 7, 0), "0.10.2": (0, 10, 2)}
    none = dict.fromkeys(("unknown", "", "v0.6", "٠.٦", ".6", None, 0.6), ())
    for given, numbers in {**versions, huge: (0, 999_999_999), **none}.items():
        assert parse_version(given) == numbers, given


def test_another_format_is_refused_in_one_line_that_names_both_versions():
    recorder = InMemoryRecorder()
    graph = agent(answer={"answer": "P1 within 15 minutes.", "citations": ["a"]}, recorder=recorder, policy=POLICY)
    graph.invoke(QUESTION)
    for number, made in ((1, "0.12.0"), (1, "0.6"), (2, "1.5.0"), (0, None), (True, "1.0"), ("1", None), (None, None)):
        with pytest.raises(InputError) as refused:
            replay(graph, {**recorder.runs[0], "format": number, "guardgraph": made})
        said = str(refused.value)
        assert said.startswith("recording: format 1 of guardgraph 0.16 or later is required; given: ")
        assert said.endswith(f" of guardgraph {made}") is bool(parse_version(made))
        assert "\n" not in said


def test_a_run_that_waits_in_another_format_is_refused():
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    graph = agent(answer={"answer": "P1 within 15 minutes.", "citations": ["a"]}, checkpointer=saver, policy=POLICY)
    graph.invoke(QUESTION, thread, interrupt_before=["generate"])
    kept = saver.get_tuple(thread)
    version = saver.get_next_version(kept.checkpoint["channel_versions"]["log"], None)
    kept.checkpoint["channel_values"]["log"][0]["guardgraph"] = "0.12.0"
    kept.checkpoint["channel_versions"]["log"] = version
    config = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
    saver.put(config, {**kept.checkpoint, "id": str(uuid6())}, kept.metadata, {"log": version})
    with pytest.raises(InputError, match=r"^thread_id: .*0\.16 or later is required; given: .* of guardgraph 0\.12"):
        graph.invoke(None, thread)


ROOT = Path(__file__).parents[2]
KEYS = sorted(name for name, value in vars(names).items() if name.isupper() and isinstance(value, str))


def numbers(release):
    return tuple(map(int, release.split(".")[:3]))


def test_a_private_key_is_one_of_langgraphs():
    """LangGraph, in the version that is installed, has every key that we name; a compiled graph keeps the classes that
    its checkpointer may load under the name that we copy.
    """
    known = {*map(str, vars(_constants).values()), _CHANNEL_BRANCH_TO.format("")}
    assert KEYS
    assert [name for name in KEYS if getattr(names, name) not in known] == []
    agent = create_rag_agent()
    assert isinstance(agent, CompiledStateGraph)
    assert "_serde_allowlist" in vars(agent)


def test_the_versions_are_named_in_which_the_names_were_seen():
    """The file names the first and the last version; the first is the lowest that is allowed."""
    first, last = names.SEEN_IN
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"langgraph>={first},<2" in project["dependencies"]
    assert numbers(first) <= min(numbers(version("langgraph")), numbers(last))


def test_private_names_stand_in_one_file():
    home = Path(names.__file__)
    others = [path for path in (ROOT / "guardgraph").rglob("*.py") if path != home]
    private = ("__pregel_", "langgraph._", "langgraph.graph._", "langgraph.pregel._", "_serde_allowlist")
    found = [str(path.relative_to(ROOT)) for path in others for word in private if word in path.read_text("utf-8")]
    assert not found
