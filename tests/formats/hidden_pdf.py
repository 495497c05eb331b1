"""PDF files that hide a text from their reader, one way each; made by code."""

from __future__ import annotations

from io import BytesIO

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

SHOWN = "Support answers within fifteen minutes"
HIDDEN = "canary 42"
_SHOW = f"BT /F1 12 Tf 50 700 Td ({SHOWN}) Tj ET "
_TEXT = f"BT /F1 12 Tf 50 600 Td ({HIDDEN}) Tj ET "


def _at(x: float, y: float) -> str:
    return f"BT /F1 12 Tf {x} {y} Td ({HIDDEN}) Tj ET "


def _set(operators: str) -> str:
    return f"q {operators} {_TEXT} Q "


CONTENTS = {
    "mode 3": _set("3 Tr"),
    "mode 7": _set("7 Tr"),
    "mode 7 in a block": f"BT /F1 12 Tf 7 Tr 50 600 Td ({HIDDEN}) Tj ET ",
    "white": _set("1 g"),
    "white, three colours": _set("1 1 1 rg"),
    "white, four colours": _set("0 0 0 0 k"),
    "nearly white": _set(".985 g"),
    "white strokes": _set("1 G 1 g 1 Tr"),
    "white strokes on white": _set("1 G 1 g 2 Tr"),
    "on its own colour": _set("0 0 1 rg 40 590 200 40 re f"),
    "black on black": _set("0 g 40 590 200 40 re f"),
    "nearly its ground": _set(".5 g 40 590 200 40 re f .515 g"),
    "white on a picture": _set("q 200 0 0 40 40 590 cm /White Do Q 1 g"),
    "a small font": f"BT /F1 .5 Tf 50 600 Td ({HIDDEN}) Tj ET ",
    "a font of one point": f"BT /F1 1 Tf 50 600 Td ({HIDDEN}) Tj ET ",
    "a small matrix": f"BT /F1 12 Tf .05 0 0 .05 50 600 Tm ({HIDDEN}) Tj ET ",
    "a small page matrix": f"q .02 0 0 .02 50 600 cm BT /F1 12 Tf ({HIDDEN}) Tj ET Q ",
    "a flat matrix": f"BT /F1 12 Tf 1 0 0 0 50 600 Tm ({HIDDEN}) Tj ET ",
    "a narrow matrix": f"BT /F1 12 Tf .01 0 0 1 50 600 Tm ({HIDDEN}) Tj ET ",
    "no width": f"BT /F1 12 Tf 1 Tz 50 600 Td ({HIDDEN}) Tj ET ",
    "left of the page": _at(-400, 600),
    "right of the page": _at(700, 600),
    "above the page": _at(50, 900),
    "below the page": _at(50, -50),
    "far away": _at(99999, 99999),
    "raised off the page": f"BT /F1 12 Tf 2000 Ts 50 600 Td ({HIDDEN}) Tj ET ",
    "spread off the page": f"BT /F1 12 Tf 900 Tc 590 600 Td ({HIDDEN}) Tj ET ",
    "clipped away": _set("0 0 10 10 re W n"),
    "clipped to nothing": _set("50 600 0 0 re W n"),
    "clipped beside": _set("50 500 200 50 re W n"),
    "clipped by a text": f"q BT /F1 12 Tf 7 Tr 50 500 Td (x) Tj ET {_TEXT} Q ",
    "under white": f"{_TEXT} 1 g 40 590 200 40 re f ",
    "under black": f"{_TEXT} 0 g 40 590 200 40 re f ",
    "under a picture": f"{_TEXT} q 200 0 0 40 40 590 cm /White Do Q ",
    "under a form": f"{_TEXT} /Cover Do ",
    "under another text": f"q 1 g {_TEXT} Q BT /F1 12 Tf 50 600 Td (The plan) Tj ET ",
    "under a broad text": f"{_TEXT} BT /F1 900 Tf 20 Tz 30 500 Td (.) Tj ET 0 g 40 590 200 40 re f ",
    "clear": _set("/Clear gs"),
    "nearly clear": _set("/Faint gs"),
    "masked": _set("/Masked gs"),
    "multiplied white": _set("/Multiplied gs 1 g"),
    "in a layer that is off": f"/OC /Off BDC {_TEXT} EMC ",
    "in a form of no size": "/Small Do ",
    "in a form, not drawn": "/Undrawn Do ",
    "in a clear form": "q /Clear gs /Drawn Do Q ",
    "beside the crop": _at(50, 830),
    "said to be another text": f"/Span <</ActualText ({HIDDEN})>> BDC BT /F1 12 Tf 50 600 Td (The plan) Tj ET EMC ",
    "said to be another text in a form": "/Said Do ",
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


def hiding_pdf(content: str, *, rotate: int = 0, shown: str = _SHOW) -> bytes:
    """Return a file of one page that shows `SHOWN`, or what is given, and what a content stream draws after it."""
    writer = PdfWriter()
    page = writer.add_blank_page(595, 842)
    page[NameObject("/CropBox")] = _numbers(0, 0, 595, 820)
    if rotate:
        page[NameObject("/Rotate")] = NumberObject(rotate)
    font = _named(Type=NameObject("/Font"), Subtype=NameObject("/Type1"), BaseFont=NameObject("/Helvetica"))
    fonts = _named(Font=_named(F1=font))

    def form(drawn: str, box: ArrayObject | None = None) -> object:
        box = box or _numbers(0, 0, 595, 842)
        return _stream(
            writer, drawn, Type=NameObject("/XObject"), Subtype=NameObject("/Form"), BBox=box, Resources=fonts
        )

    white = _stream(
        writer, b"\xff", Type=NameObject("/XObject"), Subtype=NameObject("/Image"), Width=NumberObject(1),
        Height=NumberObject(1), BitsPerComponent=NumberObject(8), ColorSpace=NameObject("/DeviceGray"),
    )  # fmt: skip
    mask = form("0 g 0 0 595 842 re f")
    mask.get_object()[NameObject("/Group")] = _named(S=NameObject("/Transparency"), CS=NameObject("/DeviceGray"))
    layer = writer._add_object(_named(Type=NameObject("/OCG"), Name=TextStringObject("off")))
    writer._root_object[NameObject("/OCProperties")] = _named(
        OCGs=ArrayObject([layer]), D=_named(OFF=ArrayObject([layer]), Order=ArrayObject())
    )
    page[NameObject("/Resources")] = _named(
        Font=fonts["/Font"],
        XObject=_named(
            White=white,
            Cover=form("1 g 40 590 200 40 re f"),
            Small=form(_TEXT, _numbers(0, 0, 1, 1)),
            Undrawn=form(_set("3 Tr")),
            Drawn=form(_TEXT),
            Said=form(CONTENTS["said to be another text"]),
        ),
        ExtGState=_named(
            Clear=_named(ca=FloatObject(0), CA=FloatObject(0)),
            Faint=_named(ca=FloatObject(0.02)),
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
