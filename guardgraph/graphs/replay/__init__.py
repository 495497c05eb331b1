"""Recorded runs decided again without LangGraph: replay, what-ifs and shadows."""
