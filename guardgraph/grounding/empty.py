"""Whether a text says nothing: a model that has nothing to say writes a placeholder, or back what it was told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from guardgraph.grounding.languages import list_hand_words
from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import list_content_words, list_word_keys
from guardgraph.plain.letters import is_unspaced_letter

_FORM: Final = re.compile(r"\s*(?:<[\w ,.-]*>|\{[\w ,.-]*\}|\[[\w ,.-]*\])[\s.]*")
"""What stands in a form for what is to be filled in."""

_DONE: Final = ["done"]
_FEWEST_TOLD_WORDS: Final = 3
"""Words of a sentence that is a prompt's own, or that says something without a content word."""


def is_empty_text(
    text: str, *, echoes: Iterable[str] = (), told: Iterable[str] = (), results: Iterable[str] = ()
) -> bool:
    """Say whether a text says nothing: it is blank, or only repeats its question (`echoes`) or its prompt (`told`).

    `results` are what tools brought; where a call was made, a number of theirs, a whole one and "done" are said.
    """
    said = list_word_keys(text)
    if (
        not any(map(str.isalnum, "".join(said)))
        or _FORM.fullmatch(text)
        or (len(said) == 1 and said[0] in list_hand_words("en", "fillers"))
    ):
        return True
    if text.rstrip().endswith((":", "\uff1a")) and "\n" not in text.strip():
        return True
    if len(said) < _FEWEST_TOLD_WORDS and not any(map(_is_content_word, list_content_words(text))):
        return not any(_is_value(said, list_word_keys(result)) for result in results)
    if any(said == list_word_keys(echo) for echo in echoes):
        return True
    known = _join_told(tuple(told))
    return bool(known) and all(_is_told_by_prompt(sentence, known) for sentence in split_sentences(text))


def _is_value(said: Sequence[str], result: Sequence[str]) -> bool:
    """Say whether few words are a number of a result, a whole result, or that the call is done."""
    return said in (result, _DONE) or (all(word.isdecimal() for word in said) and {*said} <= {*result})


def _is_content_word(word: str) -> bool:
    return len(word) > 1 or is_unspaced_letter(word)


@lru_cache(maxsize=4)
def _join_told(told: tuple[str, ...]) -> str:
    """Return the words of what writers are told, each between blanks; the prompts of a process are read once."""
    return "\n".join(f" {' '.join(list_word_keys(text))} " for text in told)


def _is_told_by_prompt(sentence: str, told: str) -> bool:
    words = list_word_keys(sentence)
    return len(words) >= _FEWEST_TOLD_WORDS and f" {' '.join(words)} " in told
