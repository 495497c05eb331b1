"""What was made of the latest texts is kept, in bounded memory."""

from __future__ import annotations

from guardgraph.plain.memory import remember_by_text


def test_the_latest_short_texts_are_remembered() -> None:
    """A text is read again once others pushed it out, or every time where it is too long to be kept."""
    read: list[str] = []

    @remember_by_text(texts=2, chars=3)
    def upper(text: str, end: str = "") -> str:
        read.append(text)
        return text.upper() + end

    answers = [upper(text) for text in ["a", "b", "a", "c", "a", "b", "long", "long"]]
    assert answers == ["A", "B", "A", "C", "A", "B", "LONG", "LONG"]
    assert read == ["a", "b", "c", "b", "long", "long"]
    assert upper("b", "!") == "B!"
