"""Links that open a page at a quote."""

from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.plain.urls import make_text_fragment_url

URL = "https://docs.example.com/a?b=c"


@each_row(
    ("quote", "directive"),
    ("within 15 minutes", "within%2015%20minutes"),
    ("well-known, A&B #1 100%", "well%2Dknown%2C%20A%26B%20%231%20100%25"),
    ("größer als 日本", "gr%C3%B6%C3%9Fer%20als%20%E6%97%A5%E6%9C%AC"),
    ("one two three four five six\n\nseven, eight", "one%20two%20three%20four%20five,seven%2C%20eight"),
    ("| P1 | 15 minutes", "P1,15%20minutes"),
    ("word " * 30, "word%20word%20word%20word%20word,word%20word%20word%20word%20word"),
    ("x" * 101, f"{'x' * 60},{'x' * 60}"),
)
def test_a_quote_is_a_text_directive(quote, directive):
    """Whole where it is short and in one paragraph, else its first and last words; encoded as the draft says."""
    assert make_text_fragment_url(URL, quote) == f"{URL}#:~:text={directive}"


def test_a_fragment_is_kept_and_without_words_there_is_none():
    for quote in ("", " \n ", "|"):
        assert make_text_fragment_url(URL, quote) == URL
    assert make_text_fragment_url(f"{URL}#top", "a b") == f"{URL}#top:~:text=a%20b"
    assert make_text_fragment_url(f"{URL}#top:~:text=x", "a b") == f"{URL}#top:~:text=a%20b"


@given(st.text(max_size=300))
def test_whatever_is_quoted_stays_within_its_directive(quote):
    """No letter of a quote is a mark of the directive, and all that is looked for stands in the quote."""
    link = make_text_fragment_url(URL, quote)
    if link == URL:
        return
    start, found, directive = link.partition("#:~:text=")
    assert (start, found) == (URL, "#:~:text=")
    assert not set(directive) & set("#&- -\"'<>")
    texts = directive.split(",")
    assert len(texts) in (1, 2)
    words = " ".join(quote.encode("utf-8", "replace").decode().split())
    assert all(unquote(text) in words for text in texts)
