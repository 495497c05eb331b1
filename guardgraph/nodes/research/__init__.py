"""The Research agent's nodes, a file for each stage of its diagram."""
