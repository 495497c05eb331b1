"""Policies and budgets as files."""
