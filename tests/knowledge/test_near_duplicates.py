"""Near-duplicates among what was found: the most recent one is shown, unless a number, an id or a date differs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, QUESTION, agent_with
from rapidfuzz import fuzz
from runs import check_result

from guardgraph.guards.rag import drop_near_duplicates
from guardgraph.guards.rag.retrieval import LEAST_ALIKE, LONGEST_COMPARED
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool

TEXT = (
    "For P1 tickets the first response target is 15 minutes, around the clock, for all customers with an Enterprise "
    "plan. The desk opens a bridge, names an incident lead and reports every hour until the service is back. After an "
    "incident like INC-104 the lead writes a review within two days, and the customer gets a copy by 3 March 2026."
)


def candidate(doc_id, text=TEXT, updated_at="2026-01-15", score=0.5, **fields):
    """Make a parsed candidate."""
    about = {"source": "support_policy", "title": "SLA", "section": "P1", "updated_at": updated_at}
    return {"doc_id": doc_id, **about, "text": text, "score": score, **fields}


def shown(*candidates):
    """Return the ids that stay, each with those that it stands for."""
    return [(item["doc_id"], item.get("duplicates", [])) for item in drop_near_duplicates(candidates, min_score=0.2)]


def edited(old, new):
    """Return the text with one thing put otherwise."""
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def test_the_most_recent_one_stays_at_the_better_rank():
    """A copy and an older version are left out; the others' ids are listed by rank, and every other rank stays."""
    older, newest = edited("desk opens", "team opens"), edited("a copy", "one copy")
    found = [
        candidate("a", older, "2025-06-01"),
        candidate("b", "Refunds take 10 days.", "2024-01-01"),
        candidate("c", updated_at="2025-01-01"),
        candidate("d", newest, "15 January 2026"),
    ]
    assert shown(*found) == [("d", ["a", "c"]), ("b", [])]
    assert drop_near_duplicates(found, min_score=0.2)[0] == {**found[3], "duplicates": ["a", "c"]}


@pytest.mark.parametrize(
    ("first", "second", "newer"),
    [
        ("2026-01-15", "2026-01-16", 1),
        ("2026-01-15", "14.01.2026", 0),
        ("2025", "January 2025", 0),
        ("2026-01-15T10:00:00Z", "2026-01-15T12:30:00Z", 1),
        ("2026-01-15T23:00:00-05:00", "2026-01-16T01:00:00Z", 0),
        ("", "2020-01-01", 1),
        ("unknown", "", 0),
        ("2026-01-15", "2026-01-15", 0),
        ("2026-13-45", "2019-01-01", 1),
    ],
)
def test_what_is_recent(first, second, newer):
    """Dates compare as days and moments, however they are written; without one a candidate is the oldest."""
    [(kept, left_out)] = shown(candidate("0", updated_at=first), candidate("1", updated_at=second))
    assert (kept, left_out) == (str(newer), [str(1 - newer)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("15 minutes", "45 minutes"),
        ("15 minutes", "15 hours"),
        ("P1", "P2"),
        ("two days", "ten days"),
        ("3 March 2026", "3 May 2026"),
        ("2026", "2025"),
        ("INC-104", "INC-105"),
        ("every hour", "every 2 hours"),
        ("is 15", "is at least 15"),
    ],
)
def test_numbers_decide(old, new):
    """Texts that differ in one number, unit, date or id are both shown, however alike they are."""
    other = edited(old, new)
    assert fuzz.ratio(TEXT, other) > LEAST_ALIKE
    assert shown(candidate("a"), candidate("b", other)) == [("a", []), ("b", [])]


SAID = {
    "en": ("The cleaning of rooms is covered for all guests of the house who stay for more than one night", "covered"),
    "de": ("Die Reinigung der Zimmer ist für alle Gäste des Hauses enthalten, die länger bleiben", "für"),
    "es": ("La limpieza de las habitaciones está incluida para todos los huéspedes que se quedan en la casa", "está"),
    "fr": ("Le nettoyage des chambres est compris pour tous les clients de la maison qui restent une nuit", "compris"),
    "uk": ("Прибирання кімнат входить до ціни для всіх гостей будинку, які лишаються довше ніж на ніч", "входить"),
    "ru": ("Уборка комнат входит в цену для всех гостей дома, которые остаются дольше чем на одну ночь", "входит"),
    "pl": ("Sprzątanie pokoi jest wliczone w cenę dla wszystkich gości domu, którzy zostają dłużej niż noc", "jest"),
    "zh": ("房间的清洁费用已经包含在所有客人的房价之中住一晚以上的客人都可以享受这项服务", "包含"),
}
"""A sentence of each language, and the word that its negations stand before."""


@pytest.mark.parametrize(
    ("language", "denying"),
    [
        *[("en", word) for word in ("not", "never", "hardly", "un", "NOT", "n\u00adot")],
        *[("de", word) for word in ("nicht", "nie", "außer")],
        *[("es", word) for word in ("no", "nunca", "jama\u0301s")],
        *[("fr", word) for word in ("pas", "jamais", "non")],
        *[("uk", word) for word in ("не", "ніколи", "без")],
        *[("ru", word) for word in ("не", "никогда", "кроме")],
        ("pl", "nie"),
        ("zh", "未"),
    ],
)
def test_a_negation_decides(language, denying):
    """Texts of which one denies what the other says are both shown, in any language."""
    said, before = SAID[language]
    said = f"{said}. " * 3
    parting = "" if denying in ("un", "未") else " "
    denied = said.replace(before, f"{denying}{parting}{before}", 1)
    assert fuzz.ratio(said, denied) > LEAST_ALIKE
    assert shown(candidate("a", said), candidate("b", denied, "2027-01-01")) == [("a", []), ("b", [])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("is covered, and it isn't taxed", "isn't covered, and it is taxed"),
        ("Gold is not covered and Basic is covered", "Gold is covered and Basic is not covered"),
        ("flights are not covered and hotels are covered", "flights are covered and hotels are not covered"),
        ("except flights", "except hotels"),
        ("All of it is for Gold", "All of it is for Basic"),
        ("Gold has it", "Basic has it"),
        ("Gold comes before Basic", "Basic comes before Gold"),
        ("all of it is in the gold plan", "all of it is in the basic plan"),
        ("das ist im goldenen Tarif", "das ist im einfachen Tarif"),
        ("c'est dans la formule or", "c'est dans la formule base"),
        ("это входит в тариф один", "это входит в тариф пять"),
        ("cela n'est compris", "cela est compris"),
    ],
)
def test_what_is_denied_and_who_is_named_decides(first, second):
    """A negation that stands elsewhere, another name and another plan are another statement, also in a title."""
    common = edited(".", "") + " the desk answers."
    there, back = (f"{common} {said}. {common}" for said in (first, second))
    assert fuzz.ratio(there, back) > LEAST_ALIKE
    assert len(shown(candidate("a", there), candidate("b", back))) == 2
    assert len(shown(candidate("a", common * 2, title=first), candidate("b", common * 2, title=second))) == 2


def test_the_same_numbers_in_another_order():
    """Numbers that changed places are other numbers, in digits and in words."""
    for first, second in (("15", "45"), ("two", "nine")):
        said = (
            f"{TEXT.partition('.')[0]}. Gold has {{}} days and Basic has {{}} days. " + "Nothing else is promised. " * 9
        )
        there, back = said.format(first, second), said.format(second, first)
        assert fuzz.ratio(there, back) > LEAST_ALIKE
        assert len(shown(candidate("a", there), candidate("b", back))) == 2


def test_what_is_above_a_text_counts():
    """A short text below another section or title is another statement."""
    for field in ("section", "title"):
        alike = [candidate(name, "Tickets are answered by the desk.", **{field: name}) for name in ("Gold", "Basic")]
        assert len(shown(*alike)) == 2
    assert len(shown(candidate("a", section="Tier 1"), candidate("b", section="Tier 2"))) == 2


def test_less_alike_irrelevant_and_very_long_ones_stay():
    """What is less alike, not relevant, or too long to compare unless it is equal, is left as it is."""
    assert len(shown(candidate("a"), candidate("b", TEXT[: len(TEXT) * 3 // 4]))) == 2
    assert shown(candidate("a", score=0.5), candidate("b", updated_at="2027-01-01", score=0.1)) == [
        ("a", []),
        ("b", []),
    ]
    long = TEXT * (LONGEST_COMPARED // len(TEXT) + 1)
    assert len(shown(candidate("a", long), candidate("b", f"{long}!"))) == 2
    assert shown(candidate("a", long), candidate("b", long)) == [("a", ["b"])]


def test_a_run_shows_and_lists_them():
    """The answerer sees one of them; citation details, trace and history list the ids of the others."""
    found = [
        {**CANDIDATE, "doc_id": "old", "text": TEXT, "updated_at": "2025-01-01"},
        {**CANDIDATE, "doc_id": "new", "text": edited("a copy", "one copy"), "updated_at": "2026-01-01"},
    ]
    answerer = scripted_tool({"answer": "It is 15 minutes.", "citations": ["new"]}, loop=True)
    result = check_result(RAG_REASONS, agent_with(*found, answerer=answerer).invoke(QUESTION))
    assert [item["doc_id"] for item in answerer.calls[0]["context_chunks"]] == ["new"]
    [detail] = result["citation_details"]
    assert detail["duplicates"] == result["trace"][0]["duplicates"] == ["old"]
    assert result["history"][0]["retrieval"]["duplicates"] == ["old"]
    assert result["trace"][0]["candidates"] == 2


WORDS = [
    "the",
    "desk",
    "opens",
    "a",
    "bridge",
    "names",
    "lead",
    "reports",
    "until",
    "service",
    "is",
    "back",
    "after",
    "incident",
    "writes",
    "review",
    "customer",
]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=60, max_size=80),
    st.sampled_from(["not", "kein", "sin", "sauf", "без", "кроме", "Gold", "NASA", "plan", "7", "2026-03-06", "seven"]),
    st.integers(0, 59),
    st.integers(0, 59) | st.none(),
)
def test_one_deciding_word_is_enough(words, deciding, at, to):
    """A word that decides and that only one text has, or a negation that stands elsewhere, leaves both."""
    stays = to is None or deciding in ("Gold", "NASA", "7", "2026-03-06", "seven")
    before = words if stays else [*words[:to], deciding, *words[to:]]
    after = [*words[:at], deciding, *words[at:]]
    found = [candidate("a", " ".join(before)), candidate("b", " ".join(after), "2027-01-01")]
    assert len(shown(*found)) == len(shown(*reversed(found))) == (1 if before == after else 2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from(["15", "45", "ten", ""]),
            st.lists(st.integers(0, 60), max_size=3),
            st.sampled_from(["", "2024", "2025-03-01", "2026-01-15"]),
            st.sampled_from([0.1, 0.5]),
        ),
        max_size=7,
    )
)
def test_any_candidates(drawn):
    """Nobody is lost, each left out says the same as one that stays and is as recent; a second look finds no more."""
    found = []
    for place, (topic, number, swaps, updated_at, score) in enumerate(drawn):
        words = random.Random(topic).choices(WORDS, k=60)
        for at in swaps:
            words[at : at + 1] = ["team"]
        found.append(candidate(str(place), f"P{topic}: {number} days. {' '.join(words)}.", updated_at, score))
    by_id = {item["doc_id"]: item for item in found}
    kept = drop_near_duplicates(found, min_score=0.2)
    ids = [name for item in kept for name in (item["doc_id"], *item.get("duplicates", []))]
    assert sorted(ids) == sorted(by_id)
    best = [min(int(name) for name in (item["doc_id"], *item.get("duplicates", []))) for item in kept]
    assert best == sorted(best)
    for item in kept:
        for name in item.get("duplicates", []):
            other = by_id[name]
            assert other["text"].partition(".")[0] == item["text"].partition(".")[0]
            assert fuzz.ratio(other["text"], item["text"]) > LEAST_ALIKE - 1
            assert other["updated_at"] <= item["updated_at"]
            assert min(other["score"], item["score"]) >= 0.2
    assert drop_near_duplicates(kept, min_score=0.2) == kept
