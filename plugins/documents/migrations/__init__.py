"""The tables of documents."""
