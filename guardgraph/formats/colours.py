"""The colours that values of CSS name."""

from __future__ import annotations

import re
from colorsys import hls_to_rgb
from math import cos, radians, sin
from typing import Final, TypeAlias

from guardgraph.formats.css import DEGREES, Words, parse_number

Colour: TypeAlias = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1."""


_COLOUR_NAMES: Final = """
aliceblue=f0f8ff antiquewhite=faebd7 aqua=00ffff aquamarine=7fffd4 azure=f0ffff beige=f5f5dc bisque=ffe4c4
black=000000 blanchedalmond=ffebcd blue=0000ff blueviolet=8a2be2 brown=a52a2a burlywood=deb887 cadetblue=5f9ea0
chartreuse=7fff00 chocolate=d2691e coral=ff7f50 cornflowerblue=6495ed cornsilk=fff8dc
crimson=dc143c cyan=00ffff darkblue=00008b darkcyan=008b8b darkgoldenrod=b8860b darkgray=a9a9a9 darkgreen=006400
darkgrey=a9a9a9 darkkhaki=bdb76b darkmagenta=8b008b darkolivegreen=556b2f darkorange=ff8c00 darkorchid=9932cc
darkred=8b0000 darksalmon=e9967a darkseagreen=8fbc8b darkslateblue=483d8b darkslategray=2f4f4f
darkslategrey=2f4f4f darkturquoise=00ced1 darkviolet=9400d3 deeppink=ff1493 deepskyblue=00bfff dimgray=696969
dimgrey=696969 dodgerblue=1e90ff firebrick=b22222 floralwhite=fffaf0 forestgreen=228b22 fuchsia=ff00ff
gainsboro=dcdcdc ghostwhite=f8f8ff gold=ffd700 goldenrod=daa520 gray=808080 green=008000 greenyellow=adff2f
grey=808080 honeydew=f0fff0 hotpink=ff69b4 indianred=cd5c5c indigo=4b0082 ivory=fffff0 khaki=f0e68c
lavender=e6e6fa lavenderblush=fff0f5 lawngreen=7cfc00 lemonchiffon=fffacd lightblue=add8e6 lightcoral=f08080
lightcyan=e0ffff lightgoldenrodyellow=fafad2 lightgray=d3d3d3 lightgreen=90ee90 lightgrey=d3d3d3
lightpink=ffb6c1 lightsalmon=ffa07a lightseagreen=20b2aa lightskyblue=87cefa lightslategray=778899
lightslategrey=778899 lightsteelblue=b0c4de lightyellow=ffffe0 lime=00ff00 limegreen=32cd32 linen=faf0e6
magenta=ff00ff maroon=800000 mediumaquamarine=66cdaa mediumblue=0000cd mediumorchid=ba55d3 mediumpurple=9370db
mediumseagreen=3cb371 mediumslateblue=7b68ee mediumspringgreen=00fa9a mediumturquoise=48d1cc
mediumvioletred=c71585 midnightblue=191970 mintcream=f5fffa mistyrose=ffe4e1 moccasin=ffe4b5 navajowhite=ffdead
navy=000080 oldlace=fdf5e6 olive=808000 olivedrab=6b8e23 orange=ffa500 orangered=ff4500 orchid=da70d6
palegoldenrod=eee8aa palegreen=98fb98 paleturquoise=afeeee palevioletred=db7093 papayawhip=ffefd5
peachpuff=ffdab9 peru=cd853f pink=ffc0cb plum=dda0dd powderblue=b0e0e6 purple=800080 rebeccapurple=663399
red=ff0000 rosybrown=bc8f8f royalblue=4169e1 saddlebrown=8b4513 salmon=fa8072 sandybrown=f4a460 seagreen=2e8b57
seashell=fff5ee sienna=a0522d silver=c0c0c0 skyblue=87ceeb slateblue=6a5acd slategray=708090 slategrey=708090
snow=fffafa springgreen=00ff7f steelblue=4682b4 tan=d2b48c teal=008080 thistle=d8bfd8 tomato=ff6347
turquoise=40e0d0 violet=ee82ee wheat=f5deb3 white=ffffff whitesmoke=f5f5f5 yellow=ffff00 yellowgreen=9acd32
activetext=ff0000 buttonborder=000000 buttonface=f0f0f0 buttontext=000000 canvas=ffffff canvastext=000000
field=ffffff fieldtext=000000 graytext=6d6d6d highlight=3367d1 highlighttext=ffffff linktext=0000ee mark=ffff00
marktext=000000 visitedtext=551a8b window=ffffff windowtext=000000
"""
"""CSS Color 4, sections 6.1 and 6.2: names, and what browsers take of the system where it is light."""
_COLOURS: Final = {"transparent": "#0000"} | {
    name: f"#{digits}" for name, digits in (each.split("=") for each in _COLOUR_NAMES.split())
}
_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")


def parse_colour(words: Words) -> Colour | None:
    """Return the colour that a value names (CSS Color 4); None where it names none that is known."""
    for at, word in enumerate([_COLOURS.get(word, word) for word in words]):
        if _HEX.fullmatch(word):
            digits = word[1:] if len(word) > 5 else "".join(digit * 2 for digit in word[1:])
            red, green, blue, alpha = (int(digits[place : place + 2] or "ff", 16) for place in range(0, 8, 2))
            return red, green, blue, alpha / 255
        if word in _CHANNELS:
            return _parse_channels(word, words[at + 1 :])
    return None


_CHANNELS: Final = ("rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color")


def _parse_channels(function: str, words: Words) -> Colour | None:
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
