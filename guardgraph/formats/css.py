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


class Rule(NamedTuple):
    """Declarations for the elements that one of some selectors matches."""

    selectors: list[str]
    declarations: list[CssDeclaration]


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


def parse_css_rules(sheet: str) -> Iterator[Rule]:
    """Yield the rules of a style sheet for an ordinary screen, in their order; those inside of rules, too."""
    return _list_css_rules(parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True), [], 0)


_MOST_LEVELS: Final = 30  # of rules in each other


def _list_css_rules(items: Any, around: list[str], level: int) -> Iterator[Rule]:
    """Yield the rules of a block that stands in a rule with some selectors, none where it stands in no rule."""
    if level > _MOST_LEVELS:
        raise ExtractionFailed("too_large", {"limit": "nested rules", "allowed": _MOST_LEVELS})
    declared = list[CssDeclaration]()
    for item in items:
        if item.type == "declaration":
            declared.append(_read_css_declaration(item))
            continue
        if declared and around:  # what stands behind an inner rule counts behind it
            yield Rule(around, declared)
            declared = []
        if item.type == "qualified-rule":
            selectors = _expand_nested_selectors(_split_selectors(item.prelude), around)
            yield from _list_css_rules(_parse_css_block(item.content), selectors, level + 1)
        elif item.type == "at-rule" and item.content is not None and _does_group_apply(item):
            yield from _list_css_rules(_parse_css_block(item.content), around, level + 1)
    if declared and around:
        yield Rule(around, declared)


def _does_group_apply(group: Any) -> bool:
    query = _write_css(group.prelude).replace("/**/", " ")
    if group.lower_at_keyword == "supports":
        return not query.strip().lower().startswith("not")
    return group.lower_at_keyword == "layer" or (group.lower_at_keyword == "media" and does_media_query_apply(query))


def _write_css(tokens: Any) -> str:
    try:
        return str(serialize(tokens))
    except RecursionError:
        raise ExtractionFailed("too_large", {"limit": "nested selectors", "allowed": _LONGEST}) from None


_LONGEST: Final = 20_000  # letters of a selector with those around it written out


def _split_selectors(prelude: Any) -> list[str]:
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [_write_css(part).strip() for part in parts]


def _expand_nested_selectors(selectors: list[str], around: list[str]) -> list[str]:
    if not around:
        return selectors
    whole, inside = ",".join(around), [part if "&" in part else f"& {part}" for part in selectors]
    if sum(map(len, inside)) + sum(part.count("&") for part in inside) * len(whole) > _LONGEST:
        raise ExtractionFailed("too_large", {"limit": "nested selectors", "allowed": _LONGEST})
    if len(around) == 1:
        # Lexbor finds nothing below `:is(body)`; at the beginning, one selector means the same without it.
        inside = [part.replace("&", whole, 1) if part.startswith("& ") else part for part in inside]
    return [part.replace("&", f":is({whole})") for part in inside]


_WIDTH: Final = 1280.0  # pixels of an ordinary screen
_QUERY_WIDTH = re.compile(
    r"(?P<kind>min|max)-(?:device-)?width\s*:\s*(?P<number>[\d.]+)(?P<unit>px|r?em)"
    r"|(?:device-)?width\s*(?P<than>[<>]=?)\s*(?P<other>[\d.]+)(?P<other_unit>px|r?em)"
)
_SEEN_ON: Final = re.compile(
    r"(?:only\s+)?(?:screen|all)|prefers-[\w-]+\s*:\s*(?:no-preference|light)|(?:any-)?hover(?:\s*:\s*hover)?"
    r"|(?:any-)?pointer(?:\s*:\s*fine)?|orientation\s*:\s*landscape|scripting(?:\s*:\s*enabled)?|min-height\s*:.*"
    r"|color|width|height|aspect-ratio|resolution|(?:min-color|grid|monochrome|-webkit-min-device-pixel-ratio)\s*:\s*[01]"
    r"|update(?:\s*:\s*fast)?|color-gamut(?:\s*:\s*srgb)?|display-mode\s*:\s*browser|min-resolution\s*:\s*1d(?:ppx|pi)"
)


def does_media_query_apply(query: str) -> bool:
    """Say whether a media query is true of an ordinary screen. What is not known is false of it."""
    return not query.strip() or any(map(_is_media_query_true, query.lower().split(",")))


def _is_media_query_true(query: str) -> bool:
    query = query.strip()
    if query.startswith("not "):
        return not _is_media_query_true(query[4:])
    return all(_is_media_feature_true(feature.strip().strip("() ")) for feature in re.split(r"\band\b", query))


def _is_media_feature_true(feature: str) -> bool:
    width = _QUERY_WIDTH.fullmatch(feature)
    if width is None:
        return _SEEN_ON.fullmatch(feature) is not None
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
_NEGATED = re.compile(r":not\([^():]*:[a-z-]+\)|:not\([^()]*\)", re.IGNORECASE)


def _list_needed_names(selector: str) -> Iterator[str]:
    """Yield the classes and ids that an element, or one around or before it, has to have."""
    before = None
    for token in parse_component_value_list(selector):
        if token.type == "hash" or (token.type == "ident" and before == "."):
            yield f"{'#' if token.type == 'hash' else '.'}{token.value}"
        before = token


def _measure_specificity(selector: str) -> tuple[int, int, int]:
    """Return how narrow a selector is (Selectors 4, section 17), `:where()` and lists as if they were written out."""
    names = selector.count("#")
    kinds = len(re.findall(r"\.[^\d]|\[|(?<!:):(?!is|not|where|has)[a-z]", selector))
    return names, kinds, len(re.findall(r"(?:^|[\s>+~(])[a-z]", selector, re.IGNORECASE))


GUESSED: Final = 0  # the origin of rules that no sheet of the page has
OWN: Final = 1  # the origin of those that one has

Key: TypeAlias = tuple[bool, int, tuple[int, int, int], int]
"""By which of two declarations wins: importance, origin, specificity, order."""


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


class Cascade:
    """Which declarations of style sheets win, for each element of a tree (CSS Cascade 5)."""

    def __init__(self, counts: Callable[[CssDeclaration], bool]) -> None:
        self._counts = counts
        self._styles: dict[int, dict[str, Declared]] = {}
        self._order = 0

    def style_of(self, node: LexborNode) -> Style:
        """Return what the sheets say of an element, by property."""
        return self._styles.get(node.mem_id, {})

    def add(self, root: LexborNode, rules: list[Rule], origin: int, known: frozenset[str]) -> None:
        """Add the rules of a sheet."""
        from selectolax.lexbor import SelectolaxError

        matched: dict[str, list[LexborNode]] = {}
        for rule in rules:
            said = dict[tuple[str, bool], list[Words]]()  # by property and whether it is important
            for declaration in rule.declarations:
                if declaration.name.startswith("--") or self._counts(declaration):
                    said.setdefault((declaration.name, declaration.is_important), []).append(declaration.words)
            if not said:
                continue
            # Each value once, where it stands last: of many that say the same none takes time.
            whole = {key: tuple(reversed(dict.fromkeys(reversed(values)))) for key, values in said.items()}
            self._order += 1
            for selector in (_STATES.sub("", each) for each in rule.selectors if each):
                if selector not in matched:
                    matched[selector] = []
                    is_other = _OTHER.search(_NEGATED.sub("", selector))
                    if not is_other and known.issuperset(_list_needed_names(selector)):
                        with suppress(SelectolaxError, ValueError):  # one that Lexbor, as a browser may, does not know
                            matched[selector] = root.css(selector or "*")
                narrow = _measure_specificity(selector)
                for node in matched[selector]:
                    style = self._styles.setdefault(node.mem_id, {})
                    for (name, is_important), values in whole.items():
                        key = (is_important, origin, narrow, self._order)
                        if name not in style or key > style[name].key:
                            style[name] = Declared(key, values)


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
    if words[:1] == ("from",):
        # What is made of another colour is that one, as far as anybody knows.
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
