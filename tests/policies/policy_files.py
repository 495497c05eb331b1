"""A policy file of RAG for tests, and the settings of a pattern of a user's own."""

from typing import Annotated

import guardgraph.grammar as gg

PLAIN = """\
pattern: rag

policy:
  allowed_sources_policy: &sources [billing_policy, support_policy]
  allowed_sources_execution: *sources
  known_names: [NO, yes, 2024-01-01]

budget:
  max_seconds: 20

tenants:
  acme:
    policy: {allowed_sources_execution: [billing_policy, security_policy]}
    budget: {max_seconds: 50, max_top_k: 2}
  globex:
"""


class Desk(gg.Settings):
    """A policy of a user's own, with every kind."""

    words: gg.Vocabulary = ("fraud",)
    names: gg.Allowlist = ("a", "b")
    hosts: gg.Hosts = ("a.example", "b.example")
    signed: gg.Check = False
    severity: Annotated[str, gg.Tightens.ordered("low", "medium", "high")] = "low"
    currency: Annotated[str, gg.Tightens.fixed] = "EUR"
    actions: Annotated[tuple[str, ...], gg.Tightens.among("close", "refund", "reply")] = ("close", "reply")


class Effort(gg.Budget):
    """Its budget."""

    max_tickets: gg.MaxInt = 5
