"""Knowledge bases: the packaged demo and folders."""

import os
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row
from test_kb_ingest import HANDBOOK, write

from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.knowledge_base import load_folder


def test_handbook_is_read_in_sections():
    """A section above the limit becomes several documents, none above it, cut where a paragraph ends."""
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
    first, second = [found for found in documents if found["section"] == "Retention and deletion"]
    assert (first["id"][-2:], second["id"][-2:]) == (".1", ".2")
    assert max(len(part["text"]) for part in documents) <= 2200
    assert (first["text"].endswith("in between."), second["text"].startswith("Legal holds")) == (True, True)


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


def test_titles_and_section_names(tmp_path):
    """The first H1 is the title, else the front matter's title, else the file's name."""
    big = "before\n\n# The *big* `one`\nunder\n## Two\n### Deep\ndeep\n# Other\nnext\n##\nbare\n"
    front = "---\ntitle: 'From front'\n---\ntext\n\nLong\nheading\n---\nbody\n"
    write(tmp_path, {"a.md": big, "b.markdown": front, "c.MD": "> # quoted\n\n- # listed\n"})
    documents = load_folder(tmp_path)
    assert [(found["title"], found["section"], found["text"]) for found in documents] == [
        ("The big one", "The big one", "before"),
        ("The big one", "The big one", "under"),
        ("The big one", "Two > Deep", "deep"),
        ("The big one", "Other", "next"),
        ("The big one", "Other", "bare"),
        ("From front", "From front", "text"),
        ("From front", "Long heading", "body"),
        ("c", "c", "> # quoted\n\n- # listed"),
    ]
    assert [found["source"] for found in documents] == [tmp_path.name] * 8


@each_row(
    ("top", "expected", "text"),
    ("---\nUpdated_At: 2026-02-03\ndate: 2020-01-01\na:\n  - x\n# b\n- y\n\n---\n", "2026-02-03", "body"),
    ("---\ndate: '2026-01-01'\n---\n", "2026-01-01", "body"),
    ("---\nupdated_at:\n---\n", "", "body"),
    ("---\na: b\n# ", "", "---\na: b\n# body"),
    ("\ufeff", "", "body"),
)
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
    names, reasons = zip(*documents.left_out, strict=True)
    assert names == (".b.txt", ".git", "d.adoc", "loop", "pipe.md", "self.md", "x/e.md")
    assert reasons[:3] == ("hidden", "hidden", "another format")
    assert reasons[3:] == ("link to a folder", "no regular file", "broken link", "empty")
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
    """So are those above the limits that are given, which say by how much."""
    (tmp_path / "/".join("a" * 103)).mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="a' has more than 100 folders inside each other"):
        load_folder(tmp_path / "a")
    folder = write(tmp_path / "b", {"a.md": "four", "x/b.md": "more", "c.pdf": "not counted in bytes"})
    assert len(load_folder(folder, max_files=4, max_bytes=8)) == 2
    for limit, allowed, said in (
        ("max_files", 3, ".* has more than 3 files and folders"),
        ("max_bytes", 7, ".* have 8 bytes; allowed: 7"),
        *((name, 0, "at least 1 is required; given: 0") for name in ("max_files", "max_bytes", "max_chars")),
    ):
        with pytest.raises(ConfigurationError, match=f"{limit}: {said}"):
            load_folder(folder, **{limit: allowed})


def test_bad_folders_and_files_are_configuration_errors(tmp_path):
    write(tmp_path, {"file.txt": "x", "empty/a.adoc": "x", "latin/a.md": "café".encode("latin-1")})
    write(tmp_path / "odd", {os.fsdecode(b"\xff.md"): "text"})
    for name, problem in (
        ("none", "none.*No such file"),
        ("file.txt", "Not a directory"),
        ("empty", r"empty.*no text in any .*; left out: another format: 1 \(a.adoc\)"),
        ("latin", "a.md.* is not UTF-8"),
        ("odd", "its name is not UTF-8"),
        ("a\0b", "cannot be read"),
    ):
        with pytest.raises(ConfigurationError, match=problem):
            load_folder(f"{tmp_path}/{name}")
