"""The vocabulary of the grammar: what a pattern of your own is declared, decided and asked with.

``import guardgraph.grammar as gg`` is all that the file of a pattern needs. The names are declared in
``grammar.pyi``; each is loaded when it is first used, so a guard that raises `Stop` does not wait for LangGraph.
"""

from __future__ import annotations

from guardgraph.front import Front

_front = Front(__name__, "grammar.pyi")

__getattr__ = _front.load
__dir__ = _front.names
