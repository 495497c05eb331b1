"""Delegation: one question lets a document of the task license values of several calls, for these tools alone."""

from office_agents import BILL, READ, THREAD, Office, answer_question, calls, office_agent
from recorded_runs import Kept

from guardgraph import ToolBudget, replay
from guardgraph.plain.hashing import digest

TASK = {"task": "Pay what bill b7 asks for."}
THREE = {**BILL, "text": "Please pay 310 to Ines Brand, 420 to Jon Falk and 530 to Kim Sato."}
DONE = {"answer": "All is paid."}


def pay(to, amount):
    return {"tool": "send_money", "args": {"to": to, "amount": amount}}


INES, JON, KIM = PAYMENTS = [pay("Ines Brand", 310), pay("Jon Falk", 420), pay("Kim Sato", 530)]
MALLORY = pay("Mallory", 900)
VALUES = ["Ines Brand", 310, "Jon Falk", 420, "Kim Sato", 530]


def asked(*steps, **given):
    """Return an agent that waits, what it shows, and its office."""
    office = Office(THREE)
    agent = office_agent(calls(READ), *steps, office=office, **given)
    waiting = agent.invoke(TASK, THREAD)
    assert (waiting["status"], office.writes) == ("waiting", [])
    return agent, waiting, office


def paid(office):
    return [{"tool": name, "args": args} for name, args in office.writes]


def test_one_question_for_three_payments_of_one_bill():
    """It shows the document's hash, the tools and the values; approved, all three are made, and the result says why."""
    kept = Kept()
    agent, waiting, office = asked(calls(*PAYMENTS), DONE, recorder=kept)
    about = {"document": digest(THREE), "tools": ["send_money"], "values": VALUES, "brought_by": "r1"}
    assert waiting["waiting_for"]["shown"]["call"] == INES
    assert waiting["waiting_for"]["shown"]["delegation"] == {**about, "calls": PAYMENTS}
    result = answer_question(agent, waiting)
    assert (result["outcome"], result["path"].count("approve"), paid(office)) == ("answered", 1, PAYMENTS)
    document = f"document {digest(THREE)[:12]}"
    assert [call.get("approved_by") for call in result["tool_calls"][1:]] == ["unverified", None, None]
    assert result["tool_calls"][2]["supported_by"] == {"to": document, "amount": document}
    [approval] = [entry for entry in result["history"] if entry["action"] == "approve_call"]
    assert (approval["delegation"]["values"], replay(agent, kept.recordings[0])) == (VALUES, result)
    assert paid(office) == PAYMENTS


def test_a_value_that_the_question_did_not_show_is_asked_about():
    """Though it stands in the same document; and so is another payment of the same step that stands in none."""
    agent, waiting, office = asked(calls(INES, JON, MALLORY), calls(KIM), DONE)
    assert waiting["waiting_for"]["shown"]["delegation"]["calls"] == [INES, JON]
    for call, before in ((MALLORY, [INES, JON]), (KIM, [INES, JON, MALLORY])):
        waiting = answer_question(agent, waiting)
        shown = waiting["waiting_for"]["shown"]
        assert (shown["call"], "delegation" in shown, paid(office)) == (call, False, before)
    assert answer_question(agent, waiting)["outcome"] == "answered"


def test_shown_calls_are_licensed_once_each_and_no_others_of_their_values():
    """Two payments were shown: neither may be made again, nor be paid to the other's name."""
    for more in (pay("Ines Brand", 420), pay("Jon Falk", 310), INES):
        agent, waiting, office = asked(calls(INES, JON), calls(more), DONE, budget=ToolBudget(max_same_call=2))
        waiting = answer_question(agent, waiting)
        assert (waiting["waiting_for"]["shown"]["call"], paid(office)) == (more, [INES, JON])


def test_what_was_shown_in_another_run_licenses_nothing():
    """The same document, read again on the same thread, is asked about again."""
    agent, waiting, office = asked(calls(INES, JON), DONE, calls(READ), calls(INES))
    assert answer_question(agent, waiting)["outcome"] == "answered"
    again = agent.invoke(TASK, THREAD)
    assert (again["waiting_for"]["shown"]["call"], paid(office)) == (INES, [INES, JON])


def test_another_tool_is_not_licensed():
    """What may be paid may not be written to; the person is asked once more."""
    mail = {"tool": "send_mail", "args": {"to": "Kim Sato", "body": "Paid."}}
    agent, waiting, office = asked(calls(*PAYMENTS), calls(mail), DONE)
    waiting = answer_question(agent, waiting)
    assert (waiting["waiting_for"]["shown"]["call"], paid(office)) == (mail, PAYMENTS)
    agent, waiting, _ = asked(calls(KIM, mail), DONE)
    assert waiting["waiting_for"]["shown"]["delegation"]["tools"] == ["send_money", "send_mail"]
