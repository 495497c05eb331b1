"""What a caller finds: what he may read, what covers most of a question, and what is kept in memory for it."""
