"""PDF files, written by pypdf."""

from io import BytesIO

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

_SAID = {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica"}
FONT = DictionaryObject({NameObject(f"/{name}"): NameObject(f"/{value}") for name, value in _SAID.items()})


def pdf_of(*pages: str, title: str = "", password: str = "") -> bytes:
    shown = (f"BT /F1 12 Tf 20 700 Td ({page}) Tj ET".encode() for page in pages)
    return pdf_with(*shown, title=title, password=password)


def pdf_with(*contents: bytes, title: str = "", password: str = "", font: DictionaryObject = FONT) -> bytes:
    """Return a file whose pages have these content streams; font F1 is Helvetica, if no other is given."""
    writer = PdfWriter()
    if "/CharProcs" in font:  # streams have to be objects of their own
        glyphs = {name: writer._add_object(drawn) for name, drawn in font["/CharProcs"].items()}
        font = DictionaryObject({**font, NameObject("/CharProcs"): DictionaryObject(glyphs)})
    for content in contents:
        stream = DecodedStreamObject()
        stream.set_data(content)
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Contents")] = writer._add_object(stream)
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    file = BytesIO()
    writer.write(file)
    return file.getvalue()
