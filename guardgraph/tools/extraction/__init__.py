"""Text of pages and PDF files from anywhere, read in child processes with limits, since their parsers are native code.

The library's side: `extract`, the pool of children, and the frames that are sent to a child. The child's side: `worker`
and what it reads with.
"""
