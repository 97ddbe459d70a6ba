"""The tables of the lorebook plugin."""
