"""The tables of the core (architecture.md, Plugins)."""
