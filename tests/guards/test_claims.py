"""Which claims no update may make."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph import ConfigurationError, SelfCritiquePolicy, load_policy
from guardgraph.guards.self_critique import forbidden_claims, restricted_claims

STATED = (
    *("the incident is resolved", "we resolved the incident", "the incident was resolved", "the outage is over"),
    *("payments have fully recovered", "everything is back to normal", "service has been restored"),
    *("the issue has been fixed", "we have closed the incident", "all payments are stable", "we will fix it tonight"),
    *("the incident will be resolved by 5 pm", "the problem no longer exists", "there are no further errors"),
    *("we guarantee a refund", "this will not happen again", "we promise a refund", "your refund is guaranteed"),
    *("the migration went well", "the node has returned to service", "it is back online", "there is no risk"),
    *("this will prevent similar issues", "no further errors have been seen", "your data is 100 % safe"),
    *("the DNS outage has been resolved", "the import problem was resolved to our satisfaction"),
    *("the host issue is resolved", "the file conflict incident was resolved", "the package outage is resolved"),
)
OPEN = (
    *("the incident is not yet resolved", "we have not resolved the incident", "payments have not recovered"),
    *("we are working to fix it", "the service is being restored", "we are bringing the service back online"),
    *("the issue may be resolved by noon", "we will post updates until it is resolved", "it might happen again"),
    *("we cannot guarantee a refund", "we do not promise a refund", "the queue has an ordering guarantee"),
    *("we will update again in 15 minutes", "we concluded that a switch had failed", "the issue is back"),
    *("it will soon be resolved if the patch works", "it will be fixed unless the test fails"),
    *("the new alert should help prevent similar issues", "we will be back with more details", "it ended up full"),
    *("we test to ensure that no data is lost", "we hope to fix it tonight", "we expect it to be resolved by noon"),
    *("the host name resolved to 10.0.0.1", "we will tell you once it is fixed and the service is back to normal"),
)
ENDED = ("over", "restored", "fixed")
OPENINGS = (
    *("", "After 45 minutes", "After a restart", "Before the weekend", "At 5 pm", "Since 10:00", "Once again"),
    *("If you have questions, call us;", "Even though nobody knows why,", "While we cannot say why,", "No,"),
    *("No data was lost, and", "Nobody was hurt, so", "As planned,", "Our provider confirms that", "However,"),
    *("You do not need to act because", "This is to inform you that", "It seems that", "There is no doubt that"),
    *("After 45 minutes nobody was hurt and", "We called them after lunch and", "After several hours"),
    *("When we were asked we said so and", "We need to tell you that", "At around 9 pm", "Before the weekend,"),
    "Hardly anybody cared, and",
)
ENDINGS = (
    *("", ", and no data was lost", ", but the cause is not known", "; nobody was affected", ", if you wondered"),
    *(" as expected", ", as far as we know", " for all customers", ", which was not easy", " without data loss"),
)


def say(text: str, texts: Sequence[str]) -> list[str]:
    """Return a sentence that says it behind each opening, with endings in turn: another one for each text."""
    turn = texts.index(text)
    return [f"{opening} {text}{ENDINGS[(at + turn) % len(ENDINGS)]}." for at, opening in enumerate(OPENINGS)]


@each_row("text", *STATED)
def test_nothing_else_in_the_sentence_changes_a_claim(text: str) -> None:
    """Times, conditions and negations of something else, before it and after it, with a comma and without."""
    assert [sentence for sentence in say(text, STATED) if not restricted_claims(sentence)] == []


@each_row("text", *OPEN)
def test_what_is_denied_aimed_at_or_waited_for_is_no_claim(text: str) -> None:
    """Whatever else the sentence says; other senses of a word hold only where the thing is such a word itself."""
    assert [sentence for sentence in say(text, OPEN) if restricted_claims(sentence)] == []


@each_row(
    ("claims", "texts"),
    ([], ["Is the incident resolved?", "Payments are not yet\nfully recovered."]),
    ([], ["Should the patch work, all is well.", "Is it over, and is it resolved?"]),
    ([], ["We will tell you when it is 100 % restored. Once it's resolved, you hear from us."]),
    ([], ["Only the EU region is restored. None of the nodes has recovered. Nobody calls the incident resolved."]),
    ([], ["Some payments recovered. The goal is that it is fixed by noon. Queues are catching back up."]),
    ([], ["Not every region has recovered. We do not think our node is fixed. We have to get our node fixed."]),
    ([], ["Until the node is back and payments are stable, we wait. After the node is up, it will be fixed."]),
    (["guaranteed", "guarantee"], ["We guaranteed it, and we guarantee it."]),
    (["ensure that", "fixed", "back to normal"], ["We ensure that it is fixed. It's back to normal."]),
    (["resolved"], ["re\u00adsolved", "r\u0435s\u03bflved", "ＲＥＳＯＬＶＥＤ"]),
    (["resolved"], ["It isn\u2019t resolved. It\u2019s resolved."]),
    (["resolved"], ["We cannot say more.\n\nThe incident is resolved."]),
    (["over"], ["The outage is over, any questions?"]),
    (["stable"], ["Nothing was lost and payments are stable."]),
    (["fixed"], ["We got payments going and fixed the outage."]),
    (["restored"], ["Traffic is returning and completely restored.", "Barely noticed by users service is restored."]),
    (["over"], ["When you open the status page you see that the outage is over."]),
    (["ensure that"], ["We tested it, and ensure that it never recurs."]),
    (["resolved", "fixed"], ["Call unless you slept; it will be resolved by noon. We managed to get our node fixed."]),
    (["up"], ["Service is up to everyone's delight."]),
    (["restored", "fixed"], ["No payment failed after we restored it. No data was lost when it was fixed."]),
    (["restored"], ["Those that could not be served are now restored."]),
    ([*ENDED], ["The third outage is over. The target database is restored. Our testing confirms that it is fixed."]),
    (["resolved", "recovered"], ["Much to our relief the incident is resolved. A few minutes ago payments recovered."]),
)
def test_claims_are_named(claims: list[str], texts: list[str]) -> None:
    """Each once, in the order of the text; letters that look Latin count as Latin."""
    assert [text for text in texts if restricted_claims(text) != claims] == []


@each_row(
    ("context", "strict", "mild"),
    ({}, ["over", "guarantee"], ["over", "guarantee"]),
    ({"incident": {"status": "RESOLVED"}}, ["guarantee"], ["guarantee"]),
    ({"incident": {"status": "not resolved"}}, ["over", "guarantee"], ["over", "guarantee"]),
    ({"incident": {"status": ["resolved"]}}, ["over", "guarantee"], ["guarantee"]),
    ({"status": "resolved"}, ["over", "guarantee"], ["guarantee"]),
    ({"updates": ["It is fixed."]}, ["over", "guarantee"], ["guarantee"]),
    ({"updates": ["We will fix it tonight."]}, ["over", "guarantee"], ["over", "guarantee"]),
    ({"updates": ["All that is fixed will stay."]}, ["over", "guarantee"], ["guarantee"]),
    ({"updates": ["We guarantee it."]}, ["over", "guarantee"], ["over", "guarantee"]),
    ({"policy_hints": {"say": "It is resolved."}}, ["over", "guarantee"], ["over", "guarantee"]),
    ({"incident": {"policy_hints": {"say": "It is resolved."}}}, ["over", "guarantee"], ["over", "guarantee"]),
)
def test_closures_are_licensed_and_guarantees_are_not(context: Any, strict: list[str], mild: list[str]) -> None:
    """By the incident's own status; by another text of the context only where the hint is off."""
    text = "The outage is over, and we guarantee it."
    assert forbidden_claims(text, context, avoid_absolute_guarantees=True) == strict
    assert forbidden_claims(text, context, avoid_absolute_guarantees=False) == mild
    plan = "We will fix it tonight."
    assert forbidden_claims(plan, {"plan": plan}, avoid_absolute_guarantees=False) == []


REFUNDS: Any = {"name": "refunds", "words": {"money": "refund refunds refunded credit"}}
REFUNDS |= {"phrases": ["{money} … ^within|in #", "we ^refunded"], "exceptions": ["^in part", "refunded half"]}
REFUNDS |= {"licensed_by_statuses": ["Refund approved"]}


@each_row(
    ("text", "status", "claims"),
    ("Your refund will arrive in 3 days.", "", ["in 3"]),
    ("We have not refunded it; it is in part paid. We refunded half.", "", []),
    ("Your refund will arrive in 3 days.", "refund APPROVED", []),
    ("We guarantee it.", "refund approved", ["guarantee"]),
)
def test_a_pack_of_ones_own_is_read_by_the_same_rules(text: str, status: str, claims: list[str]) -> None:
    packs = SelfCritiquePolicy(claims=["guarantees", REFUNDS]).claims
    context = {"incident": {"status": status}}
    assert forbidden_claims(text, context, avoid_absolute_guarantees=True, packs=packs) == claims


@each_row(
    ("phrase", "text", "claim"),
    ("Best in Class", "We're best in class.", "best in class"),
    ("risk-free|{Worth}", "It is Risk free.", "risk free"),
    ("{Worth} ^100%", "Money-back, 100 % now.", None),
    ("{Worth} ^100%", "Money-back 100 % now.", "100 percent"),
    ("we'll ^refund|re-send", "We will re-send it.", "re send"),
    ("can't lose", "You cannot lose.", "can not lose"),
    ("café", "Our café is open.", "cafe"),
    ("无风险", "这是无风险的。", "无 风 险"),
)
def test_a_pack_is_spelled_as_texts_are(phrase: str, text: str, claim: str | None) -> None:
    """In capitals, with hyphens, signs and accents, shortened or in full."""
    own: Any = {"name": "own", "words": {"Worth": "money-back Refund"}, "phrases": [phrase]}
    assert restricted_claims(text, SelfCritiquePolicy(claims=[own]).claims) == ([] if claim is None else [claim])


@each_row("phrase", "$", "worse? cheap?", "^worse?")
def test_a_phrase_that_may_be_absent_claims_nothing_by_its_absence(phrase: str) -> None:
    """The settings refuse it; a pack may come past them."""
    assert restricted_claims("We are best.", [{"name": "own", "phrases": [phrase]}]) == []


def test_packs_may_stand_in_a_file_and_only_tighten(tmp_path: Any) -> None:
    """A policy file names the file; a context adds packs and takes none away."""
    (tmp_path / "packs.yaml").write_text("claims:\n- closures\n- name: own\n  phrases: [best in class]\n")
    (tmp_path / "review.yaml").write_text("pattern: self_critique\npolicy:\n  claims: {file: packs.yaml}\n")
    policy = load_policy(tmp_path / "review.yaml").policy
    said = "The outage is over. We are best in class. We guarantee it."
    assert restricted_claims(said, policy.claims) == ["over", "best in class"]
    overlay = SelfCritiquePolicy(claims=["guarantees"])
    assert [*policy.tightened_by(overlay).claims] == [*policy.claims, "guarantees"]


@each_row(
    ("claims", "said"),
    (["closure"], "did you mean 'closures'"),
    ([{"name": "own", "phrases": ["{money} back"]}], "there is no class 'money' of words"),
    ([{"name": "own", "phrases": [" "]}], "blank"),
    ([{"name": "own", "phrases": ["best? ^*"]}], "a word that may not be absent is required"),
    ([{"name": "own", "phrases": ["best, really"]}], "one clause"),
    ([{"name": "own", "phrases": ["^no ^risk"]}], "at most one ^"),
    ([{"name": "own", "phrases": ["over"], "licensed_by_statuses": [" "]}], "a status is blank"),
    ([{"name": "closures", "phrases": ["over"]}], "a name of its own"),
    ([{"name": "own", "phrases": ["over"], "licence": True}], "licence"),
    (["closures", "closures"], "twice"),
)
def test_packs_that_cannot_be_read_are_refused(claims: Any, said: str, tmp_path: Any) -> None:
    (tmp_path / "wrong.yaml").write_text(json.dumps({"pattern": "self_critique", "policy": {"claims": claims}}))
    with pytest.raises(ConfigurationError, match="claims") as error:
        load_policy(tmp_path / "wrong.yaml")
    assert said in str(error.value)


CLAIM_WORDS = "resolved RESOLVED reso'lved re\u0455olved recovered closed stable guarantee guaranty’s ensure 100 % over"
OTHER_WORDS = "fully incident all payments the not no if once is will and as to back again . , ; - ( — é"
SAID = st.sampled_from([*CLAIM_WORDS.split(), *OTHER_WORDS.split(), "\n\n"])


@given(st.lists(SAID, max_size=14), st.sampled_from([" ", ""]))
@settings(max_examples=300)
def test_any_words_are_read(said: list[str], between: str) -> None:
    """However they stand together; a claim before a sentence of its own stays one."""
    text = between.join(said)
    whole = restricted_claims(f"{text}.\n\nThe incident is resolved.")
    assert {*restricted_claims(f"{text}."), "resolved"} == {*whole}
