"""A knowledge base in PostgreSQL: the server shows a caller's rows and no others, and the score stays ours."""
