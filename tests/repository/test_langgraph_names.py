"""The names that LangGraph keeps to itself and the package uses: they stand in one file, and LangGraph has them."""

import tomllib
from importlib.metadata import version
from pathlib import Path

from langgraph._internal import _constants
from langgraph.graph.state import _CHANNEL_BRANCH_TO, CompiledStateGraph

from guardgraph import create_rag_agent
from guardgraph.graphs.running import langgraph as names

ROOT = Path(__file__).parents[2]
KEYS = sorted(name for name, value in vars(names).items() if name.isupper() and isinstance(value, str))


def numbers(release):
    """Return the numbers of a release."""
    return tuple(map(int, release.split(".")[:3]))


def test_a_private_key_is_one_of_langgraphs():
    """LangGraph, in the version that is installed, has every key that we name."""
    known = {*map(str, vars(_constants).values()), _CHANNEL_BRANCH_TO.format("")}
    assert KEYS
    assert [name for name in KEYS if getattr(names, name) not in known] == []


def test_what_a_graph_may_read_is_kept_where_we_look():
    """A compiled graph keeps the classes that its checkpointer may load under the name that we copy."""
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
    """No other file of the package names what LangGraph keeps to itself."""
    home = Path(names.__file__)
    others = [path for path in (ROOT / "guardgraph").rglob("*.py") if path != home]
    private = ("__pregel_", "langgraph._", "langgraph.graph._", "langgraph.pregel._", "_serde_allowlist")
    found = [str(path.relative_to(ROOT)) for path in others for word in private if word in path.read_text("utf-8")]
    assert not found
