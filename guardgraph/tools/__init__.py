"""What act nodes work with: knowledge bases, search, readers. Each is a function of one dictionary."""
