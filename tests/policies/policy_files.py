"""A policy file of RAG for tests, and the settings of a pattern of a user's own."""

from typing import Annotated

from guardgraph.grammar import (
    Allowlist,
    Budget,
    Check,
    Hosts,
    MaxFloat,
    MaxInt,
    MinFloat,
    Settings,
    Tightens,
    Vocabulary,
)

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


class Desk(Settings):
    """A policy of a user's own, with every kind."""

    words: Vocabulary = ("fraud",)
    names: Allowlist = ("a", "b")
    hosts: Hosts = ("a.example", "b.example")
    signed: Check = False
    severity: Annotated[str, Tightens.ordered("low", "medium", "high")] = "low"
    currency: Annotated[str, Tightens.fixed] = "EUR"
    actions: Annotated[tuple[str, ...], Tightens.among("close", "refund", "reply")] = ("close", "reply")


class Effort(Budget):
    """Its budget."""

    max_tickets: MaxInt = 5
    max_price: MaxFloat = 2.5
    min_margin: MinFloat = 0.1
    max_days: Annotated[int | None, Tightens.smallest] = None
