"""Does the guard of links stop links that no source has, and let through what answers about technical docs have?

The docs are the descriptions of the packages that are installed here, hundreds of them, written for people by hundreds
of authors. A paragraph of one stands for an answer. Its source is the whole description, or the rest of it, or none at
all; then only paragraphs count that have no URL, address or tag, so that whatever is found in them is a file, an
attribute or a name, or a host that their author wrote out.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import distributions

from link_spellings import GOOD, SPELLINGS
from measure import LOG, Figure, Tally
from sections import Meaning, Section, run_alone

from guardgraph import RagPolicy
from guardgraph.grounding.check import Checks, Source, check_text
from guardgraph.grounding.links import find_link_problem
from guardgraph.grounding.links.finding import list_licensed_links
from guardgraph.grounding.links.hosts import AROUND, is_file_or_attribute, is_registrable
from guardgraph.guards.links import check_links
from guardgraph.guards.stop import Stop
from guardgraph.state.rag import ContextChunk

PARAGRAPHS = 1000
LONG = 100_000
"""Characters of a long text; a short one has a tenth of them."""

SOURCE = f"See https://{GOOD}, https://{GOOD}/a and https://{GOOD}/b, or write to a@{GOOD}."
SIGNS = re.compile(r"://|@|www\.|\]\(|!\[|\]:|<[a-zA-Z/!?]|\(at\)")
"""What a paragraph has none of that has no link and no tag; found by another way than the guard's."""
TAGS = re.compile(r"!\[|</|/>|<!|<[a-z0-9]+>|<[a-zA-Z][^>]*=|\|.*image::")
HOSTILE = ("//a#//a", "a.", "a@", "https://", "<a ", "[a](b", "![", "`", "\\", "&amp;", "%25", "a。", "data:", "a=")

Paragraph = tuple[str, str]
"""The name of a description, and a paragraph of it."""


def read_descriptions() -> dict[str, str]:
    """Return the descriptions of the installed packages that are longer than 500 characters."""
    found = {item.metadata["Name"]: item.metadata.json.get("description", "") for item in distributions()}
    return {name: text for name, text in sorted(found.items()) if len(text) > 500}


def list_paragraphs(texts: dict[str, str]) -> list[Paragraph]:
    """Return the paragraphs of texts in an order that is the same each time."""
    found = [(name, part.strip()) for name, text in texts.items() for part in re.split(r"\n\s*\n", text)]
    found = [(name, part) for name, part in found if 60 < len(part) < 3000]
    random.Random(1).shuffle(found)
    return found


def find_refusal(answer: str, *cited: str) -> tuple[str, list[str]] | None:
    """Return why an answer is refused, and for what; None where it passes."""
    try:
        check_links([answer], "a", cited=cited, policy=RagPolicy())
    except Stop as stop:
        return stop.reason.partition(":")[2], stop.evidence["unsupported"]
    return None


def measure_links(rounds: int) -> Iterator[Figure]:
    """Yield what passes of the spellings, what is stopped of the docs, and what it costs."""
    yield from _judge_spellings()
    texts = read_descriptions()
    paragraphs = list_paragraphs(texts)
    yield "docs", len(texts)
    yield from _judge_docs(texts, paragraphs)
    yield from _judge_tokens(paragraphs)
    yield from _measure_cost(texts, paragraphs[: 200 * rounds])
    yield "growth", max(_measure_growth(piece) for piece in HOSTILE)


def _judge_spellings() -> Iterator[Figure]:
    spelled = [text for texts in SPELLINGS.values() for text in texts]
    yield "spellings", len(spelled)
    yield "spellings_accepted", sum(find_refusal(f"See {text} for more.", SOURCE) is None for text in spelled)


def _judge_docs(texts: dict[str, str], paragraphs: list[Paragraph]) -> Iterator[Figure]:
    quiet = [item for item in paragraphs if not SIGNS.search(item[1])]
    judged: dict[str, tuple[list[Paragraph], Callable[[Paragraph], tuple[str, ...]]]] = {
        "whole": (paragraphs, lambda item: (texts[item[0]],)),
        "rest": (quiet, lambda item: (texts[item[0]].replace(item[1], ""),)),
        "alone": (quiet, lambda item: ()),
    }
    for kind, (chosen, cite) in judged.items():
        tally = Tally()
        for item in chosen[:PARAGRAPHS]:
            why = find_refusal(item[1], *cite(item))
            is_false = why is not None and (why[0] == "unsupported_link" or not TAGS.search(item[1]))
            tally.add(f"docs_{kind}_stopped", item[0], is_false)
            if is_false:
                LOG.info("%s %s: %s", kind, item[0], why)
        *shares, (_, cases) = tally.figures(ends=("low_pct", "high_pct"))
        yield f"docs_{kind}_paragraphs", cases
        yield from shares


def _judge_tokens(paragraphs: list[Paragraph]) -> Iterator[Figure]:
    """Yield what dotted words of quiet paragraphs are that look like hosts, and how many are taken for one."""
    kinds: Counter[str] = Counter()
    for _, text in paragraphs[: 3 * PARAGRAPHS]:
        if SIGNS.search(text):
            continue
        for link in list_licensed_links(text):
            if link.kind == "host" and is_registrable(link.host):
                before, _, behind = text.partition(link.shown)
                is_file = is_file_or_attribute(link.shown, behind[:AROUND], before[-AROUND:])
                kinds["exempt" if is_file else "host"] += 1
    tokens = sum(kinds.values())
    yield "hostlike_words", tokens
    yield "hostlike_words_taken_pct", 100 * kinds["host"] / tokens if tokens else 0.0


def _measure_cost(texts: dict[str, str], paragraphs: list[Paragraph]) -> Iterator[Figure]:
    """Yield what the guard takes beside those of numbers and names, on answers that cite the first 2,000 letters."""
    spent: dict[str, list[float]] = {"links": [], "numbers_names": []}
    for number, (name, text) in enumerate(paragraphs):
        chunk = {"doc_id": "a", "source": "", "title": name, "section": "", "updated_at": "", "score": 1.0}
        chunks = [{**chunk, "text": f"{texts[name][:2000]} {number}"}]
        for kind, check in (("links", _check_links), ("numbers_names", _check_facts)):
            begun = time.thread_time()
            check(text[:600], chunks)
            spent[kind].append(time.thread_time() - begun)
    for kind, seconds in spent.items():
        yield f"{kind}_us", statistics.mean(seconds) * 1e6
    yield "links_over_numbers_names", sum(spent["links"]) / sum(spent["numbers_names"])


def _check_links(answer: str, chunks: list[ContextChunk]) -> None:
    find_link_problem([answer], ["?", *(chunk["text"] for chunk in chunks), *(chunk["title"] for chunk in chunks)])


def _check_facts(answer: str, chunks: list[ContextChunk]) -> None:
    check_text(
        answer,
        [Source(chunk["doc_id"], chunk["text"], (chunk["title"],)) for chunk in chunks],
        question="?",
        checks=Checks(links=False),
    )


def _measure_growth(piece: str) -> float:
    taken = []
    for size in (LONG // 10, LONG):
        text = (piece * size)[:size]
        begun = time.thread_time()
        find_refusal(text, SOURCE)
        taken.append(time.thread_time() - begun)
    return taken[1] / (10 * max(taken[0], 1e-3))


SECTIONS = (
    Section(
        "links",
        "Links and markup",
        "Spellings of a link to a host that no source has, and paragraphs of technical docs, the descriptions of the "
        "packages that are installed, each taken as an answer. It cites the `whole` description, or the `rest` of it, "
        "or nothing (`alone`); of the last two only those without URLs, addresses and tags. Stopped are those refused "
        "for a link, or for markup though they have none. The intervals resample the descriptions.",
        (
            Meaning("spellings_accepted", "Spellings that pass.", at_most=0),
            Meaning("docs_whole_stopped_pct", "Per cent of the paragraphs that are stopped.", at_most=1),
            Meaning("docs_rest_stopped_pct", "The same.", at_most=1),
            Meaning("docs_*_stopped_*pct", "The same, and the ends of its interval of 95 %."),
            Meaning("docs_*_paragraphs", "Paragraphs."),
            Meaning("docs", "Descriptions."),
            Meaning("spellings", "Spellings."),
            Meaning("hostlike_words", "Dotted words under a public suffix in paragraphs without a link."),
            Meaning("hostlike_words_taken_pct", "Per cent of them that are taken for hosts where no source has them."),
            Meaning("links_us", "Microseconds for an answer."),
            Meaning("numbers_names_us", "Microseconds that numbers and names take."),
            Meaning("links_over_numbers_names", "The first over the second.", at_most=0.5),
            Meaning("growth", "Time for 100,000 hostile characters over ten times that for 10,000.", at_most=1.5),
        ),
        figures=measure_links,
        rounds=3,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
