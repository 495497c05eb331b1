"""Pages of runs in a real browser: nothing loads, nothing runs, everything can be read, on a desk and on a phone."""

from functools import cache
from itertools import product

import pytest
from reported_runs import HOSTILE, RUNS, result_of

from guardgraph import report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

WIDTHS = (1280, 390)
"""CSS pixels of a window on a desk, and of a phone."""
PHONE = {"width": 375, "height": 667}
"""The smallest window of a phone that is common."""
SCHEMES = ("light", "dark")
READABLE = 4.5
"""Contrast of text to its ground: https://www.w3.org/TR/WCAG22/#contrast-minimum, level AA."""

UNFOLD_ALL = "document.querySelectorAll('details').forEach(item => item.open = true)"
FOLD_ALL = UNFOLD_ALL.replace("true", "false")
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT = """
[...document.querySelectorAll('body *')]
  .filter(item => !item.closest('.whole, svg'))
  .filter(item => item.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(item => item.outerHTML.slice(0, 99))
"""
FAINT = """
least => {
  const parsed = colour => (colour.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], ground) => [r, g, b].map((part, at) => part * a + ground[at] * (1 - a));
  const light = rgb => rgb.map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const once = (work, known = new Map()) => item => {  // an ancestor of many texts is looked at for the first of them
    if (!known.has(item)) known.set(item, work(item));
    return known.get(item);
  };
  const faded = once(item => item ? Number(getComputedStyle(item).opacity) * faded(item.parentElement) : 1);
  const ground = once(item => item === null ? [255, 255, 255]
    : over(parsed(getComputedStyle(item).backgroundColor), ground(item.parentElement)));
  const drawn = text => {  // a text of a picture stands on the shape beside it, which stands on the paper
    const paper = over(parsed(getComputedStyle(text.closest('svg').querySelector('.paper')).fill), [255, 255, 255]);
    const shape = [...text.parentElement.children].find(item => ['rect', 'polygon'].includes(item.tagName));
    if (!shape) return paper;
    const fill = parsed(getComputedStyle(shape).fill);
    return over([...fill.slice(0, 3), (fill[3] ?? 1) * faded(shape)], paper);
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const item = walker.currentNode.parentElement;
    const hidden = !walker.currentNode.data.trim() || item.closest('style, title') || !item.getClientRects().length;
    if (hidden) continue;
    const inPicture = item.closest('svg') !== null;
    const below = inPicture ? drawn(item) : ground(item);
    const ink = parsed(getComputedStyle(item)[inPicture ? 'fill' : 'color']);
    const seen = contrast(over([...ink.slice(0, 3), (ink[3] ?? 1) * faded(item)], below), below);
    if (seen < least) faint.push([walker.currentNode.data.trim().slice(0, 40), item.className, seen]);
  }
  return faint;
}
"""


@cache
def _html(name):
    return report(result_of(name), asked=f"What is asked? {HOSTILE}").html


@pytest.fixture(scope="module")
def opening(browser, tmp_path_factory):
    """Return a function that saves the page of a run, opens the file, and collects what it asks for and says."""

    def _open(name, scripts=True):
        file = tmp_path_factory.mktemp("page") / "run.html"
        file.write_text(_html(name), encoding="utf-8")
        page = browser.new_context(java_script_enabled=scripts).new_page()
        page.heard = []
        for event in ("request", "console", "dialog", "pageerror", "popup", "download", "worker"):
            page.on(event, lambda what, event=event: page.heard.append((event, getattr(what, "url", str(what)))))
        page.goto(file.as_uri())
        return page

    return _open


@pytest.fixture(scope="module", params=RUNS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def quiet(name, opening):
    page = opening(name, scripts=False)
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def lively(name, opening):
    page = opening(name)
    yield page
    page.context.close()


def test_nothing_loads_and_nothing_runs(quiet, lively):
    """Only the file itself is read; no script of a run is executed, even where scripts are allowed."""
    for page in (quiet, lively):
        page.wait_for_load_state("networkidle")
        assert page.heard == [("request", page.url)]
        assert page.title() != "x"
        assert page.locator("script, iframe, img, object, embed, link, base, form, input, video, audio").count() == 0
        assert page.evaluate("document.getAnimations().length + document.styleSheets.length") > 0
        known = ["http:", "https:", "file:"]
        assert page.eval_on_selector_all("a", "(links, known) => links.every(a => known.includes(a.protocol))", known)


def test_everything_can_be_read(quiet):
    """On a desk and a phone, in light and dark, folded or not, all is in the window and stands out from its ground."""
    for width, scheme in product(WIDTHS, SCHEMES):
        quiet.set_viewport_size({"width": width, "height": 800})
        quiet.emulate_media(color_scheme=scheme)
        for folding in (FOLD_ALL, UNFOLD_ALL):
            quiet.evaluate(folding)
            assert quiet.evaluate(SIDEWAYS) == 0, (width, scheme, folding)
        assert quiet.evaluate(CUT) == [], width
        assert quiet.evaluate(FAINT, READABLE) == [], (width, scheme)


@pytest.mark.parametrize("stopped", ["rag stopped", "rag refused", "research stopped", "critique stopped"])
def test_a_phone_shows_at_once_that_a_run_was_stopped_and_why(stopped, opening):
    """On a phone the first screen has the stop chip, reason and guard; the graph fits in, with its own stop chip."""
    page = opening(stopped, scripts=False)
    page.set_viewport_size(PHONE)
    for part in (".badge.stop", "h1 bdi", ".why > p"):
        box = page.locator(part).first.bounding_box()
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= PHONE["width"], part
        assert box["y"] + box["height"] <= PHONE["height"], part
    assert page.evaluate(SIDEWAYS) == 0
    scrolled = "[...document.querySelectorAll('body *')].filter(item => item.scrollWidth > item.clientWidth + 1"
    scrolled += " && ['auto', 'scroll'].includes(getComputedStyle(item).overflowX)).map(item => item.outerHTML)"
    assert page.evaluate(scrolled) == []
    for picture in page.locator("figure svg").all():
        box = picture.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= PHONE["width"]
    if page.locator(".whole").count():
        chip = page.locator(".whole .chip.taken .shape").bounding_box()
        assert 0 <= chip["x"] <= chip["x"] + chip["width"] <= PHONE["width"]


def test_folded_texts_open_without_scripts_and_are_unfolded_in_print(opening):
    page = opening("rag", scripts=False)
    record = page.locator("pre.json").last
    assert not record.is_visible()
    page.locator("summary").last.click()
    assert record.is_visible()
    page.locator("summary").last.click()
    page.emulate_media(media="print", color_scheme="dark")
    assert record.is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(31, 35, 40)"
