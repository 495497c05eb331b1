"""Knowledge bases, in a file or PostgreSQL: documents are taken in, searched by their readers, and kept up to date."""
