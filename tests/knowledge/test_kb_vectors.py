"""Vectors of a knowledge base: they order anew what words found, of what a caller may read, and nothing else."""

import math
import sqlite3

import pytest
from langchain_core.embeddings import Embeddings

from guardgraph import ConfigurationError, KnowledgeBase

SIDES = ("wing", "flow", "heat", "plate", "shock")
TEXTS = ["wing wing heat", "heat of the plate", "flow and heat", "shock waves", "a wing in the flow", "heat heat heat"]


class Sides(Embeddings):
    """A vector for how often each of a few words stands in a text; it says what it was asked."""

    def __init__(self, *, model="sides", more=0, scale=1.0):
        self.model, self.more, self.scale, self.asked = model, more, scale, []

    def embed_documents(self, texts):
        self.asked += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        words = text.casefold().split()
        return [self.scale * (words.count(side) + 0.01) for side in SIDES] + [0.0] * self.more


class Wrong(Sides):
    """An embedding that returns something else."""

    def __init__(self, returned):
        super().__init__()
        self.returned = returned

    def embed_documents(self, texts):
        return self.returned


def documents(texts, **fields):
    return [
        {"id": f"d{at}", "source": "s", "title": "", "section": "", "updated_at": "", "text": text, **fields}
        for at, text in enumerate(texts)
    ]


@pytest.fixture
def base(tmp_path):
    made = KnowledgeBase(tmp_path / "kb.sqlite", embedding=Sides())
    made.add(documents(TEXTS), readers=["public"])
    with made:
        yield made


def test_vectors_order_what_words_found(base):
    """Both orders count, the score is that of the words, and what no word finds is not found."""
    words = KnowledgeBase(base.path).search("heat", top_k=10)
    both = base.search("heat", top_k=10)
    assert {hit["doc_id"]: hit["score"] for hit in both} == {hit["doc_id"]: hit["score"] for hit in words}
    assert [hit["doc_id"] for hit in both] == ["d5", "d1", "d2", "d0"]
    assert base.search("Kelvin", top_k=10) == []


def test_near_vectors_find_alone_where_that_is_asked_for(base):
    """With min_similarity a vector finds what no word does, and its cosine is the score."""
    with KnowledgeBase(base.path, embedding=Heat(), min_similarity=0.9) as near:
        found = near.search("Kelvin", top_k=10)
        assert ([hit["doc_id"] for hit in found], found[0]["score"]) == (["d5"], pytest.approx(1, abs=1e-3))
        assert near.search("Kelvin", top_k=10, caller={"tenant": "t"}) == found


class Heat(Sides):
    """An embedding that knows that Kelvin has to do with heat; by its name it is the other one."""

    def embed_query(self, text):
        return super().embed_query(text.replace("Kelvin", "heat"))


Heat.__qualname__ = Sides.__qualname__


def test_a_file_has_one_embedding(base):
    """Another embedding, another size, and documents without vectors beside others are refused, and change nothing."""
    before = base.path.read_bytes()
    name = f"{Sides.__module__}.Sides:sides"
    new = {"documents": documents(["new"]), "readers": ["public"], "name": "n"}
    with pytest.raises(ConfigurationError, match=rf"embedding: .* has vectors of {name}; given: .*Sides:other"):
        KnowledgeBase(base.path, embedding=Sides(model="other"))
    larger = KnowledgeBase(base.path, embedding=Sides(more=2))
    for use in (lambda: larger.search("heat"), lambda: larger.add(**new)):
        with pytest.raises(ConfigurationError, match="has vectors of 5 numbers; given: 7"):
            use()
    with pytest.raises(ConfigurationError, match=rf"has vectors of {name}; documents are put in with this embedding"):
        KnowledgeBase(base.path).add(**new)
    assert (base.path.read_bytes(), len(base.search("heat", top_k=10))) == (before, 4)


def test_what_is_no_vector_or_similarity_is_refused(tmp_path):
    for returned in ([], [[1.0]] * 2, [[math.nan]], [[math.inf, 1]], [[]], [["a"]], [None], [[1.0] * 20_000]):
        with KnowledgeBase(tmp_path / "kb.sqlite", embedding=Wrong(returned)) as base:
            with pytest.raises(ConfigurationError, match="embedding: "):
                base.add(documents(["heat"]), readers=["public"])
            assert base.source_names() == ()
    for given in (-0.1, 1.1, "0.5", True, math.nan):
        with pytest.raises(ConfigurationError, match=r"min_similarity: a number in 0\.\.1"):
            KnowledgeBase(tmp_path / "kb.sqlite", embedding=Wrong([]), min_similarity=given)


def test_revocation_holds_for_vectors(base):
    """Who may read nothing any more finds nothing, by vectors neither, in a base that has been searched before."""
    with KnowledgeBase(base.path, embedding=Heat(), min_similarity=0.5) as near:
        assert near.search("Kelvin")
        base.add(documents(TEXTS), readers=["user:ada"])
        assert near.search("Kelvin") == []
        assert near.search("Kelvin", caller={"user": "ada"})
    assert sqlite3.connect(base.path).execute("SELECT count(vector) FROM chunks").fetchone() == (len(TEXTS),)


FIRST = "WHERE name = 'd0'"


@pytest.mark.parametrize("change", ["vector = zeroblob(20)", "key = '00'", "vector = NULL"])
def test_a_check_finds_what_became_of_vectors(base, change):
    """Each change is named; a rebuild without the embedding names the document, and an addition makes its vector."""
    before = base.search("heat", top_k=10)
    with sqlite3.connect(base.path) as connection:
        connection.execute(f"UPDATE chunks SET {change} {FIRST}")
    found = "there is none" if "NULL" in change else "it is not what was put in"
    assert [(item.kind, str(item)) for item in base.check().findings] == [("vectors", f"vectors: d0: {found}")]
    with KnowledgeBase(base.path) as words:
        lacking = [str(item) for item in words.rebuild().without_vectors]
    assert lacking == ["d0"]
    base.add(documents(TEXTS), readers=["public"])
    assert (base.check().findings, base.search("heat", top_k=10)) == ((), before)


def test_a_rebuild_with_the_embedding_makes_the_vectors_that_are_missing(base):
    """Vectors that are right are kept; the embedding is asked for the others alone, and for no text that is wrong."""
    before = base.search("heat", top_k=10)
    with sqlite3.connect(base.path) as connection:
        connection.execute(f"UPDATE chunks SET vector = zeroblob(20) {FIRST}")
        connection.execute("UPDATE chunks SET vector = NULL WHERE name = 'd5'")
        (kept,) = connection.execute("SELECT count(*) FROM chunks WHERE vector <> zeroblob(20)").fetchone()
    embedding = Sides()
    with KnowledgeBase(base.path, embedding=embedding) as again:
        assert again.rebuild().ok
        assert (len(embedding.asked), kept) == (2, 4)
        assert (again.check().findings, again.search("heat", top_k=10)) == ((), before)
        with sqlite3.connect(base.path) as connection:
            connection.execute(f"UPDATE chunks SET text = 'Secret' {FIRST}")
        rebuilt = again.rebuild()
        assert ([str(item) for item in rebuilt.refused], rebuilt.without_vectors) == (["d0"], ())
        assert (len(embedding.asked), again.check().findings) == (2, ())
    with sqlite3.connect(base.path) as connection:
        connection.execute("UPDATE chunks SET vector = NULL")
    with KnowledgeBase(base.path, embedding=Sides(more=1)) as other, pytest.raises(ConfigurationError, match="numbers"):
        other.rebuild()
