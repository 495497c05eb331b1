"""Content that is made to do harm: each ends in a listed reason within its limits, and the next content is read."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_files import pdf_with
from pypdf import PdfWriter
from pypdf.generic import NameObject
from test_extraction import children

from guardgraph.formats.article import Heading
from guardgraph.formats.extraction import (
    EXTRACTION_FAILURES,
    Extracted,
    ExtractionFailed,
    pack_answer,
    read_child_answer,
)
from guardgraph.formats.pool import Child, Pool

HERE = Path(__file__).parent
MEMORY = 300 << 20
PARAGRAPH = b"<p>A paragraph that is shown, and is of a length that somebody might write.</p>"


@pytest.fixture(scope="module")
def pool():
    with_one_child = Pool(children=1, memory=MEMORY)
    yield with_one_child
    with_one_child.close()


def reason(pool: Pool, content: bytes, kind: str, *, seconds: float = 30, max_chars: int = 100_000) -> str:
    """Return why a content is not read; the next one has to be read."""
    try:
        with pytest.raises(ExtractionFailed) as raised:
            pool.extract(content, kind, seconds=seconds, max_chars=max_chars)
    finally:
        assert_goes_on(pool)
    assert raised.value.reason in EXTRACTION_FAILURES
    return raised.value.reason


def packed(times: int) -> bytes:
    """Return a PDF file whose page is packed to a thousandth."""
    writer, file = PdfWriter(clone_from=BytesIO(pdf_with(b""))), BytesIO()
    stream = writer.pages[0]["/Contents"]
    stream._data = zlib.compress(b"BT (x) Tj ET " * 80_000 * times, 9)
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    writer.write(file)
    return file.getvalue()


def assert_goes_on(pool: Pool) -> None:
    assert pool.extract(b"and on", "text", seconds=30, max_chars=100).text == "and on"


@pytest.mark.process
class TestLimits:
    @pytest.mark.parametrize(
        "content",
        [
            b"<table><tr><td>" * 20_000 + PARAGRAPH,
            b"<div " + b" ".join(b"a%d=1" % number for number in range(200_000)) + b">" + PARAGRAPH,
            b"<a href=x>y</a> " * 200_000,
        ],
    )
    def test_a_page_that_takes_long_is_given_up(self, pool, content):
        assert reason(pool, content, "html", seconds=0.3) == "timeout"

    def test_a_content_that_needs_much_memory_is_given_up(self, pool):
        assert reason(pool, b"x" * 90_000_000, "text") == "too_large"
        assert reason(pool, bytes(100_000_001), "text") == "too_large"  # and not even sent

    def test_a_file_that_is_packed_small_nested_or_contains_itself_does_no_harm(self, pool):
        nested = (b"[" * 200_000, b"BT " + b"(" * 200_000 + b" Tj", b"<</a " * 10_000)
        for file in (packed(80), *map(pdf_with, nested)):
            with suppress(ExtractionFailed):
                assert pool.extract(file, "pdf", seconds=20, max_chars=100).text == ""
            assert_goes_on(pool)
        looped = re.sub(rb"/Kids \[ .*? \]", b"/Kids [ 1 0 R ]", pdf_with(b""))
        assert pool.extract(looped, "pdf", seconds=20, max_chars=100).text == ""

    def test_rules_in_each_other_end(self, pool):
        for rules in ("a{color:red;" * 20_000, "a{&&{" + "&&{color:red;" * 30):
            with pytest.raises(ExtractionFailed) as failure:
                pool.extract(f"<style>{rules}</style>".encode() + PARAGRAPH, "html", seconds=30, max_chars=1000)
            assert (failure.value.reason, "nested" in str(failure.value.details["limit"])) == ("too_large", True)

    def test_rules_and_marks_without_end_take_linear_time(self, pool):
        for rules in ("p{" + "color:red;" * 100_000 + "}", "p{color:red}\n" * 80_000, "a," * 300_000 + "a{color:red}"):
            page = f"<style>{rules}</style>".encode() + PARAGRAPH * 20
            assert "somebody" in pool.extract(page, "html", seconds=60, max_chars=10_000).text
        marked = "a" + "\u0301\u0316" * 50_000
        assert len(pool.extract(marked.encode(), "text", seconds=20, max_chars=200_000).text) >= 100_000


@pytest.mark.process
class TestChildren:
    @pytest.mark.parametrize(
        ("endings", "reason", "details"),
        [
            ([signal.SIGSEGV], "crashed", {"signal": int(signal.SIGSEGV)}),
            ([signal.SIGXCPU], "timeout", {"limit": "seconds"}),
            ([signal.SIGKILL, signal.SIGKILL], "killed", {"signal": int(signal.SIGKILL)}),
        ],
    )
    def test_a_child_that_dies_at_work_is_told(self, pool, endings, reason, details):
        """By the signal that ended it, of one from outside at the second time; the next content has another child."""
        with being_killed(pool, endings), pytest.raises(ExtractionFailed) as raised:
            pool.extract(LONG_PAGE, "html", seconds=60, max_chars=10**7)
        assert (raised.value.reason, raised.value.details) == (reason, details)
        assert_goes_on(pool)

    def test_a_child_that_is_killed_once_is_not_missed(self, pool):
        """Another one reads the same again: a kernel without memory, or a careless script, says nothing of a page."""
        with being_killed(pool, [signal.SIGKILL]):
            read = pool.extract(b"<p>" + b"shown and " * 300_000, "html", seconds=60, max_chars=10**7).text
        assert read.startswith("shown and shown")

    def test_a_child_that_died_while_it_waited_is_replaced(self, pool):
        pool.extract(b"", "text", seconds=30, max_chars=1)
        process = pool._idle[-1]._process
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert_goes_on(pool)

    def test_whoever_waits_for_a_child_waits_no_longer_than_its_time(self, pool):
        pool.extract(b"", "text", seconds=30, max_chars=1)
        child = pool._idle[-1]._process.pid
        busy = threading.Thread(target=reason, args=(pool, b"<a href=x>y</a> " * 200_000, "html"))
        busy.start()
        while pool._idle and busy.is_alive():
            time.sleep(0.01)
        os.kill(child, signal.SIGSTOP)  # however quick it is
        with pytest.raises(ExtractionFailed) as raised:
            pool.extract(b"x", "text", seconds=0.1, max_chars=10)
        os.kill(child, signal.SIGKILL)
        busy.join()
        assert raised.value.reason == "timeout"

    def test_children_end_with_the_process_that_started_them(self):
        """When it is killed, too: nobody writes to their pipe any more."""
        code = (
            f"import os, signal, sys; sys.path[:0] = {[str(HERE), str(HERE.parent / 'support')]!r}\n"
            "from guardgraph.formats.pool import extract\n"
            "extract(b'x', 'text', seconds=60, max_chars=10)\n"
            "from test_extraction import children; print(*children(), flush=True)\n"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        started = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        (child,) = started.stdout.split()
        for _ in range(500):
            if not is_running(child):
                return
            time.sleep(0.02)
        pytest.fail("the child still runs")

    def test_a_process_that_was_forked_has_children_of_its_own(self):
        """It does not read what another asked for, and leaves the children of the other one alone."""
        code = (
            "import os\n"
            "from guardgraph.formats.pool import extract\n"
            "def read(text): return extract(text.encode(), 'text', seconds=60, max_chars=10).text\n"
            "assert read('before') == 'before'\n"
            "child = os.fork()\n"
            "assert read('forked' if child == 0 else 'parent') == ('forked' if child == 0 else 'parent')\n"
            "assert child == 0 or os.waitpid(child, 0)[1] == 0\n"
            "assert read('after') == 'after'"
        )
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)

    def test_a_child_may_not_reach_outside(self):
        code = (
            "import resource, sys\n"
            "from guardgraph.formats.worker import confine_process; confine_process(1 << 30)\n"
            "import socket, subprocess\n"
            "for act in (lambda: socket.create_connection(('127.0.0.1', 9)), lambda: subprocess.run(['true']),\n"
            "            lambda: open(sys.argv[1], 'w').write('x' * 9999)):\n"
            "    try: act()\n"
            "    except OSError as error: print(type(error).__name__)"
        )
        command = [sys.executable, "-c", code, os.path.join(os.environ.get("TMPDIR", "/tmp"), f"out_{os.getpid()}")]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        os.unlink(command[-1])
        assert said.stdout.split() == ["PermissionError", "PermissionError", "OSError"]


LONG_PAGE = b"<a href=x>y</a> " * 200_000


@contextmanager
def being_killed(pool: Pool, endings: list[int]) -> Iterator[None]:
    """End one child of a pool after another, each once it works."""
    pool.extract(b"", "text", seconds=30, max_chars=1)
    others = children() - {str(child._process.pid) for child in pool._idle}
    killer = threading.Thread(target=kill_in_turn, args=(others, endings))
    killer.start()
    yield
    killer.join()


def kill_in_turn(others: set[str], endings: list[int]) -> None:
    ended = set[str]()
    for ending in endings:
        while not (working := {child for child in children() - others - ended if is_running(child)}):
            time.sleep(0.01)
        ended |= working
        kill_at_work(int(min(working)), ending)


def kill_at_work(process: int, ending: int) -> None:
    """End a process once it has worked for a tenth of a second, however long it takes until then."""

    def worked() -> int:
        with open(f"/proc/{process}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[11])

    before = worked()
    for _ in range(3000):
        if worked() - before >= os.sysconf("SC_CLK_TCK") / 10:
            break
        time.sleep(0.01)
    os.kill(process, ending)


def is_running(process: str) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class TestAnswers:
    READ = Extracted("title", "text", (Heading(1, "a"), "b\ud800"), "2026-03-14", "")

    def test_an_answer_arrives_as_it_was_sent(self):
        assert read_child_answer(pack_answer(self.READ)) == self.READ._replace(parts=(Heading(1, "a"), "b?"))
        failure = read_child_answer(pack_answer(ExtractionFailed("broken", {"error": "x"})))
        assert isinstance(failure, ExtractionFailed)
        assert (failure.reason, failure.details) == ("broken", {"error": "x"})

    @settings(max_examples=60, deadline=None)
    @given(
        st.binary(max_size=40)
        | st.recursive(
            st.none() | st.integers() | st.sampled_from(["read", "failed", "timeout", "x"]),
            lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        ).map(lambda value: json.dumps(value).encode())
    )
    def test_whatever_else_a_child_says_counts_as_a_crash(self, answer):
        """A child may have been taken over by what it read."""
        try:
            read = read_child_answer(answer)
        except ExtractionFailed as failure:
            read = failure
        assert isinstance(read, Extracted) or read.reason in EXTRACTION_FAILURES

    @pytest.mark.process
    def test_an_answer_is_not_read_beyond_what_it_may_have_nor_waited_for_beyond_the_deadline(self):
        head = {"kind": "text", "libraries": (), "charset": None, "url": "", "seconds": 30, "max_chars": 99}
        asked = json.dumps(head).encode(), b"x" * 10**7
        child = Child(MEMORY)
        with pytest.raises(ExtractionFailed, match="too_large"):
            child.ask(*asked, most=9, deadline=time.monotonic() + 30)
        child.close()
        for wait in (0.05, -1):
            child = Child(MEMORY)
            with pytest.raises(TimeoutError):
                child.ask(*asked, most=10**6, deadline=time.monotonic() + wait)
            child.close()
