"""Accounts of one person on several platforms, linked and unlinked by that person (docs/linking.md)."""
