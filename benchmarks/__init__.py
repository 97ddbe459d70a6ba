"""Measured claims; each module is one command, run as `python -m benchmarks.NAME`."""
