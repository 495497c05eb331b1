"""What was made of the latest texts is kept, in bounded memory."""

from __future__ import annotations

from guardgraph.guards.facts import facts_in_text
from guardgraph.plain.memory import remembered, remembered_json


def test_the_latest_short_texts_are_remembered() -> None:
    """A text is read again once others pushed it out, or every time where it is too long to be kept."""
    read: list[str] = []

    @remembered(texts=2, chars=3)
    def upper(text: str, end: str = "") -> str:
        read.append(text)
        return text.upper() + end

    answers = [upper(text) for text in ["a", "b", "a", "c", "a", "b", "long", "long"]]
    assert answers == ["A", "B", "A", "C", "A", "B", "LONG", "LONG"]
    assert read == ["a", "b", "c", "b", "long", "long"]
    assert upper("b", "!") == "B!"


def test_a_text_reads_the_same_each_time() -> None:
    """Facts are equal, new or known, and those of other regions are not mixed up with them."""
    text = "P1 in the EU and in Lagos: 45 minutes, 27%."
    first = facts_in_text(text)
    assert facts_in_text(text, regions=("Lagos",)).regions == {"Lagos"}
    assert facts_in_text(text, regions=["EU", "Lagos"]).regions == {"EU", "Lagos"}
    assert facts_in_text(text) == first == facts_in_text(text + " " * 5000)
    assert first.regions == {"EU"}


def test_the_latest_small_values_are_remembered() -> None:
    """A context is read again when anything in it changed, when it is large, or when it is no JSON."""
    read: list[object] = []

    @remembered_json(values=2, chars=20)
    def count(value: object) -> int:
        read.append(value)
        return len(read)

    context = {"a": [1]}
    assert [count(context), count({"a": [1]})] == [1, 1]
    context["a"].append(2)
    assert [count(context), count({"a": [1.0]}), count({"a": [True]}), count({"a": [1]})] == [2, 3, 4, 5]
    large, odd = ["x" * 20], {1, 2}
    assert [count(large), count(large), count(odd), count(odd)] == [6, 7, 8, 9]
