"""What covers most of a question: the server returns the postings of its words, and the score is computed here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from heapq import nlargest
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from guardgraph.knowledge.postgres.writing import make_term_key
from guardgraph.knowledge.searching.arithmetic import Held, PostingRow, choose_posting_arithmetic
from guardgraph.knowledge.searching.ranking import Ranked
from guardgraph.knowledge.searching.views import Once, StatisticsPart, View, make_view
from guardgraph.knowledge.storing.postings import BLOCK, KINDS, LENGTH_BYTES, NAME, make_index_term
from guardgraph.knowledge.storing.scopes import Scope, make_scope_key, parse_scope_row
from guardgraph.state.context import Caller, is_access_allowed
from guardgraph.tools.relevance import asked, best, scaled

if TYPE_CHECKING:
    from psycopg import Connection

SCOPE_COLUMNS: Final = "s.id, s.tenant, source, to_json(readers)::text"
"""What `parse_scope_row` reads, of `guardgraph.scopes s`."""

_PARTS: Final = (
    f"SELECT {SCOPE_COLUMNS}, told, p.id, scope, language, passages, words, changed FROM guardgraph.parts p "
    "JOIN guardgraph.scopes s ON s.id = scope WHERE passages > 0 ORDER BY p.id"
)
_ONCE: Final = (
    "SELECT left(term, 1), count(*) FROM (SELECT term FROM guardgraph.postings "
    "WHERE tenant = ANY (%s) AND part = ANY (%s) "
    "GROUP BY term HAVING count(*) = 1 AND max(total) = 1) AS once GROUP BY 1"
)
_POSTINGS: Final = (
    "SELECT part, term, block, size, data FROM guardgraph.postings "
    "WHERE tenant = ANY (%s) AND part = ANY (%s) AND term = ANY (%s)"
)
_LENGTHS: Final = (
    "SELECT scope, block, data FROM guardgraph.lengths JOIN guardgraph.parts ON id = part "
    "WHERE tenant = ANY (%s) AND part = ANY (%s) ORDER BY 1, 2, part"
)
_FOUND: Final = (
    "FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (scope, at) JOIN guardgraph.chunks c USING (scope, at) "
    "JOIN guardgraph.documents d ON d.id = document WHERE c.tenant = ANY (%s)"
)
_ORDER: Final = f"SELECT c.scope, at, place, number {_FOUND}"
_SHOWN: Final = f"SELECT c.scope, at, d.name, title, updated_at, c.name, section, start, stop, text, hash {_FOUND}"

_VECTORS: Final = (
    "SELECT at, place, number, vector FROM guardgraph.chunks c JOIN guardgraph.documents d ON d.id = document "
    "WHERE c.tenant = %s AND c.scope = %s AND vector IS NOT NULL AND at >= 0 ORDER BY place, number"
)

Place: TypeAlias = tuple[int, int]
"""A chunk by its scope and its place there; a block likewise."""

Postings: TypeAlias = Mapping[tuple[int, str], Sequence[tuple[int, int, bytes]]]
"""By part and term, for each block how many chunks have the term, and which."""


class AskedTerm(NamedTuple):
    """A term of a question."""

    reading: int
    times: float
    keys: Mapping[str, str]
    """By language, as the database has it."""


def read_permitted_parts(
    connection: Connection[Any], caller: Caller | None
) -> tuple[dict[int, Scope], list[tuple[Any, ...]]]:
    """Return the scopes that a caller may read, and the rows of their parts that have chunks."""
    # The server shows no others; they are held against the caller here, too.
    scopes, parts = dict[int, Scope](), list[tuple[Any, ...]]()
    for number, tenant, source, readers, *part in connection.execute(_PARTS):
        scope = scopes.get(number) or parse_scope_row(number, tenant, source, readers)
        if scope is not None and is_access_allowed(scope.access, caller):
            scopes[number] = scope
            parts.append(tuple(part))
    return scopes, parts


def read_caller_view(connection: Connection[Any], caller: Caller | None, once: Once) -> View:
    """Return what a caller may read, and what is known of its words."""
    scopes, rows = read_permitted_parts(connection, caller)
    return make_view(scopes, rows, once, partial(_count_once, connection, _list_tenant_keys(scopes)))


def read_tenant_view(connection: Connection[Any], once: Once) -> View:
    """Return what all callers of a tenant together may read, on a connection that sees it."""
    rows = connection.execute(_PARTS).fetchall()
    read = (parse_scope_row(*row[:4]) for row in rows)
    scopes = {scope.id: scope for scope in read if scope is not None}
    parts = [row[4:] for row in rows if row[0] in scopes]
    return make_view(scopes, parts, once, partial(_count_once, connection, _list_tenant_keys(scopes)))


def _list_tenant_keys(scopes: Mapping[int, Scope]) -> list[str]:
    """Return the tenants of scopes, in whose partitions their rows are."""
    return sorted({make_scope_key(scope.access.tenant) for scope in scopes.values()})


def _count_once(connection: Connection[Any], tenants: list[str], parts: Sequence[StatisticsPart]) -> tuple[int, ...]:
    """Count the words that occur once in some parts, by reading."""
    once = dict(connection.execute(_ONCE, [tenants, [part.id for part in parts]]).fetchall())
    return tuple(once.get(kind, 0) + once.get(NAME, 0) for kind in KINDS)


def rank_chunks(
    connection: Connection[Any], view: View, query: str, *, sources: Collection[str] | None, top_k: int
) -> list[Ranked[Place]]:
    """Return the chunks that cover most of a question with their scores, best first, equal ones in their order."""
    allowed = [part for part in view.parts if sources is None or view.scopes[part.scope].source in sources]
    if not allowed or top_k < 1:
        return []
    terms = [
        AskedTerm(reading, times, _name_terms(view.languages, reading, forms))
        for reading, forms, times in scaled(asked(query, view.language, view.languages))
    ]
    whole, covered = _cover(connection, view, allowed, terms, top_k)
    order = {(row[0], row[1]): row[2:] for row in connection.execute(_ORDER, _list_columns(view, covered))}
    found = sorted(covered, key=order.__getitem__)
    hits = best([covered[chunk] for chunk in found], whole, view.known[0], top_k)
    return [Ranked(found[place], score) for place, score in hits]


def read_found_chunks(connection: Connection[Any], view: View, found: Iterable[Place]) -> dict[Place, tuple[Any, ...]]:
    """Return of chunks what `make_chunk_candidates` reads."""
    return {(row[0], row[1]): (row[0], *row[2:]) for row in connection.execute(_SHOWN, _list_columns(view, found))}


def read_scope_vectors(connection: Connection[Any], scope: Scope) -> list[tuple[Place, int, int, bytes]]:
    """Return what `Nearness` reads of a scope."""
    rows = connection.execute(_VECTORS, [make_scope_key(scope.access.tenant), scope.id], binary=True)
    return [((scope.id, at), place, number, vector) for at, place, number, vector in rows]


def _name_terms(languages: Sequence[str], reading: int, forms: Sequence[str]) -> dict[str, str]:
    """Return a term of a question as the database has it, by language: a stem differs, a spelling does not."""
    several = forms if len(forms) == len(languages) else [*forms] * len(languages)
    keys = (make_term_key(make_index_term(reading, form)) for form in several)
    return dict(zip(languages, keys, strict=True))


def _cover(
    connection: Connection[Any], view: View, allowed: Sequence[StatisticsPart], terms: Sequence[AskedTerm], wanted: int
) -> tuple[float, dict[Place, float]]:
    """Return what a question says, and how much of it the best chunks cover, those equal to the last one, too."""
    postings = _read_postings(connection, view, terms)
    lengths = connection.execute(
        _LENGTHS, [_list_tenant_keys(view.scopes), [part.id for part in allowed]], binary=True
    ).fetchall()
    blocks = {block: [row[2] for row in rows] for block, rows in groupby(lengths, key=itemgetter(0, 1))}
    computes = choose_posting_arithmetic(sum(len(row[2]) for row in lengths) // LENGTH_BYTES)
    damped = computes.damped(blocks.values(), view.known[0].average)
    places, among = {block: at for at, block in enumerate(blocks)}, {part.id for part in allowed}
    whole, weights, rows = 0.0, dict[int, float](), dict[int, list[PostingRow]]()
    for at, term in enumerate(terms):
        some = [(part, *row) for part in view.parts for row in postings.get((part.id, term.keys[part.language]), ())]
        weights[at] = view.known[term.reading].weight(term.times, sum(size for _, _, size, _ in some))
        whole += weights[at]
        searched = [
            PostingRow(places[part.scope, block], size, data) for part, block, size, data in some if part.id in among
        ]
        if searched:
            rows[at] = sorted(searched)
    held = [Held(weights[at], 0.0, column) for at, column in computes.columns(damped, rows).items()]
    sums = computes.sums(damped, held)
    sums.add(held)
    highest = nlargest(wanted, (hit.covered for hit in sums.highest(wanted)))
    least = highest[-1] if len(highest) == wanted else 0.0
    where = [*blocks]
    found = ((where[hit.block], hit) for hit in sums.reaching(least, []))
    return whole, {(scope, block * BLOCK + hit.place): hit.covered for (scope, block), hit in found}


def _read_postings(connection: Connection[Any], view: View, terms: Sequence[AskedTerm]) -> Postings:
    tenants, parts = _list_tenant_keys(view.scopes), [part.id for part in view.parts]
    wanted = [tenants, parts, [*{key for term in terms for key in term.keys.values()}]]
    held: dict[tuple[int, str], list[tuple[int, int, bytes]]] = {}
    for part, term, block, size, data in connection.execute(_POSTINGS, wanted, binary=True):
        held.setdefault((part, term), []).append((block, size, data))
    return held


def _list_columns(view: View, chunks: Iterable[Place]) -> list[list[Any]]:
    some = [*chunks]
    tenants = _list_tenant_keys({scope: view.scopes[scope] for scope, _ in some})
    return [[scope for scope, _ in some], [at for _, at in some], tenants]
