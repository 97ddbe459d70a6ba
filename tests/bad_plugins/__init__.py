"""Plugins that are wrong on purpose, one kind of wrong each. Tests load them by `module = "tests.bad_plugins.NAME"`."""
