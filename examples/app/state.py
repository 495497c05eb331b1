"""The state of the app: the name of this module is the app's own."""

from __future__ import annotations

from typing_extensions import TypedDict

from guardgraph import RagResult


class Order(TypedDict, total=False):
    """A customer's message about an order, and the reply to it."""

    message: str
    result: RagResult
    reply: str
