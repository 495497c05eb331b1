"""The arithmetic of a search: sums are the formula's to the last digit, and hold while others change the base."""

import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_kb_index import PUBLIC, document, stored

from guardgraph.knowledge.file import File
from guardgraph.knowledge.index import Index
from guardgraph.knowledge.postings import change_postings, decode_postings
from guardgraph.plain.errors import StoreError
from guardgraph.state.context import normalize_document_access
from guardgraph.tools.lexical import LexicalRetriever

WORDS = [f"{first}{second}" for first in ("wing", "heat", "flow", "mach", "load") for second in "abcdefgh"]
GERMAN = "Der Flügel wird von der Strömung erwärmt und ist nicht kalt"
ENGLISH = "The wing is heated by the flow and it is not cold"


def filled(path, texts, access=PUBLIC):
    index = Index(File(path))
    with index.together() as batch:
        for number, text in enumerate(texts):
            batch.put(stored(str(number), text, access))
    return index


def shown(found):
    return [(hit["text"], hit["score"]) for hit in found]


def expected(texts, question, top_k):
    retrieve = LexicalRetriever([document(str(number), text) for number, text in enumerate(texts)])
    return shown(retrieve({"query": question, "sources": ["s"], "top_k": top_k}))


@pytest.mark.parametrize("top_k", [1, 5])
def test_a_long_question_of_common_words_finds_what_the_retriever_finds(tmp_path, top_k):
    """Where there is much to add up, candidates, order and scores are the retriever's to the last digit."""
    chance, weights = random.Random(4), [1 / (rank + 1) for rank in range(len(WORDS))]
    texts = [" ".join(chance.choices(WORDS, weights, k=100)) for _ in range(600)]
    index = filled(tmp_path / "kb.sqlite", texts)
    assert shown(index.search(" ".join(WORDS), top_k=top_k)) == expected(texts, " ".join(WORDS), top_k)


CELLS = st.dictionaries(st.integers(0, 60), st.integers(0, 70_000), max_size=20)


@given(st.lists(CELLS.filter(bool), max_size=5))
def test_postings_after_any_changes_are_those_of_what_is_left(changes):
    """Whatever is put in, replaced and taken out: places rise, none stays that nobody is in, and the sum is right."""
    data, total, left = b"", 0, {}
    for changed in changes:
        data, total = change_postings(data, total, changed)
        left = {place: count for place, count in (left | changed).items() if count}
        assert decode_postings(data).tolist() == [[place, min(left[place], 65_535)] for place in sorted(left)]
        assert total == sum(min(count, 65_535) for count in left.values())


def test_what_others_change_holds_from_the_next_search_on(tmp_path):
    """Whoever searches keeps nothing in memory that another one changed, or wrote to another place."""
    writer = Index(File(tmp_path / "kb.sqlite"))
    reader = Index(File(writer.database.path))
    writer.put(stored("first", ENGLISH))
    writer.put(stored("german", GERMAN))
    writer.drop(None, ["first"])
    for _ in range(4):  # in between, most places of the block are nobody's, and it is written anew
        assert [hit["doc_id"] for hit in reader.search("Flügel Strömung")] == ["german#1"]
        writer.put(stored("second", ENGLISH))
        assert {hit["doc_id"] for hit in reader.search("Flügel wing")} == {"german#1", "second#1"}
        writer.drop(None, ["second"])
    writer.move(None, "german", "s", normalize_document_access(None, []))
    assert reader.search("Flügel Strömung") == []


def damaged(index, statement, *values):
    with closing(sqlite3.connect(index.database.path)) as connection, connection:
        assert connection.execute(statement, values).rowcount


def test_postings_that_were_cut_are_damage(tmp_path):
    index = filled(tmp_path / "kb.sqlite", ["wing"] * 4)
    damaged(index, "UPDATE postings SET data = substr(data, 2)")
    with pytest.raises(StoreError, match="damaged"):
        index.search("wing")
