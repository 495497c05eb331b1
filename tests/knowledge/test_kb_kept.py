"""What is kept in memory of a knowledge base: what was asked for last, or often, in bounded room."""

from guardgraph.knowledge.searching.kept import Latest, Often


def asked(often, keys, size=1):
    """The keys that are read when they are asked for one after the other, each with so much to keep."""
    read = []

    def made(missing):
        read.extend(missing)
        return {key: (str(key), size) for key in missing}

    for key in keys:
        assert often.of([key], made) == {key: str(key)}
    return read


def test_what_is_asked_for_often_is_not_read_again_whatever_is_asked_for_once():
    """Much that is asked for once does not take the room of what is asked for again and again."""
    often = Often(4)
    assert asked(often, ["a", "b", "a", "b", "a", "b"]) == ["a", "b"]
    asked(often, range(8))
    assert asked(often, ["a", "b"]) == []


def test_what_nobody_asks_for_any_more_makes_room():
    """Something else that is asked for often takes the place of what was asked for before."""
    often = Often(3)
    asked(often, ["a", "b", "c"] * 9)
    asked(often, ["x", "y"] * 40)
    assert asked(often, ["x", "y"]) == []


def test_what_has_no_room_is_read_each_time():
    """Of values that take more than there is room for none is kept, and each is returned."""
    assert asked(Often(4), ["a", "a"], size=5) == ["a", "a"]
    assert asked(Often(4), ["a", "b", "c"] * 2, size=2) == ["a", "b", "c", "c"]


def test_how_often_others_were_asked_for_is_forgotten():
    """After thousands of others, what is kept still is."""
    often = Often(1)
    asked(often, ["a"] * 5)
    asked(often, range(20_000))
    assert asked(often, ["a"]) == ["a"]


def test_the_latest_are_kept_as_far_as_there_is_room():
    """What was asked for or kept last stays; the very last one however much it takes."""
    latest = Latest(3)
    for key in "abc":
        latest.keep(key, key, 1)
    assert latest.get("a") == "a"
    latest.keep("d", "d", 1)
    assert [latest.get(key) for key in "abcd"] == ["a", None, "c", "d"]
    latest.keep("a", "again", 2)
    assert [latest.get(key) for key in "acd"] == ["again", None, "d"]
    latest.keep("e", "much", 9)
    assert [latest.get(key) for key in "ade"] == [None, None, "much"]
