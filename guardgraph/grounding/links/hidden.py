"""Signs that hide or turn a text where it is shown, and that no language is written with.

A model reads what a person does not see: tags (U+E0000 to U+E007F) and the variation selectors of a supplement can
spell whole texts, and an override shows a text backwards. A source that has them is no reason for an answer to.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f")
"""A flag of a region, the one use of tags."""
_VARIANT: Final = re.compile("(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]")
"""A form of a Han character, the one use of these selectors."""
_HIDDEN: Final = re.compile(
    "[\U000e0000-\U000e01ef]+|[\u202d\u202e]|[\u200b\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164\uffa0]{3,}"
)
"""Tags, selectors, overrides, and signs without width in a row, which spell bits."""
_EMBEDDING: Final = re.compile("[\u202a\u202b\u2066-\u2068]")
"""What sets a part of a text apart by its direction, as texts of two directions need."""
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})


def find_hidden_signs(text: str) -> list[str]:
    """Return the signs of a text that hide or turn what stands there, each as its escape."""
    if text.isascii() or (text.isprintable() and not _HIDDEN.search(text)):
        return []
    read = _VARIANT.sub("", _FLAG.sub("", text))
    found = [match[0] for match in _HIDDEN.finditer(read)]
    if not any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in read):
        found += _EMBEDDING.findall(read)
    return [ascii(sign)[1:-1] for sign in dict.fromkeys(found)]
