"""A sentence, what says the same otherwise, and what says another thing: how one is made of any sentence.

Everything here is pure and seeded, and knows nothing of the guards that it measures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple

from rewrites.cardinals import in_digits

NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[$€£¥₹₴%°]")


class Rewrite(NamedTuple):
    """A source and claims about it."""

    kind: str
    source: str
    same: tuple[str, ...]
    """Claims that the source supports."""
    other: tuple[str, ...]
    """Claims that it does not."""


@dataclass(frozen=True)
class Forms:
    """How a phrase may be said instead.

    Args:
        same: forms that say the same, each of which may stand in the source too.
        less: forms that say less: the source supports them, and they do not support it.
        other: forms that say another thing.
        source: what stands in the source, where it is not the phrase that was found.
        before: a sentence of the source before the one with the phrase.
    """

    same: Sequence[str] = ()
    less: Sequence[str] = ()
    other: Sequence[str] = ()
    source: str = ""
    before: str = ""


@dataclass(frozen=True)
class Kind:
    """A class of rewrites.

    Args:
        name: of the class, part of the name of its figures.
        pattern: finds a phrase in a sentence.
        forms: says the phrase otherwise; None where it cannot be said whether the meaning is kept.
        plant: makes a phrase with a preposition, in which `pattern` finds its phrase.
        language: which texts it is for.
        rule: what judges it.
        carriers: sentences that a planted phrase is put into; those of the language when empty.
    """

    name: str
    pattern: re.Pattern[str]
    forms: Callable[[re.Match[str], Random], Forms | None]
    plant: Callable[[Random], str]
    language: str = "en"
    rule: Literal["facts", "quotes"] = "facts"
    carriers: Sequence[str] = field(default=())

    def generated(self, random: Random) -> Rewrite:
        """Make a sentence and rewrite it."""
        for _ in range(1000):
            carrier = random.choice(self.carriers or CARRIERS[self.language])
            sentence = carrier.replace("{}", self.plant(random))
            if (found := next(self.found(sentence, random), None)) and (found.same or found.other):
                return found
        raise LookupError(f"{self.name}: the pattern finds nothing in what is planted")

    def planted(self, sentence: str, random: Random) -> Iterator[Rewrite]:
        """Rewrite a sentence after its end was given a phrase of this class."""
        ending = re.search(r"[\s.!?。।]*$", sentence)
        at = ending.start() if ending else len(sentence)
        start = len(sentence[:at]) + 1
        grown = f"{sentence[:at]} {self.plant(random)}{sentence[at:]}"
        yield from (each for each in self._found(grown, random, start))

    def found(self, sentence: str, random: Random) -> Iterator[Rewrite]:
        """Rewrite each phrase of a sentence in turn."""
        return self._found(sentence, random, 0)

    def _found(self, sentence: str, random: Random, start: int) -> Iterator[Rewrite]:
        for match in self.pattern.finditer(sentence, start):
            forms = self.forms(match, random)
            if forms is None:
                continue
            phrase, rest = match[0], sentence[: match.start()] + " " + sentence[match.end() :]
            fixed = forms.source or phrase
            sources = [fixed, *([random.choice(forms.same)] if forms.same and not forms.source else [])]
            others = [each for each in forms.other if _is_new(each, phrase, rest)]
            for said in sources:
                source = _with(sentence, match, said)
                less = forms.less if said == fixed else ()
                yield Rewrite(
                    self.name,
                    f"{forms.before} {source}".strip(),
                    tuple(_with(sentence, match, each) for each in [*forms.same, *less, phrase][:14]),
                    tuple(_with(sentence, match, each) for each in others[:12]),
                )


def _with(sentence: str, match: re.Match[str], phrase: str) -> str:
    return sentence[: match.start()] + phrase + sentence[match.end() :]


def _is_new(other: str, phrase: str, rest: str) -> bool:
    """Say whether the rest of the sentence has nothing that could license the other phrase."""
    held, tokens, old = (set(_TOKEN.findall(in_digits(text.lower()))) for text in (rest, other, phrase))
    plain = {token for token in tokens - old if token not in ("the", "of", "to", "and", "a", "an", "from", "s", "in")}
    return not plain & held and not {token for token in tokens if token[0].isdigit()} & held


def pattern(text: str) -> re.Pattern[str]:
    """Compile the pattern of a phrase."""
    return re.compile(text, re.IGNORECASE)


CARRIERS = {
    "en": (
        "The northern bridge was closed {} and nobody knew why.",
        "According to the county, the work was finished {}.",
        "He wrote that the company had changed its plan {}, which surprised the owners.",
        "The choir (founded by a baker) moved to Leeds {}; it stayed there.",
        "Because of the rain, their train stopped {} near the old mill.",
        "{}, said the mayor, the market opened again.",
        "What the survey found {} was never printed.",
        "The team lost {} - a surprise to everyone.",
        "Nothing of this was known {}: the files were burnt.",
        "It is often said that the harbour was built {}",
    ),
    "de": (
        "Die Brücke wurde {} gesperrt.",
        "Nach Angaben der Stadt endeten die Arbeiten {}.",
        "Das ist der Chor, der {} noch nicht bekannt war.",
    ),
    "es": ("El puente se cerró {} por la lluvia.", "Según la ciudad, las obras terminaron {}."),
    "fr": ("Le pont a été fermé {} à cause de la pluie.", "Selon la ville, les travaux ont pris fin {}."),
    "ru": ("Мост был закрыт {} из-за дождя.", "По словам мэра, работы закончились {}."),
    "uk": ("Міст закрили {} через дощ.", "За словами мера, роботи в місті завершилися {}."),
    "zh": ("那座桥{}被关闭了。", "据市长说，工程{}结束了。"),
}
"""Sentences without a fact of their own."""
