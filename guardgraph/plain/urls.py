"""URLs and hosts, read as browsers read them (the WHATWG URL standard, https://url.spec.whatwg.org).

What is judged is what a reader will fetch, however the URL was spelled. A URL may open a page at a quote (URL Fragment
Text Directives, https://wicg.github.io/scroll-to-text-fragment/).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote_plus

from ada_url import URL

from guardgraph.plain.memory import remember_by_text

KNOWN_URLS = 1024
KNOWN_URL_CHARS = 500
"""How many URLs are kept with what they are, and how long each may be: every guard of a run judges them again."""

_CONTROLS = frozenset(map(chr, (*range(32), 127)))
_NO_PART_OF_A_HOST = frozenset("/\\?#@*")
"""Beginnings of a path, a query, a fragment, the end of a user, and the wildcard that no list of exact hosts has."""


def parse_url(url: str) -> URL | None:
    """Parse an absolute URL with a host; a text with lone surrogates is none (UnicodeEncodeError)."""
    try:
        parsed = URL(url)
    except ValueError:
        return None
    return parsed if parsed.hostname else None


@remember_by_text(texts=KNOWN_URLS, chars=KNOWN_URL_CHARS)
def normalise_host(name: str) -> str | None:
    """Return a host's name as URLs carry it, lower-case and punycode, without blanks around; None for no host."""
    if _CONTROLS & set(name := name.strip()):  # a parser passes over some, so another text would be the same host
        return None
    parsed = parse_url(f"https://{name}")
    return parsed.hostname if parsed is not None and parsed.href == f"https://{parsed.hostname}/" else None


def find_host_problem(name: str) -> str | None:
    """Say what keeps a text from naming a host and nothing else, None where it does; blanks around it do not count."""
    host, required = name.strip(), "a host alone is required, without scheme, user, port, path or wildcard"
    if _is_host_name(host):
        return None
    meant = parse_url(host if "://" in host else f"https://{host}")
    hint = f"; did you mean {meant.hostname!r:.80}?" if meant is not None and _is_host_name(meant.hostname) else ""
    return f"{required}; given: {name!r:.80}{hint}"


def normalise_link(name: str) -> str | None:
    """Return a host as URLs carry it, a URL or a mail address as its identity; None for what is none of them."""
    given = name.strip()
    if "://" in given:
        return None if _CONTROLS & set(given) else identify_url(given)
    user, sign, host = given.rpartition("@")
    if not sign:
        return normalise_host(given) if find_host_problem(given) is None else None
    known = normalise_host(host) if _is_host_name(host) else None
    return f"{user.lower()}@{known}" if known and user and not set(user) & {*" @/:?#<>", *_CONTROLS} else None


def find_link_problem(name: str) -> str | None:
    """Say what keeps a text from naming a host, a URL or a mail address, None where it does."""
    if normalise_link(name) is not None:
        return None
    return f"a host alone, a URL with its scheme or a mail address is required; given: {name!r:.80}"


def _is_host_name(name: str) -> bool:
    has_port = ":" in name.rpartition("]")[2]
    return not (has_port or _NO_PART_OF_A_HOST & set(name)) and normalise_host(name) is not None


TRACKING_PREFIXES = ("utm_", "mtm_")  # beginnings of the campaign parameters of Google Analytics and Matomo

TRACKING_PARAMETERS = frozenset(
    {
        *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "srsltid", "_ga", "_gl"),  # Google
        *("fbclid", "igsh", "igshid"),  # Meta
        *("msclkid", "twclid", "ttclid", "li_fat_id", "epik"),  # Microsoft, X, TikTok, LinkedIn, Pinterest
        *("yclid", "ysclid", "_openstat"),  # Yandex
        *("mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "vero_id", "__s"),  # newsletters
        *("oly_anon_id", "oly_enc_id", "wickedid", "rb_clickid"),
        *("ref", "ref_src", "ref_url"),
    }
)
"""Query parameters that say where a reader came from, not what is read.

The common ones, and ids of clicks and mailings; browsers and filter lists such as AdGuard's "URL Tracking
Protection" (https://github.com/AdguardTeam/AdguardFilters) strip them for the same reason.
"""


class Target(NamedTuple):
    """Where a URL leads."""

    identity: str  # the one spelling under which it counts as itself
    serialised: str  # as it was spelled, in the form of the standard, without a fragment: what is fetched
    protocol: str
    userinfo: str
    port: str  # of another port than the scheme's
    host: str


def identify_url(url: object) -> str | None:
    """Return the one spelling under which a URL counts as itself."""
    known = parse_url_target(url) if isinstance(url, str) else None
    return known.identity if known is not None else None


@remember_by_text(texts=KNOWN_URLS, chars=KNOWN_URL_CHARS)
def parse_url_target(url: str) -> Target | None:
    """Return where a URL leads, None for what is no absolute URL with a host."""
    parsed = parse_url(url)
    if parsed is None:
        return None
    password = f":{parsed.password}" if parsed.password else ""
    userinfo = f"{parsed.username}{password}@" if parsed.username or password else ""
    # The standard lowers the hosts of http and its kin only.
    host = parsed.host.lower()
    path = parsed.pathname.rstrip("/")
    kept = "&".join(item for item in parsed.search[1:].split("&") if not _is_tracking_parameter(item))
    known = f"{parsed.protocol}//{userinfo}{host}{path}{f'?{kept}' if kept else ''}"
    serialised = parsed.href.partition("#")[0]
    return Target(known, serialised, parsed.protocol, userinfo, parsed.port, parsed.hostname)


def _is_tracking_parameter(parameter: str) -> bool:
    name = unquote_plus(parameter.partition("=")[0]).lower()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


_DIRECTIVE: Final = ":~:"
_LONGEST: Final = 100
"""Characters of a quote that is looked for as a whole; of a longer one, where it begins and where it ends."""
_WORDS: Final = 5
_CHARS: Final = 60
"""So much of a long quote's beginning and end, where words are parted by blanks and where they are not."""
_BLOCK_END = re.compile(r"\n|\|")
"""Where a text leaves a paragraph, an item or a cell: what is looked for as a whole has to stand in one of them."""
_MARK = re.compile(r"^[ \t]*-[ \t]+")  # of an item: laid out by whoever read the page, and not in it


def make_text_fragment_url(url: str, quote: str) -> str:
    """Return a link that opens a page where a quote stands."""
    directive = _make_text_directive(quote)
    if not directive:
        return url
    page, _, fragment = url.partition("#")
    return f"{page}#{fragment.partition(_DIRECTIVE)[0]}{directive}"


@remember_by_text(texts=256, chars=1000)
def _make_text_directive(quote: str) -> str:
    """Return what leads to a quote, behind a page's own fragment; nothing where no word is quoted."""
    blocks = [" ".join(_MARK.sub("", block).split()) for block in _BLOCK_END.split(quote)]
    blocks = [block for block in blocks if block]
    if not blocks:
        return ""
    if len(blocks) == 1 and len(blocks[0]) <= _LONGEST:
        text = _encode_directive_text(blocks[0])
    else:
        first = " ".join(blocks[0].split()[:_WORDS])[:_CHARS].strip()
        last = " ".join(blocks[-1].split()[-_WORDS:])[-_CHARS:].strip()
        text = f"{_encode_directive_text(first)},{_encode_directive_text(last)}"
    return f"{_DIRECTIVE}text={text}"


def _encode_directive_text(text: str) -> str:
    """Encode all that means something in a directive: the comma, the ampersand, and the hyphen too."""
    return percent_encoded(text, safe="", errors="replace").replace("-", "%2D")


SERVER_URLS: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
"""How the URL of a server begins that keeps documents."""


def is_server_url(given: object) -> bool:
    """Say whether something is the URL of a server, and no path."""
    return isinstance(given, str) and given.startswith(SERVER_URLS)
