"""A run as a page: its ending, its result, and every proposal beside its verdict; a brief as Markdown, too."""

from guardgraph.reporting.brief import format_brief
from guardgraph.reporting.page import Page, report

__all__ = ["Page", "format_brief", "report"]
