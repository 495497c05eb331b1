"""What answers a question, by its interrogative: a duration, a name, a number, a path, and which sentence has one."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from guardgraph.grounding.names import find_unsupported_names
from guardgraph.grounding.values import scan_values

Wanted: TypeAlias = Literal["duration", "time", "name", "number", "value", "term", "place", "list", ""]
"""What answers a question: how long or soon something is, when it is, who it is, any number; a default or a bound,
which may be a number or a term; a term, as *which option* asks for; a path; several things; blank for the others."""

_DURATION: Final = (
    r"how (?:long|fast|quick(?:ly)?|soon)|wie (?:lange|schnell|bald)|cuánto tiempo|combien de temps"
    r"|як (?:швидко|довго)|как (?:быстро|долго|скоро)"
)
_TIME: Final = r"when|(?:what|which) (?:\w+ )?(?:year|month|day|date|time)|wann|cuándo|quand|коли|когда"
_NAME: Final = r"who(?:m|se)?|wer|wem|wen|quién(?:es)?|qui|хто|кто"

_VALUE: Final = (
    r"(?:what(?:'s| is| are| was| were)|which(?: is| are)?) (?:the |its |their )?(?:\w+ )?"
    r"(?:default|max(?:imum)?|min(?:imum)?|largest|smallest|highest|lowest|longest|shortest|most|least|range|size|port)"
)
CODE_KINDS: Final = (
    "argument|attribute|class|command|decorator|directive|exception|field|file|flag|function|header|key|method|module"
    "|option|parameter|program|queue|setting|signal|tool|type|utility|variable"
)
_TERM: Final = rf"which|what (?:is the (?:name of the |default )?)?(?=(?:\w+ )?(?:{CODE_KINDS})\b)"
_PLACE: Final = r"where|(?:in |to |from )?(?:which|what) (?:directory|folder|path|location)"
_LIST: Final = r"(?:what|which) are (?:the |all )?|list (?:the |all )"

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
    "value": re.compile(rf"(?<!\w)(?:{_VALUE})(?!\w)", re.IGNORECASE),
    "place": re.compile(rf"(?<!\w)(?:{_PLACE})(?!\w)", re.IGNORECASE),
    "list": re.compile(rf"(?<!\w)(?:{_LIST})", re.IGNORECASE),
    "term": re.compile(rf"(?<!\w)(?:{_TERM})(?!\w)", re.IGNORECASE),
}

_DEFAULTS: Final = re.compile(r"\bdefaults?\b", re.IGNORECASE)
CODE_TERM: Final = re.compile(
    r"`[^`\n]+`|(?<![\w-])--?[a-z][\w-]+|\b[A-Z][A-Z0-9]*(?:[ _-][A-Z0-9]+)*\b|\b\w+(?:[_.]\w+)+\b|\b[a-z]\w*\(\)"
    r"|\b[A-Z][a-z]+[A-Z]\w*|\b[a-z]+[A-Z]\w*"
)
"""What is written as a name of code: in backticks, an option, capitals, a dotted or joined word."""


_PATH: Final = re.compile(r"(?<![\w/:.<])~?/[\w.@-]+(?:/[\w.@-]*)*|\b[A-Z]:\\\w")
"""A folder or a file of Unix or Windows."""


def find_wanted_kind(question: str) -> Wanted:
    """Say what answers a question, by its interrogative, in English or one of the languages listed here."""
    found = {kind: match.start() for kind, words in _KINDS.items() if (match := words.search(question))}
    return min(found, key=found.__getitem__, default="")


def score_sentence_fit(text: str, kind: Wanted, question: str) -> int:
    """Say how well a sentence fits a question, by what it says and the question does not.

    Args:
        text: the sentence.
        kind: what the question wants.
        question: the question.

    Returns:
        2 for a sentence that has what is wanted, 1 for one with a number of another kind, else 0. A duration tells
        when ("within 14 days"), and a time how long something lasts.
    """
    if kind == "name":
        return 2 if find_unsupported_names(text, [question]) else 0
    if kind == "place":
        return 2 if any(path[0] not in question for path in _PATH.finditer(text)) else 0
    if kind == "list":
        return 2 if "\n- " in text else 0
    if kind == "term":
        return 2 if _has_unasked_term(text, question) else 0
    new = _read_values(text) - _read_values(question) if kind else frozenset()
    if kind == "value" and not new and _DEFAULTS.search(text) and _has_unasked_term(text, question):
        return 2
    if not new:
        return 0
    return 2 if kind in ("number", "value") or any(map(_is_of_time, new)) else 1


def _has_unasked_term(text: str, question: str) -> bool:
    asked = question.casefold()
    return any(match[0].strip("`").casefold() not in asked for match in CODE_TERM.finditer(text))


def _read_values(text: str) -> frozenset[tuple[str, str, tuple[float, ...]]]:
    """Return the values of a text by what they are: kind, unit and amounts."""
    return frozenset((each.kind, each.unit, each.amounts) for each in scan_values(text) if each.mark != "implied")


def _is_of_time(value: tuple[str, str, tuple[float, ...]]) -> bool:
    kind, unit, _ = value
    return kind in ("date", "time") or (kind == "quantity" and unit in ("second", "calendar"))
