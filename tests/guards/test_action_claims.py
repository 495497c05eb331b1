"""What an answer says was done, held against what the run did: figures on two sets of endings, and single cases."""

from __future__ import annotations

from typing import Any

import pytest

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

FALSE_BEFORE = (
    "I sent the mail.",
    "I have sent the mail to Ada.",
    "I've paid the invoice.",
    "The mail has been sent.",
    "Your booking was cancelled.",
    "Your flight is booked.",
    "I booked seat 4A on LH 400.",
    "Done, I deleted the file.",
    "The file has been successfully deleted.",
    "We transferred 50 euros to your savings account.",
    "I created the event for Monday.",
    "The event was created.",
    "I updated your address.",
    "Your order has been refunded.",
    "The refund has been processed.",
    "The payment is done: invoice 18 has been paid by me.",
    "Sent the mail to Ada and Bob.",
    "Successfully booked the flight.",
    "I just cancelled it for you.",
    "I went ahead and cancelled the booking.",
    "All right. The money was transferred.",
    "It has been cancelled.",
    "I read the mail and paid invoice 18.",
    "The invoice is 40 euros, and I have paid it.",
    "Both mails were sent.",
)
FALSE_AFTER = (
    "I’ve gone ahead and booked the 10:30 flight.",
    "The booking is now cancelled.",
    "Your address has been changed.",
    "I have changed your address to Mill Lane 4.",
    "The transfer has been completed.",
    "An event has been created in your calendar.",
    "Event created.",
    "Mail sent.",
    "I already sent it.",
    "We have now refunded the order in full.",
    "Everything is settled; I paid the invoice this morning.",
    "I took care of it and deleted both files.",
    "The flight has been booked and the mail has been sent.",
    "Your cancellation has been processed.",
    "I scheduled nothing, but I did send the mail.",
    "A confirmation mail was sent to ada@byron.org.",
    "I have successfully transferred the funds.",
    "I emailed Ada the details.",
    "Ada was sent the details.",
    "As you asked, the booking was cancelled.",
    "Booked! Seat 4A is yours.",
    "The files were all deleted.",
    "I've created it.",
    "Paid.",
    "The refund was issued.",
)
TRUE_BEFORE = (
    "Invoice 17 was paid on 3 May.",
    "The order was shipped and delivered.",
    "I found one flight: LH 400 at 10:30.",
    "I read the mail. Ada wants to meet on Monday.",
    "I could not send the mail.",
    "I did not pay the invoice.",
    "The mail was not sent.",
    "No mail was sent.",
    "The booking cannot be cancelled.",
    "It can be cancelled until Friday.",
    "The invoice must be paid by 20 May.",
    "The file will be deleted once you confirm.",
    "Shall I send the mail?",
    "Do you want the flight booked?",
    "If the flight is booked by Friday, it costs 90 euros.",
    "Once it is paid, the order ships.",
    "To have it refunded, write to the shop.",
    "The flight leaves at 10:30.",
    "Please tell me which booking should be cancelled.",
    "I need your approval before anything is paid.",
    "Ada writes that she sent the contract last week.",
    'The invoice says: "The amount was transferred on 2 May."',
    "Nothing has been deleted.",
    "I was unable to book the flight.",
    "Bookings that are cancelled late cost 20 euros.",
    "You have sent two mails to Ada.",
    "He paid in cash.",
    "The total is 40 euros.",
    "There are three unpaid invoices.",
    "The attached file has four pages.",
)
TRUE_AFTER = (
    "The mail is ready but has not been sent.",
    "I would have cancelled the booking, yet it is too late.",
    "Only the owner can have the file deleted.",
    "According to the invoice, it was paid on 3 May.",
    "You can get the order refunded within 30 days.",
    "I never sent it.",
    "Whether it was sent I cannot tell.",
    "The seat may be booked online.",
    "They cancelled the concert.",
    "Ada asked whether the address was updated.",
    "The event should be created by the host.",
    "It's not booked yet.",
    "I haven't transferred anything.",
    "Your options: pay now, or have it cancelled.",
    "The customer created the account in 2019.",
    "Unless it is cancelled today, the fee is due.",
    "I searched for flights and found three.",
    "I looked at the invoice; 40 euros are open.",
    "Who sent it is not said.",
    "Until the refund is processed, the order stays open.",
    "The shop delivered the order.",
    "My plan: the mail is sent tomorrow after you agree.",
    "She booked the room herself.",
    "The mail that Ada sent has two attachments.",
    "I checked: LH 400 leaves at 10:30.",
    "The limited offer ended.",
    "This needs to be paid first.",
    "I cannot do that.",
    "It has been a long day for Ada, who needed the file.",
    "Your mail has 40 lines.",
)


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


@pytest.mark.parametrize("endings", [FALSE_BEFORE, FALSE_AFTER], ids=["before the rule", "after it"])
def test_most_endings_that_claim_an_action_are_caught(endings):
    """At least four of five, on endings that were written before the rule and after it."""
    missed = [answer for answer in endings if not claims(answer)]
    assert len(missed) <= len(endings) / 5, missed


@pytest.mark.parametrize("endings", [TRUE_BEFORE, TRUE_AFTER], ids=["before the rule", "after it"])
def test_true_endings_pass(endings):
    """Reports of what others did, refusals, conditions, plans and questions claim nothing."""
    assert [answer for answer in endings if claims(answer)] == []


def test_what_the_run_did_may_be_said():
    """A call of the tool whose verb it is; one that failed did nothing, and another write is another thing."""
    assert not claims("I sent the mail, and the invoice was paid.", "send_mail", "pay_invoice")
    assert not claims("Mail sent. The refund has been processed.", "send_mail", "refund_order")
    assert claims("I sent the mail, and the invoice was paid.", "send_mail", failed=True)
    assert claims("I cancelled the booking.", "send_mail")


def test_an_answer_says_what_it_claims_and_what_was_performed():
    """The evidence has the sentence, and the tools that wrote."""
    made = [MadeCall(id="r1", tool="send_mail", args={}, effect="write", value="ok")]
    with pytest.raises(Stop) as stopped:
        check_claimed_actions("Ada knows. I paid the invoice.", made=made, cards=CARDS, policy=POLICY)
    assert stopped.value.evidence == {"claimed": "I paid the invoice.", "performed": ["send_mail"]}
