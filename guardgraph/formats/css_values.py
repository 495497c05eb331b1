"""Values of CSS: their words, what mathematical functions come to, variables, and colours."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from tinycss2 import parse_component_value_list, serialize  # type: ignore[import-untyped]
from tinycss2.color4 import D50, D65, parse_color  # type: ignore[import-untyped]

from guardgraph.formats.extraction import ExtractionFailed

Words: TypeAlias = tuple[str, ...]
"""A value's words, in lower case and without escapes: ``rgb(0, 1%)`` is ``rgb(``, ``0``, ``,``, ``1%``, ``)``.

A mathematical function is the number that it comes to, and a value with variables ``var(`` and its text.
"""
VAR: Final = "var("

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]*)")
DEGREES: Final = {"deg": 1, "turn": 360, "rad": 57.29578, "grad": 0.9}  # of each unit of angles
PIXELS: Final = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "rem": 16.0, "vw": 12.8, "vh": 8.0, "vmin": 8.0, "vmax": 12.8, "svw": 12.8, "dvw": 12.8, "lvw": 12.8, "svh": 8.0,
    "dvh": 8.0, "lvh": 8.0, "%": 12.8,
}  # fmt: skip
"""Of each unit (CSS Values and Units 4, section 6); those that depend on the page are those of an ordinary one."""
RELATIVE: Final = {"em": 1.0, "ex": 0.5, "ch": 0.5, "lh": 1.2, "%": 0.01}  # to the letters around


def parse_number(word: str) -> tuple[float, str] | None:
    """Return the number that a word of a value is, and its unit; None of any other word."""
    match = _NUMBER.fullmatch(word)
    return (float(match[1]), match[2]) if match else None


def write_css(tokens: Any) -> str:
    """Return tokens as a text."""
    try:
        return str(serialize(tokens))
    except RecursionError:
        raise ExtractionFailed("too_large", {"limit": "nested CSS", "allowed": _LONGEST}) from None


_LONGEST: Final = 200_000  # letters of a value with variables put in


def read_css_words(tokens: Any) -> Words:
    """Return the words of a value."""
    words = tuple(_list_css_words(tokens))
    return (VAR, write_css(tokens)) if VAR in words else words


_WORD_TOKENS: Final = ("ident", "hash", "number", "percentage", "dimension")


def _list_css_words(tokens: Any) -> Iterator[str]:
    waiting: list[Any] = [*reversed(tokens)]
    while waiting:
        token = waiting.pop()
        if isinstance(token, str):
            yield token
        elif token.type in _WORD_TOKENS or token == ",":
            yield token.serialize().lower()
        elif token.type == "url":
            yield "url("
        elif token.type == "function":
            if (number := _calculate_function(token)) is not None:
                yield number
            else:
                yield f"{token.lower_name}("
                waiting.extend([")", *reversed(token.arguments)])
        elif token.type.endswith("block"):
            waiting.extend(reversed(token.content))


def split_at_commas(tokens: Any) -> list[list[Any]]:
    """Return the parts of a list, without blanks around them and comments."""
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            parts.append([])
        elif token.type != "comment" and (parts[-1] or token.type != "whitespace"):
            parts[-1].append(token)
    return parts


def split_arguments(words: Words) -> list[Words]:
    """Return the arguments of a function, behind the name of which some words stand."""
    arguments, depth = list[list[str]]([[]]), 1
    for word in words:
        depth += word.endswith("(") - (word == ")")
        if depth == 0:
            break
        if word == "," and depth == 1:
            arguments.append([])
        else:
            arguments[-1].append(word)
    return [tuple(argument) for argument in arguments]


def _calculate_function(function: Any) -> str | None:
    """Return the number that a mathematical function is (CSS Values and Units 4, section 10); None of any other one."""
    if function.lower_name not in _FUNCTIONS:
        return None
    try:
        text = write_css([function]).lower()
        units = {unit for _, unit in _NUMBER.findall(text) if unit}
        unit = units.pop() if len(units) == 1 else "px" if units else ""
        factors = _PIXELS_OF_LETTERS if units else {unit: 1.0}  # one unit stays as it is
        plain = _NUMBER.sub(lambda found: f"({found[1]}*{factors[found[2] or '']})" if found[2] else found[1], text)
        tree = ast.parse(plain if len(plain) < _LONGEST_SUM else "", mode="eval")
        return f"{min(max(_evaluate(tree.body), -_INFINITE), _INFINITE):.6g}{unit}"
    except (ArithmeticError, LookupError, RecursionError, SyntaxError, TypeError, ValueError):
        return None


def _evaluate(node: ast.expr) -> float:
    match node:
        case ast.Constant(int() | float() as number):
            return float(number)
        case ast.UnaryOp(op, operand):
            return _OPERATORS[type(op)](0.0, _evaluate(operand))
        case ast.BinOp(left, op, right):
            return _OPERATORS[type(op)](_evaluate(left), _evaluate(right))
        case ast.Call(ast.Name(name), arguments):
            return _FUNCTIONS[name](*map(_evaluate, arguments))
    raise ValueError


_LONGEST_SUM: Final = 1_000  # letters
_INFINITE: Final = 1e9  # as large as a number may be
_PIXELS_OF_LETTERS: Final = {unit: 16 * share for unit, share in RELATIVE.items()} | PIXELS
_OPERATORS: Final[Mapping[type[ast.AST], Callable[[float, float], float]]] = {
    ast.Add: operator.add, ast.UAdd: operator.add, ast.Sub: operator.sub, ast.USub: operator.sub,
    ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "calc": float, "min": min, "max": max, "abs": abs, "mod": operator.mod, "rem": math.fmod, "sin": math.sin,
    "cos": math.cos, "clamp": lambda least, number, most: max(least, min(number, most)),
    "round": lambda number, step: step * round(number / step),
}  # fmt: skip


def compute_variables(own: Mapping[str, str], around: Mapping[str, str]) -> dict[str, str]:
    """Return the values of an element's custom properties, with those of what is around it (CSS Variables 1)."""
    known = {name: value for name, value in around.items() if name not in own}
    waiting = dict(own)

    def compute(name: str) -> str | None:
        said = waiting.pop(name, None)  # so that one that leads to itself is not set
        if said is not None and said.strip().lower() in _EVERYWHERE:
            said = None if said.strip().lower() == "initial" else around.get(name)
        value = None if said is None else put_variables_in(said, compute)
        if value is not None:
            known[name] = value
        return known.get(name)

    for name in own:
        compute(name)
    return known


_EVERYWHERE: Final = ("inherit", "initial", "unset", "revert", "revert-layer")


def put_variables_in(text: str, look_up: Callable[[str], str | None]) -> str | None:
    """Return a value with its variables put in, by a function of their names; None where one is not set."""
    if VAR not in text.lower():
        return text
    too_long = ExtractionFailed("too_large", {"limit": "nested variables", "allowed": _LONGEST})
    try:
        written = _write_with_variables(_parse_tokens(text), look_up)
    except RecursionError:
        raise too_long from None
    if written is not None and len(written) > _LONGEST:
        raise too_long
    return written


def _write_with_variables(tokens: Any, look_up: Callable[[str], str | None]) -> str | None:
    written = list[str | None]()
    for token in tokens:
        inside: Any = token.arguments if token.type == "function" else getattr(token, "content", None)
        if token.type == "function" and token.lower_name == "var":
            names = [each.value for each in inside if each.type == "ident"]
            value = look_up(names[0]) if names else None
            if value is None and "," in inside:
                value = _write_with_variables(inside[inside.index(",") + 1 :], look_up)
            written.append(None if value is None else f" {value} ")
        elif inside is not None:
            value = _write_with_variables(inside, look_up)
            opening, end = (f"{token.name}(", ")") if token.type == "function" else token.type[:2]
            written.append(None if value is None else f"{opening}{value}{end}")
        else:
            written.append(token.serialize())
    return None if None in written else "".join(filter(None, written))


@lru_cache(1_000)
def _parse_tokens(text: str) -> list[Any]:
    return list(parse_component_value_list(text))


@lru_cache(1_000)
def parse_css_words(text: str) -> Words:
    """Return the words of a value that has no variables any more."""
    return tuple(_list_css_words(parse_component_value_list(text)))


Colour: TypeAlias = tuple[float, float, float, float]  # red, green and blue from 0 to 255, and alpha from 0 to 1

_SYSTEM_COLOURS: Final = {
    "activetext": "#f00", "buttonborder": "#000", "buttonface": "#f0f0f0", "buttontext": "#000", "canvas": "#fff",
    "canvastext": "#000", "field": "#fff", "fieldtext": "#000", "graytext": "#6d6d6d", "highlight": "#3367d1",
    "highlighttext": "#fff", "linktext": "#00e", "mark": "#ff0", "marktext": "#000", "visitedtext": "#551a8b",
    "window": "#fff", "windowtext": "#000",
}  # fmt: skip
"""What browsers take for them where nothing is dark (CSS Color 4, section 6.2)."""
_COLOUR_FUNCTIONS: Final = tuple(
    f"{name}(" for name in ("rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color")
)
_MOST_COLOURS: Final = 200  # that one value names; each may stand in another one


@lru_cache(2_000)
def parse_colour(words: Words, *, is_dark: bool = False) -> Colour | None:
    """Return the first colour that a value names (CSS Color 5); None where it names none that is known.

    Args:
        words: of the value.
        is_dark: whether the page is shown in a dark scheme there.
    """
    if sum(word.endswith("(") for word in words) > _MOST_COLOURS:
        raise ExtractionFailed("too_large", {"limit": "nested colours", "allowed": _MOST_COLOURS})
    for at, word in enumerate(words):
        behind = words[at + 1 :]
        if word in _COLOUR_FUNCTIONS:
            return _parse_colour_function(word[:-1], split_arguments(behind), is_dark=is_dark)
        if word == "light-dark(":
            return parse_colour(split_arguments(behind)[-1 if is_dark else 0], is_dark=is_dark)
        if word == "color-mix(":
            return _choose_mixed_colour(split_arguments(behind)[1:], is_dark=is_dark)
        known = parse_color(_SYSTEM_COLOURS.get(word, word)) if word[0] == "#" or word.isalpha() else None
        if known == "currentcolor":
            return None
        if known is not None:
            return _convert_to_rgb(known)
    return None


def _choose_mixed_colour(mixed: list[Words], *, is_dark: bool) -> Colour | None:
    """Return which of two colours is most of their mixture; None where nobody knows."""
    if len(mixed) != 2:
        return None
    shares = [next((number[0] for word in words if word[-1] == "%" and (number := parse_number(word))), None)
              for words in ((*words[:1], *words[-1:]) for words in mixed)]  # fmt: skip
    first = shares[0] if shares[0] is not None else 100 - (50 if shares[1] is None else shares[1])
    one, other = (parse_colour(words, is_dark=is_dark) for words in mixed)
    if first == 50:
        return one if one is not None and other is not None and are_colours_alike(one, other) else None
    return one if first > 50 else other


_SAME_COLOUR: Final = 16  # of 255: colours that differ by no more cannot be told apart


def are_colours_alike(one: Colour, other: Colour) -> bool:
    """Say whether two colours cannot be told apart, but for how opaque they are."""
    return all(abs(part - of_other) <= _SAME_COLOUR for part, of_other in zip(one[:3], other[:3], strict=True))


def _parse_colour_function(function: str, arguments: list[Words], *, is_dark: bool) -> Colour | None:
    words = tuple(word for argument in arguments for word in argument)
    if words[:1] == ("from",):
        # What is made of another colour is that one, as far as nothing else is said.
        end = words.index(")") + 1 if words[1:2] and words[1].endswith("(") and ")" in words else 2
        origin, words = parse_colour(words[1:end], is_dark=is_dark), words[end:]
        if origin is not None and not all(map(parse_number, words[:3])):
            alpha = parse_number(words[3]) if len(words) > 3 else None
            return (*origin[:3], origin[3] if alpha is None else alpha[0])
    space = words[0] if function == "color" and words else ""
    given_numbers = [(0.0, "") if word == "none" else parse_number(word) for word in words]
    numbers = [number for number in given_numbers if number is not None]
    if len(numbers) < 3:
        return None
    alpha_text = "".join(map(str, numbers[3])) if len(numbers) > 3 else "1"
    if function.startswith("rgb"):  # browsers take numbers and shares beside each other, tinycss2 does not
        written = [f"{number * (2.55 if unit == '%' else 1)}" for number, unit in numbers[:3]]
    else:
        written = [f"{number}{unit}" for number, unit in numbers[:3]]
    if function.startswith("hsl"):
        written[1:] = [f"{number}%" for number, _ in numbers[1:3]]
    elif function == "color":
        written.insert(0, space if space.startswith("xyz") else "srgb")
    colour = parse_color(f"{function}({' '.join(written)} / {alpha_text})")
    return None if colour is None else _convert_to_rgb(colour)


def parse_legacy_colour(value: str) -> Words:
    """Return the colour that an old attribute names, where six digits need no `#` (HTML standard, 2.3.6)."""
    value = value.strip().lower()
    return (f"#{value}",) if re.fullmatch(r"[0-9a-f]{6}", value) else (value or "none",)


_XYZ_TO_RGB: Final = ((3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.2040, 1.0570))


def _convert_to_rgb(colour: Any) -> Colour:
    if colour.space in ("srgb", "hsl", "hwb"):
        red, green, blue = colour.to("srgb").coordinates
        return 255 * red, 255 * green, 255 * blue, colour.alpha
    colour = colour.to("xyz-d50" if colour.space in ("lab", "lch", "xyz-d50") else "xyz-d65")
    white = D50 if colour.space == "xyz-d50" else D65
    xyz = [part * other / own for part, other, own in zip(colour.coordinates, D65, white, strict=True)]
    linear = (sum(map(operator.mul, row, xyz)) for row in _XYZ_TO_RGB)
    held = (min(max(part, 0.0), 1.0) for part in linear)
    red, green, blue = (12.92 * each if each <= 0.0031308 else 1.055 * each ** (1 / 2.4) - 0.055 for each in held)
    return 255 * red, 255 * green, 255 * blue, colour.alpha
