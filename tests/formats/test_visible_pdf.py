"""Text that a reader of a PDF file does not see is no evidence, and what they see is read."""

from io import BytesIO

import pypdf._codecs
from pdf_files import FONT, pdf_of, pdf_with
from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)
from tables import each_row

from guardgraph.formats.pdf import read_pdf

SHOWN = "Support answers within fifteen minutes"
HIDDEN = "canary 42"
_SHOW = f"BT /F1 12 Tf 50 700 Td ({SHOWN}) Tj ET "
_TEXT = f"BT /F1 12 Tf 50 600 Td ({HIDDEN}) Tj ET "


def _at(x: float, y: float) -> str:
    return f"BT /F1 12 Tf {x} {y} Td ({HIDDEN}) Tj ET "


def _set(operators: str) -> str:
    return f"q {operators} {_TEXT} Q "


CONTENTS = {
    "mode 7": _set("7 Tr"),
    "white": _set("1 g"),
    "white, four colours": _set("0 0 0 0 k"),
    "nearly white": _set(".985 g"),
    "white strokes on white": _set("1 G 1 g 2 Tr"),
    "on its own colour": _set("0 0 1 rg 40 590 200 40 re f"),
    "black on black": _set("0 g 40 590 200 40 re f"),
    "white on a picture": _set("q 200 0 0 40 40 590 cm /White Do Q 1 g"),
    "a small font": f"BT /F1 .5 Tf 50 600 Td ({HIDDEN}) Tj ET ",
    "a small matrix": f"BT /F1 12 Tf .05 0 0 .05 50 600 Tm ({HIDDEN}) Tj ET ",
    "a flat matrix": f"BT /F1 12 Tf 1 0 0 0 50 600 Tm ({HIDDEN}) Tj ET ",
    "no width": f"BT /F1 12 Tf 1 Tz 50 600 Td ({HIDDEN}) Tj ET ",
    "left of the page": _at(-400, 600),
    "above the page": _at(50, 900),
    "raised off the page": f"BT /F1 12 Tf 2000 Ts 50 600 Td ({HIDDEN}) Tj ET ",
    "spread off the page": f"BT /F1 12 Tf 900 Tc 590 600 Td ({HIDDEN}) Tj ET ",
    "clipped away": _set("0 0 10 10 re W n"),
    "clipped by a text": f"q BT /F1 12 Tf 7 Tr 50 500 Td (x) Tj ET {_TEXT} Q ",
    "under white": f"{_TEXT} 1 g 40 590 200 40 re f ",
    "under a picture": f"{_TEXT} q 200 0 0 40 40 590 cm /White Do Q ",
    "under a form": f"{_TEXT} /Cover Do ",
    "under another text": f"q 1 g {_TEXT} Q BT /F1 12 Tf 50 600 Td (The plan) Tj ET ",
    "under a broad text": f"{_TEXT} BT /F1 900 Tf 20 Tz 30 500 Td (.) Tj ET 0 g 40 590 200 40 re f ",
    "clear": _set("/Clear gs"),
    "masked": _set("/Masked gs"),
    "multiplied white": _set("/Multiplied gs 1 g"),
    "in a layer that is off": f"/OC /Off BDC {_TEXT} EMC ",
    "in a form of no size": "/Small Do ",
    "in a clear form": "q /Clear gs /Drawn Do Q ",
    "beside the crop": _at(50, 830),
    "said to be another text": f"/Span <</ActualText ({HIDDEN})>> BDC BT /F1 12 Tf 50 600 Td (The plan) Tj ET EMC ",
    "described": f"/Figure <</Alt ({HIDDEN})>> BDC 0 0 9 9 re f EMC ",
    "expanded": f"/Span <</E ({HIDDEN})>> BDC BT /F1 12 Tf 50 600 Td (Inc) Tj ET EMC ",
}  # fmt: skip


def _stream(writer: PdfWriter, data: str | bytes, **said: object) -> object:
    stream = DecodedStreamObject()
    stream.set_data(data.encode() if isinstance(data, str) else data)
    for name, value in said.items():
        stream[NameObject(f"/{name}")] = value
    return writer._add_object(stream)


def _named(**said: object) -> DictionaryObject:
    return DictionaryObject({NameObject(f"/{name}"): value for name, value in said.items()})


def _numbers(*numbers: float) -> ArrayObject:
    return ArrayObject(FloatObject(number) for number in numbers)


_X_OBJECT = {"Type": NameObject("/XObject")}


def hiding_pdf(content: str, *, rotate: int = 0, shown: str = _SHOW) -> bytes:
    """Return a file of one page that shows `SHOWN`, or what is given, and what a content stream draws after it."""
    writer = PdfWriter()
    page = writer.add_blank_page(595, 842)
    page[NameObject("/CropBox")] = _numbers(0, 0, 595, 820)
    if rotate:
        page[NameObject("/Rotate")] = NumberObject(rotate)
    fonts = _named(Font=_named(F1=FONT))

    def form(drawn: str, box: ArrayObject | None = None) -> object:
        box = box or _numbers(0, 0, 595, 842)
        return _stream(writer, drawn, **_X_OBJECT, Subtype=NameObject("/Form"), BBox=box, Resources=fonts)

    white = _stream(
        writer, b"\xff", **_X_OBJECT, Subtype=NameObject("/Image"), Width=NumberObject(1),
        Height=NumberObject(1), BitsPerComponent=NumberObject(8), ColorSpace=NameObject("/DeviceGray"),
    )  # fmt: skip
    mask, cover = form("0 g 0 0 595 842 re f"), form("1 g 40 590 200 40 re f")
    mask.get_object()[NameObject("/Group")] = _named(S=NameObject("/Transparency"), CS=NameObject("/DeviceGray"))
    layer = writer._add_object(_named(Type=NameObject("/OCG"), Name=TextStringObject("off")))
    writer._root_object[NameObject("/OCProperties")] = _named(
        OCGs=ArrayObject([layer]), D=_named(OFF=ArrayObject([layer]), Order=ArrayObject())
    )
    page[NameObject("/Resources")] = _named(
        Font=fonts["/Font"],
        XObject=_named(White=white, Cover=cover, Small=form(_TEXT, _numbers(0, 0, 1, 1)), Drawn=form(_TEXT)),
        ExtGState=_named(
            Clear=_named(ca=FloatObject(0), CA=FloatObject(0)),
            Masked=_named(SMask=_named(S=NameObject("/Luminosity"), G=mask)),
            Multiplied=_named(BM=NameObject("/Multiply")),
        ),
        Properties=_named(Off=layer),
    )
    page[NameObject("/Contents")] = _stream(writer, shown + content)
    writer.add_metadata({"/Title": HIDDEN, "/Subject": HIDDEN, "/Keywords": HIDDEN})
    writer.add_attachment("canary 42.txt", HIDDEN.encode())
    writer.write(file := BytesIO())
    return file.getvalue()


def text_of(content: str, **more: int) -> str:
    return read_pdf(hiding_pdf(content, **more), 9999).text


def test_a_text_that_is_hidden_is_not_read():
    for way, content in CONTENTS.items():
        text = text_of(content)
        assert ("canary" in text, "42" in text, SHOWN in text) == (False, False, True), way


@each_row(
    ("drawn", "read"),
    ("(costs 1) Tj 1 g (5) Tj 0 g ( euros) Tj", None),
    ("(costs 15) Tj 1 g ( or 99) Tj 0 g ( euros) Tj", "costs 15 euros"),
    ("(it does) Tj 1 g (n't) Tj 0 g ( work) Tj", "it does work"),
    ("(it costs 9) Tj 3 Tr (.5) Tj 0 Tr ( euros) Tj", None),
    ("(costs) Tj 60 0 Td (3) Tj -7 0 Td (5) Tj", "costs 53"),
    ("[(costs         3) 1400 (5)] TJ", None),
)
def test_a_number_that_loses_a_digit_takes_its_line_out(drawn, read):
    """So does one that is written in another order than it is drawn; other lines stay."""
    page = f"BT /F1 12 Tf 50 600 Td {drawn} ET BT /F1 12 Tf 50 500 Td (another line) Tj ET"
    lines = read_pdf(pdf_with(page.encode()), 9999).text.split("\n")
    assert lines == [*([read] if read else []), "another line"]


@each_row(
    "drawn",
    f"{_TEXT} BT /F1 12 Tf 50.3 600 Td ({HIDDEN}) Tj ET",
    f"0 g 40 590 200 40 re f 1 g {_TEXT}",
    f"1 g 40 590 200 40 re f 0 g {_TEXT}",
    f"BT /F1 4 Tf 50 600 Td ({HIDDEN}) Tj ET",
    *(f".6 g {_TEXT}", f"1 0 0 rg {_TEXT}", f"1 Tr {_TEXT}", "/Drawn Do"),
    f"BT /F1 12 Tf 0 1 -1 0 300 400 Tm ({HIDDEN}) Tj ET",
    "BT /F1 12 Tf 50 600 Td [(can) -20 (ary 4) 10 (2)] TJ ET",
)
def test_a_text_that_is_seen_is_read(drawn):
    for rotate in (0, 90):
        assert HIDDEN in text_of(drawn, rotate=rotate)


@each_row(
    ("drawn", "read"),
    ("(The fee is $320) Tj /F1 7 Tf 4 Ts (1) Tj /F1 12 Tf 0 Ts ( a seat) Tj", "The fee is $320¹\na seat"),
    ("(The fee is $320) Tj /F1 7 Tf 4 Ts (1) Tj 0 Ts", "The fee is $320¹"),
    ("(10) Tj /F1 8 Tf 5 Ts (-9) Tj 0 Ts /F1 12 Tf ( of H) Tj /F1 8 Tf -2 Ts (2) Tj", "10⁻⁹ of H₂"),
    ("(It costs 3) Tj /F1 9 Tf (20) Tj /F1 12 Tf ( euros) Tj", "It costs 320 euros"),
    ("(It costs 3) Tj 3 Ts (20) Tj 0 Ts ( euros) Tj", "It costs 320 euros"),
    ("/F1 18 Tf (3) Tj /F1 12 Tf ( euros are due on the first) Tj", "3 euros are due on the first"),
)
def test_a_small_digit_off_its_line_is_no_digit_of_the_number_before_it(drawn, read):
    """A footnote's or a power's is smaller and stands higher, an index lower; as in `<sup>` and `<sub>`."""
    assert read_pdf(pdf_with(f"BT /F1 12 Tf 50 600 Td {drawn} ET".encode()), 9999).text == read


def test_a_title_is_what_a_page_shows():
    shown = b"BT /F1 20 Tf 50 700 Td (Price list 2026) Tj ET"
    assert read_pdf(pdf_with(shown, title="Price list 2026"), 999).title == "Price list 2026"
    assert read_pdf(pdf_with(shown, title="Another list"), 999).title == ""


def font(encoding: object, mapped: bytes) -> DictionaryObject:
    """Return Helvetica with an encoding and a map to letters."""
    stream = DecodedStreamObject()
    stream.set_data(b"1 begincodespacerange <00> <ff> endcodespacerange " + mapped)
    return DictionaryObject({**FONT, NameObject("/Encoding"): encoding, NameObject("/ToUnicode"): stream})


DIFFERENCES = DictionaryObject(
    {NameObject("/Differences"): ArrayObject([NumberObject(1), NameObject("/one"), NameObject("/uni0035")])}
)


@each_row(
    ("encoding", "mapped", "extraction"),
    (NameObject("/WinAnsiEncoding"), b"1 beginbfrange <30> <39> <0030> endbfrange", ""),
    (NameObject("/WinAnsiEncoding"), b"1 beginbfchar <31> <0039> endbfchar", "unsure"),
    (NameObject("/WinAnsiEncoding"), b"1 beginbfrange <30> <39> <0031> endbfrange", "unsure"),
    (NameObject("/WinAnsiEncoding"), b"1 beginbfrange <31> <32> [<0031> <0033>] endbfrange", "unsure"),
    (DIFFERENCES, b"2 beginbfchar <01> <0031> <02> <0035> endbfchar", ""),
    (DIFFERENCES, b"2 beginbfchar <01> <0031> <02> <0036> endbfchar", "unsure"),
)
def test_a_map_that_contradicts_the_names_of_glyphs_is_told(encoding, mapped, extraction):
    """What is copied from such a file is not what is seen; the text is read, and unsure."""
    page = b"BT /F1 12 Tf 50 600 Td (costs 15 euros) Tj ET"
    assert read_pdf(pdf_with(page, font=font(encoding, mapped)), 99).extraction == extraction


def test_without_the_names_of_glyphs_a_map_is_unsure(monkeypatch):
    """Its list of names may move in pypdf: then nobody knows what a glyph is, and nothing crashes."""
    monkeypatch.delattr(pypdf._codecs, "adobe_glyphs")
    mapped = font(DIFFERENCES, b"2 beginbfchar <01> <0031> <02> <0035> endbfchar")
    found = read_pdf(pdf_with(b"BT /F1 12 Tf 50 600 Td (costs 15 euros) Tj ET", font=mapped), 99)
    assert (found.text, found.extraction) == ("costs 15 euros", "unsure")


def drawn_font(names: tuple[str, str] = ("/A", "/B"), *, sizes: tuple[int, int] = (700, 700)) -> DictionaryObject:
    """Return a font of drawn glyphs for the codes of A and B, as old files of TeX have them: one point is one unit."""
    glyphs = DecodedStreamObject(), DecodedStreamObject()
    for glyph, size in zip(glyphs, sizes, strict=True):
        glyph.set_data(f"750 0 0 0 750 700 d1 0 0 {size} {size} re f".encode())
    differences = ArrayObject([NumberObject(65), *map(NameObject, names)])
    return _named(
        Type=NameObject("/Font"),
        Subtype=NameObject("/Type3"),
        FontBBox=_numbers(0, 0, 750, 700),
        FontMatrix=_numbers(1, 0, 0, 1, 0, 0),
        CharProcs=DictionaryObject(zip(map(NameObject, names), glyphs, strict=True)),
        FirstChar=NumberObject(65),
        LastChar=NumberObject(66),
        Widths=_numbers(750, 750),
        Encoding=_named(Differences=differences),
    )


@each_row(
    ("font", "read"),
    (drawn_font(), ("AB BA", "unsure")),
    (drawn_font(("/B", "/A")), ("\ufffd\ufffd \ufffd\ufffd", "")),
    (drawn_font(("/g1", "/g2")), ("\ufffd\ufffd \ufffd\ufffd", "")),
    (drawn_font(sizes=(700, 90)), ("AB BA", "unsure")),
    (drawn_font(sizes=(90, 90)), ("", "")),
)
def test_glyphs_that_a_file_draws_are_read_by_their_names(font, read):
    """Their font has no size, so their ink tells whether they can be read; other names than those of their codes say
    nothing.
    """
    page = b"BT /F1 1 Tf .016 0 0 .016 50 600 Tm (A) Tj (B) Tj 3000 0 Td (B) Tj (A) Tj ET"
    found = read_pdf(pdf_with(page, font=font), 99)
    assert (found.text, found.extraction) == read


def test_the_words_behind_a_picture_of_a_page_are_unsure():
    """Nobody sees them; where no picture covers the page, they are not read."""
    behind = "q 595 0 0 842 0 0 cm /White Do Q BT /F1 12 Tf 3 Tr 50 600 Td (scanned) Tj ET"
    found = read_pdf(hiding_pdf(behind, shown=""), 99)
    assert (found.text, found.extraction) == ("scanned", "unsure")
    assert read_pdf(hiding_pdf("BT /F1 12 Tf 3 Tr 50 600 Td (scanned) Tj ET", shown=""), 99).text == ""


def test_pages_say_where_they_begin():
    found = read_pdf(pdf_of("First page", "", "Third page"), 99)
    assert found.pages == [(1, 0), (3, 12)]
    assert found.text[12:] == "Third page"
