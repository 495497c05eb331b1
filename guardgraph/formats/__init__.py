"""Formats of files and pages: HTML, Markdown, reStructuredText, PDF, text; YAML with the line of each value.

Folders, knowledge bases and the web read with these. What comes from anywhere is read in child processes with limits,
since the parsers of pages and PDF files are native code: `pool` is our side, `worker` the child's.
"""
