"""How a folder becomes texts: the walk, one module for each format, sections, chunks, and what was left out."""
