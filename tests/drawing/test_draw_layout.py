"""Where things stand in a picture: the main way straight down the middle, nothing on top of anything else."""

import re
from itertools import combinations, pairwise

import pytest
from drawn_graphs import GRAPHS
from tables import each_row

from guardgraph import draw
from guardgraph.drawing.diagram import find_main_way
from guardgraph.drawing.layout import place_diagram
from guardgraph.drawing.shapes import enclose_points

OURS = ("rag", "research", "self_critique", "triage")


def _boxes(placed):
    chips = [chip.box for panel in placed.panels for chip in panel.chips]
    return [*(box for _, box in placed.nodes), *chips]


def _pieces(points):
    return [enclose_points(pair) for pair in pairwise(points)]


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_stands_on_anything_else(name):
    """Nodes, stops and labels keep apart; no edge goes through a node or a stop, nor along the line to a stop."""
    diagram = draw(GRAPHS[name]()).diagram
    placed = place_diagram(diagram)
    frame, chips = placed.bounds, [chip for panel in placed.panels for chip in panel.chips]
    assert all(frame.min_x - 0.1 <= box.min_x and box.max_x <= frame.max_x + 0.1 for box in _boxes(placed))
    assert len(chips) >= sum(len(node.endings) for node in diagram.nodes)
    labels = [box for *_, box in placed.edges if box is not None]
    assert not [pair for pair in combinations([*_boxes(placed), *labels], 2) if pair[0].overlaps_box(pair[1])]
    boxes = {node.name: box for node, box in placed.nodes}
    for edge, points, _ in placed.edges:
        others = [box for other, box in boxes.items() if other not in (edge.start, edge.end)]
        others += [chip.box for panel in placed.panels for chip in panel.chips]
        assert not [piece for piece in _pieces(points) if any(map(piece.overlaps_box, others))], edge
    for panel in placed.panels:
        others = [box for other, box in boxes.items() if other != panel.node]
        assert not [piece for piece in _pieces(panel.line) if any(map(piece.overlaps_box, others))], panel.node


@each_row("name", *OURS)
def test_the_main_way_runs_straight_down_the_middle(name):
    """Its nodes stand below one another in the middle of the picture, and so do the edges between them."""
    picture = draw(GRAPHS[name]())
    placed, main = place_diagram(picture.diagram), picture.diagram.main
    boxes = {node.name: box for node, box in placed.nodes}
    assert {boxes[name].x for name in main} == {0.0}
    assert sorted(main, key=lambda name: boxes[name].y) == [*main]
    steps = {(edge.start, edge.end): points for edge, points, _ in placed.edges}
    assert {x for step in pairwise(main) for x, _ in steps[step]} == {0.0}
    width, shift = re.search(r'width="(\S+)"', picture.svg)[1], re.search(r"translate\((\S+) ", picture.svg)[1]
    assert float(shift) == pytest.approx(float(width) / 2, abs=0.01)


@each_row(
    ("edges", "way"),
    ("sa", "sa"),
    ("sb sa", "sb"),
    ("sa ab ba bc", "sabc"),
    ("sa ac sb bc cd", "sacd"),
    ("sa ab bc ca bd de", "sabde"),
)
def test_the_main_way_is_the_longest_without_loops(edges, way):
    """Ties go to what was declared first, and edges that lead back do not count."""
    assert "".join(find_main_way("sabcde", [tuple(edge) for edge in edges.split()])) == way
