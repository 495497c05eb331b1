"""The arithmetic of a search: numpy's, where it is installed, and Python's find the same, to the last digit."""

import json
import random
import sqlite3
import subprocess
import sys
from array import array
from contextlib import closing
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_kb_index import ASKED, CALLERS, CHANGES, PUBLIC, document, replayed, stored

from guardgraph.knowledge.indexes import Index
from guardgraph.knowledge.searching.arithmetic import Held, PostingRow, choose_posting_arithmetic
from guardgraph.knowledge.storing.postings import BLOCK, encode_postings
from guardgraph.plain.errors import StoreError
from guardgraph.state.context import normalize_document_access
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.relevance import damping, share

NUMPY_FROM = {"numpy": 0, "plain": inf}
BOTH = pytest.mark.parametrize("numpy_from", NUMPY_FROM.values(), ids=NUMPY_FROM)
WORDS = [f"{first}{second}" for first in ("wing", "heat", "flow", "mach", "load") for second in "abcdefgh"]
GERMAN = "Der Flügel wird von der Strömung erwärmt und ist nicht kalt"
ENGLISH = "The wing is heated by the flow and it is not cold"


def some_texts(number, seed):
    """Texts in which some words are common and others rare."""
    chance, weights = random.Random(seed), [1 / (rank + 1) for rank in range(len(WORDS))]
    return [" ".join(chance.choices(WORDS, weights, k=chance.randint(1, 60))) for _ in range(number)]


def some_questions(number, seed):
    """Questions of one word to nine."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 9))) for _ in range(number)]


def filled(path, texts, access=PUBLIC):
    """An index of texts, by number."""
    index = Index(path)
    with index.together() as batch:
        for number, text in enumerate(texts):
            batch.put(stored(str(number), text, access))
    return index


def shown(found):
    """What is compared of what was found."""
    return [(hit["text"], hit["score"]) for hit in found]


def expected(texts, question, top_k):
    """What the retriever finds of texts."""
    retrieve = LexicalRetriever([document(str(number), text) for number, text in enumerate(texts)])
    return shown(retrieve({"query": question, "sources": ["s"], "top_k": top_k}))


@settings(max_examples=40, deadline=None)
@given(CHANGES, st.sampled_from(CALLERS), ASKED, st.integers(1, 6))
def test_both_find_the_same_whatever_was_changed(tmp_path_factory, changes, caller, question, top_k):
    """Any base, caller and question: what is found is the same, byte for byte."""
    path = tmp_path_factory.mktemp("kb") / "kb.sqlite"
    replayed(Index(path), changes, lambda _: True)
    found = [Index(path, numpy_from=each).search(question, caller=caller, top_k=top_k) for each in NUMPY_FROM.values()]
    assert json.dumps(found[0]) == json.dumps(found[1])


@BOTH
def test_common_words_of_a_long_question_are_only_looked_up(tmp_path, numpy_from):
    """Where there is much to add up, not all of it is, and what is found is what the retriever finds."""
    chance, weights = random.Random(4), [1 / (rank + 1) for rank in range(len(WORDS))]
    texts = [" ".join(chance.choices(WORDS, weights, k=100)) for _ in range(600)]
    index = Index(filled(tmp_path / "kb.sqlite", texts).path, numpy_from=numpy_from)
    for top_k in (1, 5):
        assert shown(index.search(" ".join(WORDS), top_k=top_k)) == expected(texts, " ".join(WORDS), top_k)


def test_both_say_the_same_of_each_chunk_however_many_have_a_term():
    """Terms of few chunks and of most, of two rows of a block, and with large counts cover as much for both."""
    chance = random.Random(9)
    lengths = [[array("I", chance.choices((0, 20, 50), k=size)).tobytes()] for size in (BLOCK, 900)]
    shares = {0: (0.5, 3), 1: (0.003, 2), 2: (0.4, 300), 3: (0.1, 1)}
    held = [(0, range(0, BLOCK, 2)), (0, range(1, BLOCK, 2)), (1, range(900))]
    found = []
    rows = {
        term: [
            PostingRow(block, len(places), encode_postings(places, [chance.randint(1, most) for _ in places]))
            for block, among in held
            if (places := [place for place in among if chance.random() < share])
        ]
        for term, (share, most) in shares.items()
    }
    for computes in (choose_posting_arithmetic(1, inf), choose_posting_arithmetic(1, 0)):
        damped = computes.damped(lengths, 30.0)
        columns = computes.columns(damped, rows)
        terms = [Held(5.0 - term, 5.0 - term, columns[term]) for term in rows]
        added, partly = computes.sums(damped, terms), computes.sums(damped, terms)
        added.add(terms)
        partly.add([terms[1], terms[3]])
        first = max(hit.covered for hit in added.highest(4))
        assert first == max(hit.covered for hit in added.reaching(0.0, []))
        found.append([*added.reaching(6.0, []), *partly.reaching(7.0, [terms[0], terms[2]])])
    assert found[0] == found[1]
    assert len(found[0]) > 100


LENGTHS = st.lists(st.integers(1, 400), min_size=1, max_size=300)
TERMS = st.lists(
    st.tuples(st.floats(0.01, 90), st.dictionaries(st.integers(0, 299), st.integers(1, 300), min_size=1)), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(LENGTHS, st.floats(0, 500), TERMS)
def test_each_sum_is_the_formula_to_the_last_digit(lengths, average, given_terms):
    """Any chunks, terms and weights: Python and numpy sum what the one formula gives, in its order."""
    counts = [(weight, {at % len(lengths): times for at, times in some.items()}) for weight, some in given_terms]
    expected = dict.fromkeys(range(len(lengths)), 0.0)
    for weight, some in counts:
        for at, times in some.items():
            expected[at] += weight * share(times, damping(lengths[at], average))
    for computes in (choose_posting_arithmetic(1, inf), choose_posting_arithmetic(1, 0)):
        damped = computes.damped([[array("I", lengths).tobytes()]], average)
        rows = [
            PostingRow(0, len(some), encode_postings(sorted(some), [some[at] for at in sorted(some)]))
            for _, some in counts
        ]
        columns = computes.columns(damped, {at: [row] for at, row in enumerate(rows)})
        held = [Held(weight, weight, columns[at]) for at, (weight, _) in enumerate(counts)]
        added, looked_up = computes.sums(damped, held), computes.sums(damped, held)
        added.add(held)
        looked_up.add(held[1:])
        for sums, rest in ((added, []), (looked_up, held[:1])):
            found = {hit.place: hit.covered for hit in sums.reaching(0.0, rest)}
            assert found == {at: covered for at, covered in expected.items() if at in found}
        assert {hit.place for hit in added.reaching(0.0, [])} == {at for at, covered in expected.items() if covered}


@BOTH
def test_what_others_change_holds_from_the_next_search_on(tmp_path, numpy_from):
    """Whoever searches keeps nothing in memory that another one changed, or wrote to another place."""
    writer = Index(tmp_path / "kb.sqlite")
    reader = Index(writer.path, numpy_from=numpy_from)
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


SEARCHED = """
import json, sys
{before}
from guardgraph.knowledge.indexes import Index
print(json.dumps(Index({path!r}, numpy_from={numpy_from}).search("winga heatb flowc")), "numpy" in sys.modules)
"""


@pytest.mark.parametrize(
    ("before", "numpy_from", "is_loaded"),
    [("", 0, True), ("", 1000, False), ("sys.modules['numpy'] = None", 0, True)],
    ids=["installed", "few", "not installed"],
)
def test_numpy_is_loaded_for_many_chunks_where_it_is_installed(tmp_path, before, numpy_from, is_loaded):
    """It is no import of ours; without it, or with few chunks, a search finds the same."""
    index = filled(tmp_path / "kb.sqlite", some_texts(40, 1))
    code = SEARCHED.format(before=before, path=str(index.path), numpy_from=numpy_from)
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == f"{json.dumps(index.search('winga heatb flowc'))} {is_loaded}"


def damaged(index, statement, *values):
    """Change what an index has in its file."""
    with closing(sqlite3.connect(index.path)) as connection, connection:
        assert connection.execute(statement, values).rowcount


@BOTH
@pytest.mark.parametrize("left", [0, 4, 40, 42])
def test_lengths_that_were_cut_are_damage(tmp_path, numpy_from, left):
    """Where lengths of a block are gone, its words are not taken for those of another one: it is an error."""
    index = Index(tmp_path / "kb.sqlite", numpy_from=numpy_from)
    with index.together() as batch:
        for number, text in enumerate(some_texts(60, 4)):
            batch.put(stored(str(number), text, source=f"s{number % 3}"))
    damaged(index, "UPDATE lengths SET data = substr(data, 1, ?) WHERE block = 1", left)
    for question in some_questions(3, 1):
        with pytest.raises(StoreError, match="damaged"):
            index.search(question)
