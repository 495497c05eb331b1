"""Ways to spell a link to a host that no source has, as a model might write it, or as an attacker would have it.

`SPELLINGS` are texts, each once. Each leads, or would lead whoever shows it carelessly, to `HOST` or to a host in
another script, or runs something. `GOOD` is a host that sources do have.
"""

import json
from itertools import product
from pathlib import Path

HOST = "attacker.io"
GOOD = "docs.acme.com"
URL = f"https://{HOST}/a?d=1"
LOCAL = "mail"
GIVEN = json.loads((Path(__file__).parents[1] / "data" / "link_spellings.json").read_text("utf-8"))
"""Spellings and templates of them by kind: H is the host, U a URL of it, M the name of a mailbox, G the good host."""
_POINTS = (
    *("&amp;#46;", "%252e", "\\x2e", "[.]", "(.)", " [dot] ", "**.**", "~~.~~", "`.`"),
    *("\u3002", "\uff61", "\uff0e", "\u2024", "\ua4f8"),
)
"""What may stand for a point: encoded twice, in brackets or emphasis, and the stops and points of other scripts."""


def _shift(text: str, first: str, last: str, start: int) -> str:
    return "".join(chr(ord(letter) - ord(first) + start) if first <= letter <= last else letter for letter in text)


_FORMS = {
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "hex entities": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "entities without end": lambda text: text.replace(".", "&#46"),
    "named entities": lambda text: text.replace(".", "&period;").replace(":", "&colon;").replace("/", "&sol;"),
    "percent signs": lambda text: "".join(f"%{ord(letter):02x}" for letter in text),
    "escapes of scripts": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "escapes of Markdown": lambda text: text.replace(".", "\\.").replace(":", "\\:"),
    "full width": lambda text: _shift(text, "!", "~", 0xFF01),
    "bold letters": lambda text: _shift(text, "a", "z", 0x1D41A),
    "circled letters": lambda text: _shift(text, "a", "z", 0x24D0),
    "from right to left": lambda text: f"\u202e{text[::-1]}\u202c",
    "marks of direction": lambda text: f"\u2066\u202d{text}\u202c\u2069",
    "capitals": str.upper,
}
_UNSEEN = (
    *(0x200B, 0x200C, 0x200D, 0x2060, 0xAD, 0xFEFF, 0x200E, 0x202B, 0x34F, 0xFE0F, 0xE0041, 0x180E, 0x2063),
    *(0x61C, 0x7),
)
_NAMES = {"H": HOST, "U": URL, "M": LOCAL, "G": GOOD}


def _fill(templates: list[str]) -> list[str]:
    return [template.format(**_NAMES) for template in templates]


SPELLINGS: dict[str, list[str]] = {
    "plain": _fill(GIVEN["plain"]),
    "schemes": [f"{scheme}://{HOST}/a" for scheme in GIVEN["schemes"]],
    "slashes": _fill(GIVEN["slashes"]),
    "users": _fill(GIVEN["users"]),
    "numbers": [*GIVEN["numbers"]],
    "mails": _fill(GIVEN["mails"]),
    "markdown": _fill(GIVEN["markdown"]),
    "scripts": [*GIVEN["scripts"]],
    "html": _fill(GIVEN["html"]),
    "encodings": [form(text) for form, text in product(_FORMS.values(), (HOST, URL, f"{LOCAL}@{HOST}"))],
    "points": [text.replace(".", point) for point, text in product(_POINTS, (HOST, URL, f"{LOCAL}@{HOST}"))],
    "unseen letters": [
        text.replace("tt", f"t{chr(code)}t").replace(".", f"{chr(code)}.{chr(code)}")
        for code, text in product(_UNSEEN, (HOST, URL))
    ],
    "endings of files": [*GIVEN["like_files"]],
    "hosts": [f"{start}{host}" for start, host in product(("", "https://"), GIVEN["hosts"])],
}
"""By kind; a text around them is the reader's to add."""
