"""What a knowledge base in a file costs, beside other indexes of the same chunks, in bases of growing size.

    python benchmarks/knowledge_base.py cranfield.json

The chunks are put together from the sentences of the collection; the questions are the collection's. Every question is
asked of all in turn, some rounds, and the fastest of its times counts; a figure is the median over the questions.
Prints `name value` lines.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Figure, shown
from rivals import TOP, Search, bm25s, fts5, rank_bm25
from synthesised import chunks

from guardgraph import Document, KnowledgeBase, LexicalRetriever
from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.languages.terms import read_terms
from guardgraph.state.context import normalize_document_access

SIZES = (1_000, 10_000, 100_000)
TRIAL = (20, 40)
"""Chunks of a collection that is too small to make many of."""
ROUNDS, QUESTIONS, CHANGES = 3, 60, 60
TENANTS = 10_000
TENANT, COLLECTION = "t", "c"
RARE = 100
"""One chunk of so many has readers of its own."""
STATUS = Path("/proc/self/status")


def documents(texts: Sequence[str]) -> list[Document]:
    return [
        Document(id=str(at), source="s", title="", section="", updated_at="", text=text)
        for at, text in enumerate(texts)
    ]


def figures(texts: Sequence[str], questions: Sequence[str], sizes: Sequence[int]) -> Iterator[Figure]:
    """Yield the figures of each size, and those that compare sizes."""
    added = {}
    for size in sizes:
        made = list(chunks(texts, size))
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
        _first_of_many_tenants(list(chunks(texts, TENANTS if max(sizes) > TENANTS else 9))),
    )
    yield "kb_reingest_over_first", _again(list(chunks(texts, min(sizes))))


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
    """Return by how many kB a process grows that searches."""
    given = folder / "given.json"
    given.write_text(json.dumps([str(folder / "kb.sqlite"), list(made) if what == "retriever" else [], questions]))
    command = [sys.executable, __file__, "--memory", what, str(given)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def growth_kb(what: str, given: Path) -> float:
    """Return by how many kB this process grows while it opens what is searched and searches it."""
    file, made, questions = json.loads(given.read_text())
    documented = documents(made)
    searches = {"kb": lambda: _search(KnowledgeBase(file), "all"), "retriever": lambda: retriever(documented)}
    LexicalRetriever(documents(["one"]))
    before = _resident_kb()
    search = searches[what]()
    for question in questions:
        search(question)
    return _resident_kb() - before


def retriever(made: list[Document]) -> Search:
    retrieve = LexicalRetriever(made)
    return lambda question: retrieve({"query": question, "sources": ["s"], "top_k": TOP})


def _resident_kb() -> float:
    status = STATUS.read_text(encoding="ascii").splitlines()
    (line,) = (line for line in status if line.startswith("VmRSS:"))
    return float(line.split()[1])


def main(path: str) -> None:
    collection = json.loads(Path(path).read_text(encoding="utf-8"))
    texts, questions = list(collection["docs"].values()), list(collection["queries"].values())
    sizes = SIZES if len(texts) > TRIAL[-1] else TRIAL
    for name, value in figures(texts, questions[:: max(len(questions) // QUESTIONS, 1)], sizes):
        print(name, shown(value), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        print(growth_kb(sys.argv[2], Path(sys.argv[3])))
    elif len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/knowledge_base.py PATH_OF_CRANFIELD_JSON")
    else:
        main(sys.argv[1])
