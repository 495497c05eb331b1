"""How often the check of names refuses true sentences, by language.

Usage: ``python benchmarks/names_languages.py xquad_languages.json``, with texts and questions of XQuAD (Artetxe et al.
2020, CC BY-SA 4.0) as ``{language: {"paragraphs": {id: text}, "questions": [{question, paragraph, ...}]}}``, where a
paragraph's id begins with its article's and "#". Prints ``name value`` lines. Each question is taken as an answer that
cites its article: its names are the article's, in whole sentences and in other forms.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

from names import flagged


def main(path: str) -> None:
    """Measure every language of the file."""
    for language, data in json.loads(Path(path).read_text(encoding="utf-8")).items():
        articles: defaultdict[str, list[str]] = defaultdict(list)
        for paragraph, text in data["paragraphs"].items():
            articles[_article(paragraph)].append(text)
        asked = [(item["question"], articles[_article(item["paragraph"])]) for item in data["questions"]]
        refused = sum("names" in flagged(sentence, question="", texts=texts) for sentence, texts in asked)
        print(f"{language}_true_sentences {len(asked)}")
        print(f"{language}_true_flagged_pct {100 * refused / len(asked):.1f}")


def _article(paragraph: str) -> str:
    return paragraph.partition("#")[0]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/names_languages.py PATH_OF_XQUAD_LANGUAGES_JSON")
    main(sys.argv[1])
