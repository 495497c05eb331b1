"""A store in a database: SQLite or PostgreSQL, by SQLAlchemy Core."""
