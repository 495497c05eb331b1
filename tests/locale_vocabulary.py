"""Makes the list of words that a language writes in lower case, of the word lists of SCOWL.

Usage: ``python tests/locale_vocabulary.py AMERICAN BRITISH``, with files that have a word on each line, such as
Debian's packages wamerican and wbritish install.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from locale_tables import DATA


def vocabulary(words: Iterable[str]) -> str:
    """Return the words in lower case, and the beginnings of contractions (isn't), a line for each two first letters."""
    given = set(words)
    kept = {word for word in given if re.fullmatch("[a-z]{2,}", word)}
    kept |= {word.partition("'")[0] for word in given if re.fullmatch("[a-z]+n't", word)}
    heads: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(kept):
        heads[word[:2]].append(word[2:] or "-")
    return "".join(f"{head} {' '.join(rest)}\n" for head, rest in sorted(heads.items()))


if __name__ == "__main__":
    lists = [Path(path).read_text("utf-8").split() for path in sys.argv[1:]]
    (DATA / "words_en.txt").write_text(vocabulary(word for words in lists for word in words), "ascii")
