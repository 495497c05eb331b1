"""Links: whether every URL, host and mail address that a model wrote stands in what its text rests on.

A link counts by its identity, as a browser reads it. What would load, run or lay out something where a text was
expected is no link, but active markup.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import starmap
from typing import Final, NamedTuple

from guardgraph.grounding.links.finding import Link, find_links, list_licensed_links, make_mail, make_url
from guardgraph.grounding.links.hosts import is_documentation_host
from guardgraph.grounding.links.layout import Layout, list_layouts
from guardgraph.grounding.links.markup import find_active_markup, is_script_address, list_tag_targets
from guardgraph.grounding.links.spelling import decode_text, find_hidden_signs, list_readings, show_text
from guardgraph.plain.memory import remember_by_text
from guardgraph.plain.urls import normalise_link, parse_url_target

MOST_SHOWN: Final = 20
LONGEST_SHOWN: Final = 80  # links, or pieces of markup, that a problem repeats, and characters of each

_SIGNS = re.compile(
    r"<[A-Za-z/!?]|&[#A-Za-z]|%[0-9A-Fa-f]{2}|\\|@|:[^\s\d]|//|\]\s?[(\[:]|\[\[|\.[^\s\d.]|\.\d+:\d"
    r"|[\[({<]\s?(?:dot|at)\b",
    re.IGNORECASE,
)
"""What a link or markup has at least one of, in plain letters; most sentences have none."""
_BLANKS = re.compile(r"[\s\x00-\x20]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_MAILTO: Final = "mailto:"
_BETWEEN_WORDS = re.compile(r"[\s()<>\"'`\[\]{},;|*]+")


class LinkSupport(NamedTuple):
    """The links that texts have."""

    urls: frozenset[str] = frozenset()
    mails: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    """Whatever stands between blanks and brackets: targets that are no URL stand there as they are."""
    known: frozenset[str] = frozenset()  # hosts all of whose pages are known

    def has_link(self, link: Link) -> bool:
        """Say whether a link is one of these, or names nobody."""
        return bool(link.host and is_documentation_host(link.host)) or self.names_link(link)

    def names_link(self, link: Link) -> bool:
        """Say whether a link is one of these."""
        if link.kind == "host":
            return bool({link.host, link.shown.casefold()} & self.hosts) or link.host in self.known
        if link.kind == "mail":
            return not self.mails.isdisjoint(link.identities)
        if link.kind == "target":
            return not self.words.isdisjoint(link.identities)
        return not self.urls.isdisjoint(link.identities) or any(map(self._is_known_page, link.identities))

    def _is_known_page(self, url: str) -> bool:
        target = parse_url_target(url)
        if target is None or target.protocol not in {"http:", "https:"}:
            return False
        return target.host in self.known and not (target.userinfo or target.port)


class LinkProblem(NamedTuple):
    """Why texts with links or markup are refused."""

    kind: str  # ``active_markup`` or ``unsupported_link``
    shown: list[str]  # the links, or pieces of markup, sorted, each cut to what may be repeated


def find_link_problem(
    texts: Iterable[str],
    cited: Iterable[str],
    *,
    known_links: Collection[str] = (),
    markup: Collection[str] = (),
    known_names: Collection[str] = (),
) -> LinkProblem | None:
    """Return the first active markup of texts, or link that neither cited texts nor known links and names support."""
    texts = list(texts)
    if hidden := [sign for text in texts for sign in find_hidden_signs(text)]:
        return LinkProblem("active_markup", _show_links(hidden))
    suspects = [text for text in texts if may_have_links(text)]
    if not suspects:
        return None
    sources = [*dict.fromkeys(cited)]
    laid_out = {text: list_layouts(text) for text in suspects}
    for layouts in laid_out.values():
        active = [part for part in find_active_markup(layouts, cited=sources) if part.kind not in markup]
        if active:
            return LinkProblem("active_markup", _show_links(part.shown for part in active))
    links, misleading = _read_text_links(laid_out, markup)
    known = read_known_links(known_links, known_names)
    missing = [link for link in links if not known.has_link(link)]
    for read in (read_link_support, read_laid_out_support):  # most links stand in a source as they are
        if missing:
            support = LinkSupport(*starmap(frozenset.union, zip(LinkSupport(), *map(read, sources), strict=True)))
            missing = [link for link in missing if not support.has_link(link)]
    if missing or misleading:
        return LinkProblem("unsupported_link", _show_links([*(link.shown for link in missing), *misleading]))
    return None


def _show_links(items: Iterable[str]) -> list[str]:
    return sorted({item[:LONGEST_SHOWN] for item in items})[:MOST_SHOWN]


def may_have_links(text: str) -> bool:
    """Say whether a text has any sign that links and markup are written with."""
    return _SIGNS.search(show_text(text)) is not None


def _read_text_links(laid_out: Mapping[str, Iterable[Layout]], markup: Collection[str]) -> tuple[list[Link], list[str]]:
    """Return the links of texts, each once, and the labels of links that name another one than they lead to."""
    links, misleading = list[Link](), list[str]()
    for text, layouts in laid_out.items():
        targets = [target for layout in layouts for target in layout.targets]
        if markup:
            targets += [target for layout in layouts for target in list_tag_targets(layout.prose)]
        for said in dict.fromkeys((text, *(layout.joined for layout in layouts))):
            links += (link for reading in list_readings(said) for link in find_links(reading))
        for target in targets:
            leads = _read_link_target(target.address)
            links += leads
            misleading += [] if target.is_image else _find_misleading_labels(target.label, leads)
    return [*dict.fromkeys(links)], misleading


def _read_link_target(address: str) -> list[Link]:
    """Return where a link leads, as a browser reads its address."""
    written = _BLANKS.sub("", decode_text(show_text(address)))
    path = written.replace("\\", "/")
    if not written or is_script_address(written):  # nowhere, or active markup
        return []
    if path.startswith("//"):
        return [make_url(f"https:{path}", address)]
    if written.casefold().startswith(_MAILTO):
        written = written[len(_MAILTO) :]
        mails = list[Link]()
        for piece in re.split(r"[,;?&=\s]+", written):
            name, sign, host = piece.rpartition("@")
            if sign and name and (link := make_mail(name, host)) is not None:
                mails.append(link)
        links = [link for link in find_links(written) if link.kind != "mail"]
        return [*mails, *links] or [Link("target", (address,), "", address)]
    if _SCHEME.match(written) and (parse_url_target(path) is not None or "//" in path):
        return [make_url(path, address)]
    return [Link("target", tuple(dict.fromkeys((address, written))), "", address)]


def _find_misleading_labels(label: str, leads: Collection[Link]) -> list[str]:
    """Return what a link's text names and the link does not lead to."""
    urls = {identity for link in leads for identity in link.identities}
    hosts = {link.host for link in leads}
    return [
        link.shown
        for reading in list_readings(label)
        for link in find_links(reading)
        if (link.host not in hosts if link.kind == "host" else urls.isdisjoint(link.identities))
    ]


@remember_by_text(texts=256, chars=50_000)
def read_link_support(text: str) -> LinkSupport:
    """Return the links that a cited text has as it is written; whatever has a point in it may be written so again."""
    words = {word.rstrip(".,:!?") for word in _BETWEEN_WORDS.split(text) if not word.isalnum()}
    return _make_link_support((link for reading in list_readings(text) for link in list_licensed_links(reading)), words)


@remember_by_text(texts=256, chars=50_000)
def read_laid_out_support(text: str) -> LinkSupport:
    """Return the links that a cited text has once it is read as Markdown."""
    links = list[Link]()
    for layout in list_layouts(text):
        links += (link for reading in list_readings(layout.joined) for link in list_licensed_links(reading))
        links += (link for target in layout.targets for link in _read_link_target(target.address))
    return _make_link_support(links)


def _make_link_support(links: Iterable[Link], words: Iterable[str] = ()) -> LinkSupport:
    named: dict[str, set[str]] = {"url": set(), "mail": set(), "host": set(), "target": {*words}}
    for link in links:
        named[link.kind].update(link.identities)
        named["host"].update((link.host, link.shown.casefold()))
    return LinkSupport(*(frozenset(named[kind]) for kind in ("url", "mail", "host", "target")))


def read_known_links(known_links: Iterable[str], known_names: Iterable[str] = ()) -> LinkSupport:
    """Return the links that a policy knows."""
    known = {link for name in known_links if (link := normalise_link(name)) is not None}
    urls = {link for link in known if "://" in link}
    mails = {link for link in known - urls if "@" in link}
    named = {name.strip().casefold() for name in known_names}
    known_hosts = known - urls - mails
    hosts = {target.host for url in urls if (target := parse_url_target(url)) is not None}
    hosts |= {mail.rpartition("@")[2] for mail in mails}
    return LinkSupport(
        urls=frozenset(urls), mails=frozenset(mails), hosts=frozenset(hosts | named), known=frozenset(known_hosts)
    )
