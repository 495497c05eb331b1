"""A knowledge base that lives: what a change costs, whom it concerns, and whose letters and damage are whose."""

import sqlite3
from contextlib import contextmanager
from time import monotonic

import pytest
from test_kb_ingest import write

from guardgraph import KnowledgeBase
from guardgraph.knowledge.ingest import adding as content

ONE = {"source": "s", "title": "", "section": "", "updated_at": ""}


def documents(count, text="Hotels are booked in room {}."):
    return [{**ONE, "id": f"d{number}", "text": text.format(number)} for number in range(count)]


class Work:
    """Counts what SQLite does on every connection."""

    def __init__(self, monkeypatch):
        self.steps, self.statements, connect = 0, [], sqlite3.connect

        def counted(*args, **kwargs):
            connection = connect(*args, **kwargs)
            connection.set_progress_handler(self.step, 10)
            connection.set_trace_callback(self.statements.append)
            return connection

        monkeypatch.setattr(sqlite3, "connect", counted)

    def step(self):
        self.steps += 1

    @contextmanager
    def counting(self):
        before, done = self.steps, []
        self.statements.clear()
        yield done
        done.append(self.steps - before)


@pytest.fixture
def work(monkeypatch):
    return Work(monkeypatch)


SALARIES = {**ONE, "id": "n", "text": "Salaries are paid on day 25."}
MADE = {
    "added": lambda base: None,
    "another text": lambda base: base.add([{**SALARIES, "text": "Salaries are paid twice."}], readers=["public"]),
    "for others": lambda base: base.add([SALARIES], readers=["group:hr"]),
    "as it was": lambda base: base.add([SALARIES], readers=["public"]),
    "removed": lambda base: base.add([SALARIES], readers=["public"], name="one"),
    "searched": lambda base: base.add([SALARIES], readers=["public"]),
}
"""What is done before a change that is counted, by the change."""


def change(base, kind):
    """Change one document, or ask for it when it was added."""
    if kind == "searched":
        assert [found["doc_id"] for found in base.search("When are salaries paid?")] == ["n"]
    elif kind == "removed":
        assert base.remove("one") == 1
    else:
        assert base.add([SALARIES], readers=["public"]).ok


@pytest.mark.parametrize("others", ["in the collection", "in another collection"])
@pytest.mark.parametrize("kind", [*MADE])
def test_a_change_costs_what_is_changed(tmp_path, work, kind, others):
    """To add, change, open, keep, remove or find one document takes no more beside 2,000 documents than beside 100."""
    steps, statements = [], []
    for size in (100, 2000):
        with KnowledgeBase(tmp_path / f"{size}.sqlite") as base:
            base.add(documents(size), readers=["public"], name=None if others == "in the collection" else "more")
            base.add([{**SALARIES, "id": "m"}], readers=["group:hr"])  # so that all words and readers were there before
            MADE[kind](base)
            with work.counting() as done:
                change(base, kind)
            steps += done
            statements.append(len(work.statements))
    assert steps[1] <= 1.2 * steps[0]
    assert statements[1] == statements[0]


def test_what_other_tenants_have_and_change_costs_a_question_nothing(tmp_path, work):
    """A first question, and one after another tenant's change, read no more beside 100 tenants than beside one."""
    first, after, caller = [], [], {"tenant": "acme", "user": "u"}
    for tenants in (1, 100):
        path = tmp_path / f"{tenants}.sqlite"
        with KnowledgeBase(path) as base:
            base.add(documents(20), tenant="acme", readers=["tenant"])
            for number in range(tenants):
                base.add(documents(1), tenant=f"t{number}", readers=["tenant"])
        with KnowledgeBase(path) as base:
            with work.counting() as done:
                found = base.search("Which hotels are booked?", caller=caller)
            first += done
            base.add(documents(2), tenant="t0", readers=["tenant"])
            with work.counting() as done:
                assert base.search("Which hotels are booked?", caller=caller) == found
            after += done
    assert first[1] <= 1.2 * first[0]
    assert after[1] <= 1.2 * after[0]


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
    assert report.added == ("good.md",)
    assert len(report.failed) == 8
