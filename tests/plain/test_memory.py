"""What was made of the latest texts is kept, in bounded memory."""

from guardgraph.plain.memory import remember_by_text


def test_the_latest_short_texts_are_remembered() -> None:
    """A text is read again once others pushed it out, or every time where it is too long to be kept."""
    read: list[str] = []

    @remember_by_text(texts=2, chars=3)
    def upper(text: str) -> str:
        read.append(text)
        return text.upper()

    answers = [upper(text) for text in ["a", "b", "a", "b", "c", "b", "a", "long", "long"]]
    assert answers == ["A", "B", "A", "B", "C", "B", "A", "LONG", "LONG"]
    assert read == ["a", "b", "c", "a", "long", "long"]


def test_what_stands_beside_a_text_counts() -> None:
    """A function that is given more than the text is asked again where that is another."""
    read: list[str] = []

    @remember_by_text(texts=2, chars=3)
    def upper(text: str, end: str = "") -> str:
        read.append(text + end)
        return text.upper() + end

    answers = [upper("a", "!"), upper("a"), upper("a", "!"), upper("long", "!"), upper("long", "!")]
    assert answers == ["A!", "A", "A!", "LONG!", "LONG!"]
    assert read == ["a!", "a", "long!", "long!"]
