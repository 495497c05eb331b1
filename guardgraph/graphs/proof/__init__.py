"""The proof that a compiled graph has no way around its guards."""
