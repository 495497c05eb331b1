"""Which notes agree with each other, which contradict each other, and which pages are one source."""

import time

import pytest
from guard_cases import outcome
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grammar import Stop
from guardgraph.guards.research import agreement


def differ(one, other):
    return agreement.compare_claims(one, other).conflict


BASE = "The Halden mill employed 320 people in March 2024."


@each_row(
    ("other", "values"),
    ("The Halden mill employed 230 people in March 2024.", ("320", "230")),
    ("In March 2024 the mill at Halden employed 410 people.", ("320", "410")),
    ("The Halden mill employed three hundred and twenty people in March 2024.", None),
    ("The Halden mill employed 230 people in March 2019.", None),
    ("The Halden mill employed at least 230 people in March 2024.", None),
    ("The Bergen mill employed 230 people in March 2024.", None),
    ("The Halden mill paid 230 million euros in March 2024.", None),
    ("", None),
)
def test_values_of_one_thing_conflict(other, values):
    """Another number of the same does; the same said otherwise, another year, a bound, and another thing do not."""
    assert differ("It has 320 people in 14 halls.", "It has 230 people in 15 halls.") == ("320", "230")
    assert (differ(BASE, other), differ(other, BASE)) == (values, values and values[::-1])
    notes = make_notes([BASE, other])
    decided = outcome(agreement.check_agreement, agreement.compare_notes(notes, {}), notes, min_independent=1)
    told = [note["value"] for note in decided["details"]["notes"]] if "stop" in decided else None
    assert (decided.get("stop"), told) == (("conflicting_sources", [*values]) if values else (None, None))


WORDS = [*BASE.split(), "14", "2019", "27 %", "since", "$5 million", "Olsen", "not", "."]
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def make_notes(claims):
    urls = (f"https://h{at}.test/" for at in range(len(claims)))
    return [{"id": url, "claim": text, "quote": text, "url": url} for url, text in zip(urls, claims, strict=True)]


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_any_claims_are_compared_alike_from_both_sides(claims):
    """Whatever they say: nothing raises, conflicts and agreement are mutual, no claim has both with one note."""
    notes = make_notes(claims)
    said = {item["id"]: item for item in agreement.compare_notes(notes, {})}
    for name, item in said.items():
        against = [other["id"] for other in item["conflicts_with"]]
        assert not {name} & {*against, *item["agrees_with"]}
        assert not {*against} & {*item["agrees_with"]}
        assert all(name in [back["id"] for back in said[other]["conflicts_with"]] for other in against)
        assert all(name in said[other]["agrees_with"] for other in item["agrees_with"])
        assert item["independent"] == 1  # nobody knows anything of the pages
    with pytest.raises(Stop):
        agreement.check_agreement([*said.values()], notes, min_independent=2)


def test_comparing_takes_time_that_is_bounded():
    """Sixty notes, the most that a report takes, are compared in seconds of this machine's."""
    said = "The Halden mill number {} of the Olsen group employed {} people in March 2024."
    notes = make_notes([said.format(at, 300 + at) for at in range(60)])
    began = time.process_time()
    agreement.compare_notes(notes, {})
    assert time.process_time() - began < 20


def source(name, *, body="", owner="", linked=()):
    hosts = None if linked is None else frozenset(linked)
    return agreement.SourceText(f"https://{name}/", name, owner, body or f"Text of {name}", hosts)


WIRE = "The mill at Halden burned down on Monday night and nobody knows why it began in the cellar of the old house. "


@each_row(
    ("one", "other", "why"),
    (source("a.example.com"), source("b.example.com"), "same_domain"),
    (source("a.test", owner="x"), source("b.test", owner="x"), "same_owner"),
    (source("a.test", linked=None), source("b.test"), "unknown_links"),
    (source("a.test", linked=["www.b.test"]), source("b.test"), "linked"),
    (source("a.test", body=WIRE + "Our own reporter."), source("b.test", body="By wire. " + WIRE), "copied"),
    (source("a.test", body=WIRE), source("b.test", body="The fire in the mill began on Monday."), None),
)
def test_pages_that_are_one_source(one, other, why):
    """A domain, an owner, links or none that are known, and a copied text."""
    judged = agreement.Independence({one.url: one, other.url: other})
    assert judged.explain_dependence(one.url, other.url) == why
    assert judged.explain_dependence(other.url, one.url) == why
    assert judged.count_sources([one.url, other.url]) == (2 if why is None else 1)
    notes = [{"id": each.url, "claim": BASE, "quote": BASE, "url": each.url} for each in (one, other)]
    [first, _] = agreement.compare_notes(notes, {one.url: one, other.url: other})
    assert first["standing"] == ("agreed" if why is None else "single_source")
