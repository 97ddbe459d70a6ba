"""Peers of the agent that run on the loopback interface, for tests and for trying things by hand."""
