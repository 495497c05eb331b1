"""What a knowledge base went through does not show: it answers as one that was built anew from what is left."""

import json
import sqlite3
from contextlib import closing

from hypothesis import given, settings
from hypothesis import strategies as st
from test_kb_index import ACCESSES, ASKED, CALLERS, PUBLIC, TEXTS, index

from guardgraph import KnowledgeBase
from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.knowledge.file import File
from guardgraph.knowledge.index import Index

__all__ = ["index"]

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "drop", "move"]),
        st.integers(0, 5),
        st.lists(TEXTS, min_size=1, max_size=3),
        st.sampled_from(ACCESSES),
    ),
    max_size=25,
)


def document(name, texts, access=PUBLIC):
    chunks = tuple(Chunk(f"{name}#{at}", "", text, 0, len(text)) for at, text in enumerate(texts))
    return StoredDocument(name, "", "s", "", "", access, chunks, Stamp(1, 0, ""))


def lived(index, steps):
    """Take steps, those that put documents in together; return what is left, in its order."""
    left = {}
    with index.together() as batch:
        for kind, number, texts, access in steps:
            here = (access.tenant, str(number))
            before = left.get(here)
            if kind == "put":
                batch.put(document(here[1], texts, access))
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
        new.put(document(name, texts, access))
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
