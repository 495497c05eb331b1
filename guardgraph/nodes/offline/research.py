"""The Research agent's offline proposers: the standard plan, and a brief that repeats the notes' claims."""

from __future__ import annotations

from typing import Final, NamedTuple

from guardgraph.guards.research.plan import RESEARCH_ACTIONS
from guardgraph.languages.language import language_of
from guardgraph.plain.json import JsonObject
from guardgraph.state.instant import instant

__all__ = ["answer", "plan"]

CLAIMS = 3
"""Claims that a brief repeats at most."""


class _Frame(NamedTuple):
    """What stands before and after the claims of a brief."""

    opening: str
    closing: str


_FRAMES: Final = {
    "en": _Frame("Research brief:", "Timeline values are estimates and may change."),
    "de": _Frame("Kurzbericht:", "Zeitangaben sind Schätzungen und können sich ändern."),
    "es": _Frame("Informe breve:", "Los plazos son estimaciones y pueden cambiar."),
    "fr": _Frame("Note de synthèse :", "Les délais sont des estimations et peuvent changer."),
    "uk": _Frame("Короткий звіт:", "Строки є оцінками й можуть змінитися."),
    "ru": _Frame("Краткий отчёт:", "Сроки являются оценками и могут измениться."),
}
"""By language. Claims in another language stand alone: words of a brief's own would be in a language of their own."""


@instant
def plan(view: JsonObject) -> JsonObject:
    """Propose the standard plan, which searches for the question.

    Args:
        view: ``{goal, request}``.
    """
    steps = [{"id": f"r{number}", "action": action, "args": {}} for number, action in enumerate(RESEARCH_ACTIONS, 1)]
    return {"steps": [{**steps[0], "args": {"query": view["request"]["question"]}}, *steps[1:]]}


@instant
def answer(view: JsonObject) -> JsonObject:
    """Propose a brief of the first notes' claims, in their language.

    Args:
        view: ``{goal, question, notes, max_answer_chars}``.
    """
    notes = view["notes"][:CLAIMS]
    claims = " ".join(note["claim"] for note in notes)
    # What nothing tells is taken for English where it could be: "P1, ETA 45 min".
    frame = _FRAMES.get(language_of(claims) or ("en" if claims.isascii() else ""))
    brief = f"{frame.opening} {claims} {frame.closing}" if frame else claims
    return {"answer": brief, "citations": [note["id"] for note in notes]}
