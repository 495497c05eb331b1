"""What the Research agent's guards decide: the request, the plan, the sources, the notes, the answer's sentences."""
