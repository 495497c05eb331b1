"""`check_answer`: what a finished answer says, sentence by sentence, and what its sources say of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from guardgraph.checking.checked import PASSED, CheckedAnswer
from guardgraph.grounding.check import Checks, Source, check_text, decide
from guardgraph.grounding.empty import is_empty_text
from guardgraph.grounding.marks import CitingSentence, Mark, find_answer_sentences, read_marks
from guardgraph.plain.errors import ConfigurationError, InputError

SETTINGS: Final[Mapping[str, object]] = {
    "check_values": True,
    "check_names": True,
    "check_opposites": True,
    "check_cover": True,
    "min_cover": 0.35,
    "label_patterns": (),
    "known_names": (),
    "known_links": (),
    "markup": (),
    "on_unsupported": "stop",
    "on_doubt": "mark",
}
"""What of a policy is read, with what holds where it says nothing."""
_WAYS: Final = {"on_unsupported": ("stop", "mark"), "on_doubt": ("ignore", "mark", "stop")}
"""What settings that are words may be."""
_TEXT_KEYS: Final = ("text", "page_content", "content", "body")
_ID_KEYS: Final = ("id", "doc_id", "source_id")
_ABOUT_KEYS: Final = ("title", "section", "source", "updated_at", "date", "url")


def check_answer(
    answer: str,
    sources: Iterable[object],
    *,
    question: str = "",
    workings: Sequence[str] = (),
    known_names: Collection[str] = (),
    known_links: Collection[str] = (),
    citations: Sequence[str] | None = None,
    policy: object = None,
) -> CheckedAnswer:
    """Return the verdict of every sentence of an answer, and whether an agent with this policy would give it.

    Args:
        answer: its text; a sentence with a mark such as ``[2]`` or ``[handbook]`` is held against what it cites.
        sources: texts, documents of LangChain's, dictionaries with ``text`` and, if there are any, ``id``, ``title``,
            ``section``, ``source``, ``updated_at``; or a knowledge base's passages. Those without an id are numbered
            from 1; those that share one are pieces of one source.
        question: whose words, values and names the answer may repeat.
        workings: how it comes to values that no source states, such as ``"10 * 0.22 + 1.00 = 3.20"``.
        known_names: names that need no source.
        known_links: hosts, URLs and mail addresses that need no source.
        citations: ids of the sources that the whole answer cites; all when None.
        policy: settings of an agent's policy, or a dictionary of them; which are read, `SETTINGS` says.

    Raises:
        InputError: an argument is not what it should be; the message names it.
        ConfigurationError: the policy has a setting that is none of `SETTINGS`.
    """
    for field, said in (("answer", answer), ("question", question)):
        if not isinstance(said, str):
            raise InputError(f"{field}: a text is required; given: {type(said).__name__}")
    lists = {"workings": workings, "known_names": known_names, "known_links": known_links, "citations": citations or ()}
    for field, given in lists.items():
        if not _is_list_of_texts(given):
            raise InputError(f"{field}: a list of texts is required; given: {given!r:.80}")
    if isinstance(sources, str | bytes | Mapping) or not isinstance(sources, Iterable):
        raise InputError(f"sources: a list of texts or documents is required; given: {type(sources).__name__}")
    return judge_answer_text(
        answer,
        [read_source(item, number) for number, item in enumerate(sources, 1)],
        read_settings(policy),
        question=question,
        workings=workings,
        known_names=known_names,
        known_links=known_links,
        citations=citations,
    )


def judge_answer_text(
    answer: str,
    read: Sequence[Source],
    settings: Mapping[str, Any],
    *,
    question: str,
    workings: Sequence[str] = (),
    known_names: Collection[str] = (),
    known_links: Collection[str] = (),
    citations: Sequence[str] | None = None,
    results: Sequence[Source] = (),
) -> CheckedAnswer:
    """Hold an answer against sources that were read; a number of the results of tools may be all that it says."""
    united = dict[str, Source]()
    for source in read:
        before = united.setdefault(source.id, source)
        if source.text != before.text:
            about = tuple(dict.fromkeys((*before.about, *source.about)))
            united[source.id] = Source(source.id, f"{before.text}\n\n{source.text}", about)
    read = [*united.values()]
    ids = {source.id for source in read}
    text, marks, unknown = read_marks(answer, ids, [source.text for source in read])
    unknown = [*dict.fromkeys([*unknown, *(name for name in citations or () if name not in ids)])]
    cited = [source for source in read if citations is None or source.id in citations]
    sentences = _assign_marks(text, marks, [source.id for source in cited])
    checked = check_text(
        text,
        read,
        question=question,
        known_names=[*settings["known_names"], *known_names],
        workings=workings,
        checks=Checks(
            values=settings["check_values"],
            names=settings["check_names"],
            opposites=settings["check_opposites"],
            cover=settings["check_cover"],
            min_cover=settings["min_cover"],
            known_links=(*settings["known_links"], *known_links),
            markup=tuple(settings["markup"]),
            label_patterns=tuple(settings["label_patterns"]),
        ),
        sentences=sentences,
    )
    reason, unsupported = PASSED, tuple[str, ...]()
    decision = decide(checked, on_unsupported=settings["on_unsupported"], on_doubt=settings["on_doubt"])
    if is_empty_text(text, echoes=[question, *ids], results=[source.text for source in results]):
        reason = "invalid_answer:empty"
    elif unknown:
        reason, unsupported = "invalid_answer:citations_out_of_context", tuple(unknown)
    elif decision.stops:
        reason, unsupported = f"invalid_answer:{decision.reason}", decision.unsupported
    return CheckedAnswer(
        text, checked.verdict, reason, checked.sentences, unsupported, tuple(unknown), decision.marked, tuple(read)
    )


def read_source(item: object, number: int) -> Source:
    """Return what somebody has as a source: a text, a document of LangChain's, or a dictionary with a text."""
    if isinstance(item, Source):
        return item
    if isinstance(item, str):
        return Source(str(number), item)
    fields: dict[str, Any] = {}
    if isinstance(item, Mapping):
        about = item.get("metadata")
        fields = {**(about if isinstance(about, Mapping) else {}), **item}
    elif isinstance(text := getattr(item, "page_content", None), str):  # a document of LangChain's, not imported
        fields = {**(getattr(item, "metadata", None) or {}), "text": text}
        if isinstance(name := getattr(item, "id", None), str):
            fields["id"] = name
    text = next((fields[key] for key in _TEXT_KEYS if isinstance(fields.get(key), str)), None)
    if text is None:
        allowed = "a text, a document of LangChain's, or a dictionary with a text under " + " or ".join(_TEXT_KEYS)
        hint = "; of files, load_folder makes documents" if isinstance(item, PurePath) else ""
        raise InputError(f"sources[{number - 1}]: {allowed} is required{hint}; given: {item!r:.80}")
    name = next((str(fields[key]) for key in _ID_KEYS if isinstance(fields.get(key), str | int)), str(number))
    told = [fields[key] for key in _ABOUT_KEYS if isinstance(fields.get(key), str) and fields[key].strip()]
    return Source(name, text, tuple(dict.fromkeys(told)))


def read_settings(policy: object) -> dict[str, Any]:
    """Return the `SETTINGS` of a policy, by attribute or by key."""
    if isinstance(policy, Mapping):
        if unknown := sorted(map(str, policy.keys() - SETTINGS.keys())):
            raise ConfigurationError(f"policy: given {', '.join(unknown)}; allowed: {', '.join(SETTINGS)}")
        settings = {**SETTINGS, **policy}
    elif policy is None or any(hasattr(policy, name) for name in SETTINGS):
        settings = {name: getattr(policy, name, default) for name, default in SETTINGS.items()}
    else:
        raise ConfigurationError(f"policy: an agent's policy or a dictionary is required; given: {policy!r:.80}")
    for name, value in settings.items():
        if (allowed := _find_allowed(name, value)) is not None:
            raise ConfigurationError(f"policy: {name}: {allowed} is required; given: {value!r:.80}")
    return settings


def _find_allowed(name: str, value: Any) -> str | None:
    """Say what a setting may be; None where it is that."""
    if name in _WAYS:
        return None if isinstance(value, str) and value in _WAYS[name] else " or ".join(_WAYS[name])
    if isinstance(SETTINGS[name], bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(SETTINGS[name], float):
        is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        return None if is_share else "a number from 0 to 1"
    if not _is_list_of_texts(value):
        return "a list of texts"
    return "a list of regular expressions" if name == "label_patterns" and not all(map(_is_pattern, value)) else None


def _is_list_of_texts(given: object) -> bool:
    return isinstance(given, Collection) and not isinstance(given, str) and all(isinstance(each, str) for each in given)


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _assign_marks(text: str, marks: Sequence[Mark], cited: Sequence[str]) -> list[CitingSentence]:
    """Return the sentences of an answer; one with marks cites what they name, one without all that the answer cites."""
    places, found = [mark.at for mark in marks], list[CitingSentence]()
    for start, end, upto, _ in find_answer_sentences(text):
        own = marks[bisect_right(places, start) : bisect_right(places, upto)]
        ids = tuple(dict.fromkeys(name for mark in own for name in mark.ids)) or tuple(cited)
        found.append(CitingSentence(start, end, ids))
    return found
