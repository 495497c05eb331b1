"""Which claims no update may make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.grounding.words import has_phrase
from guardgraph.guards.self_critique.claims import GUARANTEES, find_context_claims, forbidden_claims, restricted_claims
from guardgraph.guards.self_critique.critique import parse_required_change

SENTENCES = Path(__file__).parents[1] / "data" / "claims"
"""Sentences by kind; the rules were written without a look at those that are held out."""


def sentences(name: str) -> list[str]:
    """Return the sentences of a file."""
    return (SENTENCES / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def kinds(text: str) -> set[str]:
    """Return of which kinds the claims of a text are."""
    return {"guarantees" if claim in GUARANTEES else "closures" for claim in restricted_claims(text)}


@pytest.mark.parametrize("kind", ["closures", "guarantees"])
def test_what_is_stated_is_a_claim_of_its_kind(kind: str) -> None:
    """Whatever else the sentence says: a time, a condition on something else, a negation elsewhere, a question."""
    assert [text for text in sentences(kind) if kind not in kinds(text)] == []


def test_what_is_denied_aimed_at_or_waited_for_is_no_claim() -> None:
    """Aims, progress, expectations, parts, negations and conditions on the very verb, other senses of a word."""
    assert [text for text in sentences("none") if kinds(text)] == []


def test_sentences_that_were_held_out_are_judged_as_well() -> None:
    """At least 98 of 100 claims are caught, at least 95 of 100 other sentences pass."""
    made = [(kind, text) for kind in ("closures", "guarantees") for text in sentences(f"held_out_{kind}")]
    none = sentences("held_out_none")
    assert min(len(made), len(none)) >= 150
    assert sum(kind in kinds(text) for kind, text in made) >= 0.98 * len(made)
    assert sum(not kinds(text) for text in none) >= 0.95 * len(none)


STATED = (
    *("the incident is resolved", "we resolved the incident", "the incident was resolved", "the outage is over"),
    *("payments have fully recovered", "everything is back to normal", "service has been restored"),
    *("the issue has been fixed", "we have closed the incident", "all payments are stable", "we will fix it tonight"),
    *("the incident will be resolved by 5 pm", "the problem no longer exists", "there are no further errors"),
    *("we guarantee a refund", "this will not happen again", "we promise a refund", "your refund is guaranteed"),
    *("the migration went well", "the node has returned to service", "launches return to normal", "it is back online"),
    *("this will prevent similar issues", "the maintenance went as planned", "no further errors have been seen"),
    *("your data is 100 % safe", "we ensure that no data is lost", "there is no risk"),
)
OPEN = (
    *("the incident is not yet resolved", "we have not resolved the incident", "payments have not recovered"),
    *("we are working to fix it", "the service is being restored", "some payments have recovered"),
    *("the issue may be resolved by noon", "we will post updates until it is resolved", "it might happen again"),
    *("we cannot guarantee a refund", "we do not promise a refund", "the queue has an ordering guarantee"),
    *("we will update again in 15 minutes", "we concluded that a switch had failed", "the issue is back"),
    *("the pods have resource guarantees", "the fault was gone, but it is back", "we certainly had not seen this"),
    *("the new alert should help prevent similar issues", "we will be back with more details", "it ended up full"),
    *("we test to ensure that no data is lost", "we hope to fix it tonight", "we expect it to be resolved by noon"),
)


def framed(said: tuple[str, ...]) -> Iterator[str]:
    """Put beginnings and endings around these, none of which is a claim or denies anything."""
    beginnings, endings = sentences("beginnings"), sentences("endings")
    frames = [*product(beginnings, [""]), *zip(beginnings, cycle(endings), strict=False), *product([""], endings)]
    return (f"{opening} {text}{ending}." for text in said for opening, ending in frames)


def test_nothing_else_in_the_sentence_changes_a_claim() -> None:
    """Times, conditions and negations of something else, before it and after it, with a comma and without."""
    assert [text for text in framed(STATED) if not restricted_claims(text)] == []


def test_nothing_else_in_the_sentence_makes_a_claim() -> None:
    """What is denied, aimed at or waited for stays so."""
    itself = [opening for opening in sentences("beginnings") if restricted_claims(f"{opening} we wait.")]
    assert len(itself) <= 3
    wrong = (text for text in framed(OPEN) if restricted_claims(text))
    assert [text for text in wrong if not text.startswith(tuple(itself))] == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The incident is resolved.", ["resolved"]),
        ("We guaranteed it, and we guarantee it.", ["guarantee"]),
        ("We ensure that it is fixed. It's back to normal.", ["fixed", "ensure", "back to normal"]),
        ("re\u00adsolved", ["resolved"]),
        ("r\u0435s\u03bflved", ["resolved"]),
        ("ＲＥＳＯＬＶＥＤ", ["resolved"]),
        ("It isn\u2019t resolved. It\u2019s resolved.", ["resolved"]),
        ("We cannot say more.\n\nThe incident is resolved.", ["resolved"]),
        ("Payments are not yet\nfully recovered.", []),
        ("", []),
    ],
)
def test_claims_are_named(text: str, claims: list[str]) -> None:
    """Each once, in the order of the text; letters that look Latin count as Latin."""
    assert restricted_claims(text) == claims


def test_the_claims_of_a_context_are_those_of_its_texts() -> None:
    """Texts at any depth count, keys and policy hints do not."""
    context: dict[str, Any] = {
        "incident": {"status": "resolved", "log": [{"note": "payments fully recovered"}, 5, None]},
        "guarantee": False,
        "policy_hints": {"note": "guaranteed"},
    }
    assert find_context_claims(context) == ["recovered", "resolved"]
    nested: Any = "resolved"
    for _ in range(50_000):
        nested = [nested]
    assert find_context_claims({"deep": nested}) == ["resolved"]


@pytest.mark.parametrize(
    ("context", "strict", "mild"),
    [
        ({}, ["over", "guarantee"], ["over", "guarantee"]),
        ({"incident": {"status": "RESOLVED"}}, ["guarantee"], ["guarantee"]),
        ({"incident": {"status": " Postmortem."}}, ["guarantee"], ["guarantee"]),
        ({"incident": {"status": "not resolved"}}, ["over", "guarantee"], ["over", "guarantee"]),
        ({"incident": {"status": ["resolved"]}}, ["over", "guarantee"], ["guarantee"]),
        ({"status": "resolved"}, ["over", "guarantee"], ["guarantee"]),
        ({"updates": ["Back to normal."]}, ["over", "guarantee"], ["guarantee"]),
        ({"updates": ["We guarantee it."]}, ["over", "guarantee"], ["over", "guarantee"]),
        ({"policy_hints": {"say": "It is resolved."}}, ["over", "guarantee"], ["over", "guarantee"]),
    ],
)
def test_closures_are_licensed_and_guarantees_are_not(context: Any, strict: list[str], mild: list[str]) -> None:
    """By the incident's own status; by another text of the context only where the hint is off."""
    text = "The outage is over, and we guarantee it."
    assert forbidden_claims(text, context, avoid_absolute_guarantees=True) == strict
    assert forbidden_claims(text, context, avoid_absolute_guarantees=False) == mild


CLAIM_WORDS = "resolved RESOLVED reso'lved re\u0455olved recovered closed stable guarantee guaranty’s ensure 100 % over"
OTHER_WORDS = "fully incident all payments the not no if once is will be and as to back again . , ; - ( — é"
SAID = st.sampled_from([*CLAIM_WORDS.split(), *OTHER_WORDS.split(), "\n\n"])


@given(st.lists(SAID, max_size=14), st.sampled_from([" ", ""]))
@settings(max_examples=300)
def test_any_words_are_read(said: list[str], between: str) -> None:
    """However they stand together; a claim before a sentence of its own stays one."""
    text = between.join(said)
    assert set(restricted_claims(text)) <= set(restricted_claims(f"{text}.\n\nThe incident is resolved."))
    assert "resolved" in restricted_claims(f"{text}.\n\nThe incident is resolved.")


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "not ",
            "a,",
            " -",
            "\n",
            "resolved ",
            "as ",
            "a'",
            "1.",
            "支",
            "(",
            "a\u00ad",
            "e\u0301\u0323",
            "'x' ",
            '"x" ',
        ),
        *("no ", "again ", "guarantee ", "100% ", "to be ", "and ", "back to ", "over, "),
    ],
)
def test_hostile_texts_are_read(unit: str) -> None:
    """100,000 characters of anything are read to the end."""
    text = (unit * 100_000)[:100_000]
    assert len(restricted_claims(text)) < 5
    assert parse_required_change(f"MUST_INCLUDE {text}") is None


def test_accents_without_end_are_read() -> None:
    """100,000 of them on one letter."""
    assert not has_phrase("a" + "\u0301\u0323" * 50_000, "phrase")
