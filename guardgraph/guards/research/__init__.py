"""What the Research agent's guards decide, one module for each thing that is judged."""
