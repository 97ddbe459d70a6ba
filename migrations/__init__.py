"""The database schema of the core, in order."""
