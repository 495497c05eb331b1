"""A knowledge base that lives: what a change costs, whom it concerns, and whose letters and damage are whose."""

import sqlite3
from time import monotonic

import pytest
from test_kb_ingest import write

from guardgraph import KnowledgeBase
from guardgraph.knowledge.ingest import adding as content

ONE = {"source": "s", "title": "", "section": "", "updated_at": ""}


def documents(count, text="Hotels are booked in room {}."):
    return [{**ONE, "id": f"d{number}", "text": text.format(number)} for number in range(count)]


@pytest.fixture
def work(monkeypatch):
    """Yield lists of steps and statements: whatever SQLite does on a connection is counted there."""
    steps, statements, connect = [], [], sqlite3.connect

    def counted(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.set_progress_handler(lambda: steps.append(1), 10)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)

    def count(do):
        """Do something, and return how many steps and statements it took."""
        steps.clear()
        statements.clear()
        do()
        return len(steps), len(statements)

    return count


SALARIES = {**ONE, "id": "n", "text": "Salaries are paid on day 25."}
BEFORE = {
    "added": None,
    "another text": {"documents": [{**SALARIES, "text": "Salaries are paid twice."}], "readers": ["public"]},
    "for others": {"documents": [SALARIES], "readers": ["group:hr"]},
    "as it was": {"documents": [SALARIES], "readers": ["public"]},
    "removed": {"documents": [SALARIES], "readers": ["public"], "name": "one"},
    "searched": {"documents": [SALARIES], "readers": ["public"]},
}
"""What is added before a change that is counted, by the change."""


def change(base, kind):
    """Change one document, or ask for it when it was added."""
    if kind == "searched":
        assert [found["doc_id"] for found in base.search("When are salaries paid?")] == ["n"]
    elif kind == "removed":
        assert base.remove("one") == 1
    else:
        assert base.add([SALARIES], readers=["public"]).ok


@pytest.mark.parametrize("others", ["in the collection", "in another collection"])
@pytest.mark.parametrize("kind", BEFORE)
def test_a_change_costs_what_is_changed(tmp_path, work, kind, others):
    """To add, change, open, keep, remove or find one document takes no more beside 2,000 documents than beside 100."""
    took = []
    for size in (100, 2000):
        with KnowledgeBase(tmp_path / f"{size}.sqlite") as base:
            base.add(documents(size), readers=["public"], name=None if others == "in the collection" else "more")
            base.add([{**SALARIES, "id": "m"}], readers=["group:hr"])  # so that all words and readers were there before
            if BEFORE[kind]:
                base.add(**BEFORE[kind])
            took.append(work(lambda base=base: change(base, kind)))
    assert took[1][0] <= 1.2 * took[0][0]
    assert took[1][1] == took[0][1]


def test_what_other_tenants_have_and_change_costs_a_question_nothing(tmp_path, work):
    """A first question, and one after another tenant's change, read no more beside 100 tenants than beside one."""
    took, found = [], []
    for tenants in (1, 100):
        path = tmp_path / f"{tenants}.sqlite"
        with KnowledgeBase(path) as base:
            base.add(documents(20), tenant="acme", readers=["tenant"])
            for number in range(tenants):
                base.add(documents(1), tenant=f"t{number}", readers=["tenant"])
        with KnowledgeBase(path) as base:

            def ask(base=base):
                found.append(base.search("Which hotels are booked?", caller={"tenant": "acme", "user": "u"}))

            first, _ = work(ask)
            base.add(documents(2), tenant="t0", readers=["tenant"])
            took.append((first, work(ask)[0]))
    assert all(each == found[0] != [] for each in found)
    assert all(many <= 1.2 * one for one, many in zip(*took, strict=True))


@pytest.mark.parametrize("readers", ["no JSON", '["nobody"]', "7", '{"public": 1}'])
def test_damage_that_a_caller_may_not_read_ends_no_question(tmp_path, readers):
    """A row of readers that nobody wrote so is nobody's: who may read the rest finds the rest, and a check names it."""
    with KnowledgeBase(tmp_path / "kb.sqlite") as base:
        for tenant in ("acme", "globex"):
            base.add(documents(3), tenant=tenant, readers=["tenant"])
        with sqlite3.connect(base.path) as connection:
            connection.execute("UPDATE scopes SET readers = ? WHERE tenant = '+globex'", [readers])
        connection.close()
        assert len(base.search("hotels", caller={"tenant": "acme"})) == 3
        assert base.search("hotels", caller={"tenant": "globex"}) == []
        assert base.search("hotels") == []
        assert any("scopes" in finding.place for finding in base.check().findings)


def test_pages_that_never_end_cost_a_folder_no_more_than_its_patience(tmp_path, monkeypatch):
    """Once pages that are not read in their time took what a folder has for them, each further one has little."""
    monkeypatch.setattr(content, "_SECONDS", 1.0)
    monkeypatch.setattr(content, "_SECONDS_LOST", 1.0)
    monkeypatch.setattr(content, "_LEAST_SECONDS", 0.05)
    hostile = "<p>" + "<b>x " * 1_600_000
    docs = write(tmp_path / "docs", {f"{number}.html": hostile for number in range(8)} | {"good.md": "Apples."})
    with KnowledgeBase(tmp_path / "kb.sqlite") as base:
        begun = monotonic()
        report = base.add(docs, readers=["public"])
        assert monotonic() - begun < 180
    assert (report.added, len(report.failed)) == (("good.md",), 8)
