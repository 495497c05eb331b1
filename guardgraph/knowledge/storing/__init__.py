"""What is in the file of a knowledge base: rows of documents, chunks and words, and how they change."""
