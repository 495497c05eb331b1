"""CSS, as far as it decides whether a text is seen: the rules of style sheets, and which of them win."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from tinycss2 import parse_blocks_contents, parse_component_value_list, parse_stylesheet  # type: ignore[import-untyped]

from guardgraph.formats.css_values import (
    PIXELS,
    RELATIVE,
    Words,
    parse_number,
    read_css_words,
    split_at_commas,
    write_css,
)
from guardgraph.formats.extraction import ExtractionFailed

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


class CssDeclaration(NamedTuple):
    """A property and its value."""

    name: str  # in lower case, but for those of variables; of a shorthand, of what it stands for
    words: Words
    is_important: bool


Layer: TypeAlias = tuple[float, ...]  # the numbers of a cascade layer and of those around it, and `inf`


class Rule(NamedTuple):
    """Declarations for the elements that one of some selectors matches."""

    selectors: Sequence[str]
    declarations: list[CssDeclaration]
    layer: Layer = (inf,)
    is_sure: bool = True  # whether it is known that a browser follows it


def parse_css_declarations(style: str) -> Iterator[CssDeclaration]:
    """Yield the declarations of a style."""
    for item in _parse_css_block(style):
        if item.type == "declaration":
            yield from _read_css_declaration(item)


def _parse_css_block(content: Any) -> Any:
    return parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)


_STANDS_FOR: Final = {
    "background": ("background-color", "background-image", "background-clip"), "font": ("font-size",),
    "mask-image": ("mask",), "mask-border": ("mask",), "mask-border-source": ("mask",), "mask-box-image": ("mask",),
    "text-decoration-line": ("text-decoration",),
}  # fmt: skip
"""The properties that decide what a shorthand, or another name, says of what is seen."""


def _read_css_declaration(item: Any) -> Iterator[CssDeclaration]:
    if item.name.startswith("--"):
        yield CssDeclaration(item.name, (write_css(item.value),), item.important)
        return
    words, name = read_css_words(item.value), item.lower_name
    if name not in ("-webkit-text-fill-color", "-webkit-text-security"):
        name = name.removeprefix("-webkit-")
    for meant in _STANDS_FOR.get(name, (name,)):
        yield CssDeclaration(meant, words, item.important)


class _Around(NamedTuple):
    """What stands around a rule."""

    selectors: Sequence[str] = ()  # of the rules that it stands in
    roots: Sequence[str] = ()  # of the elements in which it counts, as `@scope` says
    limits: Sequence[str] = ()  # of those in which it no longer does
    layer: Layer = ()
    is_sure: bool = True
    level: int = 0


class Layers:
    """The cascade layers of a page, in the order in which they are named first (CSS Cascade 5, section 6.4)."""

    def __init__(self) -> None:
        self._known: dict[tuple[Layer, str], Layer] = {}

    def enter(self, around: Layer, name: str) -> Layer:
        """Return the layer of a name, such as `a.b`, in another one; without a name, a new one."""
        for part in (name or f" {len(self._known)}").split("."):
            around = self._known.setdefault((around, part), (*around, float(len(self._known))))
        return around


def parse_css_rules(sheet: str, layers: Layers, *, media: str = "") -> Iterator[Rule]:
    """Yield the rules of a style sheet for an ordinary screen, in their order; those inside of rules, too."""
    applies = is_media_query_true(parse_component_value_list(media))
    if applies is not False:
        items = parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
        yield from _list_css_rules(items, _Around(is_sure=applies is True), layers)


_MOST_LEVELS: Final = 30  # of rules in each other


def _list_css_rules(items: Any, around: _Around, layers: Layers) -> Iterator[Rule]:
    """Yield the rules of a block that stands in a rule with some selectors, none where it stands in no rule."""
    if around.level > _MOST_LEVELS:
        raise ExtractionFailed("too_large", {"limit": "nested rules", "allowed": _MOST_LEVELS})
    declared = list[CssDeclaration]()
    for item in items:
        if item.type == "declaration":
            declared += _read_css_declaration(item)
            continue
        yield from _make_rule(declared, around)  # what stands behind an inner rule counts behind it
        declared = []
        if item.type == "qualified-rule":
            selectors = _expand_nested_selectors(_split_selectors(item.prelude), around)
            inside = around._replace(selectors=selectors, level=around.level + 1)
            yield from _list_css_rules(_parse_css_block(item.content), inside, layers)
        elif item.type == "at-rule":
            for_group = _enter_css_group(item, around, layers)
            if for_group is not None and item.content is not None:
                yield from _list_css_rules(_parse_css_block(item.content), for_group, layers)
    yield from _make_rule(declared, around)


def _make_rule(declared: list[CssDeclaration], around: _Around) -> Iterator[Rule]:
    selectors = around.selectors or around.roots
    if declared and selectors:
        yield Rule(selectors, declared, (*around.layer, inf), around.is_sure)


def _enter_css_group(group: Any, around: _Around, layers: Layers) -> _Around | None:
    """Return what stands around the rules of a group; None where no browser follows them."""
    around, applies = around._replace(level=around.level + 1), None
    match group.lower_at_keyword:
        case "layer":
            names = [name.strip() for name in write_css(group.prelude).split(",")]
            entered = [layers.enter(around.layer, name) for name in names]
            return around._replace(layer=entered[0])
        case "scope":
            return _enter_scope(group.prelude, around)
        case "media":
            applies = is_media_query_true(group.prelude)
        case "supports":
            applies = _is_condition_true(group.prelude, _is_css_supported)
        case "container":  # as wide as the screen, as far as anybody knows
            condition = [token for token in group.prelude if token.type != "ident" or token.lower_value in _JOINTS]
            applies = False if is_media_query_true(condition) is False else None
        case _:
            return None
    return None if applies is False else around._replace(is_sure=around.is_sure and applies is True)


def _enter_scope(prelude: Any, around: _Around) -> _Around:
    """Return what stands around the rules of `@scope (ROOTS) to (LIMITS)`."""
    said = [token for token in prelude if token.type not in ("whitespace", "comment")]
    blocks = [token for token in said if token.type == "() block"]
    has_roots = bool(said) and said[0].type == "() block"
    # Without roots it is what the sheet stands in: of which the page's root is one, as far as anybody knows.
    roots = _split_selectors(blocks[0].content) if has_roots else [":root"]
    limits = [part for block in blocks[has_roots:] for part in _split_selectors(block.content)]
    inside = around._replace(selectors=(), roots=(), limits=())
    roots = _expand_nested_selectors(roots, around if around.selectors or around.roots else inside)
    _check_length(sum(map(len, [*roots, *limits])))
    # Which of two scopes is nearer is not asked, so none outweighs.
    return inside._replace(roots=roots, limits=limits, is_sure=False)


_LONGEST: Final = 20_000  # letters of a selector with those around it written out


def _check_length(letters: int) -> None:
    if letters > _LONGEST:
        raise ExtractionFailed("too_large", {"limit": "nested selectors", "allowed": _LONGEST})


def _split_selectors(prelude: Any) -> list[str]:
    return [write_css(part).strip() for part in split_at_commas(prelude)]


_ROOT = re.compile(r":scope\b|&", re.IGNORECASE)
_PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-l)", re.IGNORECASE)


def _expand_nested_selectors(selectors: list[str], around: _Around) -> list[str]:
    """Write out what the selectors of a rule mean in the rule or the scope that it stands in."""
    if around.selectors:
        inside = [part if "&" in part else f"& {part}" for part in selectors]
        whole = ",".join(around.selectors)
        _check_length(sum(len(part) + part.count("&") * len(whole) for part in inside))
        return [part.replace("&", f":is({whole})") for part in inside]
    if not around.roots:
        return selectors
    whole = ",".join(around.roots)
    scoped = f":is({whole},:is({whole}) *)"
    if around.limits:
        limits = ",".join(f":is({whole}) {limit},:is({whole}) {limit} *" for limit in around.limits)
        scoped += f":not({limits})"
    _check_length(sum(len(part) + (1 + part.count("&") + part.count(":scope")) * len(scoped) for part in selectors))
    expanded = list[str]()
    for part in (_ROOT.sub(lambda _: f":is({whole})", selector) for selector in selectors):
        pseudo = _PSEUDO_ELEMENT.search(part)
        at = pseudo.start() if pseudo else len(part)
        expanded.append(f"{part[:at]}{scoped}{part[at:]}" if part else "")
    return expanded


_JOINTS: Final = ("not", "and", "or")
Judge: TypeAlias = Callable[[str], bool | None]


def _is_condition_true(tokens: Any, judge: Judge) -> bool | None:
    """Say whether a condition is true (CSS Conditional Rules 3); None where nobody knows."""
    known, is_negated, joins_or = list[bool | None](), False, False
    for token in tokens:
        if token.type == "ident" and token.lower_value in _JOINTS:
            is_negated = is_negated or token.lower_value == "not"
            joins_or = joins_or or token.lower_value == "or"
            continue
        if token.type == "() block":
            is_group = any(each.type == "() block" for each in token.content)
            text = write_css(token.content).replace("/**/", " ").strip()
            is_group = is_group or text.lower().startswith("not ")
            truth = _is_condition_true(token.content, judge) if is_group else judge(text.lower())
        elif token.type == "ident" and token.lower_value != "only":
            truth = token.lower_value in ("screen", "all")
        elif token.type == "function":
            truth = None
        else:
            continue
        known.append(not truth if is_negated and truth is not None else truth)
        is_negated = False
    if joins_or in known:  # one that decides
        return joins_or
    return None if None in known else not joins_or


def is_media_query_true(tokens: Any) -> bool | None:
    """Say whether a media query is true of an ordinary screen; None where nobody knows."""
    known = [_is_one_query_true(query) if query else True for query in split_at_commas(tokens)]
    return True if True in known else None if None in known else False


def _is_one_query_true(query: list[Any]) -> bool | None:
    words = [token for token in query if token.type != "whitespace"]
    # `not` before a type negates all that follows.
    is_negated = [token.type for token in words[:2]] == ["ident", "ident"] and words[0].lower_value == "not"
    truth = _is_condition_true(words[1:] if is_negated else words, _is_media_feature_true)
    return not truth if is_negated and truth is not None else truth


_SCREEN: Final[Mapping[str, float | str]] = {
    "width": 1280.0, "height": 800.0, "device-width": 1280.0, "device-height": 800.0, "aspect-ratio": 1.6,
    "device-aspect-ratio": 1.6, "resolution": 1.0, "device-pixel-ratio": 1.0, "color": 8.0, "color-index": 0.0,
    "monochrome": 0.0, "grid": 0.0, "inline-size": 1280.0, "block-size": 800.0, "transform-3d": 1.0,
    "orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine",
    "update": "fast", "scripting": "enabled", "inverted-colors": "none", "forced-colors": "none",
    "dynamic-range": "standard", "video-dynamic-range": "standard", "overflow-block": "scroll",
    "overflow-inline": "scroll", "display-mode": "browser", "color-gamut": "srgb", "prefers-color-scheme": "light",
}  # fmt: skip
"""What an ordinary screen is (Media Queries 5). Whoever prefers anything else than light prefers nothing."""
_UNITS: Final = {**PIXELS, **{unit: 16 * share for unit, share in RELATIVE.items()}, "dppx": 1.0, "x": 1.0,
                 "dpi": 1 / 96, "dpcm": 2.54 / 96}  # fmt: skip
_COMPARED = re.compile(r"([<>]=?|[=:])")


def _is_media_feature_true(feature: str) -> bool | None:
    first, *others = map(str.strip, _COMPARED.split(feature))
    pairs = [[first, *others[:2]], [others[1], *others[2:]]] if len(others) == 4 else [[first, *others]]
    known = [_compare_with_screen(pair) for pair in pairs]
    return False if False in known else None if None in known else True


def _compare_with_screen(said: list[str]) -> bool | None:
    if len(said) == 3 and said[1] != ":" and said[0] not in _SCREEN:  # `600px < width`
        said = [said[2], said[1].translate(str.maketrans("<>", "><")), said[0]]
    name = said[0].removeprefix("-webkit-")
    kind = name[:4] if name.startswith(("min-", "max-")) else ""
    name = name.removeprefix(kind)
    screen = _SCREEN.get(name, "no-preference" if name.startswith("prefers-") else None)
    if screen is None:
        return None
    if len(said) == 1:
        return screen not in (0.0, "none", "no-preference")
    if isinstance(screen, str):
        return said[2] == screen
    value = _measure_media_value(said[2])
    if value is None:
        return None
    sign = {"min-": ">=", "max-": "<="}.get(kind) or said[1].replace(":", "=")
    return (screen > value and ">" in sign) or (screen < value and "<" in sign) or (screen == value and "=" in sign)


def _measure_media_value(text: str) -> float | None:
    ratio = [parse_number(part.strip()) for part in text.split("/")]
    if len(ratio) == 2 and ratio[0] and ratio[1] and ratio[1][0]:
        return ratio[0][0] / ratio[1][0]
    words = read_css_words(parse_component_value_list(text))
    number = parse_number(words[0]) if len(words) == 1 else None
    return None if number is None or number[1] not in _UNITS else number[0] * _UNITS[number[1]]


def _is_css_supported(feature: str) -> bool | None:
    """Say whether every browser supports what a condition asks for; None where nobody knows."""
    return True if re.fullmatch(r"display\s*:\s*(?:grid|flex|block|inline-block|none)", feature) else None


_ALWAYS = re.compile(r":defined\b|:dir\(\s*ltr\s*\)|::?first-line\b", re.IGNORECASE)
"""What is true of every element, and how its first line looks."""
_OTHER = re.compile(
    r"::|:(?:hover|focus|active|target|visited|checked|before|after|first-l|placeholder|open|popover|modal|fullscreen)",
    re.IGNORECASE,
)
"""What is not true of an element until somebody does something, or of no element."""
_LISTED = re.compile(r"(?<=[(,])[^(),]+(?=[,)])")  # a selector in a list of another one
_BARE = re.compile(r"(^|[\s>+~(,])(?=:(?:is|where|matches)\()", re.IGNORECASE)
"""Where Lexbor needs a `*`: it finds nothing below `:is(body)`."""
_LANGUAGE = re.compile(r":lang\(\s*[\"']?([\w-]+)[\"']?\s*\)", re.IGNORECASE)


def _list_needed_names(selector: str) -> Iterator[str]:
    """Yield the classes and ids that an element, or one around or before it, has to have."""
    before = None
    for token in parse_component_value_list(selector):
        if token.type == "hash" or (token.type == "ident" and before == "."):
            yield f"{'#' if token.type == 'hash' else '.'}{token.value.lower()}"
        before = token


Specificity: TypeAlias = tuple[int, int, int]


def _measure_specificity(tokens: Any, level: int = 0) -> Specificity:
    """Return how narrow a selector is (Selectors 4, section 17)."""
    names, kinds, tags, before = 0, 0, 0, None
    for token in tokens:
        if token.type == "hash":
            names += 1
        elif token.type == "[] block" or (token.type == "ident" and before in (".", ":")):
            kinds += 1
        elif token.type == "ident":
            tags += 1
        elif token.type == "function" and level < _MOST_LEVELS and token.lower_name != "where":
            if token.lower_name in ("is", "not", "has"):
                narrow = max(_measure_specificity(part, level + 1) for part in split_at_commas(token.arguments))
                names, kinds, tags = names + narrow[0], kinds + narrow[1], tags + narrow[2]
            else:
                kinds += 1
        before = token
    return names, kinds, tags


GUESSED: Final = 0  # the origin of rules that no sheet of the page has
OF_HOST: Final = 1  # the origin of those that a shadow tree has for what stands around it
OWN: Final = 2  # the origin of those that a sheet has

Key: TypeAlias = tuple[bool, int, Layer, Specificity, int]
"""By which of two declarations wins: importance, origin, layer, specificity, order."""


class Declared(NamedTuple):
    """What style sheets say of one property of an element."""

    key: Key
    values: tuple[Words, ...]  # of the rule that wins: the last of them counts that a browser understands

    @property
    def is_important(self) -> bool:
        """Whether it outweighs what the element says itself."""
        return self.key[0]

    @property
    def is_guess(self) -> bool:
        """Whether no sheet of the page says it."""
        return self.key[1] == GUESSED


Style: TypeAlias = Mapping[str, Declared]


class Tree(NamedTuple):
    """What the rules of a sheet are for."""

    root: LexborNode
    names: frozenset[str]  # the classes and ids that are in it, such as `.a` and `#a`, in lower case
    host: LexborNode | None = None  # what shows it, where it is a shadow tree


class Cascade:
    """Which declarations of style sheets win, for each element of a tree (CSS Cascade 5)."""

    # A declaration that a browser may not understand, or of a rule that it may not follow, outweighs nothing: it counts
    # beside the one that it would outweigh, so that what one of both hides is hidden.

    def __init__(self, properties: frozenset[str], is_understood: Callable[[str, Words], bool]) -> None:
        self._properties = properties
        self._is_understood = is_understood
        self._styles = defaultdict[int, dict[str, Declared]](dict)
        self._unsure = defaultdict[int, dict[str, list[Declared]]](dict)
        self._order = 0

    def style_of(self, node: LexborNode) -> Style:
        """Return what the sheets say of an element, by property."""
        style = self._styles.get(node.mem_id, {})
        if node.mem_id in self._unsure:
            style = dict(style)
            for name, unsure in self._unsure[node.mem_id].items():
                sure = style.get(name, _UNSAID)
                beside = (value for said in unsure if said.key > sure.key for value in said.values)
                style[name] = sure._replace(values=(*beside, *sure.values))
        return style

    def add(self, tree: Tree, rules: Iterable[Rule], origin: int) -> None:
        """Add the rules of a sheet; of a shadow tree's, those for its host and for what is in its slots, too."""
        matched: dict[str, list[LexborNode]] = {}
        for rule in rules:
            said = dict[tuple[str, bool], list[Words]]()  # by property and whether it is important
            for declaration in rule.declarations:
                if declaration.name.startswith("--") or declaration.name in self._properties:
                    said.setdefault((declaration.name, declaration.is_important), []).append(declaration.words)
            self._order += 1
            whole = {key: self._rank_values(key[0], values) for key, values in said.items()}
            for selector in filter(None, rule.selectors if said else ()):
                if selector not in matched:
                    matched[selector] = _find_matched(tree, selector)
                if matched[selector]:
                    narrow = _measure_specificity(parse_component_value_list(selector))
                    of = OF_HOST if tree.host is not None and _OF_HOST.search(selector) else origin
                    self._note(matched[selector], whole, rule, (of, narrow))

    def _rank_values(self, name: str, values: list[Words]) -> tuple[Words, ...]:
        """Return each value once, where it stands last, and those behind that a browser understands."""
        once = reversed(dict.fromkeys(reversed(values)))
        return tuple(sorted(once, key=partial(self._is_understood, name)))

    def _note(
        self,
        nodes: list[LexborNode],
        said: Mapping[tuple[str, bool], tuple[Words, ...]],
        rule: Rule,
        place: tuple[int, Specificity],
    ) -> None:
        for (name, is_important), values in said.items():
            # Of what is important, the first layer wins.
            layer = tuple(-number for number in rule.layer) if is_important else rule.layer
            declared = Declared((is_important, place[0], layer, place[1], self._order), values)
            is_sure = rule.is_sure and self._is_understood(name, values[-1])
            for node in nodes:
                if not is_sure:
                    self._unsure[node.mem_id].setdefault(name, []).append(declared)
                elif declared.key > self._styles[node.mem_id].get(name, _UNSAID).key:
                    self._styles[node.mem_id][name] = declared


_UNSAID: Final = Declared((False, GUESSED - 1, (), (0, 0, 0), 0), ())


def _find_matched(tree: Tree, selector: str) -> list[LexborNode]:
    if tree.host is not None and (outside := _OF_HOST.search(selector)) is not None:
        return _find_at_host(tree.root, tree.host, outside)
    return _ask_lexbor(tree.root, selector) if tree.names.issuperset(_list_needed_names(selector)) else []


def _ask_lexbor(root: LexborNode, selector: str) -> list[LexborNode]:
    from selectolax.lexbor import SelectolaxError

    selector = _LISTED.sub(lambda part: "x-none" if _OTHER.search(part[0]) else part[0], _ALWAYS.sub("", selector))
    if _OTHER.search(selector):
        return []
    selector = _LANGUAGE.sub(r":is([lang|='\1' i],[lang|='\1' i] *)", selector)
    try:
        return root.css(_BARE.sub(r"\1*", selector.replace(":scope", ":root")) or "*")
    except (SelectolaxError, ValueError):  # of one that it, as a browser may, does not know
        return []


_OF_HOST = re.compile(
    r":host(?:-context)?(?:\((?P<host>(?:[^()]|\([^()]*\))*)\))?(?![\w-])[ >]*(?P<below>.*)"
    r"|::slotted\((?P<slotted>.*)\)"
)


def _find_at_host(root: LexborNode, host: LexborNode, found: re.Match[str]) -> list[LexborNode]:
    """Return what a selector of a shadow tree matches of its host, what is in this, or of the tree below `:host`."""
    of_host = _ask_lexbor(host, found["host"] or found["slotted"] or "*")
    if found["slotted"]:
        return [node for node in of_host if node.parent is not None and node.parent.mem_id == host.mem_id]
    if all(node.mem_id != host.mem_id for node in of_host):
        return []
    return _ask_lexbor(root, found["below"]) if found["below"] else [host]
