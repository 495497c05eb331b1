"""A run as a page: its ending, its result, and every proposal beside its verdict."""

from guardgraph.reporting.page import Page, report

__all__ = ["Page", "report"]
