"""Pictures of graphs: complete, plain to tell apart, safe to show, the same everywhere."""

import os
import re
import struct
import subprocess
import sys
from base64 import b64encode
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
import resvg_py
from drawn_graphs import GRAPHS, HOSTILE, SVG, State, colours, elements, fan, known_edges, node, shown_nodes, words
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter
from langgraph.graph import END, START, StateGraph
from tables import each_row

import guardgraph
from guardgraph import ConfigurationError, InputError, draw
from guardgraph.drawing.diagram import Diagram, DrawnEnding, Edge, Node, Taken
from guardgraph.drawing.picture import draw_mermaid_flowchart
from guardgraph.drawing.shapes import fit_label, measure_cells
from guardgraph.drawing.svg import draw_svg


@each_row("name", *GRAPHS)
def test_every_node_and_edge_is_in_the_picture_or_folded_as_the_legend_says(name):
    """What LangGraph knows of a graph is drawn, or stands at a node, or at every guard, or is a terminal's ending."""
    graph = GRAPHS[name]()
    diagram, known = draw(graph).diagram, known_edges(graph)
    drawn = {item.name for item in diagram.nodes}
    folded = {ending.terminal for item in diagram.nodes for ending in item.endings}
    folded |= {ending.terminal for ending in (*diagram.everywhere, *diagram.behind)}
    assert not drawn & folded
    assert drawn | folded | {END} == {START, END, *graph.builder.nodes}
    edges = {(edge.start, edge.end) for edge in diagram.edges}
    for item in diagram.nodes:
        common = diagram.everywhere if item.kind == "guard" else ()
        edges |= {(item.name, ending.terminal) for ending in (*item.endings, *common)}
    for name, kind in (dict.fromkeys(folded, "stop") | {item.name: item.kind for item in diagram.nodes}).items():
        ends = {"stop": {END}, "ok": {END, "stop_guard_error"}}.get(kind, set())
        if kind in ("stop", "ok") and name != "stop_audit_unavailable":
            ends |= {"stop_audit_unavailable"}
        edges |= {(name, end) for end in ends if {end for start, end in known if start == name} == ends}
    assert edges == known


@each_row("name", *GRAPHS)
def test_a_picture_is_a_whole_svg_that_asks_for_nothing(name):
    """It parses, shows every drawn name, and has no script, link, font, image or event handler."""
    picture = draw(GRAPHS[name]())
    root = xml.fromstring(picture.svg)
    tags = {item.tag.removeprefix(SVG) for item in root.iter()}
    assert tags <= {"svg", "g", "style", "title", "text", "rect", "polygon", "path"}
    assert not re.search(r"url\(|@import|@font-face|href|\son\w+=", picture.svg)
    assert picture.svg.count("http") == 1  # the name space
    names = {item.name for item in picture.diagram.nodes if item.kind not in ("start", "end")}
    assert names == shown_nodes(picture).keys()
    assert root.get("aria-label").startswith("Graph ")


def test_kinds_differ_in_shape_and_in_colour():
    """No two kinds share an outline, nor a filling, in light or in dark; all stops look alike."""
    outlines = set()
    for kind in ("propose", "act", "review", "guard", "ok", "plain"):
        picture = draw(GRAPHS["mixed" if kind == "plain" else "refund"]())
        [shape, *inner] = [item for item in elements(picture, kind)[0] if item.get("class") in ("shape", "inner")]
        outlines.add((shape.tag, len(shape.get("points", "").split()), shape.get("rx"), len(inner)))
    assert len(outlines) == 6
    for rules in colours(draw(GRAPHS["refund"]())):
        kinds = [rules[kind] for kind in ("propose", "act", "review", "guard", "ok", "stop", "plain")]
        assert len(set(kinds)) == len(kinds)


def test_stops_stand_beside_their_guard_by_family():
    """Every family of a guard is named at it; what every guard has, is named in the legend alone."""
    picture = draw(guardgraph.create_rag_agent())
    chips = [text for item in elements(picture, "chip") for text in words(item)]
    assert chips.count("invalid_intent") == 3
    assert chips.count("budget") == chips.count("guard_error") == 1
    [common] = [item for item in elements(picture, "stop") if "every guard can also end the run so" in words(item)]
    assert words(common)[:2] == ["budget", "guard_error"]
    assert chips.count("audit_unavailable") == 2  # at the entry guard, and in the legend
    [behind] = [item for item in elements(picture, "stop") if "every ending can lead here" in words(item)]
    assert words(behind)[0] == "audit_unavailable"


def test_the_legend_explains_what_is_drawn_and_nothing_else():
    """A graph without the grammar has no guard in its legend, and one of the grammar no plain node."""
    assert {"guard", "acts"} <= set(words(xml.fromstring(draw(guardgraph.create_rag_agent()).svg)))
    plain = set(words(xml.fromstring(draw(GRAPHS["foreign"]()).svg)))
    assert {"START", "node", "END", "the node decides"} <= plain
    assert not plain & {"guard", "acts", "proposes", "good ending"}


def test_a_foreign_graph_shows_what_its_branches_say():
    """Labels are the keys of a path map where they are not the node's name; what is decided on is dashed."""
    picture = draw(GRAPHS["foreign"]())
    edges = {(edge.start, edge.end): edge for edge in picture.diagram.edges}
    assert edges["agent", "tools"].label == "continue"
    assert edges["grade", END].label == "stop, halt"
    assert edges["grade", "answer"].label == "True"
    assert not edges["tools", "agent"].decided
    assert {"continue", "done", "ask", "True", "False", "stop, halt"} <= set(words(xml.fromstring(picture.svg)))
    assert len(elements(picture, "decided")) == 6 + 1  # the last one is the legend's


def test_destinations_of_a_command_and_error_handlers_are_drawn():
    """Where a Command may go is a decided edge with its label; an error handler hangs on its node."""
    edges = {(edge.start, edge.end): edge for edge in draw(GRAPHS["commanding"]()).diagram.edges}
    assert (edges["one", "one"].label, edges["one", "two"].decided) == ("again", True)
    builder = StateGraph(State)
    builder.add_node("risky", node, error_handler=node)
    builder.add_edge(START, "risky")
    builder.add_edge("risky", END)
    handled = {(edge.start, edge.label) for edge in draw(builder.compile()).diagram.edges}
    assert ("risky", "on error") in handled


def test_a_branch_that_can_lead_anywhere_says_so():
    builder = StateGraph(State)
    for name in ("a", "b", "c"):
        builder.add_node(name, node)
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", lambda state: "b")
    picture = draw(builder.compile())
    assert {"any node", "can lead to any node"} <= set(words(xml.fromstring(picture.svg)))
    assert "any node" in picture.mermaid
    assert [(edge.start, edge.end) for edge in picture.diagram.edges] == [(START, "a")]


@pytest.mark.usefixtures("fonts")
def test_hostile_names_are_text():
    """Markup in the names of graphs, nodes and ways is shown as it is, and what steers is shown as its escape."""
    builder = StateGraph(State)
    builder.add_node(HOSTILE, node)
    builder.add_edge(START, HOSTILE)
    builder.add_conditional_edges(HOSTILE, node, {HOSTILE[::-1]: END})
    picture = draw(builder.compile(name=HOSTILE))
    root = xml.fromstring(picture.svg)
    assert not list(root.iter(f"{SVG}script"))
    assert "</text><script>" in " ".join(words(root))
    assert picture.svg.isascii() or not re.search(r"[\x00-\x09\x1b\u202e]", picture.svg)
    assert "<script" not in picture.mermaid
    assert picture.png().startswith(b"\x89PNG")
    assert picture.mermaid.encode()


def _hostile(text):
    nodes = (
        Node(START, "start", text),
        Node("a", "guard", text, (DrawnEnding(text, text, text), DrawnEnding(text, text, None, taken=True)), 2),
        Node(text + "b", "plain", text),
    )
    edges = (Edge(START, "a"), Edge("a", text + "b", text, decided=True, taken=True))
    return Diagram(
        text, nodes, edges, (DrawnEnding(text, text, "t"),), (START, "a", text + "b"), Taken(("a",), text, text)
    )


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60) | st.sampled_from(["end", '"', "`x`", "#quot;", "-->", "]]>", "\u0301" * 90, "語" * 50]))
def test_no_text_breaks_out_of_a_picture(text):
    """Whatever a name, reason or label holds: the SVG parses, and Mermaid sees letters and codes within quotes."""
    diagram = _hostile(text)
    root = xml.fromstring(draw_svg(diagram))
    assert {item.tag for item in root.iter(f"{SVG}script")} == set()
    quoted = re.compile(r'"(?:[^"<`]|<br>)*"')
    for line in draw_mermaid_flowchart(diagram).splitlines():
        assert re.sub(r"[\w ().,:\[\]{}/|=<>#;-]", "", quoted.sub("", line)) == "", line


@given(st.text(max_size=80), st.integers(2, 40))
def test_texts_are_printable_and_fit(text, limit):
    """A text that is shown takes no more room than it may, and nothing of it is invisible or steers."""
    result = fit_label(text, limit)
    assert measure_cells(result) <= limit
    assert result.isprintable()


def test_pictures_do_not_depend_on_hashing(tmp_path):
    code = "import sys, drawn_graphs as d\nfor n in d.GRAPHS: print(d.guardgraph.draw(d.GRAPHS[n]()).svg)"
    where = Path(__file__).parents[1] / "support"
    drawn = set()
    for seed in ("1", "2"):
        environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{where}{os.pathsep}{where.parents[1]}"}
        environ["PYTHONIOENCODING"] = "utf-8"
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, timeout=300, check=True)
        drawn.add(done.stdout)
    assert len(drawn) == 1


def test_a_notebook_shows_the_svg_of_an_agent_as_an_image():
    """Inside an image, which viewers show that trust no bare SVG, beside a line of text; nothing asks a network."""
    image = '<img alt="rag, 12 nodes and 11 stops" src="data:image/svg+xml;base64,{}">'
    agent = guardgraph.create_rag_agent()
    picture = draw(agent)
    shown = {"text/html": image.format(b64encode(picture.svg.encode()).decode())}
    shown["text/plain"] = "<Picture: rag, 12 nodes and 11 stops>"
    assert DisplayFormatter().format(picture)[0] == shown
    assert DisplayFormatter().format(agent, include={"image/png", "text/html", "text/plain"})[0] == shown


def test_an_agent_in_a_cell_is_mermaid_text_without_the_extra(monkeypatch):
    """Where the layout library is missing, a cell shows the graph as text that JupyterLab draws itself."""
    monkeypatch.setitem(sys.modules, "graphlay", None)
    agent = guardgraph.create_rag_agent()
    shown, _ = DisplayFormatter().format(agent)
    assert shown.keys() == {"text/plain", "text/vnd.mermaid"}
    assert shown["text/vnd.mermaid"] == draw(agent).mermaid
    assert shown["text/vnd.mermaid"] in shown["text/plain"]


@pytest.mark.usefixtures("fonts")
def test_a_png_has_the_size_and_the_ground_that_were_asked_for():
    picture = draw(fan(2))
    root = xml.fromstring(picture.svg)
    small, large = picture.png(scale=1), picture.png(scale=3)
    width = float(root.get("width"))
    widths = [struct.unpack(">I", png[16:20])[0] for png in (small, large)]
    assert widths == [round(width), pytest.approx(3 * width, abs=2)]
    assert picture.png(scale=1, dark=True) != small


@each_row("scale", 0, -1, 11, float("nan"), float("inf"))
def test_a_scale_that_makes_no_picture_is_refused(scale):
    with pytest.raises(ConfigurationError, match="scale: "):
        draw(fan(2)).png(scale=scale)


def test_a_machine_without_fonts_is_told_so(monkeypatch):
    monkeypatch.setattr(resvg_py, "svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))
    with pytest.raises(ConfigurationError, match="this machine has no font"):
        draw(fan(2)).png()


@pytest.mark.parametrize(("library", "form"), [("graphlay", "svg"), ("graphlay", "png"), ("resvg_py", "png")])
def test_without_the_extra_the_error_names_it(library, form, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, library, None)
    picture = draw(fan(2))
    with pytest.raises(ConfigurationError, match=r'extra `draw` is required: pip install "guardgraph\[draw\]"'):
        picture.save(tmp_path / f"picture.{form}")
    assert not list(tmp_path.iterdir())
    assert picture.mermaid.startswith("flowchart TD\n")


@pytest.mark.usefixtures("fonts")
def test_save_writes_what_the_ending_says(tmp_path):
    picture = draw(fan(2))
    for name in ("a.svg", "a.PNG", "a.mmd"):
        picture.save(tmp_path / name)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg
    assert (tmp_path / "a.PNG").read_bytes() == picture.png()
    assert (tmp_path / "a.mmd").read_text(encoding="utf-8") == picture.mermaid


def test_what_is_no_file_is_written_into(tmp_path):
    picture, pipe = draw(fan(2)), tmp_path / "pipe.mmd"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDWR), "rb", buffering=0) as reader:
        picture.save(pipe)
        assert reader.read(10**5).decode() == picture.mermaid
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["picture", "picture.gif", ".svg", ""])
def test_another_ending_is_refused(name, tmp_path):
    with pytest.raises(ConfigurationError, match=r"\.svg, \.png or \.mmd"):
        draw(fan(2)).save(str(tmp_path / name) if name else "")


@each_row("given", None, 1, "rag", StateGraph(State))
def test_what_is_no_compiled_graph_is_refused(given):
    name = type(given).__name__
    with pytest.raises(InputError, match=f"graph: a compiled LangGraph graph is required; given: {name}"):
        draw(given)


def test_mermaid_text_has_every_node_and_stop():
    """The text names what is drawn, with the stops of each guard in one box by the names of their nodes."""
    text = draw(guardgraph.create_rag_agent()).mermaid
    assert 'n1{{"request_guard"}}' in text
    stops = ("stop_invalid_request", "stop_audit_unavailable", "stop_budget", "stop_guard_error")
    assert f'n1 -.-> n1_stop[/"{"<br>".join(stops)}"/]' in text
    assert text.count("-->") == 18
    assert draw(GRAPHS["foreign"]()).mermaid.count('|"continue"|') == 1
