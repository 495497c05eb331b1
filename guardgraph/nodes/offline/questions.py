"""What a question asks for, by its interrogative."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

__all__ = ["Wanted", "wanted"]

Wanted: TypeAlias = Literal["duration", "time", "name", "number", ""]
"""What answers a question: how long or soon something is, when it is, who it is, any number; blank for the others."""

_DURATION: Final = (
    r"how (?:long|fast|quick(?:ly)?|soon)|wie (?:lange|schnell|bald)|cuánto tiempo|combien de temps"
    r"|як (?:швидко|довго)|как (?:быстро|долго|скоро)"
)
_TIME: Final = r"when|(?:what|which) (?:\w+ )?(?:year|month|day|date|time)|wann|cuándo|quand|коли|когда"
_NAME: Final = r"who(?:m|se)?|wer|wem|wen|quién(?:es)?|qui|хто|кто"

_ENGLISH: Final = (
    r"how (?:many|much|long|often|fast|quick(?:ly)?|soon|far|old|big|large|high|deep|wide|tall|late|early)|when"
    r"|(?:what|which) (?:\w+ )?(?:year|month|day|date|time|percent(?:age)?|share|rate|number|price|cost|amount|limit)"
)
_GERMAN: Final = (
    r"wann|wie ?viele?[nrms]?|wie (?:lange|oft|schnell|bald|weit|alt|groß|hoch|tief|breit|spät|teuer)"
    r"|welche[mnrs]? (?:jahr|monat|tag|datum|anteil|preis|zahl)"
)
_SPANISH: Final = r"cuándo|cu[áa]nt[oa]s?|qué (?:año|mes|día|fecha|hora|porcentaje|precio|número|plazo)|qué tan"
_FRENCH: Final = r"quand|combien|quel(?:le)?s? (?:année|mois|jour|date|heure|pourcentage|prix|nombre|délai|taux|durée)"
_UKRAINIAN: Final = (
    r"коли|скільки|як (?:швидко|довго|часто|далеко)|як(?:ий|ого|ому|ої|ій|ою) (?:рік|року|році|дата|дати|відсоток)"
)
_RUSSIAN: Final = (
    r"когда|сколько|скольких|как (?:быстро|долго|часто|далеко|скоро)"
    r"|как(?:ой|ого|ом|ая|ую) (?:год|году|года|дата|дату|процент|число)"
)
_CHINESE: Final = r"多少|几|何时|什么时候|哪一?年|多久|多长|多快|多大|多高"
_HINDI: Final = r"कितन[ाेीों]+|कब"

_WORDS = re.compile(
    rf"(?<!\w)(?:{'|'.join((_ENGLISH, _GERMAN, _SPANISH, _FRENCH, _UKRAINIAN, _RUSSIAN))})(?!\w)|{_CHINESE}|{_HINDI}",
    re.IGNORECASE,
)

_KINDS: Final[dict[Wanted, re.Pattern[str]]] = {
    "duration": re.compile(rf"(?<!\w)(?:{_DURATION})(?!\w)", re.IGNORECASE),
    "time": re.compile(rf"(?<!\w)(?:{_TIME})(?!\w)", re.IGNORECASE),
    "name": re.compile(rf"(?<!\w)(?:{_NAME})(?!\w)", re.IGNORECASE),
    "number": _WORDS,
}


def wanted(question: str) -> Wanted:
    """Say what answers a question, by its interrogative, in English or one of the languages listed here."""
    found = {kind: match.start() for kind, words in _KINDS.items() if (match := words.search(question))}
    return min(found, key=found.__getitem__, default="")
