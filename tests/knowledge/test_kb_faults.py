"""What befalls a knowledge base, in short; tests/soak has the long trials."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import kb_faults
import pytest

from guardgraph import KnowledgeBase


def test_a_killed_writer_leaves_whole_documents(tmp_path):
    """After kill -9 each document is as it was or as it is to be, and the next addition completes."""
    kb_faults.survived(tmp_path, kills=2, seed=1)


def test_many_read_and_write_at_once(tmp_path):
    """Readers see whole documents while others write, and nobody is told that the file is locked."""
    assert min(kb_faults.shared(tmp_path, readers=2, writers=2, seconds=1)) > 0


@pytest.mark.usefixtures("uncounted")
def test_a_full_disk_is_one_line(tmp_path):
    """Where the disk is full, one line says so, what was there can be read, and the next addition completes."""
    folder, path = kb_faults.folder_of(tmp_path / "docs", "old"), tmp_path / "kb.sqlite"
    with KnowledgeBase(path) as base:
        base.add(folder, tenant="acme")
    kb_faults.folder_of(folder, "new")
    done = kb_faults.without_room(path.stat().st_size // 2, "add", path, folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"guardgraph: {path}: ")
    assert len(kb_faults.versions(path, kb_faults.CALLER)) == kb_faults.DOCUMENTS - kb_faults.DOCUMENTS // 3
    kb_faults.assert_whole(path)
    assert kb_faults.without_room(1 << 30, "add", path, folder).returncode == 0
    assert set(kb_faults.versions(path, kb_faults.CALLER).values()) == {"new"}
    kb_faults.assert_whole(path)


def test_damage_shows_nothing_that_was_not_put_in(tmp_path):
    """A file that was cut or changed says so, or answers with what was put in for those who ask."""
    kb_faults.damaged(tmp_path, trials=12, seed=1)


@pytest.mark.usefixtures("uncounted")
@pytest.mark.skipif(not kb_faults.IS_ROOT, reason="only root may become another user")
@pytest.mark.parametrize(
    "said", ["add kb.sqlite docs", "list kb.sqlite", "check kb.sqlite", "add new.sqlite docs", "add kb.sqlite shut"]
)
def test_a_folder_of_another_user_is_one_line(tmp_path, said):
    folder = kb_faults.folder_of(tmp_path / "docs", "old", documents=2)
    with TemporaryDirectory() as shared_place:
        here = Path(shared_place)
        shutil.copytree(folder, here / "docs")
        (here / "shut").mkdir(mode=0o700)
        KnowledgeBase(here / "kb.sqlite").close()
        here.chmod(0o755)
        name, *places = said.split()
        command = [name, *(f"{here}/{place}" for place in places)]
        done = kb_faults.as_nobody(tmp_path / "warm.sqlite", folder, command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert sorted(path.name for path in here.iterdir()) == ["docs", "kb.sqlite", "shut"]
