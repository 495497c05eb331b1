"""What of a page its reader sees: which elements attributes and styles hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from guardgraph.formats.css import (
    DEGREES,
    Colour,
    CssDeclaration,
    Style,
    Words,
    parse_colour,
    parse_css_declarations,
    parse_number,
)


class LetterStyle(NamedTuple):
    """What the elements around a text make of its letters."""

    is_drawn: bool = True
    pixels: float = 16.0  # how large they are
    opacity: float = 1.0
    colour: Colour | None = (0, 0, 0, 1)  # None: nobody knows
    ground: Colour | None = (255, 255, 255, 1)  # the colour behind them; likewise
    is_filled: bool = False  # whether a background shows through them
    raised: str = ""  # `sup` or `sub`
    parts_elements: bool = False  # whether the elements of a row or a grid stand in it
    variables: Mapping[str, Words] = MappingProxyType({})  # custom properties

    @property
    def is_readable(self) -> bool:
        """Whether somebody could read them, where they are drawn."""
        if self.pixels < LEAST_PIXELS:
            return False
        if self.is_filled or self.colour is None:
            return True
        if self.colour[3] < _LEAST_OPACITY or self.ground is None:
            return self.colour[3] >= _LEAST_OPACITY
        return any(abs(ink - ground) > _SAME_COLOUR for ink, ground in zip(self.colour[:3], self.ground, strict=False))


class Gap(Enum):
    """What parts the words before a place from those behind it, where something is left out or stands apart."""

    BLANK = "blank"  # they are two words
    WORDS = "words"  # what is left out is drawn where nobody looks: a line ends there if two words would be glued
    LINE = "line"
    """A line ends: there a browser shows something that is left out, or may show it, or begins a line itself."""


class Shown(NamedTuple):
    """What an element's attributes and styles say of it."""

    inside: LetterStyle
    hides: bool = False  # neither it nor anything in it is shown
    gap: Gap | None = None  # what stands in its place if it is hidden, and at both of its ends if it is not
    floats: bool = False  # whether it may be the first letter of a paragraph, drawn larger


LEAST_PIXELS: Final = 4.0  # letters that are smaller cannot be read
_LEAST_OPACITY: Final = 0.1  # what is fainter cannot be seen on any ground
_SAME_COLOUR: Final = 16  # of 255: colours that differ by no more cannot be told apart
_OFF, _FAR_OFF = -300.0, 3000.0  # pixels from its place at which a text is beyond the edge of a screen
_PIXELS: Final = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "rem": 16.0, "vw": 12.8, "vh": 8.0, "vmin": 8.0, "vmax": 12.8, "svw": 12.8, "dvw": 12.8, "lvw": 12.8, "svh": 8.0,
    "dvh": 8.0, "lvh": 8.0, "%": 12.8,
}  # fmt: skip
"""Of each unit (CSS Values and Units 4, section 6); those that depend on the page are those of an ordinary one."""
_RELATIVE: Final = {"em": 1.0, "ex": 0.5, "ch": 0.5, "lh": 1.2, "%": 0.01}  # to the letters around
_SIZE_UNITS: Final = (_PIXELS.keys() | _RELATIVE.keys()) - {""}
_NO_LEVEL: Final = frozenset({"inline", "contents", "none", "inherit", "initial", "unset", "revert", "revert-layer"})
_DISPLAYS: Final = _NO_LEVEL | {
    "block", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "table", "inline-table", "list-item",
    "flow-root", "flow", "table-row", "table-cell", "table-row-group", "table-header-group", "table-footer-group",
    "table-caption", "table-column", "table-column-group", "ruby", "ruby-base", "ruby-text", "run-in", "math",
    "-webkit-box", "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex", "-ms-flexbox", "-ms-inline-flexbox",
}  # fmt: skip
_UNBOXED: Final = {"none", "table-column", "table-column-group"}
"""What is displayed so has no box (CSS 2, section 17.2)."""
_BOXES: Final = ("block", "flex", "grid", "table", "list-item", "flow-root", "box")
_IN_LINES: Final = ("inline", "-webkit-inline", "-ms-inline", "table-")  # how the names of boxes begin that end no line
_ROWS: Final = ("flex", "grid", "box")
_VISIBILITIES: Final = frozenset({"visible", "hidden", "collapse", "inherit", "initial", "unset", "revert"})
_EDGES: Final = ("left", "right", "top", "bottom", "inset", "inset-inline-start", "inset-inline-end",
                 "inset-block-start", "inset-inline", "inset-block", "inset-block-end")  # fmt: skip
_SIZES: Final = ("width", "height", "max-width", "max-height", "inline-size", "block-size", "max-inline-size",
                 "max-block-size", "line-height")  # fmt: skip
_OVERFLOWS: Final = ("overflow", "overflow-x", "overflow-y", "contain")
_MARGINS: Final = ("margin", "margin-left", "margin-top", "margin-right", "margin-inline", "margin-inline-start",
                   "margin-block", "margin-block-start", "text-indent")  # fmt: skip
_MASKS: Final = ("mask", "mask-image", "-webkit-mask", "-webkit-mask-image")
_TRACKS: Final = ("grid-template-rows", "grid-template-columns", "grid-template")
_TURNS: Final = ("transform", "-webkit-transform", "translate", "scale", "rotate")
_PROPERTIES: Final = frozenset(
    {
        "display", "visibility", "opacity", "content-visibility", "font-size", "font", "clip", "clip-path",
        "-webkit-clip-path", "position", "color", "-webkit-text-fill-color", "background", "background-color",
        "background-image", "background-clip", "-webkit-background-clip", "vertical-align", "text-decoration",
        "text-decoration-line", "-webkit-text-security", "filter", "letter-spacing", "float", "unicode-bidi",
        "white-space", "zoom", "content", *_MASKS, *_TRACKS, *_EDGES, *_SIZES, *_OVERFLOWS, *_MARGINS, *_TURNS,
    }
)  # fmt: skip


def does_count(declaration: CssDeclaration) -> bool:
    """Say whether a declaration may decide what is seen, as far as a browser understands it."""
    # One that no browser understands outweighs nothing: ``opacity: 0`` holds though ``opacity: any`` comes later.
    name, words, _ = declaration
    if name not in _PROPERTIES or not words:
        return False
    if "var" in words or words[0] in _EVERYWHERE:
        return True
    if known := {"display": _DISPLAYS, "visibility": _VISIBILITIES}.get(name):
        return known.issuperset(words)
    if name in ("color", "-webkit-text-fill-color"):
        return words[0] == "currentcolor" or words[0] in _FUNCTIONS or parse_colour(words) is not None
    if name in ("opacity", "zoom", "font-size", *_EDGES, *_SIZES, *_MARGINS):
        return any(word in _SIZE_WORDS or parse_number(word) is not None for word in words)
    return True


_EVERYWHERE: Final = ("inherit", "initial", "unset", "revert", "revert-layer")
_FUNCTIONS: Final = ("color-mix", "light-dark", "contrast-color", "device-cmyk", "env", "attr")
_SIZE_WORDS: Final = frozenset(
    {
        "auto", "none", "normal", "reset", "min-content", "max-content", "fit-content", "stretch",
        "-webkit-fill-available", "-moz-available", "-moz-fit-content", "-webkit-fit-content", "content", "env",
        "attr", "anchor",
        "smaller", "larger", "xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large",
    }
)  # fmt: skip

_Values: TypeAlias = dict[str, tuple[Words, ...]]


def read_visibility(
    tag: str,
    attributes: Mapping[str, str],
    style: Style = MappingProxyType({}),
    around: LetterStyle = LetterStyle(),  # noqa: B008
) -> Shown:
    """Say what an element's attributes and the style sheets of its page say of whether it is shown."""
    # `hidden`, `popover`, `aria-hidden`, `<dialog>` that is not open, and properties of its style. Where declarations
    # of its own contradict each other, the one that hides counts, though a browser may see it otherwise: what a reader
    # might not see is no evidence. So does a variable for `display`, `visibility` or `opacity` that nobody sets.
    if {"hidden", "popover"} & attributes.keys():
        return Shown(around, hides=True)
    if (tag == "dialog" and "open" not in attributes) or (tag == "input" and attributes.get("type", "") == "hidden"):
        return Shown(around, hides=True)
    # older attributes that say of colours (HTML standard, 15.3)
    named = {"bgcolor": "background-color"}
    named |= {"text": "color"} if tag == "body" else {"color": "color"} if tag == "font" else {}
    hints: _Values = {named[name]: ((value.strip().lower(),),) for name, value in attributes.items() if name in named}
    shown = _read_style_visibility(hints, style, attributes.get("style", ""), around)
    is_turned = tag == "bdo" and attributes.get("dir", "").strip().lower() == "rtl"
    if (is_turned or is_hidden_from_listeners(attributes)) and not shown.hides:
        return Shown(around, hides=True, gap=Gap.LINE)
    return shown


def _read_style_visibility(hints: _Values, style: Style, own: str, around: LetterStyle) -> Shown:
    if not (style or hints or own):
        if around.parts_elements:
            return Shown(around._replace(parts_elements=False), gap=Gap.BLANK)
        return Shown(around)
    values = _merge_css_declarations(style, hints, own)
    shown = _Reader(values, around).read_shown()
    display = style.get("display")
    if shown.hides and shown.gap is None and display and display.is_guess and values["display"] is display.values:
        # only the name of a class says so
        return shown._replace(gap=Gap.LINE)
    return shown


def is_hidden_from_listeners(attributes: Mapping[str, str]) -> bool:
    """Say whether an element is hidden from those to whom a page is read aloud."""
    return attributes.get("aria-hidden", "").strip().lower() == "true"


def _merge_css_declarations(style: Style, hints: _Values, own: str) -> _Values:
    values: _Values = {**hints, **{name: said.values for name, said in style.items()}}
    if not own:
        return values
    mine = dict[str, list[Words]]()
    for name, words, _ in parse_css_declarations(own):
        mine.setdefault(name, []).append(words)
    for name, said in mine.items():
        outweighed = style[name].values if name in style and style[name].is_important else ()
        values[name] = (*outweighed, *said)
    return values


class _Reader:
    """Reads the values of one element's properties."""

    def __init__(self, values: _Values, around: LetterStyle) -> None:
        self._around = around
        self._variables = around.variables
        if own := {name: said[-1] for name, said in values.items() if name.startswith("--")}:
            self._variables = {**around.variables, **own}
        self._values = values

    def read_shown(self) -> Shown:
        inside = self._make_letter_style()
        boxed = self._find_box_display()
        is_struck = any("line-through" in words for words in self._find("text-decoration", "text-decoration-line"))
        is_turned = any(word.endswith("-override") for words in self._find("unicode-bidi") for word in words)
        is_masked = any(words and words[0] != "none" for words in self._find("-webkit-text-security"))
        if is_turned or is_masked:
            return Shown(inside, hides=True, gap=Gap.LINE)
        if is_struck or inside.opacity < _LEAST_OPACITY:
            return Shown(inside, hides=True, gap=Gap.BLANK)
        if self._is_removed_by_style():
            # of what an element says of its display, the last counts for a browser
            said = self._list_known_values("display", _DISPLAYS)
            return Shown(inside, hides=True, gap=None if said and _UNBOXED & set(said[-1]) else Gap.LINE)
        is_out = self._is_clipped() or self._is_replaced() or self._has_no_size() or self._is_off_screen()
        if is_out or self._is_transformed_away() or self._is_squeezed():
            return Shown(inside, hides=True, gap=Gap.WORDS)
        floats = any({"left", "right", "inline-start", "inline-end"} & set(words) for words in self._find("float"))
        is_placed = any({"absolute", "fixed"} & set(words) for words in self._find("position"))
        if boxed and not boxed.startswith(_IN_LINES):
            return Shown(inside, gap=Gap.LINE, floats=floats)
        is_apart = boxed != "" or is_placed or self._around.parts_elements
        return Shown(inside, gap=Gap.BLANK if is_apart else None, floats=floats)

    def _find(self, *names: str) -> Iterator[Words]:
        """Yield what is said of some properties, with variables put in."""
        for name in names:
            for words in self._values.get(name, ()):
                yield self._resolve_variables(words) or ()

    def _resolve_variables(self, words: Words, depth: int = 0) -> Words | None:
        """Return a value without variables; None where one is not set."""
        if "var" not in words:
            return words
        at = words.index("var")
        name, rest = words[at + 1 : at + 2], words[at + 2 :]
        if depth > _MOST_VARIABLES or not name:
            return None
        if name[0] in self._variables:
            # What follows may be what stands in for it; only the arguments of a function go on behind it.
            words = (*words[:at], *self._variables[name[0]], *(rest if at else ()))
        elif rest:
            words = (*words[:at], *rest)
        else:
            return None
        return self._resolve_variables(words, depth + 1)

    def _is_removed_by_style(self) -> bool:
        for name in ("display", "visibility", "opacity"):
            if any(self._resolve_variables(words) is None for words in self._values.get(name, ())):
                return True
        if any(_UNBOXED & set(words) for words in self._list_known_values("display", _DISPLAYS)):
            return True
        return any("hidden" in words for words in self._find("content-visibility"))

    def _list_known_values(self, name: str, known: frozenset[str]) -> list[Words]:
        return [words for words in self._find(name) if words and known.issuperset(words)]

    def _find_box_display(self) -> str:
        said = self._list_known_values("display", _DISPLAYS)
        return next((word for word in said[-1] if word.endswith(_BOXES) or "table" in word), "") if said else ""

    def _make_letter_style(self) -> LetterStyle:
        around = self._around
        said = (set(words) for words in self._list_known_values("visibility", _VISIBILITIES))
        drawn = [not {"hidden", "collapse"} & words for words in said if not {"inherit", "unset"} & words]
        names = ("background-clip", "-webkit-background-clip", "background")
        is_filled = around.is_filled or any("text" in words for words in self._find(*names))
        return LetterStyle(
            all(drawn) if drawn else around.is_drawn, self._measure_letter_pixels(),
            around.opacity * self._measure_opacity(), self._find_letter_colour(), self._find_ground_colour(),
            is_filled, self._find_raised_side(), self._find_box_display().endswith(_ROWS), self._variables,
        )  # fmt: skip

    def _measure_opacity(self) -> float:
        """Return the product of its opacity and of the one of its filter, each the least that is said."""
        said = [words for words in self._find("opacity") if "calc" not in words or len(words) < 3 or "-" in words]
        filters = [words[words.index("opacity") + 1 :] for words in self._find("filter") if "opacity" in words]
        return max(min(map(_parse_share, said), default=1.0) * min(map(_parse_share, filters), default=1.0), 0.0)

    def _measure_letter_pixels(self) -> float:
        around, sizes = self._around.pixels, list[float]()
        for words in self._find("font-size", "font"):
            found = [
                number * (_RELATIVE[unit] * around if unit in _RELATIVE else _PIXELS.get(unit, 0.0))
                for number, unit in filter(None, map(parse_number, words))
                if number == 0 or unit in _SIZE_UNITS  # and no weight, as in ``font: 700 12px serif``
            ]
            if found:
                sizes.append(_calculate_css_size(words, found))
        for words in self._find("zoom"):
            if 0 < _parse_share(words) < 1:
                sizes.append(around * _parse_share(words))
        return min(sizes, default=around)

    def _find_letter_colour(self) -> Colour | None:
        said = [parse_colour(words) for words in self._find("-webkit-text-fill-color", "color") if _says_colour(words)]
        faint = next((colour for colour in said if colour is not None and colour[3] < _LEAST_OPACITY), None)
        return faint or (said[-1] if said else self._around.colour)

    def _find_ground_colour(self) -> Colour | None:
        said = [words for words in self._find("background", "background-color", "background-image")
                if _says_colour(words) or "currentcolor" in words]  # fmt: skip
        if not said:
            return self._around.ground
        if any(any(map(_is_css_picture, words)) for words in said):
            return None
        colour = self._find_letter_colour() if "currentcolor" in said[-1] else parse_colour(said[-1])
        if colour is None:
            return self._around.ground if set(said[-1]) <= {"none", "0", "no-repeat"} else None
        if colour[3] < _LEAST_OPACITY:
            return self._around.ground
        return colour if colour[3] > 1 - _LEAST_OPACITY else None

    def _find_raised_side(self) -> str:
        for words in self._find("vertical-align"):
            if words[:1] in (("super",), ("sub",)):
                return {"super": "sup", "sub": "sub"}[words[0]]
            found = _first_number(words)
            if found is not None and found[0] != 0:
                return "sup" if found[0] > 0 else "sub"
            if words:
                return ""
        if any("relative" in words for words in self._find("position")):
            for name, up in (("top", -1), ("bottom", 1)):
                for words in self._find(name):
                    found = _first_number(words)
                    if found is not None and found[0] != 0:
                        return "sup" if found[0] * up > 0 else "sub"
        return self._around.raised

    def _is_clipped(self) -> bool:
        for words in self._find("clip"):
            if words[:1] == ("rect",) and len(words) == 5:
                top, right, bottom, left = (number[0] if (number := parse_number(word)) else None for word in words[1:])
                pairs = ((top, bottom), (left, right))
                if any(one is not None and two is not None and two - one <= 1 for one, two in pairs):
                    return True
        return any(_does_clip_path_hide(words) for words in self._find("clip-path", "-webkit-clip-path"))

    def _is_replaced(self) -> bool:
        """Say whether a picture stands in its place, or over it as a mask, of which nobody knows what it leaves."""
        pictured = (words for words in self._find("content", *_MASKS) for word in words if _is_css_picture(word))
        return next(pictured, None) is not None

    def _has_no_size(self) -> bool:
        tracks = [[number[0] for number in map(parse_number, words) if number] for words in self._find(*_TRACKS)]
        if any(sizes and not any(sizes) for sizes in tracks):
            return True
        if not any(word not in _OVERFLOWING for words in self._find(*_OVERFLOWS) for word in words):
            return False
        sizes = (_first_number(words) for words in self._find(*_SIZES))
        return any(size is not None and self._to_pixels(*size) <= 1 for size in sizes)

    def _is_off_screen(self) -> bool:
        placed = {word for words in self._find("position") for word in words}
        offsets = list(self._find(*_EDGES))
        if placed and "static" not in placed and any(map(self._is_beyond, offsets)):
            return True
        if any(self._is_beyond(words, least=_OFF if not offsets else -1000.0) for words in self._find(*_MARGINS)):
            return True
        does_not_break = any({"nowrap", "pre"} & set(words) for words in self._find("white-space"))
        indents = (words for words in self._find("text-indent") if words and words[0][-1] == "%")
        if does_not_break and any(_parse_share(words) >= 1 for words in indents):
            return True
        return "fixed" in placed and any(word in _BEYOND_SCREEN for words in offsets for word in words)

    def _is_beyond(self, words: Words, least: float = _OFF) -> bool:
        numbers = [number for number in map(parse_number, words) if number is not None]
        if "calc" in words:
            is_less = any(word.startswith("-") for word in words)
            return any(abs(self._to_pixels(*number)) >= _FAR_OFF / 4 for number in numbers) and is_less
        return any(
            pixels >= _FAR_OFF if pixels > 0 else pixels <= (least if number[1] != "%" else -100 * _PIXELS["%"])
            for number in numbers
            if (pixels := self._to_pixels(*number))
        )

    def _is_transformed_away(self) -> bool:
        is_placed = any(True for _ in self._find("left", "right", "inset"))
        for name in _TURNS:
            for words in self._find(name):
                alone = name if name in ("translate", "scale", "rotate") else ""
                for function, arguments in _split_css_functions(words, alone):
                    if self._does_transform_hide(function, arguments, is_placed):
                        return True
        return False

    def _does_transform_hide(self, function: str, arguments: list[tuple[float, str]], is_placed: bool) -> bool:
        if not arguments:
            return False
        if function.startswith("scale"):
            return any(abs(number) * (0.01 if unit == "%" else 1) < _LEAST_SCALE for number, unit in arguments)
        if function.startswith("translate"):
            least = _OFF if not is_placed else -1000.0
            return any(
                number <= -100 and not is_placed if unit == "%" else self._to_pixels(number, unit) <= least
                or self._to_pixels(number, unit) >= _FAR_OFF
                for number, unit in arguments
            )  # fmt: skip
        angle, unit = arguments[-1]
        is_across = abs(angle * DEGREES.get(unit, 1) % 180 - 90) < 3
        if function in ("rotatex", "rotatey", "skewx", "skewy", "skew"):
            return is_across
        if function in ("rotate3d", "rotate") and len(arguments) == 4:
            return is_across and any(number for number, _ in arguments[:2])
        if function == "matrix3d" and len(arguments) == 16:
            arguments = [arguments[at] for at in (0, 1, 4, 5)]
            function = "matrix"
        if function == "matrix" and len(arguments) >= 4:
            (a, _), (b, _), (c, _), (d, _) = arguments[:4]
            return abs(a * d - b * c) < _LEAST_SCALE**2
        return False

    def _is_squeezed(self) -> bool:
        spaces = (_first_number(words) for words in self._find("letter-spacing"))
        return any(space is not None and self._to_pixels(*space) <= -self._around.pixels / 2 for space in spaces)

    def _to_pixels(self, number: float, unit: str) -> float:
        if unit in _RELATIVE and unit != "%":
            return number * _RELATIVE[unit] * self._around.pixels
        return number * _PIXELS.get(unit, 0.0)


_MOST_VARIABLES: Final = 20
_BEYOND_SCREEN: Final = ("100%", "-100%", "100vw", "-100vw", "100vh", "-100vh", "100dvh", "-100dvh")
"""Where what is fixed there is not on the screen, until a script moves it."""
_LEAST_SCALE: Final = 0.1
_OVERFLOWING: Final = frozenset(
    {"visible", "none", "layout", "style", "size", "inline-size", "initial", "unset", "inherit"}
)


def _says_colour(words: Words) -> bool:
    return bool(words) and not {"inherit", "unset", "currentcolor", "initial", "revert"} & set(words)


def _first_number(words: Words) -> tuple[float, str] | None:
    return next(filter(None, map(parse_number, words)), None)


def _parse_share(words: Words) -> float:
    """Return a number or a share of a hundred; 1 where a value has none."""
    found = _first_number(words)
    return found[0] * (0.01 if found[1] == "%" else 1) if found is not None else 1.0


def _is_css_picture(word: str) -> bool:
    return word in ("url", "image-set", "element", "paint") or "gradient" in word


def _calculate_css_size(words: Words, sizes: list[float]) -> float:
    """Return what a size comes to: the least that a function makes of it, as far as it is known."""
    if "clamp" in words and len(sizes) == 3:
        return max(sizes[0], min(sizes[1], sizes[2]))
    if "max" in words:
        return max(sizes)
    if "calc" in words and "-" in words:
        return sizes[0] - sum(sizes[1:])
    return min(sizes) if "min" in words or 0 in sizes else sizes[0]


def _split_css_functions(words: Words, name: str) -> Iterator[tuple[str, list[tuple[float, str]]]]:
    """Yield the functions of a value with their numbers."""
    numbers = list[tuple[float, str]]()
    for word in words:
        number = parse_number(word)
        if number is not None:
            numbers.append(number)
        elif name == "rotate" and word in ("x", "y", "z"):
            name += word
        else:
            yield name, numbers
            name, numbers = word, []
    yield name, numbers


def _does_clip_path_hide(words: Words) -> bool:
    numbers = [number for number in map(parse_number, words[1:]) if number is not None]
    if not numbers:
        return False
    if words[0] == "inset":
        sides = [number if unit == "%" else 100.0 * (number >= -_OFF) for number, unit in numbers[:4]]
        top, right, bottom, left = (sides * 4)[:4] if len(sides) == 1 else (*sides, *sides[-2:])[:4]
        return top + bottom >= 99 or left + right >= 99
    if words[0] in ("circle", "ellipse"):
        return numbers[0][0] <= 1 or (words[0] == "ellipse" and len(numbers) > 1 and numbers[1][0] <= 1)
    if words[0] in ("rect", "xywh") and len(numbers) == 4:
        (top, _), (right, _), (bottom, _), (left, _) = numbers
        return not (right and bottom) if words[0] == "xywh" else top >= bottom or left >= right
    if words[0] == "polygon":
        return len({n for n, _ in numbers[::2]}) == 1 or len({n for n, _ in numbers[1::2]}) == 1
    return False
