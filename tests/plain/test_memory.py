"""What was made of the latest texts is kept, in bounded memory."""

from guardgraph.plain.memory import remember_by_text


def test_the_latest_short_texts_are_remembered() -> None:
    """A text is read again once others pushed it out, where it is too long, or where another thing stands beside it."""
    read: list[str] = []

    @remember_by_text(texts=2, chars=3)
    def upper(text: str, end: str = "") -> str:
        read.append(text + end)
        return text.upper() + end

    assert [upper(text) for text in ["a", "b", "a", "b", "c", "b", "a", "long"]] == [*"ABABCBA", "LONG"]
    assert read == ["a", "b", "c", "a", "long"]
    answers = [upper("d", "!"), upper("d"), upper("d", "!"), upper("long", "!"), upper("long", "!")]
    assert answers == ["D!", "D", "D!", "LONG!", "LONG!"]
    assert read[5:] == ["d!", "d", "long!", "long!"]
