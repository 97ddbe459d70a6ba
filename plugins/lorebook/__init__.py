"""Lorebooks: lore that joins the prompt when it is spoken of (docs/lorebooks.md)."""
