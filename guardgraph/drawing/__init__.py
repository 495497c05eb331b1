"""Pictures of graphs, drawn without a network: their parts, the layout, the look."""

from guardgraph.drawing.picture import Picture, draw

__all__ = ["Picture", "draw"]
