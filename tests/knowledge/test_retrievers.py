"""Retrievers that know who may read what do what a run asks of one."""

import json
import re
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest
from guarded_bases import FileBase, LexicalBase, StoreBase
from guarded_stores import STORES
from tables import each_row

from guardgraph import Caller, ConfigurationError, Document, KnowledgeBase, LexicalRetriever
from guardgraph.state.context import is_access_allowed, normalize_document_access
from guardgraph.testing import RETRIEVER_CHECKS, check_retriever

FOLDER = Path(mkdtemp())
FILES = (FOLDER / f"{number}.sqlite" for number in count())
BASES = {
    "isolated": LexicalBase,
    "in a file": lambda: FileBase(next(FILES)),
    "filtered": lambda: LexicalBase(counts_all=True),
    **{name: lambda make=make, access=access: StoreBase(make(), access) for name, (make, access) in STORES.items()},
}


@pytest.fixture(scope="module", autouse=True)
def thrown_away():
    yield
    rmtree(FOLDER)


@pytest.mark.parametrize("check", RETRIEVER_CHECKS)
@pytest.mark.parametrize("base", BASES)
def test_a_retriever_does_what_a_run_asks_of_it(base, check):
    RETRIEVER_CHECKS[check](BASES[base]())


def test_what_is_counted_for_others_is_told():
    """A base that counts what a caller may not read is filtered, also one that every maker shares; else isolated."""
    kinds = {"isolated": "isolated", "in a file": "isolated", "filtered": "filtered", "in memory": "isolated"}
    assert {name: check_retriever(BASES[name]) for name in kinds} == kinds
    shared = LexicalBase()

    def empty():
        shared.__init__(counts_all=True)
        return shared

    assert check_retriever(empty) == "filtered"


ASKED = {"query": "apples", "sources": ["s"], "top_k": 1}
APPLES = Document(id="a", source="s", title="", section="", updated_at="", text="Apples are red.")
REFUSED = {
    **{f"request: {field} is missing": {name: ASKED[name] for name in ASKED if name != field} for field in ASKED},
    "request: a dictionary is required; given: list": ["apples"],
    "request: query: a text is required; given: None": {**ASKED, "query": None},
    "request: sources: a list of texts is required; given: 's'": {**ASKED, "sources": "s"},
    "request: top_k: a whole number from 1 on is required; given: True": {**ASKED, "top_k": True},
    "request: top_k: a whole number from 1 on is required; given: 0": {**ASKED, "top_k": 0},
}


def in_a_file():
    base = KnowledgeBase(next(FILES))
    base.add([APPLES], readers=["public"])
    return base


@pytest.mark.parametrize("made", [lambda: LexicalRetriever([APPLES]), in_a_file], ids=["in memory", "in a file"])
def test_a_request_by_hand_is_read_field_by_field(made):
    """What is missing or wrong in a request is named with what is allowed; other keys are not read."""
    retriever = made()
    assert [found["doc_id"] for found in retriever({**ASKED, "more": 7})] == ["a"]
    for message, request in REFUSED.items():
        with pytest.raises(ConfigurationError, match=re.escape(message)):
            retriever(request)
    for caller in (7, [], {"tenant": 7}, {"groups": "support"}, {"name": "x"}) if made is in_a_file else ():
        with pytest.raises(ConfigurationError, match=r"^caller[.:]"):
            retriever({**ASKED, "caller": caller})


class Ignorant(LexicalBase):
    """Does not know who asks."""

    def search(self, request):
        return super().search({key: value for key, value in request.items() if key != "caller"})


class Late(LexicalBase):
    """Takes the best of all, and leaves out then what may not be read."""

    def search(self, request):
        found = LexicalBase(filters=False)
        found._held = self._held
        caller = Caller(**request.get("caller", {}))
        held = [(normalize_document_access(item["tenant"], item["readers"]), item) for item in found.search(request)]
        return [item for access, item in held if is_access_allowed(access, caller)]


class Forgetful(LexicalBase):
    """Keeps what it once said."""

    def search(self, request):
        self._said = vars(self).get("_said", {})
        return self._said.setdefault(json.dumps(request), super().search(request))


class Open(LexicalBase):
    """Says of no document who may read it."""

    def search(self, request):
        return [{key: item[key] for key in ("doc_id", "source", "text", "score")} for item in super().search(request)]


class Breaking(LexicalBase):
    """Takes a query for a language of its own."""

    def search(self, request):
        assert "'" not in request["query"], "unterminated string"
        return super().search(request)


@each_row(
    ("check", "make", "said"),
    ("everybody_finds_what_he_may_read", lambda: LexicalBase(filters=False), "another document"),
    ("the_best_document_comes_first", Open, "a document without readers"),
    ("what_may_not_be_read_takes_no_place", Late, "the only one"),
    ("grants_and_revocations_hold_at_once", Forgetful, "found with the readers"),
    ("ids_are_those_of_a_tenant", Ignorant, "found for acme"),
    ("no_query_breaks_out", Breaking, "unterminated string"),
)
def test_a_retriever_that_fails_a_check_is_told_which(check, make, said):
    """A base that does something else is named by the check that it fails, with what it found."""
    with pytest.raises(AssertionError, match=said):
        RETRIEVER_CHECKS[check](make())
    with pytest.raises(AssertionError):
        check_retriever(make)
