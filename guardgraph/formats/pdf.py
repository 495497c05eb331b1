"""PDF files: the text of each page, as far as the pixels of the page show it."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from datetime import date
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any, Final, NamedTuple, TypeAlias

from guardgraph.formats.article import Heading, Part
from guardgraph.formats.extraction import PAGE, Extracted, ExtractionFailed
from guardgraph.formats.glyph_names import PRINTED, are_codes_names, has_lying_map
from guardgraph.formats.text import RAISED, clean_plain_text, cut_to_chars, put_on_one_line

_LEVEL: Final = 2  # of a page, below the title
_LOCKED: Final = (4, 5)  # FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY
_DAY = re.compile(r"D:(\d{4})(\d{2})(\d{2})")


def read_pdf(content: bytes, max_chars: int) -> Extracted:
    """Return the texts of a file's pages. What the file says of its own date is a guess: programs write it."""
    import pypdfium2  # type: ignore[import-untyped]

    try:
        with closing(pypdfium2.PdfDocument(content)) as file:
            if len(file) == 0:
                raise ExtractionFailed("broken", {"error": "no page"})
            return _read_pdf_pages(file, content, max_chars)
    except pypdfium2.PdfiumError as error:
        is_locked = error.err_code in _LOCKED
        raise ExtractionFailed("encrypted" if is_locked else "broken", {"error": str(error)[:200]}) from error


def _read_pdf_pages(file: Any, content: bytes, max_chars: int) -> Extracted:
    parts, texts, left, is_unsure = list[Part](), list[str](), max_chars, False
    names_codes = cache(lambda: are_codes_names(content))
    for number in range(len(file)):
        try:
            page = file[number]
        except RuntimeError:  # of one that is damaged
            continue
        with closing(page):
            lines, is_guess = _read_pdf_page(page, left, names_codes)
        if text := clean_plain_text("\n".join(lines)).strip():
            cut_to_chars(text, left)
            left -= len(text) + 2
            texts.append(text)
            parts.extend((Heading(_LEVEL, f"{PAGE}{number + 1}"), text))
            is_unsure = is_unsure or is_guess
    title = put_on_one_line(file.get_metadata_value("Title"))
    if not texts or title not in put_on_one_line(texts[0]):
        title = ""  # what programs write there is no evidence
    text = cut_to_chars("\n\n".join(texts), max_chars)
    created, found = "", _DAY.match(file.get_metadata_value("CreationDate"))
    with suppress(ValueError):  # what is no day
        created = date(*map(int, found.groups())).isoformat() if found else ""
    is_unsure = is_unsure or (text != "" and has_lying_map(content))
    return Extracted(title, text, tuple(parts), "", created, "unsure" if is_unsure else "")


_Box: TypeAlias = tuple[int, int, int, int]


class _Letter(NamedTuple):
    """A character of a page."""

    text: str
    box: _Box | None
    """Its pixels: left, top, and those behind the last on the right and below; None of blanks and line ends."""
    owner: int  # the address of the object that draws it; 0 where none does
    small: tuple[int, float] | None = None
    """Its font and size, where nobody could read it in that; a font of drawn glyphs has none, so that its ink tells."""
    is_guess: bool = False  # whether it is told by the code of its glyph
    points: float = 0.0  # the size of its font
    height: float | None = None
    """Points from the foot of the page to what it stands on, upright as it is; None where nobody knows."""


_LEAST_POINTS: Final = 2.5  # letters that are smaller cannot be read
_MOST_PIXELS: Final = 4_000_000  # of a picture; larger pages are drawn smaller
_SCALE: Final = 2.0  # pixels a point, of other pages
_FLAGS: Final = 0x01  # FPDF_ANNOT: what is drawn over a page covers its text


def _read_pdf_page(page: Any, max_chars: int, names_codes: Callable[[], bool]) -> tuple[list[str], bool]:
    """Return the lines that a page shows, and whether they are a guess."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    _ignore_replacements(page)
    width, height = page.get_size()
    if not width * height > 0:
        return [], False
    scale = min(_SCALE, (_MOST_PIXELS / (width * height)) ** 0.5)
    picture = _Pictured(page, max(1, int(width * scale)), max(1, int(height * scale)), scale)
    with closing(page.get_textpage()) as textpage:
        count = pdfium.FPDFText_CountChars(textpage)
        if count > 2 * max_chars + 10_000:
            raise ExtractionFailed("too_large", {"limit": "max_chars", "characters": count, "allowed": max_chars})
        letters = list(_read_page_letters(textpage.raw, count, picture, names_codes))
        if not any(letter.box for letter in letters):
            return [], False
        seen = _find_inked_letters(letters, picture)
        is_guess = any(letter.is_guess for letter in letters)
        if not any(seen) and _is_scan(page, textpage, letters):
            # The words of a picture of a page stand behind it, and are not drawn.
            seen = [letter.box is not None for letter in letters]
            is_guess = True
        return list(_split_seen_lines(letters, seen)), is_guess


def _ignore_replacements(page: Any) -> None:
    """Take the marks away by which a file says that its letters are others (`/ActualText`)."""
    import pypdfium2.raw as pdfium

    for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=_MOST_FORMS):
        for number in range(pdfium.FPDFPageObj_CountMarks(item)):
            mark = pdfium.FPDFPageObj_GetMark(item, number)
            if mark:
                pdfium.FPDFPageObjMark_RemoveParam(item, mark, b"ActualText")


_MOST_FORMS: Final = 15  # forms in each other, as far as pypdfium2 reads them


class _Picture(NamedTuple):
    """A picture in shades of grey, row by row."""

    pixels: bytes
    stride: int  # bytes of a row


class _Pictured:
    """A page and its pictures."""

    def __init__(self, page: Any, width: int, height: int, scale: float) -> None:
        import pypdfium2.raw as pdfium

        self.width, self.height = width, height
        self.least = scale * _LEAST_POINTS  # pixels that the highest letters of a font need at least
        self._page, self._pdfium = page, pdfium
        origin, right, up = (self._find_device_pixel(x, y) for x, y in ((0, 0), (_FAR, 0), (0, _FAR)))
        self._origin = origin
        self._right = ((right[0] - origin[0]) / _FAR, (right[1] - origin[1]) / _FAR)
        self._up = ((up[0] - origin[0]) / _FAR, (up[1] - origin[1]) / _FAR)

    def _find_device_pixel(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        self._pdfium.FPDF_PageToDevice(self._page, 0, 0, self.width, self.height, 0, x, y, across, down)
        return across.value, down.value

    def find_pixel_box(self, left: float, bottom: float, right: float, top: float) -> _Box:
        """Return the pixels of a place, one more on each side; without those beyond the page."""
        corners = ((left, bottom), (right, top), (left, top), (right, bottom))
        xs, ys = zip(*(self._find_page_pixel(x, y) for x, y in corners), strict=True)
        first, last = max(0, int(min(xs)) - 1), min(self.width, int(max(xs)) + 2)
        upper, lower = max(0, int(min(ys)) - 1), min(self.height, int(max(ys)) + 2)
        return first, upper, last, lower

    def _find_page_pixel(self, x: float, y: float) -> tuple[float, float]:
        across = self._origin[0] + x * self._right[0] + y * self._up[0]
        down = self._origin[1] + x * self._right[1] + y * self._up[1]
        return min(max(across, -_FAR), _FAR), min(max(down, -_FAR), _FAR)

    def draw(self) -> _Picture:
        """Return the picture of the page as it is now, in shades of grey."""
        pdfium = self._pdfium
        import pypdfium2

        with closing(pypdfium2.PdfBitmap.new_native(self.width, self.height, pdfium.FPDFBitmap_Gray)) as bitmap:
            bitmap.fill_rect((255, 255, 255, 255), 0, 0, self.width, self.height)
            pdfium.FPDF_RenderPageBitmap(bitmap, self._page, 0, 0, self.width, self.height, 0, _FLAGS)
            return _Picture(bytes(bitmap.buffer), bitmap.stride)

    def draw_without(self, owners: Iterable[int]) -> _Picture:
        """Return its picture without some of its objects."""
        pdfium = self._pdfium
        handles = [ctypes.cast(owner, pdfium.FPDF_PAGEOBJECT) for owner in owners]
        for handle in handles:
            pdfium.FPDFPageObj_SetIsActive(handle, 0)
        try:
            return self.draw()
        finally:
            for handle in handles:
                pdfium.FPDFPageObj_SetIsActive(handle, 1)


_FAR: Final = 100_000.0  # points, and pixels, beyond any page

_BLANKS: Final = (0x09, 0x0A, 0x0D, 0x20, 0xA0)
_HYPHENS: Final = (0x02, 0x2D, 0xAD)  # the first is what pdfium makes of a hyphen at the end of a line


def _read_page_letters(
    textpage: Any, count: int, picture: _Pictured, names_codes: Callable[[], bool]
) -> Iterator[_Letter]:
    import pypdfium2.raw as pdfium

    points = dict[int, float]()  # of the letters of an object
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    for at in range(count):
        code = pdfium.FPDFText_GetUnicode(textpage, at)
        if code in _BLANKS:
            yield _Letter(chr(code), None, 0)
            continue
        if code in _HYPHENS and pdfium.FPDFText_IsHyphen(textpage, at) == 1:
            code = ord("-")
        is_unknown = code == 0 or code > 0x10FFFF or pdfium.FPDFText_HasUnicodeMapError(textpage, at) == 1
        is_guess = is_unknown and code in PRINTED and names_codes()
        text = "\ufffd" if is_unknown and not is_guess else chr(code)
        if not pdfium.FPDFText_GetCharBox(textpage, at, left, right, bottom, top):
            yield _Letter(text, (0, 0, 0, 0), 0)  # nobody knows where it is
            continue
        owner = ctypes.cast(pdfium.FPDFText_GetTextObject(textpage, at), ctypes.c_void_p).value or 0
        extent = max(abs(right.value - left.value), abs(top.value - bottom.value))
        size, height = _measure_letter(textpage, at, extent)
        points.setdefault(owner, size)
        box = picture.find_pixel_box(left.value, bottom.value, right.value, top.value)
        small = None
        if points[owner] < _LEAST_POINTS:
            held = pdfium.FPDFTextObj_GetFont(ctypes.cast(owner, pdfium.FPDF_PAGEOBJECT))
            small = (ctypes.cast(held, ctypes.c_void_p).value or 0, round(points[owner], 2))
        yield _Letter(text, box, owner, small, is_guess, points[owner], height)


def _measure_letter(textpage: Any, at: int, extent: float) -> tuple[float, float | None]:
    """Return how large a letter is, by its font or else its extent, and how high it stands along its own upright."""
    import pypdfium2.raw as pdfium

    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
    if not pdfium.FPDFText_GetMatrix(textpage, at, matrix):
        return extent, None
    across, upright = (matrix.a**2 + matrix.b**2) ** 0.5, (matrix.c**2 + matrix.d**2) ** 0.5
    size = float(pdfium.FPDFText_GetFontSize(textpage, at)) * float(min(across, upright))
    if not upright or not pdfium.FPDFText_GetCharOrigin(textpage, at, x, y):
        return size, None
    return size, float((x.value * matrix.c + y.value * matrix.d) / upright)


def _find_inked_letters(letters: list[_Letter], picture: _Pictured) -> list[bool]:
    """Return of each letter whether it has ink of its own: the page looks otherwise there without its object."""
    full, seen = picture.draw(), [False] * len(letters)
    owned = dict[int, list[int]]()
    for at, letter in enumerate(letters):
        if letter.owner and letter.box is not None:
            owned.setdefault(letter.owner, []).append(at)
    readable = set[tuple[int, float]]()
    for layer in _layer_pdf_objects(letters, owned):
        other = picture.draw_without(layer)
        for owner in layer:
            boxes = [box for at in owned[owner] if (box := letters[at].box)]
            small = letters[owned[owner][0]].small
            if small and small not in readable and _has_readable_ink(full, other, boxes, picture.least):
                readable.add(small)
            for at, box in zip(owned[owner], boxes, strict=True):
                seen[at] = _differs_in_box(full, other, box)
    return [is_seen and letter.small in {None, *readable} for letter, is_seen in zip(letters, seen, strict=True)]


_LEAST_SHADES: Final = 8  # of 255: shades that differ by no more cannot be told apart


def _differs_in_box(picture: _Picture, other: _Picture, box: _Box) -> bool:
    """Say whether two pictures of a page can be told apart in a place."""
    left, top, right, bottom = box
    for row in range(top * picture.stride, bottom * picture.stride, picture.stride):
        one, two = picture.pixels[row + left : row + right], other.pixels[row + left : row + right]
        if one != two and any(abs(a - b) > _LEAST_SHADES for a, b in zip(one, two, strict=True)):
            return True
    return False


_MOST_TRIED: Final = 8  # letters of an object, the highest ones, that tell whether it can be read


def _has_readable_ink(picture: _Picture, other: _Picture, boxes: Iterable[_Box], size: float) -> bool:
    """Say whether ink of one of some letters is as high as a letter that can be read, and that of one half as wide."""
    height = width = 0
    for left, top, right, bottom in sorted(boxes, key=lambda box: box[1] - box[3])[:_MOST_TRIED]:
        rows, columns = list[int](), list[int]()
        for row in range(top, bottom):
            start = row * picture.stride
            one, two = (each.pixels[start + left : start + right] for each in (picture, other))
            pairs = enumerate(zip(one, two, strict=True)) if one != two else ()
            if inked := [at for at, (a, b) in pairs if abs(a - b) > _LEAST_SHADES]:
                rows.append(row)
                columns += (inked[0], inked[-1])
        if rows:
            height, width = max(height, rows[-1] - rows[0] + 1), max(width, max(columns) - min(columns) + 1)
    return height > size and width > size / 2


_MOST_LAYERS: Final = 6  # what lies over more other texts than so many is read by nobody
_CELL: Final = 64  # Pixels. Objects are compared with those that touch the same squares.


def _layer_pdf_objects(letters: list[_Letter], owned: dict[int, list[int]]) -> list[list[int]]:
    """Return the objects in layers, so that no two of one layer touch each other."""
    layers: list[list[int]] = [[] for _ in range(_MOST_LAYERS)]
    grids: list[dict[tuple[int, int], list[_Box]]] = [{} for _ in range(_MOST_LAYERS)]
    same = dict[tuple[str, tuple[int, int]], list[tuple[_Box, int]]]()
    for owner, places in owned.items():
        boxes = [box for at in places if (box := letters[at].box) is not None]
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        around = min(lefts), min(tops), max(rights), max(bottoms)
        words = "".join(letters[at].text for at in places)
        twins = same.setdefault((words, (around[0] // _CELL, around[1] // _CELL)), [])
        twin = next((at for box, at in twins if all(abs(a - b) <= 4 for a, b in zip(box, around, strict=True))), None)
        cells = [(x, y) for x in range(around[0] // _CELL, around[2] // _CELL + 1)
                 for y in range(around[1] // _CELL, around[3] // _CELL + 1)]  # fmt: skip
        if twin is None:
            twin = next((at for at, grid in enumerate(grids) if not _does_box_touch(around, cells, grid)), None)
        if twin is None:
            continue
        twins.append((around, twin))
        layers[twin].append(owner)
        for cell in cells:
            grids[twin].setdefault(cell, []).append(around)
    return [layer for layer in layers if layer]


def _does_box_touch(box: _Box, cells: list[tuple[int, int]], grid: dict[tuple[int, int], list[_Box]]) -> bool:
    return any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for cell in cells
        for other in grid.get(cell, ())
    )


_SCAN_SHARE: Final = 0.5  # of a page, that the picture of a scanned one covers at least
_UNDRAWN: Final = (3, 7)  # text rendering modes: neither fill nor stroke (ISO 32000-2, table 104)


def _is_scan(page: Any, textpage: Any, letters: list[_Letter]) -> bool:
    """Say whether a page is a picture with its words behind it: one that covers most of it, and no text is drawn."""
    import pypdfium2.raw as pdfium

    width, height = page.get_size()
    for owner in {letter.owner for letter in letters if letter.owner}:
        if pdfium.FPDFTextObj_GetTextRenderMode(ctypes.cast(owner, pdfium.FPDF_PAGEOBJECT)) not in _UNDRAWN:
            return False
    for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=1):
        left, bottom, right, top = item.get_bounds()
        across = max(0.0, min(right, width) - max(left, 0.0))
        if across * max(0.0, min(top, height) - max(bottom, 0.0)) >= _SCAN_SHARE * width * height:
            return True
    return False


def _split_seen_lines(letters: list[_Letter], seen: list[bool]) -> Iterator[str]:
    """Yield the lines as they are seen. One in which a number loses a letter, or runs backwards, is left out."""
    line: list[tuple[_Letter, bool]] = []
    for letter, is_seen in zip(letters, seen, strict=True):
        if letter.text in "\r\n":
            yield from _join_seen_line(_raise_digits(line))
            line = []
        else:
            line.append((letter, is_seen))
    yield from _join_seen_line(_raise_digits(line))


_SMALLER: Final = 0.85
"""Of the size of its line: a digit that is raised or lowered has this at most, by the fonts of word processors 0.58."""
_OFF: Final = 0.08  # of the size of its line: by how much it stands above or below at least


def _raise_digits(line: list[tuple[_Letter, bool]]) -> list[tuple[_Letter, bool]]:
    """Return a line in which small digits off the others' feet are characters of their own, as those of `<sup>` are."""
    sizes = Counter(round(letter.points, 1) for letter, is_seen in line if is_seen and letter.height is not None)
    if len(sizes) < 2:
        return line
    size = max(sizes, key=lambda points: (sizes[points], points))
    feet = median(letter.height for letter, _ in line if letter.height is not None and round(letter.points, 1) == size)
    raised = list[tuple[_Letter, bool]]()
    for letter, is_seen in line:
        above = 0.0 if letter.height is None else letter.height - feet
        is_off = letter.points <= _SMALLER * size and abs(above) >= _OFF * size
        text = letter.text.translate(RAISED["sup" if above > 0 else "sub"]) if is_off else letter.text
        raised.append((letter._replace(text=text), is_seen))
    return raised


def _join_seen_line(line: list[tuple[_Letter, bool]]) -> Iterator[str]:
    shown, word = list[str](), list[tuple[_Letter, bool]]()
    for letter, is_seen in [*line, (_Letter(" ", None, 0), False)]:
        if letter.box is not None:
            word.append((letter, is_seen))
            continue
        kept = "".join(letter.text for letter, is_seen in word if is_seen)
        is_number = kept != "" and any(letter.text.isdigit() for letter, _ in word)
        if is_number and (len(kept) < len(word) or _runs_back([letter for letter, _ in word])):
            return
        shown.append(kept)
        word = []
    text = " ".join(filter(None, shown))
    if text:
        yield text


def _runs_back(word: list[_Letter]) -> bool:
    """Say whether the digits of a number stand in another order than they are written."""
    boxes = [letter.box for letter in word if letter.box is not None and letter.text.isdigit()]
    middles = [(box[0] + box[2], box[1] + box[3]) for box in boxes]
    steps = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(middles)]
    is_across = all(across > 0 for across, _ in steps)
    is_down, is_up = (all(down * sign > abs(across) for across, down in steps) for sign in (1, -1))
    return not (is_across or is_down or is_up)
