"""A finished answer, whoever wrote it, held against its sources: one call, and what it says as text, Markdown, HTML."""
