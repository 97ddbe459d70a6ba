"""Presets: the order of the prompt, and texts of its own, as in SillyTavern (docs/presets.md)."""
