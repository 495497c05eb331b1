"""Evidence: runs that were kept, checked by anybody, and judged again."""
