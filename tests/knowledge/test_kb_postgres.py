"""A knowledge base in PostgreSQL: the file's scores over what row security shows a caller, or a clear refusal."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from cli_runs import ROOT, empty_folder, run
from docs_parts import fences
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import postgres_server
from tables import each_row
from test_kb_index import ASKED, CALLERS, STEPS, document, lived
from test_kb_ingest import write
from test_kb_vectors import TEXTS, Sides, documents

from guardgraph import Caller, ConfigurationError, KnowledgeBase, PostgresKnowledgeBase, StoreError, create_rag_agent
from guardgraph.knowledge.base import make_server_base
from guardgraph.knowledge.checking import check_knowledge_base
from guardgraph.knowledge.file import File
from guardgraph.knowledge.index import Index
from guardgraph.knowledge.server import Server
from guardgraph.state.context import is_access_allowed, normalize_document_access

[RECIPE] = [fence.code for fence in fences(ROOT / "docs" / "knowledge_bases.md") if fence.info == "sql"]
ROLES = """
CREATE ROLE stranger LOGIN;
CREATE ROLE owner LOGIN;
CREATE ROLE bypasses LOGIN BYPASSRLS IN ROLE guardgraph_reader;
"""
TABLES = ("scopes", "parts", "documents", "collections", "chunks", "lengths", "postings")


@pytest.fixture(scope="module")
def owner():
    """The address of a server with an empty knowledge base, as its superuser."""
    with postgres_server() as address:
        assert make_server_base(address)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(RECIPE + ROLES)
        yield address


def as_role(owner, role):
    return owner.replace("postgres:@", f"{role}@")


def executed(owner, statement, *values):
    with psycopg.connect(owner, autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def base(owner):
    emptied(owner)
    with PostgresKnowledgeBase(as_role(owner, "ingest")) as made:
        yield made


def emptied(owner):
    for table in TABLES:
        executed(owner, f"DELETE FROM guardgraph.{table}")
    executed(owner, "DELETE FROM guardgraph.state WHERE name = 'embedding'")


@settings(max_examples=20)
@given(STEPS, st.lists(ASKED, min_size=1, max_size=3))
def test_any_changes_leave_what_the_file_has(owner, tmp_path_factory, changes, questions):
    """After the same changes each caller finds the same in both, byte for byte, and all that is counted is right."""
    emptied(owner)
    files, server = Index(File(tmp_path_factory.mktemp("kb") / "kb.sqlite")), Index(Server(as_role(owner, "ingest")))
    for index in (files, server):
        lived(index, changes)
    for caller in CALLERS:
        assert server.readable_sources(caller) == files.readable_sources(caller)
        for question in questions:
            expected, found = (json.dumps(index.search(question, caller=caller)) for index in (files, server))
            assert found == expected
    assert (server.tenants(), server.collections()) == (files.tenants(), files.collections())
    assert check_knowledge_base(server.database).ok
    for index in (files, server):
        index.close()


TENANTS, READERS = ["acme", "globex", None], [["public"], ["tenant"], ["group:hr"], []]
PIECES = st.lists(st.sampled_from([*TEXTS, "Kelvin heat", "wing"]), max_size=5)


@settings(max_examples=15)
@given(
    held=st.lists(st.tuples(st.sampled_from(TENANTS), st.sampled_from(READERS), PIECES), max_size=4),
    question=st.sampled_from(["heat", "wing in the flow", "shock", "plate Kelvin"]),
    least=st.sampled_from([None, 0.3]),
)
def test_vectors_order_on_a_server_as_in_a_file(owner, tmp_path_factory, held, question, least):
    """Fused order and scores are the file's, and those of a base that has nothing but what the caller may read."""
    emptied(owner)
    options = {"embedding": Sides(), "min_similarity": least}
    file = KnowledgeBase(tmp_path_factory.mktemp("kb") / "kb.sqlite", **options)
    server = PostgresKnowledgeBase(as_role(owner, "ingest"), **options)
    with file, server:
        for at, (tenant, readers, texts) in enumerate(held):
            for base in (file, server):
                base.add(documents(texts), tenant=tenant, readers=readers, name=f"c{at}")
        for caller in (None, {"tenant": "acme"}, {"tenant": "globex", "groups": ["hr"]}):
            expected = file.search(question, caller=caller, top_k=10)
            assert server.search(question, caller=caller, top_k=10) == expected
            with KnowledgeBase(tmp_path_factory.mktemp("kb") / "kb.sqlite", **options) as own:
                for at, (tenant, readers, texts) in enumerate(held):
                    if is_access_allowed(normalize_document_access(tenant, readers), caller and Caller(**caller)):
                        own.add(documents(texts), tenant=tenant, readers=readers, name=f"c{at}")
                assert own.search(question, caller=caller, top_k=10) == expected
        assert server.check().findings == ()


def test_a_rebuild_makes_the_index_anew_of_what_is_right(base, owner):
    """What was counted wrong is right, what is not what was put in is named and shown to nobody until it is added."""
    held = [document("a", "The wing is heated by the flow"), document("b", "cold wing"), document("c", "0")]
    for tenant in ("acme", "globex"):
        base.add(held, tenant=tenant, readers=["tenant"])
    before = base.search("heated wing", caller={"tenant": "acme"})
    for statement in (
        "UPDATE guardgraph.parts SET words = words + 1; DELETE FROM guardgraph.postings WHERE term = 'wcold'",
        "UPDATE guardgraph.chunks SET language = 'de' WHERE name = 'b'; DELETE FROM guardgraph.lengths",
    ):
        executed(owner, statement)
    assert not base.check().ok
    assert (base.rebuild().ok, base.check().findings) == (True, ())
    assert base.search("heated wing", caller={"tenant": "acme"}) == before
    executed(owner, "UPDATE guardgraph.chunks SET text = 'The wing is stolen' WHERE name = 'b' AND tenant = '+acme'")
    with pytest.raises(StoreError, match="a chunk is not what was put in"):
        base.search("wing heated", caller={"tenant": "acme"})
    rebuilt = base.rebuild()
    assert (rebuilt.ok, [str(item) for item in rebuilt.refused]) == (False, ["b of acme"])
    assert [hit["doc_id"] for hit in base.search("cold wing", caller={"tenant": "acme"})] == ["a"]
    assert (base.check().findings, base.add(held, tenant="acme", readers=["tenant"]).added) == ((), ("b",))
    assert (base.search("heated wing", caller={"tenant": "acme"}), base.check().findings) == (before, ())


def test_a_role_sees_no_row_of_others_whatever_it_asks(base, owner):
    """Row security holds each table: without a caller only what is for everybody is seen, and a writer's is its own."""
    base.add([document("a", "The wing is heated by the flow")], tenant="acme", readers=["tenant"])
    base.add([document("b", "The wing is heated by the flow")], tenant="globex", readers=["tenant"])
    for role in ("ingest", "answers"):
        with psycopg.connect(as_role(owner, role)) as connection:
            for table in TABLES:
                assert connection.execute(f"SELECT count(*) FROM guardgraph.{table}").fetchone() == (0,)
            connection.execute("SELECT set_config('guardgraph.tenant', '=+acme', true)")
            connection.execute("SELECT set_config('guardgraph.readers', '{tenant}', true)")
            assert connection.execute("SELECT tenant FROM guardgraph.documents").fetchall() == [("+acme",)]
            assert connection.execute("SELECT name FROM guardgraph.chunks").fetchall() == [("a",)]
    with psycopg.connect(as_role(owner, "ingest")) as connection:
        connection.execute("SELECT set_config('guardgraph.writes', '=+acme', true)")
        assert connection.execute("UPDATE guardgraph.documents SET title = 'x'").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("UPDATE guardgraph.documents SET tenant = '+globex'")


@each_row(
    ("role", "message"),
    ("postgres", "is a superuser"),
    ("bypasses", "a role with BYPASSRLS"),
    ("stranger", "is a member of neither guardgraph_reader nor guardgraph_writer"),
    ("owner", "owns the tables"),
)
def test_a_role_that_row_security_does_not_hold_is_refused(owner, role, message):
    """Superusers, BYPASSRLS, owners and strangers get a line that says what is needed, and no answer."""
    url = owner if role == "postgres" else as_role(owner, role)
    owns = "GRANT guardgraph_reader TO owner; ALTER TABLE guardgraph.chunks OWNER TO owner"
    mends = "ALTER TABLE guardgraph.chunks OWNER TO postgres; REVOKE guardgraph_reader FROM owner"
    with changed(owner, owns if role == "owner" else "", mends), pytest.raises(ConfigurationError, match=message):
        PostgresKnowledgeBase(url)


@contextmanager
def changed(owner, breaks, mends):
    """Change something of a server, and change it back."""
    executed(owner, breaks)
    try:
        yield
    finally:
        executed(owner, mends)


FORCED = "ALTER TABLE guardgraph.chunks {} ROW LEVEL SECURITY"
STATE = "UPDATE guardgraph.state SET value = {} WHERE name = '{}'"
OTHER_KINDS = {
    "row security is not forced on chunks": (FORCED.format("NO FORCE"), FORCED.format("FORCE")),
    "0.16 or later is required; given: format 9": (STATE.format("'9'", "format"), STATE.format("'1'", "format")),
    "its words were read otherwise": (STATE.format("'x' || value", "words"), STATE.format("substr(value, 2)", "words")),
    "there is no knowledge": ("ALTER SCHEMA guardgraph RENAME TO other", "ALTER SCHEMA other RENAME TO guardgraph"),
}


@pytest.mark.parametrize("message", OTHER_KINDS)
def test_a_database_of_another_kind_is_refused(owner, message):
    with changed(owner, *OTHER_KINDS[message]), pytest.raises(ConfigurationError, match=message):
        PostgresKnowledgeBase(as_role(owner, "answers"))


def test_a_role_that_only_reads_answers_and_changes_nothing(base, owner):
    """It searches for callers; to add, to check and to list tenants needs the other role."""
    base.add([document("a", "The wing is heated by the flow")], tenant="acme", readers=["tenant"])
    with PostgresKnowledgeBase(as_role(owner, "answers")) as asks:
        assert [found["doc_id"] for found in asks.search("wing", caller={"tenant": "acme"})] == ["a"]
        assert asks.search("wing") == []
        add, remove = (lambda: asks.add([document("c", "x")])), (lambda: asks.remove("documents", tenant="acme"))
        for attempt in (add, remove, asks.check, asks.tenants):
            with pytest.raises(ConfigurationError, match="guardgraph_writer"):
                attempt()


def test_a_server_that_is_read_only_away_or_none_is_named(base, owner, tmp_path):
    """Nothing is lost without a word: each ends in an error that says what is wrong, and no password is in it."""
    only = "default_transaction_read_only"
    read_only = changed(owner, f"ALTER ROLE ingest SET {only} = on", f"ALTER ROLE ingest RESET {only}")
    with read_only, PostgresKnowledgeBase(as_role(owner, "ingest")) as other:
        with pytest.raises(ConfigurationError, match="the server is read-only; nothing was written"):
            other.add([document("a", "wing")], readers=["public"])
        assert other.search("wing") == []
    for url in ("postgresql://app:secret@127.0.0.1:1/x?connect_timeout=2", f"postgresql:///x?host={tmp_path}"):
        with pytest.raises(ConfigurationError, match="cannot be reached") as caught:
            PostgresKnowledgeBase(url)
        assert "secret" not in str(caught.value)
    for url in ("mysql://x", "postgresql://app:secret@host/x?nonsense=1", 7):
        with pytest.raises(ConfigurationError, match="is required"):
            PostgresKnowledgeBase(url)


def test_settings_that_do_not_hold_in_a_transaction_are_refused(base, owner):
    """Where the server does not know for whom it answers, as behind a pooler by statement, nothing is answered."""
    base.add([document("a", "wing")], readers=["public"])
    breaks = (
        "CREATE SCHEMA pooled; GRANT USAGE ON SCHEMA pooled TO PUBLIC; CREATE FUNCTION "
        "pooled.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2'; "
        "ALTER ROLE answers SET search_path = pooled, pg_catalog"
    )
    pooled = changed(owner, breaks, "ALTER ROLE answers RESET search_path; DROP SCHEMA pooled CASCADE")
    with pooled, pytest.raises(ConfigurationError, match="a pooler hands connections out by statement"):
        PostgresKnowledgeBase(as_role(owner, "answers"))


def test_an_agent_answers_what_its_caller_may_read_and_stops_where_its_server_went_away(base, owner):
    """The URL is a knowledge base of the RAG agent, by a role that only reads; when the server is back, it answers."""
    base.add([document("n1", "Hotels are booked at most 30 days ahead.")], tenant="acme", readers=["tenant"])
    agent = create_rag_agent(knowledge_base=as_role(owner, "answers"))
    question, acme = {"question": "How many days ahead are hotels booked?"}, {"caller": {"tenant": "acme"}}
    assert agent.invoke(question)["outcome"] == "clarify"
    with changed(owner, "ALTER ROLE answers NOLOGIN", "ALTER ROLE answers LOGIN"):
        executed(owner, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'answers'")
        assert agent.invoke(question, context=acme)["stop_reason"] == "tool_invalid_output:retrieve"
    assert agent.invoke(question, context=acme)["citations"] == ["n1"]


def test_several_write_and_ask_at_once(base, owner):
    """Each addition is there as a whole while others write, all that is counted is right, and threads share a base."""

    def add(at):
        with PostgresKnowledgeBase(as_role(owner, "ingest")) as own:
            documents = [document(f"{at}.{number}", f"The wing {number} is heated by flow {at}") for number in range(6)]
            return own.add(documents, tenant=f"t{at % 2}", readers=["tenant"]).added

    with ThreadPoolExecutor(4) as pool:
        assert sum(map(len, pool.map(add, range(6)))) == 36
    checked = base.check()
    assert (checked.ok, checked.documents, base.tenants()) == (True, 36, ["t0", "t1"])
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(base.search, "heated wing", caller={"tenant": f"t{at % 2}"}, top_k=50) for at in range(60)]
        assert {len(each.result()) for each in asked} == {18}


def test_the_command_line_takes_a_url(owner, base, tmp_path, monkeypatch):
    """`kb init`, `add`, `search`, `check`, `list`, `access` and `remove`, and `rag --kb`, on a server."""
    empty_folder(tmp_path, monkeypatch)
    write(tmp_path / "docs", {"refunds.md": "# Refunds\n\nRefunds take 14 days.\n"})
    url = as_role(owner, "ingest")
    asked, acme = "How long do refunds take?", ("--tenant", "acme")
    for arguments, said in (
        (("kb", "init", owner), "there already\n"),
        (("kb", "add", url, "docs", *acme, "--reader", "tenant"), "1 added"),
        (("kb", "search", url, asked, *acme), "refunds.md#refunds.1"),
        (("kb", "check", url), ""),
        (("kb", "list", url), "docs"),
        (("kb", "access", url, *acme), "tenant"),
        (("rag", asked, "--kb", as_role(owner, "answers"), *acme), "14 days"),
        (("kb", "rebuild", url), "the index is made anew"),
        (("kb", "remove", url, "docs", *acme), "1 document"),
    ):
        done = run(*arguments)
        assert (done.exit_code, said in done.stdout) == (0, True), (arguments, done.stderr)
    for arguments, message in (
        (("check", as_role(owner, "answers")), "guardgraph_writer"),
        (("rebuild", as_role(owner, "answers")), "guardgraph_writer"),
        (("init", "postgres.example"), "url: postgresql://"),
    ):
        refused = run("kb", *arguments)
        assert (refused.exit_code, message in refused.stderr) == (2, True)
