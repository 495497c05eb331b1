"""Tables and lists of labels in sources: a sentence that names a row and a column says the value that stands there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from guardgraph.grounding.cover import ReadText
from guardgraph.grounding.values import Value, ValueIndex, find_support
from guardgraph.grounding.words import is_function_word, split_words, stem
from guardgraph.plain.memory import remember_by_text

_ROW: Final = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_CELL: Final = re.compile(r"[^|\n]+")
_RULE: Final = re.compile(r"[\s:|-]+")
_LABEL: Final = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?([^\W\d_][^\n:|…]{0,60}?)[ \t]*(?::|…|\.{3,}|\t)[ \t]*(?=\S*\d)([^\n]*)$", re.MULTILINE
)
_MOST_ROWS: Final = 500
_LEAST_ROWS: Final = 2


class Row(NamedTuple):
    """A row of a table, or a line of a list."""

    label: frozenset[str]  # the stems of its words
    cells: tuple[tuple[Value, ...], ...]  # what stands under each column, by number; a list has one
    source: int  # the number of the text that it stands in


class Table(NamedTuple):
    """Rows whose values are told apart by labels."""

    columns: tuple[frozenset[str], ...]  # the stems of the headings; none of a list
    rows: tuple[Row, ...]
    row_of: Mapping[str, int]  # which row a word names: one that no other row's label has
    known: ValueIndex


_Columns = tuple[frozenset[str], ...]
_Rows = list[tuple[frozenset[str], tuple[tuple[Value, ...], ...]]]


def join_tables(texts: Sequence[ReadText]) -> list[Table]:
    """Return the tables and the lists of labels of texts; those with the same headings are one."""
    joined: dict[tuple[frozenset[str], ...], list[Row]] = {}
    for source, read in enumerate(texts):
        for columns, rows in _read_rows(read.text, read.values):
            joined.setdefault(columns, []).extend(Row(label, cells, source) for label, cells in rows)
    tables = list[Table]()
    for columns, found in joined.items():
        kept = tuple(found[:_MOST_ROWS])
        counted = Counter(word for row in kept for word in row.label)
        row_of = {word: number for number, row in enumerate(kept) for word in row.label if counted[word] == 1}
        if len(set(row_of.values())) >= _LEAST_ROWS:
            known = ValueIndex(value for row in kept for cell in row.cells for value in cell)
            tables.append(Table(columns, kept, row_of, known))
    return tables


@remember_by_text(texts=256, chars=50_000)
def _read_rows(text: str, values: tuple[Value, ...]) -> tuple[tuple[_Columns, _Rows], ...]:
    """Return the rows of each table of a text, and those of its lists."""
    starts = [value.start for value in values]

    def take_values(span: tuple[int, int]) -> tuple[Value, ...]:
        return values[bisect_left(starts, span[0]) : bisect_left(starts, span[1])]

    found = list[tuple[_Columns, _Rows]]()
    for block in _find_blocks(text) if "|" in text else ():
        head, *lines = block
        columns = tuple(_list_stems(text[slice(*cell)]) for cell in head[1:])
        rows = [(_list_stems(text[slice(*line[0])]), tuple(take_values(cell) for cell in line[1:])) for line in lines]
        found.append((columns, rows))
    labelled = ((match[1], take_values(match.span(2))) for match in _LABEL.finditer(text))
    listed: _Rows = [(_list_stems(label), (cell,)) for label, cell in labelled if cell]
    return (*found, ((), listed))


def _find_blocks(text: str) -> Iterator[list[list[tuple[int, int]]]]:
    """Yield the places of the cells of tables: of their rows, the heading first."""
    block, at = list[list[tuple[int, int]]](), -1
    for match in _ROW.finditer(text):
        if match.start() > at + 1 and block:
            yield block
            block = []
        if not _RULE.fullmatch(match[0]):
            block.append([cell.span() for cell in _CELL.finditer(text, *match.span()) if cell[0].strip()])
        at = match.end()
    if block:
        yield block


def _list_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.key) for word in split_words(text) if not is_function_word(word.key))


class Misplaced(NamedTuple):
    """A value of a sentence that stands in another row or column than the one that it names."""

    value: Value
    told: Value  # what stands where the sentence says
    source: int  # the number of the text where that stands


def find_misplaced_values(sentence: str, begin: int, values: Sequence[Value], table: Table) -> Iterator[Misplaced]:
    """Yield the values of a sentence that are not those of the row and column that it names."""
    named = [
        (begin + word.start, table.row_of[key])
        for word in split_words(sentence)
        for key in [stem(word.key.removesuffix("s") if "'s" in sentence[word.start : word.end] else word.key)]
        if key in table.row_of
    ]
    said = _list_stems(sentence)
    at, current = begin, list[int]()
    for value in values:
        fresh = list(dict.fromkeys(row for place, row in named if at <= place < value.start))
        current, at = fresh or current, value.end
        is_term = value.text.isalpha() and sentence[value.end - begin : value.end - begin + 1] == "-"  # "three-point"
        if len(current) != 1 or is_term:
            continue
        row = table.rows[current[0]]
        if value.kind not in ("number", "quantity", "percent", "money"):
            column = None
        else:
            fitting = [number for number, head in enumerate(table.columns) if head and head <= value.nouns]
            column = fitting[0] if len(fitting) == 1 else None
        if column is not None and column < len(row.cells) and (cell := row.cells[column]):
            if find_support(value, cell) is None and not _is_in_row(value, row, table):
                yield Misplaced(value, cell[0], row.source)
        elif not value.is_small and (told := _find_told_beside(value, said, row, table)) is not None:
            yield Misplaced(value, told, row.source)


def _find_told_beside(value: Value, said: frozenset[str], row: Row, table: Table) -> Value | None:
    """Return what a row says where other rows say a value that it does not have."""
    if find_support(value, table.known.find_like(value)) is None:
        return None
    if any(find_support(value, cell) is not None for cell in row.cells):
        return None
    alike = {
        column: each
        for column, cell in enumerate(row.cells)
        for each in reversed(cell)
        if each.kind == value.kind and each.unit == value.unit
    }
    if len(alike) > 1:
        heads = {column: table.columns[column] for column in alike if column < len(table.columns)}
        named = {column: head for column, head in heads.items() if head and head <= said}
        alike = {
            column: alike[column] for column, head in named.items() if not any(head < each for each in named.values())
        }
    for column, told in alike.items() if len(alike) == 1 else ():
        others = (other.cells[column] for other in table.rows if column < len(other.cells))
        if any(find_support(value, other) is not None for other in others):
            return told
    return None


def _is_in_row(value: Value, row: Row, table: Table) -> bool:
    """Say whether a row has a value under a heading that shares a word with what it counts."""
    cells = zip(table.columns, row.cells, strict=False)
    return any(head & value.nouns and find_support(value, cell) is not None for head, cell in cells)
