"""The tools of act nodes: knowledge bases, search, readers. Each is a function of one dictionary."""
