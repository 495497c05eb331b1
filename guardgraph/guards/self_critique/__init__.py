"""What the Self-critique agent's guards decide, one module for each thing that is judged."""
