"""The characters that the agent plays in a server: kept, called and changed."""
