"""CSS, as far as it decides whether a text is seen: declarations, the rules of a style sheet, and which of them win."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from tinycss2 import parse_blocks_contents, parse_component_value_list, parse_stylesheet, serialize  # type: ignore[import-untyped]
from tinycss2.color4 import D50, D65, parse_color  # type: ignore[import-untyped]

from guardgraph.formats.extraction import ExtractionFailed

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Words: TypeAlias = tuple[str, ...]
"""A value's words, in lower case and without escapes; functions are the word before their arguments."""

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]*)")
DEGREES: Final = {"deg": 1, "turn": 360, "rad": 57.29578, "grad": 0.9}  # of each unit of angles


def parse_number(word: str) -> tuple[float, str] | None:
    """Return the number that a word of a value is, and its unit; None of any other word."""
    match = _NUMBER.fullmatch(word)
    return (float(match[1]), match[2]) if match else None


class CssDeclaration(NamedTuple):
    """A property and its value."""

    name: str  # in lower case
    words: Words
    is_important: bool


Layer: TypeAlias = tuple[float, ...]  # the numbers of a cascade layer and of those around it
Layers: TypeAlias = dict[tuple[Layer, str], Layer]  # those of a page, by the layer around them and their name


class Rule(NamedTuple):
    """Declarations for the elements that one of some selectors matches."""

    selectors: list[str]
    declarations: list[CssDeclaration]
    layer: Layer = ()
    is_sure: bool = True  # whether it is known that it applies, and where; else it hides, and shows nothing


def parse_css_declarations(style: str) -> Iterator[CssDeclaration]:
    """Yield the declarations of a style."""
    for item in _parse_css_block(style):
        if item.type == "declaration":
            yield _read_css_declaration(item)


def _parse_css_block(content: Any) -> Any:
    return parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)


def _read_css_declaration(item: Any) -> CssDeclaration:
    return CssDeclaration(item.lower_name, tuple(_list_css_words(item.value)), item.important)


_WORD_TOKENS: Final = ("ident", "hash", "number", "percentage", "dimension")


def _list_css_words(tokens: Any) -> Iterator[str]:
    waiting = [*reversed(tokens)]
    while waiting:
        token = waiting.pop()
        if token.type in _WORD_TOKENS or token in ("+", "-"):
            yield token.serialize().lower()
        elif token.type == "url":
            yield "url"
        elif token.type == "function":
            yield token.lower_name
            waiting.extend(reversed(token.arguments))
        elif token.type.endswith("block"):
            waiting.extend(reversed(token.content))


def parse_css_rules(sheet: str, layers: Layers, media: str = "") -> Iterator[Rule]:
    """Yield the rules of a style sheet for an ordinary screen, in their order; those inside of rules, too."""
    applies = _does_media_query_apply(media)
    if applies is not False:
        items = parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
        yield from _list_css_rules(items, Rule([], [], is_sure=applies is True), layers, 0)


_MOST_LEVELS: Final = 30  # of rules in each other


def _list_css_rules(items: Any, around: Rule, layers: Layers, level: int) -> Iterator[Rule]:
    """Yield the rules of a block that stands in a rule with some selectors, none where it stands in no rule."""
    if level > _MOST_LEVELS:
        raise ExtractionFailed("too_large", {"limit": "nested rules", "allowed": _MOST_LEVELS})
    declared = list[CssDeclaration]()
    for item in items:
        if item.type == "declaration":
            declared.append(_read_css_declaration(item))
            continue
        if declared and around.selectors:  # what stands behind an inner rule counts behind it
            yield around._replace(declarations=declared)
            declared = []
        inside = None
        if item.type == "qualified-rule":
            inside = around._replace(selectors=_nest_selectors(item.prelude, around.selectors))
        elif item.type == "at-rule":
            inside = _enter_css_group(item, around, layers)
        if inside is not None and item.content is not None:
            yield from _list_css_rules(_parse_css_block(item.content), inside, layers, level + 1)
    if declared and around.selectors:
        yield around._replace(declarations=declared)


def _enter_css_group(group: Any, around: Rule, layers: Layers) -> Rule | None:
    """Return what stands around the rules of a group; None where it does not apply."""
    query = _write_css(group.prelude).replace("/**/", " ").strip()
    applies: bool | None = None
    match group.lower_at_keyword:
        case "layer":
            entered = [_enter_layer(name, around.layer, layers) for name in query.split(",")]
            return around._replace(layer=entered[0])
        case "scope":  # read as a rule around its rules: where it ends is not asked, nor which of two is nearer
            if query.startswith("("):
                roots = next(token.content for token in group.prelude if token.type == "() block")
                around = around._replace(selectors=_nest_selectors(roots, around.selectors))
        case "media":
            applies = _does_media_query_apply(query)
        case "container":  # as wide as the screen, as far as anybody knows
            is_false = "not" not in query and _does_media_query_apply(query[query.find("(") :]) is False
            applies = False if is_false else None
        case "supports":
            applies = not query.lower().startswith("not") if "display" in query.lower() else None
        case _:
            return None
    return None if applies is False else around._replace(is_sure=around.is_sure and applies is True)


def _write_css(tokens: Any) -> str:
    try:
        return str(serialize(tokens))
    except RecursionError:
        raise ExtractionFailed("too_large", {"limit": "nested selectors", "allowed": _LONGEST}) from None


def _enter_layer(name: str, around: Layer, layers: Layers) -> Layer:
    """Return the layer of a name, such as `a.b`: which of two wins is which is named last (CSS Cascade 5, 6.4)."""
    for part in (name.strip() or f" {len(layers)}").split(".", _MOST_LEVELS):
        around = layers.setdefault((around, part), (*around, len(layers)))
    return around


_LONGEST: Final = 20_000  # letters of a selector with those around it written out


def _nest_selectors(prelude: Any, around: list[str]) -> list[str]:
    """Return the selectors of a rule, written out as it stands in a rule with others."""
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    selectors = [_write_css(part).strip().replace(":scope", "&" if around else ":root") for part in parts]
    if not around:
        return selectors
    whole, inside = ",".join(around), [part if "&" in part else f"& {part}" for part in selectors]
    if sum(map(len, inside)) + sum(part.count("&") for part in inside) * len(whole) > _LONGEST:
        raise ExtractionFailed("too_large", {"limit": "nested selectors", "allowed": _LONGEST})
    return [part.replace("&", f":is({whole})") for part in inside]


_WIDTH: Final = 1280.0  # pixels of an ordinary screen
_QUERY_WIDTH = re.compile(
    r"(?P<kind>min|max)-(?:device-)?width\s*:\s*(?P<number>[\d.]+)(?P<unit>px|r?em)"
    r"|(?:device-)?width\s*(?P<than>[<>]=?)\s*(?P<other>[\d.]+)(?P<other_unit>px|r?em)"
)
_TURNED_WIDTH = re.compile(r"(?<![\d.])(?P<number>[\d.]++(?:px|r?em))\s*(?P<than>[<>]=?)\s*width\b")
_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SEEN_ON: Final = re.compile(
    r"(?:only\s+)?(?:screen|all)|prefers-[\w-]+\s*:\s*(?:no-preference|light)|(?:any-)?hover(?:\s*:\s*hover)?"
    r"|(?:any-)?pointer(?:\s*:\s*fine)?|orientation\s*:\s*landscape|scripting(?:\s*:\s*enabled)?"
    r"|min-(?:height|aspect-ratio)\s*:.*|color|width|height|aspect-ratio|resolution|update(?:\s*:\s*fast)?|color-gamut(?:\s*:\s*srgb)?|display-mode\s*:\s*browser|min-resolution\s*:\s*1d(?:ppx|pi)"
    r"|(?:min-color|grid|monochrome|-webkit-min-device-pixel-ratio)\s*:\s*[01]"
)


def _does_media_query_apply(query: str) -> bool | None:
    """Say whether a media query is true of an ordinary screen; None where nobody knows."""
    known = [_is_media_query_true(part.strip()) for part in query.lower().split(",")] if query.strip() else [True]
    return True if True in known else None if None in known else False


def _is_media_query_true(query: str) -> bool | None:
    if query.startswith("not "):
        return False if _is_media_query_true(query[4:]) else None
    query = _TURNED_WIDTH.sub(lambda found: f"width{_TURNED[found['than']]}{found['number']} and width", query)
    known = [_is_media_feature_true(feature.strip().strip("() ")) for feature in re.split(r"\band\b", query)]
    return False if False in known else None if None in known else True


def _is_media_feature_true(feature: str) -> bool | None:
    """Say whether a feature is true; what has the form of one and is not known is false."""
    width = _QUERY_WIDTH.fullmatch(feature)
    if width is None:
        is_seen = _SEEN_ON.fullmatch(feature) is not None
        return is_seen or (None if re.search("[()<>=]|^--", feature) else False)
    try:
        number = float(width["number"] or width["other"])
    except ValueError:
        return False
    number *= 1 if (width["unit"] or width["other_unit"]) == "px" else 16
    at_least = width["kind"] == "min" or (width["than"] or "").startswith(">")
    return number <= _WIDTH if at_least else number >= _WIDTH


_STATES = re.compile(
    r":not\(\s*:(?:hover|focus(?:-within|-visible)?|active|target(?:-within)?|visited|checked|open)\s*\)", re.IGNORECASE
)
"""What is true of an element until somebody does something."""
_OTHER = re.compile(
    r"::|:(?:hover|focus|active|target|visited|checked|before|after|first-l|placeholder|open|popover|modal|fullscreen)",
    re.IGNORECASE,
)
"""What is not true of it, or of no element."""
_IN_LISTS = re.compile(r":not\([^():]*:[a-z-]+\)|:(?:not|is|where)\([^()]*\)", re.IGNORECASE)
_WHERE = re.compile(r":where\([^()]*\)", re.IGNORECASE)
_BARE = re.compile(r"(^|[\s>+~(,])(?=:(?:is|where)\()", re.IGNORECASE)
"""Where Lexbor needs a `*`: it finds nothing below `:is(body)`."""


def _list_needed_names(selector: str) -> Iterator[str]:
    """Yield the classes and ids that an element, or one around or before it, has to have."""
    before = None
    for token in parse_component_value_list(selector):
        if token.type == "hash" or (token.type == "ident" and before == "."):
            yield f"{'#' if token.type == 'hash' else '.'}{token.value}"
        before = token


def _measure_specificity(selector: str) -> tuple[int, int, int]:
    """Return how narrow a selector is (Selectors 4, section 17), with lists as if they were written out."""
    selector = _WHERE.sub("", selector)
    names = selector.count("#")
    kinds = len(re.findall(r"\.[^\d]|\[|(?<!:):(?!is|not|where|has)[a-z]", selector))
    return names, kinds, len(re.findall(r"(?:^|[\s>+~(])[a-z]", selector, re.IGNORECASE))


GUESSED: Final = 0  # the origin of rules that no sheet of the page has
OWN: Final = 1  # the origin of those that one has

Key: TypeAlias = tuple[bool, int, Layer, tuple[int, int, int], int]
"""By which of two declarations wins: importance, origin, layer (the first of what is important), specificity, order."""
_WEAKEST: Final[Key] = (False, GUESSED - 1, (), (0, 0, 0), 0)


class Declared(NamedTuple):
    """What style sheets say of one property of an element."""

    key: Key
    values: tuple[Words, ...]  # of the rule that wins: the last of them counts that a browser understands
    beside: list[Words]  # what rules say that may outweigh it

    @property
    def is_important(self) -> bool:
        """Whether it outweighs what the element says itself."""
        return self.key[0]

    @property
    def is_guess(self) -> bool:
        """Whether no sheet of the page says it."""
        return self.key[1] == GUESSED


Style: TypeAlias = Mapping[str, Declared]


class Cascade:
    """Which declarations of style sheets win, for each element of a tree (CSS Cascade 5)."""

    def __init__(self, counts: Callable[[CssDeclaration], bool]) -> None:
        self._counts = counts
        self._styles: dict[int, dict[str, Declared]] = {}

    def style_of(self, node: LexborNode) -> Style:
        """Return what the sheets say of an element, by property."""
        return self._styles.get(node.mem_id, {})

    def add(self, root: LexborNode, rules: list[Rule], origin: int, known: frozenset[str]) -> None:
        """Add all rules of an origin for a tree."""
        from selectolax.lexbor import SelectolaxError

        matched: dict[str, list[LexborNode]] = {}
        # A rule that may not apply outweighs nothing: what it says counts beside what the others come to.
        for order, rule in sorted(enumerate(rules), key=lambda numbered: not numbered[1].is_sure):
            said = dict[tuple[str, bool], list[Words]]()  # by property and whether it is important
            for declaration in rule.declarations:
                if declaration.name.startswith("--") or self._counts(declaration):
                    said.setdefault((declaration.name, declaration.is_important), []).append(declaration.words)
            if not said:
                continue
            # Each value once, where it stands last: of many that say the same none takes time.
            whole = {key: tuple(reversed(dict.fromkeys(reversed(values)))) for key, values in said.items()}
            layers = (*rule.layer, float("inf")), tuple(-number for number in rule.layer)
            for selector in (_STATES.sub("", each) for each in rule.selectors if each):
                if selector not in matched:
                    matched[selector] = []
                    is_other = _OTHER.search(_IN_LISTS.sub("", selector))
                    if not is_other and known.issuperset(_list_needed_names(selector)):
                        with suppress(SelectolaxError, ValueError):  # one that Lexbor, as a browser may, does not know
                            matched[selector] = root.css(_BARE.sub(r"\1*", selector) or "*")
                narrow = _measure_specificity(selector)
                for node in matched[selector]:
                    style = self._styles.setdefault(node.mem_id, {})
                    for (name, is_important), values in whole.items():
                        key = (is_important, origin, layers[is_important], narrow, order)
                        if name not in style:
                            style[name] = Declared(_WEAKEST, (), [])
                        if key > style[name].key and rule.is_sure:
                            style[name] = Declared(key, values, [])
                        elif key > style[name].key:
                            style[name].beside.extend(values)


Colour: TypeAlias = tuple[float, float, float, float]  # red, green and blue from 0 to 255, and alpha from 0 to 1

_SYSTEM_COLOURS: Final = {
    "activetext": "#f00", "buttonborder": "#000", "buttonface": "#f0f0f0", "buttontext": "#000", "canvas": "#fff",
    "canvastext": "#000", "field": "#fff", "fieldtext": "#000", "graytext": "#6d6d6d", "highlight": "#3367d1",
    "highlighttext": "#fff", "linktext": "#00e", "mark": "#ff0", "marktext": "#000", "visitedtext": "#551a8b",
    "window": "#fff", "windowtext": "#000",
}  # fmt: skip
"""What browsers take for them where nothing is dark (CSS Color 4, section 6.2)."""
_COLOUR_FUNCTIONS: Final = ("rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color")


@lru_cache(1_000)
def parse_colour(words: Words) -> Colour | None:
    """Return the colour that a value names (CSS Color 4); None where it names none that is known."""
    for at, word in enumerate(words):
        if word in _COLOUR_FUNCTIONS:
            return _parse_colour_function(word, words[at + 1 :])
        colour = parse_color(_SYSTEM_COLOURS.get(word, word)) if word[0] == "#" or word.isalpha() else None
        if colour not in (None, "currentcolor"):
            return _convert_to_rgb(colour)
    return None


def _parse_colour_function(function: str, words: Words) -> Colour | None:
    if words[:1] == ("from",) and (len(words) > 6 or not all(map(parse_number, words[2:]))):
        # What is made of another colour is that one, as far as nothing else is said.
        return parse_colour(words[1:])
    given = [(0.0, "") if word == "none" else parse_number(word) for word in words]
    numbers = [number for number in given if number is not None]
    if len(numbers) < 3:
        return None
    alpha = "".join(map(str, numbers[3])) if len(numbers) > 3 else "1"
    if function.startswith("rgb"):  # browsers take numbers and shares beside each other, tinycss2 does not
        written = [f"{number * (2.55 if unit == '%' else 1)}" for number, unit in numbers[:3]]
    else:
        written = [f"{number}{unit}" for number, unit in numbers[:3]]
    if function.startswith("hsl"):
        written[1:] = [f"{number}%" for number, _ in numbers[1:3]]
    elif function == "color":
        written.insert(0, words[0] if words[0].startswith("xyz") else "srgb")
    colour = parse_color(f"{function}({' '.join(written)} / {alpha})")
    return None if colour is None else _convert_to_rgb(colour)


_XYZ_TO_RGB: Final = ((3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.2040, 1.0570))


def _convert_to_rgb(colour: Any) -> Colour:
    if colour.space in ("srgb", "hsl", "hwb"):
        red, green, blue = colour.to("srgb").coordinates
        return 255 * red, 255 * green, 255 * blue, colour.alpha
    colour = colour.to("xyz-d50" if colour.space in ("lab", "lch", "xyz-d50") else "xyz-d65")
    white = D50 if colour.space == "xyz-d50" else D65
    xyz = [part * other / own for part, other, own in zip(colour.coordinates, D65, white, strict=True)]
    linear = (sum(map(mul, row, xyz)) for row in _XYZ_TO_RGB)
    held = (min(max(part, 0.0), 1.0) for part in linear)
    red, green, blue = (12.92 * each if each <= 0.0031308 else 1.055 * each ** (1 / 2.4) - 0.055 for each in held)
    return 255 * red, 255 * green, 255 * blue, colour.alpha
