"""Who may read what of a folder: access.yaml, front matter and sidecars, which never let anybody in."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row
from test_kb_ingest import base, write

from guardgraph import ConfigurationError, KnowledgeBase
from guardgraph.state.context import Access, Caller, is_access_allowed

__all__ = ["base"]


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def readers(base, tenant="acme", name="docs"):
    return {number: list(found.access.readers) for number, found in base.index.listed(tenant, name).items()}


def rule(*names):
    return f"readers: [{', '.join(names)}]\n"


def test_the_nearest_rule_above_holds(base, docs):
    write(docs, dict.fromkeys(["a.md", "team/b.md", "team/deep/er/c.md", "team/none/d.md", "other/e.md"], "x"))
    rules = {"": ["public"], "team/": ["group:support", "user:u-17"], "team/deep/er/": ["user:u-17"], "team/none/": []}
    write(docs, {f"{place}access.yaml": rule(*names) for place, names in rules.items()})
    base.add(docs, tenant="acme")
    assert readers(base) == {
        **dict.fromkeys(["a.md", "other/e.md"], rules[""]),
        **{f"{place}{name}.md": rules[place] for place, name in zip([*rules][1:], "bcd", strict=True)},
    }


@each_row(
    ("text", "message"),
    ("readers: [public\n", r"sub/access\.yaml:2: not YAML"),
    ("", r"sub/access\.yaml:1: a mapping with the field readers is required; given: NoneType"),
    ("readers: [tenant]\ntenant: other\n", r"sub/access\.yaml:2: 'tenant': no such field; readers is allowed"),
    ("readers: tenant\n", r"sub/access\.yaml:1: readers: a list of public, tenant"),
    ("\nreaders: [support]\n", r"sub/access\.yaml:2: readers: public, tenant, user:ID or group:ID is required"),
    ("readers: [public]\n", r"public is allowed in the rule of the root only"),
    ("readers: ['group:hr']\n", r"group:hr: a rule adds no readers to those above it, group:support"),
    (b"readers: [\xff]\n", r"sub/access\.yaml:1: UTF-8 text is required"),
)
def test_a_wrong_rule_refuses_the_folder(base, docs, text, message):
    """A rule that is broken or adds readers refuses the folder with its line, and nothing is taken in."""
    write(docs, {"a.md": "apples", "sub/b.md": "apples", "sub/access.yaml": text})
    with pytest.raises(ConfigurationError, match=message):
        base.add(docs, tenant="acme", readers=["group:support"])
    assert base.index.collections() == {}


LIKE_A_RULE = [
    *("access.yml", "Access.yaml", "ACCESS.YML", "access.yaml.txt", ".access.yaml", "access.yaml ", "access.yaml.bak"),
    *("access.yaml~", "access (1).yaml", "access - Copy.yaml", "\u0430\u0441\u0441ess.yaml", "acc\u200bess.yaml"),
    *("\uff41ccess.yaml", "access.yaml.", "access .yaml"),
]


def test_what_looks_like_a_rule_is_one_or_refused(base, docs):
    """No rule silently does not hold: no file of a like name, nor a folder, as containers mount for a missing file."""
    write(docs, {"a.md": "apples", "sub/b.md": "apples"})
    for name in LIKE_A_RULE:
        write(docs, {f"sub/{name}": rule("tenant")})
        with pytest.raises(ConfigurationError, match=r"a rule is named access\.yaml; rename it"):
            base.add(docs, readers=["public"])
        (docs / "sub" / name).unlink()
    (docs / "sub" / "access.yaml").mkdir()
    with pytest.raises(ConfigurationError, match=r"sub/access\.yaml: a rule that is a file of its own is required"):
        base.add(docs, readers=["public"])


def test_a_document_narrows_its_own_readers(base, docs):
    """Front matter and sidecars name some of those whom the rules name; so do list items in Python."""
    write(
        docs,
        {
            "access.yaml": rule("tenant"),
            "a.md": "---\nreaders:\n  - group:hr\n---\napples",
            "b.txt": "---\nReaders: ['user:u-17', 'group:hr']\n---\napples",
            "e.rst": "Title\n=====\n:readers: [group:hr]\n\napples",
            "f.html": "---\nreaders: [group:hr]\n---\n<p>Apples are fruits that grow on trees.",
            "g.html": "---\nreaders: [group:hr]\n---\n<p>Apples are fruits that grow on trees.".encode("utf-16"),
            "c.pdf.meta.yaml": "readers: []\n",
            "c.pdf": Path(__file__).read_bytes(),
            "d.md": "apples",
            "d.meta.yaml": "title: All about\n  apples\nupdated_at: 2026-02-03\nreaders: [group:hr]\n",
        },
    )
    assert [failed.name for failed in base.add(docs, tenant="acme").failed] == ["c.pdf"]
    assert readers(base) == {
        "b.txt": ["group:hr", "user:u-17"],
        **{name: ["group:hr"] for name in ("a.md", "d.md", "e.rst", "f.html", "g.html")},
    }
    hits = base.search("apples", caller={"tenant": "acme", "groups": ["hr"]})
    [hit] = [hit for hit in hits if "d.md" in hit["doc_id"]]
    assert (hit["title"], hit["updated_at"]) == ("All about apples", "2026-02-03")
    given = {"id": "1", "source": "s", "title": "", "section": "", "updated_at": "", "text": "pears"}
    base.add([{**given, "readers": ["group:hr"]}], tenant="acme", readers=["tenant"])
    assert readers(base, name="documents") == {"1": ["group:hr"]}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.md": "---\nreaders: [group:other]\n---\nx"}, "group:other: a document adds no readers to those of its"),
        ({"a.md": "---\nreaders: [tenant]\nno pair\n---\nx"}, "its front matter: lines of `key: value`"),
        ({"a.md": "---\nReaders: []\nreaders: [group:hr]\n---\nx"}, "its front matter: readers: given twice"),
        ({"a.md": "\n---\nreaders: []\n---\nx"}, "its front matter: lines of `key: value`"),
        ({"a.md": '{\n "title": "x",\n "readers": []\n}\n\nx'}, "its front matter: lines of `key: value`"),
        ({"a.md": '{"made": {"by": "x"}, "readers": []}\n\nx'}, "its front matter: lines of `key: value`"),
        ({"a.md": "x", "a.meta.yaml": "readers: [group:other]"}, "group:other: a document adds no readers"),
        ({"a.md": "x", "a.meta.yaml": "readers: [hr]"}, "its .meta.yaml: readers: public, tenant, user:ID or group:ID"),
        ({"a.md": "x", "a.meta.yml": "readers: []"}, "what stands beside a document is named .meta.yaml"),
        ({"a.md": "x", **dict.fromkeys(["a.meta.yaml", "a.md.meta.yaml"], "title: x")}, "one .meta.yaml beside it is"),
    ],
)
def test_who_cannot_be_told_may_not_read(base, docs, files, reason):
    """Where a document's own readers are not understood or not allowed, it fails, and nobody reads what there was."""
    write(docs, {"a.md": "apples", "b.md": "bananas"})
    base.add(docs, tenant="acme", readers=["group:hr", "user:u-17"])
    [failed] = base.add(write(docs, files), tenant="acme", readers=["group:hr", "user:u-17"]).failed
    assert (failed.name, reason in failed.reason) == ("a.md", True), failed
    assert readers(base) == {"a.md": [], "b.md": ["group:hr", "user:u-17"]}


MEANT = {
    ".md": [
        *("  ---\n  readers: [group:hr]\n  ---\nx", '---\n"\\u0072eaders": [group:hr]\n---\nx'),
        "---\nbase: &b {readers: [group:hr]}\n<<: *b\n---\nx",
        *("<!-- made by hand -->\n---\nreaders: [group:hr]\n---\nx", "```yaml\nreaders: [group:hr]\n```\nx"),
        *("title: x\nreaders: [group:hr]\n\nx", "---\ntitle: x\nallowed_readers: [group:hr]\n---\nx"),
        *("---\nr\u0435\u0430ders: [group:hr]\n---\nx", "---\nrea\u200bders: [group:hr]\n---\nx"),
        *("---\npage:\n  readers: [group:hr]\n---\nx", "---\ntitle: x\n---\n+++\nacl = ['hr']\n+++\nx"),
        *("---\ntitle: x\n---\nreaders: [group:hr]\n\nx", "---\ntitle: a: b\nreaders: [group:hr]\n---\nx"),
    ],
    ".rst": [
        "Title\n=====\n\n.. meta::\n   :readers: group:hr\n\nx",
        *(".. Meta ::\n   :title: x\n   :name=readers: group:hr\n\nx", ":title: x\n\n:readers: [group:hr]\n\nx"),
        *(":readers: [group:hr]\n:readers: []\n\nx", "---\nreaders: [group:hr]\n--- \n:reader: x\n\nx"),
    ],
    ".html": [
        *('<meta content="a > b" name="readers"><p>x', '<META CONTENT="x"\nPROPERTY = "reader"><p>x'),
        *('<meta name="&#114;eaders" content="group:hr"><p>x', '<meta content="open name=readers><p>x'),
        *('<!-- <meta name="access"> --><p>x', '<meta name="readers">'.encode("utf-16")),
    ],
}


@pytest.mark.parametrize("suffixes", [(".md", ".rst"), pytest.param((".html",), marks=pytest.mark.process)])
def test_what_looks_as_if_it_narrowed_shuts_the_document(base, docs, suffixes):
    """Whatever looks as if it named readers and is not read as that fails, and nobody reads what there was."""
    named = {f"{at}{suffix}": text for suffix in suffixes for at, text in enumerate(MEANT[suffix])}
    before = {name: "<p>Apples are fruits that grow on trees." if ".html" in name else "apples" for name in named}
    base.add(write(docs, before), tenant="acme", readers=["tenant"])
    report = base.add(write(docs, named), tenant="acme", readers=["tenant"])
    assert sorted(failed.name for failed in report.failed) == sorted(named)
    assert readers(base) == {name: [] for name in sorted(named)}


AUTHOR = '<meta name="author" content="readers"><p>Apples are read by <b name="readers">many</b>.'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "---\ntitle: 'readers: all'\nnote: |\n  readers: x\n---\napples"),
        ("a.md", "# Title\n\nReaders: please note.\n\n```yaml\nreaders: []\n```\n"),
        ("a.rst", "Title\n=====\n\nA paragraph.\n\n:readers: are many\n"),
        pytest.param("a.html", AUTHOR, marks=pytest.mark.process),
    ],
)
def test_what_only_mentions_readers_is_a_text(base, docs, name, text):
    report = base.add(write(docs, {name: text}), tenant="acme", readers=["tenant"])
    assert (report.failed, readers(base)) == ((), {name: ["tenant"]})


def test_what_looks_like_a_sidecar_shuts_the_document(base, docs, tmp_path):
    """A file of a like name shuts its document until it is renamed; so does one that leads out of the folder."""
    write(docs, {"a.md": "apples", "b.md": "bananas"})
    base.add(docs, tenant="acme", readers=["tenant"])
    for name in ("a.meta.json", "a.meta.yaml.bak", "a.md.meta.toml", "a.m\u0435t\u0430.yaml", "A.META.YML"):
        report = base.add(write(docs, {name: "readers: []"}), tenant="acme", readers=["tenant"])
        assert [(failed.name, "is named .meta.yaml" in failed.reason) for failed in report.failed] == [("a.md", True)]
        assert readers(base) == {"a.md": [], "b.md": ["tenant"]}
        (docs / name).unlink()
        assert base.add(docs, tenant="acme", readers=["tenant"]).ok
    (docs / "a.meta.yaml").symlink_to(write(tmp_path, {"elsewhere.yaml": "readers: []"}) / "elsewhere.yaml")
    [failed] = base.add(docs, tenant="acme", readers=["tenant"]).failed
    assert failed == ("a.md", "its .meta.yaml: a file of its own is required; given: link out of the folder")


def test_rules_are_held_again_for_what_is_unchanged(base, docs):
    """Grants and revocations by rules, sidecars and arguments hold from the next addition on, without a new text."""
    files = {"a.md": "apples", "b.md": "---\nreaders: [group:hr]\n---\napples", "access.yaml": rule("tenant")}
    write(docs, files)
    everyone = {"a.md": ["tenant"], "b.md": ["group:hr"]}
    assert base.add(docs, tenant="acme").added == ("a.md", "b.md")
    assert (base.add(docs, tenant="acme").unchanged, readers(base)) == (("a.md", "b.md"), everyone)
    write(docs, {"access.yaml": rule("group:hr")})
    assert base.add(docs, tenant="acme").changed == ("a.md",)
    assert readers(base) == {"a.md": ["group:hr"], "b.md": ["group:hr"]}
    write(docs, {"access.yaml": rule("tenant"), "a.meta.yaml": "readers: [user:u-17]\n"})
    assert base.add(docs, tenant="acme").changed == ("a.md",)
    assert readers(base) == {"a.md": ["user:u-17"], "b.md": ["group:hr"]}
    (docs / "a.meta.yaml").unlink()
    assert (base.add(docs, tenant="acme").changed, readers(base)) == (("a.md",), everyone)
    write(docs, {"access.yaml": "readers: []\n"})
    base.add(docs, tenant="acme")
    assert readers(base) == {"a.md": [], "b.md": []}
    (docs / "access.yaml").unlink()
    base.add(docs, tenant="acme", readers=["tenant"])
    assert readers(base) == everyone


def test_a_broken_file_keeps_no_reader_whom_a_rule_took_out(base, docs):
    """What the base has of a file that cannot be read any more is open to nobody whom the rules shut out since."""
    write(docs, {"a.md": "apples", "access.yaml": rule("group:hr", "user:u-17")})
    base.add(docs, tenant="acme")
    write(docs, {"a.md": b"\xff", "access.yaml": rule("group:hr")})
    assert not base.add(docs, tenant="acme").ok
    assert readers(base) == {"a.md": ["group:hr"]}


READERS = st.lists(st.sampled_from(["public", "tenant", "user:u", "group:a", "group:b:c"]), max_size=3, unique=True)
CALLERS = [
    Caller(tenant=tenant, user=user, groups=groups)
    for tenant, user, groups in itertools.product(["acme", "other", None], ["u", None], [("a",), ("b:c", "x"), ()])
]


@given(top=st.none() | READERS, root=st.none() | READERS, folder=st.none() | READERS, own=st.none() | READERS)
@settings(max_examples=25, deadline=None)
def test_no_way_down_lets_anybody_in(tmp_path_factory, top, root, folder, own):
    """Whatever rules and a document say: who reads it may read it by the highest rule, and by each one below."""
    here = tmp_path_factory.mktemp("rules")
    write(here / "docs", {"sub/a.md": "apples" if own is None else f"---\n{rule(*own)}---\napples"})
    for place, said in ((".", root), ("sub", folder)):
        if said is not None:
            write(here / "docs" / place, {"access.yaml": rule(*said)})
    with KnowledgeBase(here / "kb.sqlite") as base:
        try:
            base.add(here / "docs", tenant="acme", readers=top)
        except ConfigurationError:
            assert base.index.collections() == {}
            return
        said = [names for names in (top, root, folder) if names is not None]
        for caller in CALLERS:
            reads = bool(base.search("apples", caller=caller))
            above = [is_access_allowed(Access("acme", tuple(names)), caller) for names in said]
            is_own = own is None or is_access_allowed(Access("acme", tuple(own)), caller)
            assert not reads or (above and all(above) and is_own)
            assert reads or not above or not above[-1] or own is not None
