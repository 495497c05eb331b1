"""Messages of other people's code, without what looks like a credential.

Clients like to repeat what they were given: a URL with its password, a header, a key that was refused. What is shown of
an error stands in results, logs and recordings, so it is cleaned before it is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

MARK: Final = "[key]"  # what stands in the place of a credential
MESSAGE_LIMIT: Final = 200  # characters of a message that are shown
_READ = 10_000  # characters of a message that are looked at; far more than are shown

_NAMES = (
    r"(?:passw(?:or)?d|passphrase|pwd|secret(?!ar)|token(?!s|iz)|(?:api|account|access|private)[_ -]?key"
    r"|authorization|credentials?|signature)"
)
"""Words that name a credential, in any case, also inside a name such as AWS_SECRET_ACCESS_KEY."""

_TOLD_BY = "passw passphrase pwd secret token key authorization credential signature"
"""One of these stands in each of `_NAMES`."""

# Every repetition is bounded or ends where nothing overlaps the next attempt, so that time grows with the text only.
_PATTERNS: Final = tuple(
    (told_by.split(), re.compile(pattern), shown) for told_by, pattern, shown in (
        ("-----begin",
         r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", MARK),
        ("://", r"(?<=://)[^\s/?#@]*@(?:[^\s/?#@]*@)*", f"{MARK}@"),
        ("sk- k_live_ k_test_ whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- hf_ npm_ pypi- dckr_pat_",
         r"\b(?:sk-(?=[\w-]{0,99}[A-Z0-9])[\w-]{8,}|[sr]k_(?:live|test)_\w{8,}|whsec_\w{8,}|gh[pousr]_\w{20,}"
         r"|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_\w{20,}|npm_\w{20,}|pypi-[\w-]{16,}|dckr_pat_[\w-]{16,})", MARK),
        ("akia asia aiza xox eyj", r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|xox[a-z]-[\w-]{10,}"
         r"|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?)", MARK),
        ("bearer", r"(?i)\bBearer\s+\S+", MARK),
        ("basic", r"\b(?:[Bb]asic|BASIC)\s{1,3}(?=[A-Za-z+/]{0,99}(?:[a-z][A-Z]|[0-9=]))[A-Za-z0-9+/_=-]{6,}", MARK),
        ("authorization", r"(?i)(\bauthorization[\"']?\s{0,3}[=:]\s{0,3}[\"']?)[a-z][\w-]{0,30}\s[^\s\"',;]+",
         rf"\g<1>{MARK}"),
        ("cookie", r"(?i)(\bcookie[\"']?\s{0,3}[=:]\s{0,3})[^\r\n\"']+", rf"\g<1>{MARK}"),
        ("key= sig= auth= pass=", r"(?i)([?&](?:key|sig|auth|pass)=)[^\s&#\"']+", rf"\g<1>{MARK}"),
        (_TOLD_BY, rf"(?i)({_NAMES}[\w-]{{0,20}}[\"']?\s{{0,3}}[=:]\s{{0,3}})"
         r"(?:\"[^\"\n]+\"|'[^'\n]+'|[^\s\"'&,;()<>{}]+)", rf"\g<1>{MARK}"),
        (_TOLD_BY, rf"(?i)({_NAMES}[\w-]{{0,20}}(?:[\s:='\"]{{1,4}}[a-z]{{1,10}}){{0,2}}[\s:='\"]{{1,4}})"
         r"(?=[a-z+/_-]{0,99}[0-9])[a-z0-9+/_=-]{16,}", rf"\g<1>{MARK}"),
    )
)  # fmt: skip
"""What looks like a credential, what is shown instead, and before both, in lower case, texts of which one stands in it:
most messages have none, and looking for a text takes a fraction of the time."""


def mask_secrets(text: str) -> str:
    """Return a text in which `MARK` stands for whatever looks like a credential."""
    lower = text.lower() if text.isascii() else None  # other letters may count as these, such as K for K (kelvin)
    for told_by, pattern, shown in _PATTERNS:
        if lower is None or any(map(lower.__contains__, told_by)):
            text = pattern.sub(shown, text)
    return text


def cut_and_mask_text(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return the first characters of a message, without credentials."""
    return mask_secrets(text[:_READ])[:limit]


def format_error_message(error: BaseException, first: Callable[[str], str] = str) -> str:
    """Return what is shown of an exception's message; of one that cannot even say what it is, nothing."""
    try:
        return cut_and_mask_text(first(str(error)[:_READ]))
    except Exception:  # noqa: BLE001 - an error that cannot even say what it is
        return ""
