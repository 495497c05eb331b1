"""The index of a knowledge base: its ranking is the retriever's over what a caller may read, and nothing else shows."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph import KnowledgeBase
from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.knowledge.file import File
from guardgraph.knowledge.index import Index
from guardgraph.knowledge.views import Latest
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.state.context import Access, Caller, normalize_document_access
from guardgraph.tools.knowledge_base import Document, demo_documents
from guardgraph.tools.lexical import LexicalRetriever

PUBLIC = Access(None, ("public",))
WORDY = [
    "The wing is heated by the flow",
    "wing",
    "heat heat heat",
    "0",
    "of the",
    "",
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


def stored(name, text, access=PUBLIC, source="s", collection=""):
    chunk = Chunk(f"{name}#1", "", text, 0, len(text))
    return StoredDocument(name, collection, source, "", "", access, (chunk,), Stamp(len(text), 0, ""))


def both(retrieve, base, question, top_k=4):
    sources = sorted({document["source"] for document in retrieve.documents})
    request = {"query": question, "sources": sources, "top_k": top_k}
    expected = retrieve(request)
    return expected, [{name: found[name] for name in (expected or [found])[0]} for found in base(request)]


@pytest.fixture
def base(tmp_path):
    with KnowledgeBase(tmp_path / "kb.sqlite") as made:
        yield made


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
    normalize_document_access("acme", ["tenant"]),
    normalize_document_access("acme", ["group:support"]),
    normalize_document_access("acme", []),
    normalize_document_access("globex", ["tenant"]),
    normalize_document_access("globex", ["user:u:1"]),
]
CALLERS = [
    None,
    Caller(),
    Caller(tenant="acme"),
    Caller(tenant="acme", groups=("support",)),
    Caller(tenant="globex", user="u:1"),
]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["put", "drop", "move"]), st.integers(0, 4), TEXTS, st.sampled_from(ACCESSES)),
    max_size=12,
)


def replayed(index, changes, is_kept):
    """Make changes to a base in which documents are only while they are kept."""
    texts, shown = {}, set()
    for kind, number, given_text, access in changes:
        here = (access.tenant, str(number))
        if kind == "move" and here not in texts:
            continue
        texts[here] = text = texts[here] if kind == "move" else given_text
        if kind == "drop" or not is_kept(access):
            index.drop(access.tenant, [here[1]])
            shown.discard(here)
            if kind == "drop":
                del texts[here]
        elif kind == "put" or here not in shown:
            index.put(stored(here[1], text, access))
            shown.add(here)
        else:
            index.move(access.tenant, here[1], "s", access)


def test_a_query_may_have_a_hundred_thousand_characters(base):
    base.add(demo_documents(), readers=["public"])
    query = " ".join(f"refund{number}" for number in range(10_000))
    expected, found = both(LexicalRetriever(demo_documents()), base, query)
    assert len(query) > 100_000
    assert found == expected


def test_a_public_document_of_another_tenant_does_not_take_an_id(index):
    """Where a caller may read two documents of one id, the other tenant's is shown with its tenant."""
    index.put(stored("a", "wing flow", normalize_document_access("acme", ["tenant"])))
    index.put(stored("a", "wing heat", normalize_document_access("globex", ["public"])))
    index.put(stored("a", "wing lift", normalize_document_access(None, ["public"])))
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
        index.put(stored(name, f"A ledger of {tenant} {name}.", Access(tenant, ("public",))))
    found = index.search("ledger", caller=Caller(tenant="mine"), top_k=9)
    assert {hit["doc_id"].removesuffix("#1") for hit in found} == shown
    assert len(found) == len(held)


def test_an_id_of_another_collection_is_refused(index):
    index.put(stored("a", "wing flow", collection="one"))
    with pytest.raises(ConfigurationError, match="collection 'one'"):
        index.put(stored("a", "other text", collection="two"))
    assert [found["text"] for found in index.search("wing")] == ["wing flow"]
    assert index.collections() == {(None, "one"): 1}


@pytest.mark.parametrize("change", ["text = 'wing secret'", "hash = x'00'"])
def test_a_changed_row_is_never_shown(index, change):
    index.put(stored("a", "wing flow"))
    with sqlite3.connect(index.database.path) as connection:
        connection.execute(f"UPDATE chunks SET {change}")
    connection.close()
    with pytest.raises(StoreError, match="damaged") as error:
        index.search("wing")
    assert "secret" not in str(error.value)


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
