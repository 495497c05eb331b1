"""The ground for all rooms: plain JSON, hashes, letters, secrets, URLs, files, errors. Imports nothing of ours.

Only `conversion` needs Pydantic: the processes that read pages and PDF files start without it.
"""
