"""A page as the tree that a browser makes of it, and what of it a reader sees, from the first word to the last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from guardgraph.formats.css import GUESSED, OWN, Cascade, Rule, does_media_query_apply, parse_css_rules
from guardgraph.formats.text import RAISED, put_on_one_line
from guardgraph.formats.visibility import (
    LEAST_PIXELS,
    Gap,
    LetterStyle,
    Shown,
    does_count,
    is_hidden_from_listeners,
    read_visibility,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_DRAWN: Final = frozenset(
    {
        "applet", "audio", "button", "canvas", "del", "embed", "iframe", "img", "input", "math", "meter", "object",
        "progress", "s", "select", "strike", "svg", "textarea", "video",
    }
)  # fmt: skip
"""Elements that a reader sees and that are left out: words on both sides of one are two words.

Formulas are among them, since 10 to the power of 9 would be 109.
"""
_UNSEEN: Final = _DRAWN | {
    "area", "base", "datalist", "frameset", "link", "map", "meta", "nav", "noembed", "noframes", "noscript", "param",
    "rp", "script", "style", "template", "title", "x-noembed",
}  # fmt: skip
"""Elements whose text is not shown, is no text, leads elsewhere, or is struck out."""
_STRUCK: Final = frozenset({"del", "s", "strike"})
_WORDLESS: Final = _UNSEEN - _STRUCK - {"button", "math", "nav", "select", "textarea"}
"""Elements in which no reader reads on. A sentence without the words of the others is none, unless they are struck."""
_APART: Final = ("button", "rt")  # elements that stand above or beside the words around them, not among them
_READ_AS: Final = {"dialog": "div", "listing": "pre", "plaintext": "pre", "xmp": "pre"}
"""What is read as another element; in the last three tags are text."""
_TEXT: Final = "-text"
_HEAD: Final = "h6"  # what a button that heads what follows is read as: a heading below all others of its section


class Tag(NamedTuple):
    """The beginning or the end of an element."""

    name: str  # in lower case
    attributes: Mapping[str, str]
    is_end: bool = False


class _Host(NamedTuple):
    """An element that shows a tree of its own, in whose slots stands what is in it."""

    node: LexborNode
    around: _Host | None
    slots: Mapping[str, int]
    """By name the slot that takes what has this name: the first of its tree, shown or not (DOM standard, 4.2.2.3)."""


class _Place(NamedTuple):
    """What those around an element make of it."""

    around: LetterStyle = LetterStyle()
    in_heading: bool = False
    host: _Host | None = None
    says_nothing: bool = False  # whether there is no letter in it


Piece: TypeAlias = Tag | Gap | str


def read_visible_pieces(root: LexborNode) -> Iterator[Piece]:
    """Yield the elements and texts that a reader sees, in the order of the page; every element ends."""
    # Where something is left out, a gap says whether the words around it go on, and so it does at the ends of a box
    # within a line. Letters that are not drawn or cannot be read are left out where they stand: an element in between
    # may show its own. Raised and lowered digits are characters of their own (`10⁹`). An element with a shadow tree
    # shows that, and of what is in it what has a slot there.
    styles = _Styles(root)
    waiting: list[tuple[LexborNode, _Place] | Tag | Gap] = [(root, _Place(LetterStyle(ground=styles.ground)))]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, Tag | Gap):
            yield piece
            continue
        node, place = piece
        tag = node.tag or ""
        if tag == _TEXT:
            yield _read_visible_text(node.text_content or "", place.around)
        elif tag[:1].isalpha():
            given = {name: value or "" for name, value in node.attributes.items()}
            if is_hidden_from_listeners(given) and (place.says_nothing or not _has_text(node, _WRITTEN)):
                del given["aria-hidden"]  # a sign or a picture, which a browser shows
                place = place._replace(says_nothing=True)
            shown = read_visibility(tag, given, styles.cascade.style_of(node), place.around)
            if _is_element_left_out(node, given, shown, place):
                if (gap := _find_gap(node, shown)) is not None:
                    yield gap
                continue
            gap = shown.gap or (Gap.BLANK if tag in _APART or shown.floats else None)
            if gap is not None and not (shown.floats and _is_drop_cap(node)):
                yield gap
                waiting.append(gap)
            if tag == "button" and not place.in_heading:
                tag = _HEAD
            inside, tag = _make_inner_place(tag, given, shown, place, styles), _READ_AS.get(tag, tag)
            yield Tag(tag, given)
            waiting.append(Tag(tag, {}, is_end=True))
            waiting.extend(_list_shown_children(node, inside, styles))


class _Styles:
    """What the style sheets of a page say."""

    def __init__(self, root: LexborNode) -> None:
        self.cascade = Cascade(does_count)
        relations = [(link.attributes.get("rel") or "").lower() for link in list_elements(root, "link")]
        self.others_say = any("stylesheet" in relation for relation in relations)
        """Whether another file may, which is not read."""
        self.read(root)

    @property
    def ground(self) -> tuple[float, float, float, float] | None:
        """The colour of the page."""
        return None if self.others_say else (255, 255, 255, 1)

    def read(self, root: LexborNode) -> None:
        """Read the sheets of a page or of a shadow tree."""
        known = set[str]()
        for node in root.css("[class], [id]"):
            given = node.attributes
            known.update("." + name for name in (given.get("class") or "").split())
            known.add("#" + (given.get("id") or ""))
        names = frozenset(known)
        self.cascade.add(root, _parse_class_name_rules(), GUESSED, names)
        for sheet in list_elements(root, "style"):
            given = sheet.attributes
            is_css = (given.get("type") or "text/css").strip().lower() == "text/css"
            if is_css and does_media_query_apply(given.get("media") or ""):
                text = read_node_text(sheet)
                self.others_say = self.others_say or "@import" in text.lower()
                self.cascade.add(root, list(parse_css_rules(text)), OWN, names)


@cache
def _parse_class_name_rules() -> list[Rule]:
    sheet = resources.files("guardgraph.formats") / "class_names.css"
    return list(parse_css_rules(sheet.read_text(encoding="utf-8")))


_HOSTS: Final = HEADINGS.keys() | {
    "article", "aside", "blockquote", "body", "div", "footer", "header", "main", "nav", "p", "section", "span",
}  # fmt: skip
"""Elements that may have a shadow tree (DOM standard, 4.8); those with a hyphen in their name may, too."""


def _list_shown_children(node: LexborNode, inside: _Place, styles: _Styles) -> Iterator[tuple[LexborNode, _Place]]:
    """Yield what stands in an element as it is shown, from the last to the first."""
    shown_in = node
    if (shadow := _find_shadow_tree(node)) is not None:
        styles.read(shadow)
        slots = {each.attributes.get("name") or "": each.mem_id for each in reversed(list_elements(shadow, "slot"))}
        inside, shown_in = inside._replace(host=_Host(node, inside.host, slots)), shadow
    elif node.tag == "slot" and inside.host is not None:
        name = node.attributes.get("name") or ""
        is_first = inside.host.slots.get(name) == node.mem_id
        taken = [child for child in _list_child_nodes(inside.host.node) if is_first and _find_slot(child) == name]
        if taken:
            place = inside._replace(host=inside.host.around)
            yield from ((child, place) for child in taken)
            return
    yield from ((child, inside) for child in _list_child_nodes(shown_in))


def _list_child_nodes(node: LexborNode) -> Iterator[LexborNode]:
    child = node.last_child
    while child is not None:
        yield child
        child = child.prev


def _find_slot(node: LexborNode) -> str | None:
    """Return the name of the slot that a node stands in; None for what stands in none, as blanks and templates."""
    if node.tag == _TEXT:
        return "" if (node.text_content or "").strip() else None
    return (node.attributes.get("slot") or "") if node.tag and node.tag[:1].isalpha() else None


def _find_shadow_tree(node: LexborNode) -> LexborNode | None:
    tag = node.tag or ""
    if tag not in _HOSTS and "-" not in tag:
        return None
    child = node.first_child
    while child is not None:
        if child.tag == "template" and (child.attributes.get("shadowrootmode") or "").lower() in ("open", "closed"):
            return child.template_fragments()[0]
        child = child.next
    return None


def _is_drop_cap(node: LexborNode) -> bool:
    text = read_node_text(node).strip()
    return len(text) == 1 and text.isalpha()


def _is_element_left_out(node: LexborNode, given: Mapping[str, str], shown: Shown, around: _Place) -> bool:
    tag = node.tag or ""
    if shown.hides and not (tag in ("html", "body") and "style" not in given and not _SAYS_HIDDEN & given.keys()):
        return True
    if "role" in given and given["role"].strip().lower() == "navigation":
        return True
    # The title of what folds out is a button in a heading, or one that stands before it.
    return tag in _UNSEEN and not (tag == "button" and (around.in_heading or _is_heading_button(node, given)))


_FOLDED: Final = frozenset({"article", "blockquote", "dd", "div", "dl", "ol", "p", "section", "table", "ul"})
"""Elements that a button may head."""
_FOLDS: Final = ("aria-expanded", "aria-controls")
"""What a button that folds something out says of itself (ARIA Authoring Practices Guide, accordion)."""
_CLIMBED: Final = 3  # elements around a button, in which nothing else stands, that may be its row


def _is_heading_button(button: LexborNode, given: Mapping[str, str]) -> bool:
    """Say whether a button is the title of what comes behind it, and no control."""
    if not _has_text(button, _WRITTEN) or given.get("type", "").strip().lower() in ("submit", "reset"):
        return False
    says_so = any(name in given for name in _FOLDS)
    row = button
    for _ in range(_CLIMBED if says_so else 0):
        parent = row.parent
        if _find_beside(row, "next") is not None or parent is None or parent.tag not in (*_FOLDED, "dt", "header"):
            break
        row = parent
    behind = _find_beside(row, "next")
    if behind is None or behind.tag not in _FOLDED or not _has_text(behind, _WRITTEN):
        return False
    return says_so or read_node_text(button).strip().endswith(_ASKING) or _is_one_of_many_buttons(button, behind)


_ASKING: Final = ("?", "\uff1f", "\u061f", "\u037e")  # question marks: Latin, wide, Arabic, Greek


def _is_one_of_many_buttons(button: LexborNode, behind: LexborNode) -> bool:
    """Say whether another button with a box behind it stands before a button, or behind the box that it has itself."""
    after = _find_beside(behind, "next")
    if after is not None and after.tag == "button":
        below = _find_beside(after, "next")
        return below is not None and below.tag == behind.tag
    before = _find_beside(button, "prev")
    above = None if before is None else _find_beside(before, "prev")
    return before is not None and before.tag == behind.tag and above is not None and above.tag == "button"


def _find_beside(node: LexborNode, way: Literal["next", "prev"]) -> LexborNode | None:
    """Return the element beside a node, None where there is none or a text stands between."""
    beside: LexborNode | None = getattr(node, way)
    while beside is not None and not (beside.tag or "")[:1].isalpha():
        if beside.tag == _TEXT and (beside.text_content or "").strip():
            return None
        beside = getattr(beside, way)
    return beside


def _find_gap(node: LexborNode, shown: Shown) -> Gap | None:
    """Return what stands where an element is left out: nothing, if a browser does not draw it or draws nothing."""
    tag = node.tag or ""
    room = Gap.BLANK if tag in _DRAWN else None
    if tag in _WORDLESS:
        return room
    gap = shown.gap if shown.hides else Gap.BLANK if tag in _STRUCK else Gap.LINE
    if gap in (Gap.WORDS, Gap.LINE) and not _has_text(node, _DRAWN_LETTER):
        return room
    return gap or room


_DRAWN_LETTER: Final = re.compile(r"\S")
_WRITTEN: Final = re.compile(r"[^\W_]")


def _has_text(node: LexborNode, letter: re.Pattern[str]) -> bool:
    """Say whether a letter of a kind stands in an element, but for elements whose text is not drawn as words."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.tag == "slot" or (each.tag == _TEXT and letter.search(each.text_content or "")):
            return True  # nobody looks what is put into a slot
        if each.tag not in _WORDLESS:
            waiting.extend(_list_child_nodes(each))
            if (shadow := _find_shadow_tree(each)) is not None:
                waiting.append(shadow)
    return False


_SAYS_HIDDEN: Final = {"hidden", "popover", "aria-hidden"}
"""Of a page that hides all of itself by a style sheet, a script shows it."""


def _make_inner_place(tag: str, given: Mapping[str, str], shown: Shown, place: _Place, styles: _Styles) -> _Place:
    """Return what an element makes of what is in it."""
    around = shown.inside
    if tag in RAISED:
        around = around._replace(raised=tag)
    if tag in ("html", "body") and around.opacity < 1 and "style" not in given:
        around = around._replace(opacity=1.0)
    is_unchanged = around.ground is not None and around.ground == place.around.ground
    if styles.others_say and is_unchanged and ("class" in given or "id" in given):
        around = around._replace(ground=None)
    in_heading = place.in_heading or tag in HEADINGS
    if around is place.around and in_heading == place.in_heading:
        return place
    return place._replace(around=around, in_heading=in_heading)


def _read_visible_text(text: str, around: LetterStyle) -> str | Gap:
    if not around.is_drawn:
        return Gap.BLANK  # the room that the letters would take
    if not around.is_readable:
        return Gap.BLANK if around.pixels >= LEAST_PIXELS else Gap.WORDS if text.strip() else ""
    return (text.translate(RAISED[around.raised]) if around.raised else text).replace("\u00a0", " ")


def list_elements(root: LexborNode, name: str) -> list[LexborNode]:
    """Return all elements of a name, in the order of the page."""
    return root.css(name)


def read_node_text(node: LexborNode) -> str:
    """Return all text in an element."""
    return node.text(deep=True)


def read_tree_title(root: LexborNode) -> str:
    """Return what a page's head says that it is called, "" where it does not."""
    titles = (put_on_one_line(read_node_text(title)) for title in list_elements(root, "head > title"))
    return next(filter(None, titles), "")


_WITHOUT_SCRIPTS = re.compile(r"(</?)(noscript|noembed)(?=[\s/>])", re.IGNORECASE)
_READ_WITH_SCRIPTS: Final = {"noscript": "noembed", "noembed": "x-noembed"}


def parse_page_tree(page: str) -> LexborNode:
    """Return the tree of a page as a browser that runs scripts has it."""
    # It is made by Lexbor, which follows the HTML standard. (libxml2, which trafilatura reads pages with, does not: it
    # ends `<div hidden/>` and `<h1 hidden><p>` early, and shows what they hide.) Lexbor reads `<noscript>` as a browser
    # without scripts does; `<noembed>` is read as any other browser reads both.
    from selectolax.lexbor import LexborHTMLParser

    page = _WITHOUT_SCRIPTS.sub(lambda tag: tag[1] + _READ_WITH_SCRIPTS[tag[2].lower()], _cut_deep_levels(page))
    root = LexborHTMLParser(page).root
    assert root is not None  # but of a fragment
    return root


_MOST_LEVELS: Final = 1_000
_FEW_TAGS: Final = 10_000
"""However they are nested, Lexbor takes a fifth of a second; its time grows with the square of the levels."""
_MARKUP = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<rest>[^>]*+>?)", re.IGNORECASE | re.DOTALL
)
_RAW_END: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}
"""In these elements nothing but their own end is a tag, unless they stand in one of another language."""
_OTHER_LANGUAGES: Final = ("math", "svg")
_NO_LEVEL: Final = VOID | {
    "a", "body", "button", "caption", "colgroup", "dd", "dt", "form", "head", "html", "li", "nobr", "optgroup",
    "option", "p", "rb", "rp", "rt", "rtc", "tbody", "td", "tfoot", "th", "thead", "tr", *HEADINGS,
}  # fmt: skip
"""Elements that end where the next of their kind begins: there may be many that nobody ended, side by side."""


def _cut_deep_levels(page: str) -> str:
    """Return a page with no more than a thousand levels, so that its tree is made in time linear in the page."""
    # What stands deeper is read as a part of the last level, up to the first tag there that could hide something, or
    # end something else: what comes behind that is left out, since nobody can say what of it a browser shows.
    if page.count("<") <= _FEW_TAGS:
        return page
    opened, deeper, count = list[str](), list[str](), Counter[str]()
    written, at = list[str](), 0
    for tag in _find_level_tags(page, count):
        name, is_end = tag["name"].lower(), tag["end"] != ""
        if deeper or not (is_end or len(opened) < _MOST_LEVELS):
            written.append(page[at : tag.start()])
            if (deeper.pop() != name) if is_end else not _is_plain_tag(name, tag["rest"]):
                return "".join(written)
            deeper += [] if is_end else [name]
            written.append(" ")  # what it parts is no one word, and no comment ends there
            at = tag.end()
        elif is_end:
            while (last := opened.pop()) != name:
                count[last] -= 1
        else:
            opened.append(name)
        count[name] += -1 if is_end else 1
    return "".join(written) + page[at:] if written else page


def _find_level_tags(page: str, count: Counter[str]) -> Iterator[re.Match[str]]:
    """Yield the tags that begin a level, and those that end one."""
    at = 0
    while tag := _MARKUP.search(page, at):
        at, name = tag.end(), (tag["name"] or "").lower()
        if name in _RAW_END and not tag["end"] and not any(count[language] for language in _OTHER_LANGUAGES):
            end = _RAW_END[name].search(page, at)
            at = end.end() if end else len(page)
        elif name and name not in _NO_LEVEL and (not tag["end"] or count[name]):
            yield tag


def _is_plain_tag(name: str, rest: str) -> bool:
    return name not in _UNSEEN and not rest.strip("/> \t\n\f\r") and not read_visibility(name, {}).hides
