"""The tables of the memory plugin."""
