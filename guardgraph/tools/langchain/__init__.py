"""What LangChain finds, as this package's patterns read it: vector stores, retrievers and tools behind one adapter."""
