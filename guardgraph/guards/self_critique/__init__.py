"""What the Self-critique agent's guards decide: the request, the draft, the critique and its changes, the revision."""

from guardgraph.guards.self_critique.claims import forbidden_claims, restricted_claims

__all__ = ["forbidden_claims", "restricted_claims"]
