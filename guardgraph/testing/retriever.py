"""What holds for every retriever that knows who may read what, as checks for one of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple, Protocol

from guardgraph.guards.rag.retrieval import explain_access_refusal, parse_candidates
from guardgraph.guards.stop import Stop
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.context import Caller, is_access_allowed, normalize_document_access
from guardgraph.state.rag import Candidate
from guardgraph.testing.store import require_equal, run_checks


class GuardedDocument(NamedTuple):
    """A document with who may read it."""

    id: str  #: unique within its tenant
    text: str  #: one sentence; the text of a candidate holds it
    tenant: str | None = None
    readers: tuple[str, ...] = ("public",)
    source: str = "kb"


class GuardedBase(Protocol):
    """A retriever over documents that change: what `check_retriever` needs of whatever stands behind yours."""

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        """Take documents in, each in place of the one of its tenant that has its id, with other readers or text."""

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        """Take documents out, by tenant and id."""

    def search(self, request: JsonObject) -> JsonValue:
        """Return the candidates for ``{query, sources, top_k}`` and, where it is known who asks, ``caller``."""


FACTS = {
    "harbour": "The harbour master keeps the red ledger in the tower.",
    "bakery": "The bakery opens at six and sells rye bread.",
    "library": "The library lends atlases for three weeks.",
    "stables": "The stables house eleven ponies near the river.",
}
QUESTIONS = {
    "harbour": "Who keeps the red ledger?",
    "bakery": "When does the bakery open and sell rye bread?",
    "library": "For how many weeks does the library lend atlases?",
    "stables": "How many ponies do the stables house?",
}
CALLERS: tuple[JsonObject | None, ...] = (
    None,
    {"tenant": None, "user": "ada", "groups": ["support"]},
    {"tenant": "acme", "user": "ada", "groups": []},
    {"tenant": "acme", "user": "bob", "groups": ["support", "a:b"]},
    {"tenant": "other", "user": "ada", "groups": ["support"]},
    {"tenant": "", "user": None, "groups": []},
)
READERS: tuple[tuple[str, ...], ...] = (
    (),
    ("public",),
    ("tenant",),
    ("user:ada",),
    ("group:support",),
    ("group:a:b", "user:bob"),
    ("group:acme", "user:support"),
)


def make_fact_documents(tenant: str | None = None, readers: tuple[str, ...] = ("public",)) -> list[GuardedDocument]:
    """Return a document for each of `FACTS`."""
    return [GuardedDocument(name, text, tenant, readers) for name, text in FACTS.items()]


def is_readable_document(document: GuardedDocument, caller: JsonObject | None) -> bool:
    """Say whether a caller may read a document."""
    asking = None if caller is None else Caller.model_validate(caller)
    return is_access_allowed(normalize_document_access(document.tenant, document.readers), asking)


def ask_tested_base(
    base: GuardedBase,
    question: str,
    caller: JsonObject | None = None,
    *,
    top_k: int = 10,
    sources: Sequence[str] = ("kb",),
) -> list[Candidate]:
    """Return candidates, if a run could go on with them."""
    request: JsonObject = {"query": question, "sources": list(sources), "top_k": top_k}
    if caller is not None:
        request["caller"] = {"tenant": None, "user": None, "groups": [], **caller}
    returned = base.search(request)
    asking = Caller.model_validate(caller) if caller is not None else None
    if (details := explain_access_refusal(returned, caller=asking, required=True)) is not None:
        raise AssertionError(f"search({question!r:.80}) of {caller}: {details['given']}; allowed: {details['allowed']}")
    if isinstance(returned, list) and len(returned) > top_k:
        raise AssertionError(f"search({question!r:.80}): {len(returned)} candidates; at most top_k, {top_k}")
    try:
        parsed = parse_candidates(returned, allowed_sources=sources, top_k=top_k)
    except Stop as stop:
        raise AssertionError(f"search({question!r:.80}): {stop.evidence['details']}") from None
    if parsed.left_out:
        raise AssertionError(f"search({question!r:.80}): {parsed.left_out[0]}")
    return parsed.candidates


def find_tested_ids(
    base: GuardedBase,
    documents: Sequence[GuardedDocument],
    question: str,
    caller: JsonObject | None = None,
    *,
    top_k: int = 10,
    sources: Sequence[str] = ("kb",),
) -> list[str]:
    """Return the ids of what is found, by text."""
    texts = [item["text"] for item in ask_tested_base(base, question, caller, top_k=top_k, sources=sources)]
    readable = [document for document in documents if is_readable_document(document, caller)]
    ids = [[document.id for document in readable if document.text in text] for text in texts]
    if not all(ids):
        raise AssertionError(f"search({question!r:.80}) of {caller}: a document that is not there: {texts!r:.300}")
    return [names[0] for names in ids]


def check_retriever(make: Callable[[], GuardedBase]) -> Literal["isolated", "filtered"]:
    """Hold a retriever against what a run asks of one; under pytest, each of `RETRIEVER_CHECKS` can be a test.

    Args:
        make: returns a base without documents, another one each time.

    Returns:
        ``"isolated"`` where what a caller may not read changes nothing for them, scores included; else ``"filtered"``.

    Raises:
        AssertionError: it does not do what it should; the message has the name of the check.
    """
    run_checks(RETRIEVER_CHECKS, make)
    return "isolated" if _is_isolated_base(make) else "filtered"


HOSTILE = (
    "' OR 1=1 --",
    '"; DROP TABLE documents; --',
    "red NEAR(ledger, 5) AND NOT (harbour OR *)",
    "tenant:acme OR readers:public",
    '{"$or": [{}]} ${jndi} %s %(x)s {0} \\',
    "red\x00ledger",
    "\u202e\ufeff\ufffd\U0001f600 \u0660 \u00ad",
    "((((((((((" * 20,
    "ledger " * 15_000,
)
READING_THREADS = 4
ROUNDS = 8


def _an_empty_base_finds_nothing(base: GuardedBase) -> None:
    for caller in CALLERS:
        require_equal("found", find_tested_ids(base, [], QUESTIONS["harbour"], caller), [])


def _the_best_document_comes_first(base: GuardedBase) -> None:
    documents = make_fact_documents()
    base.put(documents)
    for name, question in QUESTIONS.items():
        require_equal(f"the first for {question!r}", find_tested_ids(base, documents, question)[:1], [name])


def _equal_documents_have_one_order(base: GuardedBase) -> None:
    words = enumerate(("grey", "pink", "gold"))
    documents = [GuardedDocument(f"ledger-{at}", f"The master keeps the {word} ledger.") for at, word in words]
    base.put(documents)
    first = find_tested_ids(base, documents, "Who keeps the ledger?")
    require_equal("all of them", sorted(first), [item.id for item in documents])
    for _ in range(3):
        require_equal("the same order again", find_tested_ids(base, documents, "Who keeps the ledger?"), first)


def _top_k_and_sources_are_kept(base: GuardedBase) -> None:
    elsewhere = GuardedDocument("elsewhere", "The red ledger is kept elsewhere.", source="other")
    documents = [*make_fact_documents(), elsewhere]
    base.put(documents)
    question = "Where is the red ledger kept, in the bakery, the library or the stables?"
    for top_k in (1, 2, 3):
        found = find_tested_ids(base, documents, question, top_k=top_k)
        require_equal(f"as many as top_k {top_k}", len(found), top_k)
    for source, wanted in (("other", ["elsewhere"]), ("nowhere", [])):
        found = find_tested_ids(base, documents, question, sources=(source,))
        require_equal(f"of the source {source}", found, wanted)


def _a_document_that_is_put_again_is_replaced(base: GuardedBase) -> None:
    old, *others = make_fact_documents()
    base.put([old, *others])
    new = old._replace(text="The harbour sells nine anchors and no maps.")
    base.put([new])
    found = find_tested_ids(base, [new, *others], "How many anchors does the harbour sell?")
    require_equal("the new text", found[:1], [new.id])
    for item in ask_tested_base(base, "Who keeps the red ledger?"):
        require_equal("the old text", old.text in item["text"], False)


def _a_document_that_is_removed_is_gone(base: GuardedBase) -> None:
    gone, *others = make_fact_documents()
    base.put([gone, *others])
    base.remove([gone])
    for question in QUESTIONS.values():
        require_equal("what is left", gone.id in find_tested_ids(base, [gone, *others], question), False)
    base.put([gone])
    require_equal("put in again", find_tested_ids(base, [gone, *others], QUESTIONS["harbour"])[:1], [gone.id])


def _everybody_finds_what_he_may_read(base: GuardedBase) -> None:
    tenants = (None, "acme", "other")
    documents = [
        GuardedDocument(f"{at}-{number}", f"The ledger number {at} {number} is red.", tenant, readers)
        for at, tenant in enumerate(tenants)
        for number, readers in enumerate(READERS)
    ]
    base.put(documents)
    for caller in CALLERS:
        expected = [item for item in documents if is_readable_document(item, caller)]
        names = find_tested_ids(base, documents, "Which ledger is red?", caller, top_k=len(documents))
        require_equal(f"found for {caller}", sorted(names), sorted(item.id for item in expected))


def _what_may_not_be_read_takes_no_place(base: GuardedBase) -> None:
    texts = [f"The red ledger is kept by master {at}." for at in range(60)]
    better = [GuardedDocument(f"secret-{at}", text, "other", ("tenant",)) for at, text in enumerate(texts)]
    mine = GuardedDocument("mine", "A ledger lies in the tower, near other books.", "acme", ("user:ada",))
    base.put([*better, mine])
    asking = {"tenant": "acme", "user": "ada", "groups": []}
    found = find_tested_ids(base, [mine], "Who keeps the red ledger?", asking, top_k=1)
    require_equal("the only one", found, ["mine"])


def _grants_and_revocations_hold_at_once(base: GuardedBase) -> None:
    asking = {"tenant": "acme", "user": "ada", "groups": ["support"]}
    first, *others = make_fact_documents("acme", ("tenant",))
    changes = [((), False), (("group:support",), True), (("user:bob",), False), (("user:ada",), True)]
    for readers, is_found in [*changes, ((), False), (("public",), True)]:
        changed = first._replace(readers=readers)
        base.put([changed, *others])
        names = find_tested_ids(base, [changed, *others], QUESTIONS["harbour"], asking)
        require_equal(f"found with the readers {list(readers)}", first.id in names, is_found)


def _ids_are_those_of_a_tenant(base: GuardedBase) -> None:
    mine, other = (
        GuardedDocument("ledger", f"The ledger of {tenant} is red.", tenant, ("tenant",))
        for tenant in ("acme", "other")
    )
    base.put([mine])
    base.put([other])
    for item in (mine, other):
        found = find_tested_ids(base, [item], "Which ledger is red?", {"tenant": item.tenant})
        require_equal(f"found for {item.tenant}", found, ["ledger"])
    base.remove([other])
    found = find_tested_ids(base, [mine], "Which ledger is red?", {"tenant": "acme"})
    require_equal("what is left", found, ["ledger"])


def _no_query_breaks_out(base: GuardedBase) -> None:
    documents = [*make_fact_documents("acme", ("tenant",)), *make_fact_documents("other", ("tenant",))]
    base.put(documents)
    for query in HOSTILE:
        name = query[:99].replace("\x00", "")  # which no caller has
        find_tested_ids(base, documents, query)
        find_tested_ids(base, documents, query, {"tenant": "acme", "user": name, "groups": [name]})
        find_tested_ids(base, documents, QUESTIONS["harbour"], {"tenant": name}, sources=(name,))
    found = find_tested_ids(base, documents, QUESTIONS["bakery"], {"tenant": "acme"})
    require_equal("unharmed", found[:1], ["bakery"])


def _many_ask_while_one_writes(base: GuardedBase) -> None:
    lasting = make_fact_documents("acme", ("tenant",))
    changing = GuardedDocument("change", "The red ledger is new.", "acme")
    hidden = GuardedDocument("hidden", "The red ledger is hidden.", "other", ("tenant",))
    base.put(lasting)

    def ask_base_in_thread(_: int) -> None:
        for _ in range(ROUNDS):
            for name, question in QUESTIONS.items():
                found = find_tested_ids(base, [*lasting, changing], question, {"tenant": "acme"})
                require_equal("found", name in found, True)

    def write_base_in_thread() -> None:
        for _ in range(ROUNDS):
            base.put([changing, hidden])
            base.remove([changing])

    with ThreadPoolExecutor(READING_THREADS + 1) as pool:
        writing, reading = pool.submit(write_base_in_thread), pool.map(ask_base_in_thread, range(READING_THREADS))
        writing.result()
        list(reading)


RETRIEVER_CHECKS: dict[str, Callable[[GuardedBase], None]] = {
    check.__name__.strip("_"): check
    for check in (
        _an_empty_base_finds_nothing,
        _the_best_document_comes_first,
        _equal_documents_have_one_order,
        _top_k_and_sources_are_kept,
        _a_document_that_is_put_again_is_replaced,
        _a_document_that_is_removed_is_gone,
        _everybody_finds_what_he_may_read,
        _what_may_not_be_read_takes_no_place,
        _grants_and_revocations_hold_at_once,
        _ids_are_those_of_a_tenant,
        _no_query_breaks_out,
        _many_ask_while_one_writes,
    )
}
"""The checks by name; each is given a base without documents."""


def _is_isolated_base(make: Callable[[], GuardedBase]) -> bool:
    """Say whether documents that may not be read, whatever becomes of them, change nothing of what is returned."""
    alone, beside = make(), make()
    mine = make_fact_documents("acme", ("tenant",))
    alone.put(mine)
    beside.put(mine)

    def ask_all(base: GuardedBase) -> str:
        return canonical_json([ask_tested_base(base, question, {"tenant": "acme"}) for question in QUESTIONS.values()])

    expected = ask_all(alone)  # before there is anything hidden: what both share would change both
    return all(ask_all(beside) == expected for _ in _change_hidden_documents(beside))


def _change_hidden_documents(base: GuardedBase) -> Iterator[None]:
    """Put in, replace and remove what callers of acme may not read."""
    texts = [f"The red ledger, rye bread, atlases and ponies of house {at}." for at in range(20)]
    hidden = [GuardedDocument(f"hidden-{at}", text, "other", ("tenant",)) for at, text in enumerate(texts)]
    nobody = [GuardedDocument(f"nobody-{at}", text, "acme", ("user:bob",)) for at, text in enumerate(texts)]
    base.put([*hidden, *nobody])
    yield
    base.put([item._replace(text=f"{item.text} The bakery lends weeks.") for item in hidden])
    yield
    base.remove([*hidden[1:], *nobody])
    yield
