"""The index of a knowledge base ranks what a caller may read; nothing else shows, nor what it went through."""

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_kb_ingest import base

from guardgraph import KnowledgeBase
from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.knowledge.file import File
from guardgraph.knowledge.index import Index
from guardgraph.knowledge.postings import change_postings, decode_postings
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.state.context import Access, Caller, normalize_document_access
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

__all__ = ["base"]
PUBLIC = Access(None, ("public",))
WORDY = [
    *("The wing is heated by the flow", "wing", "heat heat heat", "0", "of the", ""),
    "Der Flügel wird von der Strömung erwärmt und ist nicht kalt",
    "El ala se calienta con el flujo y no es fría",
    "Крыло нагревается потоком и не остаётся холодным",
    "翼は流れで加熱される",
    "wings heating response respond",
]
TEXTS = st.sampled_from(WORDY)
ASKED = st.sampled_from(["wing", "What heats the wing?", "Wer erwärmt den Flügel?", "крыло", "翼", "cold heat 0"])


def document(name, text, source="s", title="", section=""):
    return Document(id=name, source=source, title=title, section=section, updated_at="", text=text)


def stored(name, *texts, access=PUBLIC, collection=""):
    chunks = tuple(Chunk(f"{name}#{at}", "", text, 0, len(text)) for at, text in enumerate(texts, 1))
    return StoredDocument(name, collection, "s", "", "", access, chunks, Stamp(1, 0, ""))


def both(retrieve, base, question, top_k=4):
    sources = sorted({document["source"] for document in retrieve.documents})
    request = {"query": question, "sources": sources, "top_k": top_k}
    expected = retrieve(request)
    return expected, [{name: found[name] for name in (expected or [found])[0]} for found in base(request)]


@pytest.fixture
def index(tmp_path):
    made = Index(File(tmp_path / "kb.sqlite"))
    yield made
    made.close()


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS.filter(bool), max_size=8), ASKED, st.integers(1, 4))
def test_ranks_any_base_as_the_retriever_does(tmp_path_factory, texts, question, top_k):
    """Texts in several languages, or in none that they tell: the same candidates, order and scores."""
    documents = [document(str(at), text, source=f"s{at % 2}") for at, text in enumerate(texts)]
    with KnowledgeBase(tmp_path_factory.mktemp("kb") / "kb.sqlite") as base:
        base.add(documents, readers=["public"])
        expected, found = both(LexicalRetriever(documents), base, question, top_k)
    assert found == expected


ACCESSES = [
    PUBLIC,
    *(normalize_document_access("acme", readers) for readers in (["tenant"], ["group:support"], [])),
    *(normalize_document_access("globex", readers) for readers in (["tenant"], ["user:u:1"])),
]
CALLERS = [None, Caller(), Caller(tenant="acme"), Caller(tenant="acme", groups=("support",))]
CALLERS.append(Caller(tenant="globex", user="u:1"))


def test_a_query_and_its_words_may_be_long(base):
    """What is too long for a key of the index is found by it all the same, as the retriever finds it."""
    documents = [document(ending, f"{'vq' * 2_000}{ending} wing") for ending in ("zek", "zok")]
    base.add(documents, readers=["public"])
    expected, found = both(LexicalRetriever(documents), base, f"{'vq' * 2_000}zok")
    assert found == expected
    assert found[0]["doc_id"] == "zok"
    assert found[0]["score"] > found[-1]["score"]
    query = " ".join(f"wing{number}" for number in range(20_000))
    expected, found = both(LexicalRetriever(documents), base, query)
    assert (len(query) > 100_000, found) == (True, expected)


def test_a_public_document_of_another_tenant_does_not_take_an_id(index):
    """Where a caller may read two documents of one id, the other tenant's is shown with its tenant."""
    for tenant, reader in (("acme", "tenant"), ("globex", "public"), (None, "public")):
        index.put(stored("a", f"wing of {tenant}", access=normalize_document_access(tenant, [reader])))
    shown = {found["doc_id"] for found in index.search("wing", caller=Caller(tenant="acme"))}
    assert shown == {"a#1", "globex:a#1", "public:a#1"}
    assert {found["doc_id"] for found in index.search("wing")} == {"a#1", "globex:a#1"}


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        ([(None, "x"), ("public", "x")], {"public:x", "%70ublic:x"}),
        ([("mine", "x"), ("acme", "x"), ("mine", "acme:x")], {"x", "acme::x", "acme:x"}),
        ([("a:b", "c"), ("a", "b:c"), ("mine", "c"), ("mine", "b:c")], {"a%3Ab:c", "a:b:c", "c", "b:c"}),
    ],
)
def test_no_two_chunks_are_shown_by_one_id(index, held, shown):
    """Whatever tenants and documents are called, each of what a caller may read has an id of its own."""
    for tenant, name in held:
        index.put(stored(name, f"A ledger of {tenant} {name}.", access=Access(tenant, ("public",))))
    found = index.search("ledger", caller=Caller(tenant="mine"), top_k=9)
    assert {hit["doc_id"].removesuffix("#1") for hit in found} == shown
    assert len(found) == len(held)


def test_an_id_of_another_collection_is_refused(index):
    index.put(stored("a", "wing flow", collection="one"))
    with pytest.raises(ConfigurationError, match="collection 'one'"):
        index.put(stored("a", "other text", collection="two"))
    assert [found["text"] for found in index.search("wing")] == ["wing flow"]
    assert index.collections() == {(None, "one"): 1}


@pytest.mark.parametrize(
    "change", ["chunks SET text = 'wing secret'", "chunks SET hash = x'00'", "postings SET data = substr(data, 2)"]
)
def test_a_changed_row_is_never_shown(index, change):
    for number in range(4):
        index.put(stored(str(number), "wing"))
    with closing(sqlite3.connect(index.database.path)) as connection, connection:
        connection.execute(f"UPDATE {change}")
    with pytest.raises(StoreError, match="damaged") as error:
        index.search("wing")
    assert "secret" not in str(error.value)


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
    writer.put(stored("first", WORDY[0]))
    writer.put(stored("german", WORDY[6]))
    writer.drop(None, ["first"])
    for _ in range(4):  # in between, most places of the block are nobody's, and it is written anew
        assert [hit["doc_id"] for hit in reader.search("Flügel Strömung")] == ["german#1"]
        writer.put(stored("second", WORDY[0]))
        assert {hit["doc_id"] for hit in reader.search("Flügel wing")} == {"german#1", "second#1"}
        writer.drop(None, ["second"])
    writer.move(None, "german", "s", normalize_document_access(None, []))
    assert reader.search("Flügel Strömung") == []


KINDS = st.sampled_from(["put", "put", "drop", "move"])
PIECES = st.lists(TEXTS, min_size=1, max_size=3)
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 5), PIECES, st.sampled_from(ACCESSES)), max_size=25)


def lived(index, steps):
    """Take steps, those that put documents in together; return what is left, in its order."""
    left = {}
    with index.together() as batch:
        for kind, number, texts, access in steps:
            here = (access.tenant, str(number))
            before = left.get(here)
            if kind == "put":
                batch.put(stored(here[1], *texts, access=access))
            else:
                batch.flush()
                if kind == "drop":
                    index.drop(access.tenant, [here[1]])
                elif before:
                    index.move(access.tenant, here[1], "s", access)
            if kind == "drop" or (before and before[1] != access):  # to somebody it is new, and comes last
                left.pop(here, None)
            if kind == "put" or (kind == "move" and before):
                left[here] = (texts if kind == "put" else before[0], access)
    return left


def rows(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


@settings(max_examples=25, deadline=None)
@given(STEPS, ASKED)
def test_any_history_answers_as_a_base_that_was_built_anew(tmp_path_factory, steps, question):
    """Whatever was added, changed, moved and removed: every answer and every count are those of what is left."""
    folder = tmp_path_factory.mktemp("kb")
    old, new = Index(File(folder / "old")), Index(File(folder / "new"))
    for (_, name), (texts, access) in lived(old, steps).items():
        new.put(stored(name, *texts, access=access))
    for caller in CALLERS:
        found = [json.dumps(each.search(question, caller=caller, top_k=50)) for each in (old, new)]
        assert found[0] == found[1]
    counted = (
        "SELECT scopes.tenant, source, readers, language, term, sum(total), sum(length(data)) FROM postings "
        "JOIN parts ON parts.id = part JOIN scopes ON scopes.id = scope GROUP BY 1, 2, 3, 4, 5"
    )
    assert rows(old.database.path, counted) == rows(new.database.path, counted)
    with KnowledgeBase(old.database.path) as base:
        assert base.check().findings == ()
    old.close()
    new.close()
