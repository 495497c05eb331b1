"""Links and markup of what a model wrote: what stands in a source passes, and nothing else, however it is spelled."""

from urllib.parse import quote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from link_spellings import GIVEN, GOOD, HOST, SPELLINGS
from rag_agents import CANDIDATE, QUESTION, agent_with
from reported_runs import page
from tables import each_row

import guardgraph as g
from guardgraph.grounding.links.hosts import list_words
from guardgraph.grounding.links.spelling import list_readings
from guardgraph.grounding.marks import CitingSentence
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.links import check_links
from guardgraph.guards.rag import answer as answer_guards
from guardgraph.guards.research import answer as brief_guards
from guardgraph.guards.research import notes as note_guards
from guardgraph.guards.self_critique import critique as critique_guards
from guardgraph.guards.self_critique import revision as revision_guards
from guardgraph.guards.stop import Stop
from guardgraph.nodes.offline.research import take_offline_notes
from guardgraph.plain.errors import ConfigurationError

SOURCE = f"See https://{GOOD}, https://{GOOD}/a and https://{GOOD}/b, or write to a@{GOOD}. Deleting is at the top."
CHUNK = {**CANDIDATE, "title": "Guide", "section": "", "updated_at": ""}
NOTE = {"id": "n1", "quote": SOURCE, "url": f"https://{GOOD}", "title": "", "published_at": ""}


def refused(text, *cited, names=(), **policy):
    """Return the reason and the evidence for which a text is refused, None for one that passes."""
    try:
        check_links([text], "x", cited=cited, policy=g.RagPolicy(**policy), known_names=names)
    except Stop as stop:
        return stop.reason.removeprefix("x:"), stop.evidence["unsupported"]
    return None


def is_refused(check, *args, **given):
    try:
        check(*args, **given)
    except Stop as stop:
        return stop.reason.endswith((":unsupported_link", ":active_markup"))
    return False


def _is_of_links(checked):
    judged = judge_answer(checked, g.RagPolicy(on_unsupported="mark", on_doubt="ignore"))
    return judged.stops and judged.refusal.reason.endswith((":unsupported_link", ":active_markup"))


def _rag(text):
    chunks = [{**CHUNK, "text": SOURCE}]
    read = answer_guards.ReadAnswer(text, [CitingSentence(0, len(text), (CHUNK["doc_id"],))], [], chunks, True)
    checked = answer_guards.check_answer_sentences(read, task={"question": "Where?"}, workings=[], policy=g.RagPolicy())
    return _is_of_links(checked)


def _research_note(text):
    pages = {NOTE["url"]: {"title": "Guide", "published_at": "", "body": SOURCE}}
    given = {"question": "Where?", "pages": pages, "policy": g.ResearchPolicy()}
    notes = ({**NOTE, "claim": text}, {**NOTE, "claim": "It is so.", "title": text})
    return all(is_refused(note_guards.check_note_links, [note], **given) for note in notes)


def _research_answer(text):
    given = {"question": "Where?", "notes": [{**NOTE, "claim": "It is so."}], "policy": g.ResearchPolicy(), "pages": {}}
    return _is_of_links(brief_guards.check_answer_sentences({"answer": text, "citations": ["n1"]}, **given))


def _self_critique(text):
    held = {"context": {"updates": [SOURCE]}, "policy": g.SelfCritiquePolicy(check_facts=False)}
    budget = g.SelfCritiqueBudget(min_patch_similarity=0.0, max_length_increase_pct=1e9, max_answer_chars=9_000)
    edit = {"budget": budget, "hinted_length_increase_pct": None, "required_changes": [], "draft": "Up."}
    critique = {"required_changes": [], "risks": [], "reason": ""}
    said = ({"required_changes": [text]}, {"risks": [{"type": "scope_leak", "note": text}]}, {"reason": text})
    refusals = [is_refused(critique_guards.check_critique_links, {**critique, **item}, **held) for item in said]
    refusals.append(is_refused(revision_guards.parse_draft, text, max_chars=9_000, **held))
    edited = {**edit, **held, "avoid_absolute_guarantees": False}
    return all([*refusals, is_refused(revision_guards.check_revision_patch, text, **edited)])


POLICY = {"allowed_sources_policy": ("support_policy",), "allowed_sources_execution": ("support_policy",)}
KNOWN = g.RagPolicy(**POLICY, known_links=(HOST,), check_names=False)
PLACES = {"rag": _rag, "note": _research_note, "answer": _research_answer, "self_critique": _self_critique}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", SPELLINGS)
def test_no_spelling_of_a_foreign_link_passes(place, kind):
    """In answers, notes, drafts, revisions, changes, notes of risks and reasons; alone and inside a sentence."""
    texts = (text for spelling in SPELLINGS[kind] for text in (spelling, f"See {spelling} for more."))
    assert [text for text in texts if not PLACES[place](text)] == []


PASSES = [
    f"See https://{GOOD}/a.",
    f"**See** [the guide](https://{GOOD}/a), https://{GOOD}/b; or {GOOD}.",
    f"HTTPS://{GOOD.upper()}/a/ is the page.",
    f"The host is {GOOD}, the address a@{GOOD}.",
    f"[{GOOD}](https://{GOOD}/b) and <https://{GOOD}/b>, <a@{GOOD}>, [mail](mailto:a@{GOOD}?subject=Help).",
    f"[https://{GOOD}/a][1]\n\n[1]: https://{GOOD}/a",
    *GIVEN["passes"],
]


@each_row(
    ("text", "source"),
    (f"https://{HOST}", HOST),
    (f"https://{HOST}/a", f"https://{HOST}/b"),
    (f"https://{HOST}/a", f"mail@{HOST}"),
    (f"a@{HOST}", f"b@{HOST}"),
    (HOST, f"www.{HOST}"),
    ("https://a.io/x?q=1", "https://a.io/x?q=2"),
    ("https://a.io:8443/", "https://a.io/"),
    ("file://srv/a", "file:///srv/a"),
    ("[x](/b)", "[x](/a)"),
    ("[a.io](https://b.io)", "a.io and https://b.io"),
    ("ftp.zip:21", "ftp.zip"),
)
def test_a_link_stands_by_its_identity(text, source):
    """A host licenses no URL, an address no other one, and what a link shows is where it leads."""
    assert refused(text, source)[0] == "unsupported_link"
    assert refused(source, source) is None
    assert refused(text, source, text) is None or text.startswith("[")


@each_row(
    ("text", "source"),
    ("https://a.io/x", "https://A.io/x/#part"),
    ("https://a.io/x", "https://a.io/x?utm_source=mail"),
    ("https://a.io/x_y", "[x](https://a.io/x_y)"),
    ("https://a.io/x\\_y", "https://a.io/x_y"),
    ("https://例子.中国/a", "https://xn--fsqu00a.xn--fiqs8s/a"),
    ("a@i.io", "write to A@i.io."),
    ("[go](/docs/a.md)", "open /docs/a.md, then"),
    ("a.io是网站", "访问a.io吧"),
    ("the ASP.NET page", "Written in ASP.NET."),
    ("`<div id=a>`", "Write <div id=a> first."),
    *((text, SOURCE) for text in PASSES),
)
def test_the_same_link_written_otherwise_passes(text, source):
    """Identities are those of browsers; files, types, versions, documentation hosts and a source's words are none."""
    assert refused(text, source) is None


def test_a_policy_knows_links_and_names():
    """A host stands for its pages, a URL and an address for themselves and their host; a name may look like a host."""
    assert refused(f"https://{HOST}/a?b and {HOST}", known_links=(HOST,)) is None
    assert refused(f"https://{HOST}:81", known_links=(HOST,))
    assert refused(f"a@{HOST}", known_links=(HOST,))
    assert refused(f"https://{HOST}/a {HOST}", known_links=(f"https://{HOST}/a",)) is None
    assert refused(f"https://{HOST}/b", known_links=(f"https://{HOST}/a",))
    assert refused(f"A@{HOST}", known_links=(f"a@{HOST}",)) is None
    assert refused("It is Booking.com.", names=("Booking.com",)) is None
    assert refused("It is booking.com/x.", names=("Booking.com",))


@each_row(
    ("text", "markup"),
    ("![x](https://docs.acme.com/a)", "images"),
    ("<b>x</b>", "html"),
    ("<img src=https://docs.acme.com/a>", "images"),
    ("[x](data:text/plain,x)", "scripts"),
    ("<p onclick=go()>x</p>", "scripts html"),
)
def test_a_policy_allows_markup(text, markup):
    others = {"html", "images", "scripts"} - set(markup.split())
    assert refused(text, SOURCE, markup=tuple(others))[0] == "active_markup"
    assert refused(text, SOURCE)[0] == "active_markup"
    assert refused(text, SOURCE, markup=tuple(markup.split())) is None


@each_row("name", "https://", "a b.io", "*.a.io", "a@b@c.io", "x:y@a.io")
def test_what_names_no_link_is_refused(name):
    """A list of known links has hosts, URLs and addresses; the error names the field. A context only tightens them."""
    with pytest.raises(ConfigurationError, match=r"policy\.known_links: a host alone, a URL"):
        agent_with(CANDIDATE, policy=g.RagPolicy(**POLICY, known_links=(name,)))
    with pytest.raises(ConfigurationError, match=r"policy\.markup: there are html, images, scripts; given: 'css'"):
        agent_with(CANDIDATE, policy=g.RagPolicy(**POLICY, markup=("css",)))
    ours = g.RagPolicy(known_links=("A.io", "https://b.io/x/"), markup=("html",))
    both = ours.tightened_by(g.RagPolicy(known_links=("a.io", "https://b.io/x", "c.io"), markup=("images",)))
    assert (both.known_links, both.markup) == (("A.io", "https://b.io/x/"), ())


HOSTILE = [
    *("//a#//a", "a.", "a@", "https://", "://", "<a ", "[a](b", "![", "[", "`", "``a`", "\\", "&amp;", "%25"),
    *("a。", "漢a.", "\u202ea", "javascript:", "data:a/", "a(", "foo.So ", "_a_", "<!", "mailto:a@b,", "[x]: y\n"),
    *("\\u0041", "> ", "\n\n`a", "1.2.3.4:", "\u200b", "[.]", "<a href='x'>", "https://a)", "x.com#//", "a.com:1"),
    *("- ", "a b ", "*a "),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_are_judged(piece):
    """Behind twenty thousand letters a host is found all the same, and their readings are few and no longer."""
    text = (piece * 20_000)[:20_000]
    assert refused(f"{text} attacker.io", text[:1000]) is not None
    assert sum(map(len, list_readings(text))) <= 7 * len(text)


PIECES = [*"aeio.:/@#?&=%()[]<>!`*_\\-\n \"'", "http", "://", "](", "com", "&#46;", "%2e", "。", "\u200b"]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@example("<javascript:a/(>")
@settings(max_examples=400)
def test_any_text_is_supported_by_itself_or_is_active(text):
    """Whatever is written: nothing else is raised, and what a source has word for word is no unsupported link."""
    found = refused(text, text)
    assert found is None or found[0] == "active_markup" or "](" in text or "][" in text or "]:" in text


words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=9)


@given(words, words, st.sampled_from(["com", "io", "co.uk", "dev", "рф", "xn--p1ai"]), st.sampled_from(["", "/a"]))
def test_any_foreign_host_is_refused(one, other, suffix, path):
    """With or without a scheme, encoded or not, beside whatever else a source has."""
    host = f"{one}-{other}.{suffix}"
    coded = quote(f"https://{host}", safe="")
    for text in (host, f"https://{host}{path}", f"{one}@{host}", f"[{one}](//{host})", coded):
        assert refused(f"See {text} now.", SOURCE, other)[0] == "unsupported_link"
        assert refused(f"See {host} now.", f"See {text} now.") is None


FILE_ENDINGS = ["cc", "la", "md", "ml", "mov", "pl", "ps", "pub", "py", "rs", "sh", "so", "zip"]
"""Endings of files under which anybody may register a name, too."""
PLATFORMS = ["co.rs", "com.ac", "com.pl", "com.py", "edu.la", "netlify.app", "net.so", "vercel.app", "web.app"]
WAYS = [
    *("Sign in at {}.", "It is open on **{}**.", "Log in to {} now.", "Visit {}", "Our new website is `{}`.", "via {}"),
    *("{} is the new portal of Acme.", "Zum Anmelden: {}", "Besuchen Sie uns unter {}.", "Connectez-vous sur {} !"),
    *("Go to\n{}", "| Portal | {} |", "Please pay the rest through {}, not here.", "Visite {} hoy."),
]
names = st.builds("-".join, st.lists(words, min_size=1, max_size=3))


@given(names, st.sampled_from(PLATFORMS), st.sampled_from(FILE_ENDINGS), st.sampled_from(WAYS))
def test_a_name_that_somebody_goes_to_is_no_file(name, suffix, ending, way):
    """Words of going and signing in make a host of what could be a file, and so does a public suffix of two labels."""
    text = way.format(f"{name}.{ending}")
    assert refused(text, SOURCE) == ("unsupported_link", [f"{name}.{ending}"])
    assert refused(text, f"Files: {name}.{ending}") is None
    for text in (f"Read {name}.{suffix}.", f"{name}.{suffix}"):
        assert refused(text, SOURCE)[0] == "unsupported_link"
        assert refused(text, f"It is {name}.{suffix}") is None


@given(names, names, st.sampled_from(FILE_ENDINGS), st.text("äéøłжλ💩🔑☕", min_size=1, max_size=5))
def test_a_file_is_no_host(one, other, ending, odd):
    """Where nobody goes, and in a path; files have one point, or capitals, lower strokes and versions, and ASCII."""
    file = f"{one}.{ending}"
    assert refused("Edit link.md, then run `python link.md`.", SOURCE) is None
    assume(not {*one.split("-"), *other.split("-")} & (list_words("going") | list_words("leading")))
    for text in (f"Edit {file}, then run `python {file}`.", f"Log in. Then open {file}", f"at src/{file}"):
        assert refused(text, SOURCE) is None
    assert refused(f"It is {odd}.{ending}.", SOURCE)[0] == "unsupported_link"
    if ending not in {"md", "zip"}:
        assert refused(f"It is {one}.{other}.{ending}.", SOURCE)[0] == "unsupported_link"
        assert refused(f"It is {one}-2.3.{ending}, My.{one}.{ending}, a_b.{one}.{ending}.", SOURCE) is None


def test_the_guard_judges_links_after_citations_and_before_facts():
    """An answer with nothing right stops for its citations, then its links, then its numbers."""
    wrong = {"answer": "It takes 99 days, see attacker.io.", "citations": ["z"]}
    for answer, reason in (
        (wrong, "citations_out_of_context"),
        ({**wrong, "citations": ["a"]}, "unsupported_link"),
        ({**wrong, "citations": ["a"], "answer": "It takes 99 days."}, "unsupported_number"),
    ):
        assert agent_with(CANDIDATE, answer=answer).invoke(QUESTION)["stop_reason"] == f"invalid_answer:{reason}"


WRITTEN = f"https://{HOST}/a"


def test_a_page_makes_no_link_of_what_a_model_wrote():
    """Neither of an answer that is one address, nor of evidence, nor of a proposal; and it tells browsers so."""
    for status, policy in (("ok", KNOWN), ("stopped", g.RagPolicy(**POLICY))):
        answer = {"answer": WRITTEN, "citations": ["a"]}
        result = agent_with(CANDIDATE, answer=answer, policy=policy).invoke(QUESTION)
        assert result["status"] == status
        root = page(result)
        assert WRITTEN in "".join(root.itertext())
        assert [item.get("href") for item in root.iter("a") if not item.get("href").startswith("#")] == []
        assert "url=no" in {item.get("name"): item.get("content") for item in root.iter("meta")}["format-detection"]


def test_offline_proposers_write_no_markup():
    """A sentence of a source that their own guard would refuse is passed over; another one answers."""
    said = "Refunds take 10 days, see https://acme.io/refunds."
    text = f"Refunds <b>take</b> days. ![Refunds](/x.png) shows refunds. {said}"
    answer = g.create_rag_agent(retriever=lambda query: [{**CANDIDATE, "text": text}], policy=g.RagPolicy(**POLICY))
    result = answer.invoke({"question": "How long do refunds take?"})
    assert (result["outcome"], result["answer"]) == ("grounded_answer", said)
    pages = {f"https://{GOOD}": {"title": "", "published_at": "", "body": text}}
    request = {"goal": "Refunds", "question": "How long do refunds take?", "pages": pages, "max_notes": 9}
    assert [note["claim"] for note in take_offline_notes(request)] == [result["answer"]]
    context = {"incident": {"status": "open"}, "updates": ["Logins <b>fail</b>.", "Logins fail in 10 cities."]}
    drafted = g.create_self_critique_agent().invoke({"goal": "Draft an update.", "incident_context": context})
    assert drafted["status"] == "ok"
    assert "<b>" not in drafted["answer"]
