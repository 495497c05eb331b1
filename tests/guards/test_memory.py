"""What was made of the latest texts is kept, in bounded memory."""

from __future__ import annotations

from guardgraph.guards.facts import facts_in_json, facts_in_text
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


def test_a_text_reads_the_same_each_time() -> None:
    """Facts are equal, new or known, and those of other regions are not mixed up with them."""
    text = "P1 in the EU and in Lagos: 45 minutes, 27%."
    first = facts_in_text(text)
    assert facts_in_text(text, regions=("Lagos",)).regions == {"Lagos"}
    assert facts_in_text(text, regions=["EU", "Lagos"]).regions == {"EU", "Lagos"}
    assert facts_in_text(text) == first == facts_in_text(text + " " * 5000)
    assert first.regions == {"EU"}


def test_a_context_is_read_again_when_it_changed() -> None:
    """What is known of a context never stands for another one: changed in place, of another type, or no JSON."""
    context = {"eta_minutes": [45]}
    first = facts_in_json(context)
    assert facts_in_json({"eta_minutes": [45]}) == first
    context["eta_minutes"].append(50)
    assert facts_in_json(context) != first
    assert facts_in_json({"eta_minutes": [True]}).numbers == frozenset()
    long, odd = {"note": "x " * 5000 + "45 minutes"}, {"note": "45 minutes", "odd": {1, 2}}
    assert facts_in_json(long).numbers == facts_in_json(odd).numbers == facts_in_text("45 minutes").numbers
