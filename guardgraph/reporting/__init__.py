"""A run as a page: how it ended, what came of it, and every proposal beside the verdict on it."""

from guardgraph.reporting.page import Page, report

__all__ = ["Page", "report"]
