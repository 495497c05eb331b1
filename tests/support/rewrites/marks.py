"""Labels, ids, markers, dashes and quote marks said otherwise, and quotes cut out of a sentence."""

from __future__ import annotations

import re
from random import Random

from rewrites.cardinals import another, spelled
from rewrites.dates import DASHES
from rewrites.kinds import Forms, Kind, pattern
from rewrites.measures import COUNTED_NOUNS

_LABELS = (
    "Section",
    "Table",
    "Figure",
    "Chapter",
    "Step",
    "Article",
    "Appendix",
    "Phase",
    "Level",
    "Episode",
    "Season",
)


def _label_forms(match: re.Match[str], random: Random) -> Forms:
    label, number = match[1], int(match[2])
    others = {number + 1, another(number, random)}
    same = [
        f"{label} {number}",
        f"{label.lower()} {number}",
        f"{label} {spelled(number, random)}",
        f"{label}\u00a0{number}",
    ]
    return Forms(same, other=[f"{each} {other}" for other in others for each in (label, label.lower())])


LABEL = Kind(
    "labels",
    pattern(rf"\b({'|'.join(_LABELS)}) ([1-9]\d?)(?![\w%]|[.,:/–-]\d)"),
    _label_forms,
    lambda random: f"in {random.choice(_LABELS)} {random.randint(1, 40)}",
)


def _version_forms(match: re.Match[str], random: Random) -> Forms:
    word, major, minor = match[1], match[2], match[3]
    same = [f"{word} {major}.{minor}", f"v{major}.{minor}", f"version {major}.{minor}"]
    numbers = [f"{major}.{minor}0", f"{major}.{int(minor) + 1}", f"{int(major) + 1}.{minor}", f"{major}.{minor}.1"]
    numbers += [f"{major}.{minor[0]}"] if len(minor) == 2 else []
    return Forms(same, other=[f"{each}{number}" for number in numbers for each in (f"{word} ", "v")])


VERSION = Kind(
    "versions",
    pattern(r"\b(version) (\d{1,2})\.(\d{1,2})(?![\w.])"),
    _version_forms,
    lambda random: f"in {random.choice(['version', 'Version'])} {random.randint(1, 9)}.{random.randint(1, 30)}",
)


def _id_forms(match: re.Match[str], random: Random) -> Forms:
    text = match[0]
    places = [at for at, letter in enumerate(text) if letter.isdigit()]
    others = set()
    for at in random.sample(places, min(3, len(places))):
        digit = random.choice([each for each in "123456789" if each != text[at]])
        others.add(text[:at] + digit + text[at + 1 :])
    return Forms([text, text.replace("-", "‑")], other=[*sorted(others), text + "7"])


def _id(random: Random) -> str:
    return random.choice(
        [
            f"CVE-20{random.randint(10, 26)}-{random.randint(1000, 99_999)}",
            f"{random.choice(['JIRA', 'OPS', 'ABC', 'TICKET', 'INC', 'DOC', 'PRJ'])}-{random.randint(10, 9999)}",
            f"RFC-{random.randint(100, 9999)}",
            f"DOC-20{random.randint(10, 26)}-{random.randint(100, 999)}",
        ]
    )


IDS = Kind(
    "ids",
    re.compile(r"(?<![\w/.-])[A-Z]{2,}(?:-20\d\d)?-\d{2,5}(?![\w/-]|\.\d)"),
    _id_forms,
    lambda random: f"under {_id(random)}",
)

_ANY_NUMBER = r"(?<![\w.,:/$€£–—−-])(\d{2,4}) ([a-z]{3,})\b"


def _marker_forms(match: re.Match[str], random: Random) -> Forms:
    # What stands before the sentence counts the parts of an answer.
    return Forms([], [f"{marker}{match[0]}" for marker in _MARKERS])


_MARKERS = ("First, ", "Second, ", "Step 1: ", "1. ", "- ", "2) ", "Thirdly, ", "Finally, ", "(1) ", "Step 2: ", "• ")
MARKERS = Kind(
    "markers",
    re.compile(r"^[A-Z][a-z]+ (?=\w)(?!\d)"),
    _marker_forms,
    lambda random: f"by {random.randint(2, 99)} players",
)


def _dash_forms(match: re.Match[str], random: Random) -> Forms:
    number, word = match[1], match[2]
    other = another(int(number), random)
    dashes = DASHES[:3]
    return Forms([f"{number}{dash}{word}" for dash in dashes], other=[f"{other}{dash}{word}" for dash in dashes])


DASH = Kind(
    "dashes",
    pattern(
        r"(?<![\w.,:/–-])([2-9]|[1-9]\d\d?)-(minute|hour|day|week|year|mile|foot|metre|point|member|page|inch)\b(?!-)"
    ),
    _dash_forms,
    lambda random: (
        f"after a {random.randint(2, 120)}-{random.choice(['minute', 'hour', 'day', 'mile', 'page', 'member'])} talk"
    ),
)
_QUOTES = ("“{}”", '"{}"', "«{}»", "‘{}’", "'{}'", "„{}“", "‹{}›", "``{}''", "“{}“", "＂{}＂", "`{}`", "「{}」")


def _quoted_forms(match: re.Match[str], random: Random) -> Forms:
    number, noun = match[1], match[2]
    said, other = f"{number} {noun}", f"{another(int(number), random)} {noun}"
    forms = random.sample(_QUOTES, 6)
    return Forms([form.replace("{}", said) for form in forms], other=[form.replace("{}", other) for form in forms])


QUOTED = Kind(
    "quote_marks",
    pattern(_ANY_NUMBER),
    _quoted_forms,
    lambda random: (
        f"with {random.randint(11, 999)} {random.choice([*COUNTED_NOUNS.split(), 'minutes', 'km', 'hours'])}"
    ),
)


def _quote_forms(match: re.Match[str], random: Random) -> Forms | None:
    words = match[0].split(" ")
    if len(words) < 6 or any(not word for word in words):
        return None
    first = random.randrange(len(words) - 4)
    last = random.randint(first + 4, len(words))
    kept = " ".join(words[first:last])
    before, after = " ".join(words[:first]), " ".join(words[last:])
    word = re.search(r"[^\W\d_]{3,}$", words[first - 1]) if first else None
    same = [kept, kept.replace("-", "–"), kept.replace(" ", "\n", 1), kept.replace('"', "”").replace("'", "’")]
    other = [f"{words[first - 1][-1]} {kept}"] if word and before else []
    if re.match(r"[^\W\d_]{3,}", words[first]):
        other.append(kept[1:])
    if re.search(r"[^\W\d_]{3,}$", words[last - 1]):
        other.append(kept[:-1])
    if after and re.match(r"[^\W\d_]{3,}", words[last]):
        other.append(f"{kept} {words[last][0]}")
    return Forms([], same, other)


QUOTE = Kind(
    "quotes_at_word_ends",
    re.compile(r"^[^\n]+$"),
    _quote_forms,
    lambda random: f"by {random.randint(2, 99)} players",
    rule="quotes",
)


def _drawn_forms(match: re.Match[str], random: Random) -> Forms | None:
    """Draw every dash, or every quote mark, or every blank of a sentence in another way."""
    text, dashes = match[0], set(DASHES)
    if not any(each.isdigit() for each in text):
        return None
    other_dash, blank = random.choice(DASHES), random.choice("\u00a0\u2009\u202f\u3000\t")
    drawn = ["".join(other_dash if each in dashes else each for each in text)]
    drawn.append(text.replace('"', "”").replace("'", "’").replace("``", "“").replace("''", "”"))
    drawn.append(re.sub(r"(?<=[^\W\d]) (?=[^\W\d])", blank, text))
    return Forms([each for each in drawn if each != text])


DRAWN = Kind(
    "drawn_otherwise",
    re.compile(r"^[^\n]+$"),
    _drawn_forms,
    lambda random: random.choice(
        ["in 1914-18 at the 'Old Mill'", "with a 45-mile run", 'at 10:30-11:30 in the "Hall"']
    ),
)
KINDS = (DRAWN, LABEL, VERSION, IDS, MARKERS, DASH, QUOTED, QUOTE)
