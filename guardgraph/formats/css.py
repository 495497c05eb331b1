"""CSS, as far as it decides whether a text is seen: declarations, the rules of a style sheet, and which of them win."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from colorsys import hls_to_rgb
from contextlib import suppress
from functools import cache
from importlib import resources
from itertools import islice
from math import cos, radians, sin
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from guardgraph.formats.extraction import ExtractionFailed

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Words: TypeAlias = tuple[str, ...]
"""A value's words, in lower case and without escapes; functions are the word before their arguments."""

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|<!--|-->)
    |(?P<string>"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?)
    |(?P<url>(?:u|\\0{0,4}[57]5\s?)(?:r|\\0{0,4}[57]2\s?)(?:l|\\0{0,4}[46]c\s?)\(\s*+(?!["'])(?:\\.|[^)\\])*+\)?)
    |(?P<word>(?:\\[0-9a-f]{1,6}\s?|\\[^\n]|[-+.%#\w]|[^\x00-\x7f])++)
    |(?P<blank>\s++)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LINE_END = re.compile(r"\r\n?|\f")
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|([^\n]))", re.IGNORECASE)

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]*)")
DEGREES: Final = {"deg": 1, "turn": 360, "rad": 57.29578, "grad": 0.9}  # of each unit of angles


def parse_number(word: str) -> tuple[float, str] | None:
    """Return the number that a word of a value is, and its unit; None of any other word."""
    match = _NUMBER.fullmatch(word)
    return (float(match[1]), match[2]) if match else None


class CssDeclaration(NamedTuple):
    """A property and its value."""

    name: str  # in lower case; that of a custom property as it is written
    words: Words
    is_important: bool


class Rule(NamedTuple):
    """Declarations for the elements that a selector matches."""

    selector: str
    declarations: list[CssDeclaration]


def parse_css_declarations(style: str) -> Iterator[CssDeclaration]:
    """Yield the declarations of a style (CSS Syntax 3). What is no declaration has a name that no property has."""
    words: list[str] = []
    name, marked = "", False
    for token in _TOKEN.finditer(_LINE_END.sub("\n", style)):
        other = token["other"]
        if other == ":" and not name:
            name, words = (words[-1] if words else "-"), []
        elif other and other in ";{}":
            yield _make_css_declaration(name, words, marked)
            name, words, marked = "", [], False
        elif token["word"]:
            words.append(_unescape_css(token["word"]).lower())
        elif token["url"]:
            words.append("url")
        marked = marked or other == "!"
    yield _make_css_declaration(name, words, marked)


def _make_css_declaration(name: str, words: list[str], marked: bool) -> CssDeclaration:
    is_important = marked and words[-1:] == ["important"]
    return CssDeclaration(name, tuple(words[:-1] if is_important else words), is_important)


def _unescape_css(word: str) -> str:
    def decode(escape: re.Match[str]) -> str:
        number = int(escape[1] or "0", 16)
        is_letter = 0 < number <= 0x10FFFF and not 0xD800 <= number < 0xE000
        return escape[2] or (chr(number) if is_letter else "\ufffd")

    return _ESCAPE.sub(decode, word)


class _RuleBlock:
    """What stands between two braces, as it is read."""

    def __init__(self, selector: str | None, applies: bool) -> None:
        self.selector = selector  # of a style rule; None of a group of rules
        self.applies = applies
        self.pieces: list[str] = []  # of the declaration or the prelude that is being read
        self.declared: list[str] = []


_GROUPS: Final = ("@media", "@supports", "@layer")


def parse_css_rules(sheet: str) -> Iterator[Rule]:
    """Yield the rules of a style sheet for an ordinary screen, in their order; those inside of rules, too."""
    blocks = [_RuleBlock(None, applies=True)]
    for token in _TOKEN.finditer(_LINE_END.sub("\n", sheet)):
        block, other = blocks[-1], token["other"]
        if other == "{":
            if len(blocks) > _MOST_LEVELS:
                raise ExtractionFailed("too_large", {"limit": "nested rules", "allowed": _MOST_LEVELS})
            prelude = "".join(block.pieces).strip()
            block.pieces = []
            blocks.append(_open_css_block(prelude, block))
        elif other == "}" and len(blocks) > 1:
            yield from _close_css_block(blocks.pop())
        elif other == ";":
            block.declared.append("".join(block.pieces))
            block.pieces = []
        else:
            block.pieces.append(" " if token["comment"] else token[0])
    while len(blocks) > 1:
        yield from _close_css_block(blocks.pop())


def _open_css_block(prelude: str, around: _RuleBlock) -> _RuleBlock:
    if not prelude.startswith("@"):
        return _RuleBlock(_expand_nested_selector(prelude, around.selector), around.applies)
    name, _, query = prelude.partition(" ") if " " in prelude else prelude.partition("(")
    name = name.lower()
    applies = around.applies and name.startswith(_GROUPS)
    if name.startswith("@media"):
        applies = applies and does_media_query_apply(prelude[len("@media") :])
    elif name.startswith("@supports"):
        applies = applies and not query.strip().lower().startswith("not")
    return _RuleBlock(around.selector, applies)


_MOST_LEVELS: Final = 30  # of rules in each other
_LONGEST: Final = 20_000  # letters of a selector with those around it written out


def _expand_nested_selector(selector: str, around: str | None) -> str:
    if around is None:
        return selector
    inside = [part if "&" in part else f"& {part}" for part in _split_selectors(selector)]
    if sum(map(len, inside)) + sum(part.count("&") for part in inside) * len(around) > _LONGEST:
        raise ExtractionFailed("too_large", {"limit": "nested selectors", "allowed": _LONGEST})
    # Lexbor finds nothing below `:is(body)`; at the beginning, one selector means the same without it.
    is_one = next(islice(_split_selectors(around), 1, None), None) is None
    begun = (part.replace("&", around, 1) if is_one and part.startswith("& ") else part for part in inside)
    return ",".join(part.replace("&", f":is({around})") for part in begun)


def _close_css_block(block: _RuleBlock) -> Iterator[Rule]:
    if block.selector is not None and block.applies:
        text = ";".join((*block.declared, "".join(block.pieces)))
        yield Rule(block.selector, list(parse_css_declarations(text)))


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
_NAME = re.compile(r"([.#])((?:\\[0-9a-f]{1,6}\s?|\\[^\n]|[-\w]|[^\x00-\x7f])+)", re.IGNORECASE)
_LISTED = re.compile(r":(?:not|is|where|has|matches|any)\(.*|\[[^\]]*+\]?|\"[^\"]*+\"?", re.DOTALL | re.IGNORECASE)
_QUOTED_OR_NESTED = re.compile(r"\"[^\"]*\"|'[^']*'|[()\[\],]")


def _split_selectors(selectors: str) -> Iterator[str]:
    """Yield the selectors of a list."""
    level, begin = 0, 0
    for mark in _QUOTED_OR_NESTED.finditer(selectors):
        if mark[0] in "([":
            level += 1
        elif mark[0] in ")]":
            level -= 1
        elif mark[0] == "," and level <= 0:
            yield selectors[begin : mark.start()].strip()
            begin = mark.end()
    yield selectors[begin:].strip()


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
            for selector in _split_selectors(_STATES.sub("", rule.selector)):
                needed = {mark + _unescape_css(name) for mark, name in _NAME.findall(_LISTED.sub("", selector))}
                if _OTHER.search(_NEGATED.sub("", selector)) or not needed <= known:
                    continue
                if selector not in matched:
                    matched[selector] = []
                    with suppress(SelectolaxError, ValueError):  # one that Lexbor does not know, as a browser may not
                        matched[selector] = root.css(selector or "*")
                narrow = _measure_specificity(selector)
                for node in matched[selector]:
                    style = self._styles.setdefault(node.mem_id, {})
                    for (name, is_important), values in whole.items():
                        key = (is_important, origin, narrow, self._order)
                        if name not in style or key > style[name].key:
                            style[name] = Declared(key, values)


Colour: TypeAlias = tuple[float, float, float, float]  # red, green and blue from 0 to 255, and alpha from 0 to 1


@cache
def _read_named_colours() -> dict[str, str]:
    """Return the colours of CSS Color 4, sections 6.1 and 6.2: names, and what browsers take of a light system."""
    text = (resources.files("guardgraph.formats") / "colours.txt").read_text(encoding="utf-8")
    return {"transparent": "#0000"} | {name: f"#{digits}" for name, digits in map(str.split, text.splitlines())}


_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")


def parse_colour(words: Words) -> Colour | None:
    """Return the colour that a value names (CSS Color 4); None where it names none that is known."""
    named = _read_named_colours()
    for at, word in enumerate([named.get(word, word) for word in words]):
        if _HEX.fullmatch(word):
            digits = word[1:] if len(word) > 5 else "".join(digit * 2 for digit in word[1:])
            red, green, blue, alpha = (int(digits[place : place + 2] or "ff", 16) for place in range(0, 8, 2))
            return red, green, blue, alpha / 255
        if word in _CHANNELS:
            return _parse_colour_function(word, words[at + 1 :])
    return None


_CHANNELS: Final = ("rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color")


def _parse_colour_function(function: str, words: Words) -> Colour | None:
    if words[:1] == ("from",):
        # What is made of another colour is that one, as far as anybody knows.
        return parse_colour(words[1:])
    given = ((0.0, "") if word == "none" else parse_number(word) for word in words)
    numbers = [number for number in given if number is not None]
    if len(numbers) < 3:
        return None
    alpha = 1.0 if len(numbers) < 4 else numbers[3][0] * (0.01 if numbers[3][1] == "%" else 1)
    (first, unit), (second, _), (third, _) = numbers[:3]
    if function.startswith("rgb"):
        red, green, blue = (number * (2.55 if unit == "%" else 1) for number, unit in numbers[:3])
    elif function == "color":
        red, green, blue = (number * (2.55 if unit == "%" else 255) for number, unit in numbers[:3])
    elif function.startswith("hsl"):
        red, green, blue = (part * 255 for part in hls_to_rgb(first % 360 / 360, third / 100, second / 100))
    elif function == "hwb":
        white, black = second / 100, third / 100
        hue = hls_to_rgb(first % 360 / 360, 0.5, 1.0)
        least = max(white + black, 1.0)
        red, green, blue = (255 * (part * max(0.0, 1 - white - black) + white / least) for part in hue)
    else:
        light = first / 100 if unit == "%" or not function.startswith("ok") else first
        red, green, blue = (255 * part for part in _lab_to_rgb(function, light, numbers[1], numbers[2]))
    return red, green, blue, alpha


def _lab_to_rgb(function: str, light: float, one: tuple[float, str], two: tuple[float, str]) -> tuple[float, ...]:
    """Return red, green and blue from 0 to 1 (CSS Color 4, section 10); the two Labs are taken for one."""
    is_ok = function.startswith("ok")
    share = (0.4 if is_ok else 125.0) / 100
    a, b = (number * (share if unit == "%" else 1) for number, unit in (one, two))
    if function.endswith("lch"):
        hue = radians(two[0] * DEGREES.get(two[1], 1))
        a, b = a * cos(hue), a * sin(hue)
    if not is_ok:
        grey = ((light * 100 + 16) / 116) ** 3 if light > 0.08 else light / 9.033
        light, a, b = grey ** (1 / 3) if grey > 0 else 0.0, a / 300, b / 300
    long, medium, short = (
        (light + x * a + y * b) ** 3
        for x, y in ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.2914855480))
    )
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    held = (min(max(part, 0.0), 1.0) for part in linear)
    return tuple(12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in held)
