"""The tool agent's guards: calls that were proposed, their licence, what tools brought, and the answer."""

from __future__ import annotations

from guardgraph.guards.tools.actions import cut_step, parse_call, parse_step, parse_task_history
from guardgraph.guards.tools.answer import (
    check_answer_values,
    is_declining,
    list_answer_claims,
    list_result_texts,
    parse_answer,
    settle_answer_links,
    show_results,
)
from guardgraph.guards.tools.claims import check_claimed_actions
from guardgraph.guards.tools.licence import (
    check_approval,
    check_licence,
    check_tool_lists,
    complete_call,
    judge_call,
    judge_calls,
    list_shown_tools,
    note_call,
    offer_delegation,
)
from guardgraph.guards.tools.values import read_outcome

__all__ = [
    "check_answer_values",
    "check_approval",
    "check_claimed_actions",
    "check_licence",
    "check_tool_lists",
    "complete_call",
    "cut_step",
    "is_declining",
    "judge_call",
    "judge_calls",
    "list_answer_claims",
    "list_result_texts",
    "list_shown_tools",
    "note_call",
    "offer_delegation",
    "parse_answer",
    "parse_call",
    "parse_step",
    "parse_task_history",
    "read_outcome",
    "settle_answer_links",
    "show_results",
]
