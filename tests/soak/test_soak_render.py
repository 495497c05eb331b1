"""All ways of hiding a text in HTML, and texts that only look hidden, in a real browser."""

from __future__ import annotations

import pytest
from hidden_ways import SEEN, hidden_ways, read_web_page
from rendered_pages import HIDDEN, SHOWN, renderer, seen_in

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

renderer = pytest.fixture(scope="module")(renderer)

STILL_OPEN = {
    "<p id=q>{x}</p><script>document.getElementById('q').remove()</script>",
    '<div style="display:grid;grid-template-rows:0fr;overflow:hidden">{x}</div>',
}
"""No script runs; and the row of a grid is as high as its text in Chromium, which then shows it."""


def test_what_is_hidden_is_found(renderer):
    """99 % of the ways to hide a text, as many as docs/web.md says; and what stands around it is read."""
    every = [way for ways in hidden_ways().values() for way in ways]
    texts = {way: seen_in(renderer, way.replace("{x}", HIDDEN)) for way in every}
    still_open = {way for way, text in texts.items() if "canary" in text}
    assert still_open == STILL_OPEN
    found = len(every) - len(still_open)
    print(f"{found} of {len(every)} ways are found in a browser")
    assert found >= 0.99 * len(every)
    assert f"So {found} of {len(every)} ways are found." in read_web_page()
    assert [way for way, text in texts.items() if SHOWN not in text and way not in WHOLE_PAGE] == []


WHOLE_PAGE = ("<style>*{color:#fff}</style><p><em id=z class=z data-z>{x}</em></p>",)
"""Ways that hide all of the page."""
HIDES_ALL = ("<style>body{opacity:0}</style><p>{x}</p>", "<style>body{display:none}</style><p>{x}</p>")
"""What only a script would show, and is read without a browser."""


def test_what_is_seen_is_read(renderer):
    """What looks like what is hidden is read, as without a browser, but for pages that only a script would show."""
    unseen = [way for way in SEEN if "canary" not in seen_in(renderer, way.replace("{x}", HIDDEN))]
    assert set(unseen) <= {*HIDES_ALL, *UNSEEN}


UNSEEN = (
    "<style>.hidden{display:block}</style><p class=hidden>{x}</p>",
    "<noscript><style>p{display:none}</style></noscript><p>{x}</p>",
    "<link rel=stylesheet href=a.css><p style='color:white'>{x}</p>",
    "<p style='background:url(a.png);color:white'>{x}</p>",
    "<p style='transform:translate(-50%,-50%)'>{x}</p>",
    "<p style='transform:rotate3d(0,0,1,90deg)'>{x}</p>",
)
"""Names of classes that hide hold in the browser too; rules for want of scripts apply; the sheet and the picture that
would make white letters seen were refused; and two texts are turned beyond the edge."""
