"""Policy files of tests: written, and random ones as YAML."""

import json
from typing import Annotated

from hypothesis import strategies as st

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


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
LISTS = st.lists(TEXTS, max_size=3)
HOSTS = st.lists(st.sampled_from(["a.example", "b.example", "c.example"]), max_size=3)
NUMBERS = st.integers(0, 2**62)
FLOATS = st.floats(0, 1e300)
FIELDS = {
    "policy": {
        "words": LISTS,
        "names": LISTS,
        "hosts": HOSTS,
        "signed": st.booleans(),
        "severity": st.sampled_from(["low", "medium", "high"]),
        "currency": TEXTS,
        "actions": st.lists(st.sampled_from(["close", "refund", "reply"]), max_size=3),
    },
    "budget": {
        "max_seconds": FLOATS | st.integers(0, 10**6),
        "max_tickets": NUMBERS,
        "max_price": FLOATS,
        "min_margin": FLOATS,
        "max_days": NUMBERS,
    },
}
SECTIONS = st.fixed_dictionaries({name: st.fixed_dictionaries({}, optional=of) for name, of in FIELDS.items()})


def as_yaml(document):
    return "\n".join(_block(document, ""))


def _block(value, indent):
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield f"{indent}{_quoted(key)}:"
            yield from _block(item, indent + "  ")
        else:
            yield f"{indent}{_quoted(key)}: {_flow(item)}"


def _flow(value):
    return f"[{', '.join(map(_quoted, value))}]" if isinstance(value, list) else _quoted(value)


def _quoted(value):
    return json.dumps(value)
