"""Knowledge bases on disk: documents are taken in, searched by those who may read them, and kept up to date."""
