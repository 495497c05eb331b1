"""Another name of `guardgraph.plain.hashing`: recordings and stores of earlier versions were checked with this one."""

from guardgraph.plain.hashing import canonical_json, digest

__all__ = ["canonical_json", "digest"]
