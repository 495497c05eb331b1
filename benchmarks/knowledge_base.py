"""How fast is a knowledge base in a file, beside FTS5, rank_bm25 and bm25s with the same chunks, as bases grow?

The chunks are put together from the sentences of the collection; the questions are the collection's. Every question is
asked of all in turn, some rounds, and the fastest of its times counts; a figure is the median over the questions.
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import STATUS, Figure, in_new_process, resident_kb
from sections import Meaning, Section, run_alone

from guardgraph import Document, KnowledgeBase, LexicalRetriever
from guardgraph.grounding.words import read_terms
from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.state.context import normalize_document_access

SIZES = (1_000, 10_000, 100_000)
TRIAL = (20, 40)
"""Chunks of a collection that is too small to make many of."""
ROUNDS, QUESTIONS, CHANGES = 3, 60, 60
TENANTS = 10_000
TENANT, COLLECTION = "t", "c"
RARE = 100
"""One chunk of so many has readers of its own."""
TOP = 4
"""Chunks that are asked for."""
AT_ONCE = 512
"""Chunks of a transaction of FTS5."""
NAMES = 6
"""Words of a chunk that few others have: codes, the more different ones the larger the base, as in any language."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

Search = Callable[[str], object]


def measure_knowledge_base(path: Path, sizes: Sequence[int] = SIZES) -> Iterator[Figure]:
    """Yield the figures of each size, and those that compare sizes."""
    collection = json.loads(path.read_text(encoding="utf-8"))
    texts, questions = list(collection["docs"].values()), list(collection["queries"].values())
    questions = questions[:: max(len(questions) // QUESTIONS, 1)]
    sizes = sizes if len(texts) > TRIAL[-1] else TRIAL
    added = {}
    for size in sizes:
        made = list(make_chunks(texts, size))
        with TemporaryDirectory() as name:
            folder = Path(name)
            searches, built = _built(folder, made)
            taken = medians(searches, questions)
            for rival, seconds in taken.items():
                yield f"kb_{size}_{rival}_query_ms", seconds * 1000
                if rival != "kb":
                    yield f"kb_{size}_query_over_{rival}", taken["kb"] / seconds
            yield f"kb_{size}_build_over_fts5_words", built["kb"] / built["fts5_words"]
            yield f"kb_{size}_build_s", built["kb"]
            changes = _changes(folder, made, questions)
            added[size] = changes["add"]
            yield f"kb_{size}_add_ms", changes["add"] * 1000
            yield f"kb_{size}_remove_ms", changes["remove"] * 1000
            yield f"kb_{size}_query_after_own_change_over_repeated", changes["own"] / changes["repeated"]
            yield f"kb_{size}_query_after_foreign_change_over_repeated", changes["foreign"] / changes["repeated"]
            yield f"kb_{size}_query_filtered_over_all", _filtered(folder / "kb.sqlite", size, questions)
            if STATUS.exists():
                memory = {what: _memory(what, folder, made, questions) for what in ("kb", "retriever")}
                yield f"kb_{size}_memory_over_retriever", memory["kb"] / memory["retriever"]
                yield f"kb_{size}_memory_mb", memory["kb"] / 1000
    yield "kb_add_largest_over_smallest", added[max(sizes)] / added[min(sizes)]
    yield (
        "kb_tenants_first_query_ms",
        _first_of_many_tenants(list(make_chunks(texts, TENANTS if max(sizes) > TENANTS else 9))),
    )
    yield "kb_reingest_over_first", _again(list(make_chunks(texts, min(sizes))))


def make_chunks(texts: Iterable[str], number: int, seed: int = 1) -> Iterator[str]:
    """Yield chunks: sentences of one text, some of any, and some codes; the same for the same seed."""
    split = [_SENTENCE_END.split(text) for text in texts if text.strip()]
    every = [sentence for sentences in split for sentence in sentences]
    chance = random.Random(seed)
    for _ in range(number):
        own = chance.choice(split)
        of_it = chance.sample(own, (len(own) + 1) // 2)
        others = chance.choices(every, k=chance.randint(1, 5))
        codes = (f"q{int((2 * number) ** chance.random()):x}" for _ in range(NAMES))
        yield " ".join((*of_it, *others, *codes))


def documents(texts: Sequence[str]) -> list[Document]:
    return [
        Document(id=str(at), source="s", title="", section="", updated_at="", text=text)
        for at, text in enumerate(texts)
    ]


def _built(folder: Path, made: list[str]) -> tuple[dict[str, Search], dict[str, float]]:
    """Return what searches, and the seconds of processor time in which what is on disk was built."""
    base = KnowledgeBase(folder / "kb.sqlite")
    read = [read_terms(text) for text in made]  # so that every word was stemmed before, for whoever is built first
    built = {"kb": _seconds(lambda: base.add(documents(made), tenant=TENANT, readers=["group:all"], name=COLLECTION))}
    searches: dict[str, Search] = {"kb": _search(base, "all")}

    def build(name: str, *, same_words: bool) -> None:
        searches[name] = fts5(folder / name, made, same_words=same_words)

    for name in ("fts5_words", "fts5"):
        built[name] = _seconds(lambda name=name: build(name, same_words=name == "fts5_words"))
    searches |= {"rank_bm25": rank_bm25(read, made), "bm25s": bm25s(read)}
    return searches, built


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def medians(searches: Mapping[str, Search], questions: Sequence[str]) -> dict[str, float]:
    """Return the median over the questions of the fastest time of each search."""
    fastest: dict[str, list[float]] = {name: [float("inf")] * len(questions) for name in searches}
    for turn in range(ROUNDS + 1):
        for at, question in enumerate(questions):
            for name in searches if turn % 2 else reversed(searches):
                begin = time.perf_counter()
                searches[name](question)
                taken = time.perf_counter() - begin
                if turn:
                    fastest[name][at] = min(fastest[name][at], taken)
    return {name: statistics.median(each) for name, each in fastest.items()}


def _changes(folder: Path, made: Sequence[str], questions: Sequence[str]) -> dict[str, float]:
    """Return the medians of the processor time of what users call while a base changes.

    A question is repeated after a change of another file, so that the processor's caches are as cold as after a change
    of this one.
    """
    times: dict[str, list[float]] = {name: [] for name in ("repeated", "foreign", "own", "add", "remove")}
    with KnowledgeBase(folder / "kb.sqlite") as base, KnowledgeBase(folder / "elsewhere.sqlite") as elsewhere:
        search = _search(base, "all")

        def add(to: KnowledgeBase, at: int, tenant: str, number: str, name: str | None = None) -> None:
            [document] = documents([made[-1 - at % len(made)]])
            to.add([{**document, "id": number}], tenant=tenant, readers=["group:all"], name=name)

        for at in range(CHANGES):
            question = questions[at % len(questions)]
            search(question)
            add(elsewhere, at, "other", f"e{at}")
            times["repeated"].append(_seconds(lambda: search(question)))  # noqa: B023
            add(base, at, "other", f"f{at}")
            times["foreign"].append(_seconds(lambda: search(question)))  # noqa: B023
            times["add"].append(_seconds(lambda: add(base, at, TENANT, f"o{at}")))  # noqa: B023
            times["own"].append(_seconds(lambda: search(question)))  # noqa: B023
        for at in range(CHANGES):
            add(base, at, TENANT, "r", name="removed")
            times["remove"].append(_seconds(lambda: base.remove("removed", tenant=TENANT)))
    return {name: statistics.median(each) for name, each in times.items()}


def _first_of_many_tenants(made: Sequence[str]) -> float:
    """Return the milliseconds of the first question of a tenant, of a base in which each text is another tenant's."""
    with TemporaryDirectory() as name, KnowledgeBase(Path(name) / "kb.sqlite") as base:
        with base.index.together() as batch:
            for at, text in enumerate(made):
                chunk, access = Chunk("d", "", text, 0, len(text)), normalize_document_access(f"t{at}", ["tenant"])
                batch.put(StoredDocument("d", COLLECTION, "s", "", "", access, (chunk,), Stamp(len(text), 0, "")))
        asked = [(text, {"tenant": f"t{at}"}) for at, text in enumerate(made) if at % max(len(made) // CHANGES, 1) == 0]
        return 1000 * statistics.median(
            _seconds(lambda: base.search(text[:80], caller=caller))  # noqa: B023
            for text, caller in asked
        )


def _filtered(file: Path, size: int, questions: Sequence[str]) -> float:
    """Return how much of the time a search takes that may read one chunk of a hundred."""
    with KnowledgeBase(file) as base:
        few = normalize_document_access(TENANT, ["group:few", "group:all"])
        for at in range(0, size, RARE):
            base.index.move(TENANT, f"{COLLECTION}/{at}", "s", few)
        searches = {name: _search(base, name) for name in ("few", "all")}
        taken = medians(searches, questions)
    return taken["few"] / taken["all"]


def _search(base: KnowledgeBase, group: str) -> Search:
    caller = {"tenant": TENANT, "groups": [group]}
    return lambda question: base.search(question, caller=caller, top_k=TOP)


def _again(made: Sequence[str]) -> float:
    """Return how much of the first time it takes to add a folder again that is unchanged."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "texts"
        folder.mkdir()
        for at, text in enumerate(made):
            (folder / f"{at}.txt").write_text(text, encoding="utf-8")
        with KnowledgeBase(Path(name) / "kb.sqlite") as base:
            first = _seconds(lambda: base.add(folder, readers=["public"]))
            return _seconds(lambda: base.add(folder, readers=["public"])) / first


def _memory(what: str, folder: Path, made: Sequence[str], questions: Sequence[str]) -> float:
    """Return by how many kB a process of its own grows that searches."""
    given = folder / "given.json"
    given.write_text(json.dumps([str(folder / "kb.sqlite"), list(made) if what == "retriever" else [], questions]))
    return float(in_new_process(growth_kb, what, given))


def growth_kb(what: str, given: Path) -> float:
    """Return by how many kB this process grows while it opens what is searched and searches it."""
    file, made, questions = json.loads(given.read_text())
    documented = documents(made)
    searches = {"kb": lambda: _search(KnowledgeBase(file), "all"), "retriever": lambda: retriever(documented)}
    LexicalRetriever(documents(["one"]))
    before = resident_kb()
    search = searches[what]()
    for question in questions:
        search(question)
    return resident_kb() - before


def retriever(made: list[Document]) -> Search:
    retrieve = LexicalRetriever(made)
    return lambda question: retrieve({"query": question, "sources": ["s"], "top_k": TOP})


def fts5(file: Path, texts: Sequence[str], *, same_words: bool) -> Search:
    """Return a search by FTS5, over the words that `terms` reads or over those of its own tokenizer."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, text TEXT)")
    kept = ", tokenize=\"unicode61 remove_diacritics 0 tokenchars '.,'\"" if same_words else ""
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content=''{kept})")
    for begin in range(0, len(texts), AT_ONCE):
        with connection:
            for at, text in enumerate(texts[begin : begin + AT_ONCE], begin):
                connection.execute("INSERT INTO chunks VALUES (?, ?)", [at, text])
                read = " ".join(read_terms(text)) if same_words else text
                connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [at, read])
    best = "SELECT rowid AS id, rank AS score FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"

    def search(question: str) -> object:
        asked = read_terms(question) if same_words else re.findall(r"\w+", question)
        match = " OR ".join(f'"{word}"' for word in asked)
        return connection.execute(f"SELECT text, score FROM ({best}) JOIN chunks USING (id)", [match, TOP]).fetchall()

    return search


def rank_bm25(read: Sequence[list[str]], texts: Sequence[str]) -> Search:
    """Return a search by rank_bm25 over words that were read."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi(read)
    return lambda question: index.get_top_n(read_terms(question), texts, n=TOP)


def bm25s(read: Sequence[list[str]]) -> Search:
    """Return a search by bm25s over words that were read."""
    import bm25s as library

    index = library.BM25()
    index.index(list(read), show_progress=False)
    return lambda question: index.retrieve([read_terms(question)], k=TOP, show_progress=False, n_threads=0)


SECTIONS = (
    Section(
        "knowledge_base",
        "A knowledge base in a file",
        "Chunks that are put together from the sentences of the collection, and its questions, asked of a "
        "`KnowledgeBase`, of SQLite's FTS5 and of two libraries that keep all in memory, of all in turn; by the number "
        "of chunks. The goals hold for 100,000.",
        (
            Meaning("kb_*_query_ms", "Milliseconds for a question, the median; four chunks are asked for."),
            Meaning("kb_*_query_over_*", "Of a smaller base: the time of the knowledge base by that of the other."),
            Meaning("kb_100000_query_over_fts5_words", "By that of FTS5 over the words that we read.", at_most=0.7),
            Meaning("kb_100000_query_over_fts5", "By that of FTS5 with its own tokenizer.", at_most=0.1),
            Meaning("kb_100000_query_over_rank_bm25", "By that of rank_bm25 over our words.", at_most=0.05),
            Meaning("kb_100000_query_over_bm25s", "By that of bm25s, which cannot be updated.", at_most=1.5),
            Meaning(
                "kb_*_query_filtered_over_all",
                "The time of a caller who may read 1 % of the chunks, by that of one who may read all.",
            ),
            Meaning("kb_100000_query_filtered_over_all", "The same.", at_most=0.1),
            Meaning("kb_*_build_over_fts5_words", "Processor time of building, by that of FTS5 over our words."),
            Meaning("kb_100000_build_over_fts5_words", "The same.", at_most=3),
            Meaning("kb_*_build_s", "Seconds of processor time of building."),
            Meaning("kb_*_add_ms", "Milliseconds of processor time of `add` of one document, the median."),
            Meaning("kb_100000_add_ms", "The same.", at_most=10),
            Meaning("kb_add_largest_over_smallest", "The same, of the largest base by the smallest.", at_most=2),
            Meaning("kb_*_remove_ms", "Of `remove` of a collection of one document."),
            Meaning(
                "kb_*_query_after_own_change_over_repeated",
                "Processor time of a question after a change of the tenant's own, by that of a repeated one.",
            ),
            Meaning("kb_100000_query_after_own_change_over_repeated", "The same.", at_most=2),
            Meaning("kb_*_query_after_foreign_change_over_repeated", "The same after a change of another tenant's."),
            Meaning("kb_100000_query_after_foreign_change_over_repeated", "The same.", at_most=1.05),
            Meaning(
                "kb_tenants_first_query_ms",
                "Milliseconds of processor time of a tenant's first question, beside 10,000 tenants of one document.",
                at_most=10,
            ),
            Meaning("kb_*_memory_over_retriever", "By what a process grows that searches, by `LexicalRetriever`'s."),
            Meaning("kb_100000_memory_over_retriever", "The same.", at_most=0.1),
            Meaning("kb_*_memory_mb", "By how many MB a process grows that searches the file."),
            Meaning("kb_reingest_over_first", "Time of adding an unchanged folder again, by the first.", at_most=0.05),
        ),
        data="cranfield",
        missed="bm25s scores all texts from memory, for everybody; a search here reads what its caller may read.",
        figures=measure_knowledge_base,
        sizes=SIZES,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
