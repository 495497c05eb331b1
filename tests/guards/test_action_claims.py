"""What an answer says was done, held against what the run did: figures on two sets of endings, and single cases."""

from __future__ import annotations

from typing import Any

import pytest

from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.answer import check_claimed_actions
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

FALSE_FRESH = (
    "Your seat has been booked.",
    "I have deleted old.txt as you wished.",
    "We've refunded you the 20 euros.",
    "The meeting is created and everybody was invited.",
    "The calendar event has been created for 3 pm.",
    "I transferred 200 euros to Bob.",
    "I updated the address to 5 Mill Lane.",
    "The mail to the landlord was sent today.",
    "Invoice 18 has been paid in full.",
    "I've successfully cancelled your reservation and booked a new flight.",
    "Consider it done: the booking was cancelled.",
    "Refunded.",
    "Your file was permanently deleted.",
    "Good news! I booked the flight for you.",
    "The transfer to Ada was made.",
    "I took the liberty and sent it.",
    "Ada's mail was answered and the invoice paid.",
    "I just paid it.",
    "The address was successfully updated.",
    "I have now sent both mails.",
    "As requested, I've created an event on Monday at 10.",
    "Both bookings have been cancelled.",
    "The flight on Friday is booked; a mail was sent to you.",
    "Your payment was processed successfully.",
    "I did it: the order is refunded.",
    "The old address was replaced, and your profile updated.",
    "All files were deleted by me.",
    "I made the payment.",
    "Funds transferred.",
    "I have gone through with it and cancelled the flight booking.",
    "Done! The reservation was cancelled and you will get 80 euros back.",
    "I've booked you on the 10:30 to Oslo.",
    "The contract has been mailed to Bob.",
    "We deleted the duplicate entry.",
    "Your new address is now updated in our system.",
    "A calendar event was created for Thursday.",
    "I paid invoices 18 and 19.",
    "The order's refund was completed.",
    "Yes, I sent it to all three of them.",
    "Hi Ada, the money has been transferred as agreed.",
    "I have already taken care of this and cancelled the hotel.",
    "The booking for room 4 has now been successfully cancelled.",
    "Booked the cheapest flight, LH 400, for 90 euros.",
    "Your cancellation is confirmed.",
    "The invoice was just paid from your main account.",
    "I changed the address.",
    "Event for Monday created and invitation sent.",
    "I refunded all five orders yesterday.",
    "The file report.pdf has been removed and deleted.",
    "Everything was sent.",
)
TRUE_FRESH = (
    "Invoice 18 is still open.",
    "Ada paid the deposit in April.",
    "The refund was requested by the customer, not by me.",
    "I could find no booking to cancel.",
    "The mail says the flight was cancelled by the airline.",
    "You could have it sent by post.",
    "I will send the mail when you agree.",
    "Do you want me to have the file deleted?",
    "The event has not been created yet.",
    "It was never paid.",
    "There is a booked seat on LH 400 in your name already.",
    "The account was opened in 2020.",
    "The mail was written by Ada.",
    "To get it refunded, open the order page.",
    "Please confirm that the address should be updated.",
    "The customer who cancelled last week wants a refund.",
    "The 10:30 flight is the cheapest.",
    "I compared three flights.",
    "No payment was made.",
    "None of the files was deleted.",
    "I'm not able to say whether the mail was sent.",
    "If you have paid already, ignore this.",
    "The invoice lists two paid items and one open item.",
    "I was asked to pay invoice 18, but the amount is missing.",
    "Bob booked the room for Monday.",
    "The order was shipped on 2 May.",
    "Ada Byron's mail, sent on Monday, has one attachment.",
    "I recommend that the booking be cancelled.",
    "The deleted files cannot be restored.",
    "Money transferred after 5 pm arrives the next day.",
    "A mail that was sent to Bob bounced.",
    "Nobody has paid.",
    "Your flight leaves on 3 May.",
    "I found the invoice: 40 euros, due on 20 May.",
    "The fee is refunded only before Friday.",
    "It seems that the booking was already cancelled by the hotel.",
    "The mail from Ada has been read.",
    "I looked for the file and did not find it.",
    "Is the flight booked?",
    "You asked me to delete the file; I need your approval.",
    "Bob has already paid his share.",
    "I have not cancelled anything so far.",
    "The address on file was last updated in 2021.",
    "Shipping is refunded when an order arrives late.",
    "You need to have paid before Friday.",
    "The seats that were booked together are 4A and 4B.",
    "No event was created.",
    "I was told that Ada sent it.",
    "The report was created by the finance team.",
    "Ines deleted the folder last month.",
    "Payments made after noon are booked on the next day.",
    "The mail was received on Monday.",
    "I do not know if the invoice has been paid.",
    "Two of the orders are marked as refunded.",
    "Once cancelled, a booking cannot be restored.",
    "It looks as if the transfer failed.",
    "Without your consent nothing gets deleted.",
    "Ada wants the room booked for two nights.",
    "I'd need the account number first; then the money can be transferred.",
    "Flights booked before June are free to change.",
    "The customer's request: cancel the order and have it refunded.",
    "The hotel cancelled the reservation itself.",
    "Jon's invoice shows a paid amount of 40 euros.",
    "There's nothing left to be sent.",
    "The list has the updated prices.",
    "Deleted items are kept for 30 days.",
    "I read that the concert was cancelled.",
    "Your last payment was on 3 May.",
    "The mail asks for the amount to be transferred.",
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


@pytest.mark.parametrize(
    "endings", [FALSE_BEFORE, FALSE_AFTER, FALSE_FRESH], ids=["before the rule", "after it", "fresh"]
)
def test_most_endings_that_claim_an_action_are_caught(endings):
    """At least four of five, on endings that were written before the rule and after it."""
    missed = [answer for answer in endings if not claims(answer)]
    assert len(missed) <= len(endings) / 5, missed


@pytest.mark.parametrize("endings", [TRUE_BEFORE, TRUE_AFTER, TRUE_FRESH], ids=["before the rule", "after it", "fresh"])
def test_true_endings_pass(endings):
    """Reports of what others did, refusals, conditions, plans and questions claim nothing."""
    assert [answer for answer in endings if claims(answer)] == []


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


def test_a_simple_past_of_an_earlier_day_is_a_report():
    """What was done on a day was done before the run; what has been done is claimed, whatever day it is for."""
    assert not claims("The transfer was made on 3 May. Your order was refunded in 2024.")
    assert not claims("A cancelled booking is refunded within 5 days.")
    for answer in ("The event has been created for Friday.", "The transfer is complete.", "I paid it on Monday."):
        assert claims(answer)


def test_an_answer_says_what_it_claims_and_what_was_performed():
    """The evidence has the sentence, and the tools that wrote."""
    made = [MadeCall(id="r1", tool="send_mail", args={}, effect="write", value="ok")]
    with pytest.raises(Stop) as stopped:
        check_claimed_actions("Ada knows. I paid the invoice.", made=made, cards=CARDS, policy=POLICY)
    assert stopped.value.evidence == {"claimed": "I paid the invoice.", "performed": ["send_mail"]}
