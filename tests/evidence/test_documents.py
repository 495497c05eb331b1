"""Documents: what is exported is derived again, and whatever was changed in it is found."""

import json
from base64 import b64decode, b64encode
from copy import deepcopy
from functools import cache

import pytest
from exported_runs import KINDS, RAG, document, forged, keys, text
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import QUESTION
from stored_runs import asked, recording
from tables import each_row

import guardgraph as g
from guardgraph.evidence.chain import entry_hash, write_chain_entry
from guardgraph.evidence.strict_json import MOST_BYTES, format_document_text
from guardgraph.graphs.loading import load_named_graph

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def store(tmp_path):
    """A store that is not there yet."""
    made = g.sql_store(f"sqlite:///{tmp_path}/runs.db")
    yield made
    made.close()


@cache
def agent(kind):
    named = load_named_graph(KINDS[kind][0], "test")
    return g.create_rag_agent(budget=g.RagBudget(max_top_k=3)) if kind == "rag" else named


def found(made, kind="rag", target=None, **given):
    """Return kinds and places of what is found in a document; what is refused is found too, and named."""
    try:
        checked = g.check_document(made, target or agent(kind), **given)
    except g.InputError as error:
        assert str(error).partition(": ")[0]  # noqa: PT017
        return [("refused", str(error))]
    return [(item.kind, item.place) for item in checked.findings]


def places(value, above=()):
    if above:
        yield above
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*above, key))


def holder_of(value, place):
    for key in place[:-1]:
        value = value[key]
    return value


# What is true is derived


@EVERY_KIND
def test_every_verdict_of_a_run_is_derived_again(kind):
    """Of all patterns, stopped, shadowed, resumed and reviewed runs, by the name of a factory and by an agent."""
    made = document(kind)
    by_name = g.check_document(text(made), KINDS[kind][0])
    assert (by_name.findings, by_name.ok) == ((), True)
    assert (by_name.run_id, by_name.hash) == (made["recording"]["run_id"], made["chain"]["hash"])
    assert g.check_document(made, agent(kind)).plain() == by_name.plain()


def test_a_run_of_a_store_is_exported_by_its_latest_record(store):
    """The document has the entry's text, the salt and the recording; a run that is not there is an error."""
    result = asked(store, tenant="acme", user="ann")
    made = g.export_run(store, result["run_id"])
    assert made["recording"]["result"] == {key: item for key, item in result.items() if key != "audit"}
    assert (made["chain"]["seq"], made["chain"]["hash"]) == (result["audit"]["seq"], result["audit"]["hash"])
    with pytest.raises(g.InputError, match="run_id: a run of the store is required"):
        g.export_run(store, "nobody")


def test_a_run_of_two_tenants_is_not_exported_nor_checked(store):
    made = recording(1, tenant="acme", user="ann")
    second = deepcopy(made["visits"][0]["opening"])
    made["visits"][1]["opening"] = {**second, "context": {"caller": {"tenant": "other"}}}
    store.record(made)
    with pytest.raises(g.InputError, match="a run of one tenant is required; given: one of 2"):
        g.export_run(store, made["run_id"])
    with pytest.raises(g.InputError, match="a run of one tenant is required"):
        g.check_document(forged(document(), lambda run: run.update(visits=made["visits"])), agent("rag"))


def test_a_redacted_run_is_exported_and_nothing_of_it_is_derived(store, tmp_path):
    """Its place in the chain is checked, and the one finding says what cannot be told."""
    careful = g.sql_store(f"sqlite:///{tmp_path}/careful.db", redact=g.Redaction(patterns=["P1"]))
    made = g.export_run(careful, asked(careful)["run_id"])
    careful.close()
    [finding] = g.check_document(made, agent("rag")).findings
    assert str(finding) == "redacted: words of the run were redacted: nothing can be derived"
    made["chain"]["salt"] = "0" * 64
    assert ("chain", "chain.content") in found(made)


# What was changed is found


@EVERY_KIND
@settings(max_examples=40)
@given(data=st.data())
def test_a_change_of_any_byte_is_found(kind, data):
    """Of values, of keys, of marks of the form, of blanks: every byte of the file counts."""
    sound = bytearray(text(document(kind)))
    at = data.draw(st.integers(0, len(sound) - 1))
    sound[at] ^= data.draw(st.integers(1, 255))
    assert found(bytes(sound), kind)


ODD = st.sampled_from([None, True, 0, -1, 1.5, "", "x", [], ["x"], {}, {"x": 1}, "0" * 64])


def change(holder, key, data):
    before = json.dumps(holder)
    how = data.draw(st.sampled_from(["put", "drop", "turn", "more"]))
    value = holder[key]
    if how == "drop":
        del holder[key]
    elif how == "turn" and isinstance(value, list):
        value.reverse()
    elif how == "more" and isinstance(value, dict):
        value["more"] = 1
    elif how == "more" and isinstance(value, list):
        value.append(deepcopy(value[-1]) if value else 1)
    else:
        holder[key] = data.draw(ODD)
    return None if json.dumps(holder) == before else how


@EVERY_KIND
@settings(max_examples=40)
@given(data=st.data())
def test_a_verdict_that_was_changed_is_found_however_well_it_is_hashed(kind, data):
    """Whoever hashes all anew still cannot make a result that these inputs do not have."""
    made = document(kind)
    place = data.draw(st.sampled_from([place for place in places(made["recording"]["result"]) if len(place) > 0]))
    done = []
    changed = forged(made, lambda run: done.append(change(holder_of(run["result"], place), place[-1], data)))
    assert done == [None] or found(changed, kind), place


@EVERY_KIND
def test_what_the_agent_makes_itself_is_derived_too(kind):
    """Names, nodes, requests, hashes of settings and prompts: hashed anew as well, a change is found."""
    made = document(kind)
    run, last = made["recording"], made["recording"]["visits"][-1]
    call = {"node": last["node"], "visit": 1, "number": 1, "kind": "tool", "request": "0" * 64, "seconds": 0.5}
    changes = {
        **dict.fromkeys(("graph", "run_id", "pattern"), "another"),
        "format": True,
        "fingerprints": {**run["fingerprints"], "prompts": "0" * 64},
        "visits": [*run["visits"][:-1], {**last, "node": "elsewhere"}],
        "calls": [*run["calls"], {**call, "outcome": '["value", 1, {}]'}],
        "policy": {**run["policy"], "more": 1},
        "budget": {**run["budget"], "max_seconds": run["budget"]["max_seconds"] + 1},
    }
    for field, value in changes.items():
        assert found(forged(made, lambda run, field=field, value=value: run.update({field: value})), kind), field
    other = {**run, "guardgraph": "another"}  # nothing differs, so no verdict depends on it; the hash knows it
    assert found(forged(made, lambda run: run.update(other)), kind) == []
    assert found({**made, "recording": other}, kind)


def test_settings_that_the_agent_refuses_are_named():
    """A policy that names what there is not, or a limit that is none, is a finding and nobody's wrong usage."""
    named = forged(document(), lambda run: run["policy"].update(allowed_sources_policy=["secret_base"]))
    assert ("verdict", "policy.allowed_sources_policy.0") in found(named, target=RAG)
    endless = forged(document(), lambda run: run["budget"].update(max_seconds=-1))
    assert ("verdict", "budget.max_seconds") in found(endless, target=RAG)


# Who forges all of it


def other(chain):
    return write_chain_entry(1, "0" * 64, chain["at"], kind="note", run_id="x", note="intent", content="0" * 64)


FORGED = {
    "another run": lambda also, chain: [{"entry": other(chain), "hash": entry_hash(other(chain))}],
    "twice": lambda also, chain: also * 2,
    "another hash": lambda also, chain: [{**also[0], "hash": "0" * 64}],
    "another time": lambda also, chain: [
        {"entry": (text := also[0]["entry"].replace('"at":"2', '"at":"3')), "hash": entry_hash(text)}
    ],
}


@pytest.mark.parametrize("how", FORGED)
def test_what_a_document_says_of_other_entries_is_held_against_its_run(how):
    """One that is of another run, is none, stands twice, or is not what the entry behind it follows, is a finding."""
    made = document()
    made["chain"]["also"] = FORGED[how](made["chain"]["also"], made["chain"])
    assert {finding.place.rpartition(".")[0] for finding in g.check_document(made, RAG).findings} == {"chain.also"}


def loosened(run):
    """Change a policy with all that follows of it: a run as another deployment would have made it."""
    from guardgraph.testing import InMemoryRecorder

    kept = InMemoryRecorder()
    g.create_rag_agent(recorder=kept, policy=g.RagPolicy(check_values=False)).invoke(QUESTION)
    [made] = kept.runs
    own = {"run_id": run["run_id"]}
    run.update(made | own, result=made["result"] | own)


def test_a_run_that_is_forged_as_a_whole_is_found_by_head_or_signature():
    """It is a sound run of another policy, so deriving finds nothing; number and hash that were kept elsewhere do."""
    made = document()
    head = (made["chain"]["seq"], made["chain"]["hash"])
    forgery = forged(made, loosened)
    assert g.check_document(forgery, RAG).ok
    [finding] = g.check_document(forgery, RAG, head=head).findings
    assert (finding.kind, finding.place) == ("head", "chain.hash")
    assert g.check_document(made, RAG, head=head).ok
    [finding] = g.check_document(made, RAG, head=(head[0] + 1, head[1])).findings
    assert str(finding) == f"chain.seq: {head[0]}; kept elsewhere was {head[0] + 1}, which says nothing of this entry"
    private, public = keys()
    [finding] = g.check_document(forgery, RAG, public_key=public).findings
    assert finding.kind == "signature"
    resigned = g.sign_document(forgery, keys(1)[0])
    assert [item.kind for item in g.check_document(resigned, RAG, public_key=public).findings] == ["signature"]
    assert g.check_document(g.sign_document(made, private), RAG, public_key=public, head=head).signed == "yes"


# Signatures


@settings(max_examples=150)
@given(data=st.data())
def test_a_change_of_any_byte_of_an_envelope_is_found(data):
    """Payload, type, signature, key id, blanks: every byte of the file counts."""
    _, public = keys()
    sound = bytearray(SIGNED)
    heads = [sound.index(b'"payloadType"'), len(sound) - 1]
    at = data.draw(st.integers(0, len(sound) - 1) | st.integers(*heads))
    sound[at] ^= data.draw(st.integers(1, 255))
    assert found(bytes(sound), public_key=public)


SIGNED = g.sign_document(document(), keys()[0]).encode()


def test_an_envelope_is_what_dsse_says():
    """The pre-authentication encoding of the specification's example, and a signature that any library verifies."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    from guardgraph.evidence.signing import PAYLOAD_TYPE, encode_signed_payload

    assert encode_signed_payload("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    envelope = json.loads(SIGNED)
    assert envelope["payloadType"] == PAYLOAD_TYPE
    payload = b64decode(envelope["payload"])
    assert payload == text(document())
    signed = b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)
    load_pem_public_key(keys()[1]).verify(b64decode(envelope["signatures"][0]["sig"]), signed)


@each_row("sig", b"", b"\xff" * 64)
def test_a_signature_that_no_key_could_have_made_is_a_finding(sig):
    envelope = json.loads(SIGNED)
    envelope["signatures"][0]["sig"] = b64encode(sig).decode()
    checked = g.check_document(format_document_text(envelope), RAG)
    assert (checked.signed, [finding.kind for finding in checked.findings]) == ("unchecked", ["signature"])


@each_row(
    ("change", "message"),
    (lambda made: made.update(payloadType="text/plain"), "envelope.payloadType: application/vnd.guardgraph.run"),
    (lambda made: made.update(signatures=[]), "envelope.signatures: one is required; given: 0"),
    (lambda made: made["signatures"][0].update(sig="%"), "envelope.signatures.0.sig: base64 is required"),
    (lambda made: made.update(payload=b64encode(b"{}").decode()), "document: format 1 of guardgraph 0.16 or later"),
    (lambda made: made.update(more=1), "envelope.more: Extra inputs"),
)
def test_what_is_no_envelope_is_refused_by_field(change, message):
    made = json.loads(SIGNED)
    change(made)
    with pytest.raises(g.InputError, match=message):
        g.check_document(json.dumps(made), agent("rag"), public_key=keys()[1])


def test_a_key_that_is_none_is_refused_without_a_word_of_it():
    """Another kind of key, an encrypted one, a public one in the place of a private one, or no key at all."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
    from exported_runs import private_pem, public_pem

    other = generate_private_key(SECP256R1())
    locked = private_pem(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"word"))
    for private in (private_pem(other), locked, keys()[1], b"", b"\xff\x00", SIGNED):
        with pytest.raises(g.ConfigurationError, match=r"^private_key: an Ed25519 private key as PEM \(PKCS") as error:
            g.sign_document(document(), private)
        assert len(str(error.value)) < 200
    for public in (public_pem(other.public_key()), keys()[0], b"", b"\xff\x00"):
        with pytest.raises(g.ConfigurationError, match=r"^public_key: an Ed25519 public key as PEM") as error:
            g.check_document(SIGNED, RAG, public_key=public)
        assert "PRIVATE" not in str(error.value)


# What is none is refused


@each_row(
    ("given", "message"),
    (b"", "document: JSON is required"),
    (b"\xff\xfe", "document: UTF-8 text is required; byte 0 is none"),
    (b"[1]", "document: a JSON object is required; given: a list"),
    (b'{"a": 1, "a": 1}', "the key 'a' stands twice in one object"),
    (b'{"a": 1' + b"0" * 5000 + b"}", "is more than 64 bits hold"),
    (b'{"a": 1e999}', "is more than a double holds"),
    (b'{"a": NaN}', "NaN is no JSON"),
    (b'{"a": "\\ud800"}', "texts without lone surrogates"),
    (b'{"a": ' + b"[" * 100_000, "document: "),
    (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", "levels of nesting are allowed; given: more"),
    (b'{"format": 3}', "document: format 1 of guardgraph 0.16 or later is required; given: format 3"),
    (b'{"format": 1}', "document.chain: Field required"),
)
def test_what_is_no_document_is_refused_in_one_line(given, message):
    with pytest.raises(g.InputError) as error:
        g.check_document(given, RAG)
    assert message in str(error.value)
    assert (len(str(error.value)) < 300, "\n" in str(error.value)) == (True, False)


def test_a_document_that_is_too_large_is_refused():
    with pytest.raises(g.InputError, match=f"document: at most {MOST_BYTES} bytes are allowed; given: more"):
        g.check_document(bytes(MOST_BYTES + 1), RAG)
