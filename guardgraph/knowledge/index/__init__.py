"""The file of a knowledge base: an inverted index of its words, by who may read them."""

from guardgraph.knowledge.index.index import Index

__all__ = ["Index"]
