"""What kept libraries know about languages: calendars, units, currencies, number words, territories, stop words.

The tables are made once from pinned libraries and shipped as JSON, so that a verdict never depends on which version
of a library is installed. Each is read when it is first asked for and kept.
"""
