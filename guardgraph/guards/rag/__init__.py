"""What the RAG agent's guards decide: the intent, its context, an answer's citations and sentences."""
