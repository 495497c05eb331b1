"""What a caller finds: what they may read, what covers most of a question, and what is kept in memory for it."""
