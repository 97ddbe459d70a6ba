"""Frozen values that the core and several plugins must all know. No behaviour beyond what the value itself means."""
