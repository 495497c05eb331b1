"""Words that deny, except or leave out: with one of them a sentence says the opposite of what it says without."""

from __future__ import annotations

from functools import cache
from typing import Final

__all__ = ["DENYING_LANGUAGES", "negations"]

_NEGATIONS: Final = {
    "en": "no not non none never neither nor nobody nothing nowhere cannot without except excepting excepted excluding "
    "excluded excludes exclude unless lacks lacking hardly barely instead",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals niemand niemanden niemandem nichts nirgends ohne "
    "weder außer außerhalb ausgenommen ausgeschlossen keinesfalls keineswegs statt anstatt",
    "es": "no ni nunca jamás nadie nada ningún ninguno ninguna ningunos ningunas sin tampoco excepto salvo excluido "
    "excluida excluidos excluidas menos",
    "fr": "ne non ni pas jamais rien personne aucun aucune aucuns aucunes nul nulle sans sauf guère hormis excepté "
    "exclu exclue exclus exclues",
    "uk": "не ні ані нема немає ніколи ніхто нікого нічого ніщо ніде жоден жодна жодне жодні жодного жодної жодних без "
    "крім окрім",
    "ru": "не ни нет никогда никто никого ничего ничто нигде никакой никакая никакое никакие никаких без кроме нельзя",
}

DENYING_LANGUAGES: Final = frozenset(_NEGATIONS)
"""The languages whose negations are known, as ISO 639-1 codes."""


@cache
def negations() -> frozenset[str]:
    """Return the negations of all languages where they are known, case folded: a text may be in several."""
    return frozenset(" ".join(_NEGATIONS.values()).casefold().split())
