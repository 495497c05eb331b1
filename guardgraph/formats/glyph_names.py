"""What fonts of PDF files call their glyphs: their maps to letters may contradict it, or there may be none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, Final

_MOST_FORMS: Final = 5  # forms in each other whose fonts are looked at
_SECTION = re.compile(rb"begin(bfchar|bfrange)(.*?)end\1", re.DOTALL)
_CODE: Final = rb"<\s*([0-9a-fA-F\s]+)>\s*"
_CHAR = re.compile(_CODE + _CODE)
_RANGE = re.compile(_CODE + _CODE + rb"(?:" + _CODE + rb"|\[(.*?)\])", re.DOTALL)
_HEX_NAME = re.compile(r"(?:uni|u)([0-9A-Fa-f]{4,6})")
_HEX_CODE = re.compile(r"#([0-9A-Fa-f]{2})")
PRINTED: Final = range(0x21, 0x7F)  # codes of the letters, digits and marks of ASCII
_PLAIN: Final = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
"""Letters that stand at their own code in all encodings of simple fonts (ISO 32000-2, annex D)."""
_ENCODINGS: Final = ("/WinAnsiEncoding", "/MacRomanEncoding", "/StandardEncoding")


def has_lying_map(content: bytes) -> bool:
    """Say whether a font of a file says of a glyph that it is one letter by its name and another one by its map."""
    # Only fonts of single bytes name their glyphs in the file. What cannot be read counts as a lie, and so does any map
    # where pypdf has no list of names any more.
    return _judge_fonts(content, lambda fonts: any(map(_is_lying_font, fonts)), unread=True)


def are_codes_names(content: bytes) -> bool:
    """Say whether all fonts of a file that have no map to letters name their glyphs by the letters of their codes."""
    return _judge_fonts(
        content, lambda fonts: all(_names_codes(font) for font in fonts if "/ToUnicode" not in font), unread=False
    )


def _names_codes(font: Any) -> bool:
    if font.get("/Subtype") == "/Type0":
        return False
    names = _read_glyph_letters(font)
    for code, name in _list_named_codes(_read_font_encoding(font)):
        letter = _HEX_CODE.sub(lambda found: chr(int(found[1], 16)), name.removeprefix("/"))
        if code in PRINTED and chr(code) not in (letter, names.get(code)):
            return False
    return True


def _read_font_encoding(font: Any) -> Any:
    encoding = font.get("/Encoding")
    return encoding.get_object() if encoding is not None else None


def _list_named_codes(encoding: Any) -> Iterator[tuple[int, str]]:
    """Yield the codes to which an encoding gives glyphs of its own, and their names."""
    code = 0
    for item in encoding.get("/Differences", ()) if isinstance(encoding, dict) else ():
        if isinstance(item, int):
            code = int(item)
        else:
            yield code, str(item)
            code += 1


def _judge_fonts(content: bytes, judge: Callable[[Iterator[Any]], bool], *, unread: bool) -> bool:
    """Return what is said of the fonts of a file; of one that cannot be read, `unread`."""
    from pypdf import PdfReader

    try:
        reader = PdfReader(BytesIO(content))
        if reader.is_encrypted:
            reader.decrypt("")
        return judge(_list_pdf_fonts(reader))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  the boundary: a parser raises whatever it likes on damaged content
        return unread


def _list_pdf_fonts(reader: Any) -> Iterator[Any]:
    seen = set[int]()
    waiting = [(page.get("/Resources"), 0) for page in reader.pages]
    while waiting:
        resources, depth = waiting.pop()
        resources = resources.get_object() if resources is not None else None
        if not isinstance(resources, dict) or id(resources) in seen:
            continue
        seen.add(id(resources))
        for font in _list_resource_values(resources, "/Font"):
            if isinstance(font, dict) and id(font) not in seen:
                seen.add(id(font))
                yield font
        for form in _list_resource_values(resources, "/XObject"):
            if isinstance(form, dict) and form.get("/Subtype") == "/Form" and depth < _MOST_FORMS:
                waiting.append((form.get("/Resources"), depth + 1))


def _list_resource_values(resources: Any, name: str) -> Iterator[Any]:
    held = resources.get(name)
    held = held.get_object() if held is not None else None
    if isinstance(held, dict):
        yield from (value.get_object() for value in held.values())


def _is_lying_font(font: Any) -> bool:
    if font.get("/Subtype") == "/Type0" or "/ToUnicode" not in font:
        return False
    mapped = font["/ToUnicode"].get_object()
    if not hasattr(mapped, "get_data"):
        return False  # the name of a map that all know
    names = _read_glyph_letters(font)
    return any(
        code in names and letters and _fold_glyph_letters(letters) != _fold_glyph_letters(names[code])
        for code, letters in _list_mapped_letters(mapped.get_data())
    )


def _read_glyph_letters(font: Any) -> dict[int, str]:
    """Return the letters of a font's codes, as far as the names of their glyphs say."""
    from pypdf._codecs import adobe_glyphs  # private: the Adobe Glyph List; tests/formats/test_visible_pdf.py holds it

    encoding = _read_font_encoding(font)
    base = encoding.get("/BaseEncoding") if isinstance(encoding, dict) else encoding
    descriptor = font.get("/FontDescriptor")
    is_embedded = descriptor is not None and any("FontFile" in key for key in descriptor.get_object())
    letters = {ord(letter): letter for letter in _PLAIN} if base in _ENCODINGS or not is_embedded else {}
    if font.get("/BaseFont", "").endswith(("Symbol", "ZapfDingbats", "Wingdings")):
        letters = {}
    for code, name in _list_named_codes(encoding):
        coded = _HEX_NAME.fullmatch(name.lstrip("/").partition(".")[0])
        letter = chr(int(coded[1], 16)) if coded else adobe_glyphs.get(name, "")
        letters.pop(code, None)
        if letter:
            letters[code] = letter
    return letters


def _list_mapped_letters(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the codes of a map and their letters (ISO 32000-2, 9.10.3)."""
    for kind, body in _SECTION.findall(data):
        if kind == b"bfchar":
            yield from ((int(code, 16), _decode_map_letters(given)) for code, given in _CHAR.findall(body))
            continue
        for first, last, given, several in _RANGE.findall(body):
            begin, listed = int(first, 16), re.findall(_CODE, several)
            for step in range(min(int(last, 16) - begin, 255) + 1):
                if listed:
                    yield begin + step, _decode_map_letters(listed[step]) if step < len(listed) else ""
                elif letters := _decode_map_letters(given):
                    yield begin + step, letters[:-1] + chr(min(ord(letters[-1]) + step, 0x10FFFF))


def _decode_map_letters(given: bytes) -> str:
    digits = b"".join(given.split())
    return bytes.fromhex((digits + b"0" * (-len(digits) % 4)).decode()).decode("utf-16-be", "replace")


def _fold_glyph_letters(letters: str) -> str:
    """Return letters as they are compared: blanks, dashes and marks that look the same are the same."""
    return unicodedata.normalize("NFKC", letters).translate(_SAME).strip()


_SAME: Final = str.maketrans(
    dict.fromkeys("\u00ad\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u2044\u2215", "/")
    | dict.fromkeys("\u2022\u2219", "\u00b7")
    | {"\u2206": "\u0394", "\u2126": "\u03a9"}
)
