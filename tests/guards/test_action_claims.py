"""What an answer says was done, held against what the run did: figures on two sets of endings, and single cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from tables import each_row

from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.claims import check_claimed_actions
from guardgraph.state.tools import MadeCall, ToolCard, ToolPolicy, ToolRule

TOOLS = {
    "read_mail": "Read a mail.",
    "find_flights": "Search for flights.",
    "get_invoice": "Return an invoice.",
    "send_mail": "Send a mail to somebody.",
    "pay_invoice": "Pay an invoice.",
    "cancel_booking": "Cancel a booking.",
    "book_flight": "Book a seat on a flight.",
    "create_event": "Create an event in the calendar.",
    "update_address": "Change where a customer lives.",
    "delete_file": "Delete a file.",
    "refund_order": "Give the money of an order back.",
    "transferFunds": "Transfer money between accounts.",
}
CARDS = {name: ToolCard(name=name, description=told, schema={}) for name, told in TOOLS.items()}
READS = ("read_mail", "find_flights", "get_invoice")
POLICY = ToolPolicy(rules={name: ToolRule(effect="read") for name in READS})
FOUND = "Invoice 17 was paid on 3 May. Flight LH 400 leaves at 10:30. The order was shipped and delivered."

ENDINGS = json.loads((Path(__file__).parents[1] / "data" / "action_endings.json").read_text("utf-8"))
"""Endings of answers by when they were written: false ones claim what nobody did, true ones claim nothing."""


def claims(answer: str, *calls: str, failed: bool = False) -> bool:
    """Say whether an answer says that something was done which these calls, and a read, did not."""
    made = [MadeCall(id="r1", tool="get_invoice", args={}, effect="read", value=FOUND)]
    for number, name in enumerate(calls, 2):
        effect: Any = POLICY.rule_of(name).effect
        made.append(MadeCall(id=f"r{number}", tool=name, args={}, effect=effect, value="ok", failed=failed))
    try:
        check_claimed_actions(answer, made=made, cards=CARDS, policy=POLICY)
    except Stop as stop:
        assert stop.reason == "invalid_answer:action_not_done"  # noqa: PT017
        return True
    return False


@each_row("written", *ENDINGS)
def test_most_endings_that_claim_an_action_are_caught(written):
    """At least four of five, written before the rule and after it; true ones, reports and plans too, pass."""
    endings = ENDINGS[written]["false"]
    missed = [answer for answer in endings if not claims(answer)]
    assert len(missed) <= len(endings) / 5, missed
    assert [answer for answer in ENDINGS[written]["true"] if claims(answer)] == []


def test_what_the_run_did_may_be_said():
    """A call of the tool whose verb it is; one that failed did nothing, and another write is another thing."""
    assert not claims("I sent the mail, and the invoice was paid.", "send_mail", "pay_invoice")
    assert not claims("Mail sent. The refund has been processed.", "send_mail", "refund_order")
    assert claims("I sent the mail, and the invoice was paid.", "send_mail", failed=True)
    assert claims("I cancelled the booking.", "send_mail")


def test_what_a_result_says_may_be_said():
    """A passive whose word stands in a result is a report; with none it is a claim, and "I" always is one."""
    made = [MadeCall(id="r1", tool="read_mail", args={}, effect="read", value="LH 9 was cancelled, sorry.")]
    told = {"cards": CARDS, "policy": POLICY}
    check_claimed_actions("The flight was cancelled because of snow.", made=made, **told)
    for answer, calls in (("The flight was cancelled because of snow.", []), ("I cancelled it.", made)):
        with pytest.raises(Stop, match="action_not_done"):
            check_claimed_actions(answer, made=calls, **told)


def test_a_passive_of_the_present_may_tell_how_things_are():
    """What is so already, to a degree or each time was not done in the run; what is so now, or has been done, was."""
    assert not claims("Your flight is already booked.")
    assert not claims("The flight is fully booked. Orders are refunded each time they are late.")
    assert not claims("Two files were created since Monday.")
    for answer in ("Your flight is now booked.", "The order is found and refunded.", "It has been refunded each time."):
        assert claims(answer)


def test_a_simple_past_of_an_earlier_day_is_a_report():
    """What was done on a day was done before the run; what has been done is claimed, whatever day it is for."""
    assert not claims("The transfer was made on 3 May. Your order was refunded in 2024.")
    assert not claims("A cancelled booking is refunded within 5 days.")
    for answer in ("The event has been created for Friday.", "The transfer is complete.", "I paid it on Monday."):
        assert claims(answer)


def test_an_answer_says_what_it_claims_and_what_was_performed():
    made = [MadeCall(id="r1", tool="send_mail", args={}, effect="write", value="ok")]
    with pytest.raises(Stop) as stopped:
        check_claimed_actions("Ada knows. I paid the invoice.", made=made, cards=CARDS, policy=POLICY)
    assert stopped.value.evidence == {"claimed": "I paid the invoice.", "performed": ["send_mail"]}


def test_the_verb_of_a_tool_is_what_its_name_and_its_description_begin_with():
    """The thing that it is done to is no verb; verbs that say the same count as one, and what was done excuses all."""
    assert not claims("You ordered the lamp on Monday. It was ordered and shipped with the others.")
    assert claims("Your address has been successfully changed.")
    assert claims("The file has been removed.")
    assert claims("The file was removed by me today.")
    assert not claims("The file was removed by Acme.")
    assert not claims("Your address was changed.", "update_address")


def test_a_claim_goes_on_over_the_end_of_a_line():
    """Where a text is only broken to a width; "I" claims whatever follows, and a headline may say where."""
    assert claims("Good news, your booking with Acme has been\ncancelled today.")
    assert claims("I've created the event for tomorrow at 3 PM.")
    assert claims("Mail sent to ada@example.com")
    assert claims("OK, cancelled it for you.")


def test_only_what_asks_in_a_question_is_no_claim():
    assert claims("I've booked your flight - anything else I can do?")
    assert not claims("Has the invoice been paid, and was the mail sent?")
    for question in ("The bill you paid, is it the last?", "Bill, paid in May, is it?", "Bill paid, yes or no?"):
        assert not claims(question)
