"""Pairs of knowledge bases that differ in what a caller may not read, and that nobody tells apart by asking."""

import random
import sqlite3
from contextlib import ExitStack

import psycopg

from guardgraph import KnowledgeBase, PostgresKnowledgeBase, create_rag_agent

CALLERS = [{"tenant": "acme", "user": "u", "groups": ["support"]}, {"tenant": "acme"}, None]
OPEN = [["public"], ["tenant"], ["group:support"], ["user:u", "group:hr"], []]
SHUT = [["group:hr"], ["user:boss"], []]
WORDS = [
    *("hotel", "booked", "refund", "salary", "badge", "board", "plan", "flight", "ticket", "days"),
    *("Rückzahlung", "Buchung", "отель", "возврат", "退款"),
]
SOURCES = ["billing", "travel", "hr"]
_SPOIL_ONE_OF_EACH_SOURCE = """
UPDATE guardgraph.scopes SET readers = '{7}' WHERE id IN (
    SELECT min(id) FROM guardgraph.scopes WHERE tenant = '+globex' GROUP BY source HAVING NOT bool_or(readers = '{7}')
)
"""
TABLES = ("scopes", "parts", "documents", "collections", "chunks", "lengths", "postings")


def pairs_told_apart(here, trials, seed):
    """Return what differs between the answers of so many pairs, one of which has, and changes, what is hidden."""

    def open_pair(folder):
        return [KnowledgeBase(folder / f"{name}.sqlite") for name in ("plain", "more")], _spoil_file

    return _told_apart(here, trials, seed, open_pair)


def server_pairs_told_apart(here, owners, urls, trials, seed):
    """Return the same of two databases, by their addresses as the superuser and as a role that may put documents in.

    The server waits for no disk from then on: what it has is nothing that a loss of power might take.
    """
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        _execute(owners[0], f"ALTER SYSTEM SET {setting} = off")
    _execute(owners[0], "SELECT pg_reload_conf()")

    def open_pair(folder):
        for owner in owners:
            for table in TABLES:  # TRUNCATE would make some two hundred files anew, for a few rows
                _execute(owner, f"DELETE FROM guardgraph.{table}")
        return [PostgresKnowledgeBase(url) for url in urls], lambda base: _execute(owners[1], _SPOIL_ONE_OF_EACH_SOURCE)

    return _told_apart(here, trials, seed, open_pair)


def _told_apart(here, trials, seed, open_pair):
    chance, apart = random.Random(seed), []
    for trial in range(trials):
        folder = here / str(trial)
        folder.mkdir()
        pair, spoil = open_pair(folder)
        with ExitStack() as stack:
            for base in pair:
                stack.enter_context(base)
            apart += _Trial(folder, pair, chance, spoil).differences()
    return apart


def _spoil_file(base):
    """Damage rows that no caller may read."""
    with sqlite3.connect(base.path) as connection:
        connection.execute("UPDATE OR IGNORE scopes SET readers = '7' WHERE tenant = '+globex'")
    connection.close()


def _execute(owner, statement):
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(statement)


class _Trial:
    def __init__(self, folder, pair, chance, spoil):
        self.folder, self.pair, self.chance, self.spoil_base = folder, pair, chance, spoil
        self.open, self.shut = {}, {}
        """Ids of documents that both have, and that one has."""
        self.names = iter(range(10_000))

    def differences(self):
        """Change both, or one of them in what is hidden, and yield each question that they answer differently."""
        steps = [self.put_open, self.put_shut, self.put_shut, self.close_open, self.remove, self.add_folder]
        for step in [*self.chance.choices(steps, k=self.chance.randint(6, 14)), self.spoil]:
            step()
            question, caller = " ".join(self.chance.choices(WORDS, k=3)), self.chance.choice(CALLERS)
            if self.answers(0, question, caller) != self.answers(1, question, caller):
                yield question, caller
        agents = [create_rag_agent(knowledge_base=base) for base in self.pair]
        context = {"caller": CALLERS[0]}
        kept = ("answer", "citations", "citation_details", "trace", "path")
        runs = [agent.invoke({"question": "When is the hotel booked?"}, context=context) for agent in agents]
        shown = [
            [{name: value for name, value in step.items() if "ms" not in name} for step in run["trace"]] for run in runs
        ]
        if shown[0] != shown[1] or any(runs[0].get(name) != runs[1].get(name) for name in kept if name != "trace"):
            yield "a run", context

    def answers(self, at, question, caller):
        """What a caller gets from one of the two."""
        base = self.pair[at]
        return base.search(question, caller=caller), base.list_sources({"caller": caller} if caller else {})

    def document(self, source=None):
        """A document of some words."""
        text = " ".join(self.chance.choices(WORDS, k=self.chance.randint(3, 30)))
        source = source or self.chance.choice(SOURCES)
        return {
            "id": f"d{next(self.names)}",
            "source": source,
            "title": "",
            "section": "",
            "updated_at": "",
            "text": text,
        }

    def put_open(self):
        """Both get a document, or another text of one."""
        document, readers = self.document(), self.chance.choice(OPEN)
        if self.open and self.chance.random() < 0.4:
            document["id"] = self.chance.choice([*self.open])
        self.open[document["id"]] = document
        for base in self.pair:
            base.add([document], tenant="acme", readers=readers)

    def put_shut(self):
        """One gets what no caller may read: of the tenant, of another one, in a source of its own, or changed."""
        tenant = self.chance.choice(["acme", "globex", None])
        document, readers = self.document(self.chance.choice([None, "plans"])), self.chance.choice(SHUT)
        if tenant == "globex":
            readers = self.chance.choice([*SHUT, ["tenant"], ["group:support"]])
            document["id"] = self.chance.choice([*self.open, document["id"]])  # an id is of its tenant
        self.pair[1].add([document], tenant=tenant, readers=readers)

    def close_open(self):
        """A document of both is for nobody from now on."""
        if self.open:
            document = self.open[self.chance.choice([*self.open])]
            for base in self.pair:
                base.add([document], tenant="acme", readers=self.chance.choice(SHUT[:1]))

    def remove(self):
        """A collection of both, or of one, is gone and comes back."""
        for base, tenant in ((self.pair[0], "acme"), (self.pair[1], "acme"), (self.pair[1], "globex")):
            if "documents" in [name for of, name in base.index.collections() if of == tenant]:
                base.remove("documents", tenant=tenant)

    def add_folder(self):
        """Both get a folder; in that of one are rules, links and broken rules of documents beside it."""
        texts = {f"{self.chance.choice(SOURCES)}/{number}.md": self.document()["text"] for number in range(3)}
        for at, base in enumerate(self.pair):
            docs = self.folder / f"docs{at}" / f"{next(self.names)}"
            write(docs, texts)
            if at:
                hidden = self.document()["text"]
                write(docs, {"pay/access.yaml": "readers: [group:hr]\n", "pay/a.md": hidden, "pay/.b.md": hidden})
                write(docs, {"pay/c.md": f"----\nreaders: []\n----\n{hidden}", "pay/d.md": hidden, "pay/d.csv": hidden})
                write(docs, {"pay/d.meta.json": "{}"})
                for name, target in (("x", "a.md"), ("y", ".b.md"), ("z", "d.csv")):
                    (docs / f"{name}.md").symlink_to(docs / "pay" / target)
            base.add(docs, tenant="acme", readers=["tenant", "group:hr"], name="folder", prune=True)

    def spoil(self):
        """Rows that no caller may read are damaged."""
        self.spoil_base(self.pair[1])


def write(folder, files):
    """Write files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
