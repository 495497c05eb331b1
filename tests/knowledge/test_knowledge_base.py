"""Knowledge bases: the packaged demo and folders."""

import os
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_kb_ingest import HANDBOOK, write

from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.knowledge_base import load_folder


def test_handbook_is_read_in_sections():
    documents = load_folder(HANDBOOK)
    by_id = {found["id"]: found for found in documents}
    assert len(by_id) == len(documents)
    assert {found["source"] for found in documents} == {"billing", "handbook", "security", "support"}
    assert by_id["overview.md#who-owns-what.1"]["source"] == "handbook"
    targets = by_id["support/sla.md#enterprise-response-targets.1"]
    assert (targets["title"], targets["section"]) == ("Service Levels", "Enterprise > Response targets")
    assert (targets["source"], targets["updated_at"]) == ("support", "2026-02-03")
    assert by_id["support/incidents.md#postmortem.1"]["updated_at"] == "2026-01-28"
    assert documents == load_folder(str(HANDBOOK))


TOPS = ["---\n", "title: x\n", "# A\n", "B\n===\n", "a b c d. ", "\n", "\n\n", " ", "é"]


@given(st.lists(st.sampled_from(TOPS), max_size=20).map("".join))
@settings(max_examples=50)
def test_spans_of_any_text(content):
    """However a text is cut, each piece stands where its span says, none twice, and none is longer than allowed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.md").write_text(content + "x", encoding="utf-8", newline="")
        found = [(*piece["span"], piece["text"]) for piece in load_folder(folder, max_chars=7)]
    assert all((content + "x")[start:end] == text and len(text) <= 7 for start, end, text in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def test_long_section_is_cut_between_paragraphs():
    """A section above the limit becomes several documents, none above it, cut where a paragraph ends."""
    parts = [found for found in load_folder(HANDBOOK) if found["section"] == "Retention and deletion"]
    assert [part["id"][-2:] for part in parts] == [".1", ".2"]
    assert all(len(part["text"]) <= 2200 for part in parts)
    assert parts[0]["text"].endswith("in between.")
    assert parts[1]["text"].startswith("Legal holds")


def test_titles_and_section_names(tmp_path):
    """The first H1 is the title, else the front matter's title, else the file's name."""
    write(
        tmp_path,
        {
            "a.md": "before\n\n# The *big* `one`\nunder\n## Two\n### Deep\ndeep\n# Other\nnext\n##\nbare\n",
            "b.markdown": "---\ntitle: 'From front'\n---\ntext\n\nLong\nheading\n---\nbody\n",
            "c.MD": "> # quoted\n\n- # listed\n",
        },
    )
    named = [(found["title"], found["section"], found["text"]) for found in load_folder(tmp_path)]
    assert named == [
        ("The big one", "The big one", "before"),
        ("The big one", "The big one", "under"),
        ("The big one", "Two > Deep", "deep"),
        ("The big one", "Other", "next"),
        ("The big one", "Other", "bare"),
        ("From front", "From front", "text"),
        ("From front", "Long heading", "body"),
        ("c", "c", "> # quoted\n\n- # listed"),
    ]
    assert [found["source"] for found in load_folder(tmp_path)] == [tmp_path.name] * 8


@pytest.mark.parametrize(
    ("top", "expected", "text"),
    [
        ("---\nUpdated_At: 2026-02-03\ndate: 2020-01-01\na:\n  - x\n# b\n- y\n\n---\n", "2026-02-03", "body"),
        ("---\ndate: '2026-01-01'\n---\n", "2026-01-01", "body"),
        ("---\nupdated_at:\n---\n", "", "body"),
        ("---\na: b\n# ", "", "---\na: b\n# body"),
        ("\ufeff", "", "body"),
    ],
)  # fmt: skip
def test_date_of_a_file(tmp_path, top, expected, text):
    """The front matter's date is taken as written; the day on which a file was changed is no date of its text."""
    write(tmp_path, {"a.txt": top + "body"})
    os.utime(tmp_path / "a.txt", (1_000_000_000, 1_000_000_000))
    [found] = load_folder(tmp_path)
    assert (found["updated_at"], found["text"]) == (expected, text)


def test_hidden_and_foreign_files_are_skipped(tmp_path):
    """Hidden files and folders, other formats, empty files, broken links and link loops do no harm, and are named."""
    write(tmp_path, {"a.txt": "kept", ".b.txt": "no", ".git/c.md": "no", "d.adoc": "no", "x/e.md": " \n"})
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    os.mkfifo(tmp_path / "pipe.md")
    documents = load_folder(tmp_path)
    assert [found["text"] for found in documents] == ["kept"]
    assert documents.left_out == (
        (".b.txt", "hidden"),
        (".git", "hidden"),
        ("d.adoc", "another format"),
        ("loop", "link to a folder"),
        ("pipe.md", "no regular file"),
        ("self.md", "broken link"),
        ("x/e.md", "empty"),
    )
    assert documents.describe_left_out() == (
        "another format: 1 (d.adoc); broken link: 1 (self.md); empty: 1 (x/e.md); hidden: 2 (.b.txt, .git); "
        "link to a folder: 1 (loop); no regular file: 1 (pipe.md)"
    )


def test_links_lead_nowhere_outside(tmp_path):
    """What lies outside the folder is read through no link to a file or a folder; what lies inside is read once."""
    write(tmp_path, {"outside/secret.md": "secret", "kb/a.md": "one", "kb/..data/b.md": "two", "kbx/c.md": "three"})
    write(tmp_path, {"kb/c.csv": "four"})
    kb = tmp_path / "kb"
    for name, target in (
        ("evil.md", tmp_path / "outside" / "secret.md"),
        ("beside.md", "../kbx/c.md"),
        ("folder", tmp_path / "outside"),
        ("through.md", "folder/secret.md"),
        ("again.md", "a.md"),
        ("b.md", "..data/b.md"),
        ("c.md", "c.csv"),
    ):
        (kb / name).symlink_to(target)
    (tmp_path / "link").symlink_to(kb)
    documents = load_folder(tmp_path / "link")
    assert [(found["id"], found["text"]) for found in documents] == [("a.md#a.1", "one")]
    assert documents.left_out == (
        ("..data", "hidden"),
        ("again.md", "link to a file already read"),
        ("b.md", "link to a hidden file"),
        ("beside.md", "link out of the folder"),
        ("c.csv", "another format"),
        ("c.md", "link to another format"),
        ("evil.md", "link out of the folder"),
        ("folder", "link out of the folder"),
        ("through.md", "link out of the folder"),
    )


def test_folders_without_end_are_refused(tmp_path):
    (tmp_path / "/".join("a" * 103)).mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="a' has more than 100 folders inside each other"):
        load_folder(tmp_path / "a")


def test_limits_are_named(tmp_path):
    write(tmp_path, {"a.md": "four", "x/b.md": "more", "c.pdf": "not counted in bytes"})
    assert len(load_folder(tmp_path, max_files=4, max_bytes=8)) == 2
    with pytest.raises(ConfigurationError, match=r"max_files: .* has more than 3 files and folders"):
        load_folder(tmp_path, max_files=3)
    with pytest.raises(ConfigurationError, match=r"max_bytes: .* have 8 bytes; allowed: 7"):
        load_folder(tmp_path, max_bytes=7)
    for limit in ("max_files", "max_bytes"):
        with pytest.raises(ConfigurationError, match=f"{limit}: at least 1 is required; given: 0"):
            load_folder(tmp_path, **{limit: 0})


def test_bad_folders_are_configuration_errors(tmp_path):
    write(tmp_path, {"file.txt": "x", "empty/a.adoc": "x"})
    for name, problem in (
        ("none", "No such file"),
        ("file.txt", "Not a directory"),
        ("empty", r"no text in any .*; left out: another format: 1 \(a.adoc\)"),
    ):
        with pytest.raises(ConfigurationError, match=f"{name}.*{problem}"):
            load_folder(tmp_path / name)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_folder("a\0b")
    with pytest.raises(ConfigurationError, match="max_chars: at least 1 is required; given: 0"):
        load_folder(tmp_path, max_chars=0)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (b"latin.md", "café".encode("latin-1"), "latin.md.* is not UTF-8"),
        (b"\xff.md", b"text", "its name is not UTF-8"),
    ],
)
def test_bad_files_are_configuration_errors(tmp_path, name, content, problem):
    Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_bytes(content)
    with pytest.raises(ConfigurationError, match=problem):
        load_folder(tmp_path)
