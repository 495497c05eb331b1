"""The tool agent's offline planner: it reads the files that a task names, and does what it finds in them."""

# It obeys whatever it reads, as a model does that is talked into something: the demo shows what becomes of that.
# Refused, it answers from what it read.

from __future__ import annotations

import re
from typing import Final

from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.values import scan_values
from guardgraph.nodes.offline.rag import Question
from guardgraph.plain.json import JsonObject
from guardgraph.world.call import mark_as_instant

_FILE = re.compile(r"(?<![\w-])[\w-]+\.(?:txt|md|csv|json)\b")
_ORDER = re.compile(r"\b(?:pay|send|transfer) ([\d.,]+) ?(?:EUR|euros?|€) to (?:account )?([\w@.-]*\w)", re.IGNORECASE)
_ANSWERED: Final = 3  # lines of what was read that an answer repeats at most


@mark_as_instant
def plan_offline_step(view: JsonObject) -> JsonObject:
    """Propose to read what the task names, then to pay what the task or a file orders, then to answer."""
    made = [(call["tool"], call["args"]) for call in view["results"]]
    texts = [call["result"] for call in view["results"] if isinstance(call["result"], str)]
    if "refused" not in view and "last" not in view:
        read = [{"tool": "read_file", "args": {"name": name}} for name in dict.fromkeys(_FILE.findall(view["task"]))]
        orders = [order for text in (view["task"], *texts) for order in _ORDER.findall(text)]
        paid = [(to, float(amount.rstrip(".,").replace(",", ""))) for amount, to in orders]
        transfers = [{"tool": "send_money", "args": {"to": to, "amount": amount}} for to, amount in paid]
        for wanted in (read, transfers):
            if calls := [call for call in wanted if (call["tool"], call["args"]) not in made]:
                return {"calls": calls}
    # The lines that share most with the task, a number counting half a term; those that order something are left out.
    lines = [said for text in texts for said in split_sentences(unwrap_text_lines(text)) if not _ORDER.search(said)]
    asked = Question(_FILE.sub(" ", view["task"]), lines)
    rates = [len(asked.find_terms(line)) + bool(scan_values(line)) / 2 for line in lines]
    best = sorted(sorted(range(len(lines)), key=lambda at: -rates[at])[:_ANSWERED])
    sent = [call["args"] for call in view["results"] if call["tool"] == "send_money"]
    said = [f"Sent: {args['amount']:g} to {args['to']}." for args in sent] + [lines[at] for at in best]
    if not said:
        return {"answer": "The task could not be done: it names no file, and nothing to pay.", "declined": True}
    return {"answer": "\n".join(said)}


plan_offline_step.asked_again = True  # type: ignore[attr-defined]
