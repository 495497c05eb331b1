"""Knowledge bases from folders and lists: what is taken in, what is kept, what is reported, and nothing by halves."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_faults import IS_ROOT
from pdf_files import pdf_of

from guardgraph import ConfigurationError, KnowledgeBase, create_rag_agent
from guardgraph.tools.knowledge_base import demo_documents, load_folder

HANDBOOK = Path(__file__).parents[1] / "data" / "handbook"


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def ids(base, query):
    return sorted(found["doc_id"] for found in base.search(query, top_k=100))


@pytest.fixture
def base(tmp_path):
    with KnowledgeBase(tmp_path / "kb.sqlite") as opened:
        yield opened


@pytest.fixture
def docs(tmp_path):
    return write(tmp_path / "docs", {"a.md": "# Apples\n\nApples are red.\n", "x/b.txt": "Bananas are yellow."})


def test_a_folder_is_what_load_folder_reads(base):
    """Chunks, ids, titles, sections, days and spans of a folder are those that `load_folder` returns."""
    report = base.add(HANDBOOK, readers=["public"])
    pieces = {piece["id"]: dict(piece) for piece in load_folder(HANDBOOK)}
    assert (report.added, report.ok) == (tuple(dict.fromkeys(name.split("#")[0] for name in pieces)), True)
    found = base.search("refunds keys incidents customers response data", top_k=1000)
    assert len(found) > len(pieces) / 2
    for candidate in found:
        kept = {key: value for key, value in candidate.items() if key not in ("doc_id", "score", "tenant", "readers")}
        assert {"id": candidate["doc_id"], **kept} == pieces[candidate["doc_id"]]


def test_every_format_is_read(base, tmp_path):
    """Markdown, reStructuredText, HTML, text and PDF; of a page its main part, a file page by page."""
    page = "<title>Pears</title><body><article><h1>Pears</h1><p>Pears are green fruits.</p></article>"
    pdf = pdf_of("Plums are blue.", title="Plums")
    files = {"a.md": "apple", "b.rst": "B\n=\n\nbanana", "c.htm": page, "d.pdf": pdf}
    report = base.add(write(tmp_path / "all", files), readers=["public"])
    assert report.added == ("a.md", "b.rst", "c.htm", "d.pdf")
    assert ids(base, "Are pears green?") == ["c.htm#pears.1"]
    [plum] = base.search("plums")
    assert (plum["doc_id"], plum["title"], plum["span"]) == ("d.pdf#page-1.1", "Plums", [0, 15])


def test_what_is_unchanged_is_not_read_again(base, docs):
    """What changed is put in, what is gone is taken out, all else is left; a touched file is not changed."""
    assert base.add(docs, readers=["public"]).added == ("a.md", "x/b.txt")
    os.chmod(docs / "a.md", 0)  # root reads it all the same, but nobody else could
    assert base.add(docs, readers=["public"]).unchanged == ("a.md", "x/b.txt")
    os.chmod(docs / "a.md", 0o600)
    os.utime(docs / "a.md", (1, 1))
    assert base.add(docs, readers=["public"]).unchanged == ("a.md", "x/b.txt")
    (docs / "a.md").write_text("# Apples\n\nApples are green.\n")
    (docs / "x" / "b.txt").unlink()
    report = base.add(docs, readers=["public"])
    assert (report.changed, report.removed, report.unchanged) == (("a.md",), ("x/b.txt",), ())
    assert [found["text"] for found in base.search("apples bananas")] == ["Apples are green."]


def test_an_unmounted_folder_empties_no_base(base, docs):
    """More than half of a collection is taken out with prune=True only; without it nothing is changed at all."""
    base.add(docs, readers=["public"])
    shutil.rmtree(docs / "x")
    (docs / "a.md").unlink()
    write(docs, {"new.md": "Cherries"})
    with pytest.raises(ConfigurationError, match=r"2 of the 2 documents of 'docs' are gone .*prune=True"):
        base.add(docs, readers=["public"])
    assert ids(base, "apples bananas cherries") == ["a.md#apples.1", "x/b.txt#b.1"]
    report = base.add(docs, readers=["public"], prune=True)
    assert (report.added, report.removed) == (("new.md",), ("a.md", "x/b.txt"))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        base.add(docs / "nowhere", readers=["public"], prune=True)


def test_collections_do_not_take_from_each_other(base, tmp_path, docs):
    """What is gone is taken out of its own collection of its own tenant; an id that is taken refuses a folder whole."""
    base.add(docs, readers=["public"])
    other = write(tmp_path / "other", {"0.md": "Cherries", "a.md": "Dates"})
    with pytest.raises(ConfigurationError, match=r"'a\.md': the id of a document in the collection 'docs', too"):
        base.add(other, readers=["public"])
    assert ids(base, "cherries dates") == []
    assert base.add(other, readers=["public"], name="fruit").added == ("fruit/0.md", "fruit/a.md")
    assert base.add(other, tenant="acme", readers=["tenant"]).added == ("0.md", "a.md")
    assert ids(base, "dates cherries") == ["fruit/0.md#0.1", "fruit/a.md#a.1"]
    (other / "a.md").unlink()
    assert base.add(other, tenant="acme", readers=["tenant"]).removed == ("a.md",)
    assert base.index.collections() == {(None, "docs"): 2, (None, "fruit"): 2, ("acme", "other"): 1}


def test_broken_files_are_named_and_the_rest_goes_on(base, tmp_path):
    """Each file that cannot be taken in is named with the reason; what the base has of it stays as it was."""
    folder = write(tmp_path / "kb", {"good.md": "Apples", "later.md": "Bananas", "z.md": "Cherries"})
    base.add(folder, readers=["public"])
    write(folder, {"good.md": "Apples and pears", "later.md": b"Bananas \xff", "alone.meta.yaml": "title: x\n"})
    locked = pdf_of("secret", password="x")
    write(folder, {"locked.pdf": locked, "broken.pdf": b"%PDF-1.7 nothing", "nul.txt": b"a\0b"})
    (folder / os.fsdecode(b"\xff.md")).write_text("no name")
    report = base.add(folder, readers=["public"])
    assert report.changed == ("good.md",)
    reasons = {failed.name: failed.reason.split(":")[0] for failed in report.failed}
    assert reasons == {
        "alone.meta.yaml": "no document stands beside it that it says something of",
        "broken.pdf": "broken",
        "later.md": "not UTF-8",
        "locked.pdf": "encrypted",
        "nul.txt": "not text",
        "\ufffd.md": "its name is not UTF-8",
    }
    assert (report.ok, ids(base, "bananas pears")) == (False, ["good.md#good.1", "later.md#later.1"])


@contextmanager
def unprivileged():
    """Let rights hold for this process, which root's do not."""
    if IS_ROOT:
        os.seteuid(65534)
    try:
        yield
    finally:
        if IS_ROOT:
            os.seteuid(0)


@pytest.fixture
def shut(base, docs):
    """A folder for all to use, in which an unprivileged base has a document of each of three folders."""
    base.add(docs)  # whoever has no rights may not even read our modules: this loads them
    with TemporaryDirectory() as place:
        here = Path(place)
        here.chmod(0o777)
        with unprivileged(), KnowledgeBase(here / "kb.sqlite") as made:
            write(here / "docs", {"access.yaml": "readers: [tenant]\n"})
            write(here / "docs", {f"{name}.md": f"Apples of {name}" for name in ("open/a", "shut/b", "shut/deep/c")})
            assert made.add(here / "docs", name="n").ok
            yield made


@pytest.mark.parametrize(("rights", "failed"), [(0o000, ["shut"]), (0o444, ["shut/b.md", "shut/deep"])])
def test_a_folder_that_cannot_be_read_fails_alone(shut, rights, failed):
    """It is named with the reason, the rest goes on, and what the base has of it stays, for nobody new."""
    docs = shut.path.parent / "docs"

    def count():
        return [len(shut.search("Apples", caller={"user": user}, top_k=9)) for user in ("u", "v")]

    with shut_off(docs / "shut", rights):
        write(docs, {"open/a.md": "Apples and pears"})
        report = shut.add(docs, name="n")
        reason = "cannot be read: Permission denied"
        assert (report.changed, report.removed) == (("n/open/a.md",), ())
        assert sorted(report.failed) == [(name, reason) for name in failed]
        assert (ids(shut, "Apples"), count()) == ([], [3, 3])
        (docs / "access.yaml").write_text("readers: ['user:u']\n")
        shut.add(docs, name="n")
        assert count() == [1, 0]
        with pytest.raises(ConfigurationError, match="cannot be read: Permission denied"):
            load_folder(docs)
    (docs / "shut" / "b.md").unlink()
    report = shut.add(docs, name="n")
    assert (report.removed, report.changed, report.failed) == (("n/shut/b.md",), ("n/shut/deep/c.md",), ())


@contextmanager
def shut_off(folder, rights):
    folder.chmod(rights)
    try:
        yield
    finally:
        folder.chmod(0o755)


LINKED = {"hr/pay.csv": "another format", "hr/.old/pay.md": "a hidden file", "hr/pay.md": "a file already read"}


@pytest.mark.parametrize("target", LINKED)
def test_a_link_publishes_nothing(base, tmp_path, target):
    """Nobody reads through a link what they may not read, or what nobody would read, under its own name."""
    docs = write(tmp_path / "docs", {"hr/pay.md": "Apples cost 5", "hr/access.yaml": "readers: [group:hr]\n"})
    write(docs, dict.fromkeys(["access.yaml", "pub/access.yaml"], "readers: [tenant]\n"))
    if not (docs / target).exists():
        write(docs, {target: "Apples cost 7"})
    for name in ("x.md", "x.txt"):
        (docs / "pub" / name).symlink_to(docs / target)
    report = base.add(docs, tenant="acme")
    assert {why for name, why in report.left_out if name.startswith("pub/")} == {f"link to {LINKED[target]}"}
    assert base.search("What do apples cost?", caller={"tenant": "acme"}) == []


def test_a_rule_that_cannot_be_looked_at_refuses_the_folder(shut):
    docs = shut.path.parent / "docs"
    write(docs, {"shut/access.yaml": "readers: []\n"})
    told = r"shut/access.yaml: cannot be read: Permission denied"
    with shut_off(docs / "shut", 0o444), pytest.raises(ConfigurationError, match=told):
        shut.add(docs, name="n")


def test_odd_names_are_ids_or_reported(base, tmp_path):
    """A path that can be cited is the id, letter by letter; one that cannot be is named with the reason."""
    good = ["a\nb.md", "a\x1bb.md", "a#b.md", "a\u202eb.md", "a .md", "e\u0301.md", "x/ y.md", "\u00e9.md"]
    wrong = [" a.md", " x/a.md", "x /a.md", "\u3000a.md"]
    folder = write(tmp_path / "docs", {name: f"apples of {at}" for at, name in enumerate([*good, *wrong, "a.md "])})
    (folder / os.fsdecode(b"x\xff")).mkdir()
    write(folder / os.fsdecode(b"x\xff"), {"a.md": "apples"})
    for became in ("added", "unchanged"):
        report = base.add(folder, readers=["public"])
        assert list(getattr(report, became)) == sorted(good)
        assert {failed.name: failed.reason for failed in report.failed} == {
            **dict.fromkeys([" a.md", " x/a.md", "\u3000a.md"], "its name begins or ends with a blank"),
            "x /a.md": "its folder's name begins or ends with a blank",
            "x\ufffd/a.md": "its name is not UTF-8",
        }
        assert report.left_out == (("a.md ", "another format"),)
    cited = create_rag_agent(knowledge_base=base).invoke({"question": "Which apples of 0?"})["citations"]
    assert cited == ["a\nb.md#a-b.1"]


def test_a_document_one_of_whose_ids_is_taken_fails_alone(base, docs):
    """Where a piece of another document has its id, it is named, and all that was given with it is put in."""
    base.add(docs, readers=["public"])
    one, other = demo_documents()[:2]
    [taken] = ids(base, "apples")
    for _ in range(2):
        report = base.add([{**one, "id": taken}, {**one, "readers": []}, other], readers=["public"])
        assert {*report.added, *report.unchanged} == {one["id"], other["id"]}
        assert [(failed.name, "of a chunk is taken" in failed.reason) for failed in report.failed] == [(taken, True)]
        assert report.closed == (one["id"],)
    assert ids(base, "apples") == [taken]
    assert base.check().ok


def test_what_is_said_wrongly_of_a_list_or_a_document_changes_nothing(base, docs):
    """A field that could not be listed, cited or believed refuses the list, and nothing of it is put in."""
    for wrong, message in (
        ({"source": ""}, "source: a text without blanks around it"),
        ({"tenant": "globex"}, "tenant: 'acme' is added to; given: 'globex'"),
        ({"span": [2, 1]}, "span: "),
        ({"span": [0, True]}, "span: "),
    ):
        with pytest.raises(ConfigurationError, match=f"document 1: {message}"):
            base.add([demo_documents()[0], {**demo_documents()[1], **wrong}], tenant="acme", readers=["tenant"])
    for wrong, message in (
        ({"tenant": " "}, "tenant: a text without blanks around it"),
        ({"name": ""}, "name: a text without blanks around it"),
        ({"name": "a\0"}, "name: a text without blanks around it"),
        ({"readers": "public"}, "readers: a list of public, tenant"),
        ({"readers": ["everybody"]}, "public, tenant, user:ID or group:ID is required; given: 'everybody'"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            base.add(docs, **wrong)
    assert (base.tenants(), base.index.collections()) == ([], {})


TEXTS = st.sampled_from(["apples", "# T\n\nbananas", "", "\n", "---\ntitle: x\n---\ncherries"])


@given(st.lists(st.dictionaries(st.sampled_from(["a.md", "b.md", "x/a.md", "x/y/c.txt"]), TEXTS), max_size=3))
@settings(max_examples=6, deadline=None)
def test_a_base_is_what_its_folder_is(tmp_path_factory, states):
    """Whatever a folder was before, a base that was kept up with it is the one that is made of it anew."""
    folder = tmp_path_factory.mktemp("states")
    with KnowledgeBase(folder / "kept.sqlite") as kept:
        for number, files in enumerate(states):
            shutil.rmtree(folder / "docs", ignore_errors=True)
            (folder / "docs").mkdir()
            kept.add(write(folder / "docs", files), readers=["public"], prune=True)
            with KnowledgeBase(folder / f"{number}.sqlite") as made:
                made.add(folder / "docs", readers=["public"])
                asked = [base.search("apples bananas cherries", top_k=50) for base in (kept, made)]
                shown = [sorted(hits, key=lambda hit: hit["doc_id"]) for hits in asked]
                assert shown[0] == shown[1]
                assert kept.index.listed(None, "docs").keys() == made.index.listed(None, "docs").keys()
