"""Values of a table's other row or column: a sentence that names one row alone has its figures from that row.

"The Team plan has 1 TB", where the row of Team says 100 GB and that of Business 1 TB. Only what stands in the same
column and measures the same is told. Tables whose columns are the things, told by their first heading ("Feature"), are
not read so. A sentence that names one row and one column has the figure of their cell, and not only that of another
column: "Train 703 stops at Brixley at 09:32", where that is when train 705 does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from guardgraph.grounding.sentences import split_sentences
from guardgraph.guards.facts import Facts, facts_in_text, facts_in_texts, unsupported_of_answer
from guardgraph.guards.facts.values import Amount, Clock, Date, Number, Quantity
from guardgraph.guards.facts.words import CURRENCIES
from guardgraph.guards.stop import Stop
from guardgraph.state.rag import ContextChunk

_Measured: TypeAlias = tuple[str, Amount | tuple[int | None, ...]]

_WORD: Final = re.compile(r"\w+")
_RULE: Final = frozenset("-: |")
_ASPECTS: Final = frozenset(
    {"", "feature", "features", "property", "attribute", "item", "metric", "limit", "parameter", "field", "aspect"}
)
"""First headings of tables whose columns are the things."""
_COMPARING: Final = frozenset(
    {
        "than",
        "compared",
        "unlike",
        "versus",
        "vs",
        "from",
        "instead",
        "others",
        "other",
        "whereas",
        "while",
        "but",
        "both",
    }
    | {"all", "each", "every", "except", "next", "upgrade", "difference", "total", "together", "between", "or"}
)
"""Words of a sentence that may speak of other rows than the one that it names."""
_MOST_ROWS: Final = 64
"""Rows of all tables together; longer tables are no tables of a few things."""
_LEAST_LABEL: Final = 2


class _Row(NamedTuple):
    line: str
    label: str
    cells: tuple[str, ...]
    table: int
    headings: tuple[str, ...]
    lists_aspects: bool
    """Whether the table's columns are the things."""


def check_cited_rows(answer: str, *, question: str, chunks: Sequence[ContextChunk]) -> None:
    """Refuse an answer with a sentence that names a row of a cited table and has a value of another row or column.

    Args:
        answer: the answer's text.
        question: the user's question.
        chunks: the chunks that the answer cites.

    Raises:
        Stop: ``invalid_answer:unsupported_number``.
    """
    texts = [chunk["text"] for chunk in chunks]
    rows = [row for text in texts for row in _read_rows(text)]
    if not 1 < len(rows) <= _MOST_ROWS:
        return
    for sentence in split_sentences(answer):
        words = f" {_read_label(sentence)} "
        named = {row.label for row in rows if f" {row.label} " in words}
        if len(named) != 1 or not _COMPARING.isdisjoint(words.split()):
            continue
        own = [row for row in rows if row.label in named]
        if missing := list(_list_values_of_other_columns(sentence, words, own)):
            raise Stop("invalid_answer:unsupported_number", unsupported=missing)
        own = [row for row in own if not row.lists_aspects]
        tables = {row.table for row in own}
        others = [row for row in rows if row.table in tables and row.label not in named]
        if missing := _list_foreign_values(sentence, own, others, [*texts, question]):
            raise Stop("invalid_answer:unsupported_number", unsupported=missing)


def _read_rows(text: str) -> Iterator[_Row]:
    """Yield the rows of a text's tables that have a heading, an aspect in no first heading."""
    lines = text.split("\n") if "|" in text else []
    table, headings = -1, tuple[str, ...]()
    for at, line in enumerate(lines):
        cells = tuple(cell.strip(" *`") for cell in line.strip().strip("|").split("|"))
        if len(cells) < 2:
            headings = ()
        elif at and "-" in line and _RULE.issuperset(line.strip()):
            table, headings = at, tuple(map(_read_label, lines[at - 1].strip().strip("|").split("|")))
        elif headings and len(label := _read_label(cells[0])) >= _LEAST_LABEL:
            yield _Row(line, label, cells, table, headings, headings[0] in _ASPECTS)


def _read_label(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _list_foreign_values(sentence: str, own: Sequence[_Row], others: Sequence[_Row], texts: Sequence[str]) -> list[str]:
    """Return what a sentence has from other rows alone, in a column in which its own row says something else."""
    removed = {row.line for row in others}
    left = ["\n".join(line for line in text.split("\n") if line not in removed) for text in texts]
    missing = unsupported_of_answer(sentence, facts_in_texts(left), texts=left).numbers
    if not missing:
        return []
    return [shown for shown in missing if any(_is_of_column(shown, row, mine) for row in others for mine in own)]


def _list_values_of_other_columns(sentence: str, words: str, rows: Sequence[_Row]) -> Iterator[str]:
    """Yield what a sentence has from other columns of a row alone than the one that it names."""
    said = facts_in_text(sentence).numbers
    for row in rows:
        named = [at for at, heading in enumerate(row.headings) if at and heading and f" {heading} " in words]
        if len(named) != 1 or named[0] >= len(row.cells):
            continue
        own = _list_amounts(facts_in_text(row.cells[named[0]]))
        values = [(number.shown, {*_list_values(number)}) for number in said]
        if not own or any(not found.isdisjoint(own) for _, found in values):
            continue
        kinds = {kind for kind, _ in own}
        cells = chain(row.cells[1 : named[0]], row.cells[named[0] + 1 :])
        others = {each for cell in cells for each in _list_amounts(facts_in_text(cell)) if each[0] in kinds}
        yield from sorted(shown for shown, found in values if not found.isdisjoint(others))


def _is_of_column(shown: str, row: _Row, own: _Row) -> bool:
    said = set(_list_amounts(facts_in_text(shown)))
    cells = zip(row.cells[1:], own.cells[1:], strict=False)
    return any(
        said & set(found := _list_amounts(facts_in_text(cell)))
        and {kind for kind, _ in found} & {kind for kind, _ in _list_amounts(facts_in_text(mine))}
        for cell, mine in cells
    )


def _list_amounts(facts: Facts) -> list[_Measured]:
    """Return what the values of a text measure, and how much."""
    return [each for number in facts.numbers for each in _list_values(number)]


def _list_values(number: Number) -> Iterator[_Measured]:
    for value in number.readings:
        if isinstance(value, Quantity):
            # 150 Mbit/s measures something else than 25 GB does; a price may leave out what it is for.
            is_rate = value.per is not None and value.unit.dimension not in CURRENCIES
            yield value.unit.dimension + "/" * is_rate, value.unit.convert_to_base(value.amount)
        elif isinstance(value, Clock):
            yield "clock", value.second
        elif isinstance(value, Date) and value.month is not None:
            yield "date", (value.year, value.month, value.day)
