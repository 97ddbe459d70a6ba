"""The tables of the presets plugin."""
