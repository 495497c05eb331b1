"""Policies and budgets as files: what they say, how two of them differ, and their schema."""
