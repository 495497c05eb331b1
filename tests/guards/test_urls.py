"""URLs: one spelling each, and a verdict before anything is read."""

from time import thread_time

from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards.urls import cut_found_urls, dedupe_found_urls, explain_url_denial, make_host_scope
from guardgraph.plain.urls import identify_url, normalise_host

POLICY = ["domain:example.com", "münchen.example", "[2001:db8::1]", "regulator.example.org"]
EXECUTION = ["suffix:com", "xn--mnchen-3ya.example", "[2001:DB8::1]"]

PIECES = st.sampled_from(
    [
        *("http:", "https:", "HTTPS:", "ftp:", "foo:", "file:", "data:", "//", "/", "\\", "@", ":", "?", "#"),
        *("&", "=", "%", "%2e", "..", ".", "example.com", "EXAMPLE.com", "münchen", "xn--", "[::1]", "127.1"),
        *(":80", ":443", ":8080", "user", "utm_source", "utm%5Fid=1", "ref=x", "a=b", "C|", " ", "\t", "\0"),
        *("\ud800", "\u00ad", "\u2028", "ä", "１", "~"),
    ]
)
URLS = st.one_of(
    st.text(),
    st.lists(PIECES, max_size=12).map("".join),
    st.lists(PIECES, max_size=8).map(lambda pieces: "https://h.example/" + "".join(pieces)),
    st.lists(PIECES, max_size=8).map(lambda pieces: "Foo://H.example/" + "".join(pieces)),
)


@each_row(
    ("url", "expected"),
    ("HTTPS://Vendor.Example.COM/Path", "https://vendor.example.com/Path"),
    ("https://vendor.example.com//a//", "https://vendor.example.com//a"),
    ("https://vendor.example.com/a/./b/../#part", "https://vendor.example.com/a"),
    ("https://vendor.example.com:443/a", "https://vendor.example.com/a"),
    ("http://vendor.example.com:443/a", "http://vendor.example.com:443/a"),
    (" https://vendor.exa\nmple.com/a ", "https://vendor.example.com/a"),
    ("https://münchen.example/ä", "https://xn--mnchen-3ya.example/%C3%A4"),
    ("https://h/p?b=2&UTM_Source=x&a=1&utm%5Fid=2&gclid=3&b=%7e", "https://h/p?b=2&a=1&b=%7e"),
    ("http://0x7f.1/a", "http://127.0.0.1/a"),
    ("git://HOST:9418/a/", "git://host:9418/a"),
    ("http://user:secret@host:8080/", "http://user:secret@host:8080"),
)
def test_identity_is_one_spelling(url, expected):
    """A URL is itself however its host, port, path and tracking parameters are spelled."""
    assert identify_url(url) == expected


@each_row(
    "url",
    *("", "example.com/a", "/a", "//example.com/a", "?a=1", "not a url", "http://", "http://a b/"),
    *("data:text/plain,x", "javascript:alert(1)", "mailto:a@example.com", "file:///etc/passwd"),
    *("blob:https://example.com/1", "http://h:99999/", "http://a\0b/", "http://[::1/", "https://h/\ud800"),
    *(None, True, 7, 1.5, ["https://h/"], {"url": "https://h/"}, b"https://h/", 10**400),
)
def test_what_is_no_absolute_url_has_no_identity(url):
    """Whatever cannot be parsed, has no host or is no text at all is None, never an error."""
    assert identify_url(url) is None


@settings(max_examples=200)
@given(URLS)
def test_identity_is_idempotent_and_judged(text):
    """Any text has an identity that is its own identity, or none; and every identity gets a verdict."""
    known = identify_url(text)
    if known is None:
        assert dedupe_found_urls([text], max_urls=1)[0] == {}
    else:
        assert identify_url(known) == known
        assert "#" not in known
        assert explain_url_denial(known, policy=[], execution=[]) is not None


@given(st.lists(st.one_of(URLS, st.none(), st.integers())), st.integers(0, 4))
def test_dedupe_keeps_each_once(urls, max_urls):
    """Survivors are distinct, in order of appearance and at most max_urls; what was dropped is shown."""
    survivors, dropped = dedupe_found_urls(urls, max_urls=max_urls)
    known = [name for url in urls if (name := identify_url(url)) is not None]
    assert list(survivors) == list(dict.fromkeys(known))[:max_urls]
    assert all(identify_url(spelled) == name for name, spelled in survivors.items())
    assert len(dropped) == len(urls) - len(known)
    assert all(isinstance(text, str) and len(text) <= 200 for text in dropped)


@each_row(
    ("url", "expected"),
    ("https://vendor.example.com/a", None),
    ("https://münchen.example/", None),
    ("https://[2001:db8:0::1]/", None),
    ("ftp://user@vendor.example.com:99/", "source_denied_scheme"),
    ("https://vendor.example.com@evil.example:99/", "source_denied_userinfo"),
    ("https://vendor.example.com:8443/", "source_denied_port"),
    ("https://vendor.example.com.evil.example/", "source_denied_policy"),
    ("https://evil.example/vendor.example.com", "source_denied_policy"),
    ("https://regulator.example.org/", "source_denied_execution"),
)
def test_denial_gives_the_first_reason(url, expected):
    """Scheme, user, port, policy and execution are judged in this order, hosts exactly, also of a wider entry."""
    assert explain_url_denial(url, policy=POLICY, execution=EXECUTION) == expected
    if expected is None:
        assert explain_url_denial(url, policy=[], execution=EXECUTION) == "source_denied_policy"
        assert explain_url_denial(url, policy=POLICY, execution=EXECUTION, denied=POLICY) == "source_denied_listed"
        assert explain_url_denial(url, policy=POLICY, execution=[]) == "source_denied_execution"


@each_row(
    ("expected", "names"),
    ("vendor.example.com", ["Vendor.Example.COM", " vendor.example.com "]),
    ("xn--mnchen-3ya.example", ["münchen.example"]),
    (None, ["vendor.example.com:8443", "user@vendor.example.com", "vendor.example.com\x00"]),
    (None, ["vendor.example.com/path", "", "vendor\t.example.com"]),
)
def test_a_list_names_hosts(expected, names):
    """An entry of a domain list is a host in any spelling; anything more or less allows nothing."""
    assert {normalise_host(name) for name in names} == {expected}


@each_row(
    "url",
    *("http://h/" + "a/" * 50_000, "http://h/" + "../" * 33_000, "http:" + "/" * 100_000 + "h"),
    *("http://" + "ä" * 100_000, "http://xn--" + "a9" * 50_000, "http://" + "@" * 100_000 + "h"),
    *("http://h/?" + "&" * 100_000, "http://h/?" + "%" * 100_000, "http://h/?" + "%C3" * 33_000),
    *("http://h" + "/" * 100_000, "\t" * 100_000, "http://h/?" + "+" * 100_000),
)
def test_a_hostile_url_costs_little(url):
    begin = thread_time()
    explain_url_denial(identify_url(url) or url, policy=POLICY, execution=EXECUTION)
    assert thread_time() - begin < 5


def test_hosts_that_both_lists_allow_are_those_of_a_reader():
    """Without what is denied as a whole; what is denied within a wider entry is told beside it."""
    lists = {"policy": ["a.io", "domain:b.io", "c.io"], "execution": ["a.io", "domain:b.io"], "denied": ["a.io"]}
    assert make_host_scope(**lists) == {"hosts": ["domain:b.io"]}
    lists["denied"] = ["x.b.io"]
    assert make_host_scope(**lists) == {"hosts": ["a.io", "domain:b.io"], "denied": ["x.b.io"]}


def test_hits_are_kept_up_to_the_last_that_was_asked_for():
    assert cut_found_urls(["a", "b", "c"], max_hits=2) == ["a", "b"]
    assert cut_found_urls(["a", 5, "b", "c"], max_hits=2, is_counted=lambda url: isinstance(url, str)) == ["a", 5, "b"]
