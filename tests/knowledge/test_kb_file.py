"""The file of a knowledge base: what is refused, who may open it, and many who use it at once."""

import hashlib
import json
import os
import sqlite3
from contextlib import closing

import pytest
from cli_runs import empty_folder, refused, run
from test_kb_index import WORDY
from test_kb_ingest import base, write

from guardgraph import KnowledgeBase, create_rag_agent, sql_store, web_reader
from guardgraph.grounding.words import list_content_words, list_word_beginnings
from guardgraph.knowledge.database import WORDS_VERSION
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.tools.knowledge_base import demo_documents

__all__ = ["base"]


def test_a_file_without_a_byte_is_no_new_base(tmp_path, monkeypatch):
    """What a full disk or a failed copy left is refused, by an open base, too, and nothing is answered or written."""
    empty_folder(tmp_path, monkeypatch)
    path, document = tmp_path / "kb.sqlite", demo_documents()[0]
    write(tmp_path / "docs", {"a.md": "Wings are heated."})
    with KnowledgeBase(path) as opened:
        opened.add([document], readers=["public"])
        for file in tmp_path.glob("kb.sqlite*"):
            file.unlink()
        path.touch()
        for use in (
            lambda: opened.search(document["text"]),
            lambda: opened.add([document], readers=["public"]),
            lambda: KnowledgeBase(path),
            lambda: create_rag_agent(knowledge_base=path),
        ):
            with pytest.raises(ConfigurationError, match="it is empty: remove it"):
                use()
    for command in (("search", "kb.sqlite", "wings"), ("add", "kb.sqlite", "docs"), ("check", "kb.sqlite")):
        assert "it is empty" in refused(run("kb", *command))
    assert [(file.name, file.stat().st_size) for file in tmp_path.glob("kb.sqlite*")] == [("kb.sqlite", 0)]


def test_a_file_that_is_gone_is_no_empty_base(base):
    """Whoever searches a base whose file was deleted is told; who opens it anew makes another, its owner's alone."""
    base.add(demo_documents(), readers=["public"])
    assert {file.stat().st_mode & 0o777 for file in base.path.parent.iterdir()} == {0o600}
    for file in base.path.parent.iterdir():
        file.unlink()
    for use in (lambda: base.search("P1"), lambda: base.add(demo_documents(), readers=["public"])):
        with pytest.raises(StoreError, match="it was there and is gone"):
            use()
    assert list(base.path.parent.iterdir()) == []
    with KnowledgeBase(base.path) as again:
        assert again.search("P1") == []


def test_what_is_not_ours_keeps_its_rights(tmp_path):
    """A database of another application, as base, store and cache; a short text, and what is no file at all."""
    other, pipe, text = tmp_path / "other", tmp_path / "pipe", tmp_path / "notes.txt"
    text.write_text("to do")
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE responses (x)")
    os.mkfifo(pipe)
    for file in (other, pipe, text):
        file.chmod(0o664)
        for use in (lambda file=file: KnowledgeBase(file), lambda file=file: web_reader(cache=file)):
            with pytest.raises(ConfigurationError) as error:
                use()
            assert "\n" not in str(error.value)
        agent = create_rag_agent(recorder=sql_store(f"sqlite:///{file}"))
        result = agent.invoke({"question": "What is the P1 target?"})
        assert (result["audit"]["status"], file.stat().st_mode & 0o777) == ("unavailable", 0o664)
    with pytest.raises(ConfigurationError, match="it is no database"):
        KnowledgeBase(text)
    assert text.read_text() == "to do"


def test_a_change_of_how_words_are_read_is_told_by_the_file():
    """What `terms` makes of a text is pinned beside the number in the file, which a change of it must raise."""
    texts = [*(document["text"] for document in demo_documents()), *WORDY, "Hello, thanks", "Hallo, wie und danke"]
    read = [[*list_word_beginnings(list_content_words(text)), *list_content_words(text)] for text in texts]
    digest = hashlib.sha256(json.dumps(read).encode()).hexdigest()[:16]
    assert (WORDS_VERSION, digest) == (5, "28eeb2ec89bca563")
