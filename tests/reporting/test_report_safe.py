"""Pages of runs are safe to show: nothing is lost, and what was written stays text."""

import base64
import hashlib
import json
import re
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from reported_runs import ADDRESS, HOSTILE, RUNS, page, record, result_of, said, shown, texts_in, tree, with_class
from runs import RECORD
from tables import each_row

from guardgraph import report
from guardgraph.reporting.values import render_link

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = """
html head meta title style body header main section article aside div p h1 h2 h3 span strong small footer
dl dt dd ul ol li table thead tbody tfoot tr th td details summary pre code bdi wbr a sup blockquote ins del mark figure
svg rect
"""
DRAWN = "svg g style title text rect polygon path"
ATTRIBUTES = """
lang charset http-equiv content name class id href rel target dir scope colspan tabindex role
aria-label aria-hidden data-of viewBox preserveAspectRatio x y width height rx d points transform
"""
LAID_OUT = ("diff_excerpt", "url", "title", "reason", "claim", "quote", "text", "denied_sources")
LAID_OUT += ("answer_spans", "spans_by", "document_span", "passage_span", "link")
"""Keys that the layout of a page stands for."""


@cache
def page_of(name):
    return page(result_of(name))


@each_row("name", *RUNS)
def test_a_page_has_known_elements_only_and_links_to_the_web_alone(name):
    """Whatever a run says, no element, attribute or link comes of it but those of the page itself."""
    root = page_of(name)
    known = {*ELEMENTS.split(), *(f"{SVG}{element}" for element in DRAWN.split())}
    assert {item.tag for item in root.iter()} <= known
    assert {key for item in root.iter() for key in item.attrib} <= {*ATTRIBUTES.split()}
    links = list(root.iter("a"))
    assert all(re.match(r"https?://|#stop$|#source-\d+$", item.get("href")) for item in links)
    assert all(item.get("rel") == "noopener noreferrer nofollow" for item in links if item.get("target"))


@each_row("name", *RUNS)
def test_nothing_of_a_result_is_lost(name):
    """The record at the end is the result again, and what came of a run, or stopped it, stands above it too."""
    result, root = result_of(name), page_of(name)
    assert json.loads(record(root)) == result
    [folded] = with_class(root, "json")[-1:]
    words = shown(said(root.find("body")).replace(said(folded), ""))
    places = {item.get("href") for item in root.iter("a")}
    for text in texts_in({key: item for key, item in result.items() if key not in RECORD and item != ""}):
        assert shown(text) in words or text in LAID_OUT or text in result or text in places
    for entry in result.get("timeline", []):
        assert all(shown(text) in words for text in texts_in([entry.get("proposal"), entry.get("failure")]))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
    max_leaves=12,
)
KEYS = "answer citations citation_details passages audit aggregate trace history phase outcome details denied_sources"
keys = st.sampled_from(KEYS.split())
told = st.sampled_from(["kind", "verdict", "proposal", "steps", "elapsed_ms", "to"])


@given(
    st.lists(st.text(), min_size=1, max_size=4),
    st.text(),
    st.dictionaries(keys | st.text(), json_values),
    st.lists(st.dictionaries(told, json_values)),
)
@settings(max_examples=60)
def test_any_result_gives_a_page(path, reason, rest, timeline):
    """Whatever stands under the keys of a result, the page is well-formed, can be saved, and has the whole result."""
    entries = [{**entry, "node": path[0]} for entry in timeline]
    result = {**rest, "path": path, "stop_reason": reason, "timeline": entries}
    made = report(result)
    made.html.encode()
    assert json.dumps(json.loads(record(tree(made.html)))) == json.dumps(result)


def test_what_hides_is_shown_as_its_escape():
    """Control characters, changes of direction and halves of letters stand as escapes; joiners of scripts stay."""
    root = page({"path": ["x"], "stop_reason": "success", "answer": f"{HOSTILE}\u0915\u094d\u200d\u0937\r\nline"})
    [answer] = with_class(root, "answer")
    assert [said(item) for item in with_class(answer, "odd")] == [
        *("\\u202e", "\\u202c", "\\u200f", "\\x00\\x1b", "\\ufeff\\u2028\\ud800")
    ]
    assert said(answer).endswith("\u0915\u094d\u200d\u0937\nline")
    assert answer.get("dir") == "auto"
    for letter in "\u034f\u115f\u3164\uffa0\U000e0120":  # fillers and marks, which are drawn as nothing
        shown = said(page({"path": [f"x{letter}"], "stop_reason": "success", "answer": f"a{letter}b"}))
        assert f"a{ascii(letter)[1:-1]}b" in shown
        assert letter not in shown


@each_row("address", ADDRESS, "javascript:alert(1)", "https://", "data:text/html,x", "https://a\nb")
def test_only_addresses_of_the_web_are_links(address):
    assert "<a" not in render_link(address)
    assert render_link("HTTPS://a.example/?q=\"&x='").startswith('<a href="https://a.example/?q=%22&amp;x=%27"')


def test_a_strict_policy_stands_in_the_page():
    """Nothing may load or run, and no style but those of the page and its pictures."""
    root = page(result_of("rag"))
    policy = root.find("head/meta[@http-equiv]").get("content")
    styles = [item.text for item in root.iter() if item.tag in ("style", f"{SVG}style")]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in styles}
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert set(re.findall(r"sha256-([^']+)'", policy)) == hashes
    assert "unsafe" not in policy
