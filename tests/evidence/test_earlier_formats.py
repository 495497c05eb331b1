"""What earlier versions wrote is read by this one: documents, and stores with what was erased and redacted in them."""

from __future__ import annotations

from contextlib import closing

import pytest
from docs_parts import ROOT
from exported_runs import KINDS, document, forged, keys, text
from stored_runs import opened

from guardgraph import check_document, export_run, report, sql_store, what_if
from guardgraph.evidence.checking import unwrap_run_document
from guardgraph.evidence.document import build_stored_run
from guardgraph.evidence.strict_json import parse_strict_json
from guardgraph.plain.version import read_package_version

EARLIER = ROOT / "tests" / "data" / "earlier"
FILES = {f"{file.parent.name} {file.stem}": file for file in sorted(EARLIER.glob("*/*.json"))}
DERIVED = [name for name in FILES if not name.endswith(" rag")]
"""Runs that are derived to the end; 0.4 asked a retriever otherwise where there was a caller."""


def agent_of(name):
    """Return the agent that decides a stored document's run again."""
    return KINDS[name.partition(" ")[2].replace("-", " ")][0]


def run_of(name):
    """Return the document in a file, out of its envelope."""
    return unwrap_run_document(parse_strict_json(FILES[name].read_bytes(), "document", 100))


def test_every_release_has_its_documents():
    """Of each pattern, signed, shadowed, resumed and reviewed."""
    assert {name.partition(" ")[0] for name in FILES} == {"0.4.0", "0.5.0"}
    assert len(FILES) == 12
    assert all(run_of(name)["recording"]["guardgraph"] == name.partition(" ")[0] for name in FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_document_of_an_earlier_version_is_checked(name):
    """Its place, hashes and signature hold; what comes out otherwise is named as the version's, and nothing else is."""
    checked = check_document(FILES[name].read_bytes(), agent_of(name), public_key=None)
    assert {finding.kind for finding in checked.findings} <= {"version"}
    assert all(str(finding).endswith(f"differs under version {read_package_version()}") for finding in checked.findings)
    assert checked.guardgraph == name.partition(" ")[0]
    assert report(build_stored_run(run_of(name))).html.startswith("<!doctype html>")


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(" rag")])
def test_a_signature_of_an_earlier_version_is_checked(name):
    """With the public key; another key has not signed."""
    signed = [check_document(FILES[name].read_bytes(), agent_of(name), public_key=keys(at)[1]).signed for at in (0, 1)]
    assert signed == ["yes", "wrong"]


@pytest.mark.parametrize("name", DERIVED)
def test_a_forged_document_of_an_earlier_version_is_found(name):
    """The answer of a run that was hashed anew is named by its path; without new hashes the chain names it too."""
    made = run_of(name)

    def change(recording):
        recording["result"]["stop_reason"] = "forged"

    places = [item.place for item in check_document(text(forged(made, change)), agent_of(name)).findings]
    assert "result.stop_reason" in places
    change(made["recording"])
    assert "chain.content" in [item.place for item in check_document(text(made), agent_of(name)).findings]


@pytest.mark.parametrize("name", FILES)
def test_a_run_of_an_earlier_version_is_judged_by_a_what_if(name):
    """It is the same, changed or unknown, and never damaged."""
    judged = what_if(agent_of(name), [run_of(name)["recording"]])
    assert [row.kind in ("same", "changed", "unknown") for row in judged.rows] == [True], judged.table()
    assert judged.rows[0].guardgraph == name.partition(" ")[0]


@pytest.mark.parametrize("release", ["0.4.0", "0.5.0"])
def test_a_store_of_an_earlier_version_is_verified_and_written_on(release, tmp_path):
    """Its entries, contents, erasures and redactions are what they were; a run of this version goes into its chain."""
    file = tmp_path / "runs.db"
    with opened(file) as connection:
        connection.executescript((EARLIER / release / "store.sql").read_text())
    with closing(sql_store(f"sqlite:///{file}")) as store:
        head = store.head()
        found = store.verify((head.seq, head.hash))
        assert (found.ok, found.entries, found.runs) == (True, 9, 7)
        assert [(item.by, item.records) for item in found.erasures] == [("the tests", 1), ("the tests", 1)]
        judged = what_if("guardgraph:create_rag_agent", store.runs())
        assert judged.reasons("unreplayable") == {"erased": 2, "redacted": 1}
        shadowed = run_of(f"{release} rag-shadowed")
        assert export_run(store, shadowed["recording"]["run_id"]) == shadowed
        store.record(document()["recording"])
        assert store.verify((head.seq, head.hash)).ok
        assert store.head().previous == head.hash
