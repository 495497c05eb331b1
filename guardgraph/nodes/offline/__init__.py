"""The proposers that need no model, no network and no key: deterministic rules, and honest about it."""
