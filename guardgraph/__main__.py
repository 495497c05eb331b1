"""``python -m guardgraph``."""

from guardgraph.cli import main

main()
