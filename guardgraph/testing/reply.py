"""What a scripted model answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from guardgraph.plain.json import JsonValue
from guardgraph.testing.clock import forward

__all__ = ["Reply"]


@dataclass(frozen=True)
class Reply:
    """One answer of a scripted model, with everything that a real one can say about it."""

    text: JsonValue = ""
    """The text; a dictionary or a list is turned into JSON."""
    usage: Mapping[str, int] | None = None
    """Tokens: ``input_tokens``, ``output_tokens``, ``total_tokens`` (the sum where it is left out)."""
    delay: float = 0.0
    """Seconds before the answer; the model's clock advances by them, or they are slept."""
    finish_reason: str = "stop"
    """``stop``, ``length``, ``content_filter``."""
    refusal: str | None = None
    """What the model says instead of answering."""

    def __post_init__(self) -> None:
        forward(self.delay)

    def message(self, model: str) -> AIMessage:
        """Return the message that a chat model would make of this reply."""
        return AIMessage(
            content=self.text if isinstance(self.text, str) else json.dumps(self.text, ensure_ascii=False),
            additional_kwargs={} if self.refusal is None else {"refusal": self.refusal},
            response_metadata={"finish_reason": self.finish_reason, "model_name": model},
            usage_metadata=None if self.usage is None else _usage_metadata(self.usage),
        )


def _usage_metadata(usage: Mapping[str, int]) -> Any:
    given = {"input_tokens": 0, "output_tokens": 0, **usage}
    return {"total_tokens": given["input_tokens"] + given["output_tokens"], **given}
