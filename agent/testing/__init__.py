"""What tests of the agent, of plugins and of bridges are made with."""
