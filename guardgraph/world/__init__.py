"""The outside: the calls of a run, the models and tools that are called, and the world that performs calls."""
