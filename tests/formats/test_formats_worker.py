"""The child's side of what reads pages and files, in this process; and what a child does not load."""

import json
import os
import shutil
import subprocess
import sys
import threading
from multiprocessing import Pipe
from pathlib import Path

import pytest
from pdf_files import pdf_of

import guardgraph
from guardgraph.formats import worker
from guardgraph.formats.extraction import read_child_answer
from guardgraph.formats.pool import _LIBRARIES, _LIBRARIES_FOR, FIND_LIBRARIES, list_library_paths
from guardgraph.plain.errors import ConfigurationError

PAGE = b"<title>Fees</title><main><h1>Fees</h1><p>None at all.</p></main>"


def asked(content: bytes, kind: str, **changed: object):
    """Return what the child's side answers to one question, as our side reads it."""
    head = {"kind": kind, "libraries": (), "charset": None, "url": "", "seconds": 1e6, "max_chars": 1000, **changed}
    (ours, theirs), answers = Pipe(), []

    def ask() -> None:
        with ours:
            ours.send_bytes(json.dumps(head).encode())
            ours.send_bytes(content)
            answers.append(ours.recv_bytes())

    asking = threading.Thread(target=ask)
    asking.start()
    worker.answer_all(theirs)
    asking.join()
    return read_child_answer(*answers)


def test_what_cannot_be_read_is_answered(monkeypatch):
    monkeypatch.setattr(worker, "_limit_work", lambda seconds: None)
    assert asked(b"a\0", "text").reason == "binary"
    assert isinstance(asked(b"", "text", libraries=["no_such_library"]), ConfigurationError)
    monkeypatch.setattr(worker, "_read_content", lambda *_: 1 / 0)
    assert asked(b"", "text").details == {"error": "ZeroDivisionError"}


def test_a_parser_reaches_nobody():
    worker._deny_audit_event("open", ())
    for event in ("socket.connect", "subprocess.Popen", "os.system"):
        with pytest.raises(PermissionError, match=event):
            worker._deny_audit_event(event, ())


def test_a_child_loads_no_more_than_it_reads_with():
    """Neither Pydantic nor LangGraph and LangChain, whose start costs a second and memory that pages could use."""
    questions = {"html": PAGE, "pdf": pdf_of("Fees"), "text": b"Fees \xe9"}
    code = (
        f"{FIND_LIBRARIES}\nfrom guardgraph.formats.worker import _pack_child_answer\n"
        f"for kind, content in {questions!r}.items():\n"
        f"    libraries = {_LIBRARIES_FOR!r}[kind]\n"
        "    head = {'kind': kind, 'libraries': libraries, 'charset': None, 'url': '', 'seconds': 9, 'max_chars': 99}\n"
        "    assert _pack_child_answer(content, head).startswith(b'[\"read\"'), kind\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", code, "0", *list_library_paths(_LIBRARIES)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", env={})
    loaded = set(said.stdout.split())
    assert {"guardgraph", "trafilatura", "selectolax", "pypdfium2"} <= loaded
    assert not loaded & {"pydantic", "pydantic_core", "langgraph", "langchain_core", "langchain_openai", "openai"}


def test_a_child_loads_what_its_parent_loads(tmp_path):
    copy = tmp_path / "guardgraph"
    shutil.copytree(Path(guardgraph.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "formats" / "text.py").open("a", encoding="utf-8") as file:
        file.write('\n\ndef clean_plain_text(text: str) -> str:\n    return "read by the copy"\n')
    ask = "from guardgraph.formats.pool import extract; print(extract(b'x', 'text', seconds=60, max_chars=99).text)"
    given = {"env": {**os.environ, "PYTHONPATH": str(tmp_path)}, "cwd": tmp_path}
    done = subprocess.run([sys.executable, "-B", "-c", ask], **given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "read by the copy"
