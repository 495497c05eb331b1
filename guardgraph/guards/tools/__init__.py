"""The tool agent's guards: calls that were proposed, their licence, what tools brought, and the answer."""
