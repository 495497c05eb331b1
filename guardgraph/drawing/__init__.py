"""Pictures of graphs, drawn without a network: what is to be seen, where it stands, how it looks."""

from guardgraph.drawing.picture import Picture, draw

__all__ = ["Picture", "draw"]
