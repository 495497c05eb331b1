"""What the Research agent's guards believe: pages, notes, quotes, the answer."""

import json
from pathlib import Path

from guard_cases import json_values, outcome, reference_cases, stop_of
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards.answers import judge_answer
from guardgraph.guards.research import notes as note_guards
from guardgraph.guards.research import pages as page_guards
from guardgraph.guards.research import sources as source_guards
from guardgraph.guards.research.answer import check_answer_sentences, describe_citation, parse_research_answer
from guardgraph.state.outcome import Outcome
from guardgraph.state.research import ResearchPolicy

DEMO = Path(__file__).parents[2] / "guardgraph" / "tools" / "data"
PAGES = json.loads((DEMO / "research_pages.json").read_text(encoding="utf-8"))
NOTES = json.loads((DEMO / "research_notes.json").read_text(encoding="utf-8"))
CHECKS = {"check_values": True, "check_quotes": True}
KEYS = ["id", "url", "claim", "quote", "title", "published_at", "body"]
ANY_JSON = json_values(KEYS, ["n1", *PAGES, "q" * 25, "P1 at 3.4%", "45 minutes in the US, 12k"])

FAMILIES = ("invalid_notes:", "invalid_answer:", "tool_invalid_output:")


def note(**changes):
    return {"id": "n1", **NOTES[0], **changes}


def verify(*notes, **changes):
    parsed = note_guards.parse_notes(list(notes), max_notes=6)
    return note_guards.verify_notes(parsed, **{"pages": PAGES, **CHECKS, **changes})


def refusal(answer, notes):
    given = {"question": "", "notes": notes, "pages": {}, "policy": ResearchPolicy(on_doubt="ignore")}
    stop = judge_answer(check_answer_sentences(answer, **given), given["policy"]).refusal
    return stop and stop.reason


def test_a_page_has_a_body():
    """Title and date may be missing; a blank body is nothing to read, and what has no body is no page."""
    page = {"title": "", "published_at": "", "body": " x "}
    assert page_guards.parse_source_page({"body": " x ", "title": None}) == page
    assert [page_guards.parse_source_page(page) for page in PAGES.values()] == list(PAGES.values())
    assert page_guards.parse_source_page({"body": "\n", "title": "T"}) is None
    for raw in (None, "page", [], {}, {"body": None}, {"title": "T", "body": 1}):
        assert stop_of(page_guards.parse_source_page, raw).reason == "tool_invalid_output:read_source"


@each_row(
    ("said", "why"),
    ({"hops": [{"url": "https://a.io/x", "denied": None}], "limits": {"max_page_bytes": 5}}, None),
    ({"hops": [{"url": "https://b.io/x", "denied": None}]}, "its hop https://b.io/x was allowed, and is source_d"),
    ({"hops": [{"url": "https://a.io/x", "denied": "source_denied_policy"}]}, "was source_denied_policy, and"),
    ({"hops": [{"url": "https://a.io/x", "denied": "https_to_http"}, 5]}, "a hop of it cannot be read: 5"),
    ({"limits": {"max_page_bytes": 10}}, "its max_page_bytes was 10, and is 9"),
    ({"reason": "max_seconds"}, "does not say how far it had come"),
)
def test_under_other_hosts_or_limits_a_page_might_have_been_another(said, why):
    """A page that was read is read with more room too; a failure under another limit might have been none."""
    given_ = {"hosts": ["a.io"], "limits": {"max_page_bytes": 9}}
    assert (why or "None") in str(page_guards.explain_page_difference(said, **given_))
    expected = "its max_page_bytes was 5, and is 9" if why is None else why
    if "reason" not in said:
        assert expected in str(page_guards.explain_page_difference(failed_page("too_large", said), **given_))
    assert "robots.txt denied it" in page_guards.explain_page_difference(failed_page("robots_denied", said), **given_)


def failed_page(reason, details):
    said = {"type": "ReadFailure", "expected": {"reason": reason, "details": details}}
    return {"reason": "tool_error", "details": said}


def test_a_failed_page_says_why_and_where_it_led():
    """Cut to what may be shown, without the limits that a replay needs; what is no failure of a page is read_failed."""
    hops = [{"url": f"https://a.io/{at}", "denied": None} for at in range(page_guards.SHOWN_DETAILS + 1)]
    details = {"status": 404, "why": "x" * 999, "hops": ["odd", *hops], "limits": {"max_page_bytes": 5}}
    shown = page_guards.describe_failed_page("u", Outcome("failure", failed_page("http_status", details), {}))
    assert (shown["url"], shown["reason"], shown["hops"]) == ("u", "http_status", hops[:-1])
    assert (shown["details"]["status"], len(shown["details"]["why"])) == (404, page_guards.SHOWN_CHARS)
    odd = page_guards.describe_failed_page("u", Outcome("failure", failed_page("odd", {}), {}))
    assert (odd["reason"], odd["details"]["type"]) == ("read_failed", "ReadFailure")
    away = Outcome("failure", {"reason": "tool_circuit_open", "details": {}}, {})
    assert page_guards.describe_failed_page("u", away) == {"url": "u", "reason": "circuit_open", "details": {}}
    late = Outcome("failure", {"reason": "max_seconds", "details": {}}, {})
    assert stop_of(page_guards.describe_failed_page, "u", late).reason == "max_seconds"


def test_what_a_reader_brought_is_sorted_into_pages_and_failures():
    """Of the pages that may be used; one without a text, or of an unsure one where the policy says so, has failed."""
    came = {"a": {"body": "x"}, "b": {"body": " "}, "c": {"body": "x", "extraction": "unsure"}, "d": {"body": "x"}}
    brought = json.dumps([[url, Outcome("value", page, {}).packed()] for url, page in came.items()])
    before = {"urls": [*came], "denied_sources": [], "failed_sources": []}
    for unsure, reasons in (("allow", ["empty_page"]), ("refuse", ["empty_page", "unsure_text"])):
        pages, read = source_guards.sort_read_pages(brought, before, usable=[*"abc"], unsure_text=unsure)
        assert [*pages] == (["a", "c"] if unsure == "allow" else ["a"])
        assert [item["reason"] for item in read["failed_sources"]] == reasons
    stop = stop_of(source_guards.sort_read_pages, brought, before, usable="")
    assert (stop.reason, [item["url"] for item in stop.evidence["failed_sources"]]) == ("no_reliable_sources", ["b"])


def test_a_page_is_held_against_the_lists_where_it_was_in_the_end_too():
    """What is denied is told once, with where it led; a run with nothing left stops and says so."""
    led, plain, low = ("https://a.io/led", "https://a.io/x", "https://a.io/low")
    given_ = {"policy": ["a.io"], "execution": ["a.io"], "led_to": {led: "https://b.io/", plain: plain}}
    given_["distrust"] = lambda url: "source_denied_trust" if url == low else None
    denied = [{"url": led, "reason": "source_denied_policy", "final_url": "https://b.io/"}]
    denied.append({"url": low, "reason": "source_denied_trust"})
    before = {"denied_sources": [], "failed_sources": []}
    usable, judged = source_guards.select_usable_sources([led, plain, low], before, **given_)
    assert (usable, judged["denied_sources"]) == ([plain], denied)
    stop = stop_of(source_guards.select_usable_sources, [led, low], judged, **given_)
    assert (stop.reason, stop.evidence["denied_sources"]) == ("no_reliable_sources", denied)


def test_what_a_reader_says_of_a_page_is_kept_where_it_can_be_read():
    said = {"final_url": "https://a.io", "sha256": "", "declared_date": "", "extraction": "unsure", "title": 5}
    said |= {"pages": [[2, 9], [1, 0], [0, 4], [3, -1], "x"], "linked_hosts": ["b.io", "a.io", "b.io"]}
    page = page_guards.parse_source_page({"body": "x", **said})
    kept = {"final_url": "https://a.io", "declared_date": "", "extraction": "unsure", "pages": [[1, 0], [2, 9]]}
    assert page == {"title": "", "published_at": "", "body": "x", **kept, "linked_hosts": ["a.io", "b.io"]}
    for linked in (["a.io"] * (page_guards.MOST_LINKED_HOSTS + 1), ["a.io", 5], "a.io"):
        assert "linked_hosts" not in page_guards.parse_source_page({"body": "x", "linked_hosts": linked})
    many = ["a.io"] * page_guards.MOST_LINKED_HOSTS
    assert page_guards.parse_source_page({"body": "x", "linked_hosts": many})["linked_hosts"] == ["a.io"]
    shown = page_guards.show_source_page("u", {**page, "title": "T" * 9, "published_at": "2026"}, max_chars=3)
    assert shown == {"url": "u", "title": "TTT", "published_at": "", "text": "x"}
    usable = {"policy": ["a.io"], "execution": ["a.io"]}
    assert [page_guards.is_usable_page(page, **usable, unsure_text=way) for way in ("allow", "refuse")] == [True, False]


def test_notes_of_the_reference():
    """Every reference list of notes is accepted or refused for its reason; a citation means one of them."""
    for given_, expected in reference_cases("research_notes"):
        found = outcome(note_guards.parse_notes, given_["notes"], max_notes=given_["max_notes"])
        names = [item["id"].strip() for item in given_["notes"]] if expected == {"value": None} else []
        if len({*names}) < len(names):  # which the reference let pass
            assert found == {"stop": "invalid_notes:id"}
            continue
        assert found == expected or (expected == {"value": None} and "stop" not in found)
    stop = stop_of(note_guards.parse_notes, [note(), note(id=" n1 ", claim="Another claim.")], max_notes=2)
    assert stop.reason == "invalid_notes:id"


@each_row(
    ("changes", "issues"),
    ({"quote": "Failed" + " " * 20 + "payment"}, ["quote_too_short", "number_not_in_quote"]),
    ({"claim": "—…"}, ["claim_missing"]),
    ({"url": "https://evil.example/"}, ["url_not_read"]),
    ({"url": "https://evil.example/", "claim": "ETA 46 minutes"}, ["url_not_read", "number_not_in_quote"]),
    ({"quote": NOTES[0]["quote"].lower(), "claim": "ok"}, ["quote_not_in_source"]),
    ({"claim": "The failed payment rate is 3.5%."}, ["number_not_in_quote"]),
    ({"quote": "x" * 20, "claim": "!"}, ["claim_missing", "quote_not_in_source"]),
)
def test_verification_names_every_issue(changes, issues):
    """All issues of a note are listed in the contract's order; the first is the stop's reason."""
    stop = stop_of(verify, note(**changes))
    assert stop.reason == f"verification_failed:{issues[0]}"
    verification = stop.evidence["verification"]
    assert (verification["ok"], verification["checked_notes"]) == (False, 1)
    assert [(issue["note"], issue["issue"]) for issue in verification["issues"]] == [("n1", name) for name in issues]


def test_checks_can_be_switched_off():
    """Quotes and numbers are each checked or not; that the page was read is always checked. The first issue decides."""
    invented, wrong = note(quote="x" * 30, claim="ok"), note(claim="ETA 46 minutes")
    first, second = stop_of(verify, wrong, {**invented, "id": "n2"}).evidence["verification"]["issues"]
    assert (first["note"], first["issue"], len(first["unsupported"])) == ("n1", "number_not_in_quote", 1)
    assert second == {"note": "n2", "issue": "quote_not_in_source"}
    assert verify(invented, check_quotes=False)["ok"]
    assert verify(wrong, check_values=False)["ok"]
    dated = note(quote="It was on 2 May, and it lasted.", claim="It was on 2 May 2026 in 46 minutes.")
    pages = {dated["url"]: {"title": "In 46 minutes", "published_at": "2026-05-02", "body": dated["quote"]}}
    [issue] = stop_of(verify, dated, pages=pages).evidence["verification"]["issues"]
    assert issue["unsupported"] == ["46 minutes"]
    stop = stop_of(verify, note(url="https://evil.example"), check_quotes=False, check_values=False)
    assert stop.reason == "verification_failed:url_not_read"


def test_a_title_with_a_link_is_one_of_its_page():
    """A model that writes a title of its own leads nowhere by it."""
    titled, rest = note(title="See evil.io"), {"question": "", "policy": ResearchPolicy()}
    page = {**PAGES[titled["url"]], "title": "See evil.io"}
    assert note_guards.check_note_links([titled], pages={titled["url"]: page}, **rest) is None
    assert stop_of(note_guards.check_note_links, [titled], pages=PAGES, **rest).reason.startswith("invalid_notes:")


def test_answers_of_the_reference():
    """Every reference answer is accepted or refused for its reason."""
    for given_, expected in reference_cases("research_synthesis"):
        found = outcome(parse_research_answer, **given_)
        assert found == expected or (expected == {"value": None} and "stop" not in found)


@given(ANY_JSON, ANY_JSON)
def test_a_guard_returns_or_stops(first, second):
    """Any JSON value is accepted or stopped with a reason of the contract; nothing else is raised."""
    notes = note_guards.parse_notes([note()], max_notes=1)
    page = outcome(page_guards.parse_source_page, first)
    assert page_guards.is_usable_page(first, policy=[], execution=[]) == (page.get("value") is not None)
    verdicts = [
        page,
        outcome(note_guards.number_notes, first),
        outcome(note_guards.parse_notes, first, max_notes=3),
        outcome(note_guards.parse_notes, note_guards.number_notes([first, second]), max_notes=3),
        outcome(parse_research_answer, first, second, notes=notes, max_answer_chars=850),
        outcome(parse_research_answer, "answer", ["n1", first], notes=notes, max_answer_chars=850),
    ]
    assert [name for verdict in verdicts if (name := verdict.get("stop")) and not name.startswith(FAMILIES)] == []


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([*PAGES, "https://h.example/"]), ANY_JSON)
def test_any_note_gets_a_verdict(claim, quote, url, title):
    """Any texts of a note are verified or stopped, and a claim supports itself as an answer."""
    raw = {"claim": claim.strip() or "P1", "quote": quote + "x" * 20, "url": url, "title": title}
    notes = note_guards.parse_notes(note_guards.number_notes([raw]), max_notes=1)
    verdict = outcome(note_guards.verify_notes, notes, pages=PAGES, **CHECKS)
    assert verdict.get("stop", "verification_failed:").startswith("verification_failed:")
    assert refusal({"answer": notes[0]["claim"], "citations": ["n1"]}, notes) is None


def test_a_note_is_placed_in_its_page():
    """By the URL where the page was in the end: title and day are the page's, and the quote has its place in it."""
    said = {"title": "T", "published_at": "2026-01-02", "body": "It is: one two three.", "final_url": "https://b.io/y"}
    given = [note(url="https://b.io/y", quote="one two", title="", published_at=""), note(url="https://c.io/")]
    guessed, other = note_guards.place_notes(given, pages={"https://a.io/x": {**said, "declared_date": ""}})
    placed = {"url": "https://b.io/y", "host": "b.io", "asked_url": "https://a.io/x", "title": "T"}
    dated = {"published_at": "", "guessed_date": "2026-01-02", "start": 7, "end": 14}
    assert (guessed, other) == ({**given[0], **placed, **dated}, given[1])
    assert note_guards.place_notes(given[:1], pages={"https://a.io/x": said})[0]["published_at"] == "2026-01-02"
    assert note_guards.show_note(guessed).keys() == given[0].keys()
    numbered = note_guards.number_notes([{"id": "n1"}, {}, {"id": "x"}], before=["n1"])
    assert [item["id"] for item in numbered] == ["n2", "n3", "x"]


def test_notes_that_do_not_verify_are_left_out_with_their_first_issue():
    """In their order and with their ids; the others stay."""
    notes = [note(), note(id="n2", claim="ETA 46 minutes"), note(id="n3", url="https://evil.io/", claim="ETA 46")]
    issues = stop_of(verify, *notes).evidence["verification"]
    kept, dropped = note_guards.drop_unverified_notes(note_guards.parse_notes(notes, max_notes=3), issues)
    assert [item["id"] for item in kept] == ["n1"]
    assert [(item["id"], item["reason"]) for item in dropped] == [
        ("n2", "verification_failed:number_not_in_quote"),
        ("n3", "verification_failed:url_not_read"),
    ]
    assert dropped[0]["unsupported"] == ["46 minutes"]
    assert "unsupported" not in dropped[1]


def test_sources_of_several_searches_are_merged():
    """Each URL once, as it was spelled first; only what the search of now has found is to be judged."""
    first = source_guards.merge_found_sources(None, {"u": "U", "v": "v"}, ["odd"])
    assert (first["allowed_urls"], first["dropped_urls"]) == (["u", "v"], ["odd"])
    both = source_guards.merge_found_sources({**first, "denied_sources": ["d"]}, {"v": "V", "w": "w"}, ["odd", "x"])
    assert (both["urls"], both["allowed_urls"], both["denied_sources"]) == (["u", "v", "w"], ["v", "w"], ["d"])
    assert (both["spellings"], both["dropped_urls"]) == ({"u": "U", "v": "v", "w": "w"}, ["odd", "x"])
    assert source_guards.map_final_page_urls({"u": {"final_url": "f"}, "v": {}}) == {"u": "f", "v": "v"}


def test_a_citation_leads_to_the_page_of_a_document_or_to_its_words():
    """Where the pages of a document are known, its number stands in the link; else the quote is looked for."""
    cited = {**note(url="https://a.io/x.pdf#top", quote="one two"), "start": 10, "end": 17}
    page = {"title": "T", "published_at": "", "body": "0123456789one two", "pages": [[1, 0], [2, 9], [3, 15]]}
    assert describe_citation(cited, page).items() >= {"page": 2, "link": "https://a.io/x.pdf#page=2"}.items()
    assert describe_citation(cited, None)["link"] == "https://a.io/x.pdf#top:~:text=one%20two"


def test_a_line_means_a_sentence_that_has_most_of_its_words():
    """Half of them are not most; of several such sentences, the nearest is noted."""
    pages = {"https://a.io": "The trial lasts 21 days and needs no card. The trial lasts a whole month in spring."}
    for line, count in (("The trial lasts a month.", 1), ("The trial starts tomorrow.", 0)):
        assert len(note_guards.read_text_notes(line, pages=pages, most=3)["notes"]) == count
