"""Policy files: what they say, and that nothing else is made of them."""

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_files import PLAIN, Desk, Effort
from tables import each_row

from guardgraph import ConfigurationError, PolicyFile, RagBudget, RagPolicy, create_rag_agent, load_policy


def _written(folder, text, name="rag.yaml"):
    path = Path(folder) / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _said(folder, text, name="rag.yaml", **classes):
    with pytest.raises(ConfigurationError) as raised:
        load_policy(_written(folder, text, name), **classes)
    return str(raised.value).replace(f"{folder}/", "")


def test_a_file_says_policy_and_budget_of_a_pattern(tmp_path):
    """They are the settings that Python would make; a region NO stays a text, and so does a date."""
    read = load_policy(_written(tmp_path, PLAIN))
    assert isinstance(read, PolicyFile)
    assert read.pattern == "rag"
    sources = ["billing_policy", "support_policy"]
    known = ["NO", "yes", "2024-01-01"]
    ours = RagPolicy(allowed_sources_policy=sources, allowed_sources_execution=sources, known_names=known)
    assert read.settings() == {"policy": ours, "budget": RagBudget(max_seconds=20)}
    assert create_rag_agent(**read.settings()).frame.policy.fingerprint == ours.fingerprint


def test_tenants_only_tighten(tmp_path):
    """An overlay is joined as a context is: what would loosen changes nothing; an empty one changes nothing at all."""
    read = load_policy(_written(tmp_path, PLAIN))
    theirs = read.settings("acme")
    assert theirs["policy"].allowed_sources_execution == ("billing_policy",)
    assert (theirs["budget"].max_seconds, theirs["budget"].max_top_k) == (20.0, 2)
    assert read.settings("globex") == read.settings()
    with pytest.raises(ConfigurationError, match="tenant: there are acme, globex; given: 'acne'; did you mean 'acme'"):
        read.settings("acne")
    (tmp_path / "bare.yaml").write_text("pattern: rag\n")
    with pytest.raises(ConfigurationError, match=r"^tenant: this file has no tenants; given: 'acme'$"):
        load_policy(tmp_path / "bare.yaml").settings("acme")


def test_a_pattern_of_ones_own_is_read_with_its_classes(tmp_path):
    """The file names the pattern, Python the classes of its settings."""
    text = "pattern: desk\npolicy: {severity: high}\ntenants: {acme: {policy: {severity: low, currency: EUR}}}\n"
    path = _written(tmp_path, text)
    read = load_policy(path, policy=Desk, budget=Effort)
    assert read.settings("acme") == {"policy": Desk(severity="high"), "budget": Effort()}
    with pytest.raises(ConfigurationError, match="policy, budget: give both classes, or neither"):
        load_policy(path, policy=Desk)
    with pytest.raises(ConfigurationError, match=r"rag\.yaml:1: pattern: triage is required; given: 'desk'"):
        load_policy(path, policy=Desk, budget=Effort, pattern="triage")


RAG, DESK = "pattern: rag\n", "pattern: desk\n"
KNOWN = "there are pattern, policy, budget, tenants"


@each_row(
    ("text", "said"),
    ("", "rag.yaml:1: pattern: a name is required, such as rag, research, self_critique, tools; given: None"),
    ("\npattern: rga", "rag.yaml:2: pattern: there are rag, research, self_critique, tools; given: 'rga'; did"),
    (RAG + "polcy: {}", f"rag.yaml:2: polcy: no such field; {KNOWN}; given: 'polcy'; did you mean 'policy'?"),
    (RAG + "policy: [a]", "rag.yaml:2: policy: a mapping is required; given: list"),
    (RAG + 'tenants: {"\\0": }', "a name is required, not a text with lone surrogates or U+0000"),
    (RAG + "tenants:\n a:\n  x: 1", "rag.yaml:4: tenants.a.x: no such field; there are policy, budget; given: 'x'"),
    (RAG + "budget:\n max_topk: 2", "rag.yaml:3: budget.max_topk: no such field; there are max_seconds, "),
    (RAG + "budget:\n\n max_top_k: '2'", "rag.yaml:4: budget.max_top_k: Input should be a valid integer; given:"),
    (RAG + "policy:\n known_names: NO", "rag.yaml:3: policy.known_names: a list of strings is required; given:"),
    (RAG + "policy: {known_names: [NO, '1', 010]}", "a list of strings is required, and item 3 is 10; given: list"),
    (RAG + "pattern: rag", "rag.yaml:2: 'pattern': given twice, first in line 1"),
    (RAG + "policy: !!python/object/apply:os.system [ls]", "rag.yaml:2: plain values without tags are required"),
    (b"#" * 1_000_001, "rag.yaml: at most 1000000 bytes are allowed"),
    (DESK + "tenants: {a: {policy: {currency: USD}}}", "yaml:2: tenants.a.policy.currency: the deployment fixed 'E"),
    (DESK + "tenants: {a: {policy: {hosts: [a.io/x]}}}", "yaml:2: tenants.a.policy.hosts: a host alone is required"),
    (DESK + "policy: {actions: [clse]}", "yaml:2: policy.actions: there are close, refund, reply; given: 'clse'; "),
    (DESK + "policy: {severity: urgent}", "yaml:2: policy.severity: one of 'low', 'medium', 'high' is required; "),
)
def test_what_is_wrong_in_yaml_is_said_with_its_line(text, said, tmp_path):
    """One line for a finding: file, line, field, what was given and what is allowed; what a factory refuses, too."""
    error = _said(tmp_path, text, **({"policy": Desk, "budget": Effort} if DESK in str(text) else {}))
    assert error.startswith("rag.yaml:")
    assert said in error
    assert "\n" not in error


def test_an_overlay_cannot_narrow_what_only_the_factory_knows(tmp_path):
    """A source list that the file leaves out holds the knowledge base's, so an overlay of it would allow nothing."""
    text = RAG + "tenants:\n  acme:\n    policy:\n      allowed_sources_execution: [billing_policy]\n"
    said = "rag.yaml:5: tenants.acme.policy.allowed_sources_execution: policy.allowed_sources_execution is required too"
    assert _said(tmp_path, text).startswith(said)
    assert load_policy(_written(tmp_path, RAG)).policy.model_fields_set == set()


def test_what_is_no_file_is_refused(tmp_path):
    """A pipe that nobody writes to, no file, no name at all."""
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, said in (("pipe.yaml", "a file is required"), ("none.yaml", "cannot be read: No such file or directory")):
        with pytest.raises(ConfigurationError, match=rf"{said}$"):
            load_policy(tmp_path / name)
    with pytest.raises(ConfigurationError, match=r"^path: a file's name is required; given: int$"):
        load_policy(3)


PIECES = st.sampled_from(
    [
        *"[]{}:,-?&*!|>'\"%@`#=. \t\n\r~\\\x00\ufeff\ud7ff\x85\u2028a1",
        *("pattern: rag\n", "policy:", "budget", "tenants", "max_seconds", "known_names", " 20", ".inf", "&a ", "*a"),
        *("<<: ", "---\n", "...\n", "%YAML 1.2\n", "!!str ", '"""', "'''", "\n  ", "\\x41", "0x1F", "1e999"),
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=30).map("".join).map(str.encode) | st.binary(max_size=60))
def test_any_bytes_are_settings_or_one_error(content):
    """Whatever stands in a file, it is a `PolicyFile` or a ConfigurationError whose every line names the file."""
    with TemporaryDirectory() as folder:
        path = _written(folder, content, "x.yaml")
        try:
            read = load_policy(path)
        except ConfigurationError as raised:
            lines = str(raised).splitlines()
        else:
            lines = [str(path)]
            assert set(read.settings()) == {"policy", "budget"}
        assert lines
        assert all(line.startswith(str(path)) for line in lines)


LINKED = """\
pattern: rag
policy:
  known_names: {file: lists/names.txt}
  known_links:
    file: links.txt
tenants:
  acme:
    policy: {known_names: {file: lists/few.txt}}
"""


NAMES = "# ours\nZephyr Cloud\n\n  Nimbus  \nC#\n"


def _write_lists(folder, **texts):
    lists = {"names": NAMES, "few": "Nimbus\nOther\n", "links": "zephyr.dev\n"}
    (folder / "lists").mkdir(exist_ok=True)
    for name, text in {**lists, **texts}.items():
        where = folder / "links.txt" if name == "links" else folder / "lists" / f"{name}.txt"
        where.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(("bom", "end"), [(b"", "\n"), (b"\xef\xbb\xbf", "\r\n")])
def test_names_may_stand_in_a_file_of_their_own(bom, end, tmp_path, monkeypatch):
    """A line each, relative to the policy's file wherever the process runs; blank lines and comments are none."""
    _write_lists(tmp_path, names=bom + NAMES.replace("\n", end).encode())
    (tmp_path / "rag.yaml").write_text(LINKED)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file = load_policy("../rag.yaml")
    assert file.policy.known_names == ("Zephyr Cloud", "Nimbus", "C#")
    assert file.policy.known_links == ("zephyr.dev",)
    assert file.settings("acme")["policy"].known_names == ("Nimbus",)
    listed = RagPolicy(known_names=["Zephyr Cloud", "Nimbus", "C#"], known_links=["zephyr.dev"])
    assert file.policy.fingerprint == listed.fingerprint


FILED = "known_names: {file: lists/names.txt}"


@each_row(
    ("texts", "setting", "said"),
    ({}, "known_names: {file: gone.txt}", "names.file: gone.txt: cannot be read"),
    ({}, "known_names: {file: 3}", "names.file: the path of a file of names is required"),
    ({"names": b"Zephyr\nK\xfcche\n"}, FILED, "names.file: lists/names.txt:2: UTF-8 text is required; given: "),
    ({"names": "Zephyr\nNul\0\n"}, FILED, "names.file: lists/names.txt:2: a text that can be stored is required"),
    ({"links": "zephyr.dev\nno link at all\n"}, "known_links: {file: links.txt}", "links.file: links.txt:2: "),
)
def test_what_is_wrong_in_a_file_of_names_is_said_with_its_line(texts, setting, said, tmp_path):
    """The error names the line of the policy that names the file, and the file with the line of the name."""
    _write_lists(tmp_path, **texts)
    (tmp_path / "rag.yaml").write_text(f"pattern: rag\npolicy:\n  {setting}\n")
    with pytest.raises(ConfigurationError, match=rf"rag\.yaml:3: policy\.known_{re.escape(said)}"):
        load_policy(tmp_path / "rag.yaml")
