"""What comes back from a call, as the text that the state keeps until a guard has read it.

An outcome has one of three forms: a `text` that a model wrote, a `value` that a Runnable or a tool returned, or a
`failure`. All three travel as one JSON text, so that nothing odd in them can break a checkpointer.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from guardgraph.plain.json import (
    JsonObject,
    JsonValue,
    NotJson,
    TooLarge,
    copy_json,
    count_json_bytes,
    is_plain_json,
    make_storable_json,
    measure_json,
    pack_json_text,
    parse_json,
)


@dataclass(slots=True)
class Outcome:
    """What one call brought back, before anybody judged it."""

    form: Literal["text", "value", "failure"]
    content: JsonValue  #: the model's text, the returned value, or ``{"reason": …, "details": …}`` of a failure
    about: JsonObject = field(default_factory=dict)  #: what history keeps of a proposal: proposer, prompt, usage
    _text: str | None = field(default=None, init=False, repr=False, compare=False)
    """The packed text, once it was made: what is kept is what came back, whatever became of it since."""
    _is_plain: bool = field(default=False, init=False, repr=False, compare=False)
    """Whether the text says just what the content is."""

    @classmethod
    def holding(cls, content: JsonValue, about: JsonObject) -> Outcome:
        """Return the outcome of a value that was just found to be plain JSON, packed at once and not walked again."""
        outcome = cls("value", content, about)
        is_short = all(type(told) is str and told.isascii() and "\0" not in told for told in about.values())
        if is_short or is_plain_json(about):  # it is nearly always a name or two
            outcome._text, outcome._is_plain = json.dumps(["value", content, about]), True
        return outcome

    def packed(self) -> str:
        """Return the JSON text that goes into a raw channel."""
        if self._text is None:
            self._text, self._is_plain = pack_json_text([self.form, self.content, self.about])
        return self._text

    def is_larger_than(self, most: int) -> bool:
        """Say whether a text or a value takes more than `most` bytes as JSON text; a failure is short by itself."""
        if self.form == "failure" or (self._text is not None and len(self._text) <= most):
            return False
        try:
            measure_json(self.content, most)
        except TooLarge:
            return True
        return len(self.packed()) > most and count_json_bytes(self.settled().content) > most

    def settled(self) -> Outcome:
        """Return the outcome as whoever unpacks it will see it, and nobody else's object any more."""
        packed = self._text or self.packed()
        if not self._is_plain:
            return self.unpacked(packed)
        outcome = Outcome(self.form, copy_json(self.content), self.about)
        outcome._text = packed
        return outcome

    @classmethod
    def unpacked(cls, packed: str) -> Outcome:
        """Read a raw channel; what `packed` did not write raises NotJson."""
        match parse_json(packed):
            case ["text" | "value" | "failure" as form, content, dict(about)]:
                outcome = cls(form, content, about)
                outcome._text = packed
                return outcome
        raise NotJson("not what an outcome is packed as")

    def describe_proposal(self) -> JsonObject:
        """Return what a timeline shows: the proposal, a model's text read as JSON where it is some, or the failure."""
        content = self.content
        if self.form == "text":
            with suppress(NotJson):
                content = parse_json(content)
        return {**self.about, "failure" if self.form == "failure" else "proposal": make_storable_json(content)}
